"""Definitions: what may be written, what an error says, and what stays the same."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.league.definition.definition import (
    LARGEST,
    DefinitionError,
    definition_schema,
    load_definition,
    parse_definition,
    restore_definition,
)
from referee.league.definition.fields import HostSection
from referee.league.definition.problems import Problem

SOUND = """\
[tournament]
name = "Kitchen-table league"
variant = "auction-pitch"
seats = 4
[rules]
[schedule]
[limits]
[policy]
[[bots]]
path = "careful"
"""


def problems(text: str) -> tuple[Problem, ...]:
    with pytest.raises(DefinitionError) as caught:
        parse_definition(text, file="league.toml")
    return caught.value.problems


def only(text: str) -> Problem:
    (problem,) = problems(text)
    return problem


def changed(line: str, new: str) -> str:
    assert f"{line}\n" in SOUND
    return SOUND.replace(f"{line}\n", f"{new}\n")


def test_a_short_definition_has_the_documented_defaults() -> None:
    definition = parse_definition(SOUND)
    assert definition.canonical() == {
        "schema": 1,
        "tournament": {
            "name": "Kitchen-table league",
            "variant": "auction-pitch",
            "seats": 4,
            "objective": "place",
            "length": "target",
        },
        "rules": {},
        "schedule": {"format": "round-robin", "duplicate": True, "sets": 6, "max_tables": 2000},
        "limits": {
            "move_ms": 5000,
            "bank_ms": 30_000,
            "game_s": 300,
            "max_in_flight": 64,
            "memory_mib": 512,
            "clock": "relaxed",
        },
        "policy": {"profile": "ranked", "checked": False},
        "bots": [{"path": "careful", "remote": False, "copies": 1}],
    }


def test_the_sections_with_defaults_may_be_left_out() -> None:
    short = "".join(line for line in SOUND.splitlines(keepends=True) if line[1:4] not in ("rul", "sch", "lim", "pol"))
    assert parse_definition(short) == parse_definition(SOUND)


@pytest.mark.parametrize(
    ("line", "new", "number", "field", "found", "allowed", "remedy"),
    [
        ("seats = 4", "seats = 9", 4, "[tournament] seats", "9", "2 to 7", "write seats = 7"),
        ("seats = 4", 'seats = "4"', 4, "[tournament] seats", '"4"', "whole number", "write seats = 4"),
        ("seats = 4", "seats = true", 4, "[tournament] seats", "true", "whole number", "change it"),
        ("seats = 4", "seats = 4.0", 4, "[tournament] seats", "4.0", "whole number", "write seats = 4"),
        ("seats = 4", "seats = inf", 4, "[tournament] seats", "inf", "whole number", "change it"),
        ("seats = 4", "seats = 1979-05-27", 4, "[tournament] seats", "1979-05-27", "whole number", "change it"),
        ("seats = 4", "", 1, "[tournament] seats", "nothing", "2 to 7", "add seats = 4 to tournament"),
        (
            'variant = "auction-pitch"',
            'variant = "auction-pich"',
            3,
            "[tournament] variant",
            '"auction-pich"',
            '"partnership-pitch"',
            'did you mean "auction-pitch"?',
        ),
        ('variant = "auction-pitch"', 'variant = "zzz"', 3, "[tournament] variant", '"zzz"', '"smudge"', "choose one"),
        (
            "seats = 4",
            'seats = 4\nobjectve = "place"',
            5,
            "[tournament] objectve",
            'unknown field "objectve"',
            "only the fields name, variant, seats",
            'did you mean "objective"?',
        ),
        ("seats = 4", 'seats = 4\nseed = "k"', 5, "[tournament] seed", "unknown field", "", "belongs in [schedule]"),
        ("seats = 4", "seats = 4\ncopies = 2", 5, "[tournament] copies", "unknown field", "", "belongs in [[bots]]"),
        ("seats = 4", "seats = 4\nqqqq = 2", 5, "[tournament] qqqq", "unknown field", "", "delete it"),
        (
            "seats = 4",
            'seats = 4\nlength = "deal"\nobjective = "stakes"',
            6,
            "[tournament] objective",
            '"stakes"',
            '"points" where length = "deal"',
            'write objective = "points"',
        ),
        ("[schedule]", '[schedule]\nsets = "12"', 7, "[schedule] sets", '"12"', "1 to", "default (6)"),
        ("[schedule]", '[schedule]\nduplicate = "yes"', 7, "[schedule] duplicate", '"yes"', "true or false", "= true"),
        ("[schedule]", "[schedule]\nduplicate = 0", 7, "[schedule] duplicate", "0", "true or false", "= false"),
        ("[schedule]", '[schedule]\nformat = "roundrobin"', 7, "[schedule] format", "", '"gauntlet"', '"round-robin"'),
        ("[schedule]", "[schedule]\nseed = 7", 7, "[schedule] seed", "7", "1 to 200 characters", 'write seed = "7"'),
        ("[limits]", "[limits]\nmove_ms = 1", 8, "[limits] move_ms", "1", "10 to 3600000", "write move_ms = 10"),
        ("[limits]", "[limits]\nmax_processes = 3", 8, "[limits] max_processes", "3", "one a seat (4)", "= 4 or more"),
        (
            "[limits]",
            '[limits]\nclock = "competitive"\nmax_in_flight = 8',
            9,
            "[limits] max_in_flight",
            "8",
            "1 where",
            "leave max_in_flight out",
        ),
        ("[policy]", '[policy]\nprofile = "Ranked"', 9, "[policy] profile", '"Ranked"', '"dev"', '= "ranked"'),
        ("[policy]", '[polizy]\nprofile = "dev"', 8, "polizy", "unknown field", "policy", 'did you mean "policy"?'),
        ("[rules]", "[rules]\ntaget = 9", 6, "[rules] taget", "unknown house rule", "target", 'did you mean "target"?'),
        ("[rules]", '[rules]\nname = "x"', 6, "[rules] name", "unknown house rule", "hand_size", "delete it"),
        ("[rules]", '[rules]\ntarget = "9"', 6, "[rules] target", '"9"', "a whole number", "Score that wins the game"),
        ("[rules]", "[rules]\ntarget = 1.5", 6, "[rules] target", "1.5", "a whole number", "Score that wins the game"),
        ("[rules]", '[rules]\nlow_to = "takr"', 6, "[rules] low_to", '"takr"', '"holder"', 'write low_to = "taker"'),
        ("[rules]", "[rules]\nhand_size = 24", 4, "[tournament] seats", "4", "2 (", "write seats = 2"),
        ("[rules]", "[rules]\nhand_size = 7", 5, "[rules] packet", "3, as the variant has it", "", "a fitting packet"),
        ('path = "careful"', 'path = ""', 10, "[[bots]] entry 1, path", '""', "1 to 4096", "fill it in"),
        ('path = "careful"', 'path = "a\\u001bb"', 10, "[[bots]] entry 1, path", "\\u001b", "control", "change it"),
        ('path = "careful"', 'path = "x"\ncopies = 99', 11, "[[bots]] entry 1, copies", "99", "1 to 16", "copies = 16"),
        ('path = "careful"', "copies = 2", 9, "[[bots]] entry 1", "table", "exactly one of", "add path"),
        ('path = "careful"', "remote = false", 9, "[[bots]] entry 1", "table", "exactly one of", "add path"),
        (
            'path = "careful"',
            'path = "x"\nbots_from = "y/*"',
            11,
            "[[bots]] entry 1, bots_from",
            '"y/*"',
            "exactly one of",
            "keep one of path, bots_from",
        ),
        ('path = "careful"', 'command = ["node"]', 9, "[[bots]] entry 1, name", "nothing", "a command", "add name"),
        ('path = "careful"', 'command = []\nname = "x"', 10, "[[bots]] entry 1, command", "[]", "at least 1", "change"),
        (
            'path = "careful"',
            'command = "node x.js"\nname = "x"',
            10,
            "[[bots]] entry 1, command",
            '"node x.js"',
            "a list of texts",
            'write command = ["node", "x.js"]',
        ),
        (
            'path = "careful"',
            'command = ["node", 7]\nname = "x"',
            10,
            "[[bots]] entry 1, command, item 2",
            "7",
            "text",
            "",
        ),
        ('path = "careful"', 'path = "x"\nwait = "1m"', 11, "[[bots]] entry 1, wait", '"1m"', "remote", "delete wait"),
        ('path = "careful"', 'bots_from = "s/*"\nname = "x"', 11, "[[bots]] entry 1, name", '"x"', "", "delete name"),
        (
            '[[bots]]\npath = "careful"',
            "[[bots]]\npath = 'careful'\n\n[[bots]]\npath = \"x\"\nnam = 'x'",
            14,
            "[[bots]] entry 2, nam",
            "unknown field",
            "name",
            'did you mean "name"?',
        ),
    ],
)
def test_an_error_names_file_line_field_found_allowed_and_remedy(
    line: str, new: str, number: int, field: str, found: str, allowed: str, remedy: str
) -> None:
    problem = only(changed(line, new))
    assert (problem.file, problem.line, problem.field) == ("league.toml", number, field)
    assert found in problem.found
    assert allowed in problem.allowed
    assert remedy in problem.remedy
    assert str(problem).startswith(f"league.toml:{number}: {field}: found ")


@pytest.mark.parametrize(
    "name",
    ["", " ", "x" * 1_000_000, "a\nb", "a\u001b[31mb", "abc\u202edef", "\u200f", "a\u0000b", "\x7f"],
    ids=["empty", "blank", "1 MB", "newline", "escape", "right-to-left", "mark", "NUL", "DEL"],
)
def test_a_hostile_title_is_refused_in_harmless_words(name: str) -> None:
    problem = only(SOUND.replace('"Kitchen-table league"', json.dumps(name).replace("\x7f", "\\u007f")))
    assert problem.field == "[tournament] name"
    assert str(problem).isascii()
    assert str(problem).isprintable()
    assert len(str(problem)) < 400


@pytest.mark.parametrize(
    "name", ["../../x", "<b>", "a\u202eb", "a\nb", "-rf", ".hidden", "a#2", "", "x" * 41, "Zo\u00eb", "tail ", "tail."]
)
def test_a_bot_gets_no_name_that_could_do_harm(name: str) -> None:
    problem = only(f"{SOUND}name = {json.dumps(name)}\n")
    assert problem.field == "[[bots]] entry 1, name"
    assert "1 to 40 letters" in problem.allowed
    assert str(problem).isascii()


@pytest.mark.parametrize("name", ["careful", "A", "my bot 2.0", "c++", "x" * 40, "7", "a_b-c"])
def test_ordinary_names_are_fine(name: str) -> None:
    assert parse_definition(f'{SOUND}name = "{name}"\n').bots[0].name == name


def test_all_problems_are_told_at_once_in_the_order_of_the_file() -> None:
    text = SOUND.replace("seats = 4", "seats = 7\nx = 1").replace('"auction-pitch"', '"smudge"')
    text = text.replace("[schedule]", "[schedule]\nsets = 0").replace("[rules]", "[rules]\ntarget = 0")
    text = text.replace('path = "careful"', 'copies = "2"\n[[bots]]\nremote = true')
    fields = [problem.field for problem in problems(text)]
    assert fields == [
        "[tournament] x",
        "[rules] target",
        "[schedule] sets",
        "[[bots]] entry 1, copies",
        "[[bots]] entry 2, name",
    ]


def test_sections_that_are_sound_are_judged_together_though_others_are_not() -> None:
    text = SOUND.replace("seats = 4", "seats = 6").replace('"auction-pitch"', '"smudge"') + "copies = 0\n"
    seats, copies = problems(text)
    assert (seats.field, seats.remedy) == ("[tournament] seats", "write seats = 5")
    assert copies.field == "[[bots]] entry 1, copies"


def test_a_definition_without_bots_is_an_open_registration() -> None:
    no_bots = SOUND.replace('[[bots]]\npath = "careful"\n', "")
    assert parse_definition(no_bots).bots == ()
    assert parse_definition("bots = []\n" + no_bots) == parse_definition(no_bots)


def test_an_empty_file_names_what_is_missing() -> None:
    (problem,) = problems("")
    assert (problem.field, problem.line) == ("tournament", 1)


@pytest.mark.parametrize(
    ("text", "line", "remedy"),
    [
        ("[tournament]\nname = careful\n", 2, 'put text in quotes: name = "careful"'),
        ("[tournament]\nname = sample_bots/x  # why\n", 2, 'put text in quotes: name = "sample_bots/x"'),
        ("a = True\n", 1, "write a = true"),
        ("\n\na: 3\n", 3, "equals sign"),
        ('a = "b\n', 1, "close the quotes"),
        ("[a]\nb = [1,\n\n\n", 2, "close the bracket or the quotes"),
        ("[a]\nb = 1\nb = 2\n", 3, "twice: keep one"),
        ("[bots]\n[bots]\n", 2, "several [[bots]]"),
        ("a = " + "[" * 5000, 0, "take brackets away"),
        ("a = " + "9" * 5000, 0, "correct this line"),
    ],
)
def test_a_syntax_error_has_its_line_and_a_likely_remedy(text: str, line: int, remedy: str) -> None:
    problem = only(text)
    assert (problem.field, problem.line) == ("syntax", line)
    assert remedy in problem.remedy
    assert len(str(problem)) < 400


def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path) -> None:
    def fault(path: Path) -> Problem:
        with pytest.raises(DefinitionError) as caught:
            load_definition(path)
        (problem,) = caught.value.problems
        assert problem.file == str(path)
        return problem

    assert fault(tmp_path / "none.toml").found == "nothing"
    assert fault(tmp_path).found == "no regular file"
    assert "shipped" in fault(tmp_path / "kitchn.toml").remedy
    assert fault(tmp_path / ("x" * 300)).remedy == "check the path and its permissions"
    latin, large = tmp_path / "latin.toml", tmp_path / "large.toml"
    latin.write_bytes(b"# one\n# two\nname = 'Zo\xeb'\n")
    assert (fault(latin).line, fault(latin).found) == (3, "byte 0xeb")
    large.write_text(SOUND + "#" * LARGEST)
    assert "262,144" in fault(large).allowed


def test_a_byte_order_mark_and_windows_lines_are_no_faults(tmp_path: Path) -> None:
    path = tmp_path / "league.toml"
    path.write_bytes(b"\xef\xbb\xbf" + SOUND.replace("\n", "\r\n").encode())
    assert load_definition(path) == parse_definition(SOUND)
    path.write_bytes(SOUND.replace("seats = 4", "seats = 9").replace("\n", "\r\n").encode())
    with pytest.raises(DefinitionError) as caught:
        load_definition(path)
    assert caught.value.problems[0].line == 4


def test_where_length_is_deal_the_objective_is_points() -> None:
    assert parse_definition(changed("seats = 4", 'seats = 4\nlength = "deal"')).tournament.objective == "points"


def test_with_a_competitive_clock_one_turn_is_in_flight() -> None:
    assert parse_definition(changed("[limits]", '[limits]\nclock = "competitive"')).limits.max_in_flight == 1


def test_stakes_need_a_game_that_is_played_for_stakes() -> None:
    text = changed("seats = 4", 'seats = 4\nobjective = "stakes"')
    assert parse_definition(text).tournament.objective == "stakes"
    assert "not played for stakes" in only(text.replace('"auction-pitch"', '"partnership-pitch"')).allowed


def test_house_rules_change_the_rule_set() -> None:
    definition = parse_definition(changed("[rules]", '[rules]\ntarget = 11\nsteal = []\nlow_to = "taker"'))
    rules = definition.rule_set()
    assert (rules.target, rules.steal, rules.low_to, rules.name) == (11, (), "taker", "auction-pitch")


def test_the_shape_follows_variant_and_house_rules() -> None:
    sides = parse_definition(changed("[rules]", '[rules]\nsides = 2\nsettlement = "none"')).shape()
    assert (sides.seats, sides.sides, sides.table_size) == (4, 2, 2)
    assert parse_definition(SOUND).shape().table_size == 4


REMOTE = SOUND.replace('path = "careful"', 'remote = true\nname = "far"')


def test_remote_bots_see_neither_known_deals_nor_a_deal_twice_in_ranked_play() -> None:
    assert "duplicate = false" in only(REMOTE).remedy
    plain = REMOTE.replace("[schedule]", "[schedule]\nduplicate = false")
    assert parse_definition(plain).bots[0].wait_s == 600
    assert "delete seed" in only(plain.replace("[schedule]", '[schedule]\nseed = "k"')).remedy
    parse_definition(REMOTE.replace("[policy]", '[policy]\nprofile = "dev"'))


@pytest.mark.parametrize(("wait", "seconds"), [("30s", 30), ("10m", 600), ("2h", 7200)])
def test_the_wait_for_a_remote_bot_is_in_seconds_minutes_or_hours(wait: str, seconds: int) -> None:
    text = REMOTE.replace("[schedule]", "[schedule]\nduplicate = false") + f'wait = "{wait}"\n'
    assert parse_definition(text).bots[0].wait_s == seconds


@pytest.mark.parametrize("wait", ["10", "0s", "-1m", "1d", "10 m", "", "m"])
def test_other_waits_are_refused(wait: str) -> None:
    text = REMOTE.replace("[schedule]", "[schedule]\nduplicate = false") + f'wait = "{wait}"\n'
    assert "10m" in only(text).allowed


def test_layout_and_comments_do_not_change_the_digest_but_every_value_does() -> None:
    digest = parse_definition(SOUND).digest()
    assert len(digest) == 64
    assert parse_definition("# hello\n\n" + SOUND.replace("seats = 4", "seats   = 0x4")).digest() == digest
    assert parse_definition(SOUND.replace("[limits]", "[limits]\nmove_ms = 5000")).digest() == digest
    others = {
        parse_definition(SOUND.replace(old, new)).digest()
        for old, new in [
            ("seats = 4", "seats = 3"),
            ("[rules]", "[rules]\ntarget = 9"),
            ("[schedule]", "[schedule]\nsets = 7"),
            ("[schedule]", '[schedule]\nseed = "k"'),
            ("[policy]", '[policy]\nprofile = "dev"'),
            ('"careful"', '"random"'),
        ]
    }
    assert len(others | {digest}) == 7


def test_a_field_that_came_later_changes_no_digest_unless_it_says_something_else() -> None:
    """The digest is that of version 0.1.0."""
    text = '[tournament]\nname="Old"\nvariant="auction-pitch"\nseats=4\n[[bots]]\npath="careful"\n'
    old = parse_definition(text)
    assert old.digest() == "23832d42cbffe35e9b8099075666777ae8fb7af7894b38dd82fa7774b9d0b54f"
    assert old.limits.start_s == 30
    assert parse_definition(text + "[limits]\nstart_s = 30\n").digest() == old.digest()
    slow = parse_definition(text + "[limits]\nstart_s = 90\n")
    assert slow.digest() != old.digest()
    assert restore_definition(slow.canonical(), ".").limits.start_s == 90


def test_the_canonical_form_is_json_and_restores_the_definition(tmp_path: Path) -> None:
    points = '[rules]\nsteal = [2]\nsmudge = "none"\nscoring = "points"\npoint_cards = { J = 1, 5 = 5 }'
    text = SOUND.replace("[rules]", points) + 'version = "1.0"\n'
    definition = parse_definition(text, folder=tmp_path)
    written = json.loads(json.dumps(definition.canonical(), allow_nan=False))
    restored = restore_definition(written, tmp_path)
    assert restored == definition
    assert restored.digest() == definition.digest()
    assert restored.folder == definition.folder == tmp_path
    assert restored.rule_set() == definition.rule_set()


def test_a_frozen_definition_of_another_format_is_refused() -> None:
    canonical = parse_definition(SOUND).canonical()
    for wrong in (canonical | {"schema": 2}, {key: canonical[key] for key in canonical if key != "schema"}):
        with pytest.raises(DefinitionError, match="version of the referee that wrote it"):
            restore_definition(wrong, ".")


def test_a_definition_cannot_be_changed_afterwards() -> None:
    definition = parse_definition(SOUND)
    with pytest.raises(ValueError, match="frozen"):
        definition.tournament.seats = 5
    more = definition.with_sets(12)
    assert (definition.schedule.sets, more.schedule.sets, more.folder) == (6, 12, definition.folder)
    with pytest.raises(ValueError, match="sets"):
        definition.with_sets(0)


def test_definitions_that_say_the_same_are_equal_wherever_they_were_read() -> None:
    here, there = parse_definition(SOUND, file="here.toml"), parse_definition(SOUND, file="there.toml", folder="/")
    assert (here.file, there.file) == ("here.toml", "there.toml")
    assert {here, there, here.with_sets(7)} == {there, here.with_sets(7)}
    assert here != SOUND


def test_the_schema_accepts_what_is_sound_and_refuses_what_is_not() -> None:
    schema = definition_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    sound = tomllib.loads(SOUND)
    validator.validate(sound)
    wrong: list[dict[str, Any]] = [
        sound | {"bots": [{}]},
        sound | {"bots": [{"path": "a", "bots_from": "b"}]},
        sound | {"bots": [{"path": "a", "name": "<b>"}]},
        sound | {"tournament": sound["tournament"] | {"seats": 9}},
        sound | {"tournament": sound["tournament"] | {"objectve": "place"}},
        sound | {"policy": {"profile": "Ranked"}},
    ]
    for document in wrong:
        assert not validator.is_valid(document), document
        with pytest.raises(DefinitionError):
            restore_definition(document | {"schema": 1}, ".")


LADDER = """
[tournament]
name = "Club"
variant = "auction-pitch"
seats = 3
[schedule]
format = "ladder"
"""


def test_where_a_ladder_is_shown_changes_nothing_of_what_is_played() -> None:
    plain, hosted = parse_definition(LADDER), parse_definition(f'{LADDER}[host]\nenter = "open"\nevery = "30m"\n')
    assert hosted.host is not None
    assert (hosted.host.enter, hosted.host.every_s, HostSection().every_s) == ("open", 1800, 0)
    assert plain.digest() == hosted.digest()
    assert restore_definition(hosted.canonical(), ".").host is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (SOUND + "[host]\n", 'no [host] without format = "ladder"; remedy: write format = "ladder", or delete [host]'),
        (f"{LADDER}[host]\ncloses = 2027-01-31T23:59:00\n", "remedy: add the offset from UTC, such as +01:00 or Z"),
        (f'{LADDER}[host]\naddress = "localhost"\n', 'HOST:PORT, such as "127.0.0.1:8400"'),
        (f'{LADDER}[host]\nurl = "pitch.example.org"\n', 'a URL, such as "https://pitch.example.org"'),
        (f'{LADDER}[host]\nevery = "often"\n', 'a time such as "30s", "10m" or "2h"'),
    ],
)
def test_a_host_that_cannot_be_is_told(text: str, told: str) -> None:
    with pytest.raises(DefinitionError, match=re.escape(told)):
        parse_definition(text)


def test_every_field_of_a_definition_has_a_meaning() -> None:
    schema = definition_schema()
    fields = [field for section in schema["$defs"].values() for field in section["properties"].items()]
    assert len(fields) > 25
    assert [name for name, node in fields if not node.get("description")] == []


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
sections = ["tournament", "rules", "schedule", "limits", "policy", "bots"]
fields = ["name", "variant", "seats", "sets", "path", "command", "remote", "wait", "copies", "target", "steal", "sides"]


@given(
    st.dictionaries(
        st.sampled_from(sections),
        values
        | st.dictionaries(st.sampled_from(fields), values)
        | st.lists(st.dictionaries(st.sampled_from(fields), values)),
    )
)
def test_nonsense_of_any_kind_ends_in_problems_that_can_be_printed(document: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError) as caught:
        restore_definition(document | {"schema": 1}, ".")
    for problem in caught.value.problems:
        assert str(problem).isascii()
        assert str(problem).isprintable()


@given(st.text() | st.sampled_from(SOUND.splitlines()).map(lambda line: SOUND.replace(line, line[: len(line) // 2])))
def test_any_text_is_a_definition_or_a_list_of_problems(text: str) -> None:
    told = ""
    try:
        parse_definition(text)
    except DefinitionError as error:
        told = str(error)
        shown = error.problems
    if told:
        assert len(shown) == len(told.splitlines())
        assert told.replace("\n", "").isprintable()
    else:
        assert len(parse_definition(text).digest()) == 64

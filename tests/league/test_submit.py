"""Entering and taking out bots: the file is edited in place, and nothing unsound is ever written."""

from pathlib import Path

import pytest

from referee.league.definition.definition import DefinitionError, load_definition, parse_definition
from referee.league.entrants.bot_source import BotSource, find_bot
from referee.league.entrants.check_certificates import (
    add_receipt,
    only_checked,
    read_receipts,
    receipt,
    receipts_path,
    rules_digest,
)
from referee.league.entrants.roster import enter
from referee.league.entrants.submission import Submission, add_bot, entry_for, remove_bot
from tests.program import referee

DEFINITION = """\
# The league of the club.
[tournament]
name = "Club"          # as on the wall
variant = "auction-pitch"
seats = 3

[[bots]]               # the yardstick
path = "random"

# a friend's
[[bots]]
path = "bots/ann"
copies = 2
"""


def make(folder: Path, name: str, version: str = "1.0", code: str = "") -> Path:
    """A bot's folder. It need not run: what counts here is what is said of it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bot.toml").write_text(f'name = "{name}"\nversion = "{version}"\nrun = ["python", "bot.py"]\n', "utf-8")
    (folder / "bot.py").write_text(f"# {name} {version} {code}\n", "utf-8")
    return folder


@pytest.fixture
def club(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "bots" / "ann", "ann")
    path = tmp_path / "club.toml"
    path.write_text(DEFINITION, "utf-8")
    return path


def source(text: str) -> BotSource:
    return find_bot(text, Path.cwd())


def add(club: Path, text: str, name: str | None = None) -> Submission:
    bot = source(text)
    entry = entry_for(load_definition(club), bot, name)
    add_bot(club, text, bot, entry)
    return entry


def names(club: Path) -> list[str]:
    return [one.key for one in enter(load_definition(club)).entrants]


def test_a_bot_is_entered_and_every_line_of_the_file_stays(club: Path) -> None:
    make(club.parent / "bots" / "ben", "ben")
    assert add(club, "bots/ben") == Submission("ben", False)
    text = club.read_text("utf-8")
    assert text.startswith(DEFINITION)
    assert text[len(DEFINITION) :] == '\n[[bots]]\npath = "bots/ben"\n'
    assert names(club) == ["random", "ann", "ann#2", "ben"]


def test_a_sample_bot_is_entered_by_its_name(club: Path) -> None:
    add(club, "careful")
    assert club.read_text("utf-8").endswith('\n[[bots]]\npath = "careful"\n')


def test_a_bot_elsewhere_is_entered_by_the_way_from_the_definition(club: Path, tmp_path: Path) -> None:
    below = club.parent / "cups" / "club.toml"
    below.parent.mkdir()
    below.write_text(DEFINITION.replace("bots/ann", "../bots/ann"), "utf-8")
    make(club.parent / "bots" / "ben", "ben")
    add(below, "bots/ben")
    assert below.read_text("utf-8").endswith('path = "../bots/ben"\n')
    assert "ben" in names(below)


def test_a_script_is_entered_as_a_file(club: Path) -> None:
    (club.parent / "quick.py").write_text("# a bot\n", "utf-8")
    add(club, "quick.py")
    assert club.read_text("utf-8").endswith('path = "quick.py"\n')


def test_the_same_bot_is_entered_once(club: Path) -> None:
    assert entry_for(load_definition(club), source("bots/ann")) == Submission("ann", True)
    assert entry_for(load_definition(club), source("random")) == Submission("random", True)


def test_a_new_version_is_a_new_player_beside_the_old_one(club: Path) -> None:
    make(club.parent / "ann2", "ann", "2.0")
    assert add(club, "ann2") == Submission("ann-2.0", False)
    assert club.read_text("utf-8").endswith('[[bots]]\npath = "ann2"\nname = "ann-2.0"\n')
    assert names(club) == ["random", "ann", "ann#2", "ann-2.0"]
    versions = {one.name: one.version for one in enter(load_definition(club)).entrants}
    assert versions["ann"] == "1.0"
    assert versions["ann-2.0"] == "2.0"
    assert entry_for(load_definition(club), source("ann2")) == Submission("ann-2.0", True)


def test_a_version_that_is_there_already_is_refused(club: Path) -> None:
    make(club.parent / "other", "ann", code="another program")
    with pytest.raises(DefinitionError, match="which another bot has") as caught:
        entry_for(load_definition(club), source("other"))
    assert "change the version" in str(caught.value)
    assert add(club, "other", "zoe") == Submission("zoe", False)
    assert "zoe" in names(club)


def test_a_name_of_another_is_refused_whatever_its_case(club: Path) -> None:
    make(club.parent / "bots" / "ben", "ben")
    with pytest.raises(DefinitionError, match="another name with --name"):
        entry_for(load_definition(club), source("bots/ben"), "ANN")


def test_nothing_is_written_where_the_result_would_be_unsound(club: Path) -> None:
    bot = source(str(make(club.parent / "bots" / "ben", "ben")))
    before = club.read_text("utf-8")
    with pytest.raises(DefinitionError):
        add_bot(club, "bots/ben", bot, Submission("ann", False))
    with pytest.raises(DefinitionError):
        add_bot(club, "bots/ben", bot, Submission("<b>", False))
    assert club.read_text("utf-8") == before
    assert sorted(path.name for path in club.parent.iterdir()) == ["bots", "club.toml"]


def test_an_inline_list_of_bots_is_extended_in_place(club: Path) -> None:
    head = DEFINITION.split("[[bots]]", maxsplit=1)[0].replace("seats = 3", "seats = 2")
    text = 'bots = [{path = "random"}, {path = "careful"}] # two\n' + head
    club.write_text(text, "utf-8")
    make(club.parent / "bots" / "ben", "ben")
    add(club, "bots/ben")
    assert names(club) == ["random", "careful", "ben"]
    assert "# two" in club.read_text("utf-8")
    remove_bot(club, "careful")
    assert names(club) == ["random", "ben"]


def test_a_bot_is_taken_out_and_the_rest_stays(club: Path) -> None:
    make(club.parent / "bots" / "ben", "ben")
    add(club, "bots/ben")
    assert remove_bot(club, "ANN") == "bots/ann"
    assert names(club) == ["random", "ben"]
    text = club.read_text("utf-8")
    assert "# The league of the club." in text
    assert "# as on the wall" in text
    assert "# the yardstick" in text


def test_what_was_entered_and_taken_out_leaves_the_file_as_it_was(club: Path) -> None:
    make(club.parent / "bots" / "ben", "ben")
    add(club, "bots/ben")
    remove_bot(club, "ben")
    assert club.read_text("utf-8").rstrip() == DEFINITION.rstrip()


def test_a_bot_whose_folder_is_gone_can_still_be_taken_out(club: Path) -> None:
    for file in (club.parent / "bots" / "ann").iterdir():
        file.unlink()
    (club.parent / "bots" / "ann").rmdir()
    assert remove_bot(club, "ann") == "bots/ann"


def test_taking_out_who_is_not_there_names_who_was_meant(club: Path) -> None:
    with pytest.raises(DefinitionError, match='did you mean "ann"'):
        remove_bot(club, "anne")


OPEN = DEFINITION.split("[[bots]]", maxsplit=1)[0]


@pytest.mark.parametrize("head", ["", "bots = []\n"])
def test_an_open_registration_takes_its_first_bots_and_loses_its_last(club: Path, head: str) -> None:
    club.write_text(head + OPEN, "utf-8")
    assert names(club) == []
    add(club, "random")
    add(club, "bots/ann")
    assert names(club) == ["random", "ann"]
    assert "# The league of the club." in club.read_text("utf-8")
    remove_bot(club, "random")
    remove_bot(club, "ann")
    assert names(club) == []
    with pytest.raises(DefinitionError, match="there is none"):
        remove_bot(club, "ann")
    add(club, "careful")
    assert names(club) == ["careful"]


@pytest.mark.parametrize(
    "command", [["run", "club.toml"], ["run", "club.toml", "--dry-run"], ["schedule", "club.toml"]]
)
def test_an_open_registration_says_how_bots_are_entered(command: list[str], club: Path) -> None:
    club.write_text(OPEN, "utf-8")
    done = referee(club.parent, *command)
    assert done.returncode == 2
    assert (
        "found no bot yet; allowed: 3 bots or more; remedy: enter bots with referee submit BOT club.toml" in done.stderr
    )


def test_a_bot_is_submitted_to_an_open_registration(club: Path) -> None:
    club.write_text(OPEN, "utf-8")
    done = referee(club.parent, "submit", "random", "club.toml", "--sandbox", "none")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Entered random 1 in club.toml" in done.stdout
    assert done.stderr.startswith("Bots run without a sandbox")
    again = referee(club.parent, "submit", "random", "club.toml", "--sandbox", "none")
    assert again.returncode == 0
    assert again.stdout == (
        "random 1 is in club.toml already, file by file as it is here.\nNothing differs, so there is nothing to do.\n"
    )


def test_which_version_is_in_is_said_before_a_new_one_is_checked(club: Path) -> None:
    new = make(club.parent / "ann2", "ann", "2.0", code="raise SystemExit(3)")
    done = referee(club.parent, "submit", str(new), "club.toml", "--sandbox", "none")
    assert done.returncode == 4
    first, *rest = done.stdout.splitlines()
    assert first == (
        "ann 1.0 is in already; version 1.0 there, 2.0 here; other files: bot.py, bot.toml. It will be entered as ann-2.0, a "
        "new player."
    )
    assert "Not entered" in rest[-1]


def test_what_differs_from_the_version_that_is_in_is_named(club: Path) -> None:
    new = make(club.parent / "ann2", "ann", "2.0")
    (new / "more.txt").write_text("x", "utf-8")
    told = entry_for(load_definition(club), source("ann2")).beside
    assert told == "ann 1.0 is in already; version 1.0 there, 2.0 here; other files: bot.py, bot.toml, more.txt"
    make(club.parent / "ann3", "ann", code="another program")
    with pytest.raises(DefinitionError, match=r"ann; other files: bot\.py\)"):
        entry_for(load_definition(club), source("ann3"))
    (club.parent / "random.py").write_text("# a bot\n", "utf-8")
    with pytest.raises(DefinitionError, match=r"version 1 there, [0-9a-f]{8} here; other files"):
        entry_for(load_definition(club), source("random.py"), "random")


def test_one_of_many_submissions_is_not_the_definitions_to_take_out(club: Path) -> None:
    make(club.parent / "inbox" / "cat", "cat")
    club.write_text(DEFINITION + '\n[[bots]]\nbots_from = "inbox/*"\n', "utf-8")
    with pytest.raises(DefinitionError, match="move its folder away"):
        remove_bot(club, "cat")


# Receipts.

CHECKED = DEFINITION + "\n[policy]\nchecked = true\n"


def let_in(club: Path) -> list[str]:
    definition = load_definition(club)
    return [one.key for one in only_checked(definition, enter(definition), club).entrants]


def pass_check(club: Path, text: str) -> None:
    bot = source(text)
    add_receipt(receipts_path(club), receipt(bot.digest, bot.name, bot.version, load_definition(club), 22, "2026.1"))


def test_without_the_policy_nobody_asks(club: Path) -> None:
    assert let_in(club) == ["random", "ann", "ann#2"]


def test_with_it_every_bot_needs_a_receipt(club: Path) -> None:
    club.write_text(CHECKED, "utf-8")
    with pytest.raises(DefinitionError) as caught:
        let_in(club)
    assert [problem.found.split(",")[0] for problem in caught.value.problems] == ["random 1", "ann 1.0"]
    assert "referee submit" in caught.value.problems[1].remedy
    pass_check(club, "random")
    pass_check(club, "bots/ann")
    assert let_in(club) == ["random", "ann", "ann#2"]


def test_a_receipt_is_worth_nothing_after_a_change_of_bot_or_rules(club: Path) -> None:
    club.write_text(CHECKED, "utf-8")
    pass_check(club, "random")
    pass_check(club, "bots/ann")
    make(club.parent / "bots" / "ann", "ann", code="better now")
    with pytest.raises(DefinitionError, match=r"ann 1\.0, never checked as it is now"):
        let_in(club)
    pass_check(club, "bots/ann")
    club.write_text(CHECKED + '\n[rules]\nall_pass = "dealer_forced"\n', "utf-8")
    with pytest.raises(DefinitionError, match="random 1, never checked"):
        let_in(club)


def test_submissions_without_a_receipt_are_skipped(club: Path) -> None:
    make(club.parent / "inbox" / "cat", "cat")
    make(club.parent / "inbox" / "dog", "dog")
    club.write_text(CHECKED + '\n[[bots]]\nbots_from = "inbox/*"\ncopies = 2\n', "utf-8")
    for text in ("random", "bots/ann", "inbox/dog"):
        pass_check(club, text)
    definition = load_definition(club)
    roster = only_checked(definition, enter(definition), club)
    assert [one.key for one in roster.entrants] == ["random", "ann", "ann#2", "dog", "dog#2"]
    assert [Path(one.path).name for one in roster.skipped] == ["cat"]
    assert "never checked" in roster.skipped[0].reason


def test_remote_bots_cannot_be_vouched_for(club: Path) -> None:
    remote = '\n[[bots]]\nremote = true\nname = "far"\n'
    club.write_text(CHECKED.replace("[policy]", "[schedule]\nduplicate = false\n[policy]") + remote, "utf-8")
    pass_check(club, "random")
    pass_check(club, "bots/ann")
    with pytest.raises(DefinitionError, match="nobody can tell what runs elsewhere"):
        let_in(club)


def test_a_second_receipt_for_the_same_bot_replaces_the_first(club: Path) -> None:
    for _ in range(3):
        pass_check(club, "random")
    assert len(read_receipts(receipts_path(club))) == 1


@pytest.mark.parametrize("text", ["", "[]", '{"format": "other", "checked": []}', '{"format": "allfours-checked/1"}'])
def test_garbled_receipts_are_an_error_that_names_the_file(club: Path, text: str) -> None:
    club.write_text(CHECKED, "utf-8")
    receipts_path(club).write_text(text, "utf-8")
    with pytest.raises(DefinitionError, match=r"club\.checked\.json"):
        let_in(club)


def test_seats_and_house_rules_make_the_digest() -> None:
    one, two = (parse_definition(DEFINITION.replace("seats = 3", f"seats = {seats}")) for seats in (3, 2))
    digests = {rules_digest(one.rule_set(), 3), rules_digest(two.rule_set(), 2), rules_digest(one.rule_set(), 2)}
    assert len(digests) == 2


LADDER = """\
[tournament]
name = "Ladder"
variant = "auction-pitch"
seats = 3
[schedule]
format = "ladder"

[[bots]]
path = "random"
panel = true

[[bots]]               # Ann's
path = "bots/ann"
owner = "Ann"
args = ["--slow"]

[[bots]]
path = "careful"
"""


@pytest.fixture
def ladder(club: Path) -> Path:
    club.write_text(LADDER, "utf-8")
    return club


@pytest.mark.parametrize(("own", "version"), [("ann", "2.0"), ("ann", "1.0"), ("Ann", "2.0")])
def test_a_new_version_takes_the_place_of_the_one_before_on_a_ladder(ladder: Path, own: str, version: str) -> None:
    make(ladder.parent / "ann2", own, version, code="better")
    assert add(ladder, "ann2") == Submission("ann", False, replaces=True)
    text = ladder.read_text("utf-8")
    name = 'name = "ann"\n' if own != "ann" else ""
    assert text.replace("\n\n", "\n") == LADDER.replace(
        'path = "bots/ann"\nowner = "Ann"\nargs = ["--slow"]\n', f'path = "ann2"\nowner = "Ann"\n{name}'
    ).replace("\n\n", "\n")
    assert names(ladder) == ["random", "ann", "careful"]
    assert enter(load_definition(ladder)).entrants[1].digest == source("ann2").digest
    assert entry_for(load_definition(ladder), source("ann2")) == Submission("ann", True)


def test_a_bot_under_the_name_of_another_takes_its_place_on_a_ladder(ladder: Path) -> None:
    make(ladder.parent / "ben", "ben")
    assert add(ladder, "ben", "ann") == Submission("ann", False, replaces=True)
    assert names(ladder) == ["random", "ann", "careful"]
    assert entry_for(load_definition(ladder), source("ben")) == Submission("ann", True)


def test_the_panel_and_what_a_pattern_brings_are_not_replaced(ladder: Path) -> None:
    make(ladder.parent / "other", "random", "9")
    with pytest.raises(DefinitionError, match=r"it never changes.*--name"):
        entry_for(load_definition(ladder), source("other"))
    make(ladder.parent / "inbox" / "cat", "cat")
    make(ladder.parent / "cat2", "cat", "2")
    ladder.write_text(LADDER + '\n[[bots]]\nbots_from = "inbox/*"\n', "utf-8")
    with pytest.raises(DefinitionError, match="put the new version into its folder"):
        entry_for(load_definition(ladder), source("cat2"))


def test_inline_entries_are_replaced_too(ladder: Path) -> None:
    head, _, _ = LADDER.partition("\n[[bots]]")
    inline = 'bots = [{path = "random"}, {path = "bots/ann", owner = "Ann"}, {path = "careful"}]\n'
    ladder.write_text(inline + head, "utf-8")
    make(ladder.parent / "ann2", "ann", "2.0")
    add(ladder, "ann2")
    assert [(one.path, one.owner) for one in load_definition(ladder).bots] == [
        ("random", None),
        ("ann2", "Ann"),
        ("careful", None),
    ]

"""Entrants: bots found, named, counted out, watched for changes; and whatever is wrong with them."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.league.definition import shipped
from referee.league.definition.definition import DefinitionError, definition_schema, load_definition, parse_definition
from referee.league.entrants import bot_digest, bot_source
from referee.league.entrants.roster import BotSourceError, Roster, command_bot, enter, find_bot
from referee.league.schedule.formats import format_of, plan

MANIFEST = 'name = "{name}"\nversion = "1.2"\nrun = ["python", "bot.py"]\n'


def make_bot(folder: Path, name: str = "", more: str = "", *, code: str = "print()\n") -> Path:
    folder.mkdir(parents=True)
    (folder / "bot.toml").write_text(MANIFEST.format(name=name or folder.name) + more, "utf-8")
    (folder / "bot.py").write_text(code, "utf-8")
    return folder


def entered(folder: Path, bots: str, *, head: str = "") -> Roster:
    text = f'[tournament]\nname = "T"\nvariant = "auction-pitch"\nseats = 2\n{head}{bots}'
    return enter(parse_definition(text, file="league.toml", folder=folder))


def keys(roster: Roster) -> list[str]:
    return [entrant.key for entrant in roster.entrants]


def test_a_folder_with_bot_toml_is_an_entrant(tmp_path: Path) -> None:
    folder = make_bot(
        tmp_path / "bots" / "mine", "my bot", 'variants = ["pitch"]\ndescription = "Counts\\n  trumps."\n'
    )
    (entrant,) = entered(tmp_path, '[[bots]]\npath = "bots/mine"\n').entrants
    assert (entrant.key, entrant.name, entrant.version, entrant.copy_of) == ("my bot", "my bot", "1.2", None)
    assert entrant.argv == (sys.executable, "bot.py")
    assert entrant.folder == folder
    assert (entrant.remote, entrant.submitted, entrant.variants) == (False, False, ("pitch",))
    assert entrant.description == "Counts trumps."
    assert len(entrant.digest) == 64
    command = entrant.command()
    assert (command.argv, command.folder, command.name, command.only) == (entrant.argv, folder, "my bot", ())


def test_a_bot_toml_may_be_named_itself(tmp_path: Path) -> None:
    assert find_bot(str(make_bot(tmp_path / "a") / "bot.toml"), ".") == find_bot("a", tmp_path)


def test_a_python_file_is_a_bot_of_its_own_alone(tmp_path: Path) -> None:
    path = tmp_path / "mybot.py"
    path.write_text("print(1)\n")
    first = find_bot("mybot.py", tmp_path)
    assert (first.name, first.argv, first.folder) == ("mybot", (sys.executable, "mybot.py"), tmp_path)
    assert first.version == first.digest[:8]
    assert first.command().only == ("mybot.py",)
    (tmp_path / "other.py").write_text("# a bot\n")
    assert find_bot("mybot.py", tmp_path) == first
    path.write_text("print(2)\n")
    assert find_bot("mybot.py", tmp_path).version != first.version


def test_name_and_version_of_the_definition_win(tmp_path: Path) -> None:
    make_bot(tmp_path / "mine")
    (entrant,) = entered(tmp_path, '[[bots]]\npath = "mine"\nname = "other"\nversion = "9"\n').entrants
    assert (entrant.key, entrant.version) == ("other", "9")


def test_copies_have_numbers_from_the_second_on(tmp_path: Path) -> None:
    make_bot(tmp_path / "mine")
    roster = entered(tmp_path, '[[bots]]\npath = "mine"\ncopies = 3\n')
    assert keys(roster) == ["mine", "mine#2", "mine#3"]
    assert [entrant.copy_of for entrant in roster.entrants] == [None, "mine", "mine"]
    assert {(entrant.name, entrant.digest) for entrant in roster.entrants} == {("mine", roster.entrants[0].digest)}


def test_a_command_runs_in_the_folder_of_the_definition(tmp_path: Path) -> None:
    (tmp_path / "play.sh").write_text("#!/bin/sh\n")
    (entrant,) = entered(tmp_path, '[[bots]]\ncommand = ["sh", "play.sh"]\nname = "shell"\n').entrants
    assert (entrant.key, entrant.argv, entrant.folder) == ("shell", ("sh", "play.sh"), tmp_path)
    assert entrant.version == entrant.digest[:8]
    (tmp_path / "play.sh").write_text("#!/bin/sh\nexit 1\n")
    (changed,) = entered(tmp_path, '[[bots]]\ncommand = ["sh", "play.sh"]\nname = "shell"\nversion = "1"\n').entrants
    assert changed.digest != entrant.digest
    assert changed.version == "1"


@pytest.mark.parametrize(
    ("argv", "started"),
    [
        (["python", "x.py"], [sys.executable, "x.py"]),
        (["python3", "-m", "x"], [sys.executable, "-m", "x"]),
        (["x.py", "--fast"], [sys.executable, "x.py", "--fast"]),
        (["sh", "python"], ["sh", "python"]),
    ],
)
def test_python_means_the_interpreter_that_runs_the_referee(
    argv: list[str], started: list[str], tmp_path: Path
) -> None:
    assert command_bot(argv, tmp_path, name="x").argv == tuple(started)
    folder = make_bot(tmp_path / "mine")
    text = f'name = "x"\nversion = "1"\nrun = {json.dumps(argv)}\nbuild = {json.dumps(argv)}\n'
    (folder / "bot.toml").write_text(text)
    bot = find_bot("mine", tmp_path)
    assert bot.argv == bot.build == tuple(started)


def test_where_the_interpreter_lives_does_not_change_a_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_bot(tmp_path / "mine")
    here = command_bot(["python", "x.py"], tmp_path, name="x").digest, find_bot("mine", tmp_path).digest
    monkeypatch.setattr(sys, "executable", "/bin/sh")
    assert (command_bot(["python", "x.py"], tmp_path, name="x").digest, find_bot("mine", tmp_path).digest) == here


def test_a_build_may_be_a_line_for_the_shell(tmp_path: Path) -> None:
    make_bot(tmp_path / "mine", more='build = "make && make check"\n')
    assert find_bot("mine", tmp_path).build == ("sh", "-c", "make && make check")


def test_a_remote_bot_is_waited_for(tmp_path: Path) -> None:
    text = '[[bots]]\nremote = true\nname = "far"\nwait = "2m"\n[[bots]]\nremote = true\nname = "off"\nversion = "3"\n'
    far, off = entered(tmp_path, text, head="[schedule]\nduplicate = false\n").entrants
    assert (far.remote, far.argv, far.folder, far.digest, far.wait_s, far.version) == (
        True,
        (),
        None,
        "",
        120,
        "remote",
    )
    assert (off.wait_s, off.version) == (600, "3")
    with pytest.raises(ValueError, match="dials in"):
        far.command()


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sample bots in a place of their own, seen as the shipped ones."""
    root = tmp_path / "shipped"
    for name in ("careful", "random"):
        make_bot(root / name)
    monkeypatch.setattr(bot_source, "sample_root", lambda: root)
    monkeypatch.setattr(bot_source, "sample_bots", lambda: {path.name: path for path in sorted(root.iterdir())})
    return root


@pytest.mark.parametrize("text", ["careful", "careful/", "sample_bots/python/careful"])
def test_a_sample_bot_is_found_by_its_name_from_anywhere(text: str, samples: Path, tmp_path: Path) -> None:
    assert find_bot(text, tmp_path).folder == samples / "careful"


def test_a_bot_beside_the_definition_comes_before_a_sample_bot(samples: Path, tmp_path: Path) -> None:
    own = make_bot(tmp_path / "careful")
    assert find_bot("careful", tmp_path).folder == own
    (own / "bot.toml").unlink()
    with pytest.raises(BotSourceError, match="a folder without bot"):
        find_bot("careful", tmp_path)


def test_a_bot_that_is_not_there_is_an_error_with_what_was_tried_and_near_names(samples: Path, tmp_path: Path) -> None:
    make_bot(tmp_path / "bots" / "mine")
    (tmp_path / "bots" / "notes.txt").write_text("")
    with pytest.raises(BotSourceError) as caught:
        find_bot("carefull", tmp_path)
    (problem,) = caught.value.problems
    for place in (tmp_path / "carefull", samples / "carefull"):
        assert f"{place} (not there)" in problem.found
    assert "careful, random" in problem.allowed
    assert problem.remedy == 'did you mean "careful"?'
    with pytest.raises(BotSourceError, match='did you mean "bots/mine"'):
        find_bot("bots/min", tmp_path)
    with pytest.raises(BotSourceError, match=r"a file, but no \.py file"):
        find_bot("bots/notes.txt", tmp_path)


@pytest.mark.parametrize("text", ["a\0b", "x" * 5000, "x/" * 3000, "~nobody-at-all/x", "\u202e", "..", "/dev/null"])
def test_a_hostile_path_is_an_error_in_harmless_words(text: str, tmp_path: Path) -> None:
    with pytest.raises(BotSourceError) as caught:
        find_bot(text, tmp_path / "inner")
    assert str(caught.value).isascii()
    assert str(caught.value).isprintable()


def test_a_missing_bot_is_told_at_its_line_of_the_definition(samples: Path, tmp_path: Path) -> None:
    with pytest.raises(DefinitionError) as caught:
        entered(tmp_path, '[[bots]]\npath = "random"\n[[bots]]\ncopies = 2\npath = "carefull"\n')
    (problem,) = caught.value.problems
    assert (problem.file, problem.line, problem.field) == ("league.toml", 9, "[[bots]] entry 2, path")
    assert problem.found.startswith('"carefull": no bot; tried ')


def test_a_command_that_is_nowhere_is_told_at_its_line(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError) as caught:
        entered(tmp_path, '[[bots]]\ncommand = ["no-such-program"]\nname = "x"\n')
    (problem,) = caught.value.problems
    assert (problem.line, problem.field) == (6, "[[bots]] entry 1, command")
    assert "no-such-program" in problem.found


def test_all_bots_that_are_missing_or_faulty_are_told_at_once(samples: Path, tmp_path: Path) -> None:
    folder = make_bot(tmp_path / "mine", more="x = 1\ny = 2\n")
    with pytest.raises(DefinitionError) as caught:
        entered(tmp_path, '[[bots]]\npath = "no"\n[[bots]]\npath = "mine"\n[[bots]]\npath = "nono"\n')
    assert [(problem.file, problem.line) for problem in caught.value.problems] == [
        (str(folder / "bot.toml"), 4),
        (str(folder / "bot.toml"), 5),
        ("league.toml", 6),
        ("league.toml", 10),
    ]


@pytest.mark.parametrize(
    ("text", "line", "field", "found", "remedy"),
    [
        ('name = "x"\nversion = 1.0\nrun = ["x"]\n', 2, "version", "1.0", 'write version = "1.0"'),
        ('name = "x"\nrun = ["x"]\n', 1, "version", "nothing", 'add version = "1.0"'),
        ('name = "x"\nversion = "1"\n', 1, "run", "nothing", "add run = "),
        ('name = "x"\nversion = "1"\nrun = "python bot.py"\n', 3, "run", "", 'write run = ["python", "bot.py"]'),
        ('name = "x"\nversion = "1"\nrun = "it\'s"\n', 3, "run", '"it\'s"', 'write run = ["it\'s"]'),
        ('name = "x"\nversion = "1"\nrun = []\n', 3, "run", "[]", "change it"),
        ('name = "x"\nversion = "1"\nrun = [7]\n', 3, "run, item 1", "7", ""),
        ('name = "x"\nversion = "1"\nrun = ["x"]\nvariant = ["pitch"]\n', 4, "variant", "unknown", '"variants"'),
        ('name = "x"\nversion = "1"\nrun = ["x"]\nbuild = 7\n', 4, "build", "7", ""),
        ('name = "x"\nversion = "1"\nrun = ["x"]\ndescription = "\\u202e"\n', 4, "description", "\\u202e", "direction"),
        ('name = "x"\nversion = "1 2"\nrun = ["x"]\n', 2, "version", '"1 2"', "change it"),
        ('name = "x"\nversion = \nrun = ["x"]\n', 2, "syntax", "version =", "correct this line"),
        ("name = 'x'\nversion = '1'\nrun = ['x']\n#" + "x" * 17_000, 0, "the file", "16,384 bytes", "smaller"),
    ],
)
def test_a_faulty_bot_toml_is_told_as_well_as_a_faulty_definition(
    text: str, line: int, field: str, found: str, remedy: str, tmp_path: Path
) -> None:
    folder = make_bot(tmp_path / "mine")
    (folder / "bot.toml").write_text(text, "utf-8")
    with pytest.raises(BotSourceError) as caught:
        find_bot("mine", tmp_path)
    (problem,) = caught.value.problems
    assert (problem.file, problem.line, problem.field) == (str(folder / "bot.toml"), line, field)
    assert found in problem.found
    assert remedy in problem.remedy


@pytest.mark.parametrize(
    "name",
    ["\x1b[2Ja", "<script>", "a\u202eb", "a\nb", "../up", "a#2", "x" * 1000, "", "\u0430\u0430", "-rf", "nul\0"],
)
def test_a_bot_with_a_hostile_name_is_refused_in_harmless_words(name: str, tmp_path: Path) -> None:
    folder = make_bot(tmp_path / "mine")
    (folder / "bot.toml").write_text(f'name = {json.dumps(name)}\nversion = "1"\nrun = ["x"]\n')
    with pytest.raises(BotSourceError) as caught:
        find_bot("mine", tmp_path)
    (problem,) = caught.value.problems
    assert problem.field == "name"
    assert "1 to 40 letters" in problem.allowed
    assert str(problem).isascii()
    assert str(problem).isprintable()
    assert len(str(problem)) < 800


def test_a_bot_toml_of_a_megabyte_or_a_pipe_in_its_place_is_refused(tmp_path: Path) -> None:
    folder = make_bot(tmp_path / "mine")
    (folder / "bot.toml").write_text(f'name = "{"x" * 1_000_000}"\n')
    with pytest.raises(BotSourceError, match="16,384 bytes"):
        find_bot("mine", tmp_path)
    (folder / "bot.toml").unlink()
    os.mkfifo(folder / "bot.toml")
    with pytest.raises(BotSourceError, match="no regular file"):
        find_bot("mine", tmp_path)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("_my bot!.py", "my bot"),
        ("Zo\u00eb.py", "Zoe"),
        ("\u732b.py", "bot"),
        ("-rf.py", "rf"),
        ("x" * 60 + ".py", "x" * 40),
        ("a\u202eb<i>.py", "ab-i"),
    ],
)
def test_a_file_whose_name_is_no_name_is_called_by_what_can_stay_of_it(file: str, name: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text("# a bot\n")
    assert find_bot(file, tmp_path).name == name
    assert find_bot(file, tmp_path, name="fine").name == "fine"


def test_two_bots_of_one_name_are_an_error_that_says_how_to_tell_them_apart(tmp_path: Path) -> None:
    make_bot(tmp_path / "a", "Same")
    make_bot(tmp_path / "b", "same")
    with pytest.raises(DefinitionError) as caught:
        entered(tmp_path, '[[bots]]\npath = "a"\n[[bots]]\npath = "b"\n')
    (problem,) = caught.value.problems
    assert (problem.line, problem.field) == (8, "[[bots]] entry 2, path")
    assert "entry 1" in problem.found
    assert "copies = 2" in problem.remedy
    assert keys(entered(tmp_path, '[[bots]]\npath = "a"\n[[bots]]\npath = "b"\nname = "b"\n')) == ["Same", "b"]


def test_a_bot_for_other_games_only_is_refused(tmp_path: Path) -> None:
    make_bot(tmp_path / "mine", more='variants = ["auction-pich", "smudge"]\n')
    with pytest.raises(DefinitionError) as caught:
        entered(tmp_path, '[[bots]]\npath = "mine"\n')
    (problem,) = caught.value.problems
    assert problem.line == 6
    assert problem.allowed == 'a bot for "auction-pitch"'
    assert 'write "auction-pitch" for "auction-pich"' in problem.remedy


def test_submissions_that_cannot_play_are_listed_and_skipped(tmp_path: Path) -> None:
    make_bot(tmp_path / "subs" / "good")
    make_bot(tmp_path / "subs" / "other", more='variants = ["smudge"]\n')
    make_bot(tmp_path / "subs" / "bad", more="x = 1\n")
    (tmp_path / "subs" / "empty").mkdir()
    (tmp_path / "subs" / "README.md").write_text("")
    (tmp_path / "subs" / "one.py").write_text("# a bot\n")
    roster = entered(tmp_path, '[[bots]]\nbots_from = "subs/*"\n')
    assert keys(roster) == ["good", "one"]
    assert all(entrant.submitted for entrant in roster.entrants)
    reasons = {skipped.path: skipped.reason for skipped in roster.skipped}
    assert list(reasons) == ["subs/README.md", "subs/bad", "subs/empty", "subs/other"]
    assert "no .py file" in reasons["subs/README.md"]
    assert "bot.toml:4: x: found the unknown field" in reasons["subs/bad"]
    assert "without bot.toml" in reasons["subs/empty"]
    assert "smudge" in reasons["subs/other"]


def test_a_hostile_folder_name_is_listed_in_harmless_words(tmp_path: Path) -> None:
    (tmp_path / "subs" / "a\n\x1b[2J\u202e").mkdir(parents=True)
    (skipped,) = entered(tmp_path, '[[bots]]\nbots_from = "subs/*"\n').skipped
    assert (skipped.path + skipped.reason).isascii()
    assert (skipped.path + skipped.reason).isprintable()


def test_a_pattern_may_be_absolute_and_one_that_finds_nothing_is_an_error(tmp_path: Path) -> None:
    make_bot(tmp_path / "subs" / "good")
    assert keys(entered(tmp_path / "subs", f'[[bots]]\nbots_from = "{tmp_path}/s*/*"\n')) == ["good"]
    with pytest.raises(DefinitionError) as caught:
        entered(tmp_path, '[[bots]]\nbots_from = "sub/*"\n')
    (problem,) = caught.value.problems
    assert (problem.line, problem.field) == (6, "[[bots]] entry 1, bots_from")
    assert str(tmp_path) in problem.remedy


def test_a_submission_takes_no_name_from_anybody(tmp_path: Path) -> None:
    make_bot(tmp_path / "mine", "champion")
    make_bot(tmp_path / "subs" / "eve", "Champion")
    make_bot(tmp_path / "subs" / "bob", "twin")
    make_bot(tmp_path / "subs" / "amy", "twin")
    make_bot(tmp_path / "subs" / "mallory", "bob")
    make_bot(tmp_path / "subs" / "zoe", "zoe plays")
    make_bot(tmp_path / "subs" / "bad!", "twin")
    roster = entered(tmp_path, '[[bots]]\nbots_from = "subs/*"\n[[bots]]\npath = "mine"\n')
    assert keys(roster) == ["amy", "bob", "eve", "mallory", "zoe plays", "champion"]
    assert [skipped.path for skipped in roster.skipped] == ["bad!"]
    assert len(roster.notes) == 4
    assert "eve calls itself Champion" in roster.notes[2]


Change = Callable[[Path], object]


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (lambda bot: (bot / "bot.py").write_text("print(2)\n"), True),
        (lambda bot: (bot / "bot.py").rename(bot / "bat.py"), True),
        (lambda bot: (bot / "new.txt").write_text(""), True),
        (lambda bot: (bot / "data").mkdir(), False),
        (lambda bot: make_bot(bot / "build" / "x"), True),
        (lambda bot: make_bot(bot / "__pycache__" / "x"), False),
        (lambda bot: make_bot(bot / "lib" / ".git" / "x"), False),
        (lambda bot: make_bot(bot / "leagues" / "x"), False),
        (lambda bot: (bot / "bot.py").touch(), False),
        (lambda bot: (bot / "link").symlink_to("nowhere"), True),
        (lambda bot: os.mkfifo(bot / "pipe"), True),
    ],
    ids=["content", "name", "file", "folder", "build", "cache", "git", "leagues", "time", "link", "pipe"],
)
def test_a_digest_tells_that_a_file_of_the_bot_was_changed(change: Change, counts: bool, tmp_path: Path) -> None:
    bot = make_bot(tmp_path / "mine")
    before = find_bot("mine", tmp_path).digest
    change(bot)
    assert (find_bot("mine", tmp_path).digest != before) == counts


def test_the_same_files_elsewhere_have_the_same_digest(tmp_path: Path) -> None:
    make_bot(tmp_path / "a" / "mine")
    make_bot(tmp_path / "b" / "mine")
    assert find_bot("a/mine", tmp_path).digest == find_bot("b/mine", tmp_path).digest


def test_products_of_a_build_do_not_count_but_its_sources_do(tmp_path: Path) -> None:
    bot = make_bot(tmp_path / "mine", more='build = ["make"]\n')
    before = find_bot("mine", tmp_path).digest
    for folder in ("build", "target", "node_modules", "src/obj"):
        make_bot(bot / folder / "x")
    assert find_bot("mine", tmp_path).digest == before
    (bot / "dist").write_text("a file, not a folder of products")
    assert find_bot("mine", tmp_path).digest != before


def test_a_link_counts_with_the_file_behind_it_and_a_linked_folder_is_not_entered(tmp_path: Path) -> None:
    bot = make_bot(tmp_path / "mine")
    (tmp_path / "shared.txt").write_text("1")
    (bot / "shared.txt").symlink_to(tmp_path / "shared.txt")
    (bot / "loop").symlink_to(bot)
    before = find_bot("mine", tmp_path).digest
    (tmp_path / "shared.txt").write_text("2")
    assert find_bot("mine", tmp_path).digest != before


def test_large_files_count_by_content(tmp_path: Path) -> None:
    bot = make_bot(tmp_path / "mine")
    with (bot / "model.bin").open("wb") as stream:
        stream.truncate(3_000_000)
    before = find_bot("mine", tmp_path).digest
    with (bot / "model.bin").open("r+b") as stream:
        stream.seek(2_999_999)
        stream.write(b"x")
    assert find_bot("mine", tmp_path).digest != before


def test_a_bot_with_endless_files_or_bytes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = make_bot(tmp_path / "mine")
    with (bot / "sparse").open("wb") as stream:
        stream.truncate(bot_digest.MOST_BYTES * 1000)
    monkeypatch.setattr(bot_digest, "MOST_BYTES", 1 << 22)
    with pytest.raises(BotSourceError, match="more than 4 MiB"):
        find_bot("mine", tmp_path)
    monkeypatch.setattr(bot_digest, "MOST_FILES", 2)
    with pytest.raises(BotSourceError, match="more than 2 files"):
        find_bot("mine", tmp_path)


def test_folders_may_be_nested_deeper_than_the_stack_of_python(tmp_path: Path) -> None:
    nested = [make_bot(tmp_path / "mine") / "d"]
    while len(nested) < sys.getrecursionlimit() + 50:
        nested.append(nested[-1] / "d")
    try:
        for folder in nested:
            folder.mkdir()
        assert len(find_bot("mine", tmp_path).digest) == 64
    finally:
        for folder in filter(Path.is_dir, reversed(nested)):  # pytest cannot clear away a tree as deep as this
            folder.rmdir()


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_bot(tmp_path / "mine")

    def refuse(path: Path, limit: int) -> tuple[bytes, int]:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(bot_digest, "_content", refuse)
    with pytest.raises(BotSourceError, match=r"Permission denied \(.*mine.*\)"):
        find_bot("mine", tmp_path)


@pytest.mark.parametrize("name", sorted(shipped.shipped_tournaments()))
def test_a_shipped_tournament_can_be_played(name: str) -> None:
    """A ladder has its sets when its first round is drawn; tests/cli/test_ladder.py plays a shipped one."""
    definition = load_definition(shipped.shipped_tournaments()[name])
    schedule = plan(definition.shape(), enter(definition).entrants)
    assert bool(schedule.fixtures) == (not format_of(definition.shape()).endless)


def test_the_shipped_tournaments_are_there_and_the_proofs_are_long_enough() -> None:
    tournaments = shipped.shipped_tournaments()
    assert {"kitchen", "template", "careful-beats-random", "montecarlo-beats-careful"} <= set(tournaments)
    proof = load_definition(tournaments["montecarlo-beats-careful"])
    assert proof.schedule.sets >= 150
    assert "random" not in [entry.path for entry in proof.bots]


def test_the_template_explains_every_field() -> None:
    text = shipped.shipped_tournaments()["template"].read_text("utf-8")
    fields = {name for section in definition_schema()["$defs"].values() for name in section["properties"]}
    told = {line.split("=")[0].strip("# ") for line in text.splitlines() if "=" in line}
    assert fields <= told

"""README and docs are held to the code: what they show runs, what they list is all there is, and no link leads nowhere."""

import ast
import functools
import html
import json
import re
import shlex
import sqlite3
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest
import typer
from typer.testing import CliRunner

import referee
from referee import bot as sdk
from referee.check.cases import _read as cases_of
from referee.check.requirements import breakable
from referee.check.script import play_script, read_script
from referee.league.definition.definition import parse_definition
from referee.league.entrants.bot_source import Manifest
from referee.league.store.archived_records import ENDING
from referee.league.store.schema import SCHEMA
from referee.net.games_in_play import GamesInPlay, InProcessPlayer
from referee.protocol import wire
from referee.protocol.translate import Malformed, read_move, rule_set_message, turn_message
from referee.report.standings_columns import columns
from referee.rules import Action, variant, variant_names
from referee.rules.conduct_clauses import WHOLE_BOOK
from referee.rules.rulebook import CLAUSES
from referee.rules.ruleset import meanings
from referee.statistics.standings import standings
from referee.umpire.events import GameSpec
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import replay
from referee.umpire.umpire import Umpire
from referee.umpire.view import Chair, Turn
from referee.verification.result import Check
from tests.helpers import seeded, shuffled
from tests.program import PATIENCE, run

ROOT: Final = Path(__file__).resolve().parents[1]
DOCS: Final = ROOT / "docs"
PAGES: Final = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
PAGES_OF_OURS: Final = [*PAGES, *(ROOT / f"{name}.md" for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY"))]

FENCE: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK: Final = re.compile(r"(!?)\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code on a page."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(*languages: str) -> list[Block]:
    """All blocks in these languages; what directives of Sphinx hold is none."""
    found = [block for path in PAGES for block in blocks_of(path) if block.language in languages]
    assert found
    return found


def blocks_of(path: Path) -> Iterator[Block]:
    """The blocks of one page."""
    text = path.read_text("utf-8")
    for match in FENCE.finditer(text):
        yield Block(path, text.count("\n", 0, match.start()) + 1, match[1], match[2])


def page(name: str) -> str:
    """The text of a page."""
    return (DOCS / name).read_text("utf-8")


@functools.cache
def generator() -> ModuleType:
    """docs/generate.py, which writes the parts that follow from the code."""
    spec = spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# What follows from the code


def test_the_generated_parts_are_what_the_code_says() -> None:
    late = [str(path.relative_to(ROOT)) for path in generator().outdated()]
    assert not late, "write them again: python docs/generate.py"


def test_every_part_that_can_be_generated_stands_on_a_page() -> None:
    marked = {
        name for path in DOCS.glob("*.md") for name in re.findall(r"<!-- generated: ([\w-]+) -->", path.read_text())
    }
    assert marked == set(generator().PARTS)


def test_every_game_has_its_page_and_no_page_lacks_its_game() -> None:
    assert {path.stem for path in (DOCS / "variants").glob("*.md")} == set(variant_names())


@pytest.mark.parametrize("entry", WHOLE_BOOK, ids=lambda entry: entry.id)
def test_every_clause_is_in_the_book_with_its_source(entry: Any) -> None:
    text = page("rules.md")
    chapter = text.partition(f"#### {entry.id} {entry.title}\n")[2].partition("\n#")[0]
    assert re.sub(r"\{(\w+)\}", r"`\1`", entry.sentence) in chapter
    plain = re.sub(r"\[(DP-\d\d)\]\([^)]*\)", r"\1", chapter)
    assert f"*{entry.level}.* Source: {entry.source}." in plain
    assert entry.differs in plain


def test_every_house_rule_is_explained() -> None:
    text = page("rules.md")
    missing = [name for name in meanings() if name not in ("name", "title", "players") and f"| `{name}` |" not in text]
    assert not missing


def test_every_decision_point_that_the_code_names_is_told() -> None:
    told = set(re.findall(r"^### (DP-\d\d)$", page("decisions.md"), re.MULTILINE))
    named = {
        number
        for path in (ROOT / "referee").rglob("*.py")
        for number in re.findall(r"\bDP-\d\d\b", path.read_text("utf-8"))
    }
    assert named <= told


def test_every_source_of_a_clause_is_explained() -> None:
    text = page("rules.md").partition("## Sources")[2]
    keys = {key for entry in CLAUSES for key in re.findall(r"\b[A-Z]{2,3}\b(?!-)", f"{entry.source} {entry.differs}")}
    keys -= {"DP"}
    assert {"BIC", "FOS", "IT"} <= keys
    assert not {key for key in keys if not re.search(rf"\b{key}\b", text)}


def test_every_command_is_told_with_an_example() -> None:
    text = page("commands.md")
    for command in command_line().registered_commands:
        name = command.name or str(command.callback.__name__).replace("_", "-")  # type: ignore[union-attr]
        assert f"## `referee {name}`" in text
        assert f"\nreferee {name}" in text, f"the epilog of {name} has no Example:"
    archives = re.findall(r"--archive-before \d+ --to (\S+)", text)
    assert archives
    assert all(one.endswith(ENDING) for one in archives), "that example is refused"


def test_every_column_of_the_standings_is_told() -> None:
    headings = set(columns(standings([], {})))
    told = re.findall(r"`([^`]+)`", "".join(re.findall(r"^\| (`.+?) \|", page("statistics.md"), re.MULTILINE)))
    assert headings - {"bot"} <= set(told)


def test_every_part_of_the_package_has_its_place_in_the_plan() -> None:
    text = page("architecture.md")
    parts = {
        path.stem for path in (ROOT / "referee").iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    missing = sorted(part for part in parts if not part.startswith("_") and f"`{part}`" not in text)
    assert not missing


def names_in(path: Path) -> set[str]:
    """What a module defines at its top, and in its classes as ``Class.name``."""

    def defined(body: list[ast.stmt], owner: str = "") -> Iterator[str]:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                yield owner + node.name
            if isinstance(node, ast.ClassDef):
                yield from defined(node.body, f"{node.name}.")
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            yield from (owner + target.id for target in targets if isinstance(target, ast.Name))

    return set(defined(ast.parse(path.read_text("utf-8")).body))


def test_every_answer_to_where_something_is_is_right() -> None:
    rows = re.findall(r"^\| (.+\?.*?) \| `([\w/]+\.py)` \| (.+) \|$", page("where.md"), re.MULTILINE)
    assert len(rows) >= 30
    assert page("where.md").count("\n| ") == len(rows) + 2 * page("where.md").count("\n| --- |")
    wrong = [
        f"{file}: {name}"
        for _, file, names in rows
        for name in re.findall(r"`([^`]+)`", names) or ["(none named)"]
        if not (ROOT / "referee" / file).is_file() or name not in names_in(ROOT / "referee" / file)
    ]
    assert not wrong


def test_the_plan_has_the_order_of_the_import_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    tables = page("architecture.md").split("| layer |")[1:]
    for contract, table in zip(contracts, tables, strict=True):
        rank = {part: number for number, layer in enumerate(contract["layers"]) for part in re.findall(r"\w+", layer)}
        rows = re.findall(r"^\| (?:top|bottom)? ?\| (`.+?) \|", table, re.MULTILINE)
        told = [min(rank[part] for part in re.findall(r"`(\w+)`", row)) for row in rows]
        assert len(told) > 7
        assert told == sorted(told)


def test_every_check_of_a_verification_is_about_something_that_records_tells() -> None:
    told = page("records.md").lower()
    words = {Check.SECOND_ENGINE: "second rules engine", Check.REPLAY: "replays", Check.SUMMARY: "summary"}
    missing = [str(check) for check in Check if words.get(check, str(check)) not in told]
    assert not missing


# Bots


class Captured(Exception):
    """A bot has called ``run``."""


def captured(text: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The function that a bot of this text decides by."""

    def run(bot: Any) -> None:
        raise Captured(bot)

    monkeypatch.setattr(sdk, "run", run)
    with pytest.raises(Captured) as caught:
        exec(compile(text, "bot", "exec"), {"__name__": "__main__"})  # noqa: S102
    player = caught.value.args[0]
    return player.choose if isinstance(player, sdk.Bot) else player


def at_table(choose: Any) -> InProcessPlayer:
    """A player in this process that sees and says just what a bot behind the wire does."""

    def action(turn: Turn) -> Action:
        asked = sdk.Turn(turn_message(turn), rule_set_message(turn.chair.rules, 1))
        answer = choose(asked)
        field = {sdk.Kind.BID: "bid", sdk.Kind.PLAY: "card", sdk.Kind.NAME_TRUMP: "suit", sdk.Kind.DISCARD: "kept"}
        value: Any = answer + 1 if asked.kind is sdk.Kind.NAME_TRUMP else answer
        move = wire.Move(turn_id=turn.turn_id, **{field.get(asked.kind, "call"): value})
        read = read_move(move, turn.kind)
        assert not isinstance(read, Malformed), read.sentence
        return read

    return InProcessPlayer(action)


def play_game(choose: Any, game: str, seats: int) -> Umpire:
    """A whole game of one player against itself."""
    rules = variant(game)
    spec = GameSpec(
        key=game,
        rules=rules,
        chairs=tuple(Chair(game_id=1, seat=seat, seats=seats, rules=rules, bot_seed=seat) for seat in range(seats)),
    )
    numbers = iter(range(1, 1 << 20))
    table = Umpire(spec, lambda number: shuffled(seeded((game, number))), numbers.__next__, fallback_move)
    games_in_play = GamesInPlay()
    games_in_play.open(table, [at_table(choose) for _ in range(seats)])
    assert table.result is not None
    return table


def is_sdk_bot(block: Block) -> bool:
    return "import" in block.text and re.search(r"^run\(", block.text, re.MULTILINE) is not None


BOTS: Final = [block for block in blocks("python") if is_sdk_bot(block)]
RAW: Final = [block for block in blocks("python") if "REFEREE_ADDRESS" in block.text]
OTHERS: Final = [block for block in blocks("python") if block not in BOTS and block not in RAW]


@pytest.mark.parametrize("block", BOTS, ids=str)
def test_a_bot_on_a_page_plays(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    choose = captured(block.text, monkeypatch)
    cheats = "max(turn.hand" in block.text
    for game in ("auction-pitch", *(() if cheats else ("all-fours", "cinch"))):
        table = play_game(choose, game, variant(game).players[0])
        assert bool(table.irregularities) == cheats


@pytest.mark.parametrize("block", OTHERS, ids=str)
def test_other_python_on_a_page_runs(block: Block) -> None:
    exec(compile(block.text, str(block), "exec"), {"__name__": "page"})  # noqa: S102


def test_the_ten_line_bot_is_the_one_that_the_tests_of_the_sdk_play() -> None:
    """Byte for byte, and the same in README and tutorial."""
    tree = ast.parse((ROOT / "tests" / "bot" / "test_connection.py").read_text("utf-8"))
    (hello,) = (
        node.value.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and node.target.id == "HELLO"
        and isinstance(node.value, ast.Constant)
    )
    shown = [block.text for block in BOTS if "RandomBot" in block.text]
    assert len(shown) == 2
    assert set(shown) == {str(hello).removeprefix("\n")}
    assert len(shown[0].splitlines()) <= 10


def test_the_bots_of_the_pages_play_through_the_real_wire(tmp_path: Path) -> None:
    """The rulings that the pages show come out just so, and the bot without the SDK plays without a fault."""
    (cheat,) = {block.text for block in BOTS if "HighestBot" in block.text}
    (tmp_path / "highest.py").write_text(cheat, "utf-8")
    (tmp_path / "raw.py").write_text(RAW[0].text, "utf-8")
    assert len(RAW) == 1
    games = [(shown, lines) for shown, lines in transcripts("play") if "--script" not in shown]
    promised = [line for _, lines in games for line in lines if line.startswith("ruling")]
    (command,) = {shown for shown, _ in games}
    assert promised
    done = referee_command(tmp_path, *command[1:])
    assert done.returncode == 0, done.stderr
    said = done.stderr.splitlines()
    assert [line for line in promised if line not in said] == []

    done = referee_command(tmp_path, "play", "raw.py", "random", "-n", "2", "--seed", "raw", "--output", "json")
    assert done.returncode == 0, done.stderr
    assert "raw" not in done.stderr
    rows = {row["entrant"]: row for row in json.loads(done.stdout)["rows"]}
    assert rows["raw"]["games"] == 2
    assert rows["raw"]["tally"]["illegal_actions"] == rows["raw"]["tally"]["crashes"] == 0


def referee_command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A run of the command line, wide enough to wrap nothing."""
    return run(folder, words, COLUMNS="400", HOME=str(folder), LANG="C.UTF-8", PATH="/usr/bin:/bin")


# Commands


@functools.cache
def command_line() -> typer.Typer:
    """The command line with every command."""
    return sys.modules[generator().commands.__module__].command_line()  # type: ignore[no-any-return]


def commands_of(block: Block) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """The commands of a block, as words, and for a console the lines that follow each."""
    if block.language == "sh":
        for line in block.text.splitlines():
            if line.strip() and not line.startswith("#"):
                yield tuple(shlex.split(line, comments=True)), []
        return
    for part in block.text.split("$ ")[1:]:
        first, *rest = part.splitlines()
        yield tuple(shlex.split(first)), rest


SHELL: Final = [(block, words, output) for block in blocks("sh", "console") for words, output in commands_of(block)]


def transcripts(command: str) -> list[tuple[tuple[str, ...], list[str]]]:
    """Every use of a command that is shown with its output."""
    return [(words, output) for block, words, output in SHELL if block.language == "console" and words[1] == command]


@pytest.mark.parametrize(("block", "words"), [(block, words) for block, words, _ in SHELL], ids=str)
def test_a_command_on_a_page_is_one(block: Block, words: tuple[str, ...]) -> None:
    program, *rest = words
    if program == "make":
        targets = re.findall(r"^([\w-]+):.*##", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        assert set(rest) <= set(targets)
    elif program == "referee":
        parsed = parse(rest)
        assert parsed == [rest[0]]
    elif program == "cd":
        assert len(rest) == 1
    else:
        assert words[:2] == ("pip", "install")
        assert words[2:] in ((".",), ("git+https://github.com/OWNER/referee",))


def parse(words: tuple[str, ...]) -> list[str]:
    """Parses a command line as the real one does, but does nothing; returns the command that would have run."""
    dry, ran = typer.Typer(), list[str]()
    for command in command_line().registered_commands:
        callback = command.callback
        assert callback is not None
        name = command.name or callback.__name__.replace("_", "-")

        def instead(*_: Any, ran_name: str = name, **__: Any) -> None:
            ran.append(ran_name)

        dry.command(name)(functools.wraps(callback)(instead))
    result = CliRunner().invoke(dry, words)
    assert result.exit_code == 0, result.output
    return ran


@pytest.mark.parametrize(
    ("words", "output"), [*transcripts("explain"), *transcripts("run")], ids=lambda value: " ".join(value[:3])
)
def test_what_a_quick_command_prints_is_what_the_page_shows(
    words: tuple[str, ...], output: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("referee.cli.dry_run.TRIAL_SECONDS", 0.1)  # it ends with some games, however long they take
    monkeypatch.setattr("referee.league.play.forecast.PATIENCE", 10 * PATIENCE)
    assert words[1] == "explain" or "--dry-run" in words
    result = CliRunner().invoke(command_line(), words[1:])
    assert result.exit_code == 0
    lines = [line.rstrip() for line in result.stdout.rstrip().splitlines()]
    assert [
        shown if told.endswith(" ...") and shown.startswith(told[:-3]) else told
        for shown, told in zip(lines, output, strict=True)
    ] == lines


# Other languages


@pytest.mark.parametrize("block", blocks("toml"), ids=str)
def test_a_definition_or_manifest_on_a_page_is_sound(block: Block) -> None:
    values = tomllib.loads(block.text)
    if "run" in values:
        Manifest.model_validate(values)
        return
    if "deal" in values:  # scripted seats
        play_script(read_script(block.text, str(block)))
        return
    if "case" in values:  # a position for the check
        for case in cases_of(str(block), f"format = 1\n{block.text}"):
            for name in case.variants:
                assert set(case.clauses) <= breakable(case.position(variant(name)).reached())
        return
    if "accepted" in values:  # a baseline of the checker, which has its own tests
        assert all({"rule", "reason"} <= set(line) for line in values["accepted"])
        return
    usual = '[tournament]\nname = "page"\nvariant = "auction-pitch"\nseats = 2\n'
    bots = "" if "bots" in values else '\n[[bots]]\npath = "random"\ncopies = 2\n'
    parse_definition(block.text + bots if "tournament" in values else f"{usual}{block.text}{bots}", file=str(block))


def test_the_record_on_a_page_replays() -> None:
    (block,) = blocks("json")
    record = json.loads(block.text)
    assert replay(record, fallback_move).result is not None
    assert [entry["fault"] for entry in record["irregular"]]


@pytest.mark.parametrize("block", blocks("sql"), ids=str)
def test_a_query_on_a_page_fits_the_store(block: Block) -> None:
    with sqlite3.connect(":memory:") as store:
        store.executescript(SCHEMA)
        assert store.execute(block.text).fetchall() == []
    store.close()


def test_every_table_of_the_store_is_told() -> None:
    tables = re.findall(r"CREATE TABLE (\w+)", SCHEMA)
    assert tables
    assert not [name for name in tables if f"| `{name}` |" not in page("records.md")]


def test_no_block_is_in_a_language_that_nobody_checks() -> None:
    checked = {"python", "sh", "console", "toml", "json", "sql", "text"}
    for path in PAGES:
        assert {match[1] for match in FENCE.finditer(path.read_text("utf-8"))} <= checked


# Links and pictures


@functools.cache
def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", path.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES_OF_OURS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_inside_the_repository_lead_somewhere(path: Path) -> None:
    lost = []
    for _, target in LINK.findall(FENCE.sub("", path.read_text("utf-8"))):
        if re.match(r"\w+:", target):
            continue
        place, _, anchor = target.partition("#")
        file = (path.parent / place).resolve() if place else path
        if not file.exists() or (anchor and anchor not in anchors(file)):
            lost.append(target)
    assert not lost


def test_the_index_lists_every_page_and_no_other() -> None:
    listed = set(re.findall(r"^([\w-]+)$", page("index.md"), re.MULTILINE))
    nested = {
        name
        for path in DOCS.glob("*.md")
        if path.stem != "index"
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
        for name in re.findall(r"^([\w-]+)$", tree, re.MULTILINE)
    }
    pages = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    assert listed | nested == pages


@pytest.mark.parametrize("path", sorted(DOCS.glob("images/*.svg")), ids=lambda path: path.name)
def test_a_drawing_is_sound_and_says_what_it_shows(path: Path) -> None:
    root = ET.fromstring(path.read_text("utf-8"))  # noqa: S314  # our own file
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert {"title", "desc"} <= names
    assert not names & {"script", "foreignObject", "image"}


def test_every_picture_says_what_it_shows() -> None:
    for path in PAGES:
        for alternative in re.findall(r"!\[([^\]]*)\]", path.read_text("utf-8")):
            assert len(html.unescape(alternative)) > 20


def test_the_readme_has_just_two_commands_of_set_up() -> None:
    quick = (ROOT / "README.md").read_text("utf-8").partition("## Quick start")[2].partition("\n## ")[0]
    assert re.findall(r"^make (\w+)", quick, re.MULTILINE) == ["league", "test"]


def test_the_documentation_names_the_version_of_the_package() -> None:
    assert f"({referee.__version__})" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_walk_from_a_definition_to_standings_is_as_short_as_it_says() -> None:
    walk = page("architecture.md").partition("## From definition to standings")[2].partition("\n## ")[0]
    named = dict.fromkeys(re.findall(r"`([\w/]+\.py)`", walk))
    homes = (ROOT / "referee", ROOT / "referee" / "league")
    assert [name for name in named if not any((home / name).is_file() for home in homes)] == []
    assert len(named) == 15
    assert "Fifteen files" in walk


def test_the_walk_of_a_move_from_the_stream_to_the_record_is_as_short_as_it_says() -> None:
    walk = page("architecture.md").partition("## One decision, from end to end")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| \d+ \| `([\w/]+\.py)` \| (.+?) \|", walk, re.MULTILINE)
    assert [
        f"{file}: {name}"
        for file, names in rows
        for name in re.findall(r"`([^`]+)`", names) or ["(none named)"]
        if name not in names_in(ROOT / "referee" / file)
    ] == []
    assert len({file for file, _ in rows}) == len(rows) <= 10
    assert "ten files" in walk

"""The commands that only look: rules, explain, vectors, protos, and their help."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from typer.testing import CliRunner

import referee
from referee.cli import COMMANDS, app, register

register()

CLI = CliRunner()


def told(*arguments: str) -> str:
    result = CLI.invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("command", sorted(str(one.name or one.callback.__name__) for one in app.registered_commands))
def test_every_command_has_help_with_an_example(command: str) -> None:
    output = told(command, "--help")
    assert "Example: referee" in output


def test_the_rule_book_shows_what_house_rules_change() -> None:
    assert "AF-SCORE-002" in told("rules", "auction-pitch")
    changed = told("rules", "auction-pitch", "--set", "low_to=taker", "--set", "target=11")
    assert "AF-SCORE-003" in changed
    assert "AF-SCORE-002" not in changed
    assert "target = 11   <- changed, was 7" in changed


def test_the_games_are_listed_with_their_other_names() -> None:
    assert "also: pitch" in told("rules", "--list")


def test_a_clause_and_the_fault_table_are_explained() -> None:
    assert "follow or trump" in told("explain", "AF-PLAY-003")
    assert "TIMEOUT_MOVE" in told("explain", "faults")
    wrong = CLI.invoke(app, ["explain", "AF-NONE-999"])
    assert wrong.exit_code == 2


def test_vectors_and_protos_are_written_out(tmp_path: Path) -> None:
    told("vectors", "--out", str(tmp_path / "vectors"))
    assert json.loads((tmp_path / "vectors" / "deals.json").read_text())["cases"]
    assert (tmp_path / "vectors" / "schema").is_dir()
    told("protos", "--out", str(tmp_path / "protos"))
    assert "service RefereeService" in (tmp_path / "protos/allfours/v1/service.proto").read_text()


def test_every_command_is_found_in_its_module() -> None:
    for info in app.registered_commands:
        assert info.callback is not None
        name = info.name or info.callback.__name__
        assert info.callback.__module__ == f"referee.cli.{COMMANDS[name][0]}"
    assert len(app.registered_commands) == len(COMMANDS)


def listed(*arguments: str) -> tuple[str, set[str]]:
    """What the command prints, and which modules it has loaded."""
    program = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('LOADED', *sys.modules))\n"
        "from referee.cli import main\n"
        f"sys.argv = ['referee', *{list(arguments)!r}]\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    text, _, loaded = done.stdout.partition("LOADED")
    return text, set(loaded.split())


@pytest.mark.parametrize("asked", [["--help"], ["--version"]])
def test_help_and_version_load_nothing_that_they_do_not_show(asked: list[str]) -> None:
    text, loaded = listed(*asked)
    own = {module for module in loaded if module.startswith("referee")}
    assert own == {"referee", "referee.cli", "referee.cli.exits"}
    assert not loaded & {"rich.console", "grpc", "h2", "pydantic", "trueskill", "sqlite3", "asyncio"}
    assert text


LATER: Final = {"grpc", "jinja2", "trueskill", "distributed", "numpy", "scipy"}
"""What no command needs before it does its work, if ever."""


def inside(loaded: set[str], *packages: str) -> set[str]:
    """The modules of these packages, and the packages themselves, among those that are loaded."""
    return {module for module in loaded if f"{module}.".startswith(tuple(f"{package}." for package in packages))}


@pytest.mark.parametrize("asked", [["explain", "AF-PLAY-003"], ["explain", "faults"], ["rules", "cinch"]])
def test_the_rule_book_is_told_without_leagues_bots_and_the_wire(asked: list[str]) -> None:
    text, loaded = listed(*asked)
    assert text
    own = {
        *("rules", "umpire.faults", "cards", "cli.reference", "cli.options", "cli.exits", "league.definition.shipped")
    }
    parents = {"referee", "referee.cli", "referee.umpire", "referee.league", "referee.league.definition"}
    assert inside(loaded, "referee") - inside(loaded, *(f"referee.{name}" for name in own)) == parents
    assert not inside(loaded, *LATER, "google", "h2", "sqlite3", "asyncio", "rich", "tomlkit", "orjson")


@pytest.mark.parametrize(
    ("command", "without"),
    [
        (
            "check",
            ["league.play", "league.league", "statistics.standings", "verification", "oracle", "report.html_report"],
        ),
        ("play", ["check", "verification", "oracle", "report.html_report", "report.csv_tables"]),
        ("run", ["check", "verification", "oracle", "report.html_report", "report.csv_tables"]),
        ("standings", ["check", "verification", "oracle", "league.play.runner", "net.server", "report.html_report"]),
        ("verify", ["check", "league.play", "net.server", "report.html_report"]),
    ],
)
def test_a_command_loads_what_it_works_with_and_no_more(command: str, without: list[str]) -> None:
    text, loaded = listed(command, "--help")
    assert f"referee.cli.{COMMANDS[command][0]}" in loaded
    assert "Usage" in text
    assert not inside(loaded, *LATER, *(f"referee.{name}" for name in without))


def test_the_help_lists_every_command_on_a_line_of_its_own_that_is_not_cut() -> None:
    text, _ = listed("--help")
    lines = text.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in lines] == list(COMMANDS)
    assert all(line.endswith((".", "?")) and not line.endswith("...") for line in lines)


def test_the_package_runs_as_a_program() -> None:
    done = subprocess.run([sys.executable, "-m", "referee", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"referee {referee.__version__}\n"


def test_an_option_before_the_command_does_not_hide_it() -> None:
    assert "AF-PLAY-003" in listed("--", "explain", "AF-PLAY-003")[0]

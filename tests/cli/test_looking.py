"""The commands that only look: rules, explain, vectors, protos, and their help."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from referee.cli import MODULES, app, register

register("")

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
        assert info.callback.__module__ == f"referee.cli.{MODULES[name]}"
    assert len(app.registered_commands) == len(MODULES)

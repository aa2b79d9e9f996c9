"""An option that would have no effect is refused in a sentence that says why, before anything is done."""

import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from referee.cli import COMMANDS, app, main, register

register()

LOCAL = """\
[tournament]
name = "Local"
variant = "auction-pitch"
seats = 2
[[bots]]
path = "random"
copies = 2
"""
REMOTE = """\
[tournament]
name = "Remote"
variant = "auction-pitch"
seats = 2
[schedule]
duplicate = false
[[bots]]
path = "random"
[[bots]]
name = "far"
remote = true
"""

IDLE = [
    ("run local.toml --listen 127.0.0.1:7400", "--listen", "without remote bots"),
    ("run local.toml --insecure", "--insecure", "without remote bots"),
    ("run local.toml --tls-cert c.pem --tls-key k.pem", "--tls-cert", "without remote bots"),
    ("run local.toml --new-season --new-version", "--new-version", "exclude one another"),
    ("run local.toml --dry-run --output json", "--output", "--dry-run"),
    ("run local.toml --cluster tcp://x:1 --workers 2", "--workers", "with --cluster"),
    ("run remote.toml --listen 127.0.0.1:7400 --cluster tcp://x:1", "--cluster", "with remote bots"),
    ("run remote.toml --listen 127.0.0.1:7400 --workers 2", "--workers", "with remote bots"),
    ("run remote.toml --listen x:1 --tls-cert c --tls-key k --insecure", "--insecure", "beside --tls-cert"),
    ("play --script x.toml --games 3", "--games", "with --script"),
    ("play --script x.toml --keep x.sqlite", "--keep", "with --script"),
    ("play --script x.toml --sandbox none", "--sandbox", "with --script"),
    ("check random --wait 5", "--wait", "without --listen"),
    ("check --listen 127.0.0.1:7400 --sandbox none", "--sandbox", "with --listen"),
    ("check random --deals 3 --seconds 3", "--seconds", "with --deals"),
    ("check random --doctor --report json=x", "--report", "with --doctor"),
    ("check random --doctor --deals 9", "--deals", "with --doctor"),
    ("check random --replay x --long", "--long", "with --replay"),
    ("check random --replay x --seed 7", "--seed", "with --replay"),
    ("report x.sqlite --table cross", "--table", "without --format csv"),
    ("report x.sqlite --format csv --game 1", "--game", "where no HTML is written"),
    ("rules --list --set target=9", "--set", "with --list"),
    ("explain faults --variant cinch", "--variant", "on the fault table"),
]


@pytest.mark.parametrize(("line", "option", "why"), IDLE, ids=[line for line, _, _ in IDLE])
def test_an_option_without_effect_is_refused(
    line: str, option: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "local.toml").write_text(LOCAL)
    (tmp_path / "remote.toml").write_text(REMOTE)
    done = CliRunner().invoke(app, line.split(), env={"COLUMNS": "400", "TERMINAL_WIDTH": "400"})
    assert done.exit_code == 2, done.output
    told = " ".join(done.output.split())
    assert f"Invalid value for {option}" in told
    assert why in told
    assert not (tmp_path / "leagues").exists()


def test_defaults_are_no_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command takes by itself is never refused, nor is an option that has an effect."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "local.toml").write_text(LOCAL)
    assert CliRunner().invoke(app, ["run", "local.toml", "--dry-run", "--sandbox", "none"]).exit_code == 0
    assert CliRunner().invoke(app, ["rules", "--list"]).exit_code == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_each_example_of_the_help_stands_in_one_line_of_80_columns(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", ["referee", name, "--help"])
    with pytest.raises(SystemExit):
        main()
    shown = [line.strip() for line in capsys.readouterr().out.splitlines()]
    first = next(number for number, line in enumerate(shown) if line.startswith("Example: "))
    told = [line for line in shown[first:] if line]
    assert all(re.fullmatch(rf"(Example:|or:) +referee {name} .+", line) for line in told), told

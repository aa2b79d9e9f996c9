"""The GitHub Action: its script runs the check, writes a summary, and hands the exit code on."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import referee
from referee.check.formats import renderers
from tests.check.helpers import ANY_LEGAL

ACTION = Path(__file__).resolve().parents[2] / ".github" / "actions" / "check"
RENEGE = """
from referee.bot import Kind, run
def choose(turn):
    wrong = [card for card in turn.hand if card not in turn.legal] if turn.kind is Kind.PLAY else []
    return wrong[0] if wrong else turn.rng.choice(turn.legal)
run(choose)
"""


def run(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    (folder / "bin").mkdir(exist_ok=True)
    command = folder / "bin" / "referee"
    code = "import sys; from referee.cli import main; sys.argv[0] = 'referee'; main()"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(code)} "$@"\n', "utf-8")
    command.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(referee.__file__).parents[1]),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "ARGUMENTS": "--deals 0 --sandbox none",
    }
    script = ["bash", str(ACTION / "run.sh")]
    return subprocess.run(script, cwd=folder, env=environment | inputs, capture_output=True, text=True, check=False)


def test_a_good_bot_is_green_and_every_report_is_kept(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(ANY_LEGAL, "utf-8")
    done = run(tmp_path, BOT="bot.py")
    assert done.returncode == 0, done.stderr
    assert "rules exercised" in (tmp_path / "summary").read_text("utf-8")
    assert (tmp_path / "output").read_text("utf-8") == "exit-code=0\n"
    kept = {path.name for path in (tmp_path / "rules-check").iterdir()}
    assert kept == {"index.html", "junit.xml", "report.json", "summary.md", "badge.svg", "events.jsonl"}
    assert len(kept) == len(renderers()) + 1


def test_a_bad_bot_is_red_and_the_summary_names_the_rule(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(RENEGE, "utf-8")
    done = run(tmp_path, BOT="bot.py", VARIANT="auction-pitch smudge")
    assert done.returncode == 1, done.stderr
    summary = (tmp_path / "summary").read_text("utf-8")
    assert "AF-PLAY-003/variant:auction-pitch" in summary
    assert "AF-PLAY-003/variant:smudge" in summary
    assert (tmp_path / "output").read_text("utf-8") == "exit-code=1\n"


def test_a_bot_with_a_build_step_is_built_first(tmp_path: Path) -> None:
    bot = tmp_path / "made"
    bot.mkdir()
    (bot / "bot.txt").write_text(ANY_LEGAL, "utf-8")
    build = 'build = "mkdir -p dist && cp bot.txt dist/bot.py"'
    (bot / "bot.toml").write_text(f'name = "made"\nversion = "1"\n{build}\nrun = ["python", "dist/bot.py"]\n', "utf-8")
    done = run(tmp_path, BOT="made")
    assert done.returncode == 0, done.stderr
    assert "made: built in" in done.stdout
    (bot / "bot.txt").unlink()
    assert run(tmp_path, BOT="made").returncode == 1


@pytest.mark.parametrize(
    ("bot", "runs"),
    [
        ("python3 my-bot.py --fast", 1),
        ("'python3 my-bot.py --fast'", 1),
        ("'python3 my-bot.py' careful", 2),
        ("careful 'python3 my-bot.py'", 2),
        ("careful random", 2),
        ("my-bot.py careful", 2),
    ],
)
def test_a_command_is_one_bot_with_quotes_or_without(tmp_path: Path, bot: str, runs: int) -> None:
    """YAML takes the outer quotes away: ``bot: "node bot.js"`` arrives bare. One rule tells which bots are run."""
    (tmp_path / "my-bot.py").write_text(ANY_LEGAL, "utf-8")
    done = run(tmp_path, BOT=bot, ARGUMENTS="--deals 0 --rule 'AF-BID-001' --sandbox none --seed 'a seed'")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(json.loads((tmp_path / "rules-check" / "report.json").read_text("utf-8"))["runs"]) == runs


def test_open_quotes_are_an_error_that_says_so(tmp_path: Path) -> None:
    done = run(tmp_path, BOT="'node bot.js")
    assert done.returncode == 2
    assert done.stderr == "referee: bot: 'node bot.js: quotes that are open; close them\n"


@pytest.mark.parametrize("evil", ["bot.py; touch owned", "$(touch owned)", "`touch owned`"])
def test_an_input_is_never_run_by_a_shell(tmp_path: Path, evil: str) -> None:
    (tmp_path / "bot.py").write_text(ANY_LEGAL, "utf-8")
    done = run(tmp_path, BOT=evil)
    assert done.returncode == 2
    assert not (tmp_path / "owned").exists()


def test_the_template_is_short_and_names_this_action() -> None:
    text = (ACTION / "bot-ci.yml").read_text("utf-8")
    assert len(text.splitlines()) <= 7
    # A branch, which is there from the first day; a tag may be named once there is one.
    assert "OWNER/referee/.github/actions/check@main, with" in text


def test_the_inputs_reach_the_script() -> None:
    text = (ACTION / "action.yml").read_text("utf-8")
    given = set(re.findall(r"^        ([A-Z]+): \$\{\{ inputs\.", text, flags=re.MULTILINE))
    used = set(re.findall(r"\$\{([A-Z]+):-", (ACTION / "run.sh").read_text("utf-8")))
    assert given == {"BOT", "VARIANT", "BASELINE", "ARGUMENTS"}
    assert given <= used
    assert "${{ inputs" not in (ACTION / "run.sh").read_text("utf-8")

"""A bot of a check is named in its witnesses as the command line finds it again."""

import shlex
import shutil
from pathlib import Path

import pytest

from referee.check.plan import Plan
from referee.check.tournament_plan import plan_for
from referee.cli.check import find, named
from referee.rules import variant
from tests.program import FIRST


def test_a_bot_is_named_as_it_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.py").write_text(FIRST)
    (tmp_path / "bot.js").write_text("")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "bot.toml").write_text('name = "mine"\nversion = "1"\nrun = ["python", "bot.py"]\n')
    shutil.copy(tmp_path / "bot.py", tmp_path / "mine")
    frame = Plan(name="", command=None, games=(variant("auction-pitch"),))
    for text, name in {
        "bot.py": "bot.py",
        "mine": "mine",
        "sh bot.js": "'sh bot.js'",
        "sh -x bot.js": "'sh -x bot.js'",
    }.items():
        plan = plan_for(find(text), frame, tmp_path)
        assert named(plan) == name
        (again,) = shlex.split(named(plan))
        assert find(again).argv == find(text).argv

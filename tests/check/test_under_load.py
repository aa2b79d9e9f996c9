"""The program that checks bots beside busy loops: what it plans, runs and counts."""

import subprocess
import sys
from pathlib import Path

import pytest

from referee.rules import variant_names
from tests.check.under_load import Check, busy_loops, plan, run, run_all

QUICK = ("--deals", "0", "--sandbox", "none", "--rule", "AF-PLAY-*")


def test_every_bot_is_checked_in_every_game_and_in_all_at_once() -> None:
    checks = plan(96, ("careful", "random", "montecarlo"))
    assert {check.variant for check in checks} == {*variant_names(), "all"}
    assert {check.bot for check in checks} == {"careful", "random", "montecarlo"}
    assert len({check.seed for check in checks}) == len(checks)


def test_each_outcome_is_told(tmp_path: Path) -> None:
    checks = [Check("random", "cinch", 1, QUICK), Check("nowhere", "cinch", 2, QUICK)]
    done = {one.check.bot: one for one in run_all(checks, 2, tmp_path)}
    assert done["random"].code == 0, done["random"].output
    assert "conforms" in done["random"].output
    assert done["nowhere"].code == 2
    assert "nowhere" in done["nowhere"].output


def test_a_false_verdict_would_be_seen(tmp_path: Path) -> None:
    bad = f"{sys.executable} {Path(__file__).parent / 'zoo' / 'mutants.py'} renege"
    assert run(Check(bad, "auction-pitch", 1, QUICK), tmp_path).code == 1


def test_busy_loops_end_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    popen = subprocess.Popen

    def note(*words: object, **more: object) -> object:
        started.append(popen(*words, **more))  # type: ignore[call-overload]
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", note)

    def interrupted() -> None:
        with busy_loops(2):
            assert [loop.poll() for loop in started] == [None, None]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert all(loop.poll() is not None for loop in started)

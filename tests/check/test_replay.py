"""Witnesses: the simplest position, confirmed in a fresh process; and what a replay says to a bot mended or not."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from referee.check.replay import ReplayOutcome, replay
from referee.check.results import EventLog
from referee.check.runner import CheckRunner
from referee.check.witness import WitnessError, read_witness, read_witnesses
from tests.check.helpers import ANY_LEGAL, bot, plan_of, zoo_plan
from tests.check.zoo.checked import faulty_checked


def witnesses(name: str, folder: Path, file: str = "mutants.py") -> list[Path]:
    faulty_checked(file, name, folder)
    return sorted((folder / "failures").glob("AF-*.json"))


def show(path: Path, plan: Any) -> Any:
    import asyncio

    (one,) = asyncio.run(replay(plan, read_witnesses(path), EventLog()))
    return one


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("renege", "mutants.py"),
        ("bid-lower", "mutants.py"),
        ("renege-by-chance", "mutants.py"),
        ("renege-in-the-hole", "mutants.py"),
        ("raises-when-void", "mutants.py"),
        ("dies-of-unknown-events", "mutants.py"),
        ("overflows", "mutants.py"),
        ("sets-two-fields", "wires.py"),
        ("dies-of-rulings", "wires.py"),
    ],
)
def test_a_replay_fails_again_until_the_bot_is_mended(name: str, file: str, tmp_path: Path) -> None:
    (path,) = witnesses(name, tmp_path, file)
    again = show(path, zoo_plan(file, name, tmp_path))
    assert again.answer is ReplayOutcome.STILL_FAILS, again.sentence
    mended = show(path, plan_of(bot(tmp_path, ANY_LEGAL), tmp_path))
    assert mended.answer is ReplayOutcome.FIXED, mended.sentence


def test_most_witnesses_are_one_position_of_one_deal(tmp_path: Path) -> None:
    names = ["bid-one", "bid-lower", "renege", "renege-in-the-hole", "plays-a-card-twice"]
    needs = []
    for name in names:
        (path,) = witnesses(name, tmp_path / name)
        data = json.loads(path.read_text("utf-8"))
        needs.append(data["needs"])
        assert data["asked_again"]["broke"] == data["asked_again"]["tries"]
        assert data["asked_again"]["fresh"] == 1
    assert needs == ["nothing else"] * len(names)


def test_what_does_not_matter_is_left_out_of_a_witness(tmp_path: Path) -> None:
    (path,) = witnesses("renege", tmp_path)
    position = json.loads(path.read_text("utf-8"))["position"]
    assert position["scores"] == position["set_backs"] == []
    assert position["deal"] == 0


def test_what_matters_stays_in(tmp_path: Path) -> None:
    (path,) = witnesses("renege-in-the-hole", tmp_path)
    stored = read_witness(path)
    assert stored.position is not None
    deal = stored.position.reached()
    assert deal.scores[deal.seat] < 0


def test_a_breach_that_needs_a_long_life_is_said_to_need_it_and_is_shown_by_the_same_run(tmp_path: Path) -> None:
    (path,) = witnesses("renege-after-199-deals", tmp_path)
    assert json.loads(path.read_text("utf-8"))["needs"] == "the history of its game"
    again = show(path, zoo_plan("mutants.py", "renege-after-199-deals", tmp_path))
    assert again.answer is ReplayOutcome.STILL_FAILS
    mended = show(path, plan_of(bot(tmp_path, ANY_LEGAL), tmp_path))
    assert mended.answer is ReplayOutcome.FIXED


def test_a_folder_of_witnesses_takes_one_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    for name in ("renege", "bid-one"):
        for path in witnesses(name, tmp_path / name):
            shutil.copy(path, tmp_path)
    starts = []
    begin = CheckRunner.start

    async def counted(runner: CheckRunner) -> str:
        starts.append(runner)
        return await begin(runner)

    monkeypatch.setattr(CheckRunner, "start", counted)
    found = read_witnesses(tmp_path)
    done = asyncio.run(replay(zoo_plan("mutants.py", "renege", tmp_path), found, EventLog()))
    assert {one.witness.rule: one.answer for one in done} == {
        "AF-BID-001": ReplayOutcome.FIXED,
        "AF-PLAY-003": ReplayOutcome.STILL_FAILS,
    }
    assert len(starts) == 1


def changed(path: Path, **change: Any) -> Path:
    data = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(data | change), "utf-8")
    return path


def test_a_rule_of_another_referee_cannot_be_replayed(tmp_path: Path) -> None:
    (path,) = witnesses("renege", tmp_path)
    one = show(changed(path, rule="AF-PLAY-999"), zoo_plan("mutants.py", "renege", tmp_path))
    assert one.answer is ReplayOutcome.CANNOT_REPLAY


def test_a_bot_that_does_not_start_cannot_be_replayed(tmp_path: Path) -> None:
    (path,) = witnesses("renege", tmp_path)
    one = show(path, plan_of(bot(tmp_path, "raise SystemExit(3)\n"), tmp_path))
    assert one.answer is ReplayOutcome.CANNOT_REPLAY
    assert "exit code 3" in one.sentence


def test_a_position_that_the_rules_do_not_allow_is_refused(tmp_path: Path) -> None:
    (path,) = witnesses("renege", tmp_path)
    position = json.loads(path.read_text("utf-8"))["position"]
    with pytest.raises(WitnessError, match="do not allow this position"):
        read_witness(changed(path, position=position | {"actions": [9]}))

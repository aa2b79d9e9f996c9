"""Decisions of stored games as positions: each is the one that was asked, of whom it was asked, with what was done."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from referee.check.ask import Reply, ask, legal_words, moment
from referee.check.plan import Plan, clock
from referee.rules import variant
from referee.sandbox.command import Command
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import RecordError, replay
from tests.league.inprocess import record_of, reneges, stumbles

RECORD = record_of({"a": fallback_move, "b": reneges, "c": stumbles}, sets=1, seats=3)
GAME = replay(RECORD, fallback_move)


def test_every_decision_of_a_game_is_a_moment_with_what_was_done() -> None:
    done = [action for log in GAME.deals for action in log.actions]
    moments = [moment(RECORD, turn) for turn in range(1, len(done) + 1)]
    assert [one.played for one in moments] == done
    for one in moments:
        deal = one.position.reached()
        assert deal.seat == one.seat
        assert deal.verify(one.played) is None
    own = [one.position.decision for one in moments if one.seat == 1]
    assert own == list(range(len(own)))
    assert moments[-1].position.deal == len(GAME.deals) - 1
    assert moments[-1].position.scores == GAME.deals[-1].scores


@pytest.mark.parametrize("turn", [0, -1, 100_000])
def test_a_decision_that_there_is_not_is_an_error_with_the_range(turn: int) -> None:
    with pytest.raises(RecordError, match=r"the last decision of the game is number \d+: there is no"):
        moment(RECORD, turn)


def asked(tmp_path: Path, text: str, turn: int) -> Reply:
    (tmp_path / "bot.py").write_text(text)
    here = moment(RECORD, turn, (5, 6, 7)).position
    command = Command(argv=(sys.executable, "bot.py"), folder=tmp_path, name="bot")
    plan = Plan(
        name="bot", command=command, games=(here.rules,), by_name=True, seats=(3,), sandbox="none", limits=clock(2000)
    )
    return asyncio.run(ask(replace(plan, log_path=tmp_path / "log"), here))


BEGIN = "from referee.bot import Bot, run\n"


def test_a_bot_is_asked_just_that(tmp_path: Path) -> None:
    here = moment(RECORD, 9).position
    reply = asked(tmp_path, BEGIN + "run(lambda turn: turn.legal[-1])\n", 9)
    assert reply.did
    assert not reply.broke
    assert not reply.failure
    assert reply.did in legal_words(here).replace(",", " ").split()


def test_a_bot_with_a_memory_plays_the_deal_up_to_there(tmp_path: Path) -> None:
    """It answers as the record says, from its own list, and so comes to the position."""
    here = moment(RECORD, 9)
    before = [one.played for turn in range(1, 9) if (one := moment(RECORD, turn)).seat == here.seat]
    text = f"class B(Bot):\n    stateful = True\n    said = {before!r}\n"
    text += "    def choose(self, turn):\n        return self.said.pop(0) if self.said else turn.legal[0]\nrun(B())\n"
    assert asked(tmp_path, BEGIN + text, 9).did


def test_one_that_breaks_a_rule_one_that_ends_and_one_that_never_joins(tmp_path: Path) -> None:
    assert asked(tmp_path, BEGIN + "run(lambda turn: 15 if turn.kind == 1 else 63)\n", 1).broke.startswith("AF-BID-")
    assert "ended" in asked(tmp_path, BEGIN + "import os\nrun(lambda turn: os._exit(3))\n", 1).failure
    assert "did not join" in asked(tmp_path, "raise SystemExit(1)\n", 1).failure
    assert variant("auction-pitch") == moment(RECORD, 1).position.rules

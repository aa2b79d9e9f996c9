"""The verdict does not depend on how fast the bot and the machine are: what every check asks is the same for a seed.

Delays are drawn at random, on the bot's side and on ours; no test here looks at a clock.
"""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.check.bot_under_test import CheckedConnection, CheckServer
from referee.check.judge import CheckExit, Verdict
from referee.check.position import Position
from referee.check.probes import LEAST_DEALS, probe_plan
from referee.check.requirements import Selection, requirements
from referee.check.run import Report
from referee.check.sampling import seat_counts
from referee.rules import Deal, Kind, variant
from tests.check.helpers import ANY_LEGAL, bot, broken, examined, plan_of, zoo_plan

DAWDLES = """
import random, time
from referee.bot import run
chance = random.Random({seed})
def choose(turn):
    if chance.random() < 0.03:
        time.sleep(chance.random() * 0.05)
    return {choice}
run(choose)
"""


def told(report: Report) -> list[tuple[str, str, int]]:
    """Every verdict with the opportunities that it rests on."""
    return [(row.requirement.key, str(row.verdict), row.least) for row in report.judgement.rows]


def shown(report: Report) -> dict[str, Position | None]:
    """The position that each broken rule is shown by."""
    return {key: witness.breach.position for key, witness in report.result.witnesses.of.items()}


@pytest.fixture
def a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Lets every message of the bot wait, and every message to it, as a scheduler with other things to do would."""

    def busy(seed: str) -> None:
        chance = random.Random(seed)  # noqa: S311
        receive, next_message = CheckedConnection.receive, CheckServer.next_message

        def late(self: CheckedConnection, stream: Any, data: bytes) -> None:
            queue = self.__dict__.setdefault("on_their_way", [])
            queue.append((stream, data))
            loop = asyncio.get_running_loop()
            loop.call_later(chance.choice((0, 0, 0, 0.001, 0.02)), arrive, self, queue)

        def arrive(self: CheckedConnection, queue: list[Any]) -> None:
            receive(self, *queue.pop(0))
            host = self.session_host  # type: ignore[attr-defined]
            host.games_in_play.touched.add(self.session)
            host.pump()

        def send(self: CheckServer, connection: Any, stream: Any) -> bytes | None:
            connection.session_host = self
            return next_message(self, connection, stream)

        monkeypatch.setattr(CheckedConnection, "receive", late)
        monkeypatch.setattr(CheckServer, "next_message", send)

    return busy


@pytest.mark.parametrize("choice", ["turn.legal[0]", "turn.rng.choice(turn.legal)"])
def test_the_same_seed_gives_the_same_verdicts_however_slow_bot_and_machine_are(
    choice: str, tmp_path: Path, a_busy_machine: Callable[[str], None]
) -> None:
    quick = f"from referee.bot import run\nrun(lambda turn: {choice})\n"
    more = {"deals": None, "seconds": 0.5, "lives": 3}
    quiet = examined(plan_of(bot(tmp_path, quick, "quick"), tmp_path, **more))
    slow = examined(plan_of(bot(tmp_path, DAWDLES.format(seed=1, choice=choice), "slow"), tmp_path, **more))
    a_busy_machine("1")
    loaded = examined(plan_of(bot(tmp_path, quick, "quick"), tmp_path, **more))
    assert quiet.exit_code is CheckExit.CONFORMS
    assert told(quiet) == told(slow) == told(loaded)


@pytest.mark.parametrize("name", ["renege-as-dealer", "bid-seven-when-behind", "renege-by-chance"])
def test_a_faulty_bot_is_shown_by_the_same_witness_however_busy_the_machine_is(
    name: str, tmp_path: Path, a_busy_machine: Callable[[str], None]
) -> None:
    def run() -> Report:
        return examined(zoo_plan("mutants.py", name, tmp_path, deals=None, seconds=0.3))

    quiet = run()
    a_busy_machine(name)
    loaded = run()
    assert quiet.exit_code is CheckExit.FAILS
    assert told(quiet) == told(loaded)
    assert shown(quiet) == shown(loaded) != {}


def test_time_beyond_the_least_only_adds(tmp_path: Path) -> None:
    short, long = (
        examined(plan_of(bot(tmp_path, ANY_LEGAL), tmp_path, deals=None, seconds=seconds, lives=3))
        for seconds in (0.0, 1.0)
    )
    assert told(short) == told(long)
    assert short.result.recorder.deals <= long.result.recorder.deals
    assert short.result.recorder.deals >= LEAST_DEALS


def test_a_slow_bot_leaves_nothing_untested(tmp_path: Path) -> None:
    """It takes longer for the least that is asked than it was given for all."""
    text = "import time\nfrom referee.bot import run\ndef choose(turn):\n    time.sleep(0.02)\n    return turn.legal[0]\nrun(choose)\n"
    report = examined(plan_of(bot(tmp_path, text), tmp_path, deals=None, seconds=0.01, lives=3))
    assert report.exit_code is CheckExit.CONFORMS
    assert [row for row in report.judgement.rows if row.verdict is Verdict.UNTESTED] == []
    assert report.run["least_seconds"] > report.run["asked_seconds"]
    assert broken(report) == set()


# Conjunctions.


def high(deal: Deal) -> int:
    return deal.bid


def hole(deal: Deal) -> bool:
    return deal.scores[deal.side(deal.seat)] < 0


def near(deal: Deal) -> bool:
    return deal.scores[deal.side(deal.seat)] == deal.rules.target - 1


def dealer(deal: Deal) -> bool:
    return deal.seat == deal.dealer


def bids(deal: Deal) -> bool:
    return deal.kind is Kind.BID


def plays(deal: Deal) -> bool:
    return deal.kind is Kind.PLAY


def trumps(deal: Deal) -> int:
    return (deal.hands[deal.seat] & deal.trumps).bit_count() if deal.trump is not None else 0


def held(deal: Deal) -> int:
    return deal.hands[deal.seat].bit_count()


def void(deal: Deal) -> bool:
    return bool(deal.trick) and not any(
        card >> 4 == deal.trick[0] >> 4 for card in range(64) if deal.hands[deal.seat] >> card & 1
    )


def level(deal: Deal) -> bool:
    return len(set(deal.scores)) == 1 and near(deal)


def pitcher(deal: Deal) -> bool:
    return deal.pitcher == deal.seat


def last(deal: Deal) -> bool:
    return bool(deal.trick) and len(deal.trick) == deal.seats - 1


Condition = Callable[[Deal], bool]

THREE: dict[str, tuple[str, Condition]] = {
    "dealer, nobody has bid, in the hole": (
        "auction-pitch",
        lambda deal: bids(deal) and dealer(deal) and not high(deal) and hole(deal),
    ),
    "dealer, three was bid, one short": (
        "auction-pitch",
        lambda deal: bids(deal) and dealer(deal) and high(deal) == 3 and near(deal),
    ),
    "eldest, in the hole, all of one suit but one": (
        "auction-pitch",
        lambda deal: (
            bids(deal)
            and (deal.seat - deal.dealer) % deal.seats == 1
            and hole(deal)
            and any((deal.hands[deal.seat] >> 16 * suit & 0xFFFF).bit_count() >= 5 for suit in range(4))
        ),
    ),
    "forced dealer, in the hole": (
        "auction-pitch-forced",
        lambda deal: bids(deal) and dealer(deal) and not high(deal) and hole(deal),
    ),
    "bids where all are level, one short": ("auction-pitch", lambda deal: bids(deal) and level(deal)),
    "leads, all trumps, in the hole": (
        "auction-pitch",
        lambda deal: plays(deal) and not deal.trick and trumps(deal) == held(deal) > 1 and hole(deal),
    ),
    "last to play, void, a single trump": (
        "auction-pitch",
        lambda deal: plays(deal) and last(deal) and void(deal) and trumps(deal) == 1 and held(deal) > 1,
    ),
    "last to play, trump led, single trump, one short": (
        "auction-pitch",
        lambda deal: (
            plays(deal)
            and last(deal)
            and deal.trumps >> deal.trick[0] & 1 == 1
            and trumps(deal) == 1
            and held(deal) > 1
            and near(deal)
        ),
    ),
    "pitcher, plain lead, void, in the hole": (
        "partnership-pitch",
        lambda deal: (
            plays(deal) and pitcher(deal) and void(deal) and hole(deal) and not deal.trumps >> deal.trick[0] & 1
        ),
    ),
    "answers a beg, one short, no trump": (
        "seven-up",
        lambda deal: (
            deal.kind is Kind.ANSWER_BEG
            and near(deal)
            and deal.turn_up is not None
            and not any(card >> 4 == deal.turn_up >> 4 for card in range(64) if deal.hands[deal.seat] >> card & 1)
        ),
    ),
    "dealer robs, in the hole, many trumps": (
        "cinch",
        lambda deal: deal.kind is Kind.DISCARD and dealer(deal) and hole(deal) and trumps(deal) >= 4,
    ),
    "opens in the hole, in the last deal": ("pidro", lambda deal: bids(deal) and not high(deal) and hole(deal)),
}


@pytest.mark.parametrize("about", THREE)
def test_three_conditions_at_once_come_up_in_every_check(about: str) -> None:
    """A bot that is wrong only where they all hold is asked there, whatever the seed."""
    name, met = THREE[about]
    rules = variant(name)
    for seed in "123":
        work = probe_plan([rules], seat_counts(rules), requirements([rules], Selection()), seed)
        assert sum(met(position.reached()) for position in work.all) >= 1, seed


def test_the_last_deal_before_the_cap_comes_up() -> None:
    rules = variant("auction-pitch")
    work = probe_plan([rules], seat_counts(rules), requirements([rules], Selection()), "1")
    assert sum(position.deal == rules.max_deals - 1 for position in work.all) >= 20

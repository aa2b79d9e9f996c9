"""An umpire, and ways to answer it. What the tests of the umpire share."""

import itertools
from collections.abc import Mapping
from random import Random
from typing import Any, TypeVar

from referee.rules import RuleSet
from referee.umpire.events import (
    Fallback,
    GameSpec,
    Output,
    Ruled,
    Ruling,
    TableResult,
    TimeLimits,
)
from referee.umpire.faults import PROFILES, Profile
from referee.umpire.umpire import Umpire
from referee.umpire.view import Chair, Turn
from tests.helpers import rules_of, seeded, shuffled

DEV, RANKED = PROFILES["dev"], PROFILES["ranked"]
SECOND = 1_000_000
OutputType = TypeVar("OutputType", bound=Output)


def new_umpire(
    rules: str | Mapping[str, Any] | RuleSet = "auction-pitch",
    seats: int = 4,
    *,
    profile: Profile = RANKED,
    limits: TimeLimits | None = None,
    seed: object = 0,
    first_dealer: int = 0,
    fallback_move: Fallback | None = None,
) -> Umpire:
    """An umpire with packs from a seed, turn ids 1, 2, 3 ... and a fallback player that plays the highest legal action."""
    ruleset = rules if isinstance(rules, RuleSet) else rules_of(rules)
    chairs = tuple(Chair(game_id=7, seat=seat, seats=seats, rules=ruleset) for seat in range(seats))
    spec = GameSpec(
        key="test",
        rules=ruleset,
        chairs=chairs,
        first_dealer=first_dealer,
        profile=profile,
        limits=limits or TimeLimits(),
    )
    ids = itertools.count(1).__next__
    return Umpire(spec, lambda number: shuffled(seeded(f"{seed}/{number}")), ids, fallback_move or highest)


def highest(turn: Turn) -> int:
    return max(turn.legal)


def only(outputs: list[Output], kind: type[OutputType]) -> OutputType:
    """The one output of that kind."""
    found = [output for output in outputs if isinstance(output, kind)]
    assert len(found) == 1, outputs
    return found[0]


def asked(umpire: Umpire) -> Turn:
    """The open turn."""
    assert umpire.open is not None
    return umpire.open


def answer(umpire: Umpire, action: int | None = None, charged_us: int = 0) -> list[Output]:
    """Answers the open turn, with its first legal action if none is given."""
    turn = asked(umpire)
    return umpire.answer(turn.turn_id, turn.legal[0] if action is None else action, charged_us)


def illegal(umpire: Umpire, charged_us: int = 0) -> list[Output]:
    """Answers the open turn with 99: no bid, no card."""
    return answer(umpire, 99, charged_us)


def until_asked(umpire: Umpire, seat: int) -> Turn:
    """Answers for all others until that seat is asked; they never pass when they can bid, so that cards are played."""
    while asked(umpire).chair.seat != seat:
        answer(umpire)
    return asked(umpire)


def offend(umpire: Umpire, seat: int, times: int) -> list[Output]:
    """Lets a seat break a rule that many times, all else being in order; returns the outputs of the last time."""
    outputs: list[Output] = []
    for _ in range(times):
        until_asked(umpire, seat)
        outputs = illegal(umpire)
    return outputs


def result_of(umpire: Umpire) -> TableResult:
    assert umpire.result is not None
    return umpire.result


def finish(umpire: Umpire, chance: Random | None = None) -> TableResult:
    """Goes on with legal answers until the game is over."""
    while not umpire.closed:
        answer(umpire, chance.choice(asked(umpire).legal) if chance else None)
    return result_of(umpire)


def ruling_of(outputs: list[Output]) -> Ruling:
    return only(outputs, Ruled).ruling

"""Stimuli that the contract allows and that seldom occur: each changes one message, and names the clause it is about.

A perturbed turn is asked beside its plain twin: only what goes wrong with the perturbation and not without it is held against the
clause.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from referee.protocol import wire

UNKNOWN: Final = bytes.fromhex("c03e2a") + bytes.fromhex("ca3e05") + b"hello" + bytes.fromhex("d53e00000000")
"""Three fields that no version has: number 1000 as a varint, 1001 as bytes, 1002 as four bytes."""

FUTURE_EVENT: Final = 200 << 16 | 1 << 8 | 7
BIGGEST: Final = 2**53 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturbation:
    """One stimulus. ``change`` works on the whole message in which the perturbed turn stands, and on that turn.

    ``notices_only``: only for bots that want notices. ``big``: the game has the largest ids and seeds that there are.
    """

    name: str
    rule: str
    about: str
    change: Callable[[Any, Any], None]
    notices_only: bool = False
    big: bool = False


def _unknown_fields(response: Any, turn: Any) -> None:
    response.MergeFromString(UNKNOWN)
    turn.MergeFromString(UNKNOWN)
    turn.options.MergeFromString(UNKNOWN)


def _unknown_events(_: Any, turn: Any) -> None:
    history = list(turn.history)
    middle = len(history) // 2
    _put(turn.history, [FUTURE_EVENT, *history[:middle], FUTURE_EVENT, *history[middle:], FUTURE_EVENT])


def _unknown_ruling(response: Any, turn: Any) -> None:
    ruling = response.rulings.add(turn_id=0, rule_id="AF-NEWS-999", sentence="News of a later version.", violations=0)
    ruling.fault = ruling.outcome = 99
    ruling.MergeFromString(UNKNOWN)
    del turn


def _ruling_on_a_late_answer(response: Any, turn: Any) -> None:
    response.rulings.add(
        turn_id=BIGGEST,
        game_id=turn.game_id,
        fault=wire.FAULT_TIMEOUT_MOVE,
        rule_id="AF-CLOCK-001",
        sentence="A late answer had no effect.",
        outcome=wire.RULING_OUTCOME_IGNORED,
    )


def _unknown_notice(response: Any, turn: Any) -> None:
    response.notices.add().MergeFromString(UNKNOWN)
    response.notices.add()
    del turn


def _doubled_notices(response: Any, turn: Any) -> None:
    started = wire.GameStarted(
        game_id=turn.game_id,
        seat=turn.seat,
        seats=turn.seats,
        sides=turn.sides,
        first_dealer=turn.dealer,
        rule_set_id=turn.rule_set_id,
        bot_seed=turn.bot_seed,
    )
    over = wire.DealOver(
        game_id=BIGGEST,
        deal=3,
        end_reason=wire.DEAL_END_THROWN_IN,
        dealer=0,
        deltas=[0] * turn.seats,
        scores=turn.scores,
    )
    for notice in (wire.Notice(game_started=started), wire.Notice(deal_over=over)):
        response.notices.extend([notice, notice])


def _no_change(_: Any, __: Any) -> None:
    """For a stimulus that lies in the position and its ids."""


def _scores_below_zero(_: Any, turn: Any) -> None:
    turn.bot_seed = 0
    _put(turn.scores, [-250] * turn.seats)
    _put(turn.set_backs, [99] * turn.seats)


def _put(field: Any, values: Iterable[int]) -> None:
    del field[:]
    field.extend(values)


PERTURBATIONS: Final[Sequence[Perturbation]] = (
    Perturbation(
        name="unknown-fields",
        rule="AF-ROBUST-001",
        about="fields that no version has, in the message and the turn",
        change=_unknown_fields,
    ),
    Perturbation(
        name="unknown-events",
        rule="AF-ROBUST-001",
        about="events of an unknown kind in the history",
        change=_unknown_events,
    ),
    Perturbation(
        name="unknown-ruling",
        rule="AF-ROBUST-004",
        about="a ruling with an unknown fault, about no turn",
        change=_unknown_ruling,
    ),
    Perturbation(
        name="late-ruling",
        rule="AF-ROBUST-004",
        about="a ruling on a turn that it never saw",
        change=_ruling_on_a_late_answer,
    ),
    Perturbation(
        name="unknown-notice",
        rule="AF-ROBUST-004",
        about="notices of an unknown kind",
        change=_unknown_notice,
        notices_only=True,
    ),
    Perturbation(
        name="doubled-notices",
        rule="AF-ROBUST-004",
        about="notices twice, and about a game it is not in",
        change=_doubled_notices,
        notices_only=True,
    ),
    Perturbation(
        name="largest-figures",
        rule="AF-ROBUST-006",
        about="ids and seeds of 2^53-1, a late deal",
        change=_no_change,
        big=True,
    ),
    Perturbation(
        name="deep-in-the-hole", rule="AF-ROBUST-006", about="scores of -250, many set-backs", change=_scores_below_zero
    ),
)
"""Every stimulus of a single turn."""


_STEP: Final = count()


def big_id() -> int:
    """The largest ids that there are, each once."""
    return BIGGEST - next(_STEP)


def perturb_joined(joined: Any) -> None:
    """The same for the answer to Join: an objective of a later version, a rule set nobody knows, unknown fields."""
    joined.objective = 99
    joined.protocol_minor = 7
    joined.MergeFromString(UNKNOWN)
    future = joined.rule_sets.add(rule_set_id=77, name="game-of-tomorrow", title="The game of tomorrow", min_players=2)
    future.trump_by = future.scoring = 99
    future.house_rules.add(name="new_rule", value='"x"')

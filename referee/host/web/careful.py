"""What the sample bot ``careful`` would have done where a bot lost most: its worst deal of a game, decision by decision.

The bot is asked as any is, in a process of its own. That takes a second or two, so it is done behind, once for each deal.
"""

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotDoneError
from dataclasses import dataclass, replace
from typing import Final

from referee.cards import cards_text, hand_text
from referee.check.ask import Moment, Reply, ask_each, moments
from referee.check.plan import Plan
from referee.check.tournament_plan import plan_for
from referee.host.web.aside import aside
from referee.host.web.limits import NotYetError
from referee.league.definition.shipped import shipped_folder
from referee.league.entrants.bot_source import find_bot
from referee.rules import RuleSet
from referee.sandbox.temporary_folder import private_folder
from referee.umpire.record import Record

CAREFUL: Final = "careful"

_LOG: Final = logging.getLogger("referee.host.web")
_KEPT: Final = 256
_WAITING: Final = 8


@dataclass(frozen=True, slots=True)
class WorstDeal:
    """A deal of a game, from 0; what it brought a seat's side, and the best of the others."""

    deal: int
    change: int
    others: int


@dataclass(frozen=True, slots=True)
class DecisionSeen:
    """A decision with what the seat held and saw: ``trick`` as it lay; what was done, and what ``careful`` does."""

    kind: str
    hand: str
    trick: str
    done: str
    careful: str

    @property
    def same(self) -> bool:
        """Whether it is the same."""
        return self.done == self.careful


def worst_deal(record: Record, seat: int) -> WorstDeal | None:
    """The deal of a game in which a seat fell back most behind the best of the others; ``None`` where none has been counted."""
    side = RuleSet.from_dict(record["rules"]).side(seat)
    found = []
    for number, deal in enumerate(record["deals"]):
        deltas = deal.get("deltas", [])
        others = [change for at, change in enumerate(deltas) if at != side]
        if others:
            found.append(WorstDeal(number, deltas[side], max(others)))
    return min(found, key=lambda one: (one.change - one.others, one.deal), default=None)


def compared(record: Record, deal: int, seat: int) -> tuple[DecisionSeen, ...]:
    """The decisions of a seat in a deal beside those of ``careful``. Raises ``RecordError``; ``OSError`` where it cannot be started."""
    found = moments(record, deal, seat)
    if not found:
        return ()
    rules, seats = found[0].position.rules, found[0].position.seats
    source = find_bot(str(shipped_folder("sample_bots") / "python" / CAREFUL), shipped_folder("sample_bots"))
    with private_folder() as folder:
        frame = Plan(name="", command=None, games=(rules,), by_name=True, seats=(seats,), sandbox="none")
        plan = replace(plan_for(source, frame, folder), sandbox="none")  # it is ours
        replies = asyncio.run(ask_each(plan, [one.position for one in found]))
    return tuple(_seen(one, reply) for one, reply in zip(found, replies, strict=True))


def _seen(one: Moment, reply: Reply) -> DecisionSeen:
    turn = one.position.turn()
    return DecisionSeen(
        turn.kind.name.replace("_", " ").lower(),
        hand_text(turn.hand),
        cards_text(turn.trick),
        one.done,
        reply.did or f"no answer: {reply.failure}",
    )


class CarefulAnswers:
    """What ``careful`` does in deals that somebody has asked about; worked out one after another. May be used by several threads."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "careful")
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[int, int, int], Future[tuple[DecisionSeen, ...]]] = OrderedDict()
        self._closed = False

    def of(
        self, game: int, deal: int, seat: int, record: Callable[[], Record], wait_s: float
    ) -> Sequence[DecisionSeen] | None:
        """What it does in a deal, waiting so long at most; ``None`` where that is not known yet, or cannot be.

        Raises ``NotYetError`` where too many wait.
        """
        key = (game, deal, seat)
        with self._lock:
            work = self._known.get(key)
            if work is None:
                if sum(not one.done() for one in self._known.values()) >= _WAITING or self._closed:
                    raise NotYetError("Many ask what careful would have done; try again in a minute.", 60)
                work = self._known[key] = self._pool.submit(self._ask, record(), deal, seat)
                if len(self._known) > _KEPT:
                    self._known.popitem(last=False)
            self._known.move_to_end(key)
        try:
            return work.result(wait_s)
        except NotDoneError:
            return None
        except Exception:  # noqa: BLE001  # whatever it is, the log has it, and it is tried again
            with self._lock:
                self._known.pop(key, None)
            if not self._closed:
                _LOG.warning("careful cannot be asked about game %d", game, exc_info=True)
            return None

    def _ask(self, record: Record, deal: int, seat: int) -> tuple[DecisionSeen, ...]:
        answer: tuple[DecisionSeen, ...] = aside(compared, record, deal, seat, is_over=lambda: self._closed)
        return answer

    def close(self) -> None:
        """Ends what runs."""
        self._closed = True
        self._pool.shutdown(cancel_futures=True)

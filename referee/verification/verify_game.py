"""One stored game verified: header, packs, replay, second engine, digests, summary, rulings."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from referee.cards import cards_text
from referee.league.plan import GamePlan, LeaguePlan
from referee.league.standings import summarise
from referee.league.store import FixtureRow, GameRow, RulingLine
from referee.rules import RuleSet, RuleSetError
from referee.rules.actions import seat_text
from referee.umpire.fallback_player import fallback_move
from referee.umpire.faults import Fault
from referee.umpire.record import (
    FORMAT,
    Difference,
    Record,
    RecordError,
    canonical,
    first_difference,
    record_digest,
    replay,
    result_digest,
    write_record,
)
from referee.umpire.umpire import Umpire
from referee.umpire.view import Turn
from referee.verification.result import Check, Divergence, shown
from referee.verification.second_engine import Disagreement, Judged, judge_game, opinion

Packs = Callable[[str, int, int], str]
"""The pack of a set's deal: (set, deal from 0, redeal) to its cards as text."""


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A stored game, and what is known about it from elsewhere: the schedule, the league, its packs."""

    plan: LeaguePlan
    packs: Packs
    row: GameRow
    fixture: FixtureRow
    record: Record

    @property
    def unchecked(self) -> Mapping[str, Any]:
        """The record as it was read: anything may stand in it."""
        return self.record

    @property
    def game(self) -> GamePlan:
        """The game as it was to be played."""
        fixture = self.fixture
        return GamePlan(
            fixture_id=fixture.id,
            set_id=fixture.set_id,
            rotation=fixture.rotation,
            seats=fixture.seats,
            slots=(),
            redeal=self.row.redeal,
        )

    def differs(self, check: Check, what: str, says: object, should: object = "", deal: int = 0) -> Divergence:
        """A divergence in this game."""
        told = shown(should) if should != "" else ""
        return Divergence(
            check=check,
            what=what,
            says=shown(says),
            should=told,
            game=self.row.number,
            fixture=self.fixture.id,
            deal=deal,
        )


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of one game. ``umpire`` is ``None`` if it could not be replayed; ``row`` holds the figures as they are."""

    row: GameRow
    umpire: Umpire | None
    judged: Judged | None
    found: list[Divergence]


OVERRUN_US: Final = 1_000_000
"""By how much a charge may exceed what a decision had in leagues of 0.1.0, which charged the delay of its own timer too."""


def check_game(
    case: StoredGame, rulings: Sequence[RulingLine] | None, *, lenient: bool = False, older: bool = True
) -> Checked:
    """Verifies one game. ``rulings`` are its stored rows, ``None`` where none are kept.

    ``lenient`` is for leagues of 0.1.0, whose timer could overrun; ``older`` for those of any version before this one, which may have
    known fewer house rules.
    """
    found: list[Divergence] = []
    judged, umpire = None, None
    first = _header(case, older) or _packs(case)
    if first is None:
        umpire, first = _replayed(case, OVERRUN_US if lenient else 0)
    if umpire is not None:
        first = first or _rebuilt(case, umpire)
        judged, first = _judged(case, umpire, first)
    found += [first] if first else []
    row = _true_row(case, umpire, found)
    found += filter(None, [_rulings(case, rulings)])
    return Checked(row, umpire, judged, found)


def _header(case: StoredGame, older: bool) -> Divergence | None:
    """Whose game the record says it is, and by which rules and limits it was played."""
    spec = case.plan.spec(case.game, 1)
    expected = {
        "format": FORMAT,
        **case.plan.heading(case.game),
        "game": spec.key,
        "seat_count": spec.seats,
        "first_dealer": spec.first_dealer,
        "profile": {"retries": spec.profile.retries, "forfeit_after": spec.profile.forfeit_after},
        "limits": {
            "move_us": spec.limits.move_us,
            "bank_us": spec.limits.bank_us,
            "game_us": spec.limits.game_us,
        },
    }
    found = first_difference(expected, {key: case.unchecked.get(key) for key in expected})
    if found:
        return case.differs(Check.RECORD, found.path, found.theirs, found.ours)
    return _rules(case, spec.rules, older)


def _rules(case: StoredGame, rules: RuleSet, older: bool) -> Divergence | None:
    stored, expected = case.unchecked.get("rules"), rules.as_dict()
    if stored == expected:
        return None
    try:
        known = {key: expected.get(key) for key in stored} if isinstance(stored, dict) else {}
        if older and known and first_difference(known, stored) is None and RuleSet.from_dict(known) == rules:
            return None  # written by a version that knew fewer house rules
    except RuleSetError:
        pass
    found = first_difference(expected, stored) or Difference("", expected, stored)
    return case.differs(Check.RECORD, f"rules.{found.path}", found.theirs, found.ours)


def _packs(case: StoredGame) -> Divergence | None:
    """Every pack follows from the master."""
    deals = case.unchecked.get("deals")
    if not isinstance(deals, list) or not deals:
        return case.differs(Check.RECORD, "deals", deals, "a list of deals")
    for number, deal in enumerate(deals):
        stored = deal.get("pack") if isinstance(deal, dict) else None
        pack = case.packs(case.fixture.set_id, number, case.row.redeal)
        if stored != pack:
            return _pack_differs(case, number, stored, pack)
    return None


def _pack_differs(case: StoredGame, number: int, stored: object, pack: str) -> Divergence:
    cards, ours = stored.split(" ") if isinstance(stored, str) else [], pack.split(" ")
    place = next((i for i, (a, b) in enumerate(zip(cards, ours, strict=False)) if a != b), None)
    if place is None or len(cards) != len(ours):
        return case.differs(Check.PACK, "the pack", stored, pack, number + 1)
    return case.differs(Check.PACK, f"card {place + 1} from the top", cards[place], ours[place], number + 1)


def _replayed(case: StoredGame, overrun_us: int) -> tuple[Umpire | None, Divergence | None]:
    wrong: list[str] = []

    def charged(turn: Turn, fault: Fault | None, time: object) -> None:
        """A time is a whole number; an answer is charged no more than it had, one that did not come no less."""
        limits = case.plan.limits
        most = limits.move_us + limits.bank_us + overrun_us
        place = f"{seat_text(turn.chair.seat)}, decision {turn.decision + 1}: charged"
        if type(time) is not int or not 0 <= time < 1 << 53:
            wrong.append(f"{place} {shown(time)}, which is no time")
        elif fault is Fault.TIMEOUT_MOVE:
            if time < turn.move_us + turn.bank_us:
                wrong.append(f"{place} {time} us and ruled late, but it had {turn.move_us + turn.bank_us}")
        elif time > most:
            wrong.append(f"{place} {time} us, but no answer is taken after {most} (time for the move, and the bank)")

    try:
        umpire = replay(case.record, fallback_move, charged)
    except RecordError as error:
        deal = 0 if error.umpire is None else len(error.umpire.deals)
        sentence = str(error).removeprefix(f"deal {deal}, ")
        if error.umpire is not None and error.disputed is not None:
            legal = opinion(error.umpire, error.disputed)
            agrees = {True: "calls it legal", False: "calls it illegal", None: "differs before"}[legal]
            sentence += f" (the second engine {agrees})"
        return None, case.differs(Check.REPLAY, "the umpire does not confirm it", sentence, "", deal)
    return umpire, case.differs(Check.CLOCK, "a charged time", wrong[0]) if wrong else None


def _rebuilt(case: StoredGame, umpire: Umpire) -> Divergence | None:
    """The record that the replayed umpire writes is the stored one, to the last byte."""
    again = write_record(umpire, case.plan.heading(case.game))
    again["rules"] = case.record["rules"]
    if canonical(again) == canonical(case.record):
        return None
    found = first_difference(again, case.record) or Difference("the text", "canonical", "written otherwise")
    place = re.match(r"deals\[(\d+)\]", found.path)
    return case.differs(Check.REPLAY, found.path, found.theirs, found.ours, int(place[1]) + 1 if place else 0)


def _judged(case: StoredGame, umpire: Umpire, first: Divergence | None) -> tuple[Judged | None, Divergence | None]:
    try:
        return judge_game(umpire), first
    except Disagreement as error:
        ours = f"{shown(error.umpire)} (as recorded and replayed)"
        found = case.differs(Check.SECOND_ENGINE, error.what, ours, error.oracle, error.deal)
    except ValueError as error:
        found = case.differs(Check.SECOND_ENGINE, "it cannot play the game", error)
    return None, first or found


def _true_row(case: StoredGame, umpire: Umpire | None, found: list[Divergence]) -> GameRow:
    """The row as it should be, each difference to the stored one found."""
    row, record = case.row, case.record
    try:
        own, result = record_digest(record), result_digest(record)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        found.append(case.differs(Check.DIGEST, "no digest can be made", error))
        own, result = "", ""
    for name, stored, ours in (("record", row.record_digest, own), ("result", row.result_digest, result)):
        if stored != ours:
            found.append(case.differs(Check.DIGEST, f"digest of the {name}", stored, ours))
    summary = row.summary
    if umpire is not None:
        summary = summarise(umpire, case.fixture.seats, case.fixture.set_id)
        differs = first_difference(summary, row.summary)
        if differs:
            found.append(case.differs(Check.SUMMARY, differs.path, differs.theirs, differs.ours))
    return replace(row, record_digest=own, result_digest=result, summary=summary)


def _rulings(case: StoredGame, rulings: Sequence[RulingLine] | None) -> Divergence | None:
    """The rows of rulings say what the record says."""
    irregular = case.unchecked.get("irregular")
    if rulings is None or not isinstance(irregular, list):
        return None
    expected = [_ruling_row(case, number, entry) for number, entry in enumerate(irregular)]
    stored = [{key: row.get(key) for key in (expected[0] if expected else row)} for row in rulings]
    found = first_difference(expected, stored)
    if found is None:
        return None
    return case.differs(Check.RULING, f"rulings{found.path}", found.theirs, found.ours)


def _ruling_row(case: StoredGame, number: int, entry: Any) -> dict[str, Any]:
    told = entry if isinstance(entry, dict) else {}
    seat = told.get("seat")
    seats = case.fixture.seats
    return {
        "number": number,
        "entrant": seats[seat] if isinstance(seat, int) and 0 <= seat < len(seats) else None,
        **{key: told.get(key) for key in ("seat", "step", "fault", "rule", "sentence", "consequence")},
    }


def packs_of(plan: LeaguePlan) -> Packs:
    """The packs of a league as text; all rotations of a set share theirs, so they are kept for a while."""
    kept: dict[tuple[str, int, int], str] = {}

    def pack(set_id: str, deal: int, redeal: int) -> str:
        key = (set_id, deal, redeal)
        if key not in kept:
            if len(kept) >= 8192:
                kept.clear()
            kept[key] = cards_text(
                plan.pack(GamePlan(fixture_id="", set_id=set_id, rotation=0, seats=(), slots=(), redeal=redeal), deal)
            )
        return kept[key]

    return pack

"""The record of a game: every input of the umpire, as one canonical JSON object; and its replay.

A record holds what happened (packs, bids, tricks), what went wrong (``irregular``) and, apart under ``volatile``, what
differs between two runs of the same game: the times. ``result_digest`` leaves ``volatile`` out, ``record_digest``
does not.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from referee.cards import cards_text, parse_card, parse_cards
from referee.faults import Consequence, Fault, Profile
from referee.proceedings import DealLog, GameSpec, House, Irregularity, Limits
from referee.rules import Action, Deal, EventKind, Kind, RuleSet, action_text, parse_action, unpack_event
from referee.table import Table
from referee.view import Chair

FORMAT = "allfours-record/1"

Record = dict[str, Any]


class RecordError(ValueError):
    """A record that cannot be read, or that the umpire does not confirm. The message names the place."""


def write_record(table: Table, about: Mapping[str, Any]) -> Record:
    """The record of a finished game. ``about`` is put in front: game, set, rotation, names of the seats and so on."""
    spec, result = table.spec, table.result
    if result is None:
        raise RecordError(f"game {spec.key} has no result")
    return {
        "format": FORMAT,
        **about,
        "game": spec.key,
        "rules": spec.rules.as_dict(),
        "seat_count": spec.seats,
        "first_dealer": spec.first_dealer,
        "profile": {"retries": spec.profile.retries, "forfeit_after": spec.profile.forfeit_after},
        "limits": {
            "move_us": spec.limits.move_us,
            "bank_us": spec.limits.bank_us,
            "game_us": spec.limits.game_us,
        },
        "deals": [_write_deal(log, spec) for log in table.deals],
        "irregular": [_write_irregular(item) for item in table.irregularities],
        "result": {
            "winner": result.winner,
            "reason": str(result.reason),
            "scores": list(result.scores),
            "places": list(result.places),
            "stakes": list(result.stakes),
            "forfeits": list(result.forfeits),
        },
        "volatile": {"charged_us": table.charged},
    }


def _write_deal(log: DealLog, spec: GameSpec) -> Record:
    bids: list[str] = []
    cards: list[int] = []
    for packed in log.history:
        kind, value = packed >> 16, packed & 0xFF
        if kind == EventKind.PLAY:
            cards.append(value)
        elif kind == EventKind.BID:
            bids.append(str(value) if value else "-")
    seats = spec.seats
    deal: Record = {
        "dealer": log.dealer,
        "pack": cards_text(log.pack),
        "bids": " ".join(bids),
        "tricks": [cards_text(cards[i : i + seats]) for i in range(0, len(cards), seats)],
    }
    if log.outcome is not None:
        outcome = log.outcome
        deal["ending"] = str(outcome.ending)
        deal["awards"] = {award.item: award.seat for award in outcome.awards}
        deal["deltas"] = list(outcome.deltas)
    return deal


def _write_irregular(item: Irregularity) -> Record:
    entry: Record = {
        "step": item.step,
        "seat": item.seat,
        "fault": str(item.fault),
        "rule": item.rule,
        "sentence": item.sentence,
        "consequence": str(item.consequence),
        "charged_us": item.charged_us,
    }
    if item.action is not None:
        entry["action"] = item.action
    if item.raw:
        entry["raw"] = item.raw
    return entry


def canonical(record: object) -> bytes:
    """The one way in which a record is written as bytes: sorted keys, no blanks, UTF-8."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def without_volatile(record: Record) -> Record:
    """The part of a record that two runs of the same game agree on."""
    part = {key: value for key, value in record.items() if key != "volatile"}
    part["irregular"] = [
        {key: value for key, value in entry.items() if key != "charged_us"} for entry in record["irregular"]
    ]
    return part


def result_digest(record: Record) -> str:
    """SHA-256 of the record without its volatile part, in hexadecimal."""
    return hashlib.sha256(canonical(without_volatile(record))).hexdigest()


def record_digest(record: Record) -> str:
    """SHA-256 of the whole record, in hexadecimal."""
    return hashlib.sha256(canonical(record)).hexdigest()


def spec_of(record: Record) -> GameSpec:
    """The game that a record is of; raises ``RecordError``."""
    try:
        if record["format"] != FORMAT:
            raise RecordError(f"format {record['format']!r} is not {FORMAT!r}")
        rules = RuleSet.from_dict(record["rules"])
        seats = int(record["seat_count"])
        return GameSpec(
            record["game"],
            rules,
            tuple(Chair(1, seat, seats, rules) for seat in range(seats)),
            record["first_dealer"],
            Profile("record", **record["profile"]),
            Limits(**record["limits"]),
        )
    except (KeyError, TypeError) as error:
        raise RecordError(f"the record lacks or garbles {error}") from None


def replay(record: Record, house: House) -> Table:
    """Plays a record again through the umpire and returns the table at its end.

    Raises ``RecordError`` at the first point where the umpire does not confirm the record: an action that is not legal,
    a ruling that differs, an end that is not the recorded one.
    """
    spec = spec_of(record)
    packs = [parse_cards(deal["pack"]) for deal in record["deals"]]

    def pack(number: int) -> tuple[int, ...]:
        if number >= len(packs):
            raise RecordError(f"deal {number + 1} is missing")
        return packs[number]

    table = Table(spec, pack, iter(range(1, 1 << 53)).__next__, house)
    actions = _Actions(record)
    recorded = [_read_irregular(entry) for entry in record["irregular"]]
    table.start()
    while not table.closed:
        number = len(table.irregularities)
        if number < len(recorded) and recorded[number].step == table.steps:
            _feed(table, recorded[number])
            if table.irregularities[number : number + 1] != [recorded[number]]:
                raise RecordError(f"irregularity {number + 1} is not confirmed by the umpire")
        else:
            _answer(table, actions, record)
    _compare(table, record, recorded)
    return table


def _feed(table: Table, item: Irregularity) -> None:
    turn_id = table.open.turn_id if table.open else 0
    if item.fault is Fault.MALFORMED:
        table.malformed(turn_id, item.rule, item.sentence, bytes.fromhex(item.raw), item.charged_us)
    elif item.fault is Fault.TIMEOUT_MOVE:
        table.late(turn_id, item.charged_us)
    elif item.action is not None:
        table.answer(turn_id, item.action, item.charged_us)
    else:
        table.lose(item.seat, item.fault, item.sentence)
    if not table.closed and table.irregularities == []:
        raise RecordError("an irregularity had no effect")


def _answer(table: Table, actions: "_Actions", record: Record) -> None:
    turn, deal = table.open, table.deal
    if turn is None or deal is None:
        raise RecordError("nobody is asked, but the game is not over")
    seat = turn.chair.seat
    action = actions.next(len(table.deals) - 1, turn.kind, len(table.deals[-1].actions))
    violation = deal.verify(action)
    if violation:
        where = f"deal {len(table.deals)}, seat {seat}"
        raise RecordError(f"{where}: {action_text(turn.kind, action)} breaks {violation.rule}: {violation.sentence}")
    charged = record.get("volatile", {}).get("charged_us", [])
    times = charged[seat] if seat < len(charged) else []
    number = len(table.charged[seat])
    table.answer(turn.turn_id, action, times[number] if number < len(times) else 0)


class _Actions:
    """The actions of a record in order, by deal and kind."""

    def __init__(self, record: Record) -> None:
        self._deals = record["deals"]
        self._queues: dict[tuple[int, Kind], Iterator[Action]] = {}
        self._taken: dict[int, int] = {}

    def next(self, deal: int, kind: Kind, step: int) -> Action:
        """The next action of that kind in that deal, ``step`` actions of the deal having been applied."""
        entry = self._deals[deal]
        texts = entry["bids"].split() if kind is Kind.BID else " ".join(entry["tricks"]).split()
        number = step if kind is Kind.BID else step - len(entry["bids"].split())
        if not 0 <= number < len(texts):
            raise RecordError(f"deal {deal + 1} ends before its last card")
        return parse_action(kind, texts[number]) if kind is Kind.BID else parse_card(texts[number])


def _read_irregular(entry: Record) -> Irregularity:
    return Irregularity(
        entry["step"],
        entry["seat"],
        Fault(entry["fault"]),
        entry["rule"],
        entry["sentence"],
        Consequence(entry["consequence"]),
        entry.get("action"),
        entry.get("raw", ""),
        entry["charged_us"],
    )


def _compare(table: Table, record: Record, recorded: list[Irregularity]) -> None:
    """Whether the replayed game is the recorded one, to the last field."""
    if table.irregularities != recorded:
        raise RecordError("the rulings differ")
    again = write_record(table, {})
    for part in ("deals", "result"):
        if again[part] != record[part]:
            raise RecordError(f"{_first_difference(again[part], record[part], part)}")


def _first_difference(ours: Any, theirs: Any, path: str) -> str:
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = [(f"{path}[{i}]", a, b) for i, (a, b) in enumerate(zip(ours, theirs, strict=True))]
    elif isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        pairs = [(f"{path}.{key}", ours[key], theirs[key]) for key in sorted(ours)]
    else:
        return f"{path}: the record says {theirs!r}, the umpire {ours!r}"
    return next((_first_difference(a, b, where) for where, a, b in pairs if a != b), path)


def seat_record(record: Record, seat: int) -> Record:
    """What one seat may be given of a record after the game: everything but the names and the undealt cards' order.

    The whole pack of each deal is left out, for the other seats' unplayed cards stay hidden until the reveal.
    """
    part = without_volatile(record)
    part["seat"] = seat
    part.pop("names", None)
    part["deals"] = [{key: value for key, value in deal.items() if key != "pack"} for deal in record["deals"]]
    return part


def describe_events(deal: Deal) -> list[str]:
    """The public events of a deal, a line each, for logs."""
    lines = []
    for packed in deal.history:
        event = unpack_event(packed)
        text = (
            action_text(Kind.BID, event.value) if event.kind is EventKind.BID else action_text(Kind.PLAY, event.value)
        )
        lines.append(f"seat {event.seat}: {text}")
    return lines

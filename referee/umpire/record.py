"""The record of a game: every input of the umpire, as one canonical JSON object; and its replay.

A record holds what happened (packs, bids, tricks), what went wrong (``irregular``) and, apart under ``volatile``, what
differs between two runs of the same game: the times. ``result_digest`` leaves ``volatile`` out, ``record_digest``
does not.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import zip_longest
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

import orjson

from referee.cards import cards_text, hand_text, parse_cards
from referee.rules import (
    Action,
    EventKind,
    Kind,
    Outcome,
    RuleSet,
    action_text,
    parse_action,
)
from referee.rules.actions import seat_text
from referee.rules.scoring import AT_ONCE
from referee.umpire.events import DealLog, Fallback, GameSpec, Irregularity, TimeLimits
from referee.umpire.faults import Consequence, Fault, Profile
from referee.umpire.umpire import Umpire
from referee.umpire.view import Chair, Turn

FORMAT = "allfours-record/1"

_PLAY = int(EventKind.PLAY)  # plain numbers are compared faster, and all that is packed in an event is one
_TURN_UP = int(EventKind.TURN_UP)


class ProfileRecord(TypedDict):
    """How faults were penalised."""

    retries: Annotated[int, "Illegal answers to one decision that went back."]
    forfeit_after: Annotated[int, "Violations that forfeit the game; 0 = never."]


class LimitsRecord(TypedDict):
    """The time limits of a seat."""

    move_us: Annotated[int, "Microseconds for a decision."]
    bank_us: Annotated[int, "Microseconds in the bank."]
    game_us: Annotated[int, "Microseconds of charged time in the whole game; 0 = no limit."]


class AwardRecord(TypedDict):
    """Points that were scored during a deal."""

    item: Annotated[str, "What for."]
    seat: Annotated[int, "By which seat."]
    points: Annotated[int, "How many."]


class DealRecord(TypedDict):
    """One deal as it was played."""

    dealer: Annotated[int, "The dealer's seat."]
    pack: Annotated[
        str,
        "All 52 cards, top card first. Three to eldest, three to the next, and so on, twice round.",
    ]
    bids: Annotated[str, "The calls from eldest on; `-` is a pass."]
    calls: NotRequired[Annotated[str, "Stand, beg, give and run, in their order."]]
    turned: NotRequired[Annotated[str, "Cards turned up."]]
    named: NotRequired[Annotated[str, "The trump that was named."]]
    kept: NotRequired[Annotated[list[str], "The cards that each seat kept, from eldest on."]]
    tricks: Annotated[
        list[str],
        "The cards of each trick in the order played; the first trick is led by the pitcher, each next one by the winner.",
    ]
    ending: NotRequired[Annotated[str, "How the deal ended; lacking where the game ended inside it."]]
    at_once: NotRequired[Annotated[list[AwardRecord], "Points scored during the deal: item, seat, points of each."]]
    awards: NotRequired[Annotated[dict[str, int], "Which seat got which item."]]
    deltas: NotRequired[Annotated[list[int], "What each side's score changed by."]]


class IrregularRecord(TypedDict):
    """A ruling: an input of the umpire other than a legal answer."""

    step: Annotated[int, "How many actions of the game were made before it."]
    seat: Annotated[int, "Against which seat."]
    fault: Annotated[str, "[The fault](faults.md)."]
    rule: Annotated[str, "The clause; empty where none was broken."]
    sentence: Annotated[str, "What happened, in words."]
    consequence: Annotated[str, "What followed."]
    action: NotRequired[Annotated[int, "What was answered, if an action could be read."]]
    raw: NotRequired[Annotated[str, "A malformed move as bytes, in hexadecimal."]]
    charged_us: Annotated[int, "The time charged; left out of the result digest, as `volatile` is."]


class ResultRecord(TypedDict):
    """The end of a game."""

    winner: Annotated[int | None, "The side that won, if one did."]
    reason: Annotated[str, "Why the game ended."]
    scores: Annotated[list[int], "The score of each side."]
    places: Annotated[list[int], "The place of each seat, 1 the best."]
    stakes: Annotated[list[int], "What each seat won or paid."]
    forfeits: Annotated[list[int], "The seats that forfeited, in that order."]


class VolatileRecord(TypedDict):
    """What differs between two runs of the same game."""

    charged_us: Annotated[list[list[int]], "By seat, the time of each answer in microseconds."]


class GameHeading(TypedDict):
    """Where a game stands in its league; lacking in a record of a game of no league."""

    league: NotRequired[Annotated[str, "The league's name."]]
    set: NotRequired[Annotated[str, "Its set."]]
    rotation: NotRequired[Annotated[int, "Its rotation."]]
    redeal: NotRequired[Annotated[int, "0, and one more each time the set's packs were dealt anew."]]
    names: NotRequired[Annotated[list[str], "Name and version of the bot at each seat."]]


class Record(GameHeading):
    """One game: every input of the umpire."""

    format: Annotated[str, "The version of the form."]
    game: Annotated[str, "The fixture."]
    rules: Annotated[dict[str, Any], "Every house rule of the game."]
    seat_count: Annotated[int, "How many play."]
    first_dealer: Annotated[int, "The seat that dealt first."]
    profile: Annotated[ProfileRecord, "How faults were penalised: `retries`, `forfeit_after`."]
    limits: Annotated[LimitsRecord, "Time limits of a seat in microseconds: `move_us`, `bank_us`, `game_us`."]
    deals: Annotated[list[DealRecord], "Every deal."]
    irregular: Annotated[
        list[IrregularRecord],
        "Every ruling: the step of the game, who, which fault and clause, what was sent, what followed.",
    ]
    result: Annotated[ResultRecord, "How the game ended: `winner`, `reason`, `scores`, `places`, `stakes`, `forfeits`."]
    volatile: Annotated[
        VolatileRecord,
        "Times, in microseconds, one for each answer. They differ between two runs of the same game, nothing else does.",
    ]


class RecordError(ValueError):
    """A record that cannot be read, or that the umpire does not confirm. The message names the place.

    Where a replay stops, ``umpire`` is the game as far as the umpire confirms it, and ``disputed`` the action about which
    record and umpire differ, if it is about one.
    """

    def __init__(self, message: str, disputed: Action | None = None) -> None:
        super().__init__(message)
        self.umpire: Umpire | None = None
        self.disputed = disputed


def write_record(umpire: Umpire, heading: GameHeading) -> Record:
    """The record of a finished game, with what its league says of it."""
    spec, result = umpire.spec, umpire.result
    if result is None:
        raise RecordError(f"game {spec.key} has no result")
    return {
        "format": FORMAT,
        **heading,
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
        "deals": [_write_deal(log, spec) for log in umpire.deals],
        "irregular": [_write_irregular(item) for item in umpire.irregularities],
        "result": {
            "winner": result.winner,
            "reason": str(result.reason),
            "scores": list(result.scores),
            "places": list(result.places),
            "stakes": list(result.stakes),
            "forfeits": list(result.forfeits),
        },
        "volatile": {"charged_us": umpire.charged},
    }


_FIELDS = {
    Kind.BID: "bids",
    Kind.STAND_OR_BEG: "calls",
    Kind.ANSWER_BEG: "calls",
    Kind.NAME_TRUMP: "named",
    Kind.DISCARD: "kept",
    Kind.PLAY: "tricks",
}
"""The field of a deal that an action of each kind stands in."""

_SHARING = {field: [kind for kind, other in _FIELDS.items() if other == field] for field in _FIELDS.values()}


def _write_deal(log: DealLog, spec: GameSpec) -> DealRecord:
    words: dict[str, list[str]] = {}
    for kind, action in zip(log.kinds, log.actions, strict=True):
        if kind is Kind.PLAY:  # the tricks are read off the history, which has the seats too
            continue
        if kind is Kind.DISCARD:
            word = hand_text(action)
        else:
            word = "-" if kind is Kind.BID and not action else action_text(kind, action)
        words.setdefault(_FIELDS[kind], []).append(word)
    deal: DealRecord = {
        "dealer": log.dealer,
        "pack": cards_text(log.pack),
        "bids": " ".join(words.get("bids", ())),
        "tricks": _tricks(log, spec.seats),
    }
    turned = [event & 0xFF for event in log.history if event >> 16 == _TURN_UP]
    if turned:
        deal["turned"] = cards_text(turned)
    if "calls" in words:
        deal["calls"] = " ".join(words["calls"])
    if "named" in words:
        deal["named"] = " ".join(words["named"])
    if "kept" in words:
        deal["kept"] = words["kept"]
    if log.outcome is not None:
        _write_outcome(deal, log.outcome)
    return deal


def _tricks(log: DealLog, seats: int) -> list[str]:
    """The cards of each trick. A seat at or before the last one, counted from the leader, begins a new trick."""
    tricks: list[list[int]] = []
    leader, last = 0, seats
    for packed in log.history:
        if packed >> 16 == _PLAY:
            seat = packed >> 8 & 0xFF
            place = (seat - leader) % seats
            if place <= last:
                tricks.append([])
                leader, place = seat, 0
            tricks[-1].append(packed & 0xFF)
            last = place
    return [cards_text(trick) for trick in tricks]


def _write_outcome(deal: DealRecord, outcome: Outcome) -> None:
    at_once = [award for award in outcome.awards if award.item in AT_ONCE]
    deal["ending"] = str(outcome.ending)
    if at_once:
        deal["at_once"] = [{"item": award.item, "seat": award.seat, "points": award.points} for award in at_once]
    deal["awards"] = {award.item: award.seat for award in outcome.awards if award.item not in AT_ONCE}
    deal["deltas"] = list(outcome.deltas)


def _write_irregular(item: Irregularity) -> IrregularRecord:
    entry: IrregularRecord = {
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
    """The one way in which a record is written as bytes: sorted keys, no blanks, UTF-8.

    Text that UTF-8 cannot write (of names of files in another encoding) makes the whole ASCII with escapes.
    """
    return _canonical_of_plain(record) or _canonical_of_anything(record)


def _canonical_of_plain(record: object) -> bytes | None:
    """The form as orjson writes it; ``None`` where that may not be the form."""
    try:
        written = orjson.dumps(record, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # text that UTF-8 cannot write, a number beyond 64 bits, a key that is no text, too deep
        return None
    return written if _is_plain(record) else None


def _canonical_of_anything(record: object) -> bytes:
    """The form itself, as the standard library writes it; ``canonical`` has a faster way to the same bytes for nearly all records."""
    try:
        return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(record, sort_keys=True, separators=(",", ":")).encode()


def _is_plain(value: object) -> bool:
    """Whether a value holds nothing that two libraries may write in two ways: fractions (1e-05 or 0.00001), dates, data classes."""
    to_look_at: list[Any] = [value] if isinstance(value, dict | list) else [[value]]
    for inside in to_look_at:
        for part in inside.values() if type(inside) is dict else inside:
            kind = type(part)
            if kind is str or kind is int:
                continue
            if kind is dict or kind is list:
                to_look_at.append(part)
            elif kind is not bool and part is not None:
                return False
    return True


def without_volatile(record: Record) -> dict[str, Any]:
    """The part of a record that two runs of the same game agree on."""
    part: dict[str, Any] = {key: value for key, value in record.items() if key != "volatile"}
    part["irregular"] = [
        {key: value for key, value in entry.items() if key != "charged_us"} for entry in record["irregular"]
    ]
    return part


def result_digest(record: Record) -> str:
    """SHA-256 of the record without its volatile part, in hexadecimal."""
    return hashlib.sha256(canonical(without_volatile(record))).hexdigest()


def written_record(record: Record) -> tuple[bytes, str]:
    """What a store keeps of a record: its bytes, and its result digest. They are looked through once for what is not plain."""
    written = _canonical_of_plain(record)
    if written is None:
        return canonical(record), result_digest(record)
    part = orjson.dumps(without_volatile(record), option=orjson.OPT_SORT_KEYS)  # a part of what is plain is plain
    return written, hashlib.sha256(part).hexdigest()


def record_digest(record: Record) -> str:
    """SHA-256 of the whole record, in hexadecimal."""
    return hashlib.sha256(canonical(record)).hexdigest()


def spec_of(record: Record) -> GameSpec:
    """The game that a record is of; raises ``RecordError``."""
    if record.get("format") != FORMAT:
        raise RecordError(f"format {record.get('format')!r} is not {FORMAT!r}")
    try:
        rules = RuleSet.from_dict(record["rules"])
        seats = int(record["seat_count"])
        rules.check_seats(seats)
        return GameSpec(
            key=record["game"],
            rules=rules,
            chairs=tuple(Chair(game_id=1, seat=seat, seats=seats, rules=rules) for seat in range(seats)),
            first_dealer=record["first_dealer"],
            profile=Profile("record", **record["profile"]),
            limits=TimeLimits(**record["limits"]),
        )
    except (ArithmeticError, KeyError, TypeError, ValueError) as error:
        raise RecordError(f"the record lacks or garbles {error}") from None


Charged = Callable[[Turn, Fault | None, Any], None]
"""Told of each input of a replay before the umpire is: the turn, the fault (``None`` for a sound answer), the time charged."""


def replay(record: Record, fallback_move: Fallback, charged: Charged | None = None) -> Umpire:
    """Plays a record again through the umpire and returns the umpire at its end.

    Raises ``RecordError`` at the first point where the umpire does not confirm the record: an action that is not legal,
    a ruling that differs, an end that is not the recorded one.
    """
    spec = spec_of(record)
    try:
        packs = [parse_cards(deal["pack"]) for deal in record["deals"]]
        rulings = [_read_irregular(entry) for entry in record["irregular"]]
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"the record lacks or garbles {error}") from None

    def pack(number: int) -> tuple[int, ...]:
        if number >= len(packs):
            raise RecordError(f"deal {number + 1} is missing")
        return packs[number]

    umpire = Umpire(spec, pack, iter(range(1, 1 << 53)).__next__, fallback_move)
    try:
        _replay(umpire, record, rulings, charged or (lambda *_: None))
    except RecordError as error:
        error.umpire = umpire
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        garbled = RecordError(f"{_place(umpire)}: the record is garbled ({type(error).__name__}: {error})")
        garbled.umpire = umpire
        raise garbled from None
    return umpire


def _replay(umpire: Umpire, record: Record, rulings: list[Irregularity], charged: Charged) -> None:
    actions = Actions(record)
    umpire.start()
    while not umpire.closed:
        number = len(umpire.irregularities)
        if number < len(rulings) and rulings[number].step == umpire.steps:
            _feed(umpire, rulings[number], number, charged)
        else:
            _answer(umpire, actions, record, charged)
    _compare(umpire, record, rulings)


_OF_AN_ANSWER = frozenset({Fault.ILLEGAL_ACTION, Fault.TIMEOUT_GAME, Fault.NO_CONTEST})
"""Faults that never take a player out of a game by themselves."""


def _feed(umpire: Umpire, item: Irregularity, number: int, charged: Charged) -> None:
    """Tells the umpire of an irregular input; it must rule just as the record says."""
    turn, deal, place = umpire.open, umpire.deal, _place(umpire)
    turn_id = turn.turn_id if turn else 0
    if turn and (item.action is not None or item.fault in (Fault.MALFORMED, Fault.TIMEOUT_MOVE)):
        charged(turn, item.fault, item.charged_us)
    if item.fault is Fault.MALFORMED:
        umpire.malformed(turn_id, item.rule, item.sentence, bytes.fromhex(item.raw), item.charged_us)
    elif item.fault is Fault.TIMEOUT_MOVE:
        umpire.late(turn_id, item.charged_us)
    elif item.action is not None:
        if item.fault is Fault.ILLEGAL_ACTION and turn and deal and deal.verify(item.action) is None:
            text = action_text(turn.kind, item.action)
            raise RecordError(f"{place}: {text} is ruled to break {item.rule}, but it is legal", item.action)
        umpire.answer(turn_id, item.action, item.charged_us)
    elif item.fault in _OF_AN_ANSWER:
        raise RecordError(f"{place}: ruling {number + 1} is {item.fault}, but names no action")
    else:
        umpire.lose(item.seat, item.fault, item.sentence)
    ruled = umpire.irregularities[number : number + 1]
    if not ruled:
        raise RecordError(f"{place}: ruling {number + 1} ({item.fault}): the umpire has nothing to rule on")
    _same_ruling(place, number, ruled[0], item)


def _same_ruling(place: str, number: int, ours: Irregularity, theirs: Irregularity) -> None:
    if theirs.sentence == _as_worded_before(ours.sentence):
        theirs = replace(theirs, sentence=ours.sentence)
    found = first_difference(asdict(ours), asdict(theirs))
    if found:
        raise RecordError(f"{place}: ruling {number + 1}, {_told(found)}")


def _as_worded_before(sentence: str) -> str:
    """The sentence as version 0.1.0 worded it: it counted seats from 0 (AF-TRUMP-005) and wrote "3 to 3" (AF-BID-001)."""
    sentence = re.sub(r"a bid is (\d+), a pass", r"a bid is \1 to \1, a pass", sentence)
    return re.sub(r"(?<=would put seat )\d+(?= out)", lambda found: str(int(found[0]) - 1), sentence)


def _place(umpire: Umpire) -> str:
    """Where in the game the umpire stands. Deals and seats count from 1."""
    deal = f"deal {max(len(umpire.deals), 1)}"
    return deal if umpire.open is None else f"{deal}, {seat_text(umpire.open.chair.seat)}"


def _answer(umpire: Umpire, actions: "Actions", record: Record, told: Charged) -> None:
    turn, deal = umpire.open, umpire.deal
    if turn is None or deal is None:
        raise RecordError("nobody is asked, but the game is not over")
    seat = turn.chair.seat
    action = actions.next(len(umpire.deals) - 1, turn.kind, umpire.deals[-1].kinds)
    violation = deal.verify(action)
    if violation:
        text = action_text(turn.kind, action)
        raise RecordError(f"{_place(umpire)}: {text} breaks {violation.rule}: {violation.sentence}", action)
    charged = record.get("volatile", {}).get("charged_us", [])
    times = charged[seat] if seat < len(charged) else []
    number = len(umpire.charged[seat])
    time = times[number] if number < len(times) else 0
    told(turn, None, time)
    umpire.answer(turn.turn_id, action, time)


class Actions:
    """The actions of a record, by deal and kind."""

    def __init__(self, record: Record) -> None:
        self._deals = record["deals"]
        self._words: dict[tuple[int, str], list[str]] = {}

    def next(self, deal: int, kind: Kind, done: Sequence[Kind]) -> Action:
        """The next action of that kind in that deal (from 0), actions of the kinds ``done`` having been applied."""
        field = _FIELDS[kind]
        words = self._words.get((deal, field))
        if words is None:
            value: Any = self._deals[deal].get(field, "")
            words = " ".join(value).split() if kind is Kind.PLAY else value if kind is Kind.DISCARD else value.split()
            self._words[deal, field] = words
        number = sum(map(done.count, _SHARING[field]))
        if number >= len(words):
            raise RecordError(f"deal {deal + 1} ends before its last {'card' if kind is Kind.PLAY else 'call'}")
        return parse_action(kind, words[number])


def _read_irregular(entry: IrregularRecord) -> Irregularity:
    return Irregularity(
        step=entry["step"],
        seat=entry["seat"],
        fault=Fault(entry["fault"]),
        rule=entry["rule"],
        sentence=entry["sentence"],
        consequence=Consequence(entry["consequence"]),
        action=entry.get("action"),
        raw=entry.get("raw", ""),
        charged_us=entry["charged_us"],
    )


def _compare(umpire: Umpire, record: Record, rulings: list[Irregularity]) -> None:
    """Whether the replayed game is the recorded one, to the last field."""
    for number, (ours, theirs) in enumerate(zip(umpire.irregularities, rulings, strict=False)):
        _same_ruling(f"step {ours.step}", number, ours, theirs)
    if len(umpire.irregularities) != len(rulings):
        raise RecordError(f"the record has {len(rulings)} rulings, the umpire {len(umpire.irregularities)}")
    again = write_record(umpire, {})
    _confirm("deals", again["deals"], record["deals"])
    _confirm("result", again["result"], record["result"])


def _confirm(part: str, ours: object, recorded: object) -> None:
    found = None if ours == recorded else first_difference(ours, recorded, part)
    if found:
        raise RecordError(_told(found))


_NOTHING: Any = object()


class Difference(NamedTuple):
    """Where two JSON values part: the path, and what each has there (``None`` where it has nothing)."""

    path: str
    ours: Any
    theirs: Any


def same_value(ours: Any, theirs: Any) -> bool:
    """Whether two JSON values are equal and of one type: 1 is not true, nor 1.0."""
    return type(ours) is type(theirs) and bool(ours == theirs)


def first_difference(
    ours: Any, theirs: Any, path: str = "", same: Callable[[Any, Any], bool] = same_value
) -> Difference | None:
    """The first place where two JSON values differ, with both values there (``None`` where one has nothing, which differs from
    a ``None`` that stands there).

    >>> first_difference({"deals": [{"dealer": 0}]}, {"deals": [{"dealer": 3}]})
    Difference(path='deals[0].dealer', ours=0, theirs=3)
    """
    if isinstance(ours, list) and isinstance(theirs, list):
        pairs = [(f"{path}[{i}]", a, b) for i, (a, b) in enumerate(zip_longest(ours, theirs, fillvalue=_NOTHING))]
    elif isinstance(ours, dict) and isinstance(theirs, dict):
        keys = sorted(ours.keys() | theirs.keys())
        pairs = [
            (f"{path}.{key}" if path else str(key), ours.get(key, _NOTHING), theirs.get(key, _NOTHING)) for key in keys
        ]
    else:
        known = ours is not _NOTHING and theirs is not _NOTHING
        if known and same(ours, theirs):
            return None
        return Difference(path, None if ours is _NOTHING else ours, None if theirs is _NOTHING else theirs)
    found = (first_difference(a, b, where, same) for where, a, b in pairs)
    return next((one for one in found if one), None)


def _told(found: Difference) -> str:
    return f"{found.path}: the record says {found.theirs!r}, the umpire {found.ours!r}"


_WITHHELD = ("names", "league", "set", "rotation", "redeal", "game")
"""What a bot is not told before the reveal: who sat where, and by which fixture the game can be found again."""


def seat_record(record: Record, seat: int) -> dict[str, Any]:
    """What one seat may be given of a record after the game: everything but names, packs, and what others laid away.

    The whole pack of each deal is left out, for the other seats' unplayed cards stay hidden until the reveal.
    """
    part = without_volatile(record)
    part["seat"] = seat
    for name in _WITHHELD:
        part.pop(name, None)
    for entry in part["irregular"]:
        if entry["seat"] != seat:
            entry.pop("action", None)  # a card that another held, and may not have played
            entry.pop("raw", None)
            entry.pop("sentence")
    part["deals"] = [_seat_deal(deal, seat, record["seat_count"]) for deal in record["deals"]]
    return part


def _seat_deal(deal: DealRecord, seat: int, seats: int) -> dict[str, Any]:
    part: dict[str, Any] = {key: value for key, value in deal.items() if key != "pack"}
    if "kept" in deal:  # asked from eldest on; the kept cards of the others are left blank
        own = (seat - deal["dealer"] - 1) % seats
        part["kept"] = [kept if place == own else "" for place, kept in enumerate(deal["kept"])]
    return part

"""The canonical form of a record: the same bytes as the standard library's, for records and for anything else."""

import json
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from enum import Enum, IntEnum, StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.league.store.json_text import column
from referee.protocol import wire
from referee.rules import Call, Kind, variant, variant_names
from referee.umpire import record as records
from referee.umpire.record import (
    Record,
    canonical,
    record_digest,
    result_digest,
    seat_record,
    without_volatile,
    written_record,
)
from referee.umpire.view import Turn
from tests.league.inprocess import Garbled, Late, Lost, Player, Reply, at_random, record_of, reneges


def errs(turn: Turn) -> Reply:
    """Late, garbled, illegal in its first decisions; gone in the second deal."""
    wrong = {0: Late(), 1: Garbled(wire.Move(turn_id=turn.turn_id, bid=3, suit=wire.SUIT_HEARTS)), 2: 999}
    return Lost() if turn.deal else wrong.get(turn.decision, at_random(turn))


PLAYERS: Final[dict[str, Player]] = {"errs": errs, "reneges": reneges, "random": at_random}
NAMES: Final = ("random Ω 1.0", "renège \U0001f0a1", 'with "quotes" \\ and\n\x7f\u2028', "", "a", "b", "c")
EXPORT: Final = Path(__file__).parents[1] / "data" / "of_0_1_0" / "export"


def as_described(value: object) -> bytes:
    """Sorted keys, no blanks, UTF-8; all ASCII if UTF-8 cannot write a text of it."""
    form: dict[str, Any] = {"sort_keys": True, "separators": (",", ":")}
    try:
        return json.dumps(value, **form, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, **form, ensure_ascii=True).encode("ascii")


class Word(StrEnum):
    ONE = "one"


class Number(IntEnum):
    ONE = 1


class Text(str):
    __slots__ = ()


class Pair(NamedTuple):
    a: int
    b: str


LEAVES: Final = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**53, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**40])
    | st.floats()
    | st.sampled_from([1e-5, 1e-7, 1e15, 1e16, 1e17, 1e22, -0.0, 5e-324, 0.1, 100.0])
    | st.text()
    | st.text(st.characters(categories=["Cc", "Cs", "Co", "Zl", "Zp"]))
    | st.sampled_from([Word.ONE, Number.ONE, Call.BEG, Kind.PLAY, Text("text"), Pair(1, "b"), (), (1, 2.5)])
)
KEYS: Final = st.text() | st.sampled_from(["\U0001f0a1", "￿", "\ud800", Text("text"), Word.ONE])
VALUES: Final = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(KEYS, inner)
        | st.dictionaries(st.integers(), inner)
    ),
)


@given(VALUES)
def test_every_value_is_written_as_described(value: object) -> None:
    assert canonical(value) == as_described(value)


@given(VALUES)
def test_a_column_of_the_store_is_the_same_in_ascii(value: object) -> None:
    assert column(value) == json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner)))
def test_what_is_written_is_what_is_read(value: object) -> None:
    assert json.loads(canonical(value)) == value


@dataclass
class Plain:
    a: int = 1


class Letter(Enum):
    A = "a"


@pytest.mark.parametrize(
    "value",
    [Plain(), Letter.A, date(2020, 1, 1), UUID(int=0), b"bytes", {1}, 1j, object()],
    ids=lambda v: type(v).__name__,
)
@pytest.mark.parametrize(
    "put", [lambda v: v, lambda v: [v], lambda v: {"a": {"b": [1, v]}}], ids=["bare", "listed", "deep"]
)
def test_what_is_no_json_is_refused(put: Any, value: object) -> None:
    """A faster library would write some of these; then a record could be written that nobody else writes so."""
    with pytest.raises(TypeError, match="not JSON serializable"):
        canonical(put(value))


@pytest.mark.parametrize("keys", [["a", 1], [None, "a"]])
def test_keys_that_have_no_order_are_refused(keys: list[Any]) -> None:
    with pytest.raises(TypeError, match="not supported between"):
        canonical(dict.fromkeys(keys, 1))


@pytest.mark.parametrize("depth", [1, 100, 254, 255, 256, 500])
@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: {"a": v}], ids=["list", "object"])
def test_depth_changes_nothing(wrap: Any, depth: int) -> None:
    value: object = 1e-05
    for _ in range(depth):
        value = wrap(value)
    assert canonical(value) == as_described(value)


def test_what_holds_itself_is_refused() -> None:
    value: list[Any] = [1]
    value.append(value)
    with pytest.raises(ValueError, match="Circular"):
        canonical(value)


def test_order_is_that_of_code_points() -> None:
    """Also above the plane that UTF-16 writes as one unit, where other languages sort otherwise."""
    assert (
        canonical(OrderedDict([("\U0001f0a1", 1), ("￿", 2), ("é", 3), ("z", 4)]))
        == '{"z":4,"é":3,"￿":2,"\U0001f0a1":1}'.encode()
    )


def records_of(name: str) -> Iterator[Record]:
    """Games of a variant with rulings of every kind, at the smallest and the largest table."""
    for count in {min(variant(name).players), max(variant(name).players)}:
        players = dict(list(PLAYERS.items())[:count]) | {f"more{i}": at_random for i in range(count - 3)}
        yield {**record_of(players, variant=name, seats=count), "names": list(NAMES[:count])}


@pytest.mark.parametrize("name", variant_names())
def test_every_record_is_written_as_described(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And by the faster way: a record needs no other."""
    games = list(records_of(name))
    assert all(len(game["irregular"]) > 1 for game in games)
    parts = [
        part for game in games for part in (game, without_volatile(game), seat_record(game, 0), seat_record(game, 1))
    ]
    expected = [as_described(part) for part in parts]
    monkeypatch.setattr(records, "_canonical_of_anything", None)
    assert [canonical(part) for part in parts] == expected
    assert [written_record(game) for game in games] == [(canonical(game), result_digest(game)) for game in games]


@pytest.mark.parametrize("odd", [1e-05, 2**64, "\ud800", [0.1], {"a": float("inf")}])
@pytest.mark.parametrize("place", ["rules", "volatile"])
def test_what_is_kept_of_an_odd_record_is_canonical_too(place: str, odd: object) -> None:
    game: Any = next(records_of("auction-pitch"))
    game = {**game, place: {**game[place], "odd": odd}}
    without = {key: value for key, value in without_volatile(game).items() if key != "volatile"}
    assert written_record(game) == (as_described(game), sha256(as_described(without)).hexdigest())


def test_the_digests_of_published_records_stand() -> None:
    lines = {name: (EXPORT / f"{name}.jsonl").read_bytes().splitlines() for name in ("records", "games")}
    assert lines["records"]
    for line, about in zip(lines["records"], map(json.loads, lines["games"]), strict=True):
        assert canonical(json.loads(line)) == line
        record = json.loads(line)["record"]
        assert (record_digest(record), result_digest(record)) == (about["record_digest"], about["result_digest"])

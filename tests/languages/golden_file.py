"""The golden turns: 10,000 positions of all games, as the wire carries them, and what ``careful`` does in each.

The file is gzip over frames, each a length (a protobuf varint) and a message: first the ``Joined`` with the rule sets
that the turns name, then pairs of one ``PlayResponse`` with 64 turns and the ``PlayRequest`` with careful's moves.
"""

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from google.protobuf.internal import decoder, encoder

from benchmarks.strength import Choose, load
from referee.bot import Card, Kind, Objective, Turn, cards_text, suit_or_none, wire

PATH: Final = Path(__file__).with_name("golden.bin.gz")
BATCH: Final = 64


@dataclass(frozen=True, slots=True)
class Golden:
    """What the file holds. Moves stand by the id of the turn that they answer."""

    joined: wire.Joined
    turns: tuple[wire.Turn, ...]
    moves: dict[int, wire.Move]

    def read(self, turn: wire.Turn) -> Turn:
        """A turn as a Python bot gets it."""
        rules = next(rules for rules in self.joined.rule_sets if rules.rule_set_id == turn.rule_set_id)
        return Turn(turn, rules, Objective.PLACE)

    def raw(self) -> bytes:
        """The content of the file, before it is compressed."""
        frames: list[Any] = [wire.PlayResponse(joined=self.joined)]
        for start in range(0, len(self.turns), BATCH):
            batch = self.turns[start : start + BATCH]
            frames.append(wire.PlayResponse(turns=batch))
            frames.append(wire.PlayRequest(moves=[self.moves[turn.turn_id] for turn in batch]))
        return b"".join(map(_frame, frames))

    def write(self, path: Path = PATH) -> None:
        """Makes the file; the same content gives the same bytes."""
        path.write_bytes(gzip.compress(self.raw(), compresslevel=9, mtime=0))


@cache
def golden() -> Golden:
    """The turns and moves of the checked-in file."""
    first, *rest = _frames(gzip.decompress(PATH.read_bytes()))
    turns = [turn for frame in rest[::2] for turn in wire.PlayResponse.FromString(frame).turns]
    moves = [move for frame in rest[1::2] for move in wire.PlayRequest.FromString(frame).moves]
    return Golden(wire.PlayResponse.FromString(first).joined, tuple(turns), {move.turn_id: move for move in moves})


def careful_move(turn: Turn) -> wire.Move:
    """What the Python bot careful answers."""
    return move_of(turn, _careful()(turn))


@cache
def _careful() -> Choose:
    return load("careful")


def move_of(turn: Turn, choice: Any) -> wire.Move:
    """The message of a choice. Cards to keep are sorted, so that moves can be compared."""
    move: Any = wire.Move(turn_id=turn.message.turn_id)
    if turn.kind is Kind.BID:
        move.bid = choice
    elif turn.kind is Kind.PLAY:
        move.card = choice
    elif turn.kind is Kind.NAME_TRUMP:
        move.suit = choice + 1
    elif turn.kind is Kind.DISCARD:
        move.kept.extend(sorted(choice))
    else:
        move.call = choice
    return move  # type: ignore[no-any-return]


def in_order(move: wire.Move) -> wire.Move:
    """The move with its cards to keep sorted: their order means nothing."""
    kept = sorted(move.kept)
    del move.kept[:]
    move.kept.extend(kept)
    return move


def move_text(move: wire.Move | None) -> str:
    """A move as a person says it."""
    if move is None:
        return "no answer"
    said = {field.name: value for field, value in move.ListFields() if field.name != "turn_id"}
    words = {
        "bid": lambda bid: f"bid {bid}" if bid else "pass",
        "card": lambda card: f"{Card(card)}",
        "call": lambda call: wire.Call.Name(call).removeprefix("CALL_").lower(),
        "suit": lambda suit: f"{suit_or_none(suit)}",
        "kept": lambda cards: f"keep {cards_text(map(Card, cards))}",
    }
    return " and ".join(words[name](value) for name, value in said.items()) or "keep nothing"


def _frame(message: Any) -> bytes:
    data: bytes = message.SerializeToString(deterministic=True)
    return encoder._VarintBytes(len(data)) + data  # type: ignore[attr-defined,no-any-return]


def _frames(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        length, at = decoder._DecodeVarint(data, at)  # type: ignore[attr-defined]
        yield data[at : at + length]
        at += length


def tally(turns: Iterable[Turn]) -> dict[str, int]:
    """How many turns there are of each kind."""
    counted: dict[str, int] = {kind.name: 0 for kind in Kind}
    for turn in turns:
        counted[turn.kind.name] += 1
    return counted

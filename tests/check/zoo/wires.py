"""Faulty bots that speak the wire themselves, for what a library would not let them do. ``python wires.py NAME``.

Each is a client of thirty lines with one thing changed: what it joins with, how it answers a message, how it leaves.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import grpc

from referee.protocol import wire

MOVE_FIELDS = {1: "bid", 2: "call", 3: "call", 4: "suit", 5: "kept", 6: "card"}


class Client:
    """A correct client that plays the first thing that is legal. Mutants override one method."""

    def __init__(self) -> None:
        self.out: SimpleQueue[bytes | None] = SimpleQueue()
        self.messages = 0

    def join(self) -> wire.Join:
        return wire.Join(sdk="none", language="python", max_in_flight=16)

    def move(self, turn: Any) -> Any:
        options, move = turn.options, wire.Move(turn_id=turn.turn_id)
        if turn.kind == wire.TURN_KIND_BID:
            move.bid = options.bids[0]
        elif turn.kind == wire.TURN_KIND_PLAY:
            move.card = options.cards[0]
        elif turn.kind == wire.TURN_KIND_NAME_TRUMP:
            move.suit = options.suits[0]
        elif turn.kind == wire.TURN_KIND_DISCARD:
            keep = options.keep
            move.kept.extend([*keep.must_keep, *keep.may_keep][: keep.count])
        else:
            move.call = options.calls[0]
        return move

    def answer(self, response: Any) -> None:
        moves = [self.move(turn) for turn in response.turns]
        if moves:
            self.send(wire.PlayRequest(moves=moves))

    def news(self, response: Any) -> None:
        """What comes besides turns."""

    def send(self, request: Any) -> None:
        self.out.put(request.SerializeToString())

    def leave(self) -> None:
        """After Farewell."""

    def play(self) -> None:
        address = os.environ["REFEREE_ADDRESS"].removeprefix("tcp:")
        self.send(wire.PlayRequest(join=self.join()))
        with grpc.insecure_channel(address) as channel:
            call = channel.stream_stream(
                "/allfours.v1.RefereeService/Play", request_serializer=None, response_deserializer=None
            )
            token = os.environ["REFEREE_TOKEN"]
            stream = call(self._requests(), metadata=(("authorization", f"Bearer {token}"),))
            for data in stream:
                response = wire.PlayResponse.FromString(data)
                self.messages += 1
                if response.HasField("farewell"):
                    self.out.put(None)
                    continue
                self.news(response)
                self.answer(response)
        self.leave()

    def _requests(self) -> Iterator[bytes]:
        while (request := self.out.get()) is not None:
            yield request


@dataclass(frozen=True)
class WireMutant:
    """One faulty client: the rule it breaks and the game it is checked in."""

    name: str
    rule: str
    game: str
    about: str
    client: type[Client]


WIRE_MUTANTS: dict[str, WireMutant] = {}


def bad(rule: str, game: str = "auction-pitch") -> Callable[[type[Client]], type[Client]]:
    """Enters a client under its own name; its docstring says what it does."""

    def enter(client: type[Client]) -> type[Client]:
        name = "".join(f"-{sign.lower()}" if sign.isupper() else sign for sign in client.__name__).lstrip("-")
        WIRE_MUTANTS[name] = WireMutant(name, rule, game, client.__doc__ or "", client)
        return client

    return enter


@bad("AF-PROTO-001")
class AnswersInTheWrongField(Client):
    """It bids in the field for a call."""

    def move(self, turn: Any) -> Any:
        if turn.kind == wire.TURN_KIND_BID:
            return wire.Move(turn_id=turn.turn_id, call=wire.CALL_STAND)
        return super().move(turn)


@bad("AF-PROTO-001")
class LeavesThePassOut(Client):
    """It takes an empty move for a pass."""

    def move(self, turn: Any) -> Any:
        if turn.kind == wire.TURN_KIND_BID:
            return wire.Move(turn_id=turn.turn_id)
        return super().move(turn)


@bad("AF-PROTO-002")
class SetsTwoFields(Client):
    """It names a suit beside the card that it plays."""

    def move(self, turn: Any) -> Any:
        move = super().move(turn)
        if turn.kind == wire.TURN_KIND_PLAY:
            move.suit = wire.SUIT_HEARTS
        return move


@bad("AF-PROTO-003")
class PlaysNoCard(Client):
    """It plays the card with the number 0."""

    def move(self, turn: Any) -> Any:
        if turn.kind == wire.TURN_KIND_PLAY:
            return wire.Move(turn_id=turn.turn_id, card=wire.CARD_UNSPECIFIED)
        return super().move(turn)


@bad("AF-PROTO-004")
class InventsTurns(Client):
    """Now and then it answers a turn that nobody asked."""

    def answer(self, response: Any) -> None:
        moves = [self.move(turn) for turn in response.turns]
        if moves and self.messages % 5 == 0:
            moves.append(wire.Move(turn_id=12345, bid=0))
        if moves:
            self.send(wire.PlayRequest(moves=moves))


@bad("AF-PROTO-004")
class AnswersTwice(Client):
    """It answers a turn twice, to be sure."""

    def answer(self, response: Any) -> None:
        moves = [self.move(turn) for turn in response.turns]
        if moves:
            self.send(wire.PlayRequest(moves=[*moves, moves[0]]))


@bad("AF-PROTO-004")
class CutsIdsShort(Client):
    """It keeps turn ids in 32 bits, beside the right answer."""

    def answer(self, response: Any) -> None:
        super().answer(response)
        for turn in response.turns:
            self.send(wire.PlayRequest(moves=[wire.Move(turn_id=turn.turn_id & 0xFFFFFFFF, bid=0)]))


@bad("AF-PROTO-005")
class JoinsAgain(Client):
    """It joins once more in the middle of things."""

    def answer(self, response: Any) -> None:
        if self.messages == 6:
            self.send(wire.PlayRequest(join=self.join()))
        super().answer(response)


@bad("AF-PROTO-005")
class SendsJunk(Client):
    """It sends bytes that are no message."""

    def answer(self, response: Any) -> None:
        if self.messages in (4, 5, 6):
            self.out.put(b"\xff\xfe\x00junk")
        super().answer(response)


@bad("AF-PROTO-005")
class SendsEmptyMessages(Client):
    """It sends empty messages to keep the line open."""

    def answer(self, response: Any) -> None:
        super().answer(response)
        if self.messages % 7 == 0:
            self.send(wire.PlayRequest())


@bad("AF-CLOCK-001")
class ForgetsOneTurn(Client):
    """It never answers a turn about a two of trumps."""

    def answer(self, response: Any) -> None:
        moves = [self.move(turn) for turn in response.turns if not self.forgotten(turn)]
        if moves:
            self.send(wire.PlayRequest(moves=moves))

    def forgotten(self, turn: Any) -> bool:
        return turn.kind == wire.TURN_KIND_PLAY and len(turn.trick) == 2


@bad("AF-ROBUST-003")
class AnswersOnlyTheFirst(Client):
    """Of many turns at once it answers the first."""

    def answer(self, response: Any) -> None:
        if response.turns:
            self.send(wire.PlayRequest(moves=[self.move(response.turns[0])]))


@bad("AF-LIFE-002")
class HalfCloses(Client):
    """It closes its side of the stream after a while, and lives on."""

    def answer(self, response: Any) -> None:
        super().answer(response)
        if self.messages == 12:
            self.out.put(None)
            time.sleep(3600)


@bad("AF-LIFE-002")
class OpensASecondStream(Client):
    """It dials again while its line still stands."""

    def answer(self, response: Any) -> None:
        super().answer(response)
        if self.messages == 8:
            Client().play()
            os._exit(0)


@bad("AF-LIFE-002")
class SendsTooMuch(Client):
    """It sends a message of a megabyte, which ends its stream."""

    def answer(self, response: Any) -> None:
        super().answer(response)
        if self.messages == 12:
            self.out.put(b"\x0a\x80\x80\x40" + bytes(1 << 20))


@bad("AF-LIFE-003")
class LingersAfterFarewell(Client):
    """It does not go home."""

    def leave(self) -> None:
        time.sleep(3600)


@bad("AF-LIFE-003")
class LeavesWithAnError(Client):
    """It says after Farewell that something went wrong."""

    def leave(self) -> None:
        os._exit(3)


@bad("AF-LIFE-004")
class BreedsProcesses(Client):
    """It starts a process for every message and ends none."""

    def answer(self, response: Any) -> None:
        super().answer(response)
        if self.messages == 3:
            for _ in range(90):
                subprocess.Popen(["/bin/sleep", "600"])
            time.sleep(2)


@bad("AF-LIFE-001")
class JoinsOnlyOnce(Client):
    """Its second start fails, for the first has left something behind."""

    def join(self) -> wire.Join:
        lock = Path(os.environ["ZOO_FOLDER"]) / "joins-only-once.lock"
        if lock.exists():
            sys.exit("another instance is running")
        lock.touch()
        return super().join()


@bad("AF-ROBUST-001")
class RefusesNewObjectives(Client):
    """It knows all objectives there will ever be."""

    def news(self, response: Any) -> None:
        if response.HasField("joined"):
            wire.Objective.Name(response.joined.objective)


@bad("AF-ROBUST-001")
class TakesUnknownFieldsForGarbage(Client):
    """It has a decoder that wants to know every byte."""

    def answer(self, response: Any) -> None:
        for turn in response.turns:
            again = wire.Turn()
            again.CopyFrom(turn)
            again.DiscardUnknownFields()
            if again.ByteSize() != turn.ByteSize():
                raise ValueError("garbage in a turn")
        super().answer(response)


@bad("AF-ROBUST-004")
class DiesOfRulings(Client):
    """It never breaks a rule, so it cannot imagine a ruling."""

    def news(self, response: Any) -> None:
        if response.rulings:
            raise AssertionError("a ruling on me?")


@bad("AF-ROBUST-004")
class DiesOfDoubledNotices(Client):
    """It ends a game once, and once only."""

    def join(self) -> wire.Join:
        join = super().join()
        join.wants_notices = True
        return join

    def news(self, response: Any) -> None:
        seen = [notice.SerializeToString() for notice in response.notices]
        if len(set(seen)) != len(seen):
            raise AssertionError("twice the same news")


@bad("AF-ROBUST-005")
class NeedsItsFirstTurn(Client):
    """The first turn that it sees has to be the first of a game."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = False

    def answer(self, response: Any) -> None:
        for turn in response.turns:
            if not self.begun and turn.decision:
                raise LookupError("no game has begun")
            self.begun = True
        super().answer(response)


if __name__ == "__main__":
    WIRE_MUTANTS[sys.argv[1]].client().play()

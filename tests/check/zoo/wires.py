"""Bots that speak the wire themselves, for what a library would not let them do: faulty ones, and at the end correct but
odd ones. ``python wires.py NAME``.

Each is a client of thirty lines with one thing changed: what it joins with, how it answers a message, how it leaves.
"""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
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
        self.compression: Any = None

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
            shown = (("authorization", f"Bearer {token}"),)
            stream = call(self._requests(), metadata=shown, compression=self.compression)
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


def _name_of(client: type[Client]) -> str:
    return "".join(f"-{sign.lower()}" if sign.isupper() else sign for sign in client.__name__).lstrip("-")


def bad(rule: str, game: str = "auction-pitch") -> Callable[[type[Client]], type[Client]]:
    """Enters a client under its own name; its docstring says what it does."""

    def enter(client: type[Client]) -> type[Client]:
        name = _name_of(client)
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


class Talker(Client):
    """A correct client that wants to hear how deals and games end."""

    def join(self) -> wire.Join:
        join = super().join()
        join.wants_notices = True
        return join


@bad("AF-LIFE-002")
class DiesOfASetBack(Talker):
    """It takes the logarithm of what a deal brought it."""

    def news(self, response: Any) -> None:
        for notice in response.notices:
            if notice.HasField("deal_over") and min(notice.deal_over.deltas, default=0) <= -4:
                raise ValueError("math domain error")


@bad("AF-LIFE-002", "smudge")
class DiesWhenAGameIsOver(Talker):
    """It looks a finished game up that it has forgotten already."""

    def news(self, response: Any) -> None:
        if any(notice.HasField("game_over") for notice in response.notices):
            raise KeyError("no such game")


@bad("AF-LIFE-002")
class DiesOfItsWelcome(Client):
    """It cannot read the answer to its Join."""

    def news(self, response: Any) -> None:
        if response.HasField("joined"):
            raise ValueError("what rule set is that?")


@bad("AF-LIFE-002", "cinch")
class DiesNamingTrump(Client):
    """It has no code for naming trump, and never bids, so that it is seldom asked."""

    def move(self, turn: Any) -> Any:
        if turn.kind == wire.TURN_KIND_NAME_TRUMP:
            raise NotImplementedError
        return super().move(turn)


@bad("AF-CLOCK-001", "cinch")
class NeverNamesTrump(Client):
    """It leaves that turn out, and never bids, so that it is seldom asked."""

    def answer(self, response: Any) -> None:
        moves = [self.move(turn) for turn in response.turns if turn.kind != wire.TURN_KIND_NAME_TRUMP]
        if moves:
            self.send(wire.PlayRequest(moves=moves))


@bad("AF-PROTO-003", "cinch")
class CountsSuitsFromZero(Client):
    """It names trump by a number that is one too low, and never bids, so that it is seldom asked."""

    def move(self, turn: Any) -> Any:
        move = super().move(turn)
        if turn.kind == wire.TURN_KIND_NAME_TRUMP:
            move.suit = turn.options.suits[0] - 1
        return move


@bad("AF-PROTO-001", "all-fours")
class AnswersABegWithABid(Client):
    """It says give or run in the field for bids."""

    def move(self, turn: Any) -> Any:
        if turn.kind == wire.TURN_KIND_ANSWER_BEG:
            return wire.Move(turn_id=turn.turn_id, bid=turn.options.calls[0])
        return super().move(turn)


@bad("AF-PROTO-001", "pidro")
class ForgetsItsHand(Client):
    """It sends an empty move where it would play the last trump of its hand."""

    def move(self, turn: Any) -> Any:
        if turn.kind == wire.TURN_KIND_PLAY and len(turn.options.cards) == 1:
            return wire.Move(turn_id=turn.turn_id)
        return super().move(turn)


@bad("AF-ROBUST-002")
class AnswersOnlyWhatItBegan(Client):
    """It sends an empty move in a game of which it has not seen the first turn."""

    def __init__(self) -> None:
        super().__init__()
        self.games: set[int] = set()

    def move(self, turn: Any) -> Any:
        if not turn.decision:
            self.games.add(turn.game_id)
        return super().move(turn) if turn.game_id in self.games else wire.Move(turn_id=turn.turn_id)


@bad("AF-ROBUST-003")
class MixesIdsUp(Client):
    """Of several turns at once it answers each with the move for the next."""

    def answer(self, response: Any) -> None:
        moves = [self.move(turn) for turn in response.turns]
        if len(moves) > 2:
            ids = [move.turn_id for move in moves]
            for move, turn_id in zip(moves, [*ids[1:], ids[0]], strict=True):
                move.turn_id = turn_id
        if moves:
            self.send(wire.PlayRequest(moves=moves))


@bad("AF-ROBUST-003")
class CutsBatches(Client):
    """It answers the first eight turns of a message."""

    def answer(self, response: Any) -> None:
        moves = [self.move(turn) for turn in response.turns[:8]]
        if moves:
            self.send(wire.PlayRequest(moves=moves))


@bad("AF-ROBUST-003")
class LosesTheLastOfAMixture(Client):
    """It answers many turns kind by kind, and where there are several kinds the last one is lost."""

    def answer(self, response: Any) -> None:
        moves = [self.move(turn) for turn in response.turns]
        if len(moves) > 5 and len({turn.kind for turn in response.turns}) > 1:
            moves.pop()
        if moves:
            self.send(wire.PlayRequest(moves=moves))


@bad("AF-PLAY-001")
class RankOffByOne(Client):
    """It counts ranks from one: its two is the ace."""

    def move(self, turn: Any) -> Any:
        move = super().move(turn)
        if turn.kind == wire.TURN_KIND_PLAY:
            move.card = turn.options.cards[0] - 1
        return move


@bad("AF-PROTO-003")
class PlaysByPlace(Client):
    """It sends the place of the card in its hand."""

    def move(self, turn: Any) -> Any:
        move = super().move(turn)
        if turn.kind == wire.TURN_KIND_PLAY:
            move.card = list(turn.hand).index(turn.options.cards[0])
        return move


@bad("AF-PROTO-004")
class AnswersAgainLater(Client):
    """It sends the answers of the last message along with the next ones."""

    def __init__(self) -> None:
        super().__init__()
        self.last: Any = None

    def answer(self, response: Any) -> None:
        moves = [self.move(turn) for turn in response.turns]
        if moves:
            again = [self.last] if self.last is not None and self.messages % 6 == 0 else []
            self.send(wire.PlayRequest(moves=[*moves, *again]))
            self.last = moves[0]


@bad("AF-PROTO-005")
class SpeaksJson(Client):
    """It tells how it is doing in JSON."""

    def answer(self, response: Any) -> None:
        super().answer(response)
        if self.messages % 9 == 0:
            self.out.put(b'{"status": "thinking"}')


# Odd clients that break no rule.

ODD: dict[str, type[Client]] = {}


def odd(client: type[Client]) -> type[Client]:
    """Enters a correct client under its own name; its docstring says what is odd about it."""
    ODD[_name_of(client)] = client
    return client


@odd
class AnswersBackwards(Client):
    """Of each message it answers the last turn first."""

    def answer(self, response: Any) -> None:
        moves = [self.move(turn) for turn in reversed(response.turns)]
        if moves:
            self.send(wire.PlayRequest(moves=moves))


@odd
class OneMoveAMessage(Client):
    """It sends each move in a message of its own, the middle ones first."""

    def answer(self, response: Any) -> None:
        turns = list(response.turns)
        for turn in sorted(turns, key=lambda one: abs(turns.index(one) - len(turns) // 2)):
            self.send(wire.PlayRequest(moves=[self.move(turn)]))


@odd
class ThinksInThreads(Client):
    """Eight threads answer, each as soon as it is done."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = ThreadPoolExecutor(8)

    def answer(self, response: Any) -> None:
        for turn in response.turns:
            self.pool.submit(lambda turn=turn: self.send(wire.PlayRequest(moves=[self.move(turn)])))


@odd
class AnswersInHalves(Client):
    """It answers half of a message at once, and the other half a moment later from a timer."""

    def answer(self, response: Any) -> None:
        moves = [self.move(turn) for turn in response.turns]
        for half in (moves[::2], moves[1::2]):
            if half:
                threading.Timer(0.002, self.send, [wire.PlayRequest(moves=half)]).start()


@odd
class Compresses(Client):
    """It has the gRPC library compress what it sends."""

    def play(self) -> None:
        self.compression = grpc.Compression.Gzip
        super().play()


@odd
class AsksForMuch(Client):
    """It wants a million turns at once, all notices, and says a lot about itself."""

    def join(self) -> wire.Join:
        more = {"max_in_flight": 1_000_000, "wants_notices": True}
        return wire.Join(name="\u2660" * 200, version="0", language="\x07", sdk="x" * 900, **more)


@odd
class SaysTheLeast(Client):
    """Its Join is empty."""

    def join(self) -> wire.Join:
        return wire.Join()


@odd
class SpeaksOfTheFuture(Client):
    """Its messages hold fields that no version knows."""

    def send(self, request: Any) -> None:
        self.out.put(request.SerializeToString() + bytes.fromhex("c03e2a"))


@odd
class Asynchronous(Client):
    """It uses the asynchronous client of gRPC."""

    def play(self) -> None:
        asyncio.run(self.play_on())

    async def play_on(self) -> None:
        metadata = (("authorization", f"Bearer {os.environ['REFEREE_TOKEN']}"),)
        async with grpc.aio.insecure_channel(os.environ["REFEREE_ADDRESS"].removeprefix("tcp:")) as channel:
            play = channel.stream_stream("/allfours.v1.RefereeService/Play")
            stream = play(metadata=metadata)
            await stream.write(wire.PlayRequest(join=self.join()).SerializeToString())
            while (data := await stream.read()) is not grpc.aio.EOF:
                response = wire.PlayResponse.FromString(data)
                if response.HasField("farewell"):
                    await stream.done_writing()
                elif response.turns:
                    await asyncio.sleep(0.001)
                    moves = [self.move(turn) for turn in response.turns]
                    await stream.write(wire.PlayRequest(moves=moves).SerializeToString())


if __name__ == "__main__":
    found = ODD.get(sys.argv[1]) or WIRE_MUTANTS[sys.argv[1]].client
    found().play()

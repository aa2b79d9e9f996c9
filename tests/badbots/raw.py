"""What the bad bots share that speak to the referee without the SDK. It is no bot."""

import contextlib
import os
import queue
import time

import grpc

from referee.protocol import wire

JOIN = wire.Join(name="raw", max_in_flight=64)


def sleep():
    time.sleep(3600)


def channel():
    target = os.environ["REFEREE_ADDRESS"].removeprefix("tcp:")
    return grpc.insecure_channel(target, [("grpc.use_local_subchannel_pool", 1)])


def _bytes(request):
    return request if isinstance(request, bytes) else request.SerializeToString()


@contextlib.contextmanager
def dial(first=None, *, token=None, compressed=False):
    """A stream and the queue of what is to be sent on it: requests or bytes; None half-closes."""
    out = queue.SimpleQueue()
    out.put(first or wire.PlayRequest(join=JOIN))
    metadata = (("authorization", f"Bearer {token or os.environ['REFEREE_TOKEN']}"),)
    compression = grpc.Compression.Gzip if compressed else None
    with channel() as line:
        method = line.stream_stream("/allfours.v1.RefereeService/Play", _bytes, wire.PlayResponse.FromString)
        stream = method(iter(out.get, None), metadata=metadata, compression=compression)
        try:
            yield stream, out
        except grpc.RpcError as error:
            print(error.code(), error.details(), flush=True)
        finally:
            out.put(None)
            stream.cancel()


def first_choice(turn):
    """A legal answer to a turn."""
    move, options = wire.Move(turn_id=turn.turn_id), turn.options
    if options.cards:
        move.card = options.cards[0]
    elif options.bids:
        move.bid = options.bids[-1]
    elif options.suits:
        move.suit = options.suits[0]
    elif options.calls:
        move.call = options.calls[0]
    else:
        move.kept.extend([*options.keep.must_keep, *options.keep.may_keep][: options.keep.count])
    return move


def answer_all(stream, out, answer=first_choice, until=lambda: False):
    """Answers every turn until farewell; True if there was one."""
    for response in stream:
        for turn in response.turns:
            move = answer(turn)
            if move is not None:
                out.put(wire.PlayRequest(moves=[move]))
        if response.HasField("farewell"):
            out.put(None)
            return True
        if until():
            return False
    return False


def play(answer=first_choice, join=JOIN):
    """A whole bot."""
    with dial(wire.PlayRequest(join=join)) as (stream, out):
        answer_all(stream, out, answer)

"""A referee that says what a test scripts, and bots to talk to it: what the tests of the SDK share."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event as Flag
from typing import Any, Final

import grpc

from referee.bot import Bot, Turn, parse_cards, wire
from referee.bot._dial import Patience, serve
from referee.protocol.allfours.v1 import service_pb2_grpc
from tests.tls import CERTIFICATE, KEY

ROOT: Final = Path(__file__).resolve().parents[1]
SHORT: Final = Patience(grace_s=5, first_s=0.01, most_s=0.05)
FAREWELL: Final = wire.PlayResponse(farewell=wire.Farewell(reason=wire.FAREWELL_REASON_FINISHED))

Script = Callable[["Scripted"], Iterator[wire.PlayResponse]]


class Scripted(service_pb2_grpc.RefereeServiceServicer):
    """A referee that follows a script: one generator a connection, which asks with ``yield`` and reads with ``moves``."""

    def __init__(self, *scripts: Script) -> None:
        self._scripts = iter(scripts)
        self.joins: list[wire.Join] = []
        self.tokens: list[str] = []
        self.messages: list[wire.PlayRequest] = []
        self.half_closed = False
        self.gone = Flag()

    def Play(self, request_iterator: Any, context: Any) -> Iterator[wire.PlayResponse]:  # noqa: N802
        context.add_callback(self.gone.set)
        self.context, self._requests = context, request_iterator
        self.tokens += [value for key, value in context.invocation_metadata() if key == "authorization"]
        self.joins.append(next(request_iterator).join)
        yield from next(self._scripts)(self)

    def moves(self, count: int) -> list[wire.Move]:
        """Reads messages until they hold this many moves, or the bot has closed its side."""
        found: list[wire.Move] = []
        while len(found) < count:
            request = next(self._requests, None)
            if request is None:
                self.half_closed = True
                break
            self.messages.append(request)
            found += request.moves
        return found


@contextmanager
def referee(
    *scripts: Script, scheme: str = "unix", options: Sequence[tuple[str, int]] = ()
) -> Iterator[tuple[Scripted, dict[str, str]]]:
    """A scripted referee and the environment in which a bot finds it."""
    server = grpc.server(ThreadPoolExecutor(4), options=[("grpc.so_reuseport", 0), *options])
    servicer = Scripted(*scripts)
    service_pb2_grpc.add_RefereeServiceServicer_to_server(servicer, server)
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are too deep for the name of a socket
        if scheme == "unix":
            address = f"unix:{folder}/socket"
            server.add_insecure_port(address)
        elif scheme == "tcp":
            address = f"tcp:127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        else:
            credentials = grpc.ssl_server_credentials([(KEY.encode(), CERTIFICATE.encode())])
            address = f"tls:localhost:{server.add_secure_port('127.0.0.1:0', credentials)}"
        server.start()
        try:
            yield servicer, {"REFEREE_ADDRESS": address, "REFEREE_TOKEN": "a-token"}
        finally:
            server.stop(None).wait()


def play_turn(turn_id: int = 1, **fields: Any) -> wire.Turn:
    """A turn to play a card, of three that are legal."""
    options = wire.Options(cards=parse_cards("2C QH AS"))
    return wire.Turn(**{"turn_id": turn_id, "kind": wire.TURN_KIND_PLAY, "seats": 4, "options": options, **fields})


def one_batch(*turns: wire.Turn, answers: int | None = None) -> Script:
    """Asks these turns at once, reads the answers, says farewell."""

    def script(referee: Scripted) -> Iterator[wire.PlayResponse]:
        yield wire.PlayResponse(turns=turns)
        referee.answers = referee.moves(len(turns) if answers is None else answers)  # type: ignore[attr-defined]
        yield FAREWELL

    return script


def lowest(turn: Turn) -> Any:
    return turn.legal[0]


def play(script: Script, bot: Bot | None = None, choose: Any = lowest) -> tuple[int, Scripted]:
    """Runs a bot against a scripted referee on a unix socket; the exit code, and the referee."""
    with referee(script) as (scripted, environ):
        code = serve(bot or Bot(), bot.choose if bot else choose, environ, SHORT)
    return code, scripted

"""The SDK's stream over a network, by grpcio."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor

from referee.bot._grpc_stream import open_grpc_stream
from tests.bot.test_unix_stream import METADATA, TURNS, Peer
from tests.program import PATIENCE


def test_pings_are_answered_while_choose_thinks() -> None:
    """The referee asks whether the bot is still there, and hears it, though nobody reads: the bot thinks until then."""
    heard, over = threading.Event(), threading.Event()

    def serve() -> None:
        line, _ = listening.accept()
        with line:
            peer = Peer(line)
            peer.read(lambda: bool(peer.headers))
            peer.answer(TURNS)
            peer.http.ping(b"12345678")
            peer.flush()
            peer.read(lambda: peer.pings == 1)
            heard.set()
            peer.end(("grpc-status", "0"))
            assert over.wait(PATIENCE)

    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as pool:
        served = pool.submit(serve)
        target = f"127.0.0.1:{listening.getsockname()[1]}"
        with open_grpc_stream(target, METADATA, remote=True, proxy=False, tls=False, authority=None) as stream:
            messages = iter(stream)
            assert next(messages) == TURNS
            assert heard.wait(PATIENCE)
            assert list(messages) == []
            over.set()
        served.result(PATIENCE)

"""uvicorn as we run it: one process with the plain event loop, connections that wait for nothing are closed, signals are left alone."""

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

_HEADERS_S: Final = 15.0
"""How long the head of a request may take to come, to twice this."""


class PatientProtocol(H11Protocol):
    """HTTP as uvicorn speaks it; a connection on which no request comes is closed."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected."""
        super().connection_made(transport)
        self._idle_at_last_look: object = None
        self._look_s = self.loop.call_later(_HEADERS_S, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._look_s.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        cycle: RequestResponseCycle | None = self.cycle
        idle = cycle is None or cycle.response_complete
        seen = (cycle,) if idle else None
        if idle and seen == self._idle_at_last_look:
            self.transport.close()
            return
        self._idle_at_last_look = seen
        self._look_s = self.loop.call_later(_HEADERS_S, self._look)


class QuietServer(uvicorn.Server):
    """uvicorn without its hands on signals: whoever runs us takes care of them."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """None."""
        yield


class _Config(uvicorn.Config):
    """uvicorn's, with the TLS that we have made ourselves."""

    def __init__(self, made: Any, tls: ssl.SSLContext | None, **more: Any) -> None:
        super().__init__(made, **more)
        self._tls = tls

    def load(self) -> None:
        """Called before the server listens."""
        super().load()
        self.ssl = self._tls


def server_of(
    made: Any, drain_s: int, tls: ssl.SSLContext | None = None, protocol: type[PatientProtocol] = PatientProtocol
) -> QuietServer:
    """The server of an ASGI application, over TLS if there is a context for it.

    When it stops, requests may go on for ``drain_s`` seconds.
    """
    return QuietServer(
        _Config(
            made,
            tls,
            loop="asyncio",
            http=protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",  # else whoever sends what is no request writes a warning on the organiser's screen each time
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=10,
            timeout_graceful_shutdown=drain_s,
            h11_max_incomplete_event_size=32 * 1024,
            backlog=1024,
        )
    )


def listening_at(host: str, port: int) -> socket.socket:
    """A socket bound to an address; port 0 is any that is free. Raises ``OSError``."""
    family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(where)
    except OSError:
        made.close()
        raise
    return made


def where_it_listens(listening: socket.socket) -> str:
    """The address of a socket: ``127.0.0.1:8400``, ``[::1]:8400``."""
    name = listening.getsockname()
    return f"[{name[0]}]:{name[1]}" if ":" in name[0] else f"{name[0]}:{name[1]}"

"""Runs a site: uvicorn with the plain event loop, one process, until it is told to stop."""

import asyncio
import logging
import resource
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from referee.host.certificate import LOOK_S, CertificateWatch, certificate_of
from referee.host.home import HostHome
from referee.host.web.guard import address_of, is_of_a_proxy
from referee.host.web.routes import app
from referee.host.web.site import Site
from referee.league.definition.definition import load_definition
from referee.net.server_certificate import ServerCertificate

_LOG: Final = logging.getLogger("referee.host.web")
_HEADERS_S: Final = 15.0
"""How long the head of a request may take to come, to twice this."""
_DRAIN_S: Final = 10
"""How long requests may go on when the site stops."""
_LOOK_S: Final = 0.2
_FILES: Final = 8192
_MOST_CONNECTIONS: Final = 512
"""Connections of one address at once, far fewer than there are files: a class sits behind one address, a flood should not fill them.
Proxies have as many as they like."""


class PatientProtocol(H11Protocol):
    """HTTP as uvicorn speaks it; a connection on which no request comes is closed."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected."""
        super().connection_made(transport)
        self._idle_at_last_look: object = None
        self._look_s = self.loop.call_later(_HEADERS_S, self._look)
        self.address = address_of({"client": self.client, "headers": ()})
        if not self._is_of_a_proxy() and self._of_its_address() > _MOST_CONNECTIONS:
            transport.abort()

    def _is_of_a_proxy(self) -> bool:
        site: Site = self.config.app.state.site  # type: ignore[union-attr]  # ours
        return is_of_a_proxy(self.client[0] if self.client else "", site.host.proxy_networks)

    def _of_its_address(self) -> int:
        return sum(getattr(one, "address", "") == self.address for one in self.connections)

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


def serve(home: HostHome, stop: threading.Event, told: Callable[[str], None] = lambda _: None) -> None:
    """Runs the site of a host until ``stop`` is set. ``told``: is given the address when it listens, such as 127.0.0.1:8400.

    Raises ``DefinitionError``, ``HostStoreError``, ``ListenError`` of a certificate, ``OSError`` where the address cannot be listened at.
    """
    _have_files()
    definition = load_definition(home.definition)
    certificate = certificate_of(definition, ["http/1.1"])
    made = app(home, definition, aside=True)
    site: Site = made.state.site
    try:
        with _listening(site.host.address) as listening:
            asyncio.run(_serve(made, site, listening, certificate, stop, told))
    finally:
        site.close()


def _listening(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, protocol)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(where)
        except OSError:
            made.close()
            raise
    except (OSError, OverflowError) as error:
        raise OSError(f"the site cannot listen at {address}: {error}; give another address in [host]") from None
    return made


def _have_files() -> None:
    """Lets this process open as many files as the system allows: each watcher is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def _serve(
    made: Starlette,
    site: Site,
    listening: socket.socket,
    certificate: ServerCertificate | None,
    stop: threading.Event,
    told: Callable[[str], None],
) -> None:
    """Serves until ``stop`` is set, over TLS if there is a certificate."""
    config = _Config(
        made,
        certificate.context if certificate else None,
        loop="asyncio",
        http=PatientProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",  # else whoever sends what is no request writes a warning on the organiser's screen each time
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=_DRAIN_S,
        h11_max_incomplete_event_size=32 * 1024,
        backlog=1024,
    )
    server = _Server(config)
    running = asyncio.create_task(server.serve([listening]))
    looking = asyncio.create_task(_look_after(certificate, site)) if certificate else None
    is_told = False
    while not running.done():
        if server.started and not is_told:
            is_told = True
            name = listening.getsockname()
            where = f"[{name[0]}]:{name[1]}" if ":" in name[0] else f"{name[0]}:{name[1]}"
            _LOG.info("the site listens at %s", where)
            told(where)
        if stop.is_set():
            site.stopping.set()
            server.should_exit = True
        await asyncio.wait([running], timeout=_LOOK_S)
    if looking is not None:
        looking.cancel()
    await running


async def _look_after(certificate: ServerCertificate, site: Site) -> None:
    """Takes up a renewed certificate, until it is cancelled."""
    watch = CertificateWatch(certificate)
    while True:
        await asyncio.to_thread(watch.look, site.clock())
        await asyncio.sleep(LOOK_S)


class _Config(uvicorn.Config):
    """uvicorn's, with the TLS that we have made ourselves."""

    def __init__(self, made: Starlette, tls: ssl.SSLContext | None, **more: Any) -> None:
        super().__init__(made, **more)
        self._tls = tls

    def load(self) -> None:
        """Called before the server listens."""
        super().load()
        self.ssl = self._tls


class _Server(uvicorn.Server):
    """uvicorn without its hands on signals: whoever runs us takes care of them."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """None."""
        yield

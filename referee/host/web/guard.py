"""What stands around every request: its id, the log, limits of time and size, the headers of each answer, and our faults in our words."""

import asyncio
import ipaddress
import logging
import re
import secrets
import time
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from referee.host.web.answers import refusal
from referee.host.web.limits import TooOftenError
from referee.host.web.site import Site
from referee.web.headers import HEADERS

ACCESS: Final = logging.getLogger("referee.host.access")
_LOG: Final = logging.getLogger("referee.host.web")

_PATIENCE_S: Final = 30.0
"""How long a client may send or take nothing while we wait for it."""

_LINGER_S: Final = 10.0
_LINGER_BYTES: Final = 80 << 20
"""So long, and for so much, we go on reading what is sent to us after its answer. Whoever is cut off while it sends may never
read the answer: a proxy tells people of a bad gateway then."""

_SECRET: Final = re.compile(r"(/+join/+).*", re.IGNORECASE | re.DOTALL)
"""What comes behind is a secret, and stands in no log, wherever a proxy or somebody's hand has put it."""


class SlowClientError(Exception):
    """A client that sent, or took, nothing for too long."""


class Guard:
    """The outermost part of a site."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self._app, self._site = app, site
        self._proxies = site.host.proxy_networks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._without_root(scope)
        state: MutableMapping[str, Any] = scope.setdefault("state", {})
        state["request_id"] = secrets.token_hex(8)
        state["address"] = address_of(scope, self._proxies)
        exchange = _Exchange(self._site, scope, receive, send)
        begun = time.monotonic()
        try:
            self._site.limits.requests.take(state["address"])
            await self._app(scope, exchange.receive, exchange.send)
        except TooOftenError as error:
            await exchange.answer(429, str(error), {"Retry-After": str(error.wait_s)})
        except SlowClientError:
            exchange.body_is_over = True
            told = "Nothing came for too long, and we did not wait any longer; try again."
            await exchange.answer(408, told, {"Connection": "close"})
        except ClientDisconnect:
            exchange.status = exchange.status or 499
        except Exception:  # noqa: BLE001  # whatever it is, the log has it, and the client a sentence
            _LOG.exception("request %s failed", state["request_id"])
            told = f"That is our fault, not yours. If it stays so, tell the organiser the number {state['request_id']}."
            await exchange.answer(500, told)
        finally:
            self._note(scope, exchange.status, time.monotonic() - begun)

    def _without_root(self, scope: Scope) -> None:
        """A proxy may leave the path of the site's URL before ours, or take it away."""
        root = self._site.root
        if root and (scope["path"] == root or scope["path"].startswith(f"{root}/")):
            scope["path"] = scope["path"][len(root) :] or "/"

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._site.metrics.requests.labels(route, method, str(status)).inc()
        self._site.metrics.seconds.labels(route).observe(seconds)
        ACCESS.info(
            '%s %s "%s %s" %d %.0f ms',
            scope["state"]["request_id"],
            scope["state"]["address"],
            method,
            loggable(scope["path"]),
            status,
            seconds * 1000,
        )


_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class _Exchange:
    """A request and its answer as they come in and go out. ``status``: that of the answer, 0 before there is one;
    ``body_is_over``: nothing more is awaited from the client.
    """

    def __init__(self, site: Site, scope: Scope, receive: Receive, send: Send) -> None:
        self._site, self._scope, self._receive, self._send = site, scope, receive, send
        names = dict(scope["headers"])
        self.body_is_over = names.get(b"content-length", b"0") == b"0" and b"transfer-encoding" not in names
        self._waits_for_us = b"expect" in names
        self.status = 0

    async def receive(self) -> Message:
        """The next part of the body; raises ``SlowClientError``."""
        if self.body_is_over:  # only the client's end is awaited
            return await self._receive()
        try:
            async with asyncio.timeout(_PATIENCE_S):
                message = await self._receive()
        except TimeoutError:
            raise SlowClientError from None
        self._waits_for_us = False
        self.body_is_over = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """Sends a part of the answer, with the headers that each answer has; raises ``SlowClientError``."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = {name.lower() for name, _ in message["headers"]}
            more = {**HEADERS, "x-request-id": self._scope["state"]["request_id"]}
            if self._site.is_https:
                more["strict-transport-security"] = "max-age=15552000"
            added = [(name.encode(), value.encode()) for name, value in more.items() if name.encode() not in given]
            message = {**message, "headers": [*message["headers"], *added]}
        is_last = message["type"] == "http.response.body" and not message.get("more_body", False)
        if is_last and not self.body_is_over and not self._waits_for_us:
            await self._send_now({**message, "more_body": True})
            await self._linger()
            message = {"type": "http.response.body"}
        await self._send_now(message)

    async def _send_now(self, message: Message) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await self._send(message)
        except TimeoutError:
            raise SlowClientError from None

    async def _linger(self) -> None:
        """Takes what still comes of the body of a request that has its answer."""
        left = _LINGER_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_S):
                while left > 0 and not self.body_is_over:
                    message = await self._receive()
                    left -= len(message.get("body", b""))
                    self.body_is_over = not message.get("more_body", False)

    async def answer(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        """Answers with an error, if no answer has begun."""
        if self.status:
            return
        try:
            response = await run_in_threadpool(refusal, Request(self._scope), status, sentence, headers)
        except Exception:  # noqa: BLE001  # such as a store that cannot be read
            _LOG.exception("request %s: nor can we say so on a page", self._scope["state"]["request_id"])
            response = PlainTextResponse(sentence, status)
        try:
            await response(self._scope, self.receive, self.send)
        except (SlowClientError, OSError):
            return


def address_of(scope: Scope, proxies: Sequence[ipaddress.IPv4Network | ipaddress.IPv6Network] = ()) -> str:
    """Whence a request comes: from behind a proxy on this machine or in ``proxies``, what that proxy says; else what the connection says.

    Of IPv6 the network (/64), which one customer has all addresses of.
    """
    client = scope.get("client")
    here = _address(str(client[0])) if client else None
    if here is None:
        return str(client[0]) if client else "unknown"
    believed = is_of_a_proxy(str(client[0]), proxies) if client else False
    told = [value for name, value in scope["headers"] if name == b"x-forwarded-for"] if believed else []
    there = _address(told[-1].decode("latin-1").rpartition(",")[2].strip()) if told else None
    found = there or here
    if found.version == 4 or found.is_loopback:
        return str(found)
    return str(ipaddress.ip_network((found, 64), strict=False).network_address)


def is_of_a_proxy(address: str, proxies: Sequence[ipaddress.IPv4Network | ipaddress.IPv6Network] = ()) -> bool:
    """Whether a connection is one of a proxy: on this machine, or in ``proxies``."""
    found = _address(address)
    return found is not None and (found.is_loopback or any(found in network for network in proxies))


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An address; one of IPv4 that is written as one of IPv6 is the former."""
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def loggable(path: str) -> str:
    """A path as it may stand in a log: no secret, no control characters, not endless."""
    kept = _SECRET.sub(r"\1...", path)
    return "".join(sign if " " < sign <= "~" else "?" for sign in kept[:200])

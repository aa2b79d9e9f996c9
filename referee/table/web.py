"""The person's table as a page on this machine: nobody else gets in, and nothing else of this machine is served.

It listens at 127.0.0.1. The link that the terminal shows has a secret, which becomes a cookie with the first request. The ``Host``
header is compared, so a name that is made to lead here (DNS rebinding) is of no use; what changes anything needs the token of the
page too, and comes from its own origin.
"""

import asyncio
import gzip
import hashlib
import hmac
import json
import secrets
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import referee
from referee.league.store import StoreError
from referee.report.card_faces import card_symbols
from referee.report.html_report import replay_page
from referee.rules.rulebook import Level, clause_text, clauses_of
from referee.table.game import TableGame
from referee.table.hints import NoHintError
from referee.table.state import TableState
from referee.table.table import IllegalMoveError, RefusedError, UnreadableMoveError
from referee.web.headers import HEADERS, SHUT_IN
from referee.web.serving import listening_at, server_of, where_it_listens

HOST: Final = "127.0.0.1"
ALIVE_S: Final = 15.0
"""After so long without an event a comment is sent, so that nobody takes the stream for dead."""

TOKEN_HEADER: Final = "x-referee-table"
_PAGE: Final = Path(__file__).parent / "page"
_TYPES: Final = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
_BODY_BYTES: Final = 8 * 1024
_MOST_WATCHERS: Final = 16
_MOST_QUEUED: Final = 500
_LOOK_S: Final = 0.2
_DRAIN_S: Final = 2


class TableSite:
    """What the requests of one table share: its secrets, its files, who watches."""

    def __init__(self, game: TableGame) -> None:
        self.game, self.table = game, game.table
        self.secret, self.form_token = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self.authority = ""
        self.stop = threading.Event()
        self._streams: set[asyncio.Queue[TableState | None]] = set()

    # Who may.

    @property
    def cookie(self) -> str:
        """The cookie of this table: cookies do not know ports, and two tables may be open."""
        return f"referee_table_{self.authority.rpartition(':')[2]}"

    @property
    def link(self) -> str:
        """What the person opens."""
        return f"http://{self.authority}/?seat={self.secret}"

    def is_ours(self, host: str) -> bool:
        """Whether a ``Host`` header names this site."""
        port = self.authority.rpartition(":")[2]
        return host.lower() in {self.authority, f"localhost:{port}", f"127.0.0.1:{port}"}

    def has_seat(self, request: Request) -> bool:
        """Whether it is the person's browser."""
        return hmac.compare_digest(request.cookies.get(self.cookie, "").encode(), self.secret.encode())

    # What is served.

    @cached_property
    def files(self) -> Mapping[str, bytes]:
        """The scripts and styles of the page, by name: these and nothing else."""
        return {path.name: path.read_bytes() for path in sorted(_PAGE.iterdir()) if path.suffix in _TYPES}

    @cached_property
    def templates(self) -> Environment:
        """The templates of the page."""
        return Environment(
            loader=FileSystemLoader(_PAGE),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    @cached_property
    def digest(self) -> str:
        """One digest of all files: a new version is not taken from a browser's memory."""
        return hashlib.sha256(b"".join(self.files.values())).hexdigest()[:16]

    # Who watches.

    async def events(self) -> AsyncIterator[bytes]:
        """The State now, and whenever it changes."""
        queue: asyncio.Queue[TableState | None] = asyncio.Queue(_MOST_QUEUED)
        loop = asyncio.get_running_loop()

        def put(state: TableState | None) -> None:
            if queue.full():  # nobody reads: the newest is all that is of use
                while not queue.empty():
                    queue.get_nowait()
            queue.put_nowait(state)

        self._streams.add(queue)
        try:
            with self.table.listening(lambda state: _ignore(loop.call_soon_threadsafe(put, state))):
                put(self.table.state())
                while not self.stop.is_set():
                    try:
                        async with asyncio.timeout(ALIVE_S):
                            state = await queue.get()
                    except TimeoutError:
                        yield b": still here\n\n"
                        continue
                    if state is None:
                        return
                    yield b"event: state\nid: %d\ndata: %s\n\n" % (state.revision, _json(state.to_json()))
        finally:
            self._streams.discard(queue)

    @property
    def is_full(self) -> bool:
        """Whether so many watch that nobody else may."""
        return len(self._streams) >= _MOST_WATCHERS

    def end_streams(self) -> None:
        """Ends all streams. Called in the event loop of the site."""
        for queue in tuple(self._streams):
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(None)


def _ignore(_: object) -> None:
    """For a call whose result says nothing."""


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode()


def _refusal(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"sentence": sentence}, status, headers)


# Around every request.


class TableGuard:
    """The outermost part: the ``Host`` header, and the headers of each answer."""

    def __init__(self, app: ASGIApp, site: TableSite) -> None:
        self._app, self._site = app, site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            return
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                added = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in given]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        if len(hosts) != 1 or not self._site.is_ours(hosts[0]):
            told = f"This table is at {self._site.authority} only; open the link that the terminal shows."
            await _refusal(421, told)(scope, receive, sent)
            return
        try:
            await self._app(scope, receive, sent)
        except ClientDisconnect:
            return


Handler = Callable[[TableSite, Request], Awaitable[Response]]


def _for_the_person(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """A handler for the person's browser alone."""

    async def handle(request: Request) -> Response:
        site: TableSite = request.app.state.site
        if not site.has_seat(request):
            return _refusal(403, "This browser has no seat at the table; open the link that the terminal shows.")
        return await handler(site, request)

    return handle


def _action(
    handler: Callable[[TableSite, Mapping[str, Any]], Mapping[str, Any]],
) -> Callable[[Request], Awaitable[Response]]:
    """A handler for what the page does: it comes from the page itself, with its token."""

    async def handle(site: TableSite, request: Request) -> Response:
        if not _is_from_the_page(site, request):
            return _refusal(403, "This did not come from the page of the table; load the page again.")
        body = await _body(request)
        if body is None:
            return _refusal(400, f"Send a JSON object of at most {_BODY_BYTES // 1024} KiB.")
        try:
            return JSONResponse(handler(site, body))
        except IllegalMoveError as error:
            ruling = error.ruling
            told = {"rule": ruling.rule, "sentence": ruling.sentence, "clause": ruling.clause, "link": ruling.link}
            return JSONResponse({"ruling": told}, 409)
        except UnreadableMoveError as error:
            return _refusal(400, str(error))
        except RefusedError as error:
            return _refusal(410 if error.over else 409, error.sentence)

    return _for_the_person(handle)


def _is_from_the_page(site: TableSite, request: Request) -> bool:
    origin, own = request.headers.get("origin"), request.headers.get("host", "")
    if origin is not None and origin.lower() != f"http://{own.lower()}":
        return False
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    return hmac.compare_digest(request.headers.get(TOKEN_HEADER, "").encode("latin-1"), site.form_token.encode())


async def _body(request: Request) -> Mapping[str, Any] | None:
    """The JSON object of a request; none where it is none, or too large."""
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > _BODY_BYTES:
            return None
    try:
        value = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


# What there is.


async def _index(request: Request) -> Response:
    """The page; with the secret of the link first the cookie, and then the page."""
    site: TableSite = request.app.state.site
    given = request.query_params.get("seat", "")
    if given and hmac.compare_digest(given.encode(), site.secret.encode()):
        answer = RedirectResponse("/", 303)
        answer.set_cookie(site.cookie, site.secret, path="/", httponly=True, samesite="strict")
        return answer
    if not site.has_seat(request):
        return _refusal(403, "This browser has no seat at the table; open the link that the terminal shows.")
    state = _json(site.table.state().to_json()).decode()
    text = site.templates.get_template("index.html.j2").render(
        form_token=site.form_token,
        cards=card_symbols(),
        version=referee.__version__,
        state_json=state.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
        digest=site.digest,
    )
    return _packed(request, text.encode(), "text/html; charset=utf-8")


def _packed(request: Request, data: bytes, media_type: str, headers: Mapping[str, str] | None = None) -> Response:
    """An answer, compressed where the browser can read that."""
    told = {"vary": "accept-encoding", **(headers or {})}
    if "gzip" in request.headers.get("accept-encoding", ""):
        data, told = gzip.compress(data, 6, mtime=0), {**told, "content-encoding": "gzip"}
    return Response(data, headers={**told, "content-type": media_type})


async def _static(request: Request) -> Response:
    """A script or a style."""
    site: TableSite = request.app.state.site
    name = request.path_params["file"]
    data = site.files.get(name)
    if data is None:
        return _refusal(404, "There is no such file.")
    return _packed(request, data, _TYPES[f".{name.rpartition('.')[2]}"], {"cache-control": "max-age=86400"})


async def _state(site: TableSite, request: Request) -> Response:
    del request
    return Response(_json(site.table.state().to_json()), media_type="application/json")


async def _events(site: TableSite, request: Request) -> Response:
    del request
    if site.is_full:
        return _refusal(503, "Too many pages watch this table; close some.", {"retry-after": "5"})
    return StreamingResponse(site.events(), media_type="text/event-stream")


async def _hint(site: TableSite, request: Request) -> Response:
    del request
    try:
        hint = await run_in_threadpool(site.table.hint)
    except (RefusedError, NoHintError) as error:
        return _refusal(409, str(error))
    cards = {"cards": list(hint.cards)} if hint.cards else {}
    return JSONResponse({"move": hint.move, "label": hint.label, "why": hint.why, **cards})


async def _rules(site: TableSite, request: Request) -> Response:
    played = site.table.rules
    clauses = [
        (one.id, one.title, "" if one.level is Level.INFO else str(one.level), clause_text(one, played), one.source)
        for one in clauses_of(played)
    ]
    text = site.templates.get_template("rules.html.j2").render(
        title=played.title, clauses=clauses, digest=site.digest, version=referee.__version__
    )
    return _packed(request, text.encode(), "text/html; charset=utf-8")


async def _replay(site: TableSite, request: Request) -> Response:
    """The game as a page to step through, when it is over and kept."""
    over = site.table.state().over
    if over is None or not over.record:
        return _refusal(404, "There is no replay: the game is not over, or is not kept.")
    try:
        text = await run_in_threadpool(lambda: replay_page(site.game.record(), 1, list(site.table.names)))
    except StoreError as error:
        return _refusal(404, f"The game cannot be read: {error}")
    return _packed(request, text.encode(), "text/html; charset=utf-8", {"content-security-policy": SHUT_IN})


def _move(site: TableSite, body: Mapping[str, Any]) -> Mapping[str, Any]:
    turn, move, cards = body.get("turn"), body.get("move", ""), body.get("cards")
    if not isinstance(turn, str) or not isinstance(move, str):
        raise UnreadableMoveError('Send "turn" and "move", both as texts.')
    if cards is not None and not (
        isinstance(cards, list) and len(cards) <= 52 and all(isinstance(one, str) for one in cards)
    ):
        raise UnreadableMoveError('Send "cards" as a list of texts, such as ["AS", "KD"].')
    return {"accepted": True, "revision": site.table.move(turn, move, cards)}


def _leave(site: TableSite, body: Mapping[str, Any]) -> Mapping[str, Any]:
    del body
    site.stop.set()
    return {"accepted": True, "revision": site.table.state().revision}


def table_app(site: TableSite) -> ASGIApp:
    """The application of a table."""

    def done(what: Callable[[], int]) -> Callable[[TableSite, Mapping[str, Any]], Mapping[str, Any]]:
        return lambda _site, _body: {"accepted": True, "revision": what()}

    table = site.table
    made = Starlette(
        routes=[
            Route("/", _index),
            Route("/static/{file}", _static),
            Route("/state", _for_the_person(_state)),
            Route("/events", _for_the_person(_events)),
            Route("/hint", _for_the_person(_hint)),
            Route("/rules", _for_the_person(_rules)),
            Route("/replay", _for_the_person(_replay)),
            Route("/move", _action(_move), methods=["POST"]),
            Route("/go-on", _action(done(table.go_on)), methods=["POST"]),
            Route("/pause", _action(done(table.pause)), methods=["POST"]),
            Route("/take-back", _action(done(table.take_back)), methods=["POST"]),
            Route("/leave", _action(_leave), methods=["POST"]),
        ],
        exception_handlers={404: _not_found, 405: _not_found},
    )
    made.state.site = site
    return TableGuard(made, site)


async def _not_found(request: Request, error: Exception) -> Response:
    del request
    return _refusal(getattr(error, "status_code", 404), "There is no such page at this table.")


def serve_table(site: TableSite, port: int, told: Callable[[str], None] = lambda _: None) -> None:
    """Serves the table until ``site.stop`` is set. ``told``: is given the link when it listens.

    Raises ``OSError`` where the port cannot be had.
    """
    try:
        listening = listening_at(HOST, port)
    except (OSError, OverflowError) as error:
        raise OSError(f"the table cannot listen at {HOST}:{port}: {error}; give another --port") from None
    with listening:
        site.authority = where_it_listens(listening)
        site.table.need_watchers()
        asyncio.run(_serve(site, listening, told))


async def _serve(site: TableSite, listening: Any, told: Callable[[str], None]) -> None:
    server = server_of(table_app(site), _DRAIN_S)
    running = asyncio.create_task(server.serve([listening]))
    is_told = False
    while not running.done():
        if server.started and not is_told:
            is_told = True
            told(site.link)
        if site.stop.is_set():
            server.should_exit = True
            site.end_streams()
        await asyncio.wait([running], timeout=_LOOK_S)
    await running

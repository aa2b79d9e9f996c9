"""Streams of server-sent events. Each looks at intervals whether there is something new; none holds anything open meanwhile."""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from referee.host.rows import JobState
from referee.host.web.answers import job_json, number_in, own_job
from referee.host.web.limits import Places
from referee.host.web.site import Site, shown_ladder, site_of
from referee.host.web.tables import NO_TABLES, TableEvent, TablesNow, events_after
from referee.league.league import LeagueError, read_league
from referee.league.store import Store, StoreError

_AT_ONCE: Final = 200
"""So many games are read from the store at once."""

KEEP_ALIVE_S: Final = 15.0
"""After so long without an event a comment is sent, so that no proxy takes the stream for dead."""


def event(name: str, number: int, value: object) -> bytes:
    """An event as it is sent."""
    return b"event: %s\nid: %d\ndata: %s\n\n" % (name.encode(), number, orjson.dumps(value))


class EventStream(StreamingResponse):
    """An answer that goes on. ``places``: it has one of them, for ``key``, as long as it goes on."""

    def __init__(self, content: AsyncIterator[bytes], places: Places, key: str) -> None:
        super().__init__(content, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
        self._places, self._key = places, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends it; raises ``TooOftenError`` if there is no place."""
        if scope["method"] == "HEAD":
            await Response(headers=dict(self.headers))(scope, receive, send)
            return
        with self._places.place(self._key):
            await super().__call__(scope, receive, send)


async def job_events(request: Request) -> Response:
    """The job whenever it changes, until it is over."""
    number = number_in(request)
    await run_in_threadpool(own_job, request, number)
    site = site_of(request)

    def look() -> tuple[object, bool]:
        job = site.store.job(number)
        return job_json(request, job), job.state in (JobState.DONE, JobState.FAILED)

    return EventStream(_changes(site, "job", look), site.limits.watcher_places, request.state.address)


async def board_events(request: Request) -> Response:
    """Tells whenever the board has changed, by the number of the change."""
    site, watch = site_of(request), shown_ladder(request).watch
    last = request.headers.get("last-event-id", "")

    async def look_out() -> AsyncIterator[bytes]:
        yield b": the board\n\n"
        seen, quiet = int(last) if last.isascii() and last.isdigit() and len(last) < 16 else -1, 0.0
        while not site.stopping.is_set():
            watch.refresh()
            if watch.changes != seen:
                seen, quiet = watch.changes, 0.0
                now, board = watch.now, watch.board
                yield event(
                    "board",
                    seen,
                    {
                        "mark": watch.shown,
                        "sets": board.sets if board else 0,
                        "round": len(now.rounds) if now else 0,
                        "games_played": now.games_played if now else 0,
                        "games": now.games_in_all if now else 0,
                    },
                )
            elif quiet >= KEEP_ALIVE_S:
                quiet = 0.0
                yield b": still here\n\n"
            await asyncio.sleep(2 * site.look_s)
            quiet += 2 * site.look_s

    return EventStream(look_out(), site.limits.watcher_places, request.state.address)


async def table_events(request: Request) -> Response:
    """Tells of each game that has ended, by its number, and of what came of its table if that is over.

    ``Last-Event-ID``, or ``after``, says up to which game all is known; without either it begins with the next one. What is not
    in memory any more is read from the store.
    """
    site = site_of(request)
    asked = request.headers.get("last-event-id") or request.query_params.get("after", "")
    known = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 16 else None

    async def look_out() -> AsyncIterator[bytes]:
        yield b": the tables\n\n"
        seen, mark, quiet = known, "", 0.0
        while not site.stopping.is_set():
            site.ladder.refresh()
            now = site.ladder.now
            tables = now.tables if now is not None else NO_TABLES
            if seen is None and (now is not None or not site.home.ladder.exists()):
                seen = tables.last_game  # not before it is known which was the last
            new = await _games_after(site, tables, seen) if seen is not None else ()
            for one in new:
                yield b"event: table\nid: %d\ndata: %s\n\n" % (one.game, one.data)
                seen = one.game
            if tables.mark != mark:
                mark = tables.mark
                yield b"event: round\ndata: %s\n\n" % orjson.dumps({"mark": mark})
            elif not new and quiet >= KEEP_ALIVE_S:
                quiet = 0.0
                yield b": still here\n\n"
            quiet = 0.0 if new else quiet + 2 * site.look_s
            if len(new) < _AT_ONCE:
                await asyncio.sleep(2 * site.look_s)

    return EventStream(look_out(), site.limits.watcher_places, request.state.address)


async def _games_after(site: Site, tables: TablesNow, game: int) -> Sequence[TableEvent]:
    """What is told of the games after one: from memory, or from the store where that does not go back so far."""
    if game >= tables.last_game:
        return ()
    if tables.events and game + 1 >= tables.events[0].game:
        return tables.events[bisect_right(tables.events, game, key=lambda one: one.game) :]

    def read() -> Sequence[TableEvent]:
        with Store.read(site.home.ladder) as store:
            found = events_after(store, read_league(store), game, _AT_ONCE)
        return [one for one in found if one.game <= tables.last_game]

    try:
        return await run_in_threadpool(read)
    except (StoreError, LeagueError):
        return ()  # told by whoever looks at the ladder


async def _changes(site: Site, name: str, look: Callable[[], tuple[object, bool]]) -> AsyncIterator[bytes]:
    """An event whenever what is looked at has changed, until it says that it is over, or the site ends."""
    number, last, quiet = 0, b"", 0.0
    while True:
        value, is_over = await run_in_threadpool(look)
        told = orjson.dumps(value)
        if told != last:
            number, last, quiet = number + 1, told, 0.0
            yield event(name, number, value)
        elif quiet >= KEEP_ALIVE_S:
            quiet = 0.0
            yield b": still here\n\n"
        if is_over or site.stopping.is_set():
            return
        await asyncio.sleep(site.look_s)
        quiet += site.look_s

"""Streams of server-sent events. Each looks at intervals whether there is something new; none holds anything open meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Final

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from referee.host.rows import JobState
from referee.host.web.answers import job_json, number_in, own_job
from referee.host.web.limits import Places
from referee.host.web.site import Site, site_of

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
    site = site_of(request)
    last = request.headers.get("last-event-id", "")

    async def look_out() -> AsyncIterator[bytes]:
        yield b": the board\n\n"
        seen, quiet = int(last) if last.isascii() and last.isdigit() and len(last) < 16 else -1, 0.0
        while not site.stopping.is_set():
            site.ladder.refresh()
            if site.ladder.changes != seen:
                seen, quiet = site.ladder.changes, 0.0
                now, board = site.ladder.now, site.ladder.board
                yield event(
                    "board",
                    seen,
                    {
                        "mark": site.ladder.shown,
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

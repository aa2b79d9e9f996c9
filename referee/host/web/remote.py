"""Where remote bots are connected: their programs say that they are there, and are told when they are called.

A request waits until there is news, twenty seconds at most: so it is a sign of life too.
"""

import asyncio
import hashlib
import re
from typing import Any, Final

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from referee.host.rows import Owner, RemoteBot
from referee.host.store import NotAllowedError
from referee.host.web.answers import job_json, json_answer
from referee.host.web.bodies import may_enter, read_json
from referee.host.web.site import known_visitor, site_of

LONGEST_WAIT_S: Final = 20.0
"""So long a request waits for news."""

_SESSION: Final = re.compile(r"[A-Za-z0-9_-]{16,64}")


async def poll(request: Request) -> Response:
    """A remote bot connects, is still there, or leaves; the answer says how its version stands, and what it is called for."""
    site = site_of(request)
    owner = await run_in_threadpool(_owner, request)
    given = await read_json(request)
    session, declared, mark = (str(given.get(name, "")) for name in ("session", "version", "mark"))
    if _SESSION.fullmatch(session) is None:
        raise NotAllowedError(400, "A session is a text of 16 to 64 letters, digits, _ and -, drawn at random.")
    name, leaves = str(request.path_params["name"]), given.get("leaves") is True

    def begin() -> RemoteBot:
        with site.handing_in:
            return site.store.connect(
                owner,
                name,
                declared,
                session,
                site.clock(),
                most_bots=site.host.bots_per_owner,
                taken=sorted(site.taken()),
                may_check=lambda: _may_check(request, owner),
            )

    def look() -> tuple[dict[str, Any], str]:
        one = site.store.connection(name)
        if one.session != session:
            raise NotAllowedError(
                409, f"{one.bot} was connected from elsewhere, or once more; this connection is over."
            )
        told = _told(request, one)
        return told, hashlib.sha256(orjson.dumps(told)).hexdigest()[:16]

    with site.limits.remote_places.place(str(owner.id)):
        if given.get("begin") is True:
            await run_in_threadpool(begin)
        else:
            await run_in_threadpool(site.store.heard, owner, name, session, site.clock(), leaves=leaves)
        until = asyncio.get_running_loop().time() + LONGEST_WAIT_S
        while True:
            told, now = await run_in_threadpool(look)
            over = leaves or site.stopping.is_set() or asyncio.get_running_loop().time() >= until
            if now != mark or over:
                return json_answer({**told, "mark": now})
            await asyncio.sleep(site.look_s)


def _owner(request: Request) -> Owner:
    who, owner = known_visitor(request)
    site_of(request).shown(remote=True)  # there is a door
    name = str(request.path_params["name"])
    if who.token is None:
        raise NotAllowedError(401, "Send your token in the header «Authorization: Bearer TOKEN».")
    if who.token.bot and who.token.bot.casefold() != name.casefold():
        raise NotAllowedError(403, f"This token is for {who.token.bot} alone.")
    return owner


def _may_check(request: Request, owner: Owner) -> None:
    """Raises ``NotAllowedError`` where no version is to be checked."""
    site = site_of(request)
    may_enter(site, owner)
    site.limits.uploads.take(str(owner.id))


def _told(request: Request, one: RemoteBot) -> dict[str, Any]:
    """What a remote bot's program is told of it."""
    site = site_of(request)
    job = site.store.newest_job(one.version)
    return {
        "bot": one.bot,
        "version": one.version,
        "declared": one.declared,
        "state": one.state,
        "reason": site.store.version(one.version).reason,
        "job": None if job is None else job_json(request, job),
        "call": None
        if one.call is None
        else {
            "what": one.call.what,
            "sessions": [{"address": address, "token": token} for address, token in one.call.sessions],
        },
        "line": one.line,
        "rests_until": one.rests,
    }

"""The API, version 1: what programs ask of a host."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response

import referee
from referee.host.rows import JobState
from referee.host.store import NotAllowedError
from referee.host.web.answers import job_json, json_answer, number_in, own_job
from referee.host.web.bodies import check_length, hand_in, may_hand_in, place_to_hand_in
from referee.host.web.limits import NotYetError
from referee.host.web.openapi import description
from referee.host.web.site import known_visitor, site_of, visitor
from referee.league.store import Store, StoreError

_FIRST_S = 5.0
_EXPORT_S = 20.0
_ARCHIVE_TYPES = ("application/zip", "application/x-zip-compressed", "application/octet-stream", "")


def entry(request: Request) -> Response:
    """What a program has to know before it hands a bot in."""
    site = site_of(request)
    tournament, host = site.definition.tournament, site.host
    said = site.definition.canonical()
    return json_answer(
        {
            "name": tournament.name,
            "variant": tournament.variant,
            "seats": tournament.seats,
            "upload_mib": host.upload_mib,
            "closes": host.closes.isoformat() if host.closes else None,
            "enter": host.enter,
            "sources": host.sources,
            "remote": host.remote is not None,
            "referee": referee.__version__,
            "definition": {key: said[key] for key in ("schema", "tournament", "rules", "limits")},
        }
    )


async def new_version(request: Request) -> Response:
    """Takes the archive of a bot in."""
    site = site_of(request)

    def allowed() -> Any:
        who, owner = known_visitor(request)
        if who.token is None:
            raise NotAllowedError(401, "Send your token in the header «Authorization: Bearer TOKEN».")
        name = str(request.path_params["name"])
        if who.token.bot and who.token.bot.casefold() != name.casefold():
            raise NotAllowedError(403, f"This token is for {who.token.bot} alone.")
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in _ARCHIVE_TYPES:
            raise NotAllowedError(415, "Send the zip archive of the bot's folder as application/zip.")
        check_length(request, site.host.upload_mib)
        may_hand_in(site, owner)
        return owner, name

    owner, name = await run_in_threadpool(allowed)
    with place_to_hand_in(site, owner):
        job, is_new = await hand_in(request, owner, name, request.stream())
    return json_answer(await run_in_threadpool(job_json, request, job), 201 if is_new else 200)


def job(request: Request) -> Response:
    """A job, for its owner and organisers."""
    return json_answer(job_json(request, own_job(request, number_in(request))))


def again(request: Request) -> Response:
    """Has a job done again; returns the new one."""
    site = site_of(request)
    who, owner = known_visitor(request)
    if who.token is None:
        raise NotAllowedError(401, "Send your token in the header «Authorization: Bearer TOKEN».")
    one = own_job(request, number_in(request))
    site.limits.uploads.take(str(owner.id))
    with site.handing_in:
        return json_answer(job_json(request, site.store.again(owner, one.id, site.clock())), 201)


def me(request: Request) -> Response:
    """Who asks: the owner's name, bots, versions and last jobs; to a token for one bot, of that one alone."""
    site = site_of(request)
    who, owner = known_visitor(request)
    only = who.token.bot.casefold() if who.token is not None else ""
    return json_answer(
        {
            "owner": owner.name,
            "organiser": owner.organiser,
            "token": None if who.token is None else {"label": who.token.label, "bot": who.token.bot},
            "bots": [
                {
                    "name": name,
                    "retired": retired,
                    "versions": [
                        {
                            "version": one.id,
                            "name": one.name,
                            "state": one.state,
                            "reason": one.reason,
                            "created": one.created,
                        }
                        for one in site.store.versions(bot=name)
                    ],
                }
                for name, retired in site.store.bots(owner.id)
                if not only or name.casefold() == only
            ],
            "jobs": [
                {"id": one.id, "bot": one.bot, "state": one.state, "sentence": one.sentence}
                for one in site.store.jobs(owner=owner.id, bot=only or None, most=20)
            ],
        }
    )


def board(request: Request) -> Response:
    """How the ladder stands: the standings, with how the open round goes on."""
    return _board(request, remote=False)


def remote_board(request: Request) -> Response:
    """The same of the board of remote bots."""
    return _board(request, remote=True)


def _board(request: Request, *, remote: bool) -> Response:
    site = site_of(request)
    visitor(request)
    watch = site.shown(remote=remote).watch
    watch.first(_FIRST_S)
    now, known = watch.now, watch.board
    table = known.table if known else {"rows": [], "sets": 0, "games": 0}
    return json_answer(
        {
            **table,
            "name": site.definition.tournament.name,
            "paused": site.store.setting("paused") == "1" or bool(now and now.paused),
            "banner": site.store.setting("banner"),
            "round": None
            if now is None or not now.rounds
            else {
                "number": now.rounds[0].number,
                "open": now.is_open,
                "games": now.games_in_all,
                "games_played": now.games_played,
                "seconds_left": now.seconds_left(),
            },
            "up_to_date": known is not None and now is not None and known.mark == now.mark,
        }
    )


def rounds(request: Request) -> Response:
    """The rounds with their commitments, the newest first; the master of each that is closed."""
    return _rounds(request, remote=False)


def remote_rounds(request: Request) -> Response:
    """The same of the board of remote bots."""
    return _rounds(request, remote=True)


def _rounds(request: Request, *, remote: bool) -> Response:
    watch = site_of(request).shown(remote=remote).watch
    watch.first(_FIRST_S)
    now = watch.now
    lines = now.rounds if now else ()
    return json_answer({"rounds": [orjson.loads(orjson.dumps(one)) for one in lines]})


def openapi(request: Request) -> Response:
    """The description of this API."""
    return json_answer(description(site_of(request).url(request)))


def export(request: Request) -> Response:
    """The closed rounds as an archive, for ``referee verify URL``; of a seeded ladder no more than that either."""
    return _export(request, remote=False)


def remote_export(request: Request) -> Response:
    """The same of the board of remote bots."""
    return _export(request, remote=True)


def _export(request: Request, *, remote: bool) -> Response:
    site = site_of(request)
    shown = site.shown(remote=remote)
    site.limits.exports.take(request.state.address)
    with site.limits.export_places.place(request.state.address):
        shown.watch.first(_FIRST_S)
        now = shown.watch.now
        closed = sum(bool(one.result_root) for one in now.rounds) if now else 0
        if not closed:
            raise NotAllowedError(404, "No round is closed yet; there is nothing to be verified.")
        found = shown.closed_rounds.archive(closed, _EXPORT_S)
    if found is None:
        raise NotYetError("The closed rounds are being written out; try again in half a minute.", 30)
    return FileResponse(
        found, media_type="application/zip", headers={"Content-Disposition": 'attachment; filename="ladder-export.zip"'}
    )


def old_records(request: Request) -> Response:
    """An archive with records of old rounds, as ``archives`` in ``export.json`` of the closed rounds names it."""
    site, name = site_of(request), str(request.path_params["name"])
    site.limits.archives.take(request.state.address)
    known = set()
    for ladder in (site.home.ladder, site.home.remote):
        with suppress(StoreError), Store.read(ladder) as store:
            known |= {Path(one["file"]).name for one in store.archives()}
    path = site.home.records / name
    if name not in known or not path.is_file():
        raise NotAllowedError(
            404, "There are no records of that name; export.json of /export names those that there are."
        )
    return FileResponse(
        path, media_type="application/gzip", headers={"Content-Disposition": f'attachment; filename="{path.name}"'}
    )


def healthz(request: Request) -> Response:
    """Whether the site can read what it has to, and how many jobs wait; 503 where the ladder cannot be read."""
    site = site_of(request)
    site.ladder.refresh()
    ok = not site.ladder.fault  # which names files of this machine
    told = {"ok": ok, "referee": referee.__version__, "waiting": site.store.count_jobs(JobState.WAITING)}
    return json_answer(told, 200 if ok else 503)


def metrics(request: Request) -> Response:
    """Figures for Prometheus."""
    return Response(site_of(request).metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

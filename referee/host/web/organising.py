"""The organiser's page: who comes in, what is let in, the banner and the pause, and what was done."""

import shutil

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from referee.host.rows import JobState, VersionState
from referee.host.store import NotAllowedError
from referee.host.web.answers import number_in, page, to_page
from referee.host.web.bodies import read_form
from referee.host.web.site import organiser, site_of

_SETTINGS = ("paused", "frozen", "banner")


def overview(request: Request) -> Response:
    """Everything that an organiser decides."""
    organiser(request)
    return _overview(request)


def _overview(request: Request, link: str = "") -> Response:
    site = site_of(request)
    entered, now = {one.version for one in site.store.entered()}, site.ladder.now
    in_round = {(one.bot.casefold(), one.digest) for one in now.bots if one.key in now.present} if now else set()
    disk = shutil.disk_usage(site.home.folder)
    return page(
        request,
        "organiser.html.j2",
        link=link,
        asked=site.store.versions(state=VersionState.APPROVAL),
        # A version plays the open round to its end, though a newer one has come or its bot was retired.
        playing=[
            one
            for one in site.store.versions(state=VersionState.ACCEPTED)
            if one.id in entered or (one.bot.casefold(), one.digest) in in_round
        ],
        remote_bots=site.store.connections() if site.host.remote is not None else [],
        running=[*site.store.jobs(state=JobState.RUNNING), *reversed(site.store.jobs(state=JobState.WAITING))],
        failed=site.store.jobs(state=JobState.FAILED, most=10),
        owners=site.store.owners(),
        invitations=[one for one in site.store.invitations() if not one.used and not one.revoked][:200],
        audit=site.store.audit(most=100),
        settings={
            key: site.store.setting(key)
            for key in (
                *_SETTINGS,
                "sandbox",
                "sandbox_line",
                "engine_line",
                "engine_fault",
                "remote_engine_line",
                "remote_engine_fault",
            )
        },
        now=now,
        void=site.store.why_void(now.rounds[0].number) if now and now.is_open else "",
        host=site.host,
        uploading=site.limits.upload_places.taken,
        free_gib=disk.free / 2**30,
        disk_gib=disk.total / 2**30,
        watchers=site.limits.watcher_places.taken,
        time=site.clock(),
    )


async def decide(request: Request) -> Response:
    """Lets a version in, refuses it, or withdraws it."""
    site, number = site_of(request), number_in(request)
    owner = await run_in_threadpool(organiser, request)
    form = await read_form(request)
    states = {"accept": VersionState.ACCEPTED, "refuse": VersionState.REFUSED, "withdraw": VersionState.WITHDRAWN}
    state, reason = states.get(form.get("do", "")), form.get("reason", "").strip()
    if state is None:
        raise NotAllowedError(400, "Say what is to be done with the version.")
    if state is VersionState.ACCEPTED and reason:
        raise NotAllowedError(409, "A reason is for refusing; leave it empty to let the version in.")
    if state is not VersionState.ACCEPTED and not reason:
        raise NotAllowedError(409, "Say why: the owner reads it, and it stays in the audit log.")
    await run_in_threadpool(site.store.decide, number, state, reason, site.clock(), by=owner.name)
    return to_page(request, "/organiser")


async def block(request: Request) -> Response:
    """Keeps an owner out, or lets one in again."""
    site, number = site_of(request), number_in(request)
    owner = await run_in_threadpool(organiser, request)
    form = await read_form(request)

    def change() -> None:
        reason = form.get("reason", "").strip()
        if site.store.owner(number) is None:
            raise NotAllowedError(404, "There is no such owner.")
        if number == owner.id:
            raise NotAllowedError(409, "You cannot block yourself.")
        if form.get("do") == "block" and not reason:
            raise NotAllowedError(409, "Say why: the owner reads it, and it stays in the audit log.")
        site.store.block(number, reason if form.get("do") == "block" else "", site.clock(), by=owner.name)

    await run_in_threadpool(change)
    return to_page(request, "/organiser")


async def invite(request: Request) -> Response:
    """Makes an invitation, and shows its link once."""
    site = site_of(request)
    owner = await run_in_threadpool(organiser, request)
    form = await read_form(request)

    def make() -> Response:
        secret = site.store.invite(
            form.get("name", "").strip()[:40], site.clock(), organiser=form.get("organiser") == "1", by=owner.name
        )
        return _overview(request, site.url(request, f"/join/{secret}"))

    return await run_in_threadpool(make)


async def revoke_invitation(request: Request) -> Response:
    """Makes an invitation worthless."""
    site, number = site_of(request), number_in(request)
    owner = await run_in_threadpool(organiser, request)
    await read_form(request)
    await run_in_threadpool(site.store.revoke_invitation, number, site.clock(), by=owner.name)
    return to_page(request, "/organiser")


async def void_round(request: Request) -> Response:
    """Has what is open of the open round voided, for a reason that everybody reads."""
    site, number = site_of(request), number_in(request)
    owner = await run_in_threadpool(organiser, request)
    form = await read_form(request)

    def void() -> None:
        site.ladder.refresh()
        now = site.ladder.now
        if now is None or not now.is_open or now.rounds[0].number != number:
            raise NotAllowedError(409, f"Round {number} is not open, and what is over stays.")
        site.store.void_round(number, form.get("reason", "").strip(), site.clock(), by=owner.name)

    await run_in_threadpool(void)
    return to_page(request, "/organiser")


async def setting(request: Request) -> Response:
    """Sets the banner, pauses the ladder or lets it go on, freezes it."""
    site = site_of(request)
    owner = await run_in_threadpool(organiser, request)
    form = await read_form(request)
    key, value = form.get("key", ""), form.get("value", "").strip()[:1000]
    if key not in _SETTINGS or (key != "banner" and value not in ("", "1")):
        raise NotAllowedError(400, "There is no such setting.")
    await run_in_threadpool(site.store.set, key, value, site.clock(), by=owner.name)
    return to_page(request, "/organiser")

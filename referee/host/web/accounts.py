"""Pages of owners: how they come in, what is theirs, handing in by a form, and their jobs."""

import re
from pathlib import Path
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from referee.host.rows import Job, JobState, Owner
from referee.host.store import NotAllowedError
from referee.host.web.answers import job_json, keep_session, number_in, own_job, page, to_page
from referee.host.web.bodies import chunks_of, hand_in, may_hand_in, place_to_hand_in, read_archive_form, read_form
from referee.host.web.site import Site, known_visitor, site_of
from referee.web.headers import SHUT_IN

_FILE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.(html|json|jsonl|txt)")
_KINDS: Final = {
    ".html": "text/html",
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".txt": "text/plain",
}


def login_page(request: Request) -> Response:
    """The form for a token."""
    return page(request, "login.html.j2")


async def login(request: Request) -> Response:
    """Begins a session with a token."""
    site = site_of(request)
    site.limits.logins.take(request.state.address)
    form = await read_form(request)

    def begin() -> Response:
        owner, token = site.store.by_token(form.get("token", "").strip()[:200], site.clock())
        if token.bot:
            raise NotAllowedError(403, f"This token is for {token.bot} alone; log in with one for all of your bots.")
        answer = to_page(request, "/me")
        keep_session(answer, site, site.sessions.new(owner.id, token.id))
        return answer

    return await run_in_threadpool(begin)


async def logout(request: Request) -> Response:
    """Ends a session."""
    await read_form(request)
    answer = to_page(request, "/")
    keep_session(answer, site_of(request), site_of(request).sessions.new())
    return answer


def join_page(request: Request) -> Response:
    """What an invitation opens: a form for the name."""
    site = site_of(request)
    site.limits.logins.take(request.state.address)
    invitation = site.store.invitation(str(request.path_params["secret"])[:200], site.clock())
    return page(
        request,
        "join.html.j2",
        name=site.store.name_of(invitation),
        invited=True,
        action=f"/join/{request.path_params['secret']}",
    )


async def join(request: Request) -> Response:
    """Makes an owner of an invitation, and shows the first token."""
    site = site_of(request)
    site.limits.logins.take(request.state.address)
    form = await read_form(request)
    secret = str(request.path_params["secret"])[:200]
    return await run_in_threadpool(
        lambda: _welcome(request, site.store.join(secret, form.get("name", "").strip(), site.clock()))
    )


def register_page(request: Request) -> Response:
    """The form for whoever comes, where anybody may."""
    _check_open(request)
    return page(request, "join.html.j2", name="", invited=False, action="/register")


async def register(request: Request) -> Response:
    """Makes an owner of whoever comes."""
    site = site_of(request)
    _check_open(request)
    site.limits.logins.take(request.state.address)
    form = await read_form(request)
    site.limits.newcomers.take(request.state.address)
    return await run_in_threadpool(
        lambda: _welcome(request, site.store.register(form.get("name", "").strip(), site.clock()))
    )


def _check_open(request: Request) -> None:
    if site_of(request).host.enter == "invited":
        raise NotAllowedError(403, "This ladder is by invitation: ask its organiser for a link.")


def _welcome(request: Request, owner: Owner) -> Response:
    site = site_of(request)
    token = site.store.add_token(owner.id, "the first", site.clock())
    answer = page(request, "token.html.j2", token=token, name=owner.name, address=site.url(request), first=True)
    _, known = site.store.by_token(token, site.clock())  # who revokes it ends this session too
    keep_session(answer, site, site.sessions.new(owner.id, known.id))
    return answer


def me(request: Request) -> Response:
    """What is an owner's: bots, jobs, tokens."""
    site = site_of(request)
    _, owner = known_visitor(request)
    versions = {name: site.store.versions(bot=name) for name, _ in site.store.bots(owner.id)}
    return page(
        request,
        "me.html.j2",
        bots=[(name, retired, versions[name][:10]) for name, retired in site.store.bots(owner.id)],
        jobs=site.store.jobs(owner=owner.id, most=20),
        tokens=[one for one in site.store.tokens(owner.id) if not one.revoked],
    )


async def new_token(request: Request) -> Response:
    """Makes a token, and shows it once."""
    site = site_of(request)
    _, owner = await run_in_threadpool(known_visitor, request)
    form = await read_form(request)

    def make() -> Response:
        label, bot = form.get("label", "").strip()[:60] or "token", form.get("bot", "").strip()[:40]
        if sum(not one.revoked for one in site.store.tokens(owner.id)) >= 20:
            raise NotAllowedError(409, "You have 20 tokens; revoke one that you do not use any more.")
        token = site.store.add_token(owner.id, label, site.clock(), bot=bot)
        return page(request, "token.html.j2", token=token, name=owner.name, address=site.url(request), first=False)

    return await run_in_threadpool(make)


async def revoke_token(request: Request) -> Response:
    """Makes a token worthless, and ends the sessions that it began."""
    site = site_of(request)
    _, owner = await run_in_threadpool(known_visitor, request)
    await read_form(request)
    await run_in_threadpool(site.store.revoke_token, owner.id, number_in(request), site.clock())
    return to_page(request, "/me")


async def retire(request: Request) -> Response:
    """Takes a bot out of the rounds to come."""
    site = site_of(request)
    _, owner = await run_in_threadpool(known_visitor, request)
    await read_form(request)
    await run_in_threadpool(site.store.retire, owner, str(request.path_params["name"]), site.clock())
    return to_page(request, "/me")


def submit_page(request: Request) -> Response:
    """The form for an archive."""
    site = site_of(request)
    _, owner = known_visitor(request)
    active = [name for name, retired in site.store.bots(owner.id) if not retired]
    return page(
        request, "submit.html.j2", host=site.host, mib=site.host.upload_mib, bots=active, most=site.host.bots_per_owner
    )


async def submit(request: Request) -> Response:
    """Takes an archive in that comes by the form."""
    site = site_of(request)

    def allowed() -> Owner:
        _, owner = known_visitor(request)
        may_hand_in(site, owner)
        return owner

    owner = await run_in_threadpool(allowed)
    with place_to_hand_in(site, owner):
        form, archive = await read_archive_form(request)
        try:
            job, _ = await hand_in(request, owner, form.get("bot", "").strip(), chunks_of(archive))
        finally:
            await archive.close()
    return to_page(request, f"/jobs/{job.id}")


def job(request: Request) -> Response:
    """A job: how far it is, and what came of it."""
    one = own_job(request, number_in(request))
    site = site_of(request)
    told = job_json(request, one)
    pages = {name for finding in one.findings for name in (finding.get("page"), finding.get("witness")) if name}
    waits = one.state in (JobState.WAITING, JobState.RUNNING)
    can = told["verdict"] == "refused" or one.state is JobState.FAILED
    return page(
        request,
        "job.html.j2",
        job=one,
        told=told,
        waits=waits,
        shown={name for name in pages if _found_file(site, one, name) is not None},
        can_again=can,
        declared=version.name if (version := site.store.version(one.version)).remote else "",
    )


async def job_again(request: Request) -> Response:
    """Has a job done again."""
    site = site_of(request)
    number = number_in(request)
    _, owner = await run_in_threadpool(known_visitor, request)
    await read_form(request)

    def again() -> int:
        site.limits.uploads.take(str(owner.id))
        with site.handing_in:
            return site.store.again(owner, number, site.clock()).id

    return to_page(request, f"/jobs/{await run_in_threadpool(again)}")


def job_file(request: Request) -> Response:
    """A file that the check of a job has left, for its owner: only one that a finding names."""
    one, name = own_job(request, number_in(request)), str(request.path_params["page"])
    named = any(name in (finding.get("page"), finding.get("witness")) for finding in one.findings)
    path = _found_file(site_of(request), one, name)
    if not named or path is None:
        raise NotAllowedError(404, "This job has no such file.")
    headers = {"Content-Security-Policy": SHUT_IN, "Cache-Control": "no-store"}
    if path.suffix != ".html":
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return FileResponse(path, media_type=_KINDS[path.suffix], headers=headers)


def _found_file(site: Site, job: Job, name: Any) -> Path | None:
    """Where a file of that name is that the check of a job has left; ``None`` if there is none."""
    if not isinstance(name, str) or _FILE.fullmatch(name) is None or Path(name).name != name:
        return None
    path = site.home.findings(job.id) / name
    return path if path.is_file() and not path.is_symlink() else None

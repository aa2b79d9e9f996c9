"""Answers that several handlers give: JSON, an error, a job as JSON, a page."""

import hashlib
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

import referee
from referee.host.rows import Job, JobState, Version, VersionState
from referee.host.store import NotAllowedError
from referee.host.web.sessions import COOKIE, LASTS_S, Session
from referee.host.web.site import REMOTE, Site, is_of_remote, site_of, visitor
from referee.report.sanitize import sanitize
from referee.sandbox.output import harmless

TEMPLATES: Final = Path(__file__).parent / "templates"

TITLES: Final = {
    400: "That cannot be read",
    401: "Who are you?",
    403: "Not allowed",
    404: "Not here",
    405: "Not done that way",
    408: "Too slow",
    409: "Not as things stand",
    413: "Too large",
    415: "Another kind is needed",
    429: "Too often",
    500: "Our fault",
    503: "Not at the moment",
    507: "No room",
}


def json_answer(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value as JSON."""
    return Response(orjson.dumps(value), status, headers=headers, media_type="application/json")


def refusal(request: Request, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """An error with its sentence: as JSON to programs, as a page to people."""
    if request.scope["path"].startswith("/api/") or request.scope["path"].startswith("/export"):
        more = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
        return json_answer({"error": sentence}, status, {**more, **(headers or {})})
    site = site_of(request)
    text = (
        environment_of(site.root)
        .get_template("error.html.j2")
        .render(
            **_of_every_page(request, site, None),
            title=TITLES.get(status, "Not possible"),
            sentence=sentence,
            status=status,
            number=request.scope.get("state", {}).get("request_id", ""),
        )
    )
    return HTMLResponse(text, status, dict(headers or {}))


def page(request: Request, template: str, **values: Any) -> Response:
    """A page of the site for whoever asks. It begins a session where there is none, so that its forms can be sent."""
    site = site_of(request)
    who = visitor(request) if "authorization" not in request.headers else None
    session = who.session if who is not None else None
    is_new = session is None
    session = session or site.sessions.new()
    text = (
        environment_of(site.root)
        .get_template(template)
        .render(
            **_of_every_page(request, site, who.owner if who else None),
            form_token=site.sessions.form_token(session),
            **values,
        )
    )
    answer = HTMLResponse(text)
    if is_new:
        keep_session(answer, site, session)
    return answer


def keep_session(answer: Response, site: Site, session: Session) -> None:
    """Puts a session into its cookie."""
    answer.set_cookie(
        COOKIE,
        site.sessions.written(session),
        max_age=LASTS_S,
        path=site.root or "/",
        secure=site.is_https,
        httponly=True,
        samesite="lax",
    )


def to_page(request: Request, path: str) -> Response:
    """Sends the browser to a page of this site, after a form."""
    return RedirectResponse(site_of(request).root + path, 303)


def _of_every_page(request: Request, site: Site, owner: Any) -> dict[str, Any]:
    remote = site.host.remote is not None and is_of_remote(request.scope["path"])
    return {
        "base": site.root + (REMOTE if remote else ""),
        "remote": remote,
        "has_remote": site.host.remote is not None,
        "site_name": site.definition.tournament.name,
        "owner": owner,
        "banner": site.store.setting("banner"),
        "paused": site.store.setting("paused") == "1",
        "engine_line": site.store.setting("remote_engine_line" if remote else "engine_line"),
        "here": request.scope["path"],
        "enter": site.host.enter,
        "style": static_version("site.css"),
        "script": static_version("live.js"),
    }


@cache
def static_file(name: str) -> bytes:
    """A file that pages need: the style of the report with that of the site, or the script."""
    own = (TEMPLATES / name).read_bytes()
    if name != "site.css":
        return own
    return (Path(referee.__file__).parent / "report" / "templates" / "style.css").read_bytes() + own


@cache
def static_version(name: str) -> str:
    """Changes when the file does, so that browsers may keep it."""
    return hashlib.sha256(static_file(name)).hexdigest()[:12]


def job_json(request: Request, job: Job) -> dict[str, Any]:
    """A job as the API has it."""
    site = site_of(request)
    version = site.store.version(job.version)
    here = site.url(request, f"/jobs/{job.id}")
    waits = job.state in (JobState.WAITING, JobState.RUNNING)
    return {
        "id": job.id,
        "bot": job.bot,
        "owner": job.owner,
        "version": job.version,
        "state": job.state,
        "stage": job.stage,
        "attempt": job.attempt,
        "before": site.store.before(job.id) if waits else 0,
        "verdict": version.state,
        "sentence": job.sentence,
        "findings": [{**one, "page": f"{here}/{one['page']}" if one.get("page") else ""} for one in job.findings],
        "log": job.log,
        "plays_in_s": plays_in_s(site, version),
        "page": here,
    }


def plays_in_s(site: Site, version: Version) -> int | None:
    """In how many seconds an accepted version plays, as far as can be told: when the next round begins; 0 if it plays.

    ``None`` too for one that does not play: a newer one has come, or its bot was retired.
    """
    if version.remote:  # whenever it is connected
        return None
    site.ladder.refresh()
    now = site.ladder.now
    if version.state is not VersionState.ACCEPTED:
        return None
    if now is None:
        return 0 if site.store.setting("paused") != "1" else None
    if version.digest and any(
        one.digest == version.digest and one.bot.casefold() == version.bot.casefold() and one.key in now.present
        for one in now.bots
    ):
        return 0
    if all(one.version != version.id for one in site.store.entered()):
        return None
    if "1" in (site.store.setting("paused"), site.store.setting("frozen")) or now.paused or now.frozen or now.finished:
        return None
    left, began = now.seconds_left(), site.store.setting("round_began")
    pause = float(began) + site.host.every_s - site.clock() if began and site.host.every_s else 0.0
    return None if left is None else math.ceil(max(left, pause))


def own_job(request: Request, number: int) -> Job:
    """A job that whoever asks may see: its owner, or an organiser. Raises ``NotAllowedError``."""
    who = visitor(request)
    job = site_of(request).store.job(number)
    if who.owner is None:
        raise NotAllowedError(401, "Log in, or send your token, to see this job.")
    if job.owner_id != who.owner.id and not who.owner.organiser:
        raise NotAllowedError(403, "That is not your job.")
    if who.token is not None and who.token.bot and who.token.bot.casefold() != job.bot.casefold():
        raise NotAllowedError(403, f"This token is for {who.token.bot} alone.")
    return job


def number_in(request: Request, name: str = "id") -> int:
    """The number in the path; raises ``NotAllowedError`` for one that nothing can have."""
    text = str(request.path_params[name])
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise NotAllowedError(404, "There is nothing with that number.")
    return int(text)


def at(seconds: float | None) -> str:
    """A time as people read it, in UTC."""
    if seconds is None:
        return "never"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def in_words(seconds: float | None) -> str:
    """A duration as people say it."""
    if seconds is None:
        return "at a time that cannot be told yet"
    if seconds < 90:
        return "in a minute or so"
    if seconds < 5400:
        return f"in about {round(seconds / 60)} minutes"
    return f"in about {round(seconds / 3600)} hours"


def _printable(value: Any) -> Any:
    """A value as a page shows it: whoever wrote it, no control characters, and no marks that turn the direction of the text."""
    if type(value) is not str or value.isprintable():  # markup is of another type
        return value
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "\N{REPLACEMENT CHARACTER}" for sign in value)


@cache
def environment_of(root: str) -> Environment:
    """The templates of a site whose paths begin with ``root``."""
    made = Environment(
        loader=PackageLoader("referee.host.web"),
        autoescape=True,
        finalize=_printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(sanitize=sanitize, harmless=harmless, at=at, in_words=in_words)
    made.globals.update(root=root, version=referee.__version__)
    return made

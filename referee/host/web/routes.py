"""The site of a host as one ASGI application: which path is whose."""

import time
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from referee.host.home import HostHome
from referee.host.store import NotAllowedError
from referee.host.web import accounts, api, organising, pages, played, remote
from referee.host.web.answers import refusal
from referee.host.web.events import board_events, job_events, table_events
from referee.host.web.guard import Guard
from referee.host.web.limits import WaitError
from referee.host.web.site import LOOK_S, Site
from referee.league.definition.definition import Definition

API: tuple[Route, ...] = (
    Route("/api/v1/entry", api.entry),
    Route("/api/v1/bots/{name}/versions", api.new_version, methods=["POST"]),
    Route("/api/v1/jobs/{id}", api.job),
    Route("/api/v1/jobs/{id}/events", job_events),
    Route("/api/v1/jobs/{id}/again", api.again, methods=["POST"]),
    Route("/api/v1/me", api.me),
    Route("/api/v1/board", api.board),
    Route("/api/v1/rounds", api.rounds),
    Route("/api/v1/games.ndjson", played.games),
    Route("/api/v1/remote/board", api.remote_board),
    Route("/api/v1/remote/rounds", api.remote_rounds),
    Route("/api/v1/remote/{name}", remote.poll, methods=["POST"]),
    Route("/api/v1/openapi.json", api.openapi),
)
"""What programs ask for."""

PAGES: tuple[Route, ...] = (
    Route("/", pages.board),
    Route("/bots/{name}", pages.bot),
    Route("/bots/{name}/feed.atom", pages.bot_feed),
    Route("/bots/{name}/worst/{id}", played.worst_page),
    Route("/bots/{name}/sources/{id}.zip", pages.sources),
    Route("/feed.atom", pages.feed),
    Route("/games/{id}", pages.game),
    Route("/tables", pages.tables),
    Route("/rounds", pages.rounds),
    Route("/rounds/{id}", played.round_page),
    Route("/remote", pages.board),
    Route("/remote/bots/{name}", pages.bot),
    Route("/remote/games/{id}", pages.game),
    Route("/remote/rounds", pages.rounds),
    Route("/remote/rounds/{id}", played.round_page),
    Route("/rules", pages.rules),
    Route("/enter", pages.enter),
    Route("/static/{name}", pages.static),
    Route("/login", accounts.login_page, methods=["GET"]),
    Route("/login", accounts.login, methods=["POST"]),
    Route("/logout", accounts.logout, methods=["POST"]),
    Route("/join/{secret}", accounts.join_page, methods=["GET"]),
    Route("/join/{secret}", accounts.join, methods=["POST"]),
    Route("/register", accounts.register_page, methods=["GET"]),
    Route("/register", accounts.register, methods=["POST"]),
    Route("/me", accounts.me),
    Route("/me/tokens", accounts.new_token, methods=["POST"]),
    Route("/me/tokens/{id}/revoke", accounts.revoke_token, methods=["POST"]),
    Route("/me/bots/{name}/retire", accounts.retire, methods=["POST"]),
    Route("/submit", accounts.submit_page, methods=["GET"]),
    Route("/submit", accounts.submit, methods=["POST"]),
    Route("/jobs/{id}", accounts.job),
    Route("/jobs/{id}/again", accounts.job_again, methods=["POST"]),
    Route("/jobs/{id}/{page}", accounts.job_file),
    Route("/organiser", organising.overview),
    Route("/organiser/versions/{id}", organising.decide, methods=["POST"]),
    Route("/organiser/owners/{id}", organising.block, methods=["POST"]),
    Route("/organiser/invitations", organising.invite, methods=["POST"]),
    Route("/organiser/invitations/{id}/revoke", organising.revoke_invitation, methods=["POST"]),
    Route("/organiser/rounds/{id}/void", organising.void_round, methods=["POST"]),
    Route("/organiser/settings", organising.setting, methods=["POST"]),
)
"""What people look at."""

OTHERS: tuple[Route, ...] = (
    Route("/events", board_events),
    Route("/tables/events", table_events),
    Route("/remote/events", board_events),
    Route("/export", api.export),
    Route("/export/remote", api.remote_export),
    Route("/export/{name}", api.old_records),
    Route("/healthz", api.healthz),
    Route("/metrics", api.metrics),
)


def app(
    home: HostHome,
    definition: Definition,
    clock: Callable[[], float] = time.time,
    *,
    ticks: Callable[[], float] = time.monotonic,
    aside: bool = False,
    look_s: float = LOOK_S,
) -> Starlette:
    """The site of a host. ``clock``: seconds since 1970; ``ticks``: seconds of the limits; ``aside``: the standings are
    worked out in another process.

    ``look_s``: how often a stream of events looks for news. Its ``state.site`` has to be closed. Raises ``HostStoreError``.
    """
    site = Site(home, definition, clock, ticks=ticks, aside=aside, look_s=look_s)
    made = Starlette(
        routes=[*API, *PAGES, *OTHERS],
        middleware=[Middleware(Guard, site)],
        exception_handlers={NotAllowedError: _not_allowed, HTTPException: _http},
    )
    made.router.redirect_slashes = False
    made.state.site = site
    return made


def _not_allowed(request: Request, error: Exception) -> Response:
    status = error.status if isinstance(error, NotAllowedError) else 500
    headers = {"Retry-After": str(error.wait_s)} if isinstance(error, WaitError) else {}
    return refusal(request, status, str(error), headers)


def _http(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    told = {
        404: "There is no such page here; begin at the board.",
        405: f"This address does not take {request.method if request.method.isalpha() else 'that'}.",
    }
    return refusal(request, error.status_code, told.get(error.status_code, "That cannot be done."), error.headers)

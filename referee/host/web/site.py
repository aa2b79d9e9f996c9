"""What the handlers of a site share: the store, the ladder, sessions, limits. One object for each site; there is no other state."""

import re
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request

from referee.host.home import HostHome
from referee.host.rows import JobState, Owner, Token
from referee.host.store import HostStore, NotAllowedError
from referee.host.web.careful import CarefulAnswers
from referee.host.web.closed_rounds import ClosedRounds
from referee.host.web.ladder_watch import LadderWatch
from referee.host.web.limits import RecentPages, SiteLimits
from referee.host.web.metrics import Figures, SiteMetrics
from referee.host.web.sessions import COOKIE, Session, Sessions
from referee.league.definition.definition import Definition
from referee.league.entrants.bot_source import BotSourceError, find_bot

REMOTE: Final = "/remote"
"""How the paths of the board of remote bots begin."""

LOOK_S: Final = 0.5
"""How often a stream of events looks whether there is something new."""

_AUTHORITY: Final = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9.-]{1,253})(:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks. ``owner``: nobody that we know, or whose token or session it is; ``token`` alone for a program."""

    owner: Owner | None
    token: Token | None = None
    session: Session | None = None


@dataclass(frozen=True, slots=True)
class ShownLadder:
    """A ladder as the site shows it: the host's own, or its board of remote bots. ``prefix``: how the paths of its pages begin."""

    watch: LadderWatch
    path: Path
    closed_rounds: ClosedRounds
    replay_pages: RecentPages
    prefix: str
    remote: bool


class Site:
    """The parts of a site. Close it when it is not needed any more."""

    def __init__(
        self,
        home: HostHome,
        definition: Definition,
        clock: Callable[[], float] = time.time,
        *,
        ticks: Callable[[], float] = time.monotonic,
        aside: bool = False,
        look_s: float = LOOK_S,
    ) -> None:
        """``clock``: seconds since 1970; ``ticks``: seconds since whenever, for limits; ``aside``: the standings are worked out in
        another process; ``look_s``: how often a stream of events looks for news.

        Raises ``HostStoreError``.
        """
        home.make()
        self.home, self.definition, self.clock, self.look_s = home, definition, clock, look_s
        self.host = definition.host_section
        self.root = urlsplit(self.host.url or "").path.rstrip("/")
        self.store = HostStore.open(home.store)
        self.sessions = Sessions(self.store.secret())
        self.ladder = LadderWatch(home.ladder, ticks, aside=aside, kept=home.board)
        self.closed_rounds = ClosedRounds(home.ladder, home.folder, ticks, in_thread=not aside)
        self.remote_ladder = LadderWatch(home.remote, ticks, aside=aside, kept=home.remote_board)
        self.remote_rounds = ClosedRounds(home.remote, home.folder, ticks, in_thread=not aside, name="remote-export")
        self.remote_pages = RecentPages()
        self.limits = SiteLimits(ticks, self.host.uploads_per_hour)
        self.replay_pages = RecentPages()
        self.careful = CarefulAnswers()
        self.handing_in = threading.Lock()
        self.stopping = threading.Event()
        """It ends."""
        self.metrics = SiteMetrics(self._figures)
        self._taken: frozenset[str] | None = None

    def close(self) -> None:
        """Ends what runs behind it, and closes its files."""
        self.stopping.set()
        for one in (self.ladder, self.remote_ladder, self.closed_rounds, self.remote_rounds, self.careful):
            one.close()
        self.store.close()

    def shown(self, *, remote: bool) -> "ShownLadder":
        """The ladder, or the board of remote bots; raises ``NotAllowedError`` if the host has none."""
        if not remote:
            return ShownLadder(self.ladder, self.home.ladder, self.closed_rounds, self.replay_pages, "", remote=False)
        if self.host.remote is None:
            raise NotAllowedError(404, "This host has no board of remote bots.")
        return ShownLadder(
            self.remote_ladder, self.home.remote, self.remote_rounds, self.remote_pages, REMOTE, remote=True
        )

    @property
    def is_https(self) -> bool:
        """Whether people reach it over TLS."""
        return self.host.speaks_https

    def url(self, request: Request, path: str = "") -> str:
        """The absolute URL of a path of the site: as ``[host]`` says, else as it was asked for."""
        if self.host.url is not None:
            return self.host.url.rstrip("/") + path
        asked = request.headers.get("host", "")
        return f"{'https' if self.is_https else 'http'}://{asked if _AUTHORITY.fullmatch(asked) else self.host.address}{path}"

    def taken(self) -> frozenset[str]:
        """The names of the house bots, which nobody may hand a bot in under."""
        if self._taken is None:
            self._taken = frozenset(_house_bots(self.definition))
        return self._taken

    def _figures(self) -> Figures:
        self.ladder.refresh()
        now, disk = self.ladder.now, self.home.folder
        jobs = {str(state): self.store.count_jobs(state) for state in (JobState.WAITING, JobState.RUNNING)}
        return {
            "referee_jobs": ("Jobs that wait or run.", jobs),
            "referee_watchers": ("Streams of events that are open.", {"": self.limits.watcher_places.taken}),
            "referee_uploads_running": ("Archives that are being received.", {"": self.limits.upload_places.taken}),
            "referee_rounds": ("Rounds that have begun.", {"": len(now.rounds) if now else 0}),
            "referee_round_games": ("Games of the open round.", {"": now.games_in_all if now else 0}),
            "referee_round_games_played": ("Its games that are over.", {"": now.games_played if now else 0}),
            "referee_bots": ("Bots that play.", {"": len(now.present) if now else 0}),
            "referee_disk_free_bytes": ("Room on the disk of the host.", {"": shutil.disk_usage(disk).free}),
        }


def is_of_remote(path: str) -> bool:
    """Whether a page is one of the board of remote bots."""
    return path == REMOTE or path.startswith(f"{REMOTE}/")


def shown_ladder(request: Request) -> ShownLadder:
    """The ladder that a page is of; raises ``NotAllowedError`` where the host has none."""
    return site_of(request).shown(remote=is_of_remote(request.scope["path"]))


def site_of(request: Request) -> Site:
    """The site that was asked."""
    found: Site = request.app.state.site
    return found


def visitor(request: Request) -> Visitor:
    """Who asks: by a bearer token, else by a session. Raises ``NotAllowedError`` for a token that is not valid."""
    site = site_of(request)
    given = request.headers.get("authorization")
    if given is not None:
        kind, _, token = given.partition(" ")
        if kind.lower() != "bearer":
            raise NotAllowedError(401, "Send the token in the header «Authorization: Bearer TOKEN».")
        owner, known = site.store.by_token(token.strip()[:200], site.clock())
        return Visitor(owner, token=known)
    session = site.sessions.read(request.cookies.get(COOKIE))
    if session is None or not session.owner:
        return Visitor(None, session=session)
    owner_ = site.store.owner(session.owner)
    revoked = session.token and any(one.id == session.token and one.revoked for one in site.store.tokens(session.owner))
    if owner_ is None or owner_.blocked or revoked:
        return Visitor(None)
    return Visitor(owner_, session=session)


def known_visitor(request: Request) -> tuple[Visitor, Owner]:
    """Who asks, if it is somebody that we know; raises ``NotAllowedError`` if not.

    Pages and their forms are for sessions alone: what a token may do, such as one for a single bot, is said by the API.
    """
    who = visitor(request)
    of_api = request.scope["path"].startswith("/api/")
    if who.token is not None and not of_api:
        raise NotAllowedError(401, "Pages take no token in a header: log in with it, or ask the API.")
    if who.owner is None:
        if of_api:
            raise NotAllowedError(401, "Send your token in the header «Authorization: Bearer TOKEN».")
        raise NotAllowedError(401, "Log in first: you need a token, or the organiser's invitation link.")
    return who, who.owner


def organiser(request: Request) -> Owner:
    """The organiser who asks; raises ``NotAllowedError`` for anybody else."""
    _, owner = known_visitor(request)
    if not owner.organiser:
        raise NotAllowedError(403, "Only organisers may do that.")
    return owner


def _house_bots(definition: Definition) -> list[str]:
    names = []
    for bot in definition.bots:
        if bot.name is not None:
            names.append(bot.name)
        elif bot.path is not None:
            try:
                names.append(find_bot(bot.path, definition.folder).name)
            except BotSourceError:
                names.append(bot.path.rstrip("/").rpartition("/")[2])
    return names

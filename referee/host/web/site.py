"""What the handlers of a site share: the store, the ladder, sessions, limits. One object for each site; there is no other state."""

import re
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request

from referee.host.home import HostHome
from referee.host.rows import JobState, Owner, Token
from referee.host.store import HostStore, NotAllowedError
from referee.host.web.closed_rounds import ClosedRounds
from referee.host.web.ladder_watch import LadderWatch
from referee.host.web.limits import Places, RateLimit, RecentPages
from referee.host.web.metrics import Figures, SiteMetrics
from referee.host.web.sessions import COOKIE, Session, Sessions
from referee.league.definition.definition import Definition
from referee.league.definition.fields import HostSection
from referee.league.entrants.bot_source import BotSourceError, find_bot

LOOK_S: Final = 0.5
"""How often a stream of events looks whether there is something new."""

_AUTHORITY: Final = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9.-]{1,253})(:[0-9]{1,5})?")
_MOST_UPLOADS: Final = 8
_MOST_UPLOADS_OF_AN_OWNER: Final = 2
_MOST_WATCHERS: Final = 1000
_MOST_WATCHERS_OF_AN_ADDRESS: Final = 60
"""A class sits behind one address."""
_LOGINS_A_MINUTE: Final = 20
_NEWCOMERS_AN_HOUR: Final = 60
_EXPORTS_AN_HOUR: Final = 60
_REPLAYS_A_MINUTE: Final = 60
_REQUESTS_A_MINUTE: Final = 6000


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks. ``owner``: nobody that we know, or whose token or session it is; ``token`` alone for a program."""

    owner: Owner | None
    token: Token | None = None
    session: Session | None = None


@dataclass(slots=True, kw_only=True)
class Site:
    """The parts of a site. ``clock``: seconds since 1970; ``ticks``: seconds since whenever, for limits; ``aside``: the standings are worked out in another process;
    ``stopping``: it ends.

    Close it when it is not needed any more.
    """

    home: HostHome
    definition: Definition
    clock: Callable[[], float] = time.time
    ticks: Callable[[], float] = time.monotonic
    aside: bool = False
    look_s: float = LOOK_S
    stopping: threading.Event = field(default_factory=threading.Event)
    store: HostStore = field(init=False)
    ladder: LadderWatch = field(init=False)
    sessions: Sessions = field(init=False)
    closed_rounds: ClosedRounds = field(init=False)
    metrics: SiteMetrics = field(init=False)
    host: HostSection = field(init=False)
    root: str = field(init=False)
    handing_in: threading.Lock = field(default_factory=threading.Lock)
    logins: RateLimit = field(init=False)
    requests: RateLimit = field(init=False)
    newcomers: RateLimit = field(init=False)
    exports: RateLimit = field(init=False)
    replays: RateLimit = field(init=False)
    replay_pages: RecentPages = field(default_factory=RecentPages)
    uploads: RateLimit = field(init=False)
    upload_places: Places = field(init=False)
    watcher_places: Places = field(init=False)
    export_places: Places = field(init=False)
    replay_places: Places = field(init=False)
    _taken: frozenset[str] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.home.make()
        self.host = self.definition.host_section
        self.root = urlsplit(self.host.url or "").path.rstrip("/")
        self.store = HostStore.open(self.home.store)
        self.sessions = Sessions(self.store.secret())
        self.ladder = LadderWatch(self.home.ladder, self.ticks, aside=self.aside)
        self.closed_rounds = ClosedRounds(self.home.ladder, self.home.folder, self.ticks, in_thread=not self.aside)
        self.logins = RateLimit(
            _LOGINS_A_MINUTE, 60, self.ticks, "Too many tries from your address; wait a minute, and try again."
        )
        self.newcomers = RateLimit(
            _NEWCOMERS_AN_HOUR, 3600, self.ticks, "Too many have come from your address this hour; try again later."
        )
        self.exports = RateLimit(
            _EXPORTS_AN_HOUR,
            3600,
            self.ticks,
            "The closed rounds were fetched often from your address; try again later.",
        )
        self.replays = RateLimit(
            _REPLAYS_A_MINUTE,
            60,
            self.ticks,
            "Many games were looked at from your address; wait a moment, and try again.",
        )
        self.requests = RateLimit(
            _REQUESTS_A_MINUTE, 60, self.ticks, "Too many requests from your address; wait a moment, and try again."
        )
        most = self.host.uploads_per_hour
        self.uploads = RateLimit(
            most, 3600, self.ticks, f"An owner may hand in {most} versions an hour, and you have; try again later."
        )
        self.upload_places = Places(
            _MOST_UPLOADS,
            _MOST_UPLOADS_OF_AN_OWNER,
            "Too many are handing in at this moment; try again in a few seconds.",
        )
        self.watcher_places = Places(
            _MOST_WATCHERS, _MOST_WATCHERS_OF_AN_ADDRESS, "Too many watch at the moment; load the page again later.", 30
        )
        # Whoever waits for these holds a thread that all share.
        self.export_places = Places(4, 2, "Many fetch the closed rounds at the moment; try again in a few seconds.")
        self.replay_places = Places(8, 4, "Many games are being looked at; try again in a moment.")
        self.metrics = SiteMetrics(self._figures)

    def close(self) -> None:
        """Ends what runs behind it, and closes its files."""
        self.stopping.set()
        self.ladder.close()
        self.closed_rounds.close()
        self.store.close()

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
            "referee_watchers": ("Streams of events that are open.", {"": self.watcher_places.taken}),
            "referee_uploads_running": ("Archives that are being received.", {"": self.upload_places.taken}),
            "referee_rounds": ("Rounds that have begun.", {"": len(now.rounds) if now else 0}),
            "referee_round_games": ("Games of the open round.", {"": now.games_in_all if now else 0}),
            "referee_round_games_played": ("Its games that are over.", {"": now.games_played if now else 0}),
            "referee_bots": ("Bots that play.", {"": len(now.present) if now else 0}),
            "referee_disk_free_bytes": ("Room on the disk of the host.", {"": shutil.disk_usage(disk).free}),
        }


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
    """Who asks, if it is somebody that we know; raises ``NotAllowedError`` if not."""
    who = visitor(request)
    if who.owner is None:
        if request.scope["path"].startswith("/api/"):
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

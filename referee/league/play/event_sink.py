"""Where finished games go: into the store at once, or into a list that a worker sends home."""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from referee.league.plan import GamePlan
from referee.league.play.run_figures import RunFigures
from referee.league.standings import summarise
from referee.league.store import FinishedGame, FixtureRow, GameSummary, Store
from referee.umpire.events import Ruling
from referee.umpire.faults import Fault
from referee.umpire.record import Record
from referee.umpire.umpire import Umpire


class LeagueObserver:
    """Whoever watches a league being played: the terminal, a test. Does nothing; a subclass does what it likes."""

    def scheduled(self, games: int) -> None:
        """A new round has begun: the schedule has so many games now."""

    def game(self, game: GamePlan, summary: GameSummary) -> None:
        """A game was stored."""

    def ruling(self, game: GamePlan, entrant: str, sentence: str) -> None:
        """A ruling was made against an entrant."""

    def fault(self, entrant: str, fault: str, sentence: str, log: str) -> None:
        """An entrant had a fault outside any single decision."""

    def withdrawn(self, entrant: str, reason: str) -> None:
        """An entrant is out of the league."""

    def away(self, entrant: str, reason: str) -> None:
        """A remote entrant is out of this round of a ladder, and may be in the next."""

    def no_contest(self, game: GamePlan, reason: str) -> None:
        """A game has to be played again."""

    def remote(self, entrant: str, address: str, token: str) -> None:
        """A remote entrant may dial in now."""

    def wrong_tokens(self, sentence: str) -> None:
        """Somebody has dialled in with a token that no entrant has."""


class EventSink:
    """Where legs report, and the arena that remote bots dial in to. Every call is made from the event loop, in the order of events."""

    def begin(self, games: Sequence[GamePlan], processes: Sequence[Sequence[Mapping[str, object]]] = ()) -> None:
        """These games are about to begin: no bot has seen anything of them yet. ``processes``: those that will, game by game."""

    def finished(self, game: GamePlan, umpire: Umpire, record: Record) -> None:
        """A game has a result."""

    def no_contest(self, game: GamePlan, reason: str) -> None:
        """A game ended without a result, through no bot's fault."""

    def ruled(self, game: GamePlan, ruling: Ruling) -> None:
        """A ruling was made."""

    def fault(self, entrant: str, fault: Fault, sentence: str, log: Path) -> None:
        """A fault of an entrant outside any single decision."""

    def withdrawn(self, entrant: str, reason: str) -> None:
        """An entrant is given up."""

    def launched(self, processes: Sequence[Mapping[str, object]], games: Sequence[GamePlan]) -> None:
        """These processes were started, and see these games, which have begun."""

    def tick(self) -> None:
        """Called a few times a second while games are played."""

    def expected(self, entrant: str, address: str, token: str) -> None:
        """A remote entrant may dial in here, with this token."""

    def remote_fault(self, entrant: str, fault: Fault, sentence: str) -> None:
        """A fault of a remote entrant outside any single decision, whose log is elsewhere."""

    def wrong_tokens(self, sentence: str) -> None:
        """Streams have come with a token that no entrant has."""

    def took(self, figures: RunFigures) -> None:
        """What was played since the last time took so much."""


@dataclass(frozen=True, slots=True)
class GameFinished:
    """A game has a result."""

    game: GamePlan
    record: Record
    summary: GameSummary


@dataclass(frozen=True, slots=True)
class GameAborted:
    """A game ended without a result, through no bot's fault."""

    game: GamePlan
    reason: str


@dataclass(frozen=True, slots=True)
class RulingMade:
    """A ruling was made against an entrant; the record has it too."""

    game: GamePlan
    entrant: str
    sentence: str


@dataclass(frozen=True, slots=True)
class FaultSeen:
    """An entrant had a fault outside any single decision."""

    entrant: str
    fault: Fault
    sentence: str
    log: Path


@dataclass(frozen=True, slots=True)
class EntrantWithdrawn:
    """An entrant is out of the league."""

    entrant: str
    reason: str


Event = GameFinished | GameAborted | RulingMade | FaultSeen | EntrantWithdrawn | RunFigures
"""What a worker sends home."""

_TOGETHER_SECONDS = 0.2
_MOST_TOGETHER = 64


class Pace:
    """How often a sink passes on what it has gathered: that of a fifth of a second together, sooner if it is much."""

    def __init__(self) -> None:
        self._passed_on_at = 0.0

    def is_due(self, gathered: int) -> bool:
        """Whether so many things are to be passed on now."""
        return gathered >= _MOST_TOGETHER or time.monotonic() - self._passed_on_at >= _TOGETHER_SECONDS

    def passed_on(self) -> None:
        """They have been, a moment ago."""
        self._passed_on_at = time.monotonic()


@dataclass(slots=True)
class BufferSink(EventSink):
    """Keeps what happened as plain data: the event sink of a worker. ``StoreSink.take`` takes it over."""

    events: list[Event] = field(default_factory=list)

    def finished(self, game: GamePlan, umpire: Umpire, record: Record) -> None:
        """Keeps a finished game."""
        self.events.append(GameFinished(game, record, summarise(umpire, game.seats, game.set_id)))

    def no_contest(self, game: GamePlan, reason: str) -> None:
        """Keeps a game that has to be played again."""
        self.events.append(GameAborted(game, reason))

    def ruled(self, game: GamePlan, ruling: Ruling) -> None:
        """Keeps a ruling."""
        self.events.append(RulingMade(game, game.seats[ruling.seat], _sentence(ruling)))

    def fault(self, entrant: str, fault: Fault, sentence: str, log: Path) -> None:
        """Keeps a fault."""
        self.events.append(FaultSeen(entrant, fault, sentence, log))

    def withdrawn(self, entrant: str, reason: str) -> None:
        """Keeps a withdrawal."""
        self.events.append(EntrantWithdrawn(entrant, reason))

    def took(self, figures: RunFigures) -> None:
        """Keeps what was used."""
        self.events.append(figures)


class StoreSink(EventSink):
    """Writes to the store and tells the observer.

    ``gone``: why each was given up that was; ``away``: those of them that may come again.

    Games that finish within a fifth of a second share a transaction, for each has to wait for the disk. A game counts
    as finished, and is told, only when it is stored. ``figures`` are those of all that was played.
    """

    def __init__(self, store: Store, observer: LeagueObserver, come_again: Collection[str] = ()) -> None:
        """``come_again``: entrants that are not withdrawn when they are given up, but out for this run: the remote bots of a ladder."""
        self._store, self._observer, self._come_again = store, observer, frozenset(come_again)
        self._attempts: dict[str, int] = {}
        self._processes: dict[str, list[Mapping[str, object]]] = {}
        self._ready: list[tuple[GamePlan, FinishedGame]] = []
        self._pace = Pace()
        self.again: list[GamePlan] = []
        self.gone: dict[str, str] = {}
        self.away: dict[str, str] = {}
        self.figures = RunFigures()

    def begin(self, games: Sequence[GamePlan], processes: Sequence[Sequence[Mapping[str, object]]] = ()) -> None:
        """Notes the attempts at these games before any bot sees them."""
        numbers = self._store.begin([(game.fixture_id, game.redeal) for game in games], processes)
        for game, number, those in zip(games, numbers, processes or [()] * len(games), strict=True):
            self._attempts[game.fixture_id] = number
            self._processes[game.fixture_id] = list(those)

    def finished(self, game: GamePlan, umpire: Umpire, record: Record) -> None:
        """Stores a finished game."""
        self.stored(game, record, summarise(umpire, game.seats, game.set_id))

    def stored(self, game: GamePlan, record: Record, summary: GameSummary) -> None:
        """Stores a finished game whose summary is made already."""
        row = FixtureRow(game.fixture_id, game.set_id, game.rotation, game.seats)
        attempt = self._ended(game)
        self._ready.append((game, FinishedGame(attempt, row, game.redeal, record, summary)))
        self.tick()

    def scheduled(self, games: int) -> None:
        """Tells the observer of a schedule that has grown."""
        self._observer.scheduled(games)

    def tick(self) -> None:
        """Stores what is ready, unless that was done a moment ago."""
        if self._pace.is_due(len(self._ready)):
            self.flush()

    def flush(self) -> None:
        """Stores what is ready."""
        ready, self._ready = self._ready, []
        if ready:
            self._store.finish_games([finished for _, finished in ready])
            self._pace.passed_on()
            self.took(RunFigures(len(ready), sum(finished.summary["decisions"] for _, finished in ready)))
            for game, finished in ready:
                self._observer.game(game, finished.summary)

    def no_contest(self, game: GamePlan, reason: str) -> None:
        """Ends the attempt; the game is to be played again."""
        self._store.end_attempt(self._ended(game), "NO_CONTEST", reason)
        self.again.append(game)
        self._observer.no_contest(game, reason)

    def ruled(self, game: GamePlan, ruling: Ruling) -> None:
        """Tells the observer; the store takes rulings with their game."""
        self._observer.ruling(game, game.seats[ruling.seat], _sentence(ruling))

    def fault(self, entrant: str, fault: Fault, sentence: str, log: Path) -> None:
        """Stores a fault outside single decisions."""
        self._store.add_fault(entrant, str(fault), sentence, str(log))
        self._observer.fault(entrant, str(fault), sentence, str(log))

    def withdrawn(self, entrant: str, reason: str) -> None:
        """Takes an entrant out of the league; one that may come again out of what is played now."""
        if entrant in self.gone:
            return
        self.gone[entrant] = reason
        if entrant in self._come_again:
            self.away[entrant] = reason
            self._store.add_fault(entrant, str(Fault.DISCONNECT), reason, "-")
            self._observer.away(entrant, reason)
        else:
            self._store.withdraw(entrant, reason)
            self._observer.withdrawn(entrant, reason)

    def launched(self, processes: Sequence[Mapping[str, object]], games: Sequence[GamePlan]) -> None:
        """Notes that these processes see the games too."""
        for game in games:
            self._processes[game.fixture_id].extend(processes)
        if games:
            ids = [game.fixture_id for game in games]
            self._store.note_processes([(self._attempts[one], self._processes[one]) for one in ids])

    def expected(self, entrant: str, address: str, token: str) -> None:
        """Tells the observer where a remote entrant is expected."""
        self._observer.remote(entrant, address, token)

    def remote_fault(self, entrant: str, fault: Fault, sentence: str) -> None:
        """Stores a fault of a remote entrant, whose log is elsewhere."""
        self.fault(entrant, fault, sentence, Path("-"))

    def wrong_tokens(self, sentence: str) -> None:
        """Tells the observer of streams with a token that nobody has."""
        self._observer.wrong_tokens(sentence)

    def took(self, figures: RunFigures) -> None:
        """Adds it up."""
        self.figures += figures

    def take(self, events: Sequence[Event]) -> None:
        """Takes over what a worker has sent home. A game that was ended already, as by a worker that was lost, counts once."""
        for event in events:
            match event:
                case GameFinished() | GameAborted() if event.game.fixture_id not in self._attempts:
                    continue
                case GameFinished():
                    self.stored(event.game, event.record, event.summary)
                case GameAborted():
                    self.no_contest(event.game, event.reason)
                case RulingMade():
                    self._observer.ruling(event.game, event.entrant, event.sentence)
                case FaultSeen():
                    self.fault(event.entrant, event.fault, event.sentence, event.log)
                case EntrantWithdrawn():
                    self.withdrawn(event.entrant, event.reason)
                case RunFigures():
                    self.took(event)
        self.flush()

    def end(self, games: Iterable[GamePlan], reason: str) -> list[GamePlan]:
        """Stores what is ready and ends the attempts at these games that are still open: stopped, or with a bot that was withdrawn.

        Returns those of them that were no contest.
        """
        self.flush()
        ids = {game.fixture_id for game in games}
        for game_id in sorted(ids & self._attempts.keys()):
            self._store.end_attempt(self._attempts.pop(game_id), "STOPPED", reason)
            del self._processes[game_id]
        again = [game for game in self.again if game.fixture_id in ids]
        self.again = [game for game in self.again if game.fixture_id not in ids]
        return again

    def _ended(self, game: GamePlan) -> int:
        """The number of an attempt that is over."""
        del self._processes[game.fixture_id]
        return self._attempts.pop(game.fixture_id)


def _sentence(ruling: Ruling) -> str:
    rule = f" {ruling.rule}" if ruling.rule else ""
    return f"{ruling.fault}{rule}: {ruling.sentence} ({ruling.consequence.lower()})"

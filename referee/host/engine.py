"""The engine of a host: plays the rounds of its ladder, one after another, and says what it waits for.

It alone writes the ladder. A round is begun, played and closed as ``referee run`` does it. Whatever keeps the next one from
beginning is told in one line, and looked at again when something has changed, or after a while: it never gives up.
"""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar, Final

from referee.host.disk import FOR_ROUNDS, DiskRoom, room_on
from referee.host.entering import Eligibility, Entering, house_bots, present
from referee.host.home import HostHome
from referee.host.store import HostStore
from referee.league.definition.definition import Definition, load_definition
from referee.league.definition.problems import ProblemsError, counted
from referee.league.entrants.roster import Roster
from referee.league.ladder import check_same_ladder, close_round, void_open_sets, withdraw
from referee.league.ladder_history import closed_rounds, open_round, rounds_of
from referee.league.league import League, LeagueError, begin, read_league
from referee.league.plan import GamePlan, LeaguePlan
from referee.league.play.event_sink import LeagueObserver
from referee.league.play.ladder_rounds import closed_line, plan_of_round, with_open_round
from referee.league.play.open_files import room_for
from referee.league.play.runner import Runner
from referee.league.retention import archive_name, archive_rounds, due_rounds, give_back, rounds_archived
from referee.league.schedule.format import ScheduleError
from referee.league.store import Store, StoreError
from referee.league.store.archived_records import told_rounds
from referee.report.sanitize import sanitize
from referee.sandbox.command import LaunchError, os_error_text
from referee.sandbox.isolation import Policy, SandboxKind, choose_sandbox

NOTICE: Final = 25
"""The level of a line that belongs on the terminal though nothing is wrong."""

_LOOK_SECONDS: Final = 1.0
_STOP_SECONDS: Final = 0.2
_SHORTEST_PAUSE: Final = 15.0
_LONGEST_PAUSE: Final = 600.0
_MOST_DOUBLINGS: Final = 10
_TOLD_RULINGS: Final = 3

_FAULT: Final = "The next round waits for something that the organiser has to put right."

_PUT_RIGHT: Final = (ProblemsError, ScheduleError, LeagueError, StoreError, LaunchError, OSError)
"""What somebody can put right while the engine waits."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How rounds are played. ``until``: the engine ends when so many are closed; 0 = never."""

    workers: int = 1
    cluster: str = ""
    sandbox: Policy = "auto"
    until: int = 0


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why no round is played. ``until``: the time when that is over, if it is known. ``fault``: somebody has to put something right.
    ``over``: none will be, for all that were asked for are played.
    """

    line: str
    until: float | None = None
    fault: bool = False
    over: bool = False


def begin_ladder(home: HostHome, definition: Definition, house: Roster, sandbox: SandboxKind) -> None:
    """Makes the ladder of a host, without a round. Raises ``StoreError``, or ``ProblemsError`` for what cannot be one."""
    begin(definition, house, home.ladder, sandbox, {})


def play(home: HostHome, stop: threading.Event, options: EngineOptions = EngineOptions()) -> None:
    """Plays rounds until ``stop`` is set, or enough of them are closed. Raises ``HostStoreError``."""
    with HostStore.open(home.store) as store:
        Engine(home, store, stop, options).run()


class Engine:
    """Plays the rounds of a host's ladder. ``clock``: seconds since 1970; ``room``: that of a folder's disk.

    What depends on which ladder that is stands in methods of its own: its file, its definition and house bots, who plays, the
    runner of a round, and under which names it tells the site of itself (``said``), and how the names of its archives begin (``archived_as``).
    """

    said: ClassVar[str] = ""
    archived_as: ClassVar[str] = ""

    def __init__(
        self,
        home: HostHome,
        store: HostStore,
        stop: threading.Event,
        options: EngineOptions,
        clock: Callable[[], float] = time.time,
        room: Callable[[Path], DiskRoom] = room_on,
    ) -> None:
        self._home, self._store, self._stop, self._options = home, store, stop, options
        self._clock, self._room = clock, room
        self._kind = choose_sandbox(options.sandbox).kind
        self._who = self._eligibility()
        self._left_out: tuple[str, ...] = ()
        self._tried = False

    def run(self) -> None:
        """Plays rounds until it is stopped, or enough of them are closed."""
        failures = 0
        while not self._stop.is_set():
            try:
                waiting = self.step()
            except _PUT_RIGHT as error:
                waiting = Waiting(_sentence(error), fault=True)
            if waiting is None:
                failures = 0
                continue
            if waiting.over:
                return
            failures = failures + 1 if self._tried else 0  # what looks alone costs little, however often
            self._wait(waiting, failures)

    def step(self) -> Waiting | None:
        """Plays the open round, or the next; or says why none is played. Raises what somebody can put right."""
        self._tried = False
        if not self.path.exists():
            begin(*self._house(), self.path, self._kind, {})
        written = self._definition()
        check_same_file(self._home, self.path, written)
        with Store.write(self.path) as ladder:
            league = read_league(ladder)
            most = self._options.until
            if most and closed_rounds(league) >= most:
                return Waiting("All rounds that were asked for are played.", over=True)
            if league.facts["state"] == "finished":
                return Waiting("This ladder is finished.", over=bool(most))
            league = self._with_withdrawals(ladder, league)
            if self._why_void(league):
                self._void(ladder, league)
                return None
            fresh = open_round(league) is None
            if fresh:
                self._archive_old_rounds(ladder, league, written.host_section.keep_rounds or 0)
                if (waiting := self._may_begin(league, written.host_section.every_s)) is not None:
                    return waiting
                definition, roster = self._next_bots(league)
                if len(roster.entrants) < definition.shape().table_size:
                    return Waiting(_too_few(definition, roster))
            else:
                if (waiting := self._disk_waits()) is not None:
                    return waiting
                definition, roster = self._bots_of_open_round(league)
            room_for(definition, roster.entrants)
            try:
                league, lines = with_open_round(ladder, league, definition, roster)
            except ScheduleError as error:  # such as two bots of one owner and nobody else
                return Waiting(f"A round cannot begin: {error}.")
            self._note_begin(len(rounds_of(league)))
            for line in lines:
                _log.log(NOTICE, "%s", sanitize(line, 400))
            self._tell(None)
            self._tried = True
            self._play(ladder, league, roster)
        return None

    # Which ladder.

    @property
    def path(self) -> Path:
        """The file of the ladder."""
        return self._home.ladder

    def _definition(self) -> Definition:
        """Its definition as it is now. Raises ``DefinitionError``."""
        return load_definition(self._home.definition)

    def _house(self) -> tuple[Definition, Roster]:
        """The same, with its house bots. Raises ``ProblemsError``."""
        return house_bots(self._home)

    def _eligibility(self) -> Eligibility:
        return Eligibility(self._home, self._store, sandboxed=self._kind != "none")

    def _runner(self, ladder: Store, league: League, plan: LeaguePlan) -> Runner:
        """Plays the open round."""
        return Runner(ladder, league, plan, RoundLog(), self._options.workers, self._options.cluster)

    # Who plays.

    def _next_bots(self, league: League) -> tuple[Definition, Roster]:
        """Who plays next. The organiser's page freezes and lets go again, ``referee ladder --freeze`` for good."""
        frozen = "frozen" in league.facts or self._store.setting("frozen") == "1"
        found = self._who.next_round(league, frozen=frozen and bool(rounds_of(league)))
        self._tell_left_out(found)
        return found.definition, found.roster

    def _tell_left_out(self, found: Entering) -> None:
        """Who is left out, once for each reason."""
        for line in found.lines:
            if line not in self._left_out:
                _log.warning("%s", sanitize(line, 600))
        self._left_out = found.lines

    def _bots_of_open_round(self, league: League) -> tuple[Definition, Roster]:
        if self._kind == "none":
            playing = set((open_round(league) or {"bots": ()})["bots"])
            with Store.read(self.path) as reader:
                gone = _gone(reader)
            strangers = [
                one.key
                for one in league.entrants
                if one.submitted and not one.remote and one.key in playing and not gone[one.key]
            ]
            if strangers:
                raise LeagueError(
                    f"the open round has {', '.join(strangers)}, which somebody has handed in, and there is no sandbox to shut them in: "
                    "apt install bubblewrap util-linux, and start the host again"
                )
        return self._who.going_on(league)

    def _with_withdrawals(self, ladder: Store, league: League) -> League:
        """The ladder, from which whom the organiser has withdrawn since is withdrawn."""
        found = list(self._who.withdrawn(league, _gone(ladder)))
        for key, reason in found:
            withdraw(ladder, league, key, reason)
            _log.log(NOTICE, "%s is withdrawn: %s", sanitize(key, 60), sanitize(reason))
        return read_league(ladder) if found else league

    def _archive_old_rounds(self, ladder: Store, league: League, keep: int) -> None:
        """Moves the records of rounds that are old enough to files; stopped, it goes on the next time."""
        if self._disk_waits() is None:
            for before in due_rounds(ladder, league, keep):
                if self._stop.is_set():
                    return
                target = (
                    self._home.records / f"{self.archived_as}{archive_name(rounds_archived(ladder) + 1, before - 1)}"
                )
                about = archive_rounds(ladder, league, before, target, replace=True)
                _log.log(NOTICE, "The records of %s lie in %s", told_rounds(about), target.name)
        give_back(ladder, self._stop.is_set)

    # Whether a round may begin.

    def _disk_waits(self) -> Waiting | None:
        """That nothing is played for want of room; ``None`` if there is enough."""
        lacking = self._room(self._home.folder).lacks(FOR_ROUNDS)
        return (
            Waiting(f"The disk is nearly full ({lacking}): nothing is played until there is more room.")
            if lacking
            else None
        )

    def _may_begin(self, league: League, every_s: int) -> Waiting | None:
        """Why the next round may not begin yet; ``None`` if it may. ``every_s``: the seconds from one beginning to the next."""
        if self._store.setting("paused") == "1" or league.facts.get("paused"):
            return Waiting("Paused by the organiser: no round begins.")
        if (waiting := self._disk_waits()) is not None:
            return waiting
        began, now = self._store.setting(f"{self.said}round_began"), self._clock()
        if every_s and began and rounds_of(league):
            until = min(float(began), now) + every_s
            if now < until:
                return Waiting(f"The next round begins at {_clock_time(until)}.", until)
        return None

    def _note_begin(self, number: int) -> None:
        """Notes when a round began, once: that decides when the next one may, also if we were killed before it could be noted."""
        if self._store.setting(f"{self.said}round_noted") != str(number):
            self._store.tell(f"{self.said}round_began", repr(self._clock()))
            self._store.tell(f"{self.said}round_noted", str(number))

    # Waiting.

    def _wait(self, waiting: Waiting, failures: int) -> None:
        """Waits until what decides has changed, or for a while: longer and longer where playing itself has failed."""
        known = self._store.setting(f"{self.said}engine_{'fault' if waiting.fault else 'line'}")
        if known != waiting.line:
            _log.log(logging.WARNING if waiting.fault else NOTICE, "%s", sanitize(waiting.line, 600))
        self._tell(waiting)
        pause = min(_SHORTEST_PAUSE * 2 ** min(max(failures - 1, 0), _MOST_DOUBLINGS), _LONGEST_PAUSE)
        again, seen, change = time.monotonic() + pause, self._seen(), self._changes()
        while not self._stop.wait(_LOOK_SECONDS):
            if time.monotonic() >= again or (waiting.until is not None and self._clock() >= waiting.until):
                break
            if (now := self._changes()) != change:
                change = now
                if self._seen() != seen:
                    break

    def _tell(self, waiting: Waiting | None) -> None:
        """Tells the site what is waited for. What has to be put right names files of this machine: that is for the organiser alone."""
        line = "" if waiting is None else _FAULT if waiting.fault else waiting.line
        self._store.tell(f"{self.said}engine_line", line)
        self._store.tell(f"{self.said}engine_fault", waiting.line if waiting is not None and waiting.fault else "")

    def _changes(self) -> Sequence[object]:
        """What is another value when somebody has written to the store, the definition or the ladder: cheap, so looked at often."""
        ladder = self.path
        paths = (self._home.definition, ladder, ladder.with_name(ladder.name + "-wal"))
        return (self._store.change(), *map(_state, paths))

    def _seen(self) -> Sequence[object]:
        """What decides whether a round may begin, and with whom."""
        ladder: object
        try:
            with Store.read(self.path) as reader:
                facts = reader.league()
                ladder = (facts.get("paused"), facts.get("frozen"), facts["state"], _gone(reader))
        except StoreError as error:  # it cannot be read: another error is a change too
            ladder = str(error)
        return (self._who.seen(), _state(self._home.definition), ladder)

    # A round.

    def _play(self, ladder: Store, league: League, roster: Roster) -> None:
        """Plays the open round to its end and closes it, unless it is stopped."""
        while True:
            here = present(league, roster)
            plan, _ = plan_of_round(ladder, here, self.path.with_suffix(".logs"), self._kind)
            runner = self._runner(ladder, here, plan)
            with self._watched(runner, league, _gone(ladder)):
                outcome = runner.run()
            if not outcome.open:
                break
            if self._stop.is_set():
                _log.log(
                    NOTICE,
                    "Stopped in a round, with %s left; it goes on with the next start",
                    counted(outcome.open, "set"),
                )
                return
            if self._why_void(league):
                self._void(ladder, league)
                return
            before, league = league, self._with_withdrawals(ladder, league)
            if league is before:
                raise LeagueError("the round was not played to its end, and nobody has stopped it")
        closed = close_round(ladder, read_league(ladder))
        _log.log(NOTICE, "%s", closed_line(closed))

    def _why_void(self, league: League) -> str:
        """Why the organiser has what is open of the open round voided; empty if not."""
        round_ = open_round(league)
        return "" if round_ is None else self._store.why_void(round_["number"], self.said)

    def _void(self, ladder: Store, league: League) -> None:
        """Voids what is open of the open round, and closes it."""
        reason = self._why_void(league)
        number = void_open_sets(ladder, league, reason)
        closed = close_round(ladder, read_league(ladder))
        voided = f"Round {closed['number']}: {counted(number, 'set')} voided by the organiser: {sanitize(reason)}"
        _log.log(NOTICE, "%s", voided)
        _log.log(NOTICE, "%s", closed_line(closed))

    @contextlib.contextmanager
    def _watched(self, runner: Runner, league: League, gone: dict[str, str | None]) -> Iterator[None]:
        """While a round is played: stops it when the engine is stopped, somebody who plays is withdrawn, or the rest is voided."""
        over = threading.Event()

        def watch() -> None:
            change: int | None = None  # somebody may have been withdrawn since the round was looked at
            looked = time.monotonic()
            while not over.wait(_STOP_SECONDS):
                withdrawn = False
                if time.monotonic() - looked >= _LOOK_SECONDS:
                    looked = time.monotonic()
                    if (now := self._store.change()) != change:
                        change, withdrawn = now, any(self._who.withdrawn(league, gone)) or bool(self._why_void(league))
                if withdrawn or self._stop.is_set():
                    with contextlib.suppress(RuntimeError):  # it has ended this moment
                        runner.stop()
                    return

        watching = threading.Thread(target=watch, name="watches-round")
        watching.start()
        try:
            yield
        finally:
            over.set()
            watching.join()


class RoundLog(LeagueObserver):
    """Writes what happens in a round into the log: what concerns everybody for the terminal too."""

    def __init__(self) -> None:
        self._told = dict[tuple[str, str], int]()

    def ruling(self, game: GamePlan, entrant: str, sentence: str) -> None:
        """The first rulings of a kind against an entrant; all are in the ladder."""
        key = (entrant, sentence.partition(":")[0])
        count = self._told[key] = self._told.get(key, 0) + 1
        if count <= _TOLD_RULINGS:
            _log.info("ruling against %s in %s: %s", sanitize(entrant, 60), game.fixture_id, sanitize(sentence))

    def fault(self, entrant: str, fault: str, sentence: str, log: str) -> None:
        """A fault outside any single decision."""
        _log.info("fault of %s: %s: %s Its log: %s", sanitize(entrant, 60), fault, sanitize(sentence), log)

    def withdrawn(self, entrant: str, reason: str) -> None:
        """An entrant is out."""
        _log.log(NOTICE, "%s is withdrawn by the referee: %s", sanitize(entrant, 60), sanitize(reason))

    def no_contest(self, game: GamePlan, reason: str) -> None:
        """A game that is played again."""
        _log.info("no contest %s: %s; it is played again", game.fixture_id, sanitize(reason))


def check_ladder(home: HostHome, definition: Definition) -> None:
    """Raises ``LeagueError`` if the host has a ladder already, and that is of another definition."""
    check_same_file(home, home.ladder, definition)


def check_same_file(home: HostHome, path: Path, definition: Definition) -> None:
    """The same of any ladder of a host."""
    if path.exists():
        with Store.read(path) as reader:
            league = read_league(reader)
        check_same_ladder(path, league, definition, f"move {home.folder} away to begin another")


def rounds_closed(home: HostHome) -> int:
    """How many rounds of a host's ladder are closed."""
    if not home.ladder.exists():
        return 0
    with Store.read(home.ladder) as reader:
        return closed_rounds(read_league(reader))


def _gone(ladder: Store) -> dict[str, str | None]:
    """Why each bot of a ladder is withdrawn, if it is, by key."""
    return {key: one["withdrawn"] for key, one in ladder.entrants().items()}


def _too_few(definition: Definition, roster: Roster) -> str:
    bots, seats = len(roster.entrants), definition.shape().table_size
    return f"A table takes {counted(seats, 'bot')}, and {counted(bots, 'bot')} {'is' if bots == 1 else 'are'} here: a round begins when there are enough."


def _state(path: Path) -> object:
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _clock_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S UTC")


def _sentence(error: BaseException) -> str:
    return os_error_text(error) if isinstance(error, OSError) and error.errno is not None else str(error)

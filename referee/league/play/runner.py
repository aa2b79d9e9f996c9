"""Plays a league to its end, leg by leg, in this process or by workers; every step can be resumed.

Only the process that runs this writes the store. Results do not depend on the number of workers: packs follow from the
master and the set, and no bot process meets a pack twice.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace

from referee.league.league import League, LeagueError, add_sets, same_machine
from referee.league.plan import GamePlan, LeaguePlan
from referee.league.play.arena import Arena
from referee.league.play.cluster import ClusterWorkers, lost_worker
from referee.league.play.event_sink import Event, LeagueObserver, StoreSink
from referee.league.play.leg import Leg
from referee.league.play.run_figures import ProcessorTime, RunFigures
from referee.league.play.workers import LocalWorkers, Pool, Stoppable, play_block
from referee.league.schedule.blocks import SetQueue, by_processes
from referee.league.schedule.formats import format_of
from referee.league.schedule.schedule import PlannedSet, Schedule, read_schedule
from referee.league.sets_to_play import (
    INTERRUPTED,
    MOST_NO_CONTESTS,
    STOPPED,
    WITHDRAWN,
    closed_by_id,
    find_ending,
    looks_at_its_results,
    never_contested,
    next_sets,
    sets_to_play,
    withdrawn_early,
    withdrawn_from,
)
from referee.league.standings import standings_of
from referee.league.store import Store
from referee.league.store.roots import roots
from referee.sandbox.orphans import end_orphans
from referee.sandbox.process_tree import process
from referee.statistics.standings import Standings

LEG_SECONDS = 30.0
_FIRST_STAGE = 64


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended: ``finished``, or stopped before the end; sets scored, void and open; the standings if finished.

    ``figures`` say what playing took, without the standings at the end.
    """

    finished: bool
    scored: int
    void: int
    open: int
    table: Standings | None = field(default=None, compare=False, repr=False)
    figures: RunFigures = field(default=RunFigures(), compare=False, repr=False)


class Runner:
    """Plays what is left of a league. ``stop`` may be called from a signal handler; ``run`` then ends soon, cleanly."""

    def __init__(
        self,
        store: Store,
        league: League,
        plan: LeaguePlan,
        observer: LeagueObserver,
        workers: int = 1,
        cluster: str = "",
    ) -> None:
        """``cluster`` is the address of a Dask scheduler, whose workers then play instead of ours.

        Raises ``StoreError`` if the stored schedule makes no sense.
        """
        self._store, self._league, self._plan = store, league, plan
        self._schedule = read_schedule(store)
        self._remote = sorted(key for key, bot in plan.bots.items() if bot.command is None)
        self._workers = 1 if self._remote else workers  # remote bots dial in to this process
        self._cluster = "" if self._remote else cluster
        self._event_sink = StoreSink(store, observer)
        self._loop: asyncio.Runner | None = None
        self._arena: Arena | None = None
        self._stopping = threading.Event()
        self._playing: Stoppable | None = None
        self._hurried = False

    @property
    def schedule(self) -> Schedule:
        """The stored schedule; a format by rounds makes it longer while the league is played."""
        return self._schedule

    def stop(self) -> None:
        """Asks the run to end; games under way are played again on resume.

        The first time the bots are sent off and waited for. The second time all is ended at once: ``run`` then raises
        ``KeyboardInterrupt``. An exception from a signal handler would do that too, but gRPC does not always survive it.
        """
        if self._stopping.is_set():
            self._hurried = True
            if self._playing is not None:
                self._playing.kill()
        self._stopping.set()
        if self._playing is not None:
            self._playing.tell()

    def run(self) -> RunOutcome:
        """Plays until every set is scored or void, or until stopped. Raises ``StoreError`` or ``LeagueError``."""
        began, used = time.monotonic(), ProcessorTime.from_now()
        self._settle_earlier_attempts(_nothing_lives(end_orphans()))
        self._void_withdrawn()
        with self._premises():
            if self._cluster:
                with ClusterWorkers(self._cluster) as elsewhere:
                    self._workers = elsewhere.workers
                    self._stages_by(elsewhere)
            elif self._workers > 1:
                with LocalWorkers(self._workers) as pool:
                    self._stages_by(pool)
            else:
                self._stages(self._stage_here)
        own = replace(
            used.taken(), seconds=time.monotonic() - began
        )  # workers have told of their bots, and are children here
        self._event_sink.took(replace(own, bots_s=0.0) if self._cluster or self._workers > 1 else own)
        return self._close()

    def _stages_by(self, pool: Pool) -> None:
        self._playing = pool
        if self._stopping.is_set():
            pool.tell()
        self._stages(lambda sets: self._stage_by_workers(pool, sets))

    @contextmanager
    def _premises(self) -> Iterator[None]:
        """One event loop for all legs in this process; with remote bots, the arena that they dial in to."""
        with asyncio.Runner() as self._loop:
            try:
                if self._remote:
                    self._loop.run(self._open_arena())
                yield
            finally:
                if self._arena is not None:
                    self._loop.run(self._arena.close(stopped=self._stopping.is_set()))

    async def _open_arena(self) -> None:
        shape = self._league.shape
        if format_of(shape).by_rounds:  # in later rounds anybody may play
            slots = {(key, slot) for key in self._remote for slot in range(shape.seats // shape.table_size)}
        else:
            open_ = {row.id for row in self._store.sets() if row.state == "OPEN"}
            slots = {slot for game in self._schedule.fixtures if game.set_id in open_ for slot in game.processes}
        self._arena = Arena(self._plan, self._event_sink)
        await self._arena.open({(key, slot) for key, slot in slots if key in self._remote})

    def _stages(self, play: Callable[[Sequence[PlannedSet]], None]) -> None:
        """Plays what is left of the schedule; when all of it is over, what the format adds, round by round."""
        self._play_schedule(play)
        while not self._stopping.is_set() and (more := next_sets(self._store, self._league, self._schedule)):
            add_sets(self._store, self._league.name, more)
            self._schedule = Schedule(self._schedule.sets + more)
            self._event_sink.scheduled(len(self._schedule.fixtures))
            self._void_withdrawn()
            self._play_schedule(play)

    def _play_schedule(self, play: Callable[[Sequence[PlannedSet]], None]) -> None:
        size, ahead = _FIRST_STAGE, None
        if not looks_at_its_results(self._league):
            ahead = SetQueue(self._store, self._schedule.sets, self._share, self._workers)
        while not self._stopping.is_set():
            todo = ahead.stage(size) if ahead else sets_to_play(self._store, self._league, self._schedule, size)
            if not todo:
                return
            ids = [planned.id for planned in todo]
            before, started = self._store.sets_of(ids), time.monotonic()
            play(todo)
            self._void_withdrawn()
            if self._store.sets_of(ids) == before and not self._stopping.is_set():
                raise LeagueError("no game could be finished; see the lines above, fix that, then: referee resume")
            if ahead:
                ahead.back(todo)
            games = sum(len(planned.rotations) for planned in todo)
            size = self._stage_size(games, time.monotonic() - started, len(todo[0].rotations))

    def _stage_size(self, games: int, seconds: float, legs: int) -> int:
        """How many sets the next stage should have, after one of so many games took so long."""
        return max(1, int(LEG_SECONDS * games / max(seconds, 0.001)) // max(legs, 1))

    @property
    def _share(self) -> int:
        """How many bot processes a worker may have alive at once; 0 = any number."""
        most = self._plan.max_processes
        if self._cluster:
            return most  # each worker has a machine of its own, or should
        return max(most // self._workers, 1) if most else 0

    # What earlier runs left.

    def _settle_earlier_attempts(self, nothing_lives: bool = True) -> None:
        """Attempts without an end: the same packs again if everything that saw them is certainly dead, else new ones.

        That the referee was killed is no fault of a game: it does not count towards the three after which a set is void.
        """
        before = self._store.league()
        here = same_machine(before["host"]) and not before.get("cluster")
        proven = nothing_lives and here and not self._remote
        rows = {row.id: row for row in self._store.sets()}
        for number, fixture, redeal, _ in self._store.open_attempts():
            row = rows[fixture.rpartition("-")[0]]
            if not proven and row.state == "OPEN" and row.redeal == redeal:
                rows[row.id] = replace(row, redeal=self._store.redeal_set(self._league.name, row.id))
            self._store.end_attempt(number, "STOPPED", INTERRUPTED)
        if bool(before.get("cluster")) != bool(self._cluster):
            self._store.put(cluster=bool(self._cluster))  # what this run leaves open, nobody here can prove dead

    def _void_withdrawn(self) -> None:
        """Withdrawal voids the entrant's unfinished sets; its closed ones stay if they are at least half of all."""
        gone = {key: about["withdrawn"] for key, about in self._store.entrants().items() if about["withdrawn"]}
        while gone and self._void_scored(gone):
            continue  # one that stood at half of its sets may have lost some by another's withdrawal

    def _void_scored(self, gone: Mapping[str, str]) -> bool:
        """Voids what has to be void of these entrants; whether any set that was scored is among it."""
        rows, voided = {row.id: row for row in self._store.sets()}, False
        for key, reason in gone.items():
            own = [rows[planned.id] for planned in self._schedule.sets if key in planned.table]
            closed = [row for row in own if row.state == "SCORED"]
            for row in own:
                if row.state == "OPEN":
                    self._store.close_set(row.id, "VOID", withdrawn_from(key, reason))
            if len(closed) * 2 < len(own):
                for row in closed:
                    self._store.void_scored_set(row.id, withdrawn_early(key, reason))
                    rows[row.id], voided = replace(row, state="VOID"), True
        return voided

    # One stage: rotation r of all its sets in leg r.

    def _stage_here(self, sets: Sequence[PlannedSet]) -> None:
        for group in by_processes(sets, self._plan.max_processes):
            for games in self._legs(group):
                self._play_until_done(self._playable(games))
                self._void_withdrawn()
                if self._stopping.is_set():
                    break
            self._score(group)  # when stopped too: sets that are whole count at once
            if self._stopping.is_set():
                return

    def _playable(self, games: Sequence[GamePlan]) -> list[GamePlan]:
        """Those games whose set is still open, with the packs that they were planned for."""
        rows = self._store.sets_of({game.set_id for game in games})
        return [game for game in games if rows[game.set_id].state == "OPEN" and rows[game.set_id].redeal == game.redeal]

    def _leg_here(self, games: Sequence[GamePlan]) -> None:
        if self._loop is None:
            raise RuntimeError("legs are played inside of run")
        self._event_sink.begin(games)
        before = self._playing
        try:
            self._loop.run(self._play_leg(games))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
        finally:
            self._playing = before
        self._event_sink.end(STOPPED if self._stopping.is_set() else WITHDRAWN)

    async def _play_leg(self, games: Sequence[GamePlan]) -> None:
        stop = asyncio.Event()
        self._playing = _LegHere(asyncio.get_running_loop(), stop, asyncio.current_task())
        if self._stopping.is_set():
            stop.set()
        await Leg(self._plan, games, self._event_sink, stop, self._arena).play()

    def _play_until_done(self, games: Sequence[GamePlan]) -> None:
        """Plays a leg, then again what was no contest."""
        while games and not self._stopping.is_set():
            self._leg_here(games)
            games = self._again()

    def _again(self) -> list[GamePlan]:
        """The games that were no contest, to be played again in fresh processes; the third time a set is void.

        A remote bot may remember the packs: its set gets new ones, and is left to the next stage.
        """
        games = []
        for game in self._event_sink.again:
            if self._store.no_contests(game.fixture_id) >= MOST_NO_CONTESTS:
                self._store.close_set(game.set_id, "VOID", never_contested(game.fixture_id))
            elif not self._playable([game]):
                continue
            elif set(self._remote) & set(game.seats):
                self._store.redeal_set(self._league.name, game.set_id)
            else:
                games.append(game)
        return games

    def _legs(self, sets: Sequence[PlannedSet]) -> list[list[GamePlan]]:
        ids = [planned.id for planned in sets]
        rows, done = self._store.sets_of(ids), self._store.played(ids)
        legs = self._schedule.legs(sets)
        return [
            [
                GamePlan.of(fixture, rows[fixture.set_id].redeal)
                for fixture in leg
                if (fixture.id, rows[fixture.set_id].redeal) not in done
            ]
            for leg in legs
        ]

    def _score(self, sets: Sequence[PlannedSet]) -> None:
        """Closes the sets of which every game is stored."""
        rows = self._store.sets_of(planned.id for planned in sets)
        self._store.score_sets(
            planned.id
            for planned in sets
            if rows[planned.id].state == "OPEN" and rows[planned.id].games == len(planned.fixtures)
        )

    # Workers.

    def _stage_by_workers(self, pool: Pool, sets: Sequence[PlannedSet]) -> None:
        """Deals the sets out in blocks; each worker plays all legs of its block with bot processes of its own."""
        groups = by_processes(sets, self._share)
        parts = -(-self._workers // max(len(groups), 1))
        blocks = [block for group in groups for i in range(parts) if (block := group[i::parts])]
        todo = [[leg for leg in self._legs(block) if leg] for block in blocks]
        self._event_sink.begin([game for legs in todo for leg in legs for game in leg])
        futures = [pool.submit(play_block, self._plan, legs) for legs in todo]
        errors = [error for future in as_completed(futures) if (error := self._taken(future)) is not None]
        if self._hurried:
            raise KeyboardInterrupt
        if any(isinstance(error, BrokenProcessPool) or lost_worker(error) for error in errors):
            raise LeagueError("a worker process died; nothing is lost, go on with: referee resume")
        for error in errors:
            raise error
        self._event_sink.end(STOPPED if self._stopping.is_set() else WITHDRAWN)
        self._play_until_done(self._again())
        self._score(sets)

    def _taken(self, future: "Future[list[Event]]") -> BaseException | None:
        """Takes over what a worker has played; after an error, the other workers are told to stop."""
        try:
            error = future.exception()
        except CancelledError as lost:
            error = lost
        if error is None:
            self._event_sink.take(future.result())
        elif self._playing is not None:
            self._playing.tell()
        return error

    # The end.

    def _close(self) -> RunOutcome:
        rows = self._store.sets()
        counts = {state: sum(row.state == state for row in rows) for state in ("SCORED", "VOID", "OPEN")}
        left = sets_to_play(self._store, self._league, self._schedule, 1)
        finished = not left and not next_sets(self._store, self._league, self._schedule)
        table = None
        if finished and self._store.league().get("state") == "finished":
            table = standings_of(self._store, self._league)  # its roots are published, and stay as they are
        elif finished:
            early = find_ending(self._league, self._schedule, closed_by_id(self._store))
            self._store.put(ended=asdict(early) if early else None)
            table = standings_of(self._store, self._league)
            last = {"state": "finished", "standings": table.to_json()}
            self._store.put(**last, **roots(self._store, last))
        figures = self._event_sink.figures
        return RunOutcome(finished, counts["SCORED"], counts["VOID"], counts["OPEN"], table, figures)


@dataclass(frozen=True, slots=True)
class _LegHere:
    """The leg that is played in this process, to be stopped from a signal handler."""

    loop: asyncio.AbstractEventLoop
    stop: asyncio.Event
    task: "asyncio.Task[None] | None"

    def tell(self) -> None:
        """Tells the leg to stop."""
        self.loop.call_soon_threadsafe(self.stop.set)

    def kill(self) -> None:
        """Cancels it, with all that it waits for."""
        if self.task is not None:
            self.loop.call_soon_threadsafe(self.task.cancel)


def _nothing_lives(pids: Sequence[int]) -> bool:
    """Whether these processes, which were told to end, have ended."""
    return all((one := process(pid)) is None or one.dead for pid in pids)

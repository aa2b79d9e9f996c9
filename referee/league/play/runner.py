"""Plays a league to its end, stage by stage, in this process or by workers; every step can be resumed.

A stage is some sets, leg by leg: one game of each in a leg, each leg by fresh processes. Stages are played in lanes: one here,
more where processors are idle, or one for each worker. Only the process that runs this writes the store. Results depend
neither on lanes nor on stages: packs follow from the master and the set, and no bot process meets a pack twice.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from referee.league.league import League, LeagueError, add_sets, same_machine
from referee.league.plan import GamePlan, LeaguePlan
from referee.league.play.arena import Arena
from referee.league.play.cluster import ClusterWorkers
from referee.league.play.event_sink import Event, LeagueObserver, StoreSink
from referee.league.play.idle_processors import IdleProcessors
from referee.league.play.leg import Leg
from referee.league.play.run_figures import ProcessorTime, RunFigures
from referee.league.play.workers import LocalWorkers, Pool
from referee.league.schedule.blocks import SetQueue
from referee.league.schedule.formats import format_of
from referee.league.schedule.schedule import PlannedSet, Schedule
from referee.league.sets_to_play import (
    INTERRUPTED,
    MOST_NO_CONTESTS,
    STOPPED,
    WITHDRAWN,
    away_from,
    closed_by_id,
    find_ending,
    never_contested,
    next_sets,
    schedule_to_play,
    sets_to_play,
    withdrawn_early,
    withdrawn_from,
)
from referee.league.standings import standings_of
from referee.league.store import Store
from referee.league.store.root_digests import roots
from referee.net.games_in_play import Watch
from referee.sandbox.orphans import end_orphans
from referee.sandbox.process_tree import process
from referee.statistics.standings import Standings

STAGE_SECONDS: Final = 160.0
"""So long a stage takes sets in, shared equally by its legs. Where half as much more would do for all that are left, it takes those too."""

MOST_SETS: Final = 4096
"""Sets of a stage at most."""

FIRST_SETS: Final = 256
"""Sets of a worker's first stage at most; how many it plays in ``STAGE_SECONDS`` is known afterwards."""

_LOOK_SECONDS: Final = 0.5
_FEW: Final = 8


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


@dataclass(slots=True, eq=False)
class _Lane:
    """Plays one stage after another. ``sets`` are those of the stage that it plays, ``leg`` its leg if that is played here.

    It can play ``size`` sets in the time of a stage, as far as is known; its last stage had ``last``, 0 before the first.
    """

    size: int
    last: int = 0
    sets: list[PlannedSet] = field(default_factory=list)
    leg: Leg | None = None


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
        watch: Watch | None = None,
    ) -> None:
        """``cluster`` is the address of a Dask scheduler, whose workers then play instead of ours. ``watch`` looks on at the games that
        are played in this process.

        Raises ``StoreError`` if the stored schedule makes no sense.
        """
        self._store, self._league, self._plan = store, league, plan
        self._schedule = schedule_to_play(store, league)
        self._remote = sorted(key for key, bot in plan.bots.items() if bot.command is None)
        self._workers = 1 if self._remote else workers  # remote bots dial in to this process
        self._cluster = "" if self._remote else cluster
        self._watch = watch
        self._event_sink = StoreSink(store, observer, self._remote if format_of(league.shape).endless else ())
        self._arena: Arena | None = None
        self._pool: Pool | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._stopping = threading.Event()
        self._failure: BaseException | None = None
        self._deaf = False
        self._queue = SetQueue(store, (), 0)
        self._lanes: list[_Lane] = []
        self._idle = IdleProcessors()
        self._excused: dict[str, tuple[str, ...]] = {}

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
            if self._pool is not None:
                self._pool.kill()
            if self._loop is not None and self._task is not None:
                self._loop.call_soon_threadsafe(self._task.cancel)
        self._stopping.set()
        if self._pool is not None:
            self._pool.tell()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)

    def run(self) -> RunOutcome:
        """Plays until every set is scored or void, or until stopped. Raises ``StoreError`` or ``LeagueError``."""
        began, used = time.monotonic(), ProcessorTime.from_now()
        self._settle_earlier_attempts(_nothing_lives(end_orphans()))
        self._void_withdrawn()
        self._play()
        own = replace(used.taken(), seconds=time.monotonic() - began)
        # Workers have told of their bots, and are children here.
        self._event_sink.took(replace(own, bots_s=0.0) if self._pool is not None else own)
        return self._close()

    def _play(self) -> None:
        try:
            with asyncio.Runner() as loop:
                loop.run(self._play_here())
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
        finally:
            self._loop = self._task = None

    async def _play_here(self) -> None:
        """Plays all, where this league is played: by workers, or in the arena of this process."""
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        async with contextlib.AsyncExitStack() as premises:
            if self._cluster:
                self._pool = premises.enter_context(ClusterWorkers(self._cluster))
            elif self._workers > 1:
                self._pool = premises.enter_context(LocalWorkers(self._workers))
            else:
                self._arena = await self._open_arena()
                premises.push_async_callback(self._close_arena)
            if self._pool is not None:
                self._workers = self._pool.workers
            if self._stopping.is_set():
                return
            await self._play_rounds()

    async def _open_arena(self) -> Arena:
        shape = self._league.shape
        if format_of(shape).by_rounds:  # in later rounds anybody may play
            slots = {(key, slot) for key in self._remote for slot in range(shape.seats // shape.table_size)}
        else:
            open_ = {row.id for row in self._store.sets() if row.state == "OPEN"}
            slots = {slot for game in self._schedule.fixtures if game.set_id in open_ for slot in game.processes}
        arena = Arena(self._plan, self._event_sink, self._watch)
        await arena.open({(key, slot) for key, slot in slots if key in self._remote})
        return arena

    async def _close_arena(self) -> None:
        if self._arena is not None:
            await self._arena.close(stopped=self._halted)
            self._arena = None

    @property
    def _halted(self) -> bool:
        """Whether no more is to be played: somebody has stopped the run, or it has failed."""
        return self._stopping.is_set() or self._failure is not None

    def _fail(self, error: BaseException) -> None:
        """Ends the run by an error; what else is under way is stopped."""
        self._failure = self._failure or error
        self._stop.set()
        if self._pool is not None:
            self._pool.tell()

    async def _play_rounds(self) -> None:
        """Plays what is left of the schedule; when all of it is over, what the format adds, round by round."""
        await self._play_schedule()
        while not self._halted and (more := next_sets(self._store, self._league, self._schedule)):
            add_sets(self._store, self._league.name, more)
            self._schedule = Schedule(self._schedule.sets + more)
            self._event_sink.scheduled(len(self._schedule.fixtures))
            self._void_withdrawn()
            await self._play_schedule()

    async def _play_schedule(self) -> None:
        """Plays all that is open, or all up to a look at the results, and so on until nothing is left."""
        size = len(self._schedule.sets)
        while not self._halted and (todo := sets_to_play(self._store, self._league, self._schedule, size)):
            await self._play_sets(todo)

    @property
    def _share(self) -> int:
        """How many bot processes a stage may have alive at once; 0 = any number. Stages on one machine share what it may have."""
        most = self._plan.max_processes
        sharers = 1 if self._pool is None else self._pool.sharers
        return max(most // sharers, 1) if most else 0

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
        """Withdrawal voids the entrant's unfinished sets; its closed ones stay if they are at least half of all.

        Who is away from a round of a ladder loses its unfinished sets alone.
        """
        gone = {key: about["withdrawn"] for key, about in self._store.entrants().items() if about["withdrawn"]}
        while gone and self._void_scored(gone):
            continue  # one that stood at half of its sets may have lost some by another's withdrawal
        for key, reason in self._event_sink.away.items():
            own = self._store.sets_of(planned.id for planned in self._schedule.sets if key in planned.table)
            for row in own.values():
                if row.state == "OPEN":
                    self._store.close_set(row.id, "VOID", away_from(key, reason))

    def _void_scored(self, gone: Mapping[str, str]) -> bool:
        """Voids what has to be void of these entrants; whether any set that was scored is among it."""
        rows, voided = {row.id: row for row in self._store.sets()}, False
        for key, reason in gone.items():
            own = [rows[planned.id] for planned in self._schedule.sets if key in planned.table]
            closed = [row for row in own if row.state == "SCORED"]
            for row in own:
                if row.state == "OPEN":
                    self._store.close_set(row.id, "VOID", withdrawn_from(key, reason))
            if len(closed) * 2 < len(own) and not format_of(self._league.shape).endless:
                for row in closed:
                    self._store.void_scored_set(row.id, withdrawn_early(key, reason))
                    rows[row.id], voided = replace(row, state="VOID"), True
        return voided

    # Lanes: each plays one stage after another.

    async def _play_sets(self, sets: Sequence[PlannedSet]) -> None:
        """Plays these sets to their end. Raises the first error of a lane when all have ended."""
        self._queue = SetQueue(self._store, sets, self._share)
        tasks = self._open_lanes(self._workers if self._pool is not None else 1)
        may_grow = self._pool is None and not self._remote
        try:
            while tasks:
                done, tasks = await asyncio.wait(
                    tasks, timeout=_LOOK_SECONDS if may_grow else None, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    if (error := task.exception()) is not None:
                        self._fail(error)
                if may_grow and not self._halted:
                    tasks |= self._use_idle_processors()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if self._failure is not None:
            raise self._failure

    def _open_lanes(self, number: int) -> set[asyncio.Task[None]]:
        """Opens so many lanes, which share all sets that wait."""
        share = -(-len(self._queue) // number)
        size = share if 2 * share <= 3 * FIRST_SETS or self._pool is None else FIRST_SETS
        lanes = [_Lane(min(size, MOST_SETS)) for _ in range(number)]
        self._lanes += lanes
        return {asyncio.get_running_loop().create_task(self._play_lane(lane)) for lane in lanes}

    async def _play_lane(self, lane: _Lane) -> None:
        try:
            while not self._halted:
                lane.sets = self._next_stage(lane)
                if not lane.sets:
                    return
                await (self._stage_here(lane) if self._pool is None else self._stage_by_worker(self._pool, lane))
                lane.last = len(lane.sets)
                self._queue.back(lane.sets)
        finally:
            self._lanes.remove(lane)

    def _next_stage(self, lane: _Lane) -> list[PlannedSet]:
        """The sets of a lane's next stage: as many as it can play in its time; of the last ones its share, but no small rest."""
        others = sum(one.leg.size for one in self._lanes if one is not lane and one.leg is not None)
        most = self._plan.max_processes
        if others and most and others >= most:
            return []
        size = lane.size
        if lane.last:
            share = max(-(-len(self._queue) // len(self._lanes)), lane.last // 2)
            size = share if 2 * share <= 3 * size else size
        return self._queue.take(size, most - others if others and most else 0)

    def _use_idle_processors(self) -> set[asyncio.Task[None]]:
        """More lanes where bots think and processors are idle: they take over games that have not begun."""
        legs = [lane.leg for lane in self._lanes if lane.leg is not None and lane.leg.fed_s]
        if not legs or self._arena is None:
            return set()
        found = self._idle.look(self._arena.meters())
        if found is None:
            return set()
        leg = max(legs, key=lambda one: one.fresh)
        number = self._idle.more_lanes(found, len(self._lanes), narrow=leg.narrow)
        alive = sum(one.size for one in legs)
        if self._plan.max_processes:
            number = min(number, (self._plan.max_processes - alive) // leg.size)
        number = min(number, leg.fresh // 2)
        for one in legs:
            one.widen()
        if number <= 0:
            return set()
        leg.give_back(-(-(leg.fresh + leg.under_way) // (number + 1)) - leg.under_way)
        self._idle.begin_again()
        return self._open_lanes(number)

    # A stage in this process: leg by leg.

    async def _stage_here(self, lane: _Lane) -> None:
        first = True
        while not self._halted and (games := self._next_leg(lane.sets)):
            if not first and _FEW * len(games) < len(lane.sets) and len(self._queue):
                break  # what is over late, as after a no contest, is played with the next sets
            before = self._store.sets_of(one.id for one in lane.sets)
            await self._play_leg(lane, games, first=first)
            kept = {planned.id for planned in lane.sets}  # the others may be under way in another lane by now
            self._settle([game for game in games if game.set_id in kept], lane.sets, before)
            first, lane.size = False, MOST_SETS
        self._score(lane.sets)  # when stopped too: sets that are whole count at once

    def _next_leg(self, sets: Sequence[PlannedSet]) -> list[GamePlan]:
        """The next game of each set that is open."""
        return next(iter(self._legs(sets)), [])

    def _legs(self, sets: Sequence[PlannedSet]) -> list[list[GamePlan]]:
        """What is left of these sets, leg by leg: no set is twice in one leg."""
        ids = [planned.id for planned in sets]
        rows, done = self._store.sets_of(ids), self._store.played(ids)
        legs: list[list[GamePlan]] = []
        for planned in sets:
            row = rows[planned.id]
            left = [one for one in planned.fixtures if (one.id, row.redeal) not in done] if row.state == "OPEN" else []
            for number, fixture in enumerate(left):
                if number == len(legs):
                    legs.append([])
                game = GamePlan.of(fixture, row.redeal)
                legs[number].append(replace(game, excused=self._excused.get(fixture.id, ())))
        return legs

    async def _play_leg(self, lane: _Lane, games: Sequence[GamePlan], *, first: bool) -> None:
        """Plays a leg. The first of a stage decides how many sets the stage has: those that it does not come to are left."""
        legs = max(len(planned.rotations) for planned in lane.sets)
        narrow = first and len(self._lanes) == 1 and not self._remote and self._idle.may_help
        leg = Leg(
            self._plan,
            games,
            self._event_sink,
            self._stop,
            self._arena,
            seconds=STAGE_SECONDS / legs if first else 0.0,
            narrow=narrow,
            leave=lambda left: self._leave(lane, left),
        )
        lane.leg = leg
        self._idle.begin_again()
        try:
            await leg.play()
        finally:
            lane.leg = None

    def _leave(self, lane: _Lane, games: Iterable[GamePlan]) -> None:
        """Puts the sets of games that a leg does not play back; what their other games have shown is dead already."""
        left = {game.set_id for game in games}
        gone = [planned for planned in lane.sets if planned.id in left]
        lane.sets = [planned for planned in lane.sets if planned.id not in left]
        self._queue.back(gone)

    def _settle(self, games: Sequence[GamePlan], sets: Sequence[PlannedSet], before: Mapping[str, object]) -> None:
        """After a leg, or a stage of a worker: what did not come to an end. Raises ``LeagueError`` if nothing did."""
        again = self._event_sink.end(games, STOPPED if self._halted else WITHDRAWN)
        for game in again:
            self._judge_no_contest(game)
        self._void_withdrawn()
        now = self._store.sets_of(one.id for one in sets)
        if sets and not again and not self._halted and all(before[key] == row for key, row in now.items()):
            raise LeagueError("no game could be finished; see the lines above, fix that, then run it again")
        if self._event_sink.gone:
            for lane in self._lanes:
                if lane.leg is not None:
                    lane.leg.do_without(self._event_sink.gone)

    def _judge_no_contest(self, game: GamePlan) -> None:
        """A game that was no contest is played again in fresh processes; the third time its set is void.

        A remote bot may remember the packs: its set gets new ones.
        """
        if self._store.no_contests(game.fixture_id) >= MOST_NO_CONTESTS:
            self._store.close_set(game.set_id, "VOID", never_contested(game.fixture_id))
        elif self._store.sets_of([game.set_id])[game.set_id].redeal != game.redeal:
            return
        elif set(self._remote) & set(game.seats):
            self._store.redeal_set(self._league.name, game.set_id)
        elif game.excused:
            self._excused[game.fixture_id] = game.excused

    def _score(self, sets: Sequence[PlannedSet]) -> None:
        """Closes the sets of which every game is stored."""
        rows = self._store.sets_of(planned.id for planned in sets)
        self._store.score_sets(
            planned.id
            for planned in sets
            if rows[planned.id].state == "OPEN" and rows[planned.id].games == len(planned.fixtures)
        )

    # A stage by a worker: all its legs at once.

    async def _stage_by_worker(self, pool: Pool, lane: _Lane) -> None:
        while not self._halted and (legs := self._legs(lane.sets)):
            games = [game for leg in legs for game in leg]
            if _FEW * len(games) < len(lane.sets) and len(self._queue):
                break
            before, began = self._store.sets_of(one.id for one in lane.sets), time.monotonic()
            self._event_sink.begin(games)
            loop = asyncio.get_running_loop()

            def tell(events: list[Event], loop: asyncio.AbstractEventLoop = loop) -> None:
                loop.call_soon_threadsafe(self._take, events)

            await loop.run_in_executor(pool.threads, pool.play, self._plan, legs, tell)
            if self._failure is not None:
                raise self._failure
            self._settle(games, lane.sets, before)
            sets_a_second = len(legs[0]) / max(time.monotonic() - began, 0.001)
            lane.size = max(1, min(int(sets_a_second * STAGE_SECONDS), MOST_SETS))
        self._score(lane.sets)

    def _take(self, events: Sequence[Event]) -> None:
        """Takes over what a worker has told, unless that has failed before: then nothing more is written."""
        if self._deaf:
            return
        try:
            self._event_sink.take(events)
        except BaseException as error:  # noqa: BLE001  # raised by the lane
            self._deaf = True
            self._fail(error)

    # The end.

    def _close(self) -> RunOutcome:
        rows = self._store.sets()
        counts = {state: sum(row.state == state for row in rows) for state in ("SCORED", "VOID", "OPEN")}
        left = sets_to_play(self._store, self._league, self._schedule, 1)
        finished = not left and not next_sets(self._store, self._league, self._schedule)
        finished = finished and not format_of(self._league.shape).endless  # a round ends, a ladder goes on
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


def _nothing_lives(pids: Sequence[int]) -> bool:
    """Whether these processes, which were told to end, have ended."""
    return all((one := process(pid)) is None or one.dead for pid in pids)

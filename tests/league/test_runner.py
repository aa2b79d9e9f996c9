"""The runner: legs and stages, what is played again, what is void, and what earlier runs left. Legs here are made up."""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from referee.league.definition.definition import parse_definition
from referee.league.league import LeagueError, read_league
from referee.league.plan import GamePlan, LeaguePlan
from referee.league.play import runner
from referee.league.play.arena import Arena
from referee.league.play.event_sink import BufferSink, Event, LeagueObserver
from referee.league.play.runner import MOST_NO_CONTESTS, Runner, RunOutcome
from referee.league.play.worker_process import Tell
from referee.league.store import Store, StoreError
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import write_record
from tests.league.inprocess import InProcess, ThreadWorkers, found_league, league_text, play_game

NAMES: Final = ("a", "b", "c")
PLAYERS: Final = dict.fromkeys(NAMES, fallback_move)
QUICK: Final = "[rules]\nmax_deals = 2"


class Lines(LeagueObserver):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def __getattribute__(self, name: str) -> Any:
        if name in vars(LeagueObserver) and not name.startswith("_"):
            return lambda *what: self.told.append((name, *what))
        return super().__getattribute__(name)

    def names(self) -> list[str]:
        return [line[0] for line in self.told]


class Legs(InProcess):
    """A runner whose legs do what the test says with each game: ``spoil`` says which are no contest."""

    def __init__(self, store: Store, **how: Any) -> None:
        self.lines = Lines()
        super().__init__(store, PLAYERS, self.lines)
        self.legs: list[list[str]] = []
        self.spoil: Callable[[GamePlan], bool] = how.get("spoil", lambda _game: False)
        self.after_leg: Callable[[], None] = how.get("after_leg", lambda: None)

    def run(self) -> RunOutcome:
        return Runner.run(self)

    async def _play_leg(self, _lane: Any, games: Sequence[GamePlan], *, first: bool) -> None:
        self.legs.append([game.fixture_id for game in games])
        self._event_sink.begin(games)
        for game in games:
            if self._stopping.is_set():
                break
            if self.spoil(game):
                self._event_sink.no_contest(game, "the referee stalled")
            elif not self._event_sink.gone.keys() & set(game.seats):
                umpire = play_game(self._plan, game, self.players)
                self._event_sink.finished(game, umpire, write_record(umpire, self._plan.heading(game)))
        self.after_leg()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A league of two sets of three games, in which nothing is played yet."""
    where = tmp_path / "league.sqlite"
    found_league(where, parse_definition(league_text(NAMES, more=QUICK)), NAMES)
    return where


def run(path: Path, **how: Any) -> tuple[RunOutcome, Legs]:
    with Store.write(path) as store:
        legs = Legs(store, **how)
        return legs.run(), legs


def attempts(path: Path) -> Counter[str]:
    with Store.read(path) as store:
        return Counter(outcome for (outcome,) in store._db.execute("SELECT outcome FROM attempt"))


def rotations(leg: Sequence[str]) -> set[str]:
    return {fixture.rpartition("-")[2] for fixture in leg}


def test_a_leg_holds_one_rotation_of_all_sets(path: Path) -> None:
    outcome, legs = run(path)
    assert outcome == RunOutcome(True, 2, 0, 0)
    assert [len(leg) for leg in legs.legs] == [2, 2, 2]
    assert [rotations(leg) for leg in legs.legs] == [{"0"}, {"1"}, {"2"}]
    assert attempts(path) == {"SCORED": 6}


def test_a_game_that_was_no_contest_is_played_again_in_the_next_leg_with_the_same_packs(path: Path) -> None:
    spoiled: list[GamePlan] = []

    def once(game: GamePlan) -> bool:
        if game.rotation == 1 and not spoiled:
            spoiled.append(game)
            return True
        return False

    outcome, legs = run(path, spoil=once)
    assert outcome.finished
    assert outcome.scored == 2
    other = next(fixture for fixture in legs.legs[1] if fixture != spoiled[0].fixture_id)
    assert legs.legs[2] == [spoiled[0].fixture_id, f"{other[:-2]}-2"]  # beside the next game of another set
    assert legs.legs[3] == [f"{spoiled[0].set_id}-2"]
    assert attempts(path) == {"SCORED": 6, "NO_CONTEST": 1}
    with Store.read(path) as store:
        assert [row.redeal for row in store.sets()] == [0, 0]


def test_the_third_time_its_set_is_void_and_the_rest_of_it_is_not_played(path: Path) -> None:
    outcome, legs = run(path, spoil=lambda game: game.rotation == 0 and game.set_id == first_set(path))
    assert outcome == RunOutcome(True, 1, 1, 0)
    with Store.read(path) as store:
        void = store.sets()[0]
        assert void.state == "VOID"
        assert void.reason == f"game {void.id}-0 was no contest three times"
    played = [fixture for leg in legs.legs for fixture in leg if fixture.startswith(first_set(path))]
    assert played == [f"{first_set(path)}-0"] * MOST_NO_CONTESTS


def first_set(path: Path) -> str:
    with Store.read(path) as store:
        return store.sets()[0].id


def test_kills_do_not_count_as_no_contests(path: Path) -> None:
    """However often the operator kills it, a game is played in the end."""
    for _ in range(MOST_NO_CONTESTS + 2):
        with Store.write(path) as store:
            store.begin([(fixture.id, 0) for fixture in store.fixtures()])
    spoiled: Counter[str] = Counter()

    def twice(game: GamePlan) -> bool:
        spoiled[game.fixture_id] += 1
        return spoiled[game.fixture_id] < MOST_NO_CONTESTS

    outcome, _ = run(path, spoil=twice)
    assert outcome == RunOutcome(True, 2, 0, 0)
    assert attempts(path) == {"STOPPED": 30, "NO_CONTEST": 12, "SCORED": 6}


def test_after_a_kill_on_another_machine_the_packs_are_new(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can prove that the bots which saw them are dead."""
    with Store.write(path) as store:
        first, second = (row.id for row in store.sets())
        store.begin([(f"{first}-0", 0), (f"{first}-1", 0)])
    monkeypatch.setattr(runner, "same_machine", lambda _facts: False)
    outcome, _ = run(path)
    assert outcome.finished
    with Store.read(path) as store:
        assert {row.id: row.redeal for row in store.sets()} == {first: 1, second: 0}


def test_after_a_kill_that_left_a_bot_alive_the_packs_are_new(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.write(path) as store:
        first = store.sets()[0].id
        store.begin([(f"{first}-0", 0)])
    monkeypatch.setattr(runner, "end_orphans", lambda: [os.getpid()])  # what lives on, as we do
    outcome, _ = run(path)
    assert outcome.finished
    with Store.read(path) as store:
        assert store.sets()[0].redeal == 1


def test_new_packs_leave_the_finished_games_of_the_set_for_audit(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.write(path) as store:
        legs = Legs(store)
        legs.after_leg = legs.stop
        legs.run()
    with Store.write(path) as store:
        first = store.sets()[0].id
        store.begin([(f"{first}-1", 0)])
    monkeypatch.setattr(runner, "same_machine", lambda _facts: False)
    outcome, legs = run(path)
    assert outcome == RunOutcome(True, 2, 0, 0)
    with Store.read(path) as store:
        assert sorted(game.redeal for game in store.every_game()) == [0, 0, 0, 0, 1, 1, 1]
        assert len(store.games()) == 6
    assert f"{first}-0" in legs.legs[0]


def test_a_stop_ends_soon_and_resuming_plays_the_rest(path: Path) -> None:
    with Store.write(path) as store:
        legs = Legs(store)
        legs.after_leg = legs.stop
        assert legs.run() == RunOutcome(False, 0, 0, 2)
    assert [len(leg) for leg in legs.legs] == [2]
    outcome, legs = run(path)
    assert outcome == RunOutcome(True, 2, 0, 0)
    assert [rotations(leg) for leg in legs.legs if leg] == [{"1"}, {"2"}]
    assert attempts(path) == {"SCORED": 6}


def test_a_withdrawn_bot_is_not_asked_to_later_legs(path: Path) -> None:
    def gives_up() -> None:
        legs._event_sink.withdrawn("c", "It failed to start 3 times in a row.")

    with Store.write(path) as store:
        legs = Legs(store, after_leg=gives_up)
        assert legs.run() == RunOutcome(True, 0, 2, 0)
        assert [row.reason for row in store.sets()] == ["c was withdrawn: It failed to start 3 times in a row."] * 2
    assert len([leg for leg in legs.legs if leg]) == 1
    assert legs.lines.names().count("withdrawn") == 1


def test_sets_of_others_go_on_without_a_withdrawn_bot(tmp_path: Path) -> None:
    path, names = tmp_path / "four.sqlite", ("a", "b", "c", "d")
    found_league(path, parse_definition(league_text(names, more=QUICK)), names)

    def gives_up() -> None:
        legs._event_sink.withdrawn("d", "It left.")

    with Store.write(path) as store:
        legs = Legs(store, after_leg=gives_up)
        legs.players = dict.fromkeys(names, fallback_move)
        outcome = legs.run()
        closed = {row.id: row.state for row in store.sets()}
        with_d = {planned.id for planned in legs._schedule.sets if "d" in planned.table}
    assert outcome == RunOutcome(True, 2, 6, 0)
    assert {key for key, state in closed.items() if state == "VOID"} == with_d


def test_what_is_closed_stays_if_it_is_at_least_half(path: Path) -> None:
    with Store.write(path) as store:
        legs = Legs(store)
        legs.run()
        store.withdraw("c", "It left afterwards.")
        legs._void_withdrawn()
        assert {row.state for row in store.sets()} == {"SCORED"}


def test_a_run_that_gets_nowhere_ends_with_an_error(path: Path) -> None:
    """It used to play the same stage for ever."""

    class Nowhere(Legs):
        async def _play_leg(self, _lane: Any, games: Sequence[GamePlan], *, first: bool) -> None:
            self._event_sink.begin(games)

    with Store.write(path) as store, pytest.raises(LeagueError, match="no game could be finished"):
        Nowhere(store).run()


def test_an_error_of_the_store_ends_the_run_and_nothing_is_lost(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = Store.finish_games, []

    def full(self: Store, finished: Any) -> None:
        calls.append(len(finished))
        if len(calls) == 2:
            raise StoreError("league.sqlite could not be written (disk is full); free some disk space and resume")
        real(self, finished)

    monkeypatch.setattr(Store, "finish_games", full)
    with pytest.raises(StoreError, match="free some disk space and resume"):
        run(path)
    monkeypatch.undo()
    outcome, _ = run(path)
    assert outcome == RunOutcome(True, 2, 0, 0)
    assert attempts(path)["SCORED"] == 6


def test_a_set_without_games_is_refused_with_the_remedy(path: Path) -> None:
    with Store.write(path) as store:
        store.add_sets("Test league", ["another"], [])
    with pytest.raises(StoreError, match=r"its set another has no games; put a copy"):
        run(path)


def test_a_finished_league_is_finished_in_one_step(path: Path) -> None:
    run(path)
    with Store.read(path) as store:
        facts = store.league()
    assert facts["state"] == "finished"
    assert {"standings", "result_root", "record_root"} <= facts.keys()


# Remote bots


def remote_league(path: Path, *, duplicate: bool) -> None:
    text = league_text(NAMES, more=f'[policy]\nprofile = "dev"\n{QUICK}')
    text = text.replace("sets = 2", f"sets = 2\nduplicate = {str(duplicate).lower()}")
    found_league(path, parse_definition(text), NAMES)


class Remote(Legs):
    """As if ``c`` dialled in from elsewhere."""

    def __init__(self, store: Store, **how: Any) -> None:
        super().__init__(store, **how)
        self._remote, self._workers = ["c"], 1

    async def _open_arena(self) -> Any:
        return Arena(self._plan, self._event_sink)


@pytest.mark.parametrize("duplicate", [True, False])
def test_a_remote_bot_never_gets_the_packs_of_a_no_contest_again(tmp_path: Path, duplicate: bool) -> None:
    path = tmp_path / "remote.sqlite"
    remote_league(path, duplicate=duplicate)
    spoiled: list[GamePlan] = []

    def once(game: GamePlan) -> bool:
        if not spoiled and (game.rotation == 1 or not duplicate):
            spoiled.append(game)
            return True
        return False

    with Store.write(path) as store:
        legs = Remote(store, spoil=once)
        assert legs.run().finished
        redeals = {row.id: row.redeal for row in store.sets()}
        assert {row.state for row in store.sets()} == {"SCORED"}
    assert redeals.pop(spoiled[0].set_id) == 1
    assert set(redeals.values()) == {0}


def test_after_a_kill_a_league_with_a_remote_bot_deals_anew(tmp_path: Path) -> None:
    path = tmp_path / "remote.sqlite"
    remote_league(path, duplicate=False)
    with Store.write(path) as store:
        fixture = store.fixtures()[0]
        store.begin([(fixture.id, 0)])
        assert Remote(store).run().finished
        assert {row.id: row.redeal for row in store.sets()}[fixture.set_id] == 1


def test_with_a_remote_bot_all_is_played_in_this_process(path: Path) -> None:
    with Store.read(path) as store:
        league = read_league(store)
        legs = InProcess(store, PLAYERS)
        local, remote = legs._plan, replace(legs._plan, bots={"x": replace(legs._plan.bots["a"], command=None)})
        command = replace(remote.bots["x"], command=object())  # type: ignore[arg-type]
        assert Runner(store, league, replace(local, bots={"x": command}), Lines(), 4)._workers == 4
        here = Runner(store, league, remote, Lines(), 4, "tcp://127.0.0.1:1")
        assert (here._workers, here._cluster) == (1, "")


# Workers


class FailingWorkers(ThreadWorkers):
    """Workers of a league, that fail at the stages that the test says: after the first game that they have told of."""

    def __init__(self, runner_: Legs, errors: Sequence[BaseException | None] = ()) -> None:
        super().__init__(2, PLAYERS)
        self.is_spoiled, self._errors = runner_.spoil, list(errors)

    def play(self, plan_: LeaguePlan, legs: Sequence[Sequence[GamePlan]], tell: Tell) -> None:
        error = self._errors.pop(0) if self._errors else None

        def fail(events: list[Event]) -> None:
            tell(events)
            if error is not None:
                raise error

        super().play(plan_, legs, fail)

    def kill(self) -> None:
        raise AssertionError("nobody is in a hurry")


def by_workers(path: Path, errors: Sequence[BaseException | None] = (), **how: Any) -> tuple[RunOutcome, Legs]:
    with Store.write(path) as store:
        legs = Legs(store, **how)
        legs._plan = replace(legs._plan, max_processes=0)
        legs.share_with(FailingWorkers(legs, errors))
        legs.play_rounds()
        return legs._close(), legs


def test_what_workers_play_is_stored_here(path: Path) -> None:
    outcome, legs = by_workers(path)
    assert outcome == RunOutcome(True, 2, 0, 0)
    assert legs.lines.names().count("game") == 6


def test_what_was_no_contest_at_a_worker_is_played_again(path: Path) -> None:
    spoiled: Counter[str] = Counter()

    def once(game: GamePlan) -> bool:
        spoiled[game.fixture_id] += 1
        return game.rotation == 1 and spoiled[game.fixture_id] == 1

    outcome, _ = by_workers(path, spoil=once)
    assert outcome == RunOutcome(True, 2, 0, 0)
    assert sorted(spoiled.values()) == [1, 1, 1, 1, 2, 2]


def test_the_third_no_contest_voids_the_set_with_workers_too(path: Path) -> None:
    """It used to be played again for ever."""
    outcome, _ = by_workers(path, spoil=lambda game: game.rotation == 1 and game.set_id == first_set(path))
    assert outcome == RunOutcome(True, 1, 1, 0)


@pytest.mark.parametrize(
    "error",
    [
        LeagueError("a worker process died; nothing is lost, run it again"),
        OSError("no space left for logs"),
    ],
)
def test_an_error_of_a_worker_is_raised_the_others_are_told_to_stop_and_what_was_told_is_kept(
    path: Path, error: Exception
) -> None:
    with Store.write(path) as store:
        legs = Legs(store)
        legs._plan = replace(legs._plan, max_processes=0)
        pool = FailingWorkers(legs, [None, error])
        legs.share_with(pool)
        with pytest.raises(type(error), match=str(error)[:20]):
            asyncio.run(legs._play_rounds())
        pool.threads.shutdown()
    assert pool.told
    assert attempts(path)["SCORED"] == 4  # three of one worker, and the one that the other had told of
    outcome, _ = run(path)
    assert outcome == RunOutcome(True, 2, 0, 0)
    assert attempts(path)["SCORED"] == 6


def test_an_error_of_the_store_ends_the_workers(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_self: Store, _finished: Any) -> None:
        raise StoreError("league.sqlite could not be written (disk is full); free some disk space and resume")

    monkeypatch.setattr(Store, "finish_games", full)
    with pytest.raises(StoreError, match="free some disk space and resume"):
        by_workers(path)


def test_what_a_lost_worker_and_its_successor_both_send_counts_once(path: Path) -> None:
    with Store.write(path) as store:
        legs = Legs(store)
        planned = legs._schedule.sets[0].fixtures
        games = [GamePlan.of(fixture) for fixture in planned]
        legs._event_sink.begin(games)
        sink = BufferSink()
        for game in games[:2]:
            umpire = play_game(legs._plan, game, PLAYERS)
            sink.finished(game, umpire, write_record(umpire, legs._plan.heading(game)))
        sink.no_contest(games[1], "the referee stalled")
        legs._take(sink.events)
        legs._take(sink.events)
        assert legs._failure is None
        assert legs._event_sink.end(games, "stopped") == []
        assert len(store.games()) == 2
    assert attempts(path) == {"SCORED": 2, "STOPPED": 1}

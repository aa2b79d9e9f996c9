"""The engine of a host: whose bots play in a round, what keeps one from beginning, and withdrawal in an open one."""

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.host import engine as engine_module
from referee.host.disk import FOR_ROUNDS, DiskRoom
from referee.host.engine import Engine, Waiting
from referee.host.rows import VersionState
from referee.host.store import HostStore
from referee.league.ladder import finish, freeze
from referee.league.league import LeagueError, read_league
from referee.league.plan import GamePlan
from referee.league.store import Store
from referee.verification.verify import verify
from tests.host.hosted import CHANCE, HOST, HOUSE, Hosted, definition_text, engine_of, play_a_part
from tests.program import FIRST, LAST, PATIENCE


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[Hosted]:
    made = Hosted(tmp_path)
    yield made
    made.store.close()


def line_of(engine: Engine) -> str:
    """What the engine waits for."""
    waiting = engine.step()
    assert waiting is not None
    return waiting.line


def test_who_was_handed_in_plays_in_the_next_round_and_a_new_version_is_a_new_player(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    with engine_of(hosted, monkeypatch) as (engine, _):
        assert engine.step() is None
        hosted.hand_in("ann", "anns")
        hosted.hand_in("bob", "bobs", CHANCE)
        assert engine.step() is None
        hosted.hand_in("ann", "anns", LAST, "2")
        assert engine.step() is None
        assert engine.step() is None
    rounds = hosted.rounds()
    assert [one["bots"] for one in rounds] == [
        ["first", "last", "chance"],
        ["first", "last", "chance", "anns", "bobs"],
        ["first", "last", "chance", "bobs", "anns@2"],
        ["first", "last", "chance", "bobs", "anns@2"],
    ]
    assert {one["key"]: one["owner"] for round_ in rounds for one in round_["entered"]}["anns@2"] == "ann"
    with Store.read(hosted.home.ladder) as store:
        assert verify(store).ok
        assert all(one["submitted"] for key, one in store.entrants().items() if key.startswith(("anns", "bobs")))


def test_who_is_retired_or_blocked_or_withdrawn_is_not_in_the_next_round(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner in ("ann", "bob", "eve"):
        hosted.hand_in(owner, f"{owner}s")
    late = hosted.hand_in("dan", "dans")
    owners = {one.name: one for one in hosted.store.owners()}
    with engine_of(hosted, monkeypatch) as (engine, _):
        assert engine.step() is None
        hosted.store.retire(owners["ann"], "anns", 1001.0)
        hosted.store.block(owners["bob"].id, "rude", 1001.0, by="organiser")
        hosted.store.decide(late.id, VersionState.WITHDRAWN, "it peeks", 1001.0, by="organiser")
        assert engine.step() is None
    assert hosted.rounds()[1]["bots"] == ["first", "last", "chance", "eves"]
    with Store.read(hosted.home.ladder) as store:
        assert {key: one["withdrawn"] for key, one in store.entrants().items() if one["withdrawn"]} == {
            "dans": "it peeks"
        }


def test_who_is_withdrawn_while_the_round_is_played_goes_at_once_and_the_round_goes_on(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = hosted.hand_in("ann", "anns")
    games: list[GamePlan] = []

    def before(game: GamePlan, stopping: threading.Event) -> None:
        if len(games) == 4:
            hosted.store.decide(version.id, VersionState.WITHDRAWN, "it peeks", 1001.0, by="organiser")
            assert stopping.wait(PATIENCE)
        else:
            assert not (len(games) > 4 and "anns" in game.seats)
        games.append(game)

    with engine_of(hosted, monkeypatch, before) as (engine, _):
        assert engine.step() is None
    assert len(hosted.rounds()) == 1
    assert "result_root" in hosted.rounds()[0]
    with Store.read(hosted.home.ladder) as store:
        assert store.entrants()["anns"]["withdrawn"] == "it peeks"
        states = {row.state for row in store.sets()}
        assert states == {"SCORED", "VOID"}
        assert verify(store).ok


def test_what_is_open_of_a_round_is_voided_for_a_reason_and_what_is_over_stays(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    games: list[GamePlan] = []

    def before(game: GamePlan, stopping: threading.Event) -> None:
        if len(games) == 7:
            hosted.store.void_round(1, "the power fails at noon", 1001.0, by="organiser")
            assert stopping.wait(PATIENCE)
        games.append(game)

    with engine_of(hosted, monkeypatch, before) as (engine, _):
        assert engine.step() is None
        assert len(games) == 8
        (round_,) = hosted.rounds()
        assert round_["voided"] == "the power fails at noon"
        assert "result_root" in round_
        with Store.read(hosted.home.ladder) as store:
            rows = {row.id: row for row in store.tables(0)}
            reasons = {row.reason for row in store.sets() if row.state == "VOID"}
            assert {row.state for row in rows.values()} == {"SCORED", "VOID"}
            assert all((row.state == "SCORED") == (row.games == row.fixtures) for row in rows.values())
            assert reasons == {"round 1 was voided: the power fails at noon"}
            assert verify(store).ok
        assert engine.step() is None  # the next round is another one
    assert "voided" not in hosted.rounds()[1]
    assert "result_root" in hosted.rounds()[1]
    with Store.read(hosted.home.ladder) as store:
        assert verify(store).ok
    audit = hosted.store.audit(most=1)[0]
    assert (audit.who, audit.what) == ("organiser", "voided the rest of round 1")
    assert audit.about == "the power fails at noon"


def test_a_round_that_cannot_go_on_is_voided_without_a_further_game(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_a_part(hosted, monkeypatch, 5)
    (hosted.folder / "last.py").write_text("raise SystemExit('broken')\n")  # it is not what has entered any more

    def before(_game: GamePlan, _stopping: threading.Event) -> None:
        raise AssertionError("a game of a voided round was begun")

    with engine_of(hosted, monkeypatch, before) as (engine, _):
        with pytest.raises(LeagueError, match="round 1 is open, and last has changed"):
            engine.step()
        seen = engine._seen()
        hosted.store.void_round(2, "another round", 1001.0, by="organiser")
        with pytest.raises(LeagueError):
            engine.step()
        hosted.store.void_round(1, "a bot is gone", 1001.0, by="organiser")
        assert engine._seen() != seen  # it does not wait on
        assert engine.step() is None
    assert hosted.rounds()[0]["voided"] == "a bot is gone"
    with Store.read(hosted.home.ladder) as store:
        assert verify(store).ok


@pytest.mark.parametrize("change", ["no word of it in the round", "another reason", "a whole set", "a line too long"])
def test_no_set_is_voided_with_a_round_by_a_word_alone(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    play_a_part(hosted, monkeypatch, 8)
    hosted.store.void_round(1, "the power fails", 1001.0, by="organiser")
    with engine_of(hosted, monkeypatch) as (engine, _):
        assert engine.step() is None
    with Store.write(hosted.home.ladder) as store:
        (round_,) = hosted.rounds()
        if change == "no word of it in the round":
            store.put(rounds=[{key: value for key, value in round_.items() if key != "voided"}])
        elif change == "another reason":
            store.put(rounds=[{**round_, "voided": "it was noon"}])
        elif change == "a line too long":
            told = "x" * 1100
            store.put(rounds=[{**round_, "voided": told}])
            for row in store.sets():
                if row.state == "VOID":
                    store.void_scored_set(row.id, f"round 1 was voided: {told}")
        else:
            whole = next(row for row in store.sets() if row.state == "SCORED")
            store.void_scored_set(whole.id, "round 1 was voided: the power fails")
    with Store.read(hosted.home.ladder) as store:
        assert not verify(store).ok


def test_who_is_retired_or_has_a_newer_version_plays_the_open_round_to_its_end(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosted.hand_in("ann", "anns")
    hosted.hand_in("bob", "bobs")
    owners = {one.name: one for one in hosted.store.owners()}
    play_a_part(hosted, monkeypatch, 3)
    assert "result_root" not in hosted.rounds()[0]
    hosted.hand_in("ann", "anns", LAST, "2")
    hosted.store.retire(owners["bob"], "bobs", 1001.0)
    with engine_of(hosted, monkeypatch) as (engine, _):
        assert engine.step() is None
        assert [("result_root" in one, one["bots"][3:]) for one in hosted.rounds()] == [(True, ["anns", "bobs"])]
        assert engine.step() is None
        assert hosted.rounds()[1]["bots"][3:] == ["anns@2"]


def roots_of(folder: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> list[str]:
    """The roots of two rounds, in which the engine is stopped after so many games again and again."""
    folder.mkdir()
    hosted = Hosted(folder)
    hosted.hand_in("ann", "anns")
    closed: list[str] = []
    while len(closed) < 2:
        play_a_part(hosted, monkeypatch, most)
        closed = [one["result_root"] for one in hosted.rounds() if "result_root" in one]
    hosted.store.close()
    return closed


def test_a_round_comes_out_the_same_however_often_the_engine_was_stopped_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disturbed = roots_of(tmp_path / "disturbed", monkeypatch, 5)
    assert disturbed == roots_of(tmp_path / "undisturbed", monkeypatch, 1_000_000)


def test_it_waits_while_it_is_paused_or_the_disk_is_full_or_the_time_has_not_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosted = Hosted(tmp_path, host=HOST + 'every = "10m"\n')
    disk = [DiskRoom(100 << 20)]
    with engine_of(hosted, monkeypatch, free=lambda folder: disk[0]) as (engine, _):
        assert "The disk is nearly full (100 MiB left)" in line_of(engine)
        disk[0] = DiskRoom(1 << 40, 100)
        assert "The disk is nearly full (room for 100 files left)" in line_of(engine)
        hosted.set("paused", "1")
        assert line_of(engine).startswith("Paused by the organiser")
        hosted.set("paused", "")
        disk[0] = FOR_ROUNDS
        assert engine.step() is None
        hosted.now += 599
        assert engine.step() == Waiting("The next round begins at 00:26:40 UTC.", 1600.0)
        hosted.now = 900.0  # a clock that was set back keeps nobody waiting for ever
        waiting = engine.step()
        assert waiting is not None
        assert waiting.until == 1500.0
        hosted.now = 1601.0
        assert engine.step() is None
    hosted.store.close()
    assert len(hosted.rounds()) == 2


@pytest.mark.parametrize("key", ["round_began", "round_noted"])
def test_an_engine_that_was_killed_as_a_round_began_waits_before_the_next_one_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    hosted = Hosted(tmp_path, host=HOST + 'every = "10m"\n')
    with hosted.store, engine_of(hosted, monkeypatch) as (engine, _):
        assert engine.step() is None
        hosted.now += 600
        tell = HostStore.tell

        def killed(store: HostStore, told: str, value: str) -> None:
            if told == key:
                raise InterruptedError("killed")
            tell(store, told, value)

        with monkeypatch.context() as patched:
            patched.setattr(HostStore, "tell", killed)
            with pytest.raises(InterruptedError):
                engine.step()
        hosted.now += 60
        assert engine.step() is None
        assert len(hosted.rounds()) == 2
        assert line_of(engine).startswith("The next round begins at")
        hosted.now += 600
        assert engine.step() is None
        assert len(hosted.rounds()) == 3


def test_an_open_round_does_not_go_on_into_a_full_disk(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    play_a_part(hosted, monkeypatch, 3)
    with engine_of(hosted, monkeypatch, free=lambda folder: DiskRoom(100 << 20)) as (engine, _):
        assert "nothing is played until there is more room" in line_of(engine)
    with engine_of(hosted, monkeypatch) as (engine, _):
        assert engine.step() is None


def test_who_is_withdrawn_between_the_look_and_the_first_game_does_not_play(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = hosted.hand_in("ann", "anns")

    def late(*_: object) -> None:
        if hosted.store.version(version.id).state is VersionState.ACCEPTED:
            hosted.store.decide(version.id, VersionState.WITHDRAWN, "it peeks", 1001.0, by="organiser")

    seen: list[str] = []

    def before(game: GamePlan, stopping: threading.Event) -> None:
        seen.extend(game.seats)
        if "anns" in game.seats:
            assert stopping.wait(PATIENCE)

    monkeypatch.setattr(engine_module, "room_for", late)
    with engine_of(hosted, monkeypatch, before) as (engine, _):
        assert engine.step() is None
    assert "result_root" in hosted.rounds()[0]
    with Store.read(hosted.home.ladder) as store:
        assert store.entrants()["anns"]["withdrawn"] == "it peeks"
        assert verify(store).ok


def test_a_ladder_that_cannot_be_read_is_told_and_waited_for(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    with engine_of(hosted, monkeypatch) as (engine, _):
        assert engine.step() is None
    kept = hosted.home.ladder.read_bytes()
    hosted.home.ladder.write_bytes(b"damaged")
    with engine_of(hosted, monkeypatch, until=2) as (engine, stop):
        running = threading.Thread(target=engine.run)
        running.start()
        try:
            end = time.monotonic() + PATIENCE
            while "is not a league" not in hosted.store.setting("engine_fault"):
                assert running.is_alive()
                assert time.monotonic() < end
                time.sleep(0.01)
            hosted.home.ladder.write_bytes(kept)
            running.join(PATIENCE)
            assert not running.is_alive()
        finally:
            stop.set()
            running.join()
    assert len(hosted.rounds()) == 2


def test_a_fault_that_lasts_for_weeks_is_looked_at_as_often_as_one_of_an_hour(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    with engine_of(hosted, monkeypatch) as (engine, stop):
        assert engine.step() is None
        stop.set()
        engine._wait(Waiting("No room."), 100_000)


def test_too_few_bots_are_waited_for(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    hosted.file.write_text(definition_text())
    with engine_of(hosted, monkeypatch) as (engine, _):
        assert line_of(engine) == "A table takes 2 bots, and 0 bots are here: a round begins when there are enough."
        hosted.hand_in("ann", "anns")
        assert "1 bot is here" in line_of(engine)
        hosted.hand_in("ann", "another")
        assert "without two bots of one owner" in line_of(engine)
        hosted.hand_in("bob", "bobs")
        assert engine.step() is None
    assert hosted.rounds()[0]["bots"] == ["anns", "another", "bobs"]


def test_what_it_waits_for_is_told_and_it_begins_when_that_is_over(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosted.set("paused", "1")
    with engine_of(hosted, monkeypatch, until=1) as (engine, stop):
        running = threading.Thread(target=engine.run)
        running.start()
        try:
            seen = threading.Event()
            while not hosted.store.setting("engine_line"):
                assert not seen.wait(0.02)
            assert hosted.store.setting("engine_line").startswith("Paused")
            hosted.set("paused", "")
            running.join(PATIENCE)
            assert not running.is_alive()
        finally:
            stop.set()
            running.join()
    assert hosted.store.setting("engine_line") == ""
    assert len(hosted.rounds()) == 1


def test_an_error_that_stays_is_told_once_and_the_engine_does_not_spin(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hosted.file.write_text(definition_text(*HOUSE))
    steps: list[float] = []
    with engine_of(hosted, monkeypatch, until=2) as (engine, stop):
        assert engine.step() is None
        hosted.file.write_text(definition_text(*HOUSE).replace("sets = 3", "sets = 4"))
        step = engine.step

        def counted_step() -> Waiting | None:
            steps.append(hosted.now)
            return step()

        monkeypatch.setattr(engine, "step", counted_step)
        looks = threading.Semaphore(0)
        waits = stop.wait

        def wait(timeout: float | None = None) -> bool:
            looks.release()
            return waits(0 if timeout is not None else None)

        monkeypatch.setattr(stop, "wait", wait)
        running = threading.Thread(target=engine.run)
        running.start()
        try:
            for _ in range(200):  # two hundred looks, and nothing has changed
                assert looks.acquire(timeout=PATIENCE)
            assert len(steps) == 1
            assert "Only bots may come, go and change on a ladder" in hosted.store.setting("engine_fault")
            assert str(hosted.folder) not in hosted.store.setting("engine_line")
            assert "has to put right" in hosted.store.setting("engine_line")
            hosted.file.write_text(definition_text(*HOUSE))
            running.join(PATIENCE)
            assert len(hosted.rounds()) == 2
        finally:
            stop.set()
            running.join()
    assert sum("Only bots may come" in one.message for one in caplog.records) == 1


def test_a_damaged_folder_holds_the_open_round_until_it_is_put_back(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = hosted.hand_in("ann", "anns")
    play_a_part(hosted, monkeypatch, 3)
    folder = hosted.home.bot(version.id)
    shutil.copytree(folder, hosted.folder / "kept")
    (folder / "bot.py").write_text("damaged")
    with engine_of(hosted, monkeypatch) as (engine, _):
        with pytest.raises(LeagueError, match="round 1 is open, and anns has changed since it began, or is gone"):
            engine.step()
        shutil.rmtree(folder)
        shutil.copytree(hosted.folder / "kept", folder)
        assert engine.step() is None
        (folder / "bot.py").write_text("damaged")  # between two rounds it is left out, and the others play
        assert engine.step() is None
    assert [one["bots"][3:] for one in hosted.rounds()] == [["anns"], []]


def test_a_home_that_has_moved_plays_on_from_where_it_lies_now(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    hosted.hand_in("ann", "anns")
    play_a_part(hosted, monkeypatch, 3)
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "there"
    shutil.move(hosted.folder, elsewhere)
    moved = Hosted(elsewhere)
    plans: list[str] = []
    with engine_of(moved, monkeypatch) as (engine, _):
        from referee.host import engine as module

        real = module.Runner

        def runner(store: object, league: object, plan: object, *rest: object) -> object:
            plans.extend(str(bot.command.folder) for bot in plan.bots.values() if bot.command)  # type: ignore[attr-defined]
            return real(store, league, plan, *rest)  # type: ignore[arg-type]

        monkeypatch.setattr(module, "Runner", runner)
        assert engine.step() is None
    moved.store.close()
    assert len(plans) == 4
    assert all(place.startswith(str(elsewhere)) for place in plans)


def test_names_of_house_bots_and_their_owners_are_nobody_elses_and_keep_nobody_from_playing(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hosted.hand_in("ann", "FIRST")
    hosted.hand_in("carla", "carlas")
    hosted.hand_in("bob", "bobs")
    hosted.file.write_text(hosted.file.read_text() + 'owner = "Carla"\n')
    with engine_of(hosted, monkeypatch) as (engine, _):
        assert engine.step() is None
    assert hosted.rounds()[0]["bots"] == ["first", "last", "chance", "bobs"]
    assert "FIRST of ann does not play: a bot of the definition has that name" in caplog.text
    assert "carlas of carla does not play" in caplog.text


def test_a_frozen_ladder_takes_nobody_in_and_plays_on_with_the_versions_that_it_knows(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosted.hand_in("ann", "anns")
    with engine_of(hosted, monkeypatch) as (engine, _):
        assert engine.step() is None
        hosted.set("frozen", "1")
        hosted.hand_in("ann", "anns", LAST, "2")
        hosted.hand_in("bob", "bobs")
        (hosted.folder / "another.py").write_text(FIRST + "# another\n")
        hosted.file.write_text(definition_text(*HOUSE, "another"))
        assert engine.step() is None
        assert hosted.rounds()[1]["bots"] == ["first", "last", "chance", "anns"]
        hosted.set("frozen", "")
        assert engine.step() is None
        assert hosted.rounds()[2]["bots"] == ["first", "last", "chance", "another", "anns@2", "bobs"]
        with Store.write(hosted.home.ladder) as store:
            freeze(store, read_league(store))
        hosted.hand_in("bob", "bobs", LAST, "2")
        assert engine.step() is None
    assert hosted.rounds()[3]["bots"] == hosted.rounds()[2]["bots"]


def test_on_a_frozen_ladder_what_never_played_changes_nothing_and_who_was_withdrawn_sends_nobody_back(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner in ("ann", "bob", "eve", "dan"):
        hosted.hand_in(owner, f"{owner}s")
    with engine_of(hosted, monkeypatch) as (engine, _):
        assert engine.step() is None
        bobs = hosted.hand_in("bob", "bobs", LAST, "2")
        assert engine.step() is None
        hosted.hand_in("ann", "anns", LAST, "2")
        eve = hosted.hand_in("eve", "eves", LAST, "2")
        newer = hosted.hand_in("eve", "eves", CHANCE, "3")
        hosted.set("frozen", "1")
        for one in (eve, newer, bobs):  # of eve what never played, of bob what plays
            hosted.store.decide(one.id, VersionState.WITHDRAWN, "it peeks", 1001.0, by="organiser")
        owners = {one.name: one for one in hosted.store.owners()}
        hosted.store.retire(owners["dan"], "dans", 1001.0)
        assert engine.step() is None
        assert hosted.rounds()[2]["bots"] == ["first", "last", "chance", "anns", "eves"]
        hosted.set("frozen", "")
        assert engine.step() is None
    assert hosted.rounds()[3]["bots"] == ["first", "last", "chance", "anns@2"]


def test_what_was_handed_in_after_the_deadline_does_not_enter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hosted = Hosted(tmp_path, host=HOST + "closes = 1970-01-01T00:30:00Z\n")
    hosted.hand_in("ann", "anns")
    hosted.now = 1801.0
    hosted.hand_in("ann", "anns", LAST, "2")
    hosted.hand_in("bob", "bobs")
    with engine_of(hosted, monkeypatch) as (engine, _):
        assert engine.step() is None
    hosted.store.close()
    assert hosted.rounds()[0]["bots"] == ["first", "last", "chance", "anns"]
    with Store.read(hosted.home.ladder) as store:
        assert store.entrants()["anns"]["version"] == "1"


def test_without_a_sandbox_the_house_bots_play_alone_and_an_open_round_with_others_waits(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosted.hand_in("ann", "anns")
    with engine_of(hosted, monkeypatch, sandbox="none") as (engine, _):
        assert engine.step() is None
    assert hosted.rounds()[0]["bots"] == ["first", "last", "chance"]
    play_a_part(hosted, monkeypatch, 1)
    told = "has anns, which somebody has handed in, and there is no sandbox"
    with engine_of(hosted, monkeypatch, sandbox="none") as (engine, _), pytest.raises(LeagueError, match=told):
        engine.step()


def test_a_finished_ladder_is_told_and_nothing_is_played(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    with engine_of(hosted, monkeypatch) as (engine, _):
        assert engine.step() is None
        with Store.write(hosted.home.ladder) as store:
            finish(store, read_league(store))
        assert line_of(engine) == "This ladder is finished."

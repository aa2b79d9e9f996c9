"""Whole tables with bots in processes: what is kept, what happens when a bot fails, leaving, practice."""

import threading
from datetime import date
from pathlib import Path

import pytest

from referee import deals
from referee.league.league import read_league
from referee.league.play.runner import Runner
from referee.league.store import Store
from referee.report.html_report import replay_page
from referee.table.day import NOTE, master_of_the_day, title_of_the_day
from referee.table.game import TableGame
from referee.table.state import TableState
from referee.table.table import RefusedError, Table
from referee.verification.verify import verify
from tests.table.persons import Decide, plan_for, played, plays_on, sit

BAD_BOTS = Path(__file__).parents[1] / "badbots"
SHORT = {"target": 4}


@pytest.mark.parametrize(("game", "seats", "changes"), [("auction-pitch", 3, SHORT), ("cinch", 4, {"max_deals": 1})])
def test_a_game_is_kept_as_others_are_and_can_be_verified_and_replayed(
    tmp_path: Path, game: str, seats: int, changes: dict[str, object]
) -> None:
    """Also with partners, each of whom is another: the person's partner is a bot."""
    path = tmp_path / "table.sqlite"
    plan = plan_for(path, ["careful", "random"], game=game, seats=seats, changes=changes, seat=2, person="Ann")
    with played(plan, plays_on()) as one:
        assert one.failure is None
        state = one.table.state()
        assert state.over is not None
        assert state.over.command == f"referee replay 1 --league {path}"
        assert state.sheet is not None
        assert state.log[-1].text == state.over.sentence
        record = one.record()
    assert [name.partition(" ")[0] for name in record["names"]][:3] == [
        "random" if seats == 3 else "careful-2",
        "Ann",
        "careful",
    ]
    assert record["irregular"] == []
    assert list(state.sheet.totals) == [
        record["result"]["scores"][seat % (2 if seats == 4 else 3)] for seat in range(seats)
    ]
    with Store.read(path) as store:
        found = verify(store)
        assert store.league()["state"] == "finished"
    assert "everything agrees" in str(found)
    assert "Ann" in replay_page(record, 1, list(one.table.names))


def test_a_seat_whose_referee_is_gone_does_not_hold_the_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(runner: Runner) -> None:
        runner._event_sink._observer.remote("You", f"unix:{tmp_path / 'nobody.sock'}", "token")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Runner, "run", fails)
    game = TableGame(plan_for(tmp_path / "table.sqlite", ["random", "random"], changes=SHORT))
    with game.begun():
        game.play()
    assert isinstance(game.failure, OSError)
    assert not any(one.is_alive() for one in game._threads)


def leaves_after(turns: int) -> Decide:
    """A person who plays so many turns, and goes."""
    on, left = plays_on(), [turns]

    def decide(table: Table, state: TableState) -> bool:
        left[0] -= 1
        return left[0] >= 0 and on(table, state)

    return decide


def test_whoever_leaves_leaves_no_game_and_no_move_behind(tmp_path: Path) -> None:
    path = tmp_path / "table.sqlite"
    with played(plan_for(path, ["careful"], changes=SHORT), leaves_after(2)) as one:
        assert one.failure is None
        assert one.table.state().over is None
    with Store.read(path) as store:
        assert store.count_games() == 0


def test_a_bot_that_crashes_forfeits_and_that_is_told(tmp_path: Path) -> None:
    plan = plan_for(tmp_path / "table.sqlite", [str(BAD_BOTS / "crashes.py")], changes=SHORT)
    with played(plan, plays_on()) as one:
        state = one.table.state()
    assert state.over is not None
    assert state.over.sentence.startswith("You win by forfeit.")
    assert state.seats[1].out == "It crashed with SIGSEGV."
    told = [line.text for line in state.log]
    assert "Ruling on crashes: It crashed with SIGSEGV. Consequence: lost the game." in told
    assert any(text.startswith("crashes has failed: It crashed with SIGSEGV") for text in told)


def test_a_bot_that_never_starts_ends_the_table_with_the_reason(tmp_path: Path) -> None:
    plan = plan_for(tmp_path / "table.sqlite", [str(BAD_BOTS / "ends_before_joining.py")])
    with played(plan, plays_on()) as one:
        over = one.table.state().over
    assert over is not None
    assert over.sentence.startswith(
        "The game cannot go on: ends-before-joining cannot play: It failed to start 3 times"
    )
    assert over.record == ""


def takes_back(moves: list[str]) -> Decide:
    """A person who takes the second move back, twice, and then plays on."""
    on, asked = plays_on(), [0]

    def decide(table: Table, state: TableState) -> bool:
        asked[0] += 1
        assert state.turn is not None
        moves.append(" ".join(held.card for held in state.hand))
        if asked[0] in (2, 4):
            table.take_back()
            return True
        return on(table, state)

    return decide


def test_practice_takes_moves_back_with_the_same_cards_and_keeps_nothing(tmp_path: Path) -> None:
    path, hands = tmp_path / "table.sqlite", list[str]()
    plan = plan_for(path, ["careful"], changes={"max_deals": 1}, practice=True)
    with played(plan, takes_back(hands)) as one:
        state = one.table.state()
        assert one.path != path
        kept = one.path
        assert one.failure is None
    assert state.over is not None
    assert (state.over.record, state.over.command) == ("", "")
    assert state.practice
    assert hands[2] == hands[0]
    assert hands[4] == hands[2]
    assert not kept.exists()
    assert list(tmp_path.iterdir()) == []


def test_what_counts_is_not_taken_back(tmp_path: Path) -> None:
    def decide(table: Table, state: TableState) -> bool:
        with pytest.raises(RefusedError, match="in practice only"):
            table.take_back()
        return False

    with played(plan_for(tmp_path / "table.sqlite", ["random"]), decide) as one:
        assert one.failure is None


def first_pack(path: Path) -> tuple[int, ...]:
    with Store.read(path) as store:
        league = read_league(store)
        (row,) = store.sets()
        assert NOTE in league.facts["notes"]
        return deals.shuffle(deals.deal_key(league.master, league.name, row.id, 0))


def test_the_packs_of_a_day_are_those_of_its_date_and_game(tmp_path: Path) -> None:
    def begun(day: date, game: str, file: str) -> tuple[int, ...]:
        path = tmp_path / file
        plan = plan_for(path, ["careful", "random"], title=title_of_the_day(day), known=master_of_the_day(day, game))
        with played(plan, leaves_after(0)):
            return first_pack(path)

    one = begun(date(2026, 12, 1), "auction-pitch", "one.sqlite")
    assert begun(date(2026, 12, 1), "auction-pitch", "same.sqlite") == one
    assert begun(date(2026, 12, 2), "auction-pitch", "next.sqlite") != one
    assert begun(date(2026, 12, 1), "smudge", "other.sqlite") != one


def test_stopping_twice_is_no_more_than_stopping_once(tmp_path: Path) -> None:
    """Whoever shows the table stops its game too when Ctrl-C has ended it: that is no second Ctrl-C."""

    def decide(table: Table, state: TableState) -> bool:
        del table, state
        one_game.stop()
        return False

    one_game = TableGame(plan_for(tmp_path / "table.sqlite", ["random"]))
    thread = threading.Thread(target=lambda: (sit(one_game.table, decide), one_game.stop()))
    with one_game.begun():
        thread.start()
        one_game.play()
        thread.join()
    assert one_game.failure is None
    assert one_game.table.is_closed

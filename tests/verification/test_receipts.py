"""Receipts held against a league: games that are missing, changed or made up, each with a verdict of its own."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from referee import deals
from referee.league.league import plan_of, read_league
from referee.league.store import Store, StoreError
from referee.verification.result import Check, VerificationResult
from referee.verification.verify import verify
from tests.league.tampered import cover_up, edit_record, sql
from tests.verification.findings import GAMES, fixture_of

ME = "careful"


@pytest.fixture
def receipts(league: Path, tmp_path: Path) -> Path:
    """What one bot of the league would have kept."""
    path = tmp_path / "careful.receipts"
    with Store.read(league) as store:
        found = read_league(store)
        plan, seats = plan_of(found, Path(), "none"), {row.id: row for row in store.fixtures()}
        lines = []
        for game in store.every_game():
            row = seats[game.fixture_id]
            seat = row.seats.index(ME)
            seed = deals.bot_seed(plan.master, plan.league, row.set_id, row.rotation % plan.seats, seat)
            lines.append(
                f"allfours-receipt/1 2026-11-30T10:00:00Z league={found.commitment} seat={seat} seed={seed}"
                f" record={game.record_digest} name={ME}\n"
            )
    path.write_text("".join(lines))
    return path


def held(league: Path, *receipts: Path) -> VerificationResult:
    with Store.read(league) as store:
        return verify(store, receipts=receipts)


def of_receipts(found: VerificationResult) -> list[tuple[str, int]]:
    return [(one.what.split(" ")[0], one.game) for one in found.findings if one.check is Check.RECEIPT]


def edit(path: Path, change: Callable[[list[str]], object]) -> None:
    lines = path.read_text().splitlines(keepends=True)
    change(lines)
    path.write_text("".join(lines))


def test_receipts_that_agree_are_counted(league: Path, receipts: Path) -> None:
    found = held(league, receipts)
    assert found.ok, str(found)
    assert f"Receipts of careful: {GAMES} agree, 0 differ, 0 are of games that are missing." in str(found)


def test_a_record_that_was_changed_with_everything_is_named(league: Path, receipts: Path) -> None:
    """A time within the limits: nothing else can find it."""
    edit_record(league, 5, lambda record: record["volatile"]["charged_us"][0].__setitem__(0, 101))
    found = held(league, receipts)
    assert held(league).ok
    assert of_receipts(found) == [("record", 5), ("game", 5)]


def test_a_game_that_is_left_out_is_named(league: Path, receipts: Path) -> None:
    fixture = fixture_of(league, GAMES)
    sql(league, "DELETE FROM game WHERE number = ?", GAMES)
    cover_up(league)
    found = held(league, receipts)
    missing = [one for one in found.findings if one.check is Check.RECEIPT]
    assert [one.fixture for one in missing] == [fixture]
    assert missing[0].what.startswith("game for which careful has a receipt")


def test_a_game_of_which_the_bot_was_never_told_is_named(league: Path, receipts: Path) -> None:
    edit(receipts, lambda lines: lines.pop(3))
    found = held(league, receipts)
    assert of_receipts(found) == [("game", 4)]
    assert "1 games were never reported to it" in str(found)


def test_a_game_under_way_when_the_referee_died_is_no_accusation(league: Path, receipts: Path) -> None:
    fixture = fixture_of(league, 1)
    sql(
        league,
        "INSERT INTO attempt (fixture_id, redeal, started, ended, outcome, reason) VALUES (?, 0, 'x', 'x', 'STOPPED', ?)",
        fixture,
        "the referee ended before the game",
    )
    edit(receipts, lambda lines: lines.append(lines[0].replace("record=", "record=0").replace("0 name", " name")))
    lines = receipts.read_text().splitlines()
    edit(receipts, lambda those: those.pop())
    edit(receipts, lambda those: those.append(lines[0].split("record=")[0] + f"record={'0' * 64} name={ME}\n"))
    found = held(league, receipts)
    assert of_receipts(found) == []
    assert "1 are of games that were under way when the referee died" in str(found)


def test_what_is_of_another_league_or_nobody_or_no_receipt_is_said(
    league: Path, receipts: Path, tmp_path: Path
) -> None:
    edit(
        receipts, lambda lines: lines.extend([lines[0].replace("league=", "league=-", 1)[:80] + "\n", "\n", "what?\n"])
    )
    assert "2 lines that are no receipts" in str(held(league, receipts))
    other = tmp_path / "other.receipts"
    other.write_text(receipts.read_text().replace("name=careful", "name=nobody"))
    assert "Receipts of nobody: no such entrant." in str(held(league, other))
    other.write_text(re.sub(r"league=\w{8}", "league=00000000", receipts.read_text()))
    found = held(league, other)
    assert [one.says for one in found.findings] == ["no receipt of this league"]
    for nothing in ("", "what?\n"):
        other.write_text(nothing)
        with pytest.raises(StoreError, match="no line of it is a receipt"):
            held(league, other)
    with pytest.raises(StoreError, match="there is no such file"):
        held(league, tmp_path / "nowhere")

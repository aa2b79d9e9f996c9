"""Leagues of Referee 0.1.0 (``tests/data/of_0_1_0``): read, verified by their own roots, and gone on with."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from referee.league.export import write_export
from referee.league.league import read_league
from referee.league.store import Exported, Store, StoreError
from referee.league.store.root_digests import FIRST_SCHEME, SCHEME, scheme_of
from referee.umpire.fallback_player import fallback_move
from referee.verification.verify import verify
from tests.league.inprocess import at_random, go_on, reneges, stumbles
from tests.league.tampered import edit_fact, rows, sql

OLD = Path(__file__).parents[1] / "data" / "of_0_1_0"
PUBLISHED = json.loads((OLD / "published.json").read_text("utf-8"))
PLAYERS = {"careful": fallback_move, "reneger": reneges, "stumbler": stumbles, "random": at_random}


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    return Path(shutil.copy(OLD / "finished.sqlite", tmp_path / "finished.sqlite"))


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    return Path(shutil.copy(OLD / "stopped.sqlite", tmp_path / "stopped.sqlite"))


def test_a_store_is_verified_by_its_own_roots_and_left_as_it_is(finished: Path) -> None:
    before = finished.read_bytes()
    with Store.read(finished) as store:
        found = verify(store, commitment=PUBLISHED["commitment"], record_root=PUBLISHED["record_root"])
    assert found.ok, str(found)
    assert (found.result_root, found.record_root) == (PUBLISHED["result_root"], PUBLISHED["record_root"])
    assert found.games == 8
    assert any("0.1.0" in note and "records alone" in note for note in found.notes)
    assert finished.read_bytes() == before


def test_an_export_is_verified_by_its_own_roots() -> None:
    found = verify(Exported(OLD / "export"), commitment=PUBLISHED["commitment"], record_root=PUBLISHED["record_root"])
    assert found.ok, str(found)
    assert (found.result_root, found.record_root) == (PUBLISHED["result_root"], PUBLISHED["record_root"])


def test_a_finished_store_that_is_opened_to_write_keeps_its_roots(finished: Path, tmp_path: Path) -> None:
    assert go_on(finished, PLAYERS).finished
    with Store.read(finished) as store:
        facts = store.league()
        assert (facts["record_root"], scheme_of(facts)) == (PUBLISHED["record_root"], FIRST_SCHEME)
        assert verify(store, record_root=PUBLISHED["record_root"]).ok
        write_export(store, read_league(store), tmp_path / "export", {})
    found = verify(Exported(tmp_path / "export"), record_root=PUBLISHED["record_root"])
    assert found.ok, str(found)
    assert rows(finished, "PRAGMA user_version") == [(2,)]


def test_a_stopped_league_goes_on_and_ends_with_the_root_of_today(stopped: Path) -> None:
    assert go_on(stopped, PLAYERS).finished
    with Store.read(stopped) as store:
        facts = store.league()
        assert scheme_of(facts) == SCHEME
        found = verify(store, record_root=facts["record_root"])
    assert found.ok, str(found)
    assert found.games == 12


def test_a_change_that_the_old_root_covers_is_found(finished: Path) -> None:
    sql(finished, "UPDATE game SET record_digest = ? WHERE number = 3", "0" * 64)
    with Store.read(finished) as store:
        assert not verify(store).ok
    edit_fact(finished, "record_root", lambda _: "0" * 64)
    with Store.read(finished) as store:
        assert not verify(store).ok


def test_a_store_of_a_newer_version_is_refused_with_what_to_do(finished: Path) -> None:
    with closing(sqlite3.connect(finished)) as db:
        db.execute("PRAGMA user_version = 3")
    for opened in (Store.read, Store.write):
        with pytest.raises(StoreError, match=r"newer Referee \(store version 3; .*: update Referee"):
            opened(finished)

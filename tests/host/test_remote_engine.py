"""The board of remote bots: who is connected plays in plain deals, who goes away is out of the round, and all of it is verified."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from referee.host.door import open_door
from referee.host.engine import EngineOptions
from referee.host.remote_engine import RemoteEngine
from referee.host.rows import VersionState
from referee.host.store import SHORTEST_REST, HostStore
from referee.league.league import read_league
from referee.league.store import SetRow, Store
from referee.net import supervisor
from referee.verification.verify import verify
from tests.host.hosted import Hosted, engine_of
from tests.host.remote_author import RemoteAuthor, connected, host_with_a_door
from tests.league.tampered import sql
from tests.program import PATIENCE


@contextmanager
def remote_engine(hosted: Hosted, later: float = 0.0, wait_s: float | None = None) -> Iterator[RemoteEngine]:
    """The engine of the board of remote bots. ``later``: its clock is so many seconds ahead."""
    with HostStore.open(hosted.home.store) as store:
        door = open_door(hosted.home, store)
        assert door is not None
        options = EngineOptions(sandbox="none")
        stop = threading.Event()
        yield RemoteEngine(hosted.home, store, stop, options, door, lambda: time.time() + later, wait_s=wait_s)


def facts(hosted: Hosted) -> Any:
    with Store.read(hosted.home.remote) as store:
        return read_league(store).facts


def sets_from(hosted: Hosted, first: int) -> list[SetRow]:
    with Store.read(hosted.home.remote) as store:
        assert verify(store).ok, str(verify(store))
        assert store.entrants()["far"]["withdrawn"] is None
        return store.sets()[first:]


def test_a_remote_bot_plays_goes_away_and_comes_again_as_the_same_and_each_round_is_verified(tmp_path: Path) -> None:
    hosted = host_with_a_door(tmp_path, "first", "last")
    with remote_engine(hosted) as engine:
        waiting = engine.step()
        assert waiting is not None
        assert "No remote bot" in waiting.line

    # It is called, and plays.
    connected(hosted, "ann", "far")
    with remote_engine(hosted) as engine, RemoteAuthor(hosted, "far") as author:
        assert engine.step() is None
    assert [one.what for one in author.calls] == ["round 1"]
    assert hosted.store.connection("far").call is None
    (round_,) = facts(hosted)["rounds"]
    assert [(one["key"], one["owner"]) for one in round_["entered"]] == [("first", ""), ("last", ""), ("far", "ann")]
    assert facts(hosted)["definition"]["schedule"]["duplicate"] is False
    first = sets_from(hosted, 0)
    assert {row.state for row in first} == {"SCORED"}
    with Store.read(hosted.home.remote) as store:
        assert len(store.fixtures()) == len(first)  # no pack is played twice

    # It is called, and does not come: it is out of that round alone, and is told why, and rests.
    with remote_engine(hosted, wait_s=0.5) as engine:
        assert engine.step() is None
    second = sets_from(hosted, len(first))
    assert {row.state for row in second} == {"SCORED", "VOID"}
    reasons = {row.reason for row in second if row.state == "VOID"}
    assert len(reasons) == 1
    assert next(iter(reasons), "").startswith("far was away: It did not dial in within")
    now = hosted.store.connection("far")
    assert now.line.startswith("Out of round 2: It did not dial in")
    assert (now.absences, now.call) == (1, None)
    with remote_engine(hosted) as engine:
        waiting = engine.step()
        assert waiting is not None
        assert "No remote bot" in waiting.line

    # When it has rested it plays again, as the same entrant.
    with remote_engine(hosted, SHORTEST_REST + 1) as engine, RemoteAuthor(hosted, "far"):
        connected(hosted, "ann", "far", later=SHORTEST_REST + 1)
        assert engine.step() is None
    assert {row.state for row in sets_from(hosted, len(first) + len(second))} == {"SCORED"}
    assert facts(hosted)["rounds"][2]["entered"] == []
    assert hosted.store.connection("far").absences == 0
    assert not hosted.home.ladder.exists()

    # Nobody takes a set out by such a word alone.
    sql(
        hosted.home.remote, "UPDATE game_set SET reason = 'far was away: It was ill.' WHERE reason LIKE 'far was away%'"
    )
    with Store.read(hosted.home.remote) as store:
        assert not verify(store).ok


GOES: Final = """
import os
from referee.bot import run
answers = 0
def choose(turn):
    global answers
    answers += 1
    if answers > 6:
        os._exit(1)
    return turn.legal[0]
run(choose)
"""


def test_a_bot_that_goes_in_mid_round_loses_what_was_under_way_and_the_ladder_is_untouched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosted = host_with_a_door(tmp_path, "first", "last")
    with engine_of(hosted, monkeypatch) as (engine, _):
        assert engine.step() is None
    before = hosted.home.ladder.read_bytes(), hosted.facts()
    monkeypatch.undo()
    monkeypatch.setattr(supervisor, "GRACE_SECONDS", 0.3)
    connected(hosted, "ann", "far")
    with remote_engine(hosted, wait_s=PATIENCE) as engine, RemoteAuthor(hosted, "far", GOES):
        assert engine.step() is None
    with Store.read(hosted.home.remote) as store:
        assert verify(store).ok, str(verify(store))
        lost = {one["fixture_id"] for one in store.rulings() if one["entrant"] == "far"}
        assert lost
        assert {row.state for row in store.sets()} == {
            "SCORED"
        }  # all games were under way, and nobody waited for those to come
    assert hosted.store.connection("far").call is None
    assert (hosted.home.ladder.read_bytes(), hosted.facts()) == before


def test_who_is_withdrawn_plays_no_more_and_another_version_may(tmp_path: Path) -> None:
    hosted = host_with_a_door(tmp_path, "first", "last")
    connected(hosted, "ann", "far")
    with remote_engine(hosted) as engine, RemoteAuthor(hosted, "far"):
        assert engine.step() is None
        hosted.store.decide(1, VersionState.WITHDRAWN, "it cheats", hosted.now, by="chief")
        waiting = engine.step()
        assert waiting is not None
        connected(hosted, "ann", "far", "2")
        assert engine.step() is None
    with Store.read(hosted.home.remote) as store:
        assert verify(store).ok
        assert {key: one["withdrawn"] for key, one in store.entrants().items()} == {
            "first": None,
            "last": None,
            "far": "it cheats",
            "far@2": None,
        }

"""A page costs as much on a host with many owners, bots and games as on a small one: as many questions to its files."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from referee.host.home import HostHome
from referee.host.rows import VersionState
from referee.host.store import HostStore
from referee.league.store import Store
from referee.umpire.fallback_player import fallback_move
from tests.host.sites import Known, MadeSite, made_site
from tests.league.inprocess import at_random
from tests.league.ladders import Ladder

FROM_MEMORY = ("/", "/tables", "/rounds", "/bots/House", "/bots/own", "/rules", "/enter", "/feed.atom", "/api/v1/board")
"""What is asked of the ladder here is answered from what was read when it changed."""

FROM_THE_LADDER = ("/rounds/1", "/games/1", "/api/v1/games.ndjson?since=3")
FOR_SOMEBODY = ("/me", "/submit", "/api/v1/me", "/organiser")


def a_ladder(path: Path, rounds: int) -> bytes:
    ladder = Ladder(
        path, {"random": at_random, "House": fallback_move, "own": at_random}, owners={"own": "ann"}, sets=1
    )
    ladder.play(rounds)
    return path.read_bytes()


@contextmanager
def a_site(folder: Path, file: bytes, owners: int) -> Iterator[tuple[MadeSite, Known]]:
    folder.mkdir()
    home = HostHome.beside(folder / "ladder.toml")
    home.make()
    home.ladder.write_bytes(file)
    with made_site(folder, host="uploads_per_hour = 1000") as at:
        ann = at.owner("ann", organiser=True)
        at.upload(ann, "own", b"PK-own")
        at.finish(1, VersionState.ACCEPTED)
        for number in range(owners):
            one = at.owner(f"owner {number}")
            job = at.upload(one, f"bot {number}", b"PK-%d" % number).json()["id"]
            at.finish(job, VersionState.ACCEPTED)
            at.store.invite(f"guest {number}", at.time, by="test")
        at.site.ladder.settle(300)
        yield at, ann


def asked(at: MadeSite, ann: Known, monkeypatch: pytest.MonkeyPatch) -> dict[str, Counter[str]]:
    """How often each page asks the host's store, opens the ladder, and asks that."""
    browser, found = at.browser(ann), {}
    rows, read = HostStore._rows, Store.read.__func__  # type: ignore[attr-defined]
    for path in (*FROM_MEMORY, *FROM_THE_LADDER, *FOR_SOMEBODY):
        counts = found[path] = Counter[str]()

        def counted(self: HostStore, query: str, *values: object, counts: Counter[str] = counts) -> list[Any]:
            counts["host"] += 1
            return rows(self, query, *values)

        def opened(cls: type[Store], file: Path, counts: Counter[str] = counts) -> Store:
            store: Store = read(cls, file)
            counts["opened"] += 1
            connection: sqlite3.Connection = store._db
            connection.set_trace_callback(lambda statement: counts.update(["ladder"] * statement.startswith("SELECT")))
            return store

        with monkeypatch.context() as patch:
            patch.setattr(HostStore, "_rows", counted)
            patch.setattr(Store, "read", classmethod(opened))
            at.tick += 60
            answer = at.get(path, ann) if path.startswith("/api/") else browser.get(path)
            assert answer.status_code == 200, path
    return found


def test_a_page_asks_no_more_of_a_large_host_than_of_a_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = a_ladder(tmp_path / "small.sqlite", 2), a_ladder(tmp_path / "large.sqlite", 8)
    with a_site(tmp_path / "one", small, 2) as (at, ann):
        few = asked(at, ann, monkeypatch)
    with a_site(tmp_path / "two", large, 25) as (at, ann):
        many = asked(at, ann, monkeypatch)
    for path in FROM_MEMORY:
        assert few[path]["opened"] == many[path]["opened"] == 0, path
    for path in FROM_THE_LADDER:
        if "ndjson" in path:  # opened anew for every twenty games
            assert many[path]["opened"] <= 3
        else:
            assert few[path]["opened"] == many[path]["opened"] == 1, path
            assert few[path]["ladder"] == many[path]["ladder"] < 20, path
    for path in few:
        assert few[path]["host"] == many[path]["host"], path
        assert many[path]["host"] <= 40, (path, many[path]["host"])

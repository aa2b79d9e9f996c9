"""Remote bots in the store of a host: who is connected, in which version, who is called, and who rests."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.host.rows import BotCall, JobState, Owner, VersionState
from referee.host.schema import MIGRATIONS
from referee.host.store import LONGEST_REST, PRESENT_SECONDS, SHORTEST_REST, HostStore, NotAllowedError


@pytest.fixture
def store(tmp_path: Path) -> Iterator[HostStore]:
    with HostStore.open(tmp_path / "host.sqlite") as made:
        yield made


@pytest.fixture
def ann(store: HostStore) -> Owner:
    return store.register("ann", 1.0)


def checked(store: HostStore, now: float, state: VersionState = VersionState.ACCEPTED, sentence: str = "ok") -> None:
    job = store.lease(now, 60.0, remote=True)
    assert job is not None
    name = store.version(job.version).name
    assert store.finish(job, state, sentence, now, name=name)


def test_a_store_of_before_remote_bots_is_brought_forward_with_all_that_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    with sqlite3.connect(path) as db:
        for script in MIGRATIONS[:2]:
            db.executescript(script)
        db.executescript(
            "PRAGMA user_version = 2;"
            "INSERT INTO owner (name, folded, created) VALUES ('ann', 'ann', 1.0);"
            "INSERT INTO bot (owner_id, name, folded, created) VALUES (1, 'x', 'x', 2.0);"
            "INSERT INTO version (bot_id, name, archive, digest, created, state, reason) "
            "VALUES (1, '1.0', 'aa', 'bb', 3.0, 'accepted', '');"
            "INSERT INTO job (version_id, state, stage, attempt, created, sentence, findings, log) "
            "VALUES (1, 'done', 'done', 1, 3.0, 'ok', '[]', '');"
        )
    db.close()
    with HostStore.open(path) as store:
        assert [(one.bot, one.remote, one.state) for one in store.versions()] == [("x", False, "accepted")]
        assert [one.bot for one in store.entered()] == ["x"]
        assert store.connections() == []
        store.connect(store.owners()[0], "y", "1", "s" * 20, 4.0, most_bots=1)
        assert [one.bot for one in store.entered()] == ["x"]
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS)
    db.close()


def test_a_declared_version_is_checked_once_and_known_again(store: HostStore, ann: Owner) -> None:
    asked: list[int] = []

    def connect(declared: str, now: float, session: str = "s") -> VersionState:
        found = store.connect(ann, "far", declared, session, now, most_bots=1, may_check=lambda: asked.append(1))
        return found.state

    assert connect("1", 10.0) is VersionState.WAITING
    assert connect("1", 11.0, "another") is VersionState.WAITING  # its check waits still
    assert len(store.jobs()) == len(asked) == 1
    checked(store, 12.0)
    assert connect("1", 13.0) is VersionState.ACCEPTED
    assert connect("2", 14.0) is VersionState.WAITING
    checked(store, 15.0, VersionState.REFUSED, "It breaks a rule.")
    assert connect("2", 16.0) is VersionState.WAITING  # its author may have mended it
    checked(store, 17.0, VersionState.REFUSED, "It breaks a rule.")
    assert connect("1", 18.0) is VersionState.ACCEPTED
    assert len(store.jobs()) == len(asked) == 3
    assert [one.version for one in store.to_be_called(18.0)] == [1]
    store.decide(1, VersionState.WITHDRAWN, "it cheats", 19.0, by="Olga")
    assert store.to_be_called(19.0) == []
    with pytest.raises(NotAllowedError, match="was withdrawn"):
        connect("1", 20.0)
    assert store.entered() == []
    for bad in ("", "a b", "x" * 41, "1\n"):
        with pytest.raises(NotAllowedError, match="A version is"):
            connect(bad, 21.0)


def test_only_who_is_there_is_checked_and_called(store: HostStore, ann: Owner) -> None:
    store.connect(ann, "far", "1", "s", 100.0, most_bots=1)
    gone = 100.0 + PRESENT_SECONDS + 1
    assert store.lease(gone, 60.0, remote=True) is None
    assert store.lease(100.0, 60.0) is None  # it is none of those that were handed in
    store.heard(ann, "far", "s", gone)
    checked(store, gone)
    assert [one.bot for one in store.to_be_called(gone)] == ["far"]
    store.heard(ann, "far", "s", gone, leaves=True)
    assert store.to_be_called(gone) == []
    store.heard(ann, "far", "s", gone)
    store.block(ann.id, "spam", gone, by="Olga")
    assert store.to_be_called(gone) == []
    store.block(ann.id, "", gone, by="Olga")
    store.retire(ann, "far", gone)
    assert store.to_be_called(gone) == []
    with pytest.raises(NotAllowedError, match="no remote bot called far"):
        store.heard(ann, "far", "s", gone)


def test_whoever_does_not_play_rests_longer_each_time_until_it_plays(store: HostStore, ann: Owner) -> None:
    store.connect(ann, "far", "1", "s", 0.0, most_bots=1)
    checked(store, 1.0)
    rests = []
    for _ in range(8):
        store.call("far", BotCall("round 1", (("tcp:h:1", "token"),)))
        assert store.connection("far").call == BotCall("round 1", (("tcp:h:1", "token"),))
        store.rest("far", 1000.0, "Out of round 1.")
        now = store.connection("far")
        assert (now.call, now.line) == (None, "Out of round 1.")
        rests.append(now.rests - 1000.0)
    assert rests[:3] == [SHORTEST_REST, 2 * SHORTEST_REST, 4 * SHORTEST_REST]
    assert rests[-1] == LONGEST_REST
    store.heard(ann, "far", "s", 1001.0)
    assert store.to_be_called(1001.0) == []
    assert store.connect(ann, "far", "1", "t", 1002.0, most_bots=1).rests == now.rests  # to come again does not help
    other = store.connect(ann, "far", "2", "u", 1002.0, most_bots=1)
    assert (other.absences, other.rests) == (now.absences, now.rests)  # nor does another version
    assert store.connect(ann, "far", "1", "t", 1002.0, most_bots=1).rests == now.rests
    store.played("far")
    assert [one.absences for one in store.to_be_called(1002.0)] == [0]


def test_the_newest_connection_counts_and_names_are_one_space(store: HostStore, ann: Owner) -> None:
    bob = store.register("bob", 2.0)
    store.connect(ann, "far", "1", "first", 3.0, most_bots=1)
    store.connect(ann, "FAR", "1", "second", 4.0, most_bots=1)
    with pytest.raises(NotAllowedError, match="connected from elsewhere"):
        store.heard(ann, "far", "first", 5.0)
    with pytest.raises(NotAllowedError, match="no remote bot called far"):
        store.heard(bob, "far", "second", 5.0)
    with pytest.raises(NotAllowedError, match="it is not yours"):
        store.connect(bob, "far", "1", "x", 5.0, most_bots=1)
    with pytest.raises(NotAllowedError, match="runs on your own machine"):
        store.hand_in(ann, "far", "aaaa", 5.0, most_bots=1)
    store.hand_in(ann, "near", "aaaa", 6.0, most_bots=1)  # counted for each board
    with pytest.raises(NotAllowedError, match="was handed in"):
        store.connect(ann, "near", "1", "x", 7.0, most_bots=1)
    with pytest.raises(NotAllowedError, match="one bot on this board, and you have far"):
        store.connect(ann, "further", "1", "x", 7.0, most_bots=1)


def test_who_is_gone_before_its_check_keeps_nobody_from_handing_in(
    store: HostStore, ann: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.host.store.MOST_WAITING", 3)
    for number in range(5):
        now = 100.0 * number
        store.connect(ann, "far", str(number), "s", now, most_bots=1)
    store.hand_in(ann, "near", "aaaa", 500.0, most_bots=1)
    for number in range(2):
        store.connect(store.register(f"b{number}", 501.0), f"b{number}", "1", "s", 501.0, most_bots=1)
    store.heard(ann, "far", "s", 501.0)
    with pytest.raises(NotAllowedError, match="Too many remote bots wait"):
        store.connect(store.register("c", 501.0), "c", "1", "s", 501.0, most_bots=1)


def test_each_kind_of_job_is_done_by_its_own_process(store: HostStore, ann: Owner) -> None:
    store.hand_in(ann, "near", "aaaa", 1.0, most_bots=1)
    store.connect(ann, "far", "1", "s", 2.0, most_bots=1)
    assert store.before(2) == 0
    near, far = store.lease(3.0, 60.0), store.lease(3.0, 60.0, remote=True)
    assert near is not None
    assert far is not None
    assert (near.bot, far.bot) == ("near", "far")
    store.expire_leases(4.0)
    assert store.lease(4.0, 60.0, remote=True) is None
    store.expire_leases(4.0, remote=True)
    again = store.lease(4.0, 60.0, remote=True)
    assert again is not None
    assert (again.id, again.attempt, again.state) == (far.id, 2, JobState.RUNNING)

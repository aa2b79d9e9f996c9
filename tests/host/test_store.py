"""The store of a host: who may do what, what is kept of a secret, and that nothing is half done whoever dies."""

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from referee.host.rows import Entered, Job, JobState, Owner, VersionState
from referee.host.schema import MIGRATIONS, HostStoreError
from referee.host.store import LOG_BYTES, MOST_ATTEMPTS, MOST_WAITING_OF_AN_OWNER, HostStore, NotAllowedError

DAY = 86_400.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[HostStore]:
    with HostStore.open(tmp_path / "host.sqlite") as store:
        yield store


@pytest.fixture
def ann(store: HostStore) -> Owner:
    return store.register("Ann", 1.0)


@pytest.fixture
def bob(store: HostStore) -> Owner:
    return store.register("Bob", 1.0)


def hand_in(store: HostStore, owner: Owner, bot: str, archive: str, now: float = 10.0, most: int = 1) -> Job:
    return store.hand_in(owner, bot, archive, now, most_bots=most, taken=["Careful"])


def accept(store: HostStore, job: Job, now: float = 20.0) -> None:
    taken = store.lease(now, 60)
    assert taken is not None
    assert taken.id == job.id
    assert store.finish(taken, VersionState.ACCEPTED, "It keeps the rules.", now, name="x", digest="d")


def refusal(act: Callable[[], object]) -> tuple[int, str]:
    with pytest.raises(NotAllowedError) as caught:
        act()
    return caught.value.status, str(caught.value)


# Owners, invitations, tokens


def test_an_invitation_makes_one_owner_and_no_more(store: HostStore) -> None:
    secret = store.invite("", 0.0, by="host")
    owner = store.join(secret, "Ann", 1.0)
    assert (owner.name, owner.organiser) == ("Ann", False)
    assert refusal(lambda: store.join(secret, "Bob", 2.0)) == (
        409,
        "This invitation was used already; ask the organiser for a new link.",
    )
    assert [one.used for one in store.invitations()] == ["Ann"]


def test_an_invitation_for_somebody_is_theirs_whatever_they_call_themselves(store: HostStore) -> None:
    assert store.join(store.invite("Ann", 0.0, by="host", organiser=True), "Bob", 1.0) == Owner(1, "Ann", True, "")


@pytest.mark.parametrize("name", ["Zo\u00eb M\u00fcller", "Bob", "x" * 60])
def test_who_is_invited_by_a_name_that_cannot_be_theirs_picks_one(store: HostStore, bob: Owner, name: str) -> None:
    secret = store.invite(name, 0.0, by="host")
    assert store.name_of(store.invitation(secret, 1.0)) == ""
    assert store.join(secret, "Zoe", 1.0).name == "Zoe" != bob.name


def test_an_invitation_ends(store: HostStore) -> None:
    late, back = store.invite("Ann", 0.0, days=2, by="host"), store.invite("Bob", 0.0, by="host")
    store.revoke_invitation(2, 1.0, by="host")
    for secret in (late, back):
        assert refusal(lambda secret=secret: store.join(secret, "x", 3 * DAY))[0] == 409
    assert refusal(lambda: store.join("nonsense", "x", 1.0))[0] == 404
    assert store.owners() == []


def test_a_name_that_is_taken_leaves_the_invitation_as_it_was(store: HostStore, ann: Owner) -> None:
    secret = store.invite("", 0.0, by="host")
    assert refusal(lambda: store.join(secret, "ANN", 1.0)) == (
        409,
        "Somebody is called ANN already; take another name.",
    )
    assert refusal(lambda: store.join(secret, "<b>", 1.0))[0] == 409
    assert store.join(secret, "Bob", 1.0).id != ann.id


def test_a_token_says_whose_it_is_until_it_is_revoked(store: HostStore, ann: Owner, bob: Owner) -> None:
    text = store.add_token(ann.id, "laptop", 2.0)
    owner, token = store.by_token(text, 5.0)
    assert (owner, token.label, token.used) == (ann, "laptop", 5.0)
    assert [store.by_token(text, now)[1].used for now in (6.0, 64.0, 65.0)] == [5.0, 5.0, 65.0]
    store.revoke_token(bob.id, token.id, 6.0)  # not Bob's
    assert store.by_token(text, 6.0)[0] == ann
    store.revoke_token(ann.id, token.id, 7.0)
    assert refusal(lambda: store.by_token(text, 8.0))[0] == 401
    assert refusal(lambda: store.by_token("", 8.0))[0] == 401


def test_no_secret_is_kept(store: HostStore, ann: Owner, tmp_path: Path) -> None:
    secrets = [store.invite("", 0.0, by="host"), store.add_token(ann.id, "laptop", 2.0)]
    store.close()
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not [secret for secret in secrets if secret.encode() in kept]
    assert all(len(secret) >= 32 for secret in secrets)


def test_who_is_blocked_does_nothing_until_let_in_again(store: HostStore, ann: Owner) -> None:
    text = store.add_token(ann.id, "laptop", 2.0)
    store.block(ann.id, "three of these are one person", 3.0, by="Olga")
    told = (403, "The organiser has blocked Ann: three of these are one person.")
    assert refusal(lambda: store.by_token(text, 4.0)) == told
    blocked = store.owner(ann.id)
    assert blocked is not None
    assert refusal(lambda: hand_in(store, blocked, "x", "1")) == told
    store.block(ann.id, "", 5.0, by="Olga")
    assert store.by_token(text, 6.0)[0] == ann


# Versions and jobs


def test_what_is_handed_in_waits_is_done_and_plays(store: HostStore, ann: Owner) -> None:
    first = hand_in(store, ann, "Ann's bot".replace("'", ""), "aaaa")
    assert (first.state, first.owner, store.version(first.version).state) == ("waiting", "Ann", "waiting")
    assert store.entered() == []
    accept(store, first)
    assert store.entered() == [Entered("Anns bot", "Ann", first.version)]
    second = hand_in(store, ann, "anns BOT", "bbbb", 30.0)
    assert store.entered() == [Entered("Anns bot", "Ann", first.version)]  # the first plays until the second may
    accept(store, second, 40.0)
    assert store.entered() == [Entered("Anns bot", "Ann", second.version)]


def test_the_same_files_again_are_the_same_job(store: HostStore, ann: Owner) -> None:
    first = hand_in(store, ann, "x", "aaaa")
    assert hand_in(store, ann, "x", "aaaa").id == first.id
    accept(store, first)
    assert hand_in(store, ann, "x", "aaaa").id == first.id
    second = hand_in(store, ann, "x", "bbbb")
    accept(store, second)
    assert hand_in(store, ann, "x", "aaaa").id > second.id  # back to the first files: a new version


def test_what_was_refused_may_come_again(store: HostStore, ann: Owner) -> None:
    job = hand_in(store, ann, "x", "aaaa")
    taken = store.lease(20.0, 60)
    assert taken is not None
    findings = [{"rule": "AF-PLAY-002", "sentence": "It did not follow suit.", "times": 3, "witness": "", "page": ""}]
    store.finish(taken, VersionState.REFUSED, "It breaks AF-PLAY-002.", 21.0, findings=findings)
    done = store.job(job.id)
    assert (done.state, done.findings, store.version(job.version).reason) == (
        "done",
        findings,
        "It breaks AF-PLAY-002.",
    )
    assert hand_in(store, ann, "x", "aaaa", 30.0).id != job.id


def test_names_and_numbers_of_bots_are_bounded(store: HostStore, ann: Owner, bob: Owner) -> None:
    hand_in(store, ann, "x", "aaaa")
    for name in ("X", "careful"):
        status, told = refusal(lambda name=name: hand_in(store, bob, name, "aaaa"))
        assert (status, told) == (
            409,
            f"There is a bot called {name} already, and it is not yours; give yours another name.",
        )
    assert (
        "An owner has one bot on this board, and you have x; hand it in under that name, or retire one first."
        in refusal(lambda: hand_in(store, ann, "y", "aaaa"))
    )
    assert refusal(lambda: hand_in(store, bob, "../x", "aaaa"))[0] == 409
    store.retire(ann, "X", 20.0)
    assert store.bots(ann.id) == [("x", True)]
    assert hand_in(store, ann, "y", "cccc").bot == "y"
    assert refusal(lambda: hand_in(store, ann, "x", "dddd"))[0] == 409  # it would be the second
    assert refusal(lambda: store.retire(bob, "y", 20.0)) == (404, "You have no bot called y.")


def test_nobody_fills_the_queue(store: HostStore, ann: Owner, bob: Owner) -> None:
    for number in range(MOST_WAITING_OF_AN_OWNER):
        hand_in(store, ann, "x", f"{number}")
    assert refusal(lambda: hand_in(store, ann, "x", "more"))[0] == 429
    assert store.before(hand_in(store, bob, "y", "1").id) == MOST_WAITING_OF_AN_OWNER


def test_a_worker_that_is_gone_loses_its_job_and_can_say_nothing_of_it(store: HostStore, ann: Owner) -> None:
    hand_in(store, ann, "x", "aaaa")
    lost = store.lease(10.0, 60)
    assert lost is not None
    assert store.go_on(lost, "build", "compiling", 20.0, 60)
    assert store.lease(79.0, 60) is None
    again = store.lease(81.0, 60)
    assert again is not None
    assert (again.id, again.attempt, again.log) == (lost.id, 2, "")
    assert not store.go_on(lost, "check", "", 82.0, 60)
    assert not store.finish(lost, VersionState.REFUSED, "late", 82.0)
    assert store.finish(again, VersionState.ACCEPTED, "", 83.0)
    assert store.version(lost.version).state is VersionState.ACCEPTED


def test_a_job_that_we_cannot_do_is_our_fault(store: HostStore, ann: Owner) -> None:
    job = hand_in(store, ann, "x", "aaaa")
    for attempt in range(MOST_ATTEMPTS):
        assert store.lease(100.0 * (attempt + 1), 60) is not None
    assert store.lease(1e6, 60) is None
    failed = store.job(job.id)
    assert (failed.state, store.version(job.version).state) == (JobState.FAILED, VersionState.WAITING)
    told = "The host failed 3 times at this, which says nothing of the bot; the organiser can see why, and have it done again."
    assert failed.sentence == told
    again = store.again(ann, job.id, 2e6)
    assert (again.id > job.id, again.version) == (True, job.version)
    accept(store, again, 2e6)


def test_a_job_is_done_again_by_its_owner_or_an_organiser(store: HostStore, ann: Owner, bob: Owner) -> None:
    job = hand_in(store, ann, "x", "aaaa")
    assert store.again(ann, job.id, 11.0).id == job.id  # it waits already
    assert refusal(lambda: store.again(bob, job.id, 11.0)) == (403, "That is not your bot.")
    accept(store, job)
    assert refusal(lambda: store.again(ann, job.id, 30.0))[0] == 409
    assert refusal(lambda: store.job(77))[0] == 404


def test_however_often_somebody_asks_a_version_has_one_job_under_way(store: HostStore, ann: Owner) -> None:
    job = hand_in(store, ann, "x", "aaaa")
    taken = store.lease(20.0, 60)
    assert taken is not None
    store.finish(taken, VersionState.REFUSED, "It breaks AF-PLAY-002.", 21.0)
    again = store.again(ann, job.id, 22.0)
    assert store.again(ann, job.id, 23.0).id == again.id > job.id
    accept(store, again)
    assert store.lease(50.0, 60) is None  # nothing is left that would take the files of a bot that plays away
    for number in range(MOST_WAITING_OF_AN_OWNER):
        hand_in(store, ann, "x", f"more {number}")
    refused = store.register("Bob", 1.0)
    other = hand_in(store, refused, "y", "aaaa")
    assert store.again(refused, other.id, 60.0).id == other.id


def test_a_retired_bot_that_is_handed_in_again_plays_again(store: HostStore, ann: Owner) -> None:
    job = hand_in(store, ann, "x", "aaaa")
    accept(store, job)
    store.retire(ann, "x", 30.0)
    assert hand_in(store, ann, "x", "aaaa").id == job.id
    assert [one.version for one in store.entered()] == [job.version]


def test_only_the_end_of_a_long_log_is_kept(store: HostStore, ann: Owner) -> None:
    hand_in(store, ann, "x", "aaaa")
    job = store.lease(10.0, 60)
    assert job is not None
    store.go_on(job, "build", "\N{SNOWMAN}" * LOG_BYTES + "end", 11.0, 60)
    log = store.job(job.id).log
    assert log.endswith("end")
    assert len(log.encode()) <= LOG_BYTES + 6


def test_the_organiser_lets_in_refuses_and_withdraws(store: HostStore, ann: Owner) -> None:
    job = hand_in(store, ann, "x", "aaaa")
    taken = store.lease(20.0, 60)
    assert taken is not None
    store.finish(taken, VersionState.APPROVAL, "It keeps the rules.", 21.0)
    assert store.entered() == []
    assert refusal(lambda: store.decide(job.version, VersionState.WAITING, "", 22.0, by="Olga"))[0] == 409
    store.decide(job.version, VersionState.ACCEPTED, "", 22.0, by="Olga")
    assert [one.bot for one in store.entered()] == ["x"]
    store.decide(job.version, VersionState.WITHDRAWN, "it copies another", 23.0, by="Olga")
    assert store.entered() == []
    assert refusal(lambda: store.decide(job.version, VersionState.ACCEPTED, "", 24.0, by="Olga"))[0] == 409
    assert [(row.who, row.what) for row in store.audit(most=2)] == [("Olga", "withdrawn"), ("Olga", "accepted")]


@pytest.mark.parametrize("reason", ["two\nlines", "\x1b[31m", "\u202e", "x" * 301])
def test_a_reason_is_one_plain_line_for_it_stands_in_the_ladder(store: HostStore, ann: Owner, reason: str) -> None:
    accept(store, job := hand_in(store, ann, "x", "aaaa"))
    assert refusal(lambda: store.decide(job.version, VersionState.WITHDRAWN, reason, 30.0, by="Olga"))[0] == 409
    assert refusal(lambda: store.block(ann.id, reason, 30.0, by="Olga"))[0] == 409
    assert [one.version for one in store.entered()] == [job.version]


def test_no_earlier_version_comes_back_for_one_that_is_withdrawn(store: HostStore, ann: Owner) -> None:
    for archive in ("aaaa", "bbbb"):
        accept(store, job := hand_in(store, ann, "x", archive))
    store.decide(job.version, VersionState.WITHDRAWN, "it copies another", 30.0, by="Olga")
    assert store.entered() == []
    accept(store, job := hand_in(store, ann, "x", "cccc"))
    assert [one.version for one in store.entered()] == [job.version]


def test_who_retired_or_is_blocked_does_not_play(store: HostStore, ann: Owner, bob: Owner) -> None:
    for owner, bot in ((ann, "x"), (bob, "y")):
        accept(store, hand_in(store, owner, bot, "aaaa"))
    store.retire(ann, "x", 30.0)
    assert [one.bot for one in store.entered()] == ["y"]
    store.block(bob.id, "late", 31.0, by="Olga")
    assert store.entered() == []


# The file


def test_others_cannot_look_into_it(tmp_path: Path, store: HostStore) -> None:
    assert store.secret() == store.secret()
    assert all(path.stat().st_mode & 0o077 == 0 for path in tmp_path.iterdir())


def test_what_was_handed_in_before_sources_could_be_public_is_private(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    db = sqlite3.connect(path)
    for statement in MIGRATIONS[:2]:
        db.executescript(statement)
    db.execute("PRAGMA user_version = 2")
    db.execute("INSERT INTO owner (name, folded, created) VALUES ('Ann', 'ann', 1.0)")
    db.execute("INSERT INTO bot (owner_id, name, folded, created) VALUES (1, 'x', 'x', 1.0)")
    db.execute(
        "INSERT INTO version (bot_id, name, archive, digest, created, state, reason) VALUES (1, 'x', 'aa', 'd', 1.0, 'accepted', '')"
    )
    db.commit()
    db.close()
    with HostStore.open(path) as store:
        (old,) = store.versions()
        assert (old.bot, old.archive, old.public) == ("x", "aa", False)
        (ann,) = store.owners()
        again = store.hand_in(ann, "x", "bb", 2.0, most_bots=1, public=True)
        assert [one.public for one in store.versions()] == [True, False]
        assert store.version(again.version).public


def test_a_file_that_is_no_store_is_told(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database" * 100)
    (tmp_path / "later").write_bytes(b"")
    with sqlite3.connect(tmp_path / "later") as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    db.close()
    for path, told in (
        (tmp_path / "text", "is not the store of a host, or damaged"),
        (tmp_path / "later", "use the version that wrote it, or a later one"),
        (tmp_path / "no" / "folder", "cannot be opened"),
    ):
        with pytest.raises(HostStoreError, match=re.escape(told)):
            HostStore.open(path)
    with pytest.raises(HostStoreError, match="start the host once"):
        HostStore.read(tmp_path / "none")


def test_whoever_looks_sees_what_others_write_and_writes_nothing(tmp_path: Path, store: HostStore) -> None:
    with HostStore.read(tmp_path / "host.sqlite") as reader:
        before = reader.change()
        store.register("Ann", 1.0)
        assert reader.change() != before
        assert [one.name for one in reader.owners()] == ["Ann"]
        with pytest.raises(sqlite3.OperationalError):
            reader.register("Bob", 1.0)


class Host(RuleBasedStateMachine):
    """Anything that people and workers do, with workers that die in between and a store that is opened anew."""

    folder: Path

    def __init__(self) -> None:
        super().__init__()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.store, self.now = HostStore.open(self.folder / "host.sqlite"), 0.0
        self.owners = [self.store.register(name, 0.0) for name in ("Ann", "Bob")]
        self.leased: list[Job] = []
        self.done: dict[int, str] = {}

    def teardown(self) -> None:
        self.store.close()

    @rule(owner=st.integers(0, 1), bot=st.sampled_from("xyz"), archive=st.sampled_from("123"))
    def hand_in(self, owner: int, bot: str, archive: str) -> None:
        try:
            job = self.store.hand_in(self.owners[owner], bot, archive, self.now, most_bots=2)
        except NotAllowedError:
            return
        assert self.store.version(job.version).archive == archive

    @rule()
    def lease(self) -> None:
        job = self.store.lease(self.now, 10)
        if job is not None:
            self.leased.append(job)

    @rule(seconds=st.integers(1, 20))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @precondition(lambda self: self.leased)
    @rule(data=st.data(), state=st.sampled_from([VersionState.ACCEPTED, VersionState.REFUSED, VersionState.APPROVAL]))
    def finish(self, data: st.DataObject, state: VersionState) -> None:
        job = data.draw(st.sampled_from(self.leased))
        if self.store.finish(job, state, "so", self.now):
            assert job.id not in self.done
            self.done[job.id] = state

    @precondition(lambda self: self.done)
    @rule(owner=st.integers(0, 1), data=st.data())
    def again(self, owner: int, data: st.DataObject) -> None:
        try:
            self.store.again(self.owners[owner], data.draw(st.sampled_from(sorted(self.done))), self.now)
        except NotAllowedError:
            return

    @rule(owner=st.integers(0, 1), bot=st.sampled_from("xyz"))
    def retire(self, owner: int, bot: str) -> None:
        try:
            self.store.retire(self.owners[owner], bot, self.now)
        except NotAllowedError as error:
            assert error.status == 404  # noqa: PT017  # either is right here

    @rule()
    def open_anew(self) -> None:
        self.store.close()
        self.store = HostStore.open(self.folder / "host.sqlite")

    @invariant()
    def nothing_is_lost_or_doubled(self) -> None:
        jobs = self.store.jobs(most=10_000)
        assert {job.id for job in jobs if job.state is JobState.DONE} == self.done.keys()
        for version in self.store.versions():
            own = [job for job in jobs if job.version == version.id]
            assert sum(job.state in (JobState.WAITING, JobState.RUNNING) for job in own) <= 1
            assert (version.state is VersionState.WAITING) == (own[0].state is not JobState.DONE)
        entered = self.store.entered()
        assert len({one.bot for one in entered}) == len(entered)
        for owner in self.owners:
            assert sum(one.owner == owner.name for one in entered) <= 2


def test_whatever_people_do_and_whoever_dies(tmp_path: Path) -> None:
    machine = type("HostHere", (Host,), {"folder": tmp_path / "host"})
    run_state_machine_as_test(machine, settings=settings(max_examples=25, stateful_step_count=30, deadline=None))

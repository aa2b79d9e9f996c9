"""The client of ``referee push`` and the site of a host, with a network of this machine between them."""

import hashlib
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

import referee
from referee.cli.push import definition_of, progress_line
from referee.host.client import FollowedJob, HostAddress, HostClient, HostRequestError
from referee.host.home import HostHome
from referee.host.rows import Job, JobState, VersionState
from referee.host.store import HostStore
from referee.host.web.server import serve
from referee.league.definition.definition import load_definition
from tests.host.sites import made_site
from tests.league.inprocess import at_random
from tests.league.ladders import Ladder

LADDER = """
[tournament]
name = "Kitchen ladder"
variant = "auction-pitch"
seats = 3
[rules]
low_to = "holder"
[schedule]
format = "ladder"
[limits]
move_ms = 700
[[bots]]
path = "careful"
panel = true
[[bots]]
path = "random"
[host]
address = "127.0.0.1:0"
upload_mib = 1
"""


@dataclass
class Served:
    """A site that is served, and its store."""

    home: HostHome
    store: HostStore
    url: str

    def client(self, name: str, *, token: str | None = None) -> HostClient:
        """A client with a token of an owner, who is made for it."""
        if token is None:
            owner = self.store.join(self.store.invite(name, time.time(), by="test"), name, time.time())
            token = self.store.add_token(owner.id, "test", time.time())
        return HostClient(HostAddress.parse(self.url), token)

    def lease(self) -> Job:
        """The next job, as the jobs of the host take it."""
        job = self.store.lease(time.time(), 600)
        assert job is not None
        return job


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "ladder.toml").write_text(LADDER)
    home = HostHome.beside(tmp_path / "ladder.toml")
    home.make()
    stop, listens, where = threading.Event(), threading.Event(), list[str]()

    def told(address: str) -> None:
        where.append(address)
        listens.set()

    with ThreadPoolExecutor(1) as pool:
        site = pool.submit(serve, home, stop, told)
        site.add_done_callback(lambda _: listens.set())
        try:
            listens.wait()
            if not where:
                site.result()
            with HostStore.open(home.store) as store:
                store.set("sandbox", "bubblewrap", time.time(), by="test")
                yield Served(home, store, f"http://{where[0]}")
        finally:
            stop.set()
        site.result()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "bot.zip"
    path.write_bytes(b"PK: nobody unpacks it here")
    return path


def test_what_decides_a_check_comes_over_as_it_is(at: Served) -> None:
    with at.client("ann") as client:
        ladder = client.ladder()
    assert (ladder.name, ladder.upload_mib, ladder.referee) == ("Kitchen ladder", 1, referee.__version__)
    there, here = load_definition(at.home.definition), definition_of(ladder)
    assert here.rule_set() == there.rule_set()
    assert here.limits == there.limits
    assert here.tournament == there.tournament


def test_a_job_is_followed_from_the_archive_to_the_verdict(at: Served, archive: Path) -> None:
    with at.client("ann") as client, at.client("bob") as other:
        first, _ = other.hand_in("bobs bot", archive)
        job, new = client.hand_in("anns bot", archive)
        assert new
        assert at.home.archive(hashlib.sha256(archive.read_bytes()).hexdigest()).is_file()
        assert (job.bot, job.owner, job.before, progress_line(job)) == (
            "anns bot",
            "ann",
            1,
            "waiting   1 job before it",
        )
        assert job.page == f"{at.url}/jobs/{job.id}"
        assert client.hand_in("anns bot", archive) == (job, False)

        seen = list[FollowedJob]()
        followed = client.follow(job)
        done = at.lease()
        assert done.id == first.id
        at.store.finish(done, VersionState.REFUSED, "It breaks a rule.", time.time())
        seen.append(next(followed))
        mine = at.lease()
        seen.append(next(followed))
        for stage in ("build", "check"):
            at.store.go_on(mine, stage, "make: fine", time.time(), 600)
            seen.append(next(followed))
        finding = {
            "rule": "AF-PLAY-002",
            "sentence": "So.",
            "times": 2,
            "witness": "w.json",
            "page": "w.html",
            "hint": "",
        }
        at.store.finish(mine, VersionState.REFUSED, "It breaks 1 rule.", time.time(), findings=[finding])
        seen += followed
        assert [progress_line(one) for one in seen[:4]] == [
            "waiting   it is next",
            "begins    it is its turn",
            "build",
            "check",
        ]
        assert [one.over for one in seen] == [False] * 4 + [True]
        assert seen[-1].state is JobState.DONE
        assert seen[-1].verdict is VersionState.REFUSED
        assert seen[-1].findings[0].page == f"{at.url}/jobs/{job.id}/w.html"
        assert client.job(job.id) == seen[-1]

        again = client.again(job.id)
        assert (again.version, again.over, again.id > job.id) == (job.version, False, True)


def test_what_the_site_does_not_take_in_is_told_in_its_own_words(at: Served, archive: Path) -> None:
    def refused(client: HostClient, bot: str = "mine") -> HostRequestError:
        with client, pytest.raises(HostRequestError) as caught:
            client.hand_in(bot, archive)
        return caught.value

    assert (told := refused(at.client("", token="referee_wrong"))).status == 401
    assert "/me" in str(told)
    assert refused(at.client("ann"), "Careful").status == 409  # a house bot's name
    with at.client("bob") as client:
        job, _ = client.hand_in("mine", archive)
    assert (told := refused(at.client("cleo"))).status == 409
    assert "not yours" in str(told)
    with at.client("dan") as client, pytest.raises(HostRequestError, match="not your") as caught:
        client.job(job.id)
    assert (caught.value.status, caught.value.ours) == (403, True)
    archive.write_bytes(bytes(2 << 20))
    assert (told := refused(at.client("eve"), "large")).status == 413
    assert "1 MiB" in str(told)
    archive.write_bytes(b"PK")
    at.store.set("sandbox", "", time.time(), by="test")
    at.store.set("sandbox_line", "apt install bubblewrap", time.time(), by="test")
    assert (told := refused(at.client("fay"), "late")).status == 503
    assert "apt install bubblewrap" in str(told)
    assert not told.ours


def test_what_was_accepted_is_told_when_the_next_round_begins(tmp_path: Path) -> None:
    home = HostHome.beside(tmp_path / "ladder.toml")
    home.make()
    Ladder(home.ladder, dict.fromkeys(("random", "House", "other"), at_random)).play(1)
    with made_site(tmp_path, host='every = "10m"') as at:
        ann = at.owner("ann")
        job = at.upload(ann, "a").json()
        assert job["plays_in_s"] is None
        at.finish(job["id"], VersionState.ACCEPTED)
        at.store.tell("round_began", repr(at.time - 350))
        at.site.ladder.settle(300)
        assert at.get(f"/api/v1/jobs/{job['id']}", ann).json()["plays_in_s"] == 250
        at.time += 300
        assert at.get(f"/api/v1/jobs/{job['id']}", ann).json()["plays_in_s"] == 0

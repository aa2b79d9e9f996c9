"""The site of a host with a door for remote bots: how they connect by the API, and what the pages show of them."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from referee.host.rows import BotCall, VersionState
from referee.host.store import PRESENT_SECONDS
from tests.host.sites import Known, MadeSite, made_site

DOOR = 'remote = "127.0.0.1:7401"\nbots_per_owner = 2\nuploads_per_hour = 4'
SESSION = "a-session-of-twenty-letters"


@pytest.fixture
def at(tmp_path: Path) -> Iterator[MadeSite]:
    with made_site(tmp_path, host=DOOR, sandbox="") as made:
        yield made


def said(at: MadeSite, known: Known | None, bot: str = "far", **more: Any) -> httpx.Response:
    return at.ask("POST", f"/api/v1/remote/{bot}", known, json={"session": SESSION, **more})


def connect(at: MadeSite, known: Known, version: str = "1", **more: Any) -> Any:
    answer = said(at, known, begin=True, version=version, **more)
    assert answer.status_code == 200, answer.text
    return answer.json()


def judged(at: MadeSite, state: VersionState, **more: Any) -> None:
    job = at.store.lease(at.time, 60, remote=True)
    assert job is not None
    name = at.store.version(job.version).name
    assert at.store.finish(job, state, f"It is {state}.", at.time, name=name, **more)


def test_a_remote_bot_connects_is_checked_called_and_told_why_it_was_out(at: MadeSite) -> None:
    ann = at.owner("ann")
    first = connect(at, ann)
    assert (first["state"], first["declared"], first["call"]) == ("waiting", "1", None)
    assert first["job"]["state"] == "waiting"
    assert first["job"]["page"].endswith("/jobs/1")

    judged(at, VersionState.ACCEPTED)
    second = said(at, ann, mark=first["mark"]).json()
    assert (second["state"], second["job"]["verdict"]) == ("accepted", "accepted")

    at.store.call("far", BotCall("round 3", (("tls:pitch.test:7401", "token-of-the-call"),)))
    third = said(at, ann, mark=second["mark"]).json()
    assert third["call"] == {
        "what": "round 3",
        "sessions": [{"address": "tls:pitch.test:7401", "token": "token-of-the-call"}],
    }
    pages = "".join(at.get(path).text for path in ("/remote", "/remote/bots/far", "/enter", "/me", "/"))
    assert "token-of-the-call" not in pages
    assert "called for round 3" in pages

    at.store.rest("far", at.time, "Out of round 3: It did not dial in.")
    fourth = said(at, ann, mark=third["mark"]).json()
    assert (fourth["call"], fourth["line"]) == (None, "Out of round 3: It did not dial in.")
    assert fourth["rests_until"] > at.time

    gone = said(at, ann, leaves=True).json()
    assert gone["state"] == "accepted"
    assert at.store.connection("far").seen == 0


def test_an_answer_waits_for_news_and_is_a_sign_of_life(at: MadeSite) -> None:
    ann = at.owner("ann")
    mark = connect(at, ann)["mark"]
    judged(at, VersionState.ACCEPTED)
    mark = said(at, ann, mark=mark).json()["mark"]
    at.time += PRESENT_SECONDS - 1

    async def meanwhile() -> httpx.Response:
        asked = asyncio.create_task(
            at._ask("POST", "/api/v1/remote/far", ann, None, {"json": {"session": SESSION, "mark": mark}})
        )
        end = time.monotonic() + 60
        while at.store.connection("far").seen != at.time:
            assert time.monotonic() < end
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.02)
        assert not asked.done()  # there is no news
        at.store.call("far", BotCall("round 1", (("tcp:127.0.0.1:7401", "t"),)))
        return await asked

    assert asyncio.run(meanwhile()).json()["call"]["what"] == "round 1"


def test_many_bots_may_connect_at_the_same_moment_while_something_is_handed_in(at: MadeSite) -> None:
    """What they wait for is waited for aside: the site answers everybody else meanwhile, and then them."""
    bots = {f"far{number}": at.owner(f"owner{number}") for number in range(3)}

    async def story() -> list[httpx.Response]:
        with at.site.handing_in:
            asked = [
                asyncio.create_task(
                    at._ask(
                        "POST",
                        f"/api/v1/remote/{bot}",
                        known,
                        None,
                        {"json": {"session": SESSION, "begin": True, "version": "1"}},
                    )
                )
                for bot, known in bots.items()
            ]
            assert (await at._ask("GET", "/api/v1/entry", None, None, {})).status_code == 200
            assert not any(one.done() for one in asked)
        return await asyncio.gather(*asked)

    assert [one.status_code for one in asyncio.run(story())] == [200, 200, 200]


def test_only_its_owner_connects_a_bot_and_only_as_long_as_bots_are_taken_in(at: MadeSite, tmp_path: Path) -> None:
    ann, bob = at.owner("ann"), at.owner("bob")
    connect(at, ann)
    for known, bot, more, status, told in (
        (None, "far", {"begin": True, "version": "1"}, 401, "Send your token"),
        (bob, "far", {"begin": True, "version": "1"}, 409, "not yours"),
        (bob, "far", {}, 404, "You have no remote bot called far"),
        (ann, "far", {"session": "another-session-of-letters"}, 409, "this connection is over"),
        (ann, "far", {"session": "short"}, 400, "A session is"),
        (ann, "far", {"begin": True, "version": "a b"}, 409, "A version is"),
        (ann, "House", {"begin": True, "version": "1"}, 409, "give yours another name"),
        (ann, "..", {"begin": True, "version": "1"}, 404, ""),
        (ann, ".x", {"begin": True, "version": "1"}, 409, "The name of a bot is"),
    ):
        answer = said(at, known, bot, **more)
        assert answer.status_code == status, (bot, more, answer.text)
        assert told in answer.text
    assert at.ask("POST", "/api/v1/remote/far", ann, content=b"[1]").status_code == 400
    assert at.ask("POST", "/api/v1/remote/far", ann, content=b"{" * 5000).status_code == 413
    bound = Known(ann.owner, at.store.add_token(ann.owner.id, "one", at.time, bot="other"))
    assert said(at, bound).status_code == 403

    # So many versions an hour, as for those that are handed in.
    for version in ("2", "3", "4"):
        connect(at, ann, version)
    assert said(at, ann, begin=True, version="5").status_code == 429

    # What was let in comes again when the doors are closed; what is new does not.
    at.tick += 3600
    at.store.set("frozen", "1", at.time, by="test")
    for _ in range(4):
        if (job := at.store.lease(at.time, 60, remote=True)) is not None:
            at.store.finish(job, VersionState.ACCEPTED, "ok", at.time, name=at.store.version(job.version).name)
    assert connect(at, ann, "4")["state"] == "accepted"
    frozen = said(at, ann, begin=True, version="5")
    assert (frozen.status_code, "frozen" in frozen.text) == (409, True)
    at.store.block(ann.owner.id, "spam", at.time, by="test")
    assert said(at, ann).status_code == 403


def test_the_pages_mark_what_is_declared_and_the_organiser_lets_in_and_withdraws(tmp_path: Path) -> None:
    with made_site(tmp_path, host=DOOR + '\nenter = "approval"', sandbox="") as at:
        ann, chief = at.owner("ann"), at.browser(at.owner("chief", organiser=True))
        connect(at, ann, "1.2")
        waits = at.get("/jobs/1", ann).text
        assert "(<bdi>1.2</bdi>, as declared)" in waits
        assert "It is checked while it is connected." in waits
        assert "version <bdi>1.2</bdi> as declared: waits for its check" in at.get("/remote").text
        judged(at, VersionState.APPROVAL)
        assert '/remote/bots/far"><bdi>far</bdi></a> of <bdi>ann</bdi>, version 1' in chief.get("/organiser").text
        assert chief.post("/organiser/versions/1", {"do": "accept"}, of="/organiser").status_code == 303
        assert "waits for a round" in at.get("/remote").text
        assert "Declared " in at.get("/remote/bots/far").text
        assert at.get("/bots/far").status_code == 404  # it is on the other board
        assert at.store.entered() == []
        withdrawn = chief.post("/organiser/versions/1", {"do": "withdraw", "reason": "it cheats"}, of="/organiser")
        assert withdrawn.status_code == 303
        assert said(at, ann).json()["reason"] == "it cheats"
        assert said(at, ann, begin=True, version="1.2").status_code == 409
        own = at.browser(ann)
        assert "(<bdi>1.2</bdi>, as declared)" in own.get("/me").text
        assert "referee connect mybot --to http://pitch.test" in at.get("/enter").text
        assert 'href="/remote"' in at.get("/").text
        assert at.get("/api/v1/entry").json()["remote"] is True
        assert at.get("/export/remote").status_code == 404
        assert at.get("/api/v1/remote/rounds").json() == {"rounds": []}


def test_without_a_door_nothing_tells_of_remote_bots(tmp_path: Path) -> None:
    with made_site(tmp_path) as at:
        ann = at.owner("ann")
        assert at.get("/api/v1/entry").json()["remote"] is False
        assert "remote" not in at.get("/").text.lower()
        assert "connect" not in at.get("/enter").text
        answer = said(at, ann, begin=True, version="1")
        assert answer.status_code == 404
        assert "no board of remote bots" in answer.text

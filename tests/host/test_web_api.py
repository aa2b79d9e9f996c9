"""The API of a host's site: what is taken in, who may see it, and what is said to whoever may not."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest

from referee.host.rows import VersionState
from referee.host.web.limits import Places, RateLimit, RecentPages, TooOftenError
from referee.host.web.openapi import SCHEMAS, description
from referee.host.web.routes import API
from tests.host.sites import MadeSite, made_site

MIB = 1 << 20


@pytest.fixture
def at(tmp_path: Path) -> Iterator[MadeSite]:
    with made_site(tmp_path, host="upload_mib = 1") as made:
        yield made


def check(name: str, value: Any) -> None:
    """Whether a value is as the description of the API says."""
    schema = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": SCHEMAS}}
    jsonschema.Draft202012Validator(schema).validate(value)


def error(answer: httpx.Response) -> str:
    check("Error", answer.json())
    found: str = answer.json()["error"]
    return found


def test_an_archive_becomes_a_job_that_its_owner_can_see(at: MadeSite) -> None:
    ann = at.owner("ann")
    answer = at.upload(ann, "anns bot", b"PK-archive")
    assert answer.status_code == 201
    job = answer.json()
    check("Job", job)
    assert (job["bot"], job["owner"], job["state"], job["verdict"]) == ("anns bot", "ann", "waiting", "waiting")
    assert job["page"] == f"http://pitch.test/jobs/{job['id']}"
    kept = at.site.home.archive(hashlib.sha256(b"PK-archive").hexdigest())
    assert kept.read_bytes() == b"PK-archive"
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]
    assert at.get(f"/api/v1/jobs/{job['id']}", ann).json() == job


def test_the_same_files_are_the_same_job(at: MadeSite) -> None:
    ann = at.owner("ann")
    first = at.upload(ann, "a").json()
    again = at.upload(ann, "a")
    assert (again.status_code, again.json()) == (200, first)
    other = at.upload(ann, "a", b"PK-2")
    assert (other.status_code, other.json()["id"]) == (201, first["id"] + 1)
    assert other.json()["before"] == 1


def test_an_archive_in_many_pieces_is_taken_in_up_to_the_last_byte_allowed(at: MadeSite) -> None:
    ann = at.owner("ann")

    async def pieces(size: int) -> AsyncIterator[bytes]:
        for _ in range(size // 4096):
            yield b"x" * 4096
        yield b"y" * (size % 4096)

    assert at.upload(ann, "a", pieces(MIB)).status_code == 201
    answer = at.upload(ann, "a", pieces(MIB + 1))
    assert answer.status_code == 413
    assert "1 MiB" in error(answer)
    assert len(list((at.site.home.folder / "uploads").iterdir())) == 1


def test_an_archive_that_says_itself_that_it_is_too_large_is_not_read(at: MadeSite) -> None:
    ann = at.owner("ann")

    async def never() -> AsyncIterator[bytes]:
        raise AssertionError("it was read")
        yield b""

    waits = {"Content-Length": str(MIB + 1), "Expect": "100-continue"}
    answer = at.upload(ann, "a", never(), headers=waits)
    assert (answer.status_code, "1 MiB" in error(answer)) == (413, True)


@pytest.mark.parametrize(
    ("known", "headers", "bot", "body", "status"),
    [
        ("", {}, "a", b"PK", 401),
        ("", {"Authorization": "Bearer referee_no"}, "a", b"PK", 401),
        ("", {"Authorization": "Basic YTpi"}, "a", b"PK", 401),
        ("ann", {"Content-Type": "text/html"}, "a", b"PK", 415),
        ("ann", {}, "a", b"", 400),
        ("ann", {}, ".hidden", b"PK", 409),
        ("ann", {}, "<b>", b"PK", 409),
        ("ann", {}, "HOUSE", b"PK", 409),
        ("ann", {}, "random", b"PK", 409),
        ("ann", {"Content-Length": "many"}, "a", b"PK", 400),
    ],
)
def test_what_cannot_be_taken_in_leaves_nothing(
    at: MadeSite, known: str, headers: dict[str, str], bot: str, body: bytes, status: int
) -> None:
    ann = at.owner("ann")
    answer = at.upload(ann if known else None, bot, body, headers=headers)
    assert answer.status_code == status
    assert error(answer)
    assert not list((at.site.home.folder / "uploads").iterdir())


def test_the_bot_of_another_owner_cannot_be_handed_in_nor_its_archive_taken_away(at: MadeSite) -> None:
    ann, bob = at.owner("ann"), at.owner("bob")
    assert at.upload(ann, "a", b"PK-same").status_code == 201
    assert at.upload(bob, "A", b"PK-same").status_code == 409
    assert at.site.home.archive(hashlib.sha256(b"PK-same").hexdigest()).exists()


def test_a_token_of_a_bot_is_good_for_that_bot_alone(at: MadeSite) -> None:
    ann = at.owner("ann")
    job = at.upload(ann, "a").json()["id"]
    ann.token = at.store.add_token(ann.owner.id, "ci", at.time, bot="b")
    assert at.upload(ann, "a").status_code == 403
    assert at.get(f"/api/v1/jobs/{job}", ann).status_code == 403


def test_a_token_of_a_bot_shows_that_bot_alone(at: MadeSite) -> None:
    ann = at.owner("ann")
    with_all = ann.token
    ann.token = at.store.add_token(ann.owner.id, "ci", at.time, bot="B")
    assert at.get("/api/v1/me", ann).json()["bots"] == []
    ann.token = with_all
    at.upload(ann, "a")
    at.store.retire(ann.owner, "a", at.time)
    at.upload(ann, "b", b"PK-2")
    told = at.get("/api/v1/me", ann).json()
    assert [one["name"] for one in told["bots"]] == ["a", "b"]
    assert [one["bot"] for one in told["jobs"]] == ["b", "a"]
    ann.token = at.store.add_token(ann.owner.id, "ci", at.time, bot="B")
    told = at.get("/api/v1/me", ann).json()
    check("Me", told)
    assert [one["name"] for one in told["bots"]] == ["b"]
    assert [one["bot"] for one in told["jobs"]] == ["b"]


def test_whoever_watches_the_host_is_told_how_many_jobs_wait(at: MadeSite) -> None:
    ann = at.owner("ann")
    at.upload(ann, "a")
    at.upload(ann, "a", b"PK-2")
    assert at.get("/healthz").json()["waiting"] == 2
    assert at.store.lease(at.time, 60) is not None
    answer = at.get("/healthz")
    assert (answer.status_code, answer.json()["ok"], answer.json()["waiting"]) == (200, True, 1)


def test_without_a_sandbox_nothing_is_taken_in(tmp_path: Path) -> None:
    with made_site(tmp_path, sandbox="") as at:
        at.store.set("sandbox_line", "install the package bubblewrap", at.time, by="host")
        answer = at.upload(at.owner("ann"), "a")
        assert (answer.status_code, "bubblewrap" in error(answer)) == (503, True)


def test_after_the_deadline_nothing_is_taken_in(tmp_path: Path) -> None:
    with made_site(tmp_path, host="closes = 2027-01-15T08:00:00Z") as at:
        ann = at.owner("ann")
        assert at.upload(ann, "a").status_code == 201  # the clock stands at that second
        at.time += 1
        answer = at.upload(ann, "a", b"PK-2")
        assert (answer.status_code, "2027-01-15" in error(answer)) == (409, True)


def test_a_blocked_owner_is_told_why(at: MadeSite) -> None:
    ann = at.owner("ann")
    at.store.block(ann.owner.id, "spoils the games", at.time, by="test")
    answer = at.upload(ann, "a")
    assert (answer.status_code, "spoils the games" in error(answer)) == (403, True)


def test_doing_a_job_again_is_bounded_as_handing_in_is(tmp_path: Path) -> None:
    with made_site(tmp_path, host="uploads_per_hour = 3") as at:
        ann = at.owner("ann")
        at.upload(ann, "a")
        at.finish(1, VersionState.REFUSED)
        found = [at.ask("POST", "/api/v1/jobs/1/again", ann) for _ in range(3)]
        assert [one.status_code for one in found] == [201, 201, 429]
        assert {one.json()["id"] for one in found[:2]} == {2}
        assert at.store.lease(at.time, 60) is not None
        assert at.store.lease(at.time, 60) is None


def test_who_finds_no_place_has_not_handed_in(tmp_path: Path) -> None:
    with made_site(tmp_path, host="uploads_per_hour = 1") as at:
        ann = at.owner("ann")
        with at.site.limits.upload_places.place("1"), at.site.limits.upload_places.place("1"):
            for _ in range(3):
                assert "handing in at this moment" in at.upload(ann, "a").json()["error"]
        assert at.upload(ann, "a").status_code == 201
        assert "versions an hour" in at.upload(ann, "a", b"PK-2").json()["error"]


def test_sources_are_had_of_accepted_versions_that_were_handed_in_while_they_were_public(tmp_path: Path) -> None:
    with made_site(tmp_path) as at:
        ann = at.owner("ann")
        at.upload(ann, "a b", b"PK-private")
        at.finish(1, VersionState.ACCEPTED)
        assert at.get("/api/v1/entry").json()["sources"] == "private"
        assert "Nobody but the organiser" in at.get("/enter").text
        assert at.get("/bots/a%20b/sources/1.zip").status_code == 404
    with made_site(tmp_path, host='sources = "public"') as at:
        check("Entry", told := at.get("/api/v1/entry").json())
        assert told["sources"] == "public"
        assert "can be downloaded by everybody" in at.get("/enter").text
        assert at.upload(ann, "a b", b"PK-private").status_code == 200  # the same files: what was private stays so
        answer = at.upload(ann, "a b", b"PK-public", headers={"Referee-Sources": "private"})
        assert (answer.status_code, "is public now" in error(answer)) == (409, True)
        assert at.upload(ann, "a b", b"PK-public", headers={"Referee-Sources": "public"}).status_code == 201
        assert at.get("/bots/a%20b/sources/2.zip").status_code == 404  # it is not accepted yet
        at.finish(2, VersionState.ACCEPTED)
        page = at.get("/bots/a%20b").text
        assert '"/bots/a%20b/sources/2.zip"' in page
        assert "sources/1.zip" not in page
        answer = at.get("/bots/A%20B/sources/2.zip")
        assert answer.content == b"PK-public"
        assert answer.headers["content-type"] == "application/zip"
        assert answer.headers["content-disposition"] == 'attachment; filename="a-b-2.zip"'
        assert at.get("/bots/other/sources/2.zip").status_code == 404
        assert at.get("/bots/a%20b/sources/1.zip").status_code == 404
        at.store.decide(2, VersionState.WITHDRAWN, "it copies", at.time, by="test")
        assert at.get("/bots/a%20b/sources/2.zip").status_code == 404


def test_uploads_an_hour_are_limited_by_owner(tmp_path: Path) -> None:
    with made_site(tmp_path, host="uploads_per_hour = 2") as at:
        ann, bob = at.owner("ann"), at.owner("bob")
        assert [at.upload(ann, "a").status_code for _ in range(3)] == [201, 200, 429]
        answer = at.upload(ann, "a")
        assert int(answer.headers["retry-after"]) == 1800
        assert at.upload(bob, "b").status_code == 201
        at.tick += 1800
        assert at.upload(ann, "a").status_code == 200


def test_so_many_hand_in_at_once_and_no_more(at: MadeSite) -> None:
    known = [at.owner(f"owner {number}") for number in range(9)]

    async def all_at_once() -> list[int]:
        inside, go = [], asyncio.Event()

        async def slowly() -> AsyncIterator[bytes]:
            inside.append(1)
            yield b"PK"
            await go.wait()
            yield b"-end"

        async with httpx.AsyncClient(transport=httpx.ASGITransport(at.made), base_url="http://pitch.test") as client:
            sent = [
                asyncio.create_task(
                    client.post(f"/api/v1/bots/b{number}/versions", content=slowly(), headers=one.headers)
                )
                for number, one in enumerate(known)
            ]
            done, _ = await asyncio.wait(sent, return_when=asyncio.FIRST_COMPLETED)
            assert [task.result().status_code for task in done] == [429]
            assert next(iter(done)).result().headers["retry-after"]
            go.set()
            return sorted(answer.status_code for answer in await asyncio.gather(*sent))

    assert asyncio.run(all_at_once()) == [201] * 8 + [429]


def events_of(text: str) -> list[tuple[str, int, Any]]:
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines["event"], int(lines["id"]), json.loads(lines["data"])))
    return found


def test_the_events_of_a_job_come_in_order_and_end_with_it(at: MadeSite) -> None:
    ann = at.owner("ann")
    number = at.upload(ann, "a").json()["id"]
    store = at.store

    async def follow() -> list[tuple[str, int, Any]]:
        seen: list[bytes] = []
        steps = iter(
            [
                lambda: leased.append(store.lease(at.time, 60)),
                lambda: store.go_on(leased[0], "builds", "cc -c", at.time, 60),
                lambda: store.finish(leased[0], VersionState.ACCEPTED, "It keeps the rules.", at.time, name="a"),
            ]
        )
        leased: list[Any] = []

        async def send(message: Any) -> None:
            if message["type"] == "http.response.body" and message.get("body"):
                seen.append(message["body"])
                next(steps, lambda: None)()

        asked = asyncio.Event()

        async def receive() -> Any:
            if not asked.is_set():
                asked.set()
                return {"type": "http.request", "body": b"", "more_body": False}
            return await asyncio.Event().wait()

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "path": f"/api/v1/jobs/{number}/events",
            "raw_path": b"",
            "query_string": b"",
            "scheme": "http",
            "server": ("pitch.test", 80),
            "client": ("192.0.2.1", 1),
            "headers": [(b"host", b"pitch.test"), (b"authorization", f"Bearer {ann.token}".encode())],
        }
        await at.made(scope, receive, send)
        return events_of(b"".join(seen).decode())

    found = asyncio.run(follow())
    assert [(name, number) for name, number, _ in found] == [("job", n) for n in range(1, 5)]
    for _, _, job in found:
        check("Job", job)
    assert [job["stage"] for _, _, job in found] == ["waiting", "begins", "builds", "done"]
    assert found[-1][2]["verdict"] == "accepted"
    assert at.site.limits.watcher_places.taken == 0


def test_a_refused_version_shows_what_was_found_and_can_be_done_again(at: MadeSite) -> None:
    ann, bob, chief = at.owner("ann"), at.owner("bob"), at.owner("chief", organiser=True)
    number = at.upload(ann, "a").json()["id"]
    finding = {"rule": "AF-PLAY-003", "sentence": "Follow suit.", "times": 2, "witness": "w.json", "page": "w.html"}
    at.finish(number, VersionState.REFUSED, findings=[{**finding, "hint": ""}], log="built")
    job = at.get(f"/api/v1/jobs/{number}", chief).json()
    check("Job", job)
    assert job["verdict"] == "refused"
    assert job["findings"][0]["page"] == f"http://pitch.test/jobs/{number}/w.html"
    assert at.ask("POST", f"/api/v1/jobs/{number}/again", bob).status_code == 403
    again = at.ask("POST", f"/api/v1/jobs/{number}/again", ann)
    assert (again.status_code, again.json()["state"], again.json()["id"]) == (201, "waiting", number + 1)
    at.finish(number + 1, VersionState.ACCEPTED)
    answer = at.ask("POST", f"/api/v1/jobs/{number + 1}/again", ann)
    assert (answer.status_code, "accepted" in error(answer)) == (409, True)


def test_the_description_of_the_api_has_each_route_and_each_method() -> None:
    described = {
        (path, method.upper())
        for path, methods in description("http://pitch.test")["paths"].items()
        for method in methods
    }
    assert described == {(route.path, method) for route in API for method in (route.methods or set()) - {"HEAD"}}


def test_answers_are_as_the_description_says(at: MadeSite) -> None:
    ann = at.owner("ann")
    at.upload(ann, "a")
    for path, name in (("entry", "Entry"), ("me", "Me"), ("board", "Board"), ("rounds", "Rounds")):
        answer = at.get(f"/api/v1/{path}", ann)
        assert answer.headers["content-type"] == "application/json"
        check(name, answer.json())
    told = at.get("/api/v1/openapi.json").json()
    assert told["servers"] == [{"url": "http://pitch.test"}]


def test_the_address_in_answers_is_that_of_the_definition_if_it_has_one(tmp_path: Path) -> None:
    with made_site(tmp_path, host='url = "https://pitch.example.org/all"') as at:
        ann = at.owner("ann")
        job = at.upload(ann, "a", headers={"Host": "evil.example"}).json()
        assert job["page"] == f"https://pitch.example.org/all/jobs/{job['id']}"
        for path in (f"/api/v1/jobs/{job['id']}", f"/all/api/v1/jobs/{job['id']}"):
            assert at.get(path, ann).status_code == 200
        assert "max-age" in at.get("/healthz").headers["strict-transport-security"]


def test_a_host_header_that_is_no_address_is_not_repeated(at: MadeSite) -> None:
    job = at.upload(at.owner("ann"), "a", headers={"Host": "evil/<b>"}).json()
    assert job["page"].startswith("http://127.0.0.1:8400/")


def test_a_rate_comes_back_with_time_and_forgets_whom_it_has_not_heard_of_for_longest() -> None:
    now = [0.0]
    limit = RateLimit(2, 10, lambda: now[0], "Too often.")
    limit.take("a")
    limit.take("a")
    with pytest.raises(TooOftenError) as told:
        limit.take("a")
    assert told.value.wait_s == 5
    now[0] = 5
    limit.take("a")
    for number in range(10_000):
        limit.take(str(number))
    assert len(limit._left) == 10_000
    limit.take("a")
    limit.take("a")


def test_places_are_counted_in_all_and_by_key() -> None:
    places = Places(3, 2, "Full.")
    places.take("a")
    places.take("a")
    with pytest.raises(TooOftenError):
        places.take("a")
    with places.place("b"), pytest.raises(TooOftenError):
        places.take("c")
    places.leave("a")
    places.take("c")
    assert places.taken == 2


def test_a_page_that_takes_long_is_made_once_while_it_is_asked_for() -> None:
    made: list[int] = []

    def make(number: int) -> str:
        made.append(number)
        return f"page {number}"

    pages = RecentPages(2)
    for number in (1, 1, 2, 1, 3, 1, 2):
        assert pages.page(number, lambda number=number: make(number)) == f"page {number}"  # type: ignore[misc]
    assert made == [1, 2, 3, 2]
    with pytest.raises(KeyError):
        pages.page(9, lambda: {}["no"])
    assert pages.page(9, lambda: "whole") == "whole"

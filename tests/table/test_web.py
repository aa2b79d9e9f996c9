"""The page's server: who gets in, what is refused, and that the answers are those of the table."""

import asyncio
import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from referee.rules import variant
from referee.table import web
from referee.table.game import TableGame
from referee.table.web import TableSite, serve_table, table_app
from tests.table.persons import plan_for
from tests.table.seated import Seated

AT = "127.0.0.1:4321"


class Browser:
    """Requests to an application in this process, and the cookies that it has given."""

    def __init__(self, site: TableSite) -> None:
        self._made, self.cookies = table_app(site), httpx.Cookies()

    def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        async def sent() -> httpx.Response:
            transport = httpx.ASGITransport(self._made)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{AT}", cookies=self.cookies) as line:
                answer = await line.request(method, path, **more)
                self.cookies = line.cookies
                return answer

        return asyncio.run(sent())

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.send("GET", path, **more)

    def post(self, path: str, **more: Any) -> httpx.Response:
        return self.send("POST", path, **more)


class Page:
    """A browser at a table whose game goes on in this thread."""

    def __init__(self, tmp_path: Path) -> None:
        self.seated = Seated(variant("auction-pitch"), 3, 7)
        game = TableGame(plan_for(tmp_path / "table.sqlite", ["careful", "random"]))
        game.table = self.seated.table
        self.site = TableSite(game)
        self.site.authority = AT
        self.browser = Browser(self.site)
        self.seated.start()
        self.seated.until_asked()

    def sit(self) -> None:
        answer = self.browser.get("/", params={"seat": self.site.secret})
        assert answer.status_code == 303

    def post(self, path: str, body: object, **headers: str) -> Any:
        given = {"X-Referee-Table": self.site.form_token, **headers}
        return self.browser.post(path, json=body, headers=given)

    @property
    def turn(self) -> str:
        turn = self.seated.table.state().turn
        assert turn is not None
        return turn.id


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(tmp_path)


GETS = ("/state", "/events", "/hint", "/rules", "/replay")
POSTS = ("/move", "/go-on", "/pause", "/take-back", "/leave")


@pytest.mark.parametrize("path", [*GETS, "/"])
def test_without_the_link_nobody_sees_anything(page: Page, path: str) -> None:
    refused = page.browser.get(path)
    assert refused.status_code == 403
    assert refused.json()["sentence"].endswith("open the link that the terminal shows.")
    assert page.browser.get("/", params={"seat": "wrong"}).status_code == 403


@pytest.mark.parametrize("path", POSTS)
def test_without_the_link_nobody_does_anything(page: Page, path: str) -> None:
    assert page.post(path, {}).status_code == 403
    assert not page.site.stop.is_set()


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    "headers",
    [
        {"X-Referee-Table": ""},
        {"X-Referee-Table": "guessed"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_another_page_can_do_nothing_with_the_cookie(page: Page, path: str, headers: dict[str, str]) -> None:
    page.sit()
    before = page.seated.table.state()
    assert page.post(path, {"turn": page.turn, "move": "pass"}, **headers).status_code == 403
    assert page.seated.table.state() == before
    assert not page.site.stop.is_set()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:4321", "127.0.0.1", "127.0.0.1:1", ""])
@pytest.mark.parametrize("path", [*GETS, "/", "/static/table.css"])
def test_a_name_that_is_made_to_lead_here_is_of_no_use(page: Page, host: str, path: str) -> None:
    page.sit()
    assert page.browser.get(path, headers={"Host": host}).status_code == 421


def test_the_secret_becomes_a_cookie_that_scripts_and_other_sites_do_not_get(page: Page) -> None:
    answer = page.browser.get("/", params={"seat": page.site.secret})
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert cookie.startswith("referee_table_4321=")
    for header in ("content-security-policy", "x-frame-options", "referrer-policy", "cache-control"):
        assert header in answer.headers
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert page.site.secret not in page.browser.get("/state").text


def test_only_the_files_of_the_page_are_served(page: Page) -> None:
    page.sit()
    for path in ("rules.html.j2", "..%2fweb.py", "../web.py", "%2e%2e/game.py", "table.css.bak", "__init__.py"):
        assert page.browser.get(f"/static/{path}").status_code == 404
    for path in ("/nothing", "/static", "/move"):
        assert page.browser.get(path).status_code in (404, 405)
        assert "sentence" in page.browser.get(path).json()


def test_a_move_is_judged_before_it_is_sent_and_taken_once(page: Page) -> None:
    page.sit()
    state = page.browser.get("/state").json()
    turn = state["turn"]["id"]
    barred = next((one["move"] for one in state["moves"] if not one["legal"]), "9")
    ruled = page.post("/move", {"turn": turn, "move": barred})
    assert ruled.status_code == 409
    ruling = ruled.json()["ruling"]
    assert set(ruling) == {"rule", "sentence", "clause", "link"}
    assert ruling["rule"].startswith("AF-BID-")
    assert page.seated.umpire.irregularities == []
    legal = next(one["move"] for one in state["moves"] if one["legal"])
    first = page.post("/move", {"turn": turn, "move": legal})
    assert first.json() == page.post("/move", {"turn": turn, "move": legal}).json()
    assert first.json()["accepted"] is True
    other = next(one["move"] for one in state["moves"] if one["move"] != legal)
    assert page.post("/move", {"turn": turn, "move": other}).status_code == 410
    page.seated.carry()
    assert page.post("/move", {"turn": turn, "move": legal}).status_code == 200
    assert page.post("/move", {"turn": "17", "move": legal}).status_code == 410


@pytest.mark.parametrize(
    "body",
    [
        [],
        "text",
        7,
        {"turn": 1, "move": "pass"},
        {"turn": "T", "move": None},
        {"turn": "T", "move": "fly"},
        {"turn": "T", "move": "9" * 5000},
        {"turn": "T", "move": "\x00\u202e"},
        {"turn": "T", "cards": "AS"},
        {"turn": "T", "cards": [1]},
        {"turn": "T", "cards": ["AS"] * 60},
        {"turn": "T", "cards": ["AS", "AS"]},
        {"turn": "T", "move": "x" * 9000},
    ],
)
def test_what_is_no_move_is_refused_with_a_sentence(page: Page, body: Any) -> None:
    page.sit()
    if isinstance(body, dict) and body["turn"] == "T":
        body = {**body, "turn": page.turn}
    refused = page.post("/move", body)
    assert refused.status_code == 400
    assert refused.json()["sentence"]
    assert page.seated.umpire.irregularities == []


def test_a_body_that_is_no_json_is_refused(page: Page) -> None:
    page.sit()
    for data in (b"{", b"\xff\xfe", b"[" * 5000, b"{" + b" " * 9000):
        headers = {"X-Referee-Table": page.site.form_token}
        assert page.browser.post("/move", content=data, headers=headers).status_code == 400


def test_a_pause_waits_and_goes_on_and_leaving_ends_the_table(page: Page) -> None:
    page.sit()
    assert page.post("/go-on", {}).status_code == 409
    assert page.post("/pause", {}).status_code == 200
    assert page.browser.get("/state").json()["paused"] is True
    assert page.post("/move", {"turn": page.turn, "move": "pass"}).status_code == 409
    assert page.post("/go-on", {}).status_code == 200
    assert page.browser.get("/state").json()["paused"] is False
    assert page.post("/take-back", {}).status_code == 409
    assert page.post("/leave", {}).status_code == 200
    assert page.site.stop.is_set()


def test_the_rules_are_those_that_are_played_and_the_link_of_a_ruling_leads_there(page: Page) -> None:
    page.sit()
    text = page.browser.get("/rules").text
    assert "Rules of Auction Pitch" in text
    assert 'id="AF-PLAY-002"' in text
    assert "AF-TRUMP-006" not in text  # a clause of other games


def test_there_is_no_replay_before_the_end(page: Page) -> None:
    page.sit()
    assert page.browser.get("/replay").status_code == 404


def read(streams: list[Any], count: int, page: Page) -> list[list[dict[str, Any]]]:
    """What streams bring after the State that each begins with, while the table is paused and goes on."""

    async def one(stream: Any, found: list[dict[str, Any]]) -> None:
        async for part in stream:
            lines = dict(line.split(b": ", 1) for line in part.strip().split(b"\n"))
            state = json.loads(lines[b"data"])
            assert int(lines[b"id"]) == state["revision"]
            found.append(state)
            if len(found) == count:
                await stream.aclose()
                return

    async def all_() -> list[list[dict[str, Any]]]:
        found: list[list[dict[str, Any]]] = [[] for _ in streams]
        await asyncio.gather(*(anext(stream) for stream in streams))
        reading = [asyncio.ensure_future(one(*pair)) for pair in zip(streams, found, strict=True)]
        page.seated.table.pause()
        page.seated.table.go_on()
        await asyncio.gather(*reading)
        return found

    return asyncio.run(all_())


def test_two_tabs_follow_the_same_table(page: Page) -> None:
    one, other = read([page.site.events(), page.site.events()], 2, page)
    assert one == other
    assert [state["paused"] for state in one] == [True, False]
    assert [state["revision"] for state in one] == sorted({state["revision"] for state in one})


def test_a_stream_that_nobody_reads_keeps_the_newest_alone(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "_MOST_QUEUED", 4)

    async def late() -> list[int]:
        stream = page.site.events()
        first = await anext(stream)
        for number in range(50):
            page.seated.table.tell(f"sentence {number}")
        found = [first]
        newest = page.seated.table.state().revision
        while f'"revision":{newest},'.encode() not in found[-1]:
            found.append(await anext(stream))
        await stream.aclose()
        return [len(found)]

    assert asyncio.run(late())[0] <= 6


@contextmanager
def served(page: Page) -> Iterator[str]:
    """The real server, in a thread of its own."""
    links: list[str] = []
    there = threading.Event()

    def told(link: str) -> None:
        links.append(link)
        there.set()

    thread = threading.Thread(target=serve_table, args=(page.site, 0, told))
    thread.start()
    try:
        assert there.wait(60)
        yield links[0]
    finally:
        page.site.stop.set()
        thread.join()


def test_it_listens_on_this_machine_alone_and_ends_though_a_browser_watches(page: Page) -> None:
    with served(page) as link:
        assert link == f"http://{page.site.authority}/?seat={page.site.secret}"
        assert page.site.authority.startswith("127.0.0.1:")
        line = http.client.HTTPConnection(page.site.authority, timeout=60)
        line.request("GET", "/events", headers={"Cookie": f"{page.site.cookie}={page.site.secret}"})
        answer = line.getresponse()
        assert answer.status == 200
        assert answer.readline() == b"event: state\n"
    line.close()


def test_a_port_that_is_taken_is_told_with_the_remedy(page: Page) -> None:
    with served(page):
        port = int(page.site.authority.rpartition(":")[2])
        with pytest.raises(OSError, match="give another --port"):
            serve_table(TableSite(page.site.game), port)

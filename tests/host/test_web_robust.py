"""A site under whatever is sent to it: no fault of ours, and over a real connection what a server has to bear."""

import asyncio
import contextlib
import itertools
import json
import logging
import socket
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.host.home import HostHome
from referee.host.store import HostStore
from referee.host.web import app, guard, serve, server
from referee.host.web.routes import API, OTHERS, PAGES
from referee.web import serving
from tests.host.sites import NOW, MadeSite, made_site
from tests.program import PATIENCE

PARTS = sorted({part for route in (*API, *PAGES, *OTHERS) for part in route.path.split("/") if "{" not in part})
PART = (
    st.sampled_from(PARTS)
    | st.sampled_from(["1", "99999999999999999999", "-1", "²", "%00", "..", "a b"])
    | st.text(max_size=6)
)
BODY = st.binary(max_size=200) | st.sampled_from(
    [
        b"form_token=x",
        b"a=b&" * 50,
        b'--x\r\nContent-Disposition: form-data; name="archive"; filename="a"\r\n\r\nPK\r\n--x--\r\n',
    ]
)
HEADER = st.sampled_from(
    [
        "content-type",
        "cookie",
        "authorization",
        "host",
        "origin",
        "content-length",
        "last-event-id",
        "x-forwarded-for",
        "sec-fetch-site",
    ]
)
VALUE = st.binary(max_size=30) | st.sampled_from(
    [
        *(
            b"application/x-www-form-urlencoded",
            b"multipart/form-data; boundary=x",
            b"multipart/form-data",
            b"application/zip",
        ),
        *(b"Bearer x", b"http://[", b"http://pitch.test", b"5", b"999999999999999999999", b"referee_session=x"),
    ]
)


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MadeSite]:
    with made_site(tmp_path_factory.mktemp("robust")) as made:
        ann = made.owner("ann")
        made.upload(ann, "a")
        made.site.stopping.set()  # streams end after their first event
        yield made


@settings(max_examples=150)
@given(
    method=st.sampled_from(["GET", "POST", "HEAD", "DELETE", "PUT"]) | st.text(max_size=5),
    parts=st.lists(PART, max_size=5),
    query=st.binary(max_size=30),
    headers=st.lists(st.tuples(HEADER, VALUE), max_size=4),
    chunks=st.lists(BODY, max_size=3),
)
def test_nothing_that_is_asked_is_a_fault_of_ours(
    at: MadeSite, method: str, parts: list[str], query: bytes, headers: list[tuple[str, bytes]], chunks: list[bytes]
) -> None:
    at.tick += 60
    path = "/" + "/".join(parts)
    status, _ = asyncio.run(
        raw(at, method, path, query, [(b"host", b"pitch.test"), *((k.encode(), v) for k, v in headers)], chunks)
    )
    assert 200 <= status < 500 or status == 503, path


async def raw(
    at: MadeSite, method: str, path: str, query: bytes, headers: list[tuple[bytes, bytes]], chunks: list[bytes]
) -> tuple[int, bytes]:
    """Asks the application as a server would, without a client that would mend anything."""
    left = [*chunks, b""]
    status: list[int] = []
    body = bytearray()

    async def receive() -> Any:
        if left:
            return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            status.append(message["status"])
        else:
            body.extend(message.get("body", b""))

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode("utf-8", "replace"),
        "query_string": query,
        "scheme": "http",
        "server": ("pitch.test", 80),
        "client": ("192.0.2.1", 1),
        "headers": headers,
    }
    await at.made(scope, receive, send)
    return status[0], bytes(body)


def test_a_client_that_goes_away_while_it_hands_in_leaves_nothing(at: MadeSite) -> None:
    ann = at.store.add_token(1, "t", NOW)
    before = sorted((at.site.home.folder / "uploads").iterdir())
    messages = iter([{"type": "http.request", "body": b"PK-half", "more_body": True}, {"type": "http.disconnect"}])
    sent: list[Any] = []

    async def receive() -> Any:
        return next(messages)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": "/api/v1/bots/a/versions",
        "raw_path": b"",
        "query_string": b"",
        "scheme": "http",
        "server": ("pitch.test", 80),
        "client": ("192.0.2.1", 1),
        "headers": [(b"authorization", f"Bearer {ann}".encode()), (b"content-type", b"application/zip")],
    }
    asyncio.run(at.made(scope, receive, send))
    assert sorted((at.site.home.folder / "uploads").iterdir()) == before
    assert at.site.limits.upload_places.taken == 0


@contextmanager
def served(folder: Path, host: str = "") -> Iterator[tuple[str, HostHome]]:
    """A real server on a port of its own, in a thread."""
    path = folder / "ladder.toml"
    path.write_text(
        '[tournament]\nname = "Served"\nvariant = "auction-pitch"\nseats = 3\n[schedule]\nformat = "ladder"\n'
        f'[[bots]]\npath = "random"\n[host]\naddress = "127.0.0.1:0"\n{host}\n'
    )
    home, stop, told, is_up = HostHome.beside(path), threading.Event(), list[str](), threading.Event()
    faults: list[BaseException] = []

    def listens(where: str) -> None:
        told.append(where)
        is_up.set()

    def run() -> None:
        try:
            serve(home, stop, listens)
        except BaseException as error:  # noqa: BLE001  # told below
            faults.append(error)
            is_up.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert is_up.wait(PATIENCE)
        assert not faults, faults
        yield f"http://{told[0]}", home
    finally:
        stop.set()
        thread.join(PATIENCE)
    assert not thread.is_alive()
    assert not faults, faults


def test_a_real_server_takes_a_bot_in_streams_the_job_and_stops_while_somebody_watches(tmp_path: Path) -> None:
    with served(tmp_path) as (url, home):
        with HostStore.open(home.store) as store:
            store.set("sandbox", "bwrap", NOW, by="host")
            ann = store.join(store.invite("ann", NOW, by="test"), "ann", NOW)
            headers = {"Authorization": f"Bearer {store.add_token(ann.id, 'test', NOW)}"}
        with httpx.Client(base_url=url, timeout=PATIENCE) as client:
            answer = client.post(
                "/api/v1/bots/a/versions", content=b"PK" * 1000, headers={**headers, "Content-Type": "application/zip"}
            )
            assert answer.status_code == 201
            assert "server" not in answer.headers
            assert client.head("/").status_code == 200
            with client.stream("GET", "/api/v1/jobs/1/events", headers=headers) as events:
                lines = events.iter_lines()
                assert next(lines) == "event: job"
                assert next(lines) == "id: 1"
                assert json.loads(next(lines).removeprefix("data: "))["page"] == f"{url}/jobs/1"
            too_large = client.post("/api/v1/bots/a/versions", content=b"x" * (17 << 20), headers=headers)
            assert too_large.status_code == 413
            watching = client.build_request("GET", "/events")
            stream = client.send(watching, stream=True)
            assert stream.status_code == 200
            stream.close()
        host, _, port = url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), PATIENCE) as slow:
            slow.sendall(b"GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
            assert slow.recv(100).startswith(b"HTTP/1.1 200")
            # it goes on reading while the server stops


def connected(url: str) -> socket.socket:
    host, _, port = url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), PATIENCE)


def read_to_the_end(client: socket.socket) -> bytes:
    data = b""
    while piece := client.recv(4096):
        data += piece
    return data


def test_whoever_sends_no_request_is_cut_off_and_whoever_waits_for_an_answer_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "_HEADERS_S", 0.05)
    with served(tmp_path) as (url, _), connected(url) as watching:
        watching.sendall(b"GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
        assert watching.recv(4096).startswith(b"HTTP/1.1 200")
        for begun in (b"", b"GET / HTTP/1.1\r\nX-Slow: 1", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET / HT"):
            with connected(url) as idle:
                idle.sendall(begun)
                said = read_to_the_end(idle)  # until the server closes it
                assert said.count(b"HTTP/1.1 ") == begun.count(b"\r\n\r\n")
        watching.setblocking(False)
        with pytest.raises(BlockingIOError):  # it is open: nothing has come, nor an end
            read_to_the_end(watching)


def test_a_body_that_does_not_come_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_PATIENCE_S", 0.05)
    with served(tmp_path) as (url, home), connected(url) as slow:
        with HostStore.open(home.store) as store:
            store.set("sandbox", "bwrap", NOW, by="host")
            ann = store.join(store.invite("ann", NOW, by="test"), "ann", NOW)
            token = store.add_token(ann.id, "test", NOW)
        head = f"POST /api/v1/bots/a/versions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: 9\r\n\r\nPK"
        slow.sendall(head.encode())
        assert read_to_the_end(slow).startswith(b"HTTP/1.1 408 ")
        assert not list((home.folder / "uploads").iterdir())


def test_whoever_is_refused_while_sending_may_read_why(tmp_path: Path) -> None:
    """A connection that is closed while its client sends is reset, and the answer may be lost: behind nginx a bad gateway."""
    with served(tmp_path) as (url, home):
        with HostStore.open(home.store) as store:
            store.set("sandbox", "bwrap", NOW, by="host")
            ann = store.join(store.invite("ann", NOW, by="test"), "ann", NOW)
            token = store.add_token(ann.id, "test", NOW)
        size = 17 << 20
        for authorization, status in ((token, b"413"), ("referee_nobody", b"401")):
            head = f"POST /api/v1/bots/a/versions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {authorization}\r\n"
            with connected(url) as client:
                client.sendall(f"{head}Content-Length: {size}\r\n\r\n".encode())
                said = client.recv(65536)
                assert said.startswith(b"HTTP/1.1 " + status)
                client.sendall(bytes(size))  # nobody has closed it meanwhile
                while b'"error":' not in said:
                    said += client.recv(65536)
            with connected(url) as polite:  # who waits to be asked is not waited for
                polite.sendall(f"{head}Content-Length: {size}\r\nExpect: 100-continue\r\n\r\n".encode())
                assert read_to_the_end(polite).startswith(b"HTTP/1.1 " + status)


def test_what_is_sent_after_the_answer_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_LINGER_BYTES", 1 << 20)
    with served(tmp_path) as (url, _), connected(url) as endless:
        endless.sendall(b"POST /api/v1/bots/a/versions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        pieces = itertools.repeat(b"10000\r\n" + bytes(65536) + b"\r\n")
        with pytest.raises(OSError, match=r"reset|[Bb]roken pipe"):
            deque(map(endless.sendall, pieces), maxlen=0)
    monkeypatch.setattr(guard, "_LINGER_S", 0.05)
    with served(tmp_path) as (url, _), connected(url) as idle:
        idle.sendall(b"POST /api/v1/bots/a/versions HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
        assert read_to_the_end(idle).startswith(b"HTTP/1.1 401")


def test_what_is_no_request_writes_nothing_on_the_organisers_screen(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The supervisor shows warnings at the terminal: strangers must not have them at will."""
    with served(tmp_path) as (url, _):
        for sent, status in (
            (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"400"),
            (b"\x16\x03\x01\x02\x00\r\n\r\n", b"400"),
            (b"GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", b"200"),
        ):
            with connected(url) as client:
                client.sendall(sent)
                assert client.recv(4096).startswith(b"HTTP/1.1 " + status)
    assert [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING] == []


def test_one_address_does_not_take_all_connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_MOST_CONNECTIONS", 3)
    with served(tmp_path) as (url, _), contextlib.ExitStack() as opened:
        request = b"GET /events HTTP/1.1\r\nHost: x\r\n\r\n"

        def held() -> bytes:
            """What is said to one connection more, which stays open."""
            client = opened.enter_context(connected(url))
            try:
                client.sendall(request)
                return client.recv(4096)
            except ConnectionError:
                return b""

        for _ in range(5):  # proxies on this machine have as many as they like
            assert held().startswith(b"HTTP/1.1 200")
        opened.close()
        monkeypatch.setattr(server, "is_of_a_proxy", lambda *_: False)
        said = [held() for _ in range(8)]
        answered = [one for one in said if one]
        assert b"" in said
        assert len(answered) <= 3
        assert all(one.startswith(b"HTTP/1.1 200") for one in answered)
        opened.close()


def test_an_address_that_is_taken_is_told_with_the_remedy(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        path = tmp_path / "ladder.toml"
        path.write_text(
            '[tournament]\nname = "Served"\nvariant = "auction-pitch"\nseats = 3\n[schedule]\nformat = "ladder"\n'
            f'[[bots]]\npath = "random"\n[host]\naddress = "127.0.0.1:{other.getsockname()[1]}"\n'
        )
        with pytest.raises(OSError, match=r"cannot listen at 127\.0\.0\.1:\d+.*give another address in \[host\]"):
            serve(HostHome.beside(path), threading.Event())


def test_two_sites_in_one_process_do_not_mix(tmp_path: Path) -> None:
    with made_site(tmp_path) as one:
        other = app(HostHome.beside(tmp_path / "other.toml"), one.site.definition)
        try:
            one.get("/healthz")
            text = other.state.site.metrics.text().decode()
            assert 'route="/healthz"' not in text
            told = one.get("/metrics").text
            assert 'referee_requests_total{method="GET",route="/healthz",status="200"} 1.0' in told
            assert 'referee_jobs{state="waiting"} 0.0' in told
        finally:
            other.state.site.close()

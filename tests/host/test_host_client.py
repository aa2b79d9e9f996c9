"""What a program says to a host, and how it takes whatever comes back."""

import json
import re
import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.host.client import (
    ANSWER_BYTES,
    TRIES,
    FollowedJob,
    HostAddress,
    HostClient,
    HostRequestError,
    _parse_events,
    _retry_after,
)

ENTRY = {
    "name": "Kitchen ladder",
    "variant": "auction-pitch",
    "seats": 3,
    "upload_mib": 16,
    "closes": None,
    "enter": "invited",
    "referee": "0.2.0",
    "definition": {},
}
TOKEN = "referee_secret"


def job(**more: Any) -> dict[str, Any]:
    return {
        "id": 7,
        "bot": "mine",
        "owner": "ann",
        "version": 3,
        "state": "waiting",
        "stage": "waiting",
        "attempt": 0,
        "before": 2,
        "verdict": "waiting",
        "sentence": "",
        "findings": [],
        "log": "",
        "plays_in_s": None,
        "page": "https://pitch.test/jobs/7",
        **more,
    }


DONE = {"state": "done", "stage": "done", "verdict": "accepted", "sentence": "It keeps the rules.", "plays_in_s": 240}

Answer = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


class Host:
    """A host that gives these answers one after the other, the last again and again, and notes what it was asked."""

    def __init__(self, *answers: Answer, url: str = "https://pitch.test", token: str = TOKEN) -> None:
        self.answers, self.asked, self.waits, self.now = list(answers), list[httpx.Request](), list[float](), 0.0
        self.client = HostClient(
            HostAddress.parse(url),
            token,
            transport=httpx.MockTransport(self._answer),
            wait=self._wait,
            clock=lambda: self.now,
        )

    def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else answer(request)

    def paths(self) -> list[str]:
        return [request.url.path for request in self.asked]

    def refused(self, ask: Callable[[HostClient], object] = lambda client: client.ladder()) -> HostRequestError:
        with pytest.raises(HostRequestError) as caught:
            ask(self.client)
        told = str(caught.value)
        assert told.isprintable()
        assert TOKEN not in told
        assert len(told) < 800
        return caught.value


def said(status: int, sentence: str = "Do this instead.", **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, json={"error": sentence}, headers=named)


def test_what_a_host_says_of_its_ladder_needs_no_token() -> None:
    host = Host(httpx.Response(200, json=ENTRY), url="https://pitch.test/all/")
    ladder = host.client.ladder()
    assert (ladder.name, ladder.upload_mib) == ("Kitchen ladder", 16)
    assert host.paths() == ["/all/api/v1/entry"]
    assert "Authorization" not in host.asked[0].headers


def test_an_archive_is_handed_in_whole_with_token_and_length(tmp_path: Path) -> None:
    archive = tmp_path / "bot.zip"
    archive.write_bytes(b"PK" * 100_000)
    host, sent = Host(httpx.Response(201, json=job())), list[int]()
    made, new = host.client.hand_in("my bot/+", archive, sent.append)
    (request,) = host.asked
    assert (made.id, made.before, new) == (7, 2, True)
    assert request.url.raw_path == b"/api/v1/bots/my%20bot%2F%2B/versions"
    assert request.headers["Authorization"] == f"Bearer {TOKEN}"
    assert request.headers["Content-Length"] == "200000"
    assert "Transfer-Encoding" not in request.headers
    assert request.content == archive.read_bytes()
    assert sent[0] == 0
    assert sent[-1] == 200_000
    assert not Host(httpx.Response(200, json=job())).client.hand_in("mine", archive)[1]


def test_what_fails_on_the_way_is_sent_again_from_its_beginning(tmp_path: Path) -> None:
    archive = tmp_path / "bot.zip"
    archive.write_bytes(b"PK")
    host = Host(httpx.ReadError("gone"), httpx.Response(502, text="<html>"), httpx.Response(200, json=job()))
    host.client.hand_in("mine", archive)
    assert [request.content for request in host.asked] == [b"PK"] * 3
    assert len(host.waits) == 2


@pytest.mark.parametrize("status", [401, 403, 404, 409, 413, 415])
def test_what_the_host_does_not_take_in_is_its_own_sentence_and_ours_to_mend(status: int) -> None:
    host = Host(said(status))
    error = host.refused(lambda client: client.job(7))
    assert str(error).startswith("Do this instead.")
    assert (error.ours, error.status, len(host.asked)) == (True, status, 1)


def test_what_the_host_says_is_harmless_on_a_terminal() -> None:
    error = Host(said(409, "\x1b[2J\x07Evil\u202e\n" + "x" * 9000)).refused()
    assert "Evil" in str(error)


def test_a_host_that_has_had_too_much_is_waited_for_as_long_as_it_says() -> None:
    host = Host(said(429, Retry_After="7"), httpx.Response(200, json=ENTRY))
    host.client.ladder()
    assert host.waits == [7.0]
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    host = Host(said(429, Retry_After=until), httpx.Response(200, json=ENTRY))
    host.client.ladder()
    assert 0 < host.waits[0] <= 30


@pytest.mark.parametrize("after", ["86400", "9" * 30, "Thu, 31 Dec 2099 00:00:00 GMT", "soon", ""])
def test_one_that_wants_us_to_wait_too_long_or_does_not_say_is_not_waited_for(after: str) -> None:
    host = Host(said(429, Retry_After=after))
    error = host.refused()
    assert (host.waits, len(host.asked), error.ours, error.status) == ([], 1, False, 429)


def test_a_host_in_trouble_is_asked_a_few_times() -> None:
    host = Host(httpx.Response(500, text="boom"))
    error = host.refused()
    assert (len(host.asked), len(host.waits), error.ours) == (TRIES, TRIES - 1, False)
    assert sum(host.waits) < 60


def test_what_a_host_says_of_its_own_state_is_final() -> None:
    host = Host(said(503, "This host has no sandbox: install bubblewrap."))
    error = host.refused()
    assert (str(error), len(host.asked)) == ("This host has no sandbox: install bubblewrap.", 1)


def refused_certificate() -> Exception:
    cause = ssl.SSLCertVerificationError("certificate verify failed")
    cause.verify_message = "self-signed certificate"
    error = httpx.ConnectError("[SSL]")
    error.__cause__ = cause
    return error


def unreachable() -> Exception:
    error = httpx.ConnectError("[Errno 111]")
    error.__cause__ = ConnectionRefusedError(111, "Connection refused")
    return error


TROUBLE = {
    "refused": (unreachable(), r"cannot be reached \(Connection refused\).*the host running", 1),
    "certificate": (refused_certificate(), r"self-signed certificate.*SSL_CERT_FILE", 1),
    "slow to connect": (httpx.ConnectTimeout("t"), "firewall", 1),
    "silent": (httpx.ReadTimeout("t"), "silent for too long", TRIES),
    "broke off": (httpx.RemoteProtocolError("Server disconnected"), "broke off.*try again", TRIES),
    "proxy": (httpx.ProxyError("403"), "HTTPS_PROXY", 1),
}


@pytest.mark.parametrize("kind", TROUBLE)
def test_trouble_on_the_way_is_a_sentence_with_its_remedy(kind: str) -> None:
    error, sentence, asked = TROUBLE[kind]
    host = Host(error)
    told = host.refused()
    assert httpx.URL("https://pitch.test").host in str(told)
    assert re.search(sentence, str(told)), str(told)
    assert (len(host.asked), told.ours) == (asked, False)


NO_HOSTS = {
    "a page": httpx.Response(200, html="<html>"),
    "not there": httpx.Response(404, html="<html>"),
    "other JSON": httpx.Response(200, json={"name": "x"}),
    "a list": httpx.Response(200, json=[1]),
    "a number": httpx.Response(200, json=17),
    "deep JSON": httpx.Response(200, text="[" * 100_000),
    "bad request": httpx.Response(400, text="no"),
    "an empty answer": httpx.Response(204),
}


@pytest.mark.parametrize("kind", NO_HOSTS)
def test_what_is_no_host_is_called_so(kind: str) -> None:
    error = Host(NO_HOSTS[kind]).refused()
    assert "is not a host of referee" in str(error)
    assert error.ours


def test_a_host_of_another_version_is_told_with_both_versions() -> None:
    error = Host(httpx.Response(200, json={"referee": "9.1", "seats": "many"})).refused()
    assert "9.1" in str(error)
    assert "install the same" in str(error)
    error = Host(httpx.Response(200, json=job(state="dreaming"))).refused(lambda client: client.job(7))
    assert "install the version of the host" in str(error)


def test_an_answer_without_an_end_is_not_read_to_it() -> None:
    host = Host(httpx.Response(200, content=(b"x" * 65536 for _ in iter(int, 1))))
    assert "without an end" in str(host.refused())

    def slowly() -> Iterator[bytes]:
        while True:
            host.now += 1
            yield b" "

    host = Host(httpx.Response(200, content=slowly()))
    assert "without an end" in str(host.refused())
    assert host.now < 200


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "target", ["https://elsewhere.test/x", "http://pitch.test/x", "https://pitch.test:444/x", "//evil/x"]
)
def test_a_redirect_to_another_place_gets_no_token(status: int, target: str) -> None:
    host = Host(httpx.Response(status, headers={"Location": target}))
    error = host.refused(lambda client: client.job(7))
    assert error.ours
    assert {request.url.host for request in host.asked} == {"pitch.test"}
    assert len(host.asked) == 1


def test_a_redirect_within_the_host_is_followed_if_it_is_the_same_request(tmp_path: Path) -> None:
    host = Host(httpx.Response(302, headers={"Location": "/new/entry"}), httpx.Response(200, json=ENTRY))
    host.client.ladder()
    assert host.paths() == ["/api/v1/entry", "/new/entry"]
    archive = tmp_path / "bot.zip"
    archive.write_bytes(b"PK")
    host = Host(httpx.Response(308, headers={"Location": "/new"}), httpx.Response(201, json=job()))
    host.client.hand_in("mine", archive)
    assert [request.content for request in host.asked] == [b"PK", b"PK"]
    error = Host(httpx.Response(302, headers={"Location": "/login"})).refused(lambda client: client.again(7))
    assert "is not a host" in str(error)
    host = Host(httpx.Response(302, headers={"Location": "/api/v1/entry"}))
    assert "from one place to the next" in str(host.refused())
    assert len(host.asked) < 10


WRONG = {
    "pitch.example.org": "write it as in",
    "ftp://pitch.example.org": "write it as in",
    "https://": "write it as in",
    "http://[::1": "no address",
    "https://host:port": "no address",
    "https://ann:word@pitch.test": "before the @",
    "https://pitch.test/join/abc": "an invitation",
    "https://pitch.test/?a=b": "leave out",
    "http://pitch.example.org": "not encrypted",
    "http://127.0.0.1.example.org": "not encrypted",
    "http://[2001:db8::1]:8400": "not encrypted",
}


@pytest.mark.parametrize("url", WRONG)
def test_a_wrong_address_is_told_before_anything_is_sent(url: str) -> None:
    with pytest.raises(HostRequestError, match=WRONG[url]) as caught:
        Host(httpx.Response(200, json=ENTRY), url=url)
    assert caught.value.ours


@pytest.mark.parametrize("url", ["http://127.0.0.1:8400", "http://localhost", "http://[::1]:8400", "http://127.9.9.9"])
def test_this_very_machine_needs_no_tls_and_no_proxy(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.test:3128")
    client = HostClient(HostAddress.parse(url), TOKEN)
    assert not client._http._mounts
    client.close()
    client = HostClient(HostAddress.parse("http://pitch.test"), TOKEN, insecure=True)
    assert client._http._mounts
    client.close()


def test_settings_that_cannot_be_used_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "not-there.pem"))
    with pytest.raises(HostRequestError, match="correct SSL_CERT_FILE"):
        HostClient(HostAddress.parse("https://pitch.test"), TOKEN)


# Following a job


def events(*jobs: dict[str, Any], then: Exception | None = None, first: int = 1) -> Answer:
    """A stream of events, which breaks off if ``then`` says so."""

    def pieces() -> Iterator[bytes]:
        yield b": hello\n\n"
        for number, one in enumerate(jobs, first):
            yield f"event: job\r\nid: {number}\r\ndata: {json.dumps(one)}\r\n\r\n".encode()
        if then is not None:
            raise then

    return lambda _: httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=pieces())


START = FollowedJob(**{**job(), "findings": (), "state": "waiting", "verdict": "waiting"})  # type: ignore[arg-type]


def followed(host: Host) -> list[str]:
    return [one.stage for one in host.client.follow(START)]


def test_a_job_is_followed_by_its_events_to_its_end() -> None:
    host = Host(events(job(), job(state="running", stage="build"), job(state="running", stage="check"), job(**DONE)))
    assert followed(host) == ["build", "check", "done"]
    assert host.paths() == ["/api/v1/jobs/7/events"]
    assert host.asked[0].headers["Authorization"] == f"Bearer {TOKEN}"
    assert host.waits == []


def test_a_stream_that_breaks_off_is_taken_up_where_it_was() -> None:
    building, checking = job(state="running", stage="build"), job(state="running", stage="check")
    host = Host(
        events(building, then=httpx.ReadError("gone")),
        httpx.ConnectError("refused"),
        events(building, checking, then=httpx.ReadTimeout("quiet"), first=2),
        events(job(**DONE)),
    )
    assert followed(host) == ["build", "check", "done"]
    assert [request.headers.get("Last-Event-ID") for request in host.asked] == [None, "1", "1", "3"]


def test_where_no_events_come_through_the_job_is_asked_for() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/events"):
            return httpx.Response(200, html="<html>")
        asked = sum(not one.url.path.endswith("/events") for one in host.asked)
        return httpx.Response(200, json=job(**DONE) if asked == 3 else job(before=3 - asked))

    host = Host(answer)
    assert followed(host) == ["waiting", "done"]
    assert sum(path.endswith("/events") for path in host.paths()) == 3
    assert max(host.waits) <= 20


def test_streams_that_say_nothing_new_and_end_are_not_asked_for_without_end() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/events"):
            made = events(job())
            assert callable(made)
            return made(request)
        return httpx.Response(200, json=job(**DONE) if len(host.asked) > 12 else job())

    host = Host(answer)
    assert followed(host) == ["done"]
    assert sum(path.endswith("/events") for path in host.paths()) == 3


def test_a_host_that_is_gone_is_given_up_after_some_minutes_and_not_before() -> None:
    host = Host(unreachable())
    error = host.refused(lambda client: list(client.follow(START)))
    assert not error.ours
    assert 300 < sum(host.waits) < 1200


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_job_that_may_not_be_seen_is_told_at_once(status: int) -> None:
    host = Host(said(status))
    host.refused(lambda client: list(client.follow(START)))
    assert len(host.asked) == 1


def test_a_job_that_is_over_is_not_asked_for() -> None:
    host = Host(httpx.Response(500))
    assert list(host.client.follow(host_job(**DONE))) == []
    assert host.asked == []


def host_job(**more: Any) -> FollowedJob:
    return Host(httpx.Response(200, json=job(**more))).client.job(7)


def test_an_event_without_an_end_is_no_event() -> None:
    endless = (b"data: " + b"x" * 65536 for _ in iter(int, 1))
    many = (b"data: " + b"x" * 65536 + b"\n" for _ in iter(int, 1))
    for pieces in (endless, many):
        with pytest.raises(HostRequestError, match="without an end"):
            list(_parse_events(pieces))
    assert ANSWER_BYTES < 1 << 24


@given(
    events_=st.lists(
        st.tuples(
            st.sampled_from(["job", "other"]),
            st.integers(0, 99),
            st.lists(st.text("ab :é", max_size=5), min_size=1, max_size=3),
        ),
        max_size=4,
    ),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    cuts=st.lists(st.integers(1, 7), min_size=1, max_size=30),
)
def test_events_are_read_however_they_are_cut_and_however_lines_end(
    events_: list[tuple[str, int, list[str]]], ends: str, cuts: list[int]
) -> None:
    lines = [": a comment", ""]
    for name, number, data in events_:
        lines += [f"event: {name}", "retry: 10", f"id:{number}", *(f"data: {line}" for line in data), ""]
    raw, pieces = (ends.join(lines) + ends).encode() + b"data: cut off", list[bytes]()
    while raw:
        at = cuts[len(pieces) % len(cuts)]
        pieces, raw = [*pieces, raw[:at]], raw[at:]
    assert list(_parse_events(iter(pieces))) == [(name, str(number), "\n".join(data)) for name, number, data in events_]


@pytest.mark.parametrize("line", [b"data:\n", b"data:x\n"])
def test_an_event_of_many_small_lines_has_an_end_too(line: bytes) -> None:
    with pytest.raises(HostRequestError, match="an event without an end"):
        for _ in _parse_events(line * 20_000 for _ in range(ANSWER_BYTES // 20_000 + 1)):
            pass


@pytest.mark.parametrize("text", ["Mon, 99999999999999999999 Jan 2020 00:00:00 GMT", "soon", "-1", "1e9"])
def test_a_time_to_wait_that_is_none_is_no_time(text: str) -> None:
    assert _retry_after(text) is None

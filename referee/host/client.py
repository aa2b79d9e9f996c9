"""What a program says to a host over the network: what it asks for, hands a bot in, and follows what becomes of it.

Nothing here is asynchronous. Every wait has an end, every answer a bound. The token goes to the host that was named, and to no other:
over TLS, or to this very machine.
"""

import contextlib
import ipaddress
import json
import random
import re
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Self, TypeVar
from urllib.parse import quote, urljoin, urlsplit

import httpx

import referee
from referee.host.rows import JobState, VersionState
from referee.report.sanitize import sanitize

TIMES: Final = httpx.Timeout(30.0, connect=15.0, write=60.0)
"""Seconds for connecting, for each piece that is sent, and for each that is read."""

QUIET_S: Final = 60.0
"""Seconds without a word after which events are asked for anew. A host sends a sign of life every quarter of a minute."""

ANSWER_BYTES: Final = 4 << 20
"""The most that is read of an answer, or of one event."""

EXPORT_BYTES: Final = 4 << 30
"""The most that is read of an export."""

EXPORT_S: Final = 3600.0
"""Seconds for the whole of an export."""

ANSWER_S: Final = 120.0
"""Seconds for the whole of an answer."""

TRIES: Final = 4
"""How often a request is made that fails on the way, or that the host has no time for."""

LONGEST_WAIT_S: Final = 60.0
"""A host that wants us to wait longer is not waited for."""

_T = TypeVar("_T")
_STREAMS_THAT_FAIL: Final = 3  # in a row; then the job is asked for from time to time
_AGAIN_S: Final = 1.0
_POLL_S: Final = 5.0
_MOST_LOST: Final = 30  # in a row
_LOST_S: Final = 20.0
_CHUNK: Final = 64 << 10
_MOST_SESSIONS: Final = 8
_BOT_ADDRESS: Final = re.compile(r"(tcp|tls):(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]{1,253}):[0-9]{1,5}")
_BOT_TOKEN: Final = re.compile(r"[A-Za-z0-9_.-]{8,200}")
_MOST_REDIRECTS: Final = 3
_SENTENCE: Final = 500


class HostRequestError(Exception):
    """What was asked of a host and did not come about, in a sentence with the remedy; fit for a terminal.

    ``status``: that of HTTP, 0 where there was no answer; ``ours``: whether the remedy is with whoever asks (a wrong address, a wrong
    token, a name that is taken), and not with the host or the network; ``passing``: whether it may go if it is asked again, ``after`` so
    many seconds if the host says so.
    """

    passing = False
    after: float | None = None

    def __init__(self, sentence: str, *, status: int = 0, ours: bool = False) -> None:
        super().__init__(sentence)
        self.status = status
        self.ours = ours


@dataclass(frozen=True, slots=True)
class HostedLadder:
    """What a host says of its ladder to whoever wants to enter.

    ``public``: whether everybody can download what is accepted. ``referee``: the host's version. ``definition``: what decides a check,
    the game with its house rules, seats and limits; as it came. ``remote``: whether remote bots may be connected.
    """

    name: str
    upload_mib: int
    public: bool
    referee: str
    definition: Mapping[str, Any]
    remote: bool = False


@dataclass(frozen=True, slots=True)
class JobFinding:
    """A rule that a check found broken, how often, what it did, a hint where there is one, and the URL of the replay."""

    rule: str
    sentence: str
    times: int
    hint: str
    page: str


@dataclass(frozen=True, slots=True)
class FollowedJob:
    """A job as its host tells of it. ``before``: jobs before it; ``plays_in_s``: seconds until the next round begins, an estimate."""

    id: int
    bot: str
    owner: str
    version: int
    state: JobState
    stage: str
    attempt: int
    before: int
    verdict: VersionState
    sentence: str
    findings: tuple[JobFinding, ...]
    log: str
    plays_in_s: float | None
    page: str

    @property
    def over(self) -> bool:
        """Whether nothing more becomes of it."""
        return self.state in (JobState.DONE, JobState.FAILED)


@dataclass(frozen=True, slots=True)
class HeardOfRemote:
    """What a host says to the program of a remote bot. ``state``: that of its version, ``reason``: why it was refused or withdrawn.

    ``job``: its newest check. ``called``: what it is called for, empty if it is not; ``sessions``: address and token of each
    process that is to dial in. ``line``: what its author is to be told; ``mark``: is sent back with the next request.
    """

    declared: str
    state: VersionState
    reason: str
    job: FollowedJob | None
    called: str
    sessions: tuple[tuple[str, str], ...]
    line: str
    mark: str


@dataclass(frozen=True, slots=True)
class HostAddress:
    """Where a host is: ``url`` without a slash at its end, to which paths are added."""

    url: str
    loopback: bool
    secure: bool

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads what somebody wrote. Raises ``HostRequestError``."""

        def wrong(why: str) -> HostRequestError:
            return HostRequestError(f"{sanitize(text, 200)}: {why}", ours=True)

        try:
            parts = urlsplit(text.strip())
            host, _ = parts.hostname or "", parts.port
            httpx.URL(text.strip())
        except (ValueError, httpx.InvalidURL) as error:
            raise wrong(f"no address of a host ({error}); write it as in https://pitch.example.org") from None
        if parts.scheme not in ("http", "https") or not host:
            raise wrong("no address of a host; write it as in https://pitch.example.org")
        if parts.username is not None or parts.password is not None:
            raise wrong("leave the name and the password before the @ out; a host wants a token (REFEREE_TOKEN)")
        if "/join/" in parts.path:
            raise wrong(
                "an invitation; open it in a browser, where it makes your token, and give the address before /join"
            )
        if parts.query or parts.fragment:
            raise wrong("leave out what comes after the ? or the #")
        path = parts.path.rstrip("/")
        return cls(f"{parts.scheme}://{parts.netloc}{path}", _is_loopback(host), parts.scheme == "https")


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class HostClient:
    """Speaks to one host. A context manager; not for several threads.

    ``wait`` sleeps so many seconds, ``clock`` tells monotonic time; ``transport`` stands for the network in tests.
    """

    def __init__(
        self,
        address: HostAddress,
        token: str = "",
        *,
        insecure: bool = False,
        transport: httpx.BaseTransport | None = None,
        wait: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``insecure``: also over a network in the open. Raises ``HostRequestError``."""
        if not (address.secure or address.loopback or insecure):
            raise HostRequestError(
                f"{address.url} is not encrypted: your token and your bot would travel in the open; use https://, or --insecure "
                "where nobody else is on the network",
                ours=True,
            )
        self.address = address
        self._token, self._wait, self._clock = token, wait, clock
        self._insecure = insecure
        try:
            self._http = httpx.Client(
                transport=transport,
                timeout=TIMES,
                follow_redirects=False,
                trust_env=not address.loopback,  # a proxy has no business between us and this machine
                verify=httpx.create_ssl_context() if address.secure and transport is None else False,
                headers={"User-Agent": f"referee/{referee.__version__}", "Accept": "application/json"},
            )
        except (OSError, ValueError, ImportError) as error:
            told = sanitize(error, 300)
            raise HostRequestError(
                f"the settings for TLS or a proxy cannot be used ({told}); correct SSL_CERT_FILE or HTTPS_PROXY",
                ours=True,
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes all connections."""
        self._http.close()

    def ladder(self) -> HostedLadder:
        """What the host plays, and what it takes in. Goes without the token. Raises ``HostRequestError``."""
        answer = self._ask("GET", "/api/v1/entry", token=False)
        try:
            return _ladder(answer)
        except (AttributeError, KeyError, TypeError, ValueError):
            version = answer.get("referee") if isinstance(answer, dict) else None
        if isinstance(version, str):
            raise HostRequestError(
                f"{self.address.url} is a host of referee {sanitize(version, 40)}, which this version ({referee.__version__}) does not "
                "understand; install the same one",
                ours=True,
            )
        raise self._no_host()

    def hand_in(
        self, bot: str, archive: Path, sent: Callable[[int], None] = lambda _: None, *, public: bool = False
    ) -> tuple[FollowedJob, bool]:
        """Hands a version of a bot in: its job, and whether it is a new one. ``sent`` is told how many bytes have gone.

        ``public``: what the host has said of sources, which it then holds to.

        May be done again at any time: the host knows identical files. Raises ``HostRequestError`` and ``OSError``.
        """
        size = archive.stat().st_size
        path = f"/api/v1/bots/{quote(bot, safe='')}/versions"
        answer = self._request(
            "POST",
            path,
            headers={
                "Content-Type": "application/zip",
                "Content-Length": str(size),
                "Referee-Sources": "public" if public else "private",
            },
            content=lambda: _pieces(archive, sent),
        )
        return self._job(answer.value), answer.status == HTTPStatus.CREATED

    def again(self, job: int) -> FollowedJob:
        """Has a job done once more: the new one. Raises ``HostRequestError``."""
        return self._job(self._ask("POST", f"/api/v1/jobs/{job}/again"))

    def job(self, number: int) -> FollowedJob:
        """A job as it is now. Raises ``HostRequestError``."""
        return self._job(self._ask("GET", f"/api/v1/jobs/{number}"))

    def follow(self, job: FollowedJob) -> Iterator[FollowedJob]:
        """The job whenever it has changed, until it is over: by events, and where these do not get through by asking.

        Raises ``HostRequestError`` if the host says that it may not be seen, or does not answer for some minutes.
        """
        told, last, broken, lost = job, "", 0, 0
        while not told.over:
            try:
                if broken < _STREAMS_THAT_FAIL:
                    broken += 1  # unless something comes of it
                    for event, now in self._events(job.id, last):
                        last = event
                        if now != told:
                            broken, lost, told = 0, 0, now
                            yield now
                        if now.over:
                            return
                now = self._job(self._ask("GET", f"/api/v1/jobs/{job.id}", tries=1))
            except _LostError as error:
                lost += 1
                if lost >= _MOST_LOST:
                    raise HostRequestError(str(error)) from None
                self._wait(min(error.after or 2.0**lost, _LOST_S))
                continue
            lost = 0
            if now != told:
                told = now
                yield now
            if not told.over:
                self._wait(_AGAIN_S if broken < _STREAMS_THAT_FAIL else _POLL_S)

    def remote(self, bot: str, said: Mapping[str, object]) -> HeardOfRemote:
        """Says that a remote bot is there, and returns what the host says, which may take it some twenty seconds. Asks once.

        Raises ``HostRequestError``; one that is ``passing`` may not come again.
        """
        body = json.dumps(said).encode()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        answer = self._request(
            "POST", f"/api/v1/remote/{quote(bot, safe='')}", headers=headers, content=lambda: iter((body,)), tries=1
        )
        try:
            return self._heard(answer.value)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise HostRequestError(
                f"{self.address.url} tells of a remote bot in a way that referee {referee.__version__} does not understand; install the version of the host"
            ) from None

    def _heard(self, value: Any) -> HeardOfRemote:
        call = value.get("call") or {"what": "", "sessions": []}
        sessions = call["sessions"]
        if not isinstance(sessions, list) or len(sessions) > _MOST_SESSIONS:
            raise TypeError
        job = value.get("job")
        return HeardOfRemote(
            declared=_text(value, "declared"),
            state=VersionState(value["state"]),
            reason=_text(value, "reason", ""),
            job=None if job is None else _job(job),
            called=_text(call, "what"),
            sessions=tuple((self._called_to(_text(one, "address")), _bot_token(one)) for one in sessions),
            line=_text(value, "line", ""),
            mark=_text(value, "mark", ""),
        )

    def _called_to(self, address: str) -> str:
        """Where a bot is called to. Raises ``HostRequestError`` where that is no place of the network, or one in the open."""
        found = _BOT_ADDRESS.fullmatch(address)
        if found is None:
            raise ValueError(address)
        if found[1] == "tcp" and not (self._insecure or _is_loopback(found[2].strip("[]"))):
            raise HostRequestError(
                f"{self.address.url} calls bots to {sanitize(address, 100)}, where hands would travel in the open; ask the organiser for "
                "a certificate, or use --insecure where nobody else is on the network",
                ours=True,
            )
        return address

    def export(
        self, target: Path, got: Callable[[int, int], None] = lambda _, __: None, *, remote: bool = False
    ) -> None:
        """Fetches the closed rounds of the ladder, as a zip archive of their export; ``remote``: of the board of remote bots.

        Goes without the token. ``got`` is told how many bytes have come, and how many there are (0 = unknown). Raises
        ``HostRequestError`` and ``OSError``.
        """
        path = "/export/remote" if remote else "/export"
        self._patiently(lambda: self._download(path, "application/zip", target, got), TRIES)

    def old_records(self, name: str, target: Path, got: Callable[[int, int], None] = lambda _, __: None) -> None:
        """Fetches an archive with records of old rounds, as the export names it. As ``export``."""
        path = f"/export/{quote(name, safe='')}"
        self._patiently(lambda: self._download(path, "application/gzip", target, got), TRIES)

    def _download(self, path: str, kind: str, target: Path, got: Callable[[int, int], None]) -> None:
        size, until = 0, self._clock() + EXPORT_S
        headers = {"Accept": "*/*", "Accept-Encoding": "identity"}
        with self._opened("GET", f"{self.address.url}{path}", headers) as response, target.open("wb") as file:
            if not response.is_success:
                self._judge(response, self._read(response))
            if response.headers.get("Content-Type", "").partition(";")[0] != kind:
                raise self._no_host(response.status_code)
            told = response.headers.get("Content-Length", "")
            total = int(told) if told.isascii() and told.isdigit() and len(told) < 16 else 0
            for piece in response.iter_bytes(_CHUNK):
                size += len(piece)
                if size > EXPORT_BYTES or self._clock() > until:
                    raise HostRequestError(
                        f"{self.address.url} sends more than {EXPORT_BYTES >> 30} GiB, or for more than {_duration(EXPORT_S)}; is that a host?"
                    )
                file.write(piece)
                got(size, total)

    def _events(self, job: int, last: str) -> Iterator[tuple[str, FollowedJob]]:
        """The id and the job of each event of a stream, until it ends. Raises ``_LostError``."""
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-store", **self._authorization()} | (
            {"Last-Event-ID": last} if last else {}
        )
        url = f"{self.address.url}/api/v1/jobs/{job}/events"
        with self._opened("GET", url, headers, timeout=httpx.Timeout(QUIET_S, connect=15.0, write=60.0)) as response:
            if response.status_code != HTTPStatus.OK:
                self._judge(response, self._read(response))
            if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
                raise _LostError(f"{self.address.url} sends no events")
            for event, number, data in _parse_events(response.iter_bytes()):
                if event == "job":
                    last = number or last
                    yield last, self._job(_json(data))

    def _ask(self, method: str, path: str, *, token: bool = True, tries: int = TRIES) -> Any:
        return self._request(method, path, token=token, tries=tries).value

    def _request(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: Callable[[], Iterator[bytes]] | None = None,
        token: bool = True,
        tries: int = TRIES,
    ) -> "_Answer":
        """Asks, again where that can help. Raises ``HostRequestError``; with one try ``_LostError`` where another could help."""
        given = {**(headers or {}), **(self._authorization() if token else {})}
        return self._patiently(lambda: self._once(method, f"{self.address.url}{path}", given, content), tries)

    def _patiently(self, ask: Callable[[], _T], tries: int) -> _T:
        """What ``ask`` gives, asked again where that can help. Raises as ``_request`` does."""
        for tried in range(1, tries + 1):
            try:
                return ask()
            except _LostError as lost:
                if tries == 1:
                    raise
                pause = lost.after if lost.after is not None else 2.0 ** (tried - 1) * random.uniform(0.7, 1.3)  # noqa: S311
                if tried == tries or lost.hopeless or pause > LONGEST_WAIT_S:
                    raise HostRequestError(str(lost), status=lost.status, ours=lost.ours) from None
                self._wait(pause)
        raise AssertionError

    def _once(
        self, method: str, url: str, headers: Mapping[str, str], content: Callable[[], Iterator[bytes]] | None
    ) -> "_Answer":
        with self._opened(method, url, headers, content) as response:
            body = self._read(response)
            self._judge(response, body)
            try:
                return _Answer(response.status_code, _json(body))
            except _LostError:
                raise self._no_host() from None

    @contextlib.contextmanager
    def _opened(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: Callable[[], Iterator[bytes]] | None = None,
        *,
        timeout: httpx.Timeout = TIMES,
    ) -> Iterator[httpx.Response]:
        """The answer to a request, where redirects of the same host end. What breaks, here or while it is read, is a ``_LostError``."""
        try:
            for _ in range(_MOST_REDIRECTS + 1):
                given = content() if content else None
                with self._http.stream(method, url, headers=headers, content=given, timeout=timeout) as response:
                    if response.status_code not in _REDIRECTS:
                        yield response
                        return
                    url = self._redirected(method, url, response, secret="Authorization" in headers)
        except (httpx.TransportError, httpx.DecodingError, httpx.StreamError) as error:
            raise _LostError(self._lost(error), hopeless=_is_hopeless(error)) from None
        raise HostRequestError(
            f"{self.address.url} sends us from one place to the next; give the address that a browser ends at",
            ours=True,
        )

    def _redirected(self, method: str, url: str, response: httpx.Response, *, secret: bool) -> str:
        """Where a redirect leads, if it is the same host and the same request. ``secret``: the token goes with it."""
        try:
            target = urljoin(url, str(response.headers.get("Location", "")))
            there, same = urlsplit(target), _origin(target) == _origin(url)
        except ValueError:
            raise self._no_host(response.status_code) from None
        if not same:
            place = sanitize(f"{there.scheme}://{there.netloc}", 200)
            raise HostRequestError(
                f"{self.address.url} sends us on to {place}, and "
                + (
                    "your token goes nowhere else; if you trust that place, give its address with --to"
                    if secret
                    else "that was not asked for; give that address"
                ),
                status=response.status_code,
                ours=True,
            )
        if method != "GET" and response.status_code not in _SAME_REQUEST:
            raise self._no_host(response.status_code)
        return target

    def _read(self, response: httpx.Response) -> bytes:
        """The body of an answer, within bounds of size and time."""
        body, until = bytearray(), self._clock() + ANSWER_S
        for piece in response.iter_bytes():
            body += piece
            if len(body) > ANSWER_BYTES or self._clock() > until:
                raise HostRequestError(f"{self.address.url} answers without an end; is that a host?")
        return bytes(body)

    def _judge(self, response: httpx.Response, body: bytes) -> None:
        """Raises what an answer means that is not a success."""
        status = response.status_code
        if response.is_success:
            return
        said = _said(body)
        after = _retry_after(response.headers.get("Retry-After", ""))
        match status:
            case HTTPStatus.UNAUTHORIZED:
                told = said or "The host does not know this token; make a new one on your page."
                raise HostRequestError(f"{told} ({self.address.url}/me)", status=status, ours=True)
            case HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
                told = said or (
                    "Something between here and the host takes no upload of this size; ask the organiser to raise the limit of the proxy."
                )
                raise HostRequestError(told, status=status, ours=True)
            case HTTPStatus.TOO_MANY_REQUESTS:
                told = said or "The host has had too many requests from here."
                wait = "" if after is None else f" It asks us to wait {_duration(after)}."
                raise _LostError(f"{told}{wait}", status=status, after=after, hopeless=after is None)
            case _ if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                told = said or f"{self.address.url} has trouble of its own (HTTP {status}); try again in some minutes."
                # What the host itself says of its state stays so; a proxy before it says so while the host starts again.
                final = bool(said) and after is None and status == HTTPStatus.SERVICE_UNAVAILABLE
                raise _LostError(told, status=status, after=after, hopeless=final)
        if said:
            raise HostRequestError(said, status=status, ours=True)
        raise self._no_host(status)

    def _no_host(self, status: int = 0) -> HostRequestError:
        told = f" (HTTP {status})" if status else ""
        return HostRequestError(
            f"{self.address.url} is not a host of referee{told}: give the address of the page with the ladder's table",
            status=status,
            ours=True,
        )

    def _job(self, value: Any) -> FollowedJob:
        try:
            return _job(value)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise HostRequestError(
                f"{self.address.url} tells of a job in a way that referee {referee.__version__} does not understand; install the version of the host"
            ) from None

    def _authorization(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    def _lost(self, error: Exception) -> str:
        """What went wrong on the way, in a sentence."""
        url, causes = self.address.url, list(_causes(error))
        for cause in causes:
            if isinstance(cause, ssl.SSLCertVerificationError):
                why = sanitize(cause.verify_message, 100)
                return f"the certificate of {url} is not to be trusted ({why}); if it is the organiser's own, name its file in SSL_CERT_FILE"
            if isinstance(cause, ssl.SSLError):
                return f"{url} does not speak TLS as it should ({sanitize(cause.reason or cause, 100)}); is the port right, and https?"
        if isinstance(error, httpx.ConnectTimeout):
            return f"{url} does not answer; is the address right, and does a firewall let you through?"
        if isinstance(error, httpx.ConnectError):
            why = next(
                (str(cause.strerror) for cause in reversed(causes) if isinstance(cause, OSError) and cause.strerror),
                "no connection",
            )
            return f"{url} cannot be reached ({sanitize(why, 100)}); is the address right, and the host running?"
        if isinstance(error, httpx.TimeoutException):
            return f"{url} was silent for too long; try again in some minutes"
        if isinstance(error, httpx.ProxyError):
            return f"the proxy on the way to {url} refuses ({sanitize(error, 100)}); look at HTTPS_PROXY and NO_PROXY"
        if isinstance(error, httpx.UnsupportedProtocol):
            return f"{url} is no address of a host"
        return f"the connection to {url} broke off ({sanitize(error, 100) or type(error).__name__}); try again"


class _LostError(HostRequestError):
    """A request that may succeed if it is made again; ``after``: in so many seconds, as the host says. ``hopeless``: not soon."""

    passing = True

    def __init__(self, sentence: str, *, status: int = 0, after: float | None = None, hopeless: bool = False) -> None:
        super().__init__(sentence, status=status)
        self.after = after
        self.hopeless = hopeless


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    value: Any


_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_SAME_REQUEST: Final = frozenset({307, 308})


def _pieces(archive: Path, sent: Callable[[int], None]) -> Iterator[bytes]:
    gone = 0
    sent(0)
    with archive.open("rb") as stream:
        while piece := stream.read(_CHUNK):
            yield piece
            gone += len(piece)
            sent(gone)


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _causes(error: BaseException) -> Iterator[BaseException]:
    one: BaseException | None = error
    while one is not None:
        yield one
        one = one.__cause__ or one.__context__


def _is_hopeless(error: Exception) -> bool:
    """Whether it fails again the next second: a wrong name, nobody there, a wrong certificate."""
    return isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol, httpx.ProxyError))


def _said(body: bytes) -> str:
    """The sentence of a refusal, as the host says it; empty if it is none of its own."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    told = value.get("error") if isinstance(value, dict) else None
    return sanitize(told, _SENTENCE) if isinstance(told, str) else ""


def _retry_after(text: str) -> float | None:
    """Seconds that a host asks us to wait: as a number, or until a date."""
    if text.isdecimal() and len(text) < 10:
        return float(text)
    with contextlib.suppress(ValueError, OverflowError):
        until = parsedate_to_datetime(text)
        return max((until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)
    return None


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def _json(body: bytes | str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise _LostError("the host sends what is no JSON") from None


def _parse_events(pieces: Iterator[bytes]) -> Iterator[tuple[str, str, str]]:
    """Name, id and data of each event of a stream, as the HTML standard has them. Raises ``_LostError`` for one that never ends."""
    name, number, data, size = "", "", list[str](), 0
    for line in _lines(pieces):
        if not line:
            if data:
                yield name or "message", number, "\n".join(data)
            name, data, size = "", [], 0
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match field:
            case "event":
                name = value
            case "data":
                data.append(value)
                size += len(value) + 1
                if size > ANSWER_BYTES:
                    raise _LostError("the host sends an event without an end")
            case "id" if "\0" not in value and value.isprintable() and len(value) <= 100:
                number = value


def _lines(pieces: Iterator[bytes]) -> Iterator[str]:
    """Lines of a stream, which may end with CR LF, LF or CR; what has no end by the end is none."""
    rest, ended_with_cr = b"", False
    for piece in filter(None, pieces):
        text = piece.removeprefix(b"\n") if ended_with_cr else piece
        ended_with_cr = piece.endswith(b"\r")
        *lines, rest = (rest + text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")).split(b"\n")
        yield from (line.decode("utf-8", "replace") for line in lines)
        if len(rest) > ANSWER_BYTES:
            raise _LostError("the host sends a line without an end")


def _ladder(value: Any) -> HostedLadder:
    definition = value["definition"]
    if not isinstance(definition, dict):
        raise TypeError
    return HostedLadder(
        name=_text(value, "name"),
        upload_mib=_number(value, "upload_mib"),
        public=_text(value, "sources", "private") == "public",
        referee=_text(value, "referee"),
        definition=definition,
        remote=value.get("remote") is True,
    )


def _job(value: Any) -> FollowedJob:
    plays = value.get("plays_in_s")
    return FollowedJob(
        id=_number(value, "id"),
        bot=_text(value, "bot"),
        owner=_text(value, "owner", ""),
        version=_number(value, "version"),
        state=JobState(value["state"]),
        stage=_text(value, "stage", ""),
        attempt=_number(value, "attempt", 0),
        before=_number(value, "before", 0),
        verdict=VersionState(value["verdict"]),
        sentence=_text(value, "sentence", ""),
        findings=tuple(map(_finding, value.get("findings") or ())),
        log=_text(value, "log", ""),
        plays_in_s=float(plays) if isinstance(plays, (int, float)) and 0 <= plays < 1e9 else None,
        page=_text(value, "page", ""),
    )


def _bot_token(value: Any) -> str:
    """The token of a call, which goes into the environment of a program. Raises ``ValueError``."""
    token = _text(value, "token")
    if _BOT_TOKEN.fullmatch(token) is None:
        raise ValueError(token)
    return token


def _finding(value: Any) -> JobFinding:
    return JobFinding(
        rule=_text(value, "rule", ""),
        sentence=_text(value, "sentence", ""),
        times=_number(value, "times", 0),
        hint=_text(value, "hint", ""),
        page=_text(value, "page", ""),
    )


def _text(value: Any, key: str, default: str | None = None) -> str:
    """A text of an object; a ``null`` counts as not there. Raises ``TypeError`` and ``KeyError``."""
    found = value.get(key)
    if found is None:
        if default is None:
            raise KeyError(key)
        return default
    if not isinstance(found, str):
        raise TypeError(key)
    return found


def _number(value: Any, key: str, default: int | None = None) -> int:
    found = value.get(key, default)
    if not isinstance(found, int) or isinstance(found, bool):
        raise TypeError(key)
    return found

"""Sites of hosts for tests: a folder with a store, owners with tokens, and what asks the site without a network.

with made_site(tmp_path) as at:
    ann = at.owner("ann")
    answer = at.get("/api/v1/me", ann)
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from starlette.applications import Starlette

from referee.host.home import HostHome
from referee.host.rows import Owner, VersionState
from referee.host.store import HostStore
from referee.host.web import app
from referee.host.web.site import Site
from referee.league.definition.definition import parse_definition

NOW = 1_800_000_000.0
FORM_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]{64})"')


@dataclass
class Known:
    """An owner who asks: by a token, or as a browser with the cookies of a session."""

    owner: Owner
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


@dataclass
class Browser:
    """A browser that keeps the cookie of its session."""

    at: "MadeSite"
    cookie: str = ""

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.at.ask("GET", path, browser=self, **more)

    def post(self, path: str, fields: Mapping[str, str], *, of: str = "/login", **more: Any) -> httpx.Response:
        """Sends a form with the token of the page ``of``."""
        found = FORM_TOKEN.search(self.get(of).text)
        assert found, f"{of} has no form"
        data = {**fields, "form_token": found[1]}
        return self.at.ask("POST", path, browser=self, data=data, **more)


@dataclass
class MadeSite:
    """A site that is asked without a network. ``time``: what its clock says; ``tick``: the clock of its limits."""

    made: Starlette
    time: float = NOW
    tick: float = 0.0

    @property
    def site(self) -> Site:
        found: Site = self.made.state.site
        return found

    @property
    def store(self) -> HostStore:
        return self.site.store

    def owner(self, name: str, *, organiser: bool = False) -> Known:
        secret = self.store.invite(name, self.time, organiser=organiser, by="test")
        owner = self.store.join(secret, name, self.time)
        return Known(owner, self.store.add_token(owner.id, "test", self.time))

    def browser(self, known: Known | None = None) -> Browser:
        """A browser, in which somebody has logged in."""
        made = Browser(self)
        if known is not None:
            answer = made.post("/login", {"token": known.token})
            assert answer.status_code == 303, answer.text
        return made

    def ask(
        self, method: str, path: str, known: Known | None = None, *, browser: Browser | None = None, **more: Any
    ) -> httpx.Response:
        return asyncio.run(self._ask(method, path, known, browser, more))

    async def _ask(
        self, method: str, path: str, known: Known | None, browser: Browser | None, more: dict[str, Any]
    ) -> httpx.Response:
        headers = {**(known.headers if known else {}), **more.pop("headers", {})}
        client = more.pop("client", ("192.0.2.1", 4000))
        transport = httpx.ASGITransport(self.made, raise_app_exceptions=True, client=client)
        async with httpx.AsyncClient(transport=transport, base_url="http://pitch.test") as made:
            if browser is not None and browser.cookie:
                headers["Cookie"] = browser.cookie
            answer = await made.request(method, path, headers=headers, **more)
            if browser is not None and "set-cookie" in answer.headers:
                browser.cookie = answer.headers["set-cookie"].partition(";")[0]
            return answer

    def get(self, path: str, known: Known | None = None, **more: Any) -> httpx.Response:
        return self.ask("GET", path, known, **more)

    def stream(self, path: str, until: bytes, *, last: str = "", meanwhile: Callable[[], None] = lambda: None) -> bytes:
        """What a stream of events sends until it has sent that; ``last``: the Last-Event-ID of whoever asks.

        ``meanwhile`` is called once while it goes on.
        """
        return asyncio.run(self._stream(path, until, last, meanwhile))

    async def _stream(self, path: str, until: bytes, last: str, meanwhile: Callable[[], None]) -> bytes:
        sent = bytearray()
        status: list[int] = []

        async def receive() -> Any:
            return await asyncio.Event().wait()

        async def send(message: Any) -> None:
            status.extend([message["status"]] if "status" in message else [])
            if not sent and message.get("body"):
                await asyncio.to_thread(meanwhile)
            sent.extend(message.get("body", b""))
            if until in sent:
                self.site.stopping.set()

        path, _, query = path.partition("?")
        headers = [(b"host", b"pitch.test"), *([(b"last-event-id", last.encode())] if last else [])]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "GET",
            "path": path,
            "raw_path": b"",
            "query_string": query.encode(),
            "scheme": "http",
            "server": ("pitch.test", 80),
            "client": ("192.0.2.1", 1),
            "headers": headers,
        }
        try:
            await self.made(scope, receive, send)
        finally:
            self.site.stopping.clear()
        assert status == [200]
        return bytes(sent)

    def upload(self, known: Known | None, bot: str, body: Any = b"PK-1", **more: Any) -> httpx.Response:
        headers = {"Content-Type": "application/zip", **more.pop("headers", {})}
        path = f"/api/v1/bots/{bot}/versions"
        return self.ask("POST", path, known, content=body, headers=headers, **more)

    def finish(self, job: int, state: VersionState, **more: Any) -> None:
        """Does a job as the jobs of the host would."""
        leased = self.store.lease(self.time, 60)
        assert leased is not None
        assert leased.id == job
        assert self.store.finish(leased, state, f"It is {state}.", self.time, name="a-bot", digest="d" * 64, **more)


@contextmanager
def made_site(folder: Path, *, host: str = "", tournament: str = "", sandbox: str = "bwrap") -> Iterator[MadeSite]:
    """A site in a new folder, with ``host`` as its [host]."""
    definition = parse_definition(
        '[tournament]\nname = "Test <ladder>"\nvariant = "auction-pitch"\nseats = 3\n'
        f'{tournament}\n[schedule]\nformat = "ladder"\nsets = 2\n'
        f'[[bots]]\npath = "random"\npanel = true\n[[bots]]\npath = "careful"\nname = "House"\n[host]\n{host}\n'
    )
    at = MadeSite(Starlette())
    home = HostHome.beside(folder / "ladder.toml")
    at.made = app(home, definition, lambda: at.time, ticks=lambda: at.tick, look_s=0.001)
    try:
        if sandbox:
            at.store.set("sandbox", sandbox, NOW, by="host")
        yield at
    finally:
        at.site.close()

"""A host behind nginx and Caddy, with the very configurations of docs/host.md: pages, events, sizes, addresses and paths."""

import asyncio
import contextlib
import logging
import os
import re
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import httpx
import pytest

from referee.host.home import HostHome
from referee.host.store import HostStore
from referee.protocol import wire
from tests.host.sites import NOW
from tests.host.test_web_robust import served
from tests.program import PATIENCE
from tests.served_games import JOIN, ServedGames, dial, play_on, say, tell, until
from tests.tls import CERTIFICATE, write_pair

ROOT = Path(__file__).resolve().parents[2]
NAME = "pitch.example.org"
CLIENT = "127.0.0.5"
"""An address of this machine that is neither the proxy's nor the host's."""


def documented(begins: str, holds: str = "") -> str:
    """The one configuration in docs/host.md that begins and holds so."""
    blocks = re.findall(r"^```text\n(.*?)^```", (ROOT / "docs/host.md").read_text(), re.MULTILINE | re.DOTALL)
    (found,) = [block for block in blocks if block.startswith(begins) and holds in block]
    return found


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def nginx(folder: Path, port: int, host: str, path: str, *, keeps_path: bool) -> list[str]:
    certificate, key = write_pair(folder)
    server = replaced(
        documented("server {", "listen 443"),
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("/etc/ssl/pitch.pem", certificate),
        ("/etc/ssl/pitch.key", key),
        ("location / {", f"location {path}{'' if keeps_path and path else '/'} {{"),
        ("http://127.0.0.1:8400", host + ("" if keeps_path or not path else "/")),
    )
    return nginx_with(folder, server)


def nginx_with(folder: Path, server: str) -> list[str]:
    """How nginx is started as this user, in a folder of its own, with one server."""
    places = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    conf = folder / "nginx.conf"
    conf.write_text(
        f"daemon off;\nworker_processes 1;\n{'user root;' if os.geteuid() == 0 else ''}\npid {folder}/nginx.pid;\n"
        f"error_log {folder}/error.log;\nevents {{}}\nhttp {{\naccess_log off;\n{places}\n{server}\n}}\n"
    )
    return ["nginx", "-p", str(folder), "-e", str(folder / "early.log"), "-c", str(conf)]


def caddy(folder: Path, port: int, host: str, path: str, *, keeps_path: bool) -> list[str]:
    certificate, key = write_pair(folder)
    site = replaced(
        documented(f"{NAME} {{"),
        (f"{NAME} {{", f"https://{NAME}:{port} {{\n    tls {certificate} {key}"),
        ("reverse_proxy 127.0.0.1:8400", f"reverse_proxy {path and path + '/*'} {host.removeprefix('http://')}"),
    )
    if path and not keeps_path:
        site = replaced(
            site, ("    reverse_proxy", f"    uri strip_prefix {path}\n    reverse_proxy"), (f"{path}/*", "")
        )
    return caddy_with(folder, site)


def nginx_grpc(folder: Path, port: int, door: str) -> list[str]:
    certificate, key = write_pair(folder)
    server = replaced(
        documented("server {", "grpc_pass"),
        ("listen 7401 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("/etc/ssl/pitch.pem", certificate),
        ("/etc/ssl/pitch.key", key),
        ("127.0.0.1:7401", door),
    )
    return nginx_with(folder, server)


def caddy_grpc(folder: Path, port: int, door: str) -> list[str]:
    certificate, key = write_pair(folder)
    site = replaced(
        documented(f"{NAME}:7401 {{"),
        (f"{NAME}:7401 {{", f"https://localhost:{port} {{\n    tls {certificate} {key}"),
        ("127.0.0.1:7401", door),
    )
    return caddy_with(folder, site)


def caddy_with(folder: Path, site: str) -> list[str]:
    (folder / "Caddyfile").write_text(f"{{\n    admin off\n    auto_https off\n}}\n{site}")
    return ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


PROXIES = [
    pytest.param(nginx, id="nginx", marks=pytest.mark.needs("nginx")),
    pytest.param(caddy, id="caddy", marks=pytest.mark.needs("caddy")),
]


GRPC = [
    pytest.param(nginx_grpc, id="nginx", marks=pytest.mark.needs("nginx")),
    pytest.param(caddy_grpc, id="caddy", marks=pytest.mark.needs("caddy")),
]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextlib.contextmanager
def running(words: list[str], place: Path, port: int) -> Iterator[None]:
    """A proxy, from when it listens."""
    environment = {**os.environ, "HOME": str(place), "XDG_DATA_HOME": str(place), "XDG_CONFIG_HOME": str(place)}
    with (place / "said.log").open("wb") as said:
        proxy = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment)
    try:
        end = time.monotonic() + PATIENCE
        while not listens(port):
            assert proxy.poll() is None, (place / "said.log").read_text()
            assert time.monotonic() < end
            time.sleep(0.02)
        yield
    finally:
        proxy.terminate()
        try:
            proxy.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            proxy.kill()
            proxy.wait()
            raise


@contextlib.contextmanager
def behind(
    proxy: Callable[..., list[str]], folder: Path, path: str = "", *, keeps_path: bool = True
) -> Iterator[tuple[httpx.Client, HostHome]]:
    """A host behind a proxy, and a client of it that comes from an address of its own and claims another."""
    place = folder / "proxy"
    place.mkdir()
    with served(folder, f'url = "https://{NAME}{path}"\n') as (host, home):
        port = free_port()
        words = proxy(place, port, host, path, keeps_path=keeps_path)
        trusting = ssl.create_default_context(cafile=str(place / "certificate.pem"))
        trusting.check_hostname = False  # it is for localhost
        transport = httpx.HTTPTransport(verify=trusting, local_address=CLIENT)
        with (
            running(words, place, port),
            httpx.Client(
                base_url=f"https://127.0.0.1:{port}",
                transport=transport,
                headers={"Host": NAME, "X-Forwarded-For": "203.0.113.9"},
                event_hooks={"request": [named]},
                timeout=PATIENCE,
            ) as client,
        ):
            yield client, home


def named(request: httpx.Request) -> None:
    """Sends the host's name in the handshake, as browsers do."""
    request.extensions["sni_hostname"] = NAME


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), PATIENCE).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.mark.parametrize("proxy", PROXIES)
def test_the_documented_configuration_lets_everything_through(
    proxy: Callable[..., list[str]], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "referee.host.access")
    with behind(proxy, tmp_path) as (client, home):
        with HostStore.open(home.store) as store:
            store.set("sandbox", "bubblewrap", NOW, by="host")
            ann = store.join(store.invite("ann", NOW, by="test"), "ann", NOW)
            token = {"Authorization": f"Bearer {store.add_token(ann.id, 'test', NOW)}"}
        page = client.get("/login")
        assert page.status_code == 200
        assert "; Secure" in page.headers["set-cookie"]
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert page.headers["strict-transport-security"]

        # Events come as they happen: these streams have no end.
        with client.stream("GET", "/events") as events:
            assert next(events.iter_lines()) == ": the board"

        # An archive of the largest size comes through, and above it the host says why, not the proxy.
        zipped = {**token, "Content-Type": "application/zip"}
        most = client.post("/api/v1/bots/a/versions", content=os.urandom(16 << 20), headers=zipped)
        assert most.status_code == 201, most.text
        assert most.json()["page"] == f"https://{NAME}/jobs/1"
        above = client.post("/api/v1/bots/a/versions", content=os.urandom(17 << 20), headers=zipped)
        assert above.status_code == 413
        assert "16 MiB" in above.json()["error"]
        with client.stream("GET", "/api/v1/jobs/1/events", headers=token) as events:
            assert next(events.iter_lines()) == "event: job"
    # Not the proxy's address, nor the one that was claimed.
    assert f' {CLIENT} "GET /login" 200 ' in caplog.text


@pytest.mark.parametrize("keeps_path", [True, False], ids=["path left", "path taken away"])
@pytest.mark.parametrize("proxy", PROXIES)
def test_a_host_lives_below_a_path_whether_the_proxy_takes_it_away_or_not(
    proxy: Callable[..., list[str]], tmp_path: Path, keeps_path: bool
) -> None:
    with behind(proxy, tmp_path, "/pitch", keeps_path=keeps_path) as (client, _):
        page = client.get("/pitch/enter")
        assert page.status_code == 200
        links = set(re.findall(r'(?:href|src|action)="(/[^"#?]*)', page.text))
        assert "/pitch/rounds" in links
        assert all(link == "/pitch" or link.startswith("/pitch/") for link in links)
        assert {client.get(link).status_code for link in links} == {200, 401}  # 401: the pages of whoever has logged in
        assert "path=/pitch" in page.headers["set-cookie"].lower()


@pytest.mark.parametrize("proxy", GRPC)
def test_remote_bots_play_through_the_documented_configuration(proxy: Callable[..., list[str]], tmp_path: Path) -> None:
    place = tmp_path / "proxy"
    place.mkdir()

    async def story(games: ServedGames) -> None:
        ann, bob = games.connection("ann"), games.connection("bob")
        async with games.endpoint(address="tcp:127.0.0.1:0") as endpoint:
            port = free_port()
            words = proxy(place, port, endpoint.address.removeprefix("tcp:"))
            near: Any = SimpleNamespace(address=f"tls:localhost:{port}")
            trusted = grpc.ssl_channel_credentials(CERTIFICATE.encode())
            with running(words, place, port):
                async with (
                    dial(near, ann.token, credentials=trusted) as a,
                    dial(near, bob.token, credentials=trusted) as b,
                ):
                    bots = [asyncio.ensure_future(play_on(call)) for call in (a, b)]
                    await say(a, JOIN)
                    await say(b, JOIN)
                    async with asyncio.timeout(PATIENCE):
                        await asyncio.gather(ann.ready.wait(), bob.ready.wait())
                    games.deal(1, ann, bob)
                    await until(lambda: not games.book.games_in_play.seated)
                    for connection in (ann, bob):
                        connection.leave(wire.FAREWELL_REASON_FINISHED, "All games are over.")
                    assert [(await bot).reason for bot in bots] == [wire.FAREWELL_REASON_FINISHED] * 2
        assert len(games.book.records) == 1

    told = tell(tmp_path, story)
    assert (told.faults, told.losses) == ([], [])

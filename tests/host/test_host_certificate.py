"""A host with a certificate of its own: what is refused at the start, what people get, and that a renewed one is in use."""

import logging
import re
import socket
import ssl
from pathlib import Path

import httpx
import pytest

from referee.host import certificate as watched
from referee.host.certificate import CertificateWatch, certificate_of
from referee.host.preparation import site_url
from referee.host.web import server
from referee.league.definition.definition import DefinitionError, load_definition, parse_definition
from tests.host.hosted import HOUSE, definition_text
from tests.host.sites import made_site
from tests.host.test_web_robust import served
from tests.program import PATIENCE, referee
from tests.tls import CERTIFICATE, EXPIRED, OTHER_KEY, write_pair

BOTH = 'certificate = "certificate.pem"\nkey = "key.pem"\n'


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    made = write_pair(tmp_path)
    Path(made[1]).chmod(0o600)
    return made


def test_people_and_programs_come_over_tls_and_their_cookies_too(tmp_path: Path, pair: tuple[str, str]) -> None:
    with served(tmp_path, BOTH) as (plain, _):
        url = plain.replace("http:", "https:")
        trusting = ssl.create_default_context(cafile=pair[0])
        with httpx.Client(base_url=url, verify=trusting, timeout=PATIENCE) as client:
            page = client.get("/login")
            assert page.status_code == 200
            assert page.headers["strict-transport-security"] == "max-age=15552000"
            assert "; Secure" in page.headers["set-cookie"]
            assert client.get("/api/v1/openapi.json").json()["servers"][0]["url"].startswith("https://127.0.0.1:")
        with pytest.raises(httpx.ConnectError):  # nobody else's certificate is trusted
            httpx.get(url, timeout=PATIENCE)
        port = int(url.rpartition(":")[2])
        with socket.create_connection(
            ("127.0.0.1", port), PATIENCE
        ) as talker:  # plain HTTP gets no answer, and harms nobody
            talker.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"HTTP/1.1" not in talker.recv(4096)
        assert httpx.get(f"{url}/healthz", verify=trusting, timeout=PATIENCE).status_code == 200


def test_a_renewed_certificate_is_served_while_the_host_runs(
    tmp_path: Path, pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server, "LOOK_S", 0.01)
    caplog.set_level(logging.INFO, "referee.host.certificate")
    with served(tmp_path, BOTH) as (url, _):
        port = int(url.rpartition(":")[2])
        assert ssl.get_server_certificate(("127.0.0.1", port)) == CERTIFICATE
        Path(pair[0]).write_text(f"issued anew\n{CERTIFICATE}")
        while "the renewed certificate is in use" not in caplog.text:
            assert ssl.get_server_certificate(("127.0.0.1", port)) == CERTIFICATE


def test_what_will_not_do_is_told_before_anything_starts(tmp_path: Path, pair: tuple[str, str]) -> None:
    for name, text in HOUSE.items():
        (tmp_path / f"{name}.py").write_text(text)
    host = f'[host]\naddress = "127.0.0.1:0"\nurl = "https://pitch.example.org"\n{BOTH}'
    (tmp_path / "small.toml").write_text(definition_text(*HOUSE, host=host))
    done = referee(tmp_path, "host", "small.toml", "--sandbox", "none")
    assert done.returncode == 2
    told = " ".join(done.stderr.split())
    assert "small.toml: [host] certificate" in told
    assert "is not for pitch.example.org, but for localhost, 127.0.0.1; get one for pitch.example.org" in told
    assert not (tmp_path / "small.host/host.sqlite").exists()
    definition = load_definition(tmp_path / "small.toml")
    Path(pair[0]).write_text(EXPIRED)
    Path(pair[1]).write_text(OTHER_KEY)
    with pytest.raises(OSError, match=r"small\.toml: \[host\] certificate .*has expired.*renew it"):
        certificate_of(definition, [])
    Path(pair[1]).chmod(0o644)
    with pytest.raises(OSError, match=r"small\.toml: \[host\] key .*everybody on this machine may read this key"):
        certificate_of(definition, [])


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ('certificate = "a.pem"', 'remedy: add key = "FILE.pem"'),
        ('key = "a.pem"', 'remedy: add certificate = "FILE.pem"'),
        (f'url = "http://pitch.example.org"\n{BOTH}', "remedy: write https://, or delete certificate and key"),
        ('certificate = ""\nkey = ""', "certificate"),
    ],
)
def test_both_or_neither_and_only_with_https(host: str, told: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        parse_definition(definition_text("first", host=f"[host]\n{host}\n"))
    assert told in str(caught.value)


def test_links_and_cookies_follow_the_certificate_where_no_url_is_given(tmp_path: Path) -> None:
    definition = parse_definition(definition_text("first", host=f"[host]\n{BOTH}"))
    assert site_url(definition, "0.0.0.0:8400") == "https://127.0.0.1:8400"  # read, not listened at
    with made_site(tmp_path, host=BOTH) as at:
        assert at.site.is_https
        answer = at.get("/login")
        assert "; Secure" in answer.headers["set-cookie"]
    with made_site(tmp_path / "plain") as at:
        answer = at.get("/login")
        assert "; Secure" not in answer.headers["set-cookie"]
        assert "strict-transport-security" not in answer.headers


def test_the_log_says_when_nobody_renews(pair: tuple[str, str], caplog: pytest.LogCaptureFixture) -> None:
    definition = parse_definition(
        definition_text("first", host=f'[host]\ncertificate = "{pair[0]}"\nkey = "{pair[1]}"\n')
    )
    made = certificate_of(definition, ["http/1.1"])
    assert made is not None
    watch, day = CertificateWatch(made), 86_400.0
    said = []
    for before in (30.0, 13.2, 12.9, 12.1, -0.5):
        caplog.clear()
        watch.look(made.expires - before * day)
        said.append(caplog.messages)
    assert said == [
        [],
        ["the certificate of the host expires in 13 days: renew it; it is taken up without a restart"],
        [],
        ["the certificate of the host expires in 12 days: renew it; it is taken up without a restart"],
        ["the certificate of the host has expired, and nobody trusts it: renew it; it is taken up without a restart"],
    ]
    Path(pair[1]).unlink()
    caplog.clear()
    for _ in range(4):
        watch.look(made.expires - 30 * day)
    (told,) = caplog.messages
    assert re.fullmatch(r"the certificate of before stays in use: .*\[host\] key .*there is no such file; .*", told)
    assert caplog.records[0].levelno == logging.WARNING
    assert watched.LOOK_S > 0

"""The certificate of a server that runs for months: for whom it is, whose its key is, and that a renewed one is taken up."""

import os
import ssl
from pathlib import Path

import pytest

from referee.net.listening import ListenError, check_certificate
from referee.net.server_certificate import ServerCertificate
from tests.tls import CERTIFICATE, EXPIRED, KEY, NAMELESS, OTHER_KEY, RENEWED, RENEWED_KEY, write_pair

NAMES = ("x.toml: [host] certificate", "x.toml: [host] key")


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    certificate, key = write_pair(tmp_path)
    Path(key).chmod(0o600)
    return certificate, key


def made(pair: tuple[str, str], host: str = "") -> ServerCertificate:
    return ServerCertificate(*pair, ["http/1.1"], names=NAMES, host=host)


def shown(server: ServerCertificate, host: str | None) -> bytes:
    """What a client that dials that name is shown; ``None``: an address, for which no name is sent."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_mode = ssl.CERT_NONE
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        client.wrap_bio(to_client, to_server, server_hostname=host),
        server.context.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(5):
        for side in sides:
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    found = sides[0].getpeercert(binary_form=True)
    assert found is not None
    return found


@pytest.mark.parametrize("host", ["", "localhost", "127.0.0.1"])
def test_a_certificate_for_that_name_is_fine_and_says_until_when(pair: tuple[str, str], host: str) -> None:
    assert made(pair, host).expires == ssl.cert_time_to_seconds("Nov  5 22:41:22 2126 GMT")


@pytest.mark.parametrize("host", ["pitch.example.org", "127.0.0.2", "::1", "x" * 70 + ".org"])
def test_one_for_another_name_is_refused_with_the_names_that_it_is_for(pair: tuple[str, str], host: str) -> None:
    with pytest.raises(ListenError) as caught:
        made(pair, host)
    told = str(caught.value)
    assert told == f"{NAMES[0]} {pair[0]}: is not for {host}, but for localhost, 127.0.0.1; get one for {host}"


def test_a_common_name_alone_is_no_name(pair: tuple[str, str]) -> None:
    Path(pair[0]).write_text(NAMELESS)
    Path(pair[1]).write_text(OTHER_KEY)
    check_certificate(*pair)
    with pytest.raises(ListenError, match=r"is not for localhost, but for no name at all"):
        made(pair, "localhost")


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        (0o644, "everybody on this machine may read"),
        (0o602, "everybody on this machine may change"),
        (0o620, "its whole group may change"),
        (0o640, ""),
        (0o400, ""),
    ],
)
def test_a_key_is_nobody_elses(pair: tuple[str, str], mode: int, told: str) -> None:
    Path(pair[1]).chmod(mode)
    if not told:
        made(pair)
        return
    with pytest.raises(ListenError) as caught:
        made(pair)
    assert str(caught.value) == f"{NAMES[1]} {pair[1]}: {told} this key; close it: chmod g-w,o= {pair[1]}"


def test_renewed_files_are_in_use_without_a_restart_whatever_kind_their_key_has(pair: tuple[str, str]) -> None:
    server = made(pair)
    old = ssl.PEM_cert_to_DER_cert(CERTIFICATE)
    assert shown(server, "localhost") == shown(server, None) == old
    assert not server.refresh()
    for certificate, key in ((RENEWED, RENEWED_KEY), (NAMELESS, OTHER_KEY), (CERTIFICATE, KEY)):
        before, new = shown(server, None), ssl.PEM_cert_to_DER_cert(certificate)
        Path(pair[0]).write_text(certificate)
        assert not server.refresh()  # somebody may be writing still, and is: the key is that of before
        assert shown(server, None) == before
        Path(pair[1]).write_text(key)
        assert not server.refresh()
        assert server.refresh()
        assert shown(server, "localhost") == shown(server, None) == new
        assert not server.refresh()


def test_files_that_will_not_do_are_told_once_and_the_old_ones_stay(tmp_path: Path, pair: tuple[str, str]) -> None:
    server = made(pair)
    old = shown(server, None)
    live = tmp_path / "live"
    live.mkdir()
    for name, text, told in (("cert", EXPIRED, "has expired"), ("cert", "", "is empty"), ("gone", "", "no such file")):
        Path(pair[0]).unlink(missing_ok=True)
        if name != "gone":
            (live / name).write_text(text)
            Path(pair[0]).symlink_to(live / name)
        if text:
            Path(pair[1]).write_text(OTHER_KEY)
        assert not server.refresh()
        with pytest.raises(ListenError, match=told):
            server.refresh()
        assert not server.refresh()
        assert shown(server, None) == old
    write_pair(tmp_path)
    os.utime(pair[1], ns=(1, 1))
    assert not server.refresh()
    assert server.refresh()
    assert shown(server, None) == old

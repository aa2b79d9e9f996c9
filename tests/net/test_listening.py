"""What is refused before a league begins: addresses that cannot be listened at, certificates that no bot would trust."""

import base64
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from referee.net.listening import ListenError, check_address, check_certificate
from tests.program import without_roots_rights
from tests.tls import (
    CERTIFICATE,
    EXPIRED,
    FOR_CLIENTS,
    KEY,
    LOCKED_KEY,
    LOCKED_OLD_KEY,
    NOT_YET,
    OTHER_KEY,
    write_pair,
)


def refusal(certificate: Path | str, key: Path | str) -> str:
    with pytest.raises(ListenError) as caught:
        check_certificate(str(certificate), str(key))
    said = str(caught.value)
    assert re.match(r"--tls-(cert|key) ", said)
    assert not re.search(r"Errno|\[SSL|_ssl\.c|Traceback|\n", said), said
    return said


def der(pem: str) -> bytes:
    return base64.b64decode("".join(pem.splitlines()[1:-1]))


def test_a_sound_pair_is_fine(tmp_path: Path) -> None:
    check_certificate(*write_pair(tmp_path))


@pytest.mark.parametrize(
    ("certificate", "key", "option", "said"),
    [
        (CERTIFICATE, OTHER_KEY, "key", "is not the key of"),
        (EXPIRED, OTHER_KEY, "cert", "has expired"),
        (NOT_YET, OTHER_KEY, "cert", "is not valid yet"),
        (FOR_CLIENTS, OTHER_KEY, "cert", "is not one for servers"),
        (KEY, CERTIFICATE, "cert", "are the two files exchanged?"),
        (CERTIFICATE, CERTIFICATE, "key", "holds a certificate and no private key"),
        ("", KEY, "cert", "is empty"),
        (CERTIFICATE, " \n", "key", "is empty"),
        ("hello", KEY, "cert", "holds no certificate in PEM form"),
        (CERTIFICATE, "hello", "key", "holds no private key in PEM form"),
        (der(CERTIFICATE), KEY, "cert", "openssl x509 -inform der"),
        (CERTIFICATE, der(KEY), "key", "openssl pkey -inform der"),
        (CERTIFICATE, LOCKED_KEY, "key", "is locked by a passphrase"),
        (CERTIFICATE, LOCKED_OLD_KEY, "key", "is locked by a passphrase"),
        (CERTIFICATE.replace("MII", "MIJ", 1), KEY, "cert", "is damaged"),
        (CERTIFICATE[:200] + "\n-----END CERTIFICATE-----\n", KEY, "cert", "is damaged"),
        (CERTIFICATE, KEY.replace("MIG", "MIH", 1), "key", "is damaged"),
        (CERTIFICATE, KEY[:60] + "\n-----END PRIVATE KEY-----\n", "key", "is damaged"),
        (b"\xff" * 100, KEY, "cert", "holds no certificate"),
        ("x" * (2 << 20), KEY, "cert", "is far too large"),
    ],
)
def test_a_file_that_will_not_do_is_named_with_its_remedy(
    tmp_path: Path, certificate: str | bytes, key: str | bytes, option: str, said: str
) -> None:
    files = {}
    for name, text in (("cert", certificate), ("key", key)):
        files[name] = tmp_path / f"{name}.pem"
        files[name].write_bytes(text if isinstance(text, bytes) else text.encode())
    told = refusal(files["cert"], files["key"])
    assert told.startswith(f"--tls-{option} {files[option]}")
    assert said in told


def test_a_certificate_with_those_above_it_is_fine_and_the_first_one_counts(tmp_path: Path) -> None:
    certificate, key = write_pair(tmp_path)
    Path(certificate).write_text(f"issued for the referee\n{CERTIFICATE}{EXPIRED}")
    check_certificate(certificate, key)
    Path(certificate).write_text(EXPIRED + CERTIFICATE)
    assert "is not the key of" in refusal(certificate, key)


def test_what_is_no_readable_file_is_named(tmp_path: Path) -> None:
    certificate, key = write_pair(tmp_path)
    assert "there is no such file" in refusal(tmp_path / "none.pem", key)
    assert "there is no such file" in refusal(certificate, tmp_path / "none.pem")
    assert "is a folder" in refusal(tmp_path, key)
    assert "is a folder" in refusal(certificate, tmp_path)
    assert re.search("there is no such file|cannot be read", refusal("a\0b", key))
    (tmp_path / "loop.pem").symlink_to(tmp_path / "loop.pem")
    assert re.search("there is no such file|cannot be read", refusal(tmp_path / "loop.pem", key))
    os.mkfifo(tmp_path / "pipe.pem")
    assert "no file that can be read twice" in refusal(tmp_path / "pipe.pem", key)


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    certificate, key = write_pair(tmp_path)
    Path(key).chmod(0)
    asked = "import sys; from referee.net.listening import check_certificate as check; check(*sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", asked, certificate, key],
        preexec_fn=without_roots_rights,
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"ListenError: --tls-key {key}: this user may not read it; look at its rights" in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "write HOST:PORT"),
        ("7400", "write HOST:PORT"),
        (":7400", "write HOST:PORT"),
        ("localhost:", "write HOST:PORT"),
        ("localhost:x", "x is not a port"),
        ("localhost:-1", "-1 is not a port"),
        ("localhost:٣", "is not a port"),
        ("localhost:65536", "a port is a number from 1 to 65535"),
        ("localhost:" + "9" * 5000, "a port is a number from 1 to 65535"),
        ("::1:7400", "in brackets"),
        ("unix:/run/a.sock", "that is a file"),
        ("/run/a.sock", "that is a file"),
        ("local host:7400", "is not the name of a machine"),
        ("http://localhost:7400", "is not the name of a machine"),
        ("x" * 300 + ":7400", "is not the name of a machine"),
        ("a..b:7400", "no machine is known by the name"),
        ("no-such-machine.invalid:7400", "no machine is known by the name"),
        ("192.0.2.1:7400", "is not an address of this machine"),
        ("\x1b[31mred:7400", "is not the name of a machine"),
    ],
)
def test_an_address_that_cannot_be_had_is_refused_with_the_remedy(text: str, said: str) -> None:
    with pytest.raises(ListenError) as caught:
        check_address(text)
    assert said in str(caught.value)
    assert str(caught.value).startswith("--listen")
    assert re.fullmatch(r"[\x20-\x7e\u0660-\u0669]+", str(caught.value))
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("text", "host"), [("127.0.0.1:0", "127.0.0.1"), ("localhost:0", "localhost"), ("[::1]:0", "::1")]
)
def test_an_address_of_this_machine_is_fine(text: str, host: str) -> None:
    try:
        assert check_address(text) == (host, 0)
    except ListenError:
        assert host == "::1"  # not every machine has IPv6
        assert not socket.has_ipv6 or not Path("/proc/net/if_inet6").read_text()


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ListenError, match=f"something listens at port {port} already"):
            check_address(f"127.0.0.1:{port}")

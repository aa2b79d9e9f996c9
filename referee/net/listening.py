"""Where others dial in, and the certificate that they trust: looked at before a league or a host begins.

Whatever is wrong is told in one sentence that names the option, the file and the remedy, as long as nothing was promised to
anybody: no commitment is printed, no store made.
"""

import errno
import os
import re
import socket
import ssl
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

LARGEST_PORT: Final = 65535
LARGEST_FILE: Final = 1 << 20
_LARGEST_NAME: Final = 253
_EXPIRED, _NOT_YET, _WRONG_PURPOSE = 10, 9, 26
_SECRET = re.compile(r"-----BEGIN ([A-Z0-9 ]*)PRIVATE KEY-----")
_MADE_BY: Final = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj /CN=HOST "
    "-addext subjectAltName=DNS:HOST -addext basicConstraints=critical,CA:FALSE -keyout key.pem -out cert.pem"
)


class ListenError(OSError):
    """An address that cannot be listened at, or a certificate that nobody can trust. The message has the remedy."""


def check_address(text: str, option: str = "--listen") -> tuple[str, int]:
    """The host and the port of ``HOST:PORT``, which can be listened at now; port 0 lets the system choose one.

    ``option``: what an error calls it. Raises ``ListenError``.
    """
    host, port = _parts(text, option)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        remedy = "write a name or number of this machine, or 0.0.0.0 for all of them"
        raise ListenError(
            f"{option} {_shown(text, 80)}: no machine is known by the name {_shown(host, 80)}; {remedy}"
        ) from None
    for family, kind, protocol, _, where in dict.fromkeys(found):
        with suppress(_NoSuchFamily), _socket(family, kind, protocol) as one:
            try:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                one.bind(where)
                one.listen(1)
            except OSError as error:
                raise ListenError(f"{option} {_shown(text, 80)}: {_why(error, host, port)}") from None
    return host, port


class _NoSuchFamily(Exception):
    """This machine does not speak that family of addresses."""


def _socket(family: int, kind: int, protocol: int) -> socket.socket:
    try:
        return socket.socket(family, kind, protocol)
    except OSError as error:
        if error.errno == errno.EAFNOSUPPORT:
            raise _NoSuchFamily from None
        raise


def _parts(text: str, option: str) -> tuple[str, int]:
    example = "write HOST:PORT, such as 127.0.0.1:7400"
    if text.startswith(("unix:", "/", ".")):
        raise ListenError(
            f"{option} {_shown(text, 80)}: that is a file, and remote bots dial in over the network; {example}"
        )
    host, sign, port = text.rpartition(":")
    if not sign or not host or not port:
        raise ListenError(f"{option} {_shown(text, 80)}: {example}")
    if not (port.isascii() and port.isdigit()):
        raise ListenError(f"{option} {_shown(text, 80)}: {_shown(port, 20)} is not a port; {example}")
    if len(port) > 5 or int(port) > LARGEST_PORT:
        raise ListenError(
            f"{option} {_shown(text, 80)}: a port is a number from 1 to {LARGEST_PORT}; 0 lets the system choose"
        )
    if host.startswith("[") and host.endswith("]"):
        return host[1:-1], int(port)
    if re.fullmatch(r"[0-9a-fA-F:.%]*:[0-9a-fA-F:.%]*", host):
        raise ListenError(f"{option} {_shown(text, 80)}: put an IPv6 address in brackets, as in [::1]:7400")
    if len(host) > _LARGEST_NAME or not re.fullmatch(r"[\w.-]+", host):
        raise ListenError(f"{option} {_shown(text, 80)}: {_shown(host, 80)} is not the name of a machine; {example}")
    return host, int(port)


def _why(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"something listens at port {port} already; end it (ss -ltnp shows it), or choose another port"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{_shown(host, 80)} is not an address of this machine; ip addr shows those that are, 0.0.0.0 means all of them"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"this user may not listen at port {port}; choose one above 1023"
    return f"it cannot be listened at ({error.strerror})"


def _shown(text: str, most: int = 250) -> str:
    clean = "".join(char if char.isprintable() else "?" for char in text)
    return clean if len(clean) <= most else f"{clean[: most - 3]}..."


def check_certificate(
    certificate: str, key: str, names: tuple[str, str] = ("--tls-cert", "--tls-key"), host: str = ""
) -> float:
    """Whether clients can connect with this certificate and its key, two files in PEM form; raises ``ListenError``.

    They are there, readable and sound, they belong together, the certificate is valid today and is one for servers, and if a
    ``host`` is given, for that one. Returns until when it is valid, in seconds since 1970. ``names``: what errors call the two.
    """
    told, secret = f"{names[0]} {_shown(certificate)}", f"{names[1]} {_shown(key)}"
    text = _read(certificate, told, "the certificate")
    if "-----BEGIN CERTIFICATE-----" not in text:
        if _SECRET.search(text):
            raise ListenError(f"{told}: holds a private key and no certificate; are the two files exchanged?")
        raise ListenError(f"{told}: holds no certificate in PEM form; {_as_pem(certificate, 'x509', 'cert')}")
    words = _read(key, secret, "its private key")
    found = _SECRET.search(words)
    if found is None:
        if "-----BEGIN CERTIFICATE-----" in words:
            raise ListenError(f"{secret}: holds a certificate and no private key; name the file of its key")
        raise ListenError(f"{secret}: holds no private key in PEM form; {_as_pem(key, 'pkey', 'key')}")
    if "ENCRYPTED" in found[1] or "Proc-Type: 4,ENCRYPTED" in words:
        remedy = f"write it without: openssl pkey -in {_shown(key)} -out open.pem"
        raise ListenError(f"{secret}: is locked by a passphrase, and nobody is there to type it; {remedy}")
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        trusting.load_verify_locations(certificate)
    except ssl.SSLError:
        raise ListenError(f"{told}: is damaged: what stands between BEGIN and END is not a certificate") from None
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        serving.load_cert_chain(certificate, key)
    except ssl.SSLError as error:
        raise ListenError(_refusal(error, told, secret)) from None
    shown = _shake_hands(serving, trusting, told, _shown(certificate))
    if host:
        _check_host(serving, trusting, told, shown, host)
    return float(ssl.cert_time_to_seconds(str(shown["notAfter"])))


def check_private(key: str, name: str = "--tls-key") -> None:
    """Whether a key is nobody else's to read or change; raises ``ListenError``. Its group may read it."""
    try:
        mode = Path(key).stat().st_mode
    except (OSError, ValueError):
        return  # told by whoever reads it
    if mode & 0o027:
        who = "everybody on this machine" if mode & 0o007 else "its whole group"
        what = "read" if mode & 0o004 else "change" if mode & 0o022 else "use"
        raise ListenError(f"{name} {_shown(key)}: {who} may {what} this key; close it: chmod g-w,o= {_shown(key)}")


def _check_host(serving: ssl.SSLContext, trusting: ssl.SSLContext, told: str, shown: dict[str, Any], host: str) -> None:
    """One more handshake, of a client that looks at the name as browsers do."""
    trusting.hostname_checks_common_name = False
    trusting.check_hostname = True
    names = [str(value) for kind, value in shown.get("subjectAltName", ()) if kind in ("DNS", "IP Address")]
    try:
        _shake_hands(serving, trusting, told, "", host)
    except (ListenError, ValueError):
        found = _shown(", ".join(names), 200) if names else "no name at all (subjectAltName is what counts)"
        raise ListenError(f"{told}: is not for {host}, but for {found}; get one for {host}") from None


def _read(file: str, told: str, what: str) -> str:
    remedy = f"give {what}, a file in PEM form"
    path = Path(file)
    try:
        wrong = _wrong_with(path)
        data = b"" if wrong else path.read_bytes()
    except PermissionError:
        remedy = f"look at its rights: ls -l {_shown(os.path.abspath(file))}"  # noqa: PTH100  # no link is followed
        raise ListenError(f"{told}: this user may not read it; {remedy}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "that is no name of a file"
        raise ListenError(f"{told}: cannot be read ({reason}); {remedy}") from None
    if wrong:
        raise ListenError(f"{told}: {wrong}; {remedy}")
    if not data.strip():
        raise ListenError(f"{told}: is empty; {remedy}, or make both: {_MADE_BY}")
    return data.decode("latin-1")


def _wrong_with(path: Path) -> str:
    """Why a path is none of a certificate or a key; empty if it may be. Raises ``OSError`` and ``ValueError``."""
    if path.is_dir():
        return "is a folder"
    if not path.exists():
        return f"there is no such file; make both, if you have none, by: {_MADE_BY}"
    if not path.is_file():
        return "is no file that can be read twice"
    return "is far too large for a certificate or a key" if path.stat().st_size > LARGEST_FILE else ""


def _as_pem(file: str, command: str, name: str) -> str:
    return f"a file in DER form is changed by: openssl {command} -inform der -in {_shown(file)} -out {name}.pem"


def _refusal(error: ssl.SSLError, told: str, secret: str) -> str:
    reason = error.reason or ""
    if "MISMATCH" in reason:
        return f"{secret}: is not the key of {told}; give the two that were made together"
    if "TOO_SMALL" in reason or "TOO_WEAK" in reason:
        return f"{told}: its key or its signature is too weak for today's TLS; make a new one: {_MADE_BY}"
    return f"{secret}: is damaged: what stands between BEGIN and END is not a private key"


def _shake_hands(
    serving: ssl.SSLContext, trusting: ssl.SSLContext, told: str, file: str, host: str | None = None
) -> dict[str, Any]:
    """One handshake in memory, with a client that trusts this certificate and nothing else; what the client then knows of it."""
    if host is None:
        trusting.check_hostname = False
    trusting.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = serving.wrap_bio(to_server, to_client, server_side=True)
    client = trusting.wrap_bio(to_client, to_server, server_hostname=host)
    done: set[ssl.SSLObject] = set()
    try:
        for _ in range(10):
            for side in (client, server):
                with suppress(ssl.SSLWantReadError):
                    side.do_handshake()
                    done.add(side)
            if len(done) == 2:
                return dict(client.getpeercert() or {})
    except ssl.SSLCertVerificationError as error:
        raise ListenError(f"{told}: {_distrust(error, file)}") from None
    except ssl.SSLError as error:
        reason = (error.reason or "no reason given").lower().replace("_", " ")
        raise ListenError(f"{told}: no connection can be made with it ({reason}); make a new one: {_MADE_BY}") from None
    raise ListenError(f"{told}: no connection can be made with it; make a new one: {_MADE_BY}")


def _distrust(error: ssl.SSLCertVerificationError, file: str) -> str:
    dates = f"openssl x509 -noout -dates -in {file}"
    if error.verify_code == _EXPIRED:
        return f"has expired, so that nobody would trust it (see {dates}); renew it"
    if error.verify_code == _NOT_YET:
        return f"is not valid yet, so that nobody would trust it (see {dates}); or is this machine's clock wrong?"
    if error.verify_code == _WRONG_PURPOSE:
        return "is not one for servers (its extended key usage); make one with serverAuth, or without that extension"
    return f"nobody would trust it ({error.verify_message}); make a new one: {_MADE_BY}"


def server_credentials(tls: tuple[str, str] | None) -> ssl.SSLContext | None:
    """What a server needs for TLS, from the files of its certificate and key; raises ``ListenError`` naming the file."""
    if tls is None:
        return None
    check_certificate(*tls)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["h2"])
    context.load_cert_chain(*tls)
    return context

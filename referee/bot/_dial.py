"""Finding the referee, dialling it, and dialling it again: what ``referee.bot.run`` does around a session."""

import os
import socket
import sys
import time
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from referee.bot._output import MARK
from referee.bot._receipts import receipts_for
from referee.bot._session import BotClient, BotError, BotHooks, Choose, NoAnswer
from referee.bot._stream import INVALID_ARGUMENT, PERMISSION_DENIED, UNAUTHENTICATED, UNIMPLEMENTED, StreamError
from referee.protocol import wire

if TYPE_CHECKING:
    from referee.bot._grpc_stream import GrpcStream
    from referee.bot._unix_stream import UnixStream

HELP: Final = """\
This is a bot: it plays when a referee starts it. Try

    referee play {script} careful

A bot that dials in from elsewhere finds its referee by the environment variables REFEREE_ADDRESS (such as
tls:example.org:7777) and REFEREE_TOKEN."""

_LOST_FOR_GOOD: Final = {
    UNAUTHENTICATED: "the referee does not know this token: look at REFEREE_TOKEN",
    PERMISSION_DENIED: "this token may not join here: look at REFEREE_TOKEN",
    UNIMPLEMENTED: "what answers there is no referee of allfours.v1: look at REFEREE_ADDRESS",
    INVALID_ARGUMENT: "the referee does not understand this bot: install the same version of Referee",
}
_LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
_OURS: Final = __file__.removesuffix("dial.py")


class AddressError(ValueError):
    """An address or a certificate that names no way to a referee; the message says how to write one."""


class Patience(NamedTuple):
    """How a lost connection is dialled again, all in seconds: for how long, and the pause between two attempts.

    The pause grows from ``first_s`` to ``most_s``; after a connection that held for ``calm_s`` it is short again.
    """

    grace_s: float = 30.0
    first_s: float = 0.25
    most_s: float = 4.0
    calm_s: float = 30.0


Metadata: TypeAlias = tuple[tuple[str, str], ...]


class Address(NamedTuple):
    """Where the referee is: as it was written, as gRPC writes it, whether over a network, whether encrypted."""

    text: str
    target: str
    remote: bool
    tls: bool


def read_address(text: str) -> Address:
    """The address written as ``unix:/path``, ``tcp:host:port`` or ``tls:host:port``; raises ``AddressError``."""
    scheme, _, rest = text.partition(":")
    host, _, port = rest.rpartition(":")
    if scheme == "unix" and rest:
        return Address(text, text, remote=False, tls=False)
    if scheme in ("tcp", "tls") and host and port.isdigit():
        return Address(text, f"dns:///{rest}", remote=True, tls=scheme == "tls")
    raise AddressError(
        f"REFEREE_ADDRESS: {text!r} is not an address: write unix:/path/to/socket, tcp:host:port or tls:host:port"
    )


def open_stream(address: Address, authority: bytes | None, metadata: Metadata) -> "UnixStream | GrpcStream":
    """A stream to the referee, to be used in a ``with``. On the same machine, it needs no library of gRPC, which takes longer to
    load than the rest of a bot, but h2; where that is not installed, gRPC does it. Raises ``StreamError``.
    """
    if not address.remote and hasattr(socket, "AF_UNIX"):
        try:
            from referee.bot._unix_stream import UnixStream, connect
        except ModuleNotFoundError:  # in an environment of the bot's own
            pass
        else:
            return UnixStream(connect(address.target.removeprefix("unix:").removeprefix("//")), metadata)
    from referee.bot._grpc_stream import open_grpc_stream

    nearby = not address.remote or address.target.removeprefix("dns:///").rpartition(":")[0] in _LOOPBACK
    return open_grpc_stream(
        address.target, metadata, remote=address.remote, proxy=not nearby, tls=address.tls, authority=authority
    )


def serve(
    bot: BotHooks,
    choose: Choose,
    environ: Mapping[str, str] = os.environ,
    patience: Patience | None = None,
    receipts: str | None = None,
) -> int:
    """Runs the bot to its end; the exit code (see ``referee.bot.run``). ``choose`` is the bot's own, or a function."""
    if not environ.get("REFEREE_ADDRESS"):
        _say(HELP.format(script=os.path.relpath(sys.argv[0] or "mybot.py")))
        return 2
    try:
        address = read_address(environ["REFEREE_ADDRESS"])
        authority = _authority(environ.get("REFEREE_CA"))
    except AddressError as error:
        _say(str(error))
        return 2
    metadata = (("authorization", f"Bearer {environ.get('REFEREE_TOKEN', '')}"),)
    session = BotClient(bot, choose, receipts_for(receipts, environ, remote=address.remote))
    try:
        farewell = _dial(session, address, authority, metadata, patience or Patience())
    except BotError as error:
        _show(error)
        return 1
    finally:
        session.close()
    if farewell is None:
        return 1
    if farewell.reason not in (wire.FAREWELL_REASON_FINISHED, wire.FAREWELL_REASON_STOPPING) and farewell.sentence:
        _say(f"{MARK}the referee says farewell: {farewell.sentence}")
    return 0


def _authority(path: str | None) -> bytes | None:
    """The certificates in the file that REFEREE_CA names, None if it names none."""
    if not path:
        return None
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # pathlib would cost every bot a part of its start
            return file.read()
    except OSError as error:
        remedy = "name a PEM file with the certificate of the referee or its authority"
        raise AddressError(f"REFEREE_CA: {path}: {error.strerror}: {remedy}") from error


def _dial(
    session: BotClient, address: Address, authority: bytes | None, metadata: Metadata, patience: Patience
) -> wire.Farewell | None:
    """Plays, dialling a remote referee again while patience lasts; None when it is lost for good."""
    pause, give_up = patience.first_s, 0.0
    while True:
        began = time.monotonic()
        try:
            with open_stream(address, authority, metadata) as stream:
                return session.play(stream)
        except StreamError as error:
            now = time.monotonic()
            if session.heard:
                give_up = now + patience.grace_s
                pause = patience.first_s if now - began > patience.calm_s else pause
            if error.code in _LOST_FOR_GOOD or not address.remote or now + pause > give_up:
                _say(MARK + _loss(address, error, met=give_up > 0))
                return None
            _say(f"{MARK}the connection to {address.text} is lost; dialling again in {pause:g} s")
        time.sleep(pause)
        pause = min(pause * 2, patience.most_s)


def _loss(address: Address, error: StreamError, met: bool) -> str:
    """One sentence for the author: what happened to the connection, and what to look at."""
    if not error.code:
        return f"the referee at {address.text} has ended the stream without a farewell"
    if error.code in _LOST_FOR_GOOD:
        return f"{address.text}: {_LOST_FOR_GOOD[error.code]}"
    if met:
        return f"the referee at {address.text} is gone: {error.details}"
    return f"cannot reach a referee at {address.text}: {error.details}. Is it running, and is REFEREE_ADDRESS right?"


def _show(error: BotError) -> None:
    """Prints what the bot did wrong and where: its own traceback, without our frames above it."""
    cause = error.__cause__
    _say(f"the bot has failed in {error.where}")
    if cause is None or isinstance(cause, NoAnswer):
        _say(str(cause))
        return
    trace = cause.__traceback__
    while trace and trace.tb_next and trace.tb_frame.f_code.co_filename.startswith(_OURS):
        trace = trace.tb_next
    traceback.print_exception(type(cause), cause, trace)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

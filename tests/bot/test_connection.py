"""The SDK of a bot: how it dials in, loses its stream, dials again; and bots as whole processes."""

import doctest
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Event as Flag
from typing import Any, Final

import grpc
import pytest

from referee.bot import Bot, Turn, wire
from referee.bot import _cards as bot_cards
from referee.bot import _random as chance
from referee.bot import _session as session
from referee.bot import _turn as bot_turn
from referee.bot._dial import Address, AddressError, Patience, open_stream, read_address, serve
from referee.bot._stream import StreamError
from tests.program import PATIENCE
from tests.sdk import FAREWELL, ROOT, SHORT, Script, Scripted, lowest, one_batch, play, play_turn, referee
from tests.tls import CERTIFICATE

# The connection


def break_off(referee: Scripted) -> Iterator[wire.PlayResponse]:
    """Asks one turn, and breaks the stream before it is answered."""
    yield wire.PlayResponse(turns=[play_turn(7)])
    referee.context.abort(grpc.StatusCode.UNAVAILABLE, "the cable was cut")


def end_without_farewell(referee: Scripted) -> Iterator[wire.PlayResponse]:
    yield wire.PlayResponse(joined=wire.Joined())


def test_a_local_bot_ends_when_its_referee_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    code, scripted = play(break_off)
    assert (code, len(scripted.joins)) == (1, 1)
    assert "is gone: the cable was cut" in capsys.readouterr().err


def test_a_stream_that_ends_without_farewell_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = play(end_without_farewell)
    assert code == 1
    assert "has ended the stream without a farewell" in capsys.readouterr().err


@pytest.mark.parametrize("first", [break_off, end_without_farewell])
def test_a_remote_bot_dials_again_and_answers_the_same_turn(first: Script, capsys: pytest.CaptureFixture[str]) -> None:
    with referee(first, one_batch(play_turn(7)), scheme="tcp") as (scripted, environ):
        code = serve(Bot(), lowest, environ, SHORT)
    assert code == 0
    assert len(scripted.joins) == 2
    assert scripted.answers == [wire.Move(turn_id=7, card=wire.CARD_2C)]  # type: ignore[attr-defined]
    assert "is lost; dialling again in 0.01 s" in capsys.readouterr().err


def test_a_remote_bot_gives_up_in_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    def close(scripted: Scripted) -> Iterator[wire.PlayResponse]:
        yield wire.PlayResponse(joined=wire.Joined())
        stopped.put(None)
        scripted.gone.wait(PATIENCE)

    stopped: SimpleQueue[None] = SimpleQueue()
    with ThreadPoolExecutor(1) as pool:
        with referee(close, scheme="tcp") as (_, environ):
            bot = pool.submit(serve, Bot(), lowest, environ, Patience(grace_s=0.3, first_s=0.05, most_s=0.1))
            stopped.get()
        assert bot.result() == 1
    err = capsys.readouterr().err
    assert "dialling again in 0.05 s" in err
    assert "dialling again in 0.1 s" in err
    assert "is gone:" in err.splitlines()[-1]


@pytest.mark.parametrize("scheme", ["unix", "tcp"])
def test_answers_are_not_worked_out_for_a_referee_that_is_gone(scheme: str) -> None:
    asked: list[int] = []

    def choose(turn: Turn) -> Any:
        asked.append(turn.message.turn_id)
        if len(asked) == 2:
            scripted.context.cancel()
            assert scripted.gone.wait(PATIENCE)
            for _ in range(1000):  # the bot's side hears of it a little later
                if not streams[0].is_active():
                    break
                Flag().wait(0.01)
        return turn.legal[0]

    class Monitored(session.BotClient):
        def _answer(self, turns: Any, batch: Any, stream: Any) -> None:
            streams.append(stream)
            super()._answer(turns, batch, stream)

    streams: list[Any] = []
    with (
        referee(one_batch(*(play_turn(number) for number in range(1, 9))), scheme=scheme) as (scripted, environ),
        open_stream(read_address(environ["REFEREE_ADDRESS"]), None, ()) as stream,
        pytest.raises(StreamError),
    ):
        Monitored(Bot(), choose).play(stream)
    assert asked == [1, 2]


def test_a_wrong_token_is_not_tried_again(capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(referee: Scripted) -> Iterator[wire.PlayResponse]:
        referee.context.abort(grpc.StatusCode.UNAUTHENTICATED, "no such token")
        yield FAREWELL

    with referee(end_without_farewell, refuse, scheme="tcp") as (scripted, environ):
        assert serve(Bot(), lowest, environ, SHORT) == 1
    assert len(scripted.joins) == 2
    assert "does not know this token: look at REFEREE_TOKEN" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["unix:/nowhere/at/all", "tcp:127.0.0.1:1"])
def test_a_referee_that_cannot_be_reached_is_told_of_once(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert serve(Bot(), lowest, {"REFEREE_ADDRESS": address}, SHORT) == 1
    err = capsys.readouterr().err
    assert f"cannot reach a referee at {address}" in err
    assert "dialling again" not in err


def test_tls_trusts_the_certificate_that_referee_ca_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    authority = tmp_path / "ca.pem"
    authority.write_text(CERTIFICATE)
    with referee(one_batch(play_turn(7)), scheme="tls") as (scripted, environ):
        assert serve(Bot(), lowest, environ, SHORT) == 1
        assert not scripted.joins
        assert serve(Bot(), lowest, environ | {"REFEREE_CA": str(authority)}, SHORT) == 0
    assert scripted.tokens == ["Bearer a-token"]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("unix:/a/b", Address("unix:/a/b", "unix:/a/b", remote=False, tls=False)),
        ("tcp:[::1]:80", Address("tcp:[::1]:80", "dns:///[::1]:80", remote=True, tls=False)),
        ("tls:example.org:7777", Address("tls:example.org:7777", "dns:///example.org:7777", remote=True, tls=True)),
    ],
)
def test_addresses(text: str, address: Address) -> None:
    assert read_address(text) == address


@pytest.mark.parametrize("text", ["localhost:80", "tcp:localhost", "tcp::80", "unix:", "http://x:80", "tls:x:y"])
def test_what_is_no_address_is_refused_with_the_remedy(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(AddressError, match="write unix:/path/to/socket, tcp:host:port or tls:host:port"):
        read_address(text)
    assert serve(Bot(), lowest, {"REFEREE_ADDRESS": text}) == 2
    assert "is not an address" in capsys.readouterr().err


def test_a_certificate_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    environ = {"REFEREE_ADDRESS": "tls:localhost:1", "REFEREE_CA": "nowhere.pem"}
    assert serve(Bot(), lowest, environ) == 2
    assert "REFEREE_CA: nowhere.pem: No such file or directory" in capsys.readouterr().err


# Whole processes

HELLO: Final = """
from referee.bot import Bot, run

class RandomBot(Bot):
    def choose(self, turn):
        return turn.rng.choice(turn.legal)

run(RandomBot())
"""

BLOCKED: Final = """
import sys

ALLOWED = {"referee", "grpc", "google", "typing_extensions", "h2", "hpack", "hyperframe", *sys.stdlib_module_names}
PARTS = ("referee.bot", "referee._bot_", "referee.protocol")

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in ALLOWED or name.startswith("referee.") and not name.startswith(PARTS):
            raise ImportError(f"{name} is not for bots")

sys.meta_path.insert(0, Block())
"""


@contextmanager
def process(code: str, environ: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A bot of this text in a process of its own."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith("REFEREE_")}
    command = [sys.executable, "-W", "error", "-c", code]
    with subprocess.Popen(command, cwd=ROOT, env=plain | environ, text=True, stderr=subprocess.PIPE) as bot:
        try:
            yield bot
        finally:
            if bot.poll() is None:
                bot.kill()


def test_the_ten_line_bot_plays_and_exits_with_0_with_nothing_else_to_import() -> None:
    turns = [play_turn(number, bot_seed=number) for number in range(1, 9)]
    with (
        referee(one_batch(*turns)) as (scripted, environ),
        process(BLOCKED + HELLO, environ) as bot,
    ):
        _, err = bot.communicate()
        assert (bot.returncode, err) == (0, "")
    assert [move.turn_id for move in scripted.answers] == list(range(1, 9))  # type: ignore[attr-defined]


def test_a_plain_function_is_a_bot_too() -> None:
    code = "from referee.bot import run\nrun(lambda turn: turn.legal[-1])"
    with referee(one_batch(play_turn(4))) as (scripted, environ), process(code, environ) as bot:
        bot.communicate()
        assert bot.returncode == 0
    assert scripted.answers == [wire.Move(turn_id=4, card=wire.CARD_AS)]  # type: ignore[attr-defined]


def test_ctrl_c_ends_a_bot_without_a_traceback() -> None:
    def wait(scripted: Scripted) -> Iterator[wire.PlayResponse]:
        yield wire.PlayResponse(joined=wire.Joined())
        here.put(None)
        scripted.gone.wait(PATIENCE)

    here: SimpleQueue[None] = SimpleQueue()
    with referee(wait) as (_, environ), process(HELLO, environ) as bot:
        here.get()
        bot.send_signal(signal.SIGINT)
        _, err = bot.communicate()
        assert (bot.returncode, err) == (130, "")


def test_without_a_referee_a_bot_says_how_to_start_one() -> None:
    with process(HELLO, {}) as bot:
        _, err = bot.communicate()
        assert bot.returncode == 2
    assert "This is a bot" in err
    assert "referee play" in err


def test_importing_the_sdk_does_not_load_grpc() -> None:
    with process("import referee.bot, sys\nsys.exit('grpc' in sys.modules)", {}) as bot:
        _, err = bot.communicate()
        assert (bot.returncode, err) == (0, "")


def test_a_local_bot_loads_no_more_than_it_needs() -> None:
    """Each of these takes longer to load than the rest of a bot; leagues start thousands."""
    heavy = ("grpc", "asyncio", "concurrent.futures", "ssl")
    code = (
        f"import sys\nfrom referee.bot import run\n"
        f"def choose(turn):\n"
        f"    print([name for name in {heavy} if name in sys.modules], file=sys.stderr)\n"
        f"    return turn.legal[0]\n"
        f"run(choose)"
    )
    with referee(one_batch(play_turn(4))) as (_, environ), process(code, environ) as bot:
        _, err = bot.communicate()
        assert (bot.returncode, err) == (0, "[]\n")


@pytest.mark.parametrize("missing", ["h2", "hpack"])
def test_without_h2_a_local_bot_plays_by_grpc(missing: str) -> None:
    """As in a virtual environment of its own that has grpcio and protobuf alone."""
    code = (
        f"import sys\nsys.modules[{missing!r}] = None\nfrom referee.bot import run\n"
        f"def choose(turn):\n"
        f"    print('grpc' in sys.modules, file=sys.stderr)\n"
        f"    return turn.legal[0]\n"
        f"run(choose)"
    )
    with referee(one_batch(play_turn(4))) as (_, environ), process(code, environ) as bot:
        _, err = bot.communicate()
        assert (bot.returncode, err) == (0, "True\n")


@pytest.mark.parametrize("module", [bot_cards, bot_turn, chance], ids=lambda module: module.__name__)
def test_the_examples_of_the_docstrings_hold(module: Any) -> None:
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed

"""Remote bots: started by hand with the address and token that the referee prints; away and back; gone for good."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from referee.league.definition.definition import load_definition
from referee.league.entrants.roster import enter
from referee.league.league import begin, plan_of, read_league
from referee.league.play import runner
from referee.league.play.runner import Runner, RunOutcome
from referee.league.store import Store
from referee.net import supervisor
from referee.net.supervisor import RemoteSupervisor
from referee.verification.verify import verify
from tests.chaos import ROOT
from tests.program import PATIENCE, REFEREE
from tests.tls import EXPIRED, OTHER_KEY, write_pair

ANY: Final = "from referee.bot import run\nrun(lambda turn: turn.rng.choice(turn.legal))\n"

COMES_BACK: Final = """
import raw

answers = 0

def answer(turn):
    global answers
    answers += 1
    return raw.first_choice(turn)

with raw.dial() as (stream, out):
    raw.answer_all(stream, out, answer, until=lambda: answers >= 5)
print("away", flush=True)
raw.play()
print("farewell", flush=True)
"""


def definition(
    folder: Path, *, sets: int = 4, wait: str = "60s", variant: str = "auction-pitch", in_flight: int = 64
) -> Path:
    """A league of two local bots and a remote one (or of two sides), plain deals."""
    (folder / "any.py").write_text(ANY)
    sides = variant == "partnership-pitch"
    local = '[[bots]]\npath = "any.py"\n' + ("" if sides else "copies = 2\n")
    text = f"""
[tournament]
name = "Remote"
variant = "{variant}"
seats = {4 if sides else 3}
[rules]
max_deals = 3
[schedule]
sets = {sets}
duplicate = false
[limits]
move_ms = 60000
max_in_flight = {in_flight}
{local}
[[bots]]
name = "far"
remote = true
wait = "{wait}"
"""
    path = folder / "remote.toml"
    path.write_text(text)
    return path


class ResourceMonitor:
    """A listener that starts remote bots as they are expected, and keeps what it is told."""

    def __init__(self, program: str, restart: bool = False) -> None:
        self.program, self.restart = program, restart
        self.bots: list[subprocess.Popen[str]] = []
        self.expected: list[tuple[str, str, str]] = []
        self.told: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *what: self.told.append((name, *what))

    def remote(self, entrant: str, address: str, token: str) -> None:
        self.expected.append((entrant, address, token))
        if self.program:
            self.start(address, token)

    def start(self, address: str, token: str, **more: str) -> None:
        paths = f"{ROOT}{os.pathsep}{ROOT / 'tests' / 'badbots'}"
        environment = os.environ | {"REFEREE_ADDRESS": address, "REFEREE_TOKEN": token, "PYTHONPATH": paths} | more
        argv = [sys.executable, "-c", self.program]
        self.bots.append(
            subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        )

    def of(self, name: str) -> list[tuple[Any, ...]]:
        return [what for told, *what in self.told if told == name]  # type: ignore[misc]

    def ends(self) -> list[int]:
        """The exit codes of the bots, which end by themselves."""
        for bot in self.bots:
            bot.communicate(timeout=PATIENCE)
        return [bot.returncode for bot in self.bots]


@pytest.fixture
def watches() -> Iterator[list[ResourceMonitor]]:
    made: list[ResourceMonitor] = []
    yield made
    for bot in (bot for watch in made for bot in watch.bots):
        bot.kill()
        bot.communicate()


def play(folder: Path, file: Path, watch: ResourceMonitor) -> tuple[RunOutcome, Path]:
    """Plays the league in this process, at a port of 127.0.0.1 that the system chooses."""
    wanted = load_definition(file)
    store = folder / "remote.sqlite"
    tokens = {"far": "a-token-for-far"}
    begin(wanted, enter(wanted), store, "none", tokens)
    with Store.write(store) as opened:
        league = read_league(opened)
        terms = plan_of(league, folder / "logs", "none", "tcp:127.0.0.1:0")
        return Runner(opened, league, terms, watch).run(), store


def test_one_remote_bot_stays_from_leg_to_leg_and_stage_to_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watches: list[ResourceMonitor]
) -> None:
    monkeypatch.setattr(runner, "MOST_SETS", 1)
    watch = ResourceMonitor(ANY)
    watches.append(watch)
    outcome, _ = play(tmp_path, definition(tmp_path, sets=5), watch)
    assert outcome == RunOutcome(True, 5, 0, 0)
    ((entrant, address, token),) = watch.expected
    assert (entrant, token) == ("far", "a-token-for-far")
    assert re.fullmatch(r"tcp:127\.0\.0\.1:[1-9]\d*", address)
    assert watch.ends() == [0]
    assert not watch.of("fault")


def test_a_remote_bot_keeps_a_receipt_of_each_game_and_the_league_is_held_to_them(
    tmp_path: Path, watches: list[ResourceMonitor]
) -> None:
    kept = tmp_path / "far.receipts"
    watch = ResourceMonitor(ANY.replace("turn.legal))", f"turn.legal), receipts={str(kept)!r})"))
    watches.append(watch)
    outcome, path = play(tmp_path, definition(tmp_path, sets=5), watch)
    assert outcome == RunOutcome(True, 5, 0, 0)
    assert watch.ends() == [0]
    with Store.read(path) as store:
        found = verify(store, receipts=[kept])
        played = len(store.games())
    assert found.ok, str(found)
    assert f"Receipts of far: {played} agree, 0 differ, 0 are of games that are missing." in str(found)


def test_partners_who_dial_in_have_a_token_each(tmp_path: Path, watches: list[ResourceMonitor]) -> None:
    watch = ResourceMonitor(ANY)
    watches.append(watch)
    outcome, _ = play(tmp_path, definition(tmp_path, sets=2, variant="partnership-pitch"), watch)
    assert outcome == RunOutcome(True, 2, 0, 0)
    assert [token for _, _, token in watch.expected] == ["a-token-for-far", "a-token-for-far.1"]
    assert watch.ends() == [0, 0]


def test_a_remote_bot_that_is_away_for_a_moment_plays_on(tmp_path: Path, watches: list[ResourceMonitor]) -> None:
    watch = ResourceMonitor(COMES_BACK)
    watches.append(watch)
    outcome, store = play(tmp_path, definition(tmp_path), watch)
    assert outcome == RunOutcome(True, 4, 0, 0)
    out, _ = watch.bots[0].communicate(timeout=PATIENCE)
    assert out == "away\nfarewell\n"
    assert [fault[:2] for fault in watch.of("fault")] == [["far", "DISCONNECT"]]
    with Store.read(store) as opened:
        assert all(not game.summary["forfeits"] for game in opened.games())


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A remote bot may take its time to dial in; once it was there, it may be away for moments only."""
    monkeypatch.setattr(supervisor, "GRACE_SECONDS", 0.3)
    dials_in = RemoteSupervisor._dials_in

    async def patient_once(one: RemoteSupervisor) -> bool:
        there = await dials_in(one)
        one._wait = 0.5
        return there

    monkeypatch.setattr(RemoteSupervisor, "_dials_in", patient_once)


LEAVES: Final = COMES_BACK.replace("raw.play()", "raise SystemExit(7)")


@pytest.mark.usefixtures("impatient")
def test_a_remote_bot_that_does_not_come_back_is_withdrawn_and_the_league_ends(
    tmp_path: Path, watches: list[ResourceMonitor]
) -> None:
    watch = ResourceMonitor(LEAVES)
    watches.append(watch)
    outcome, store = play(tmp_path, definition(tmp_path, in_flight=1), watch)
    assert outcome.finished
    assert outcome.void == 4  # every table has it
    ((entrant, reason),) = watch.of("withdrawn")
    assert (entrant, reason) == ("far", "The games of one leg waited 0.5 seconds for it.")
    assert watch.ends() == [7]
    with Store.read(store) as opened:
        assert "far was withdrawn" in (opened.sets()[0].reason or "")


class Second(ResourceMonitor):
    """Starts another program as soon as the first has done what is told by that name."""

    def __init__(self, program: str, told: str, second: str) -> None:
        super().__init__(program)
        self.when, self.second = told, second

    def __getattr__(self, name: str) -> Callable[..., None]:
        tell = super().__getattr__(name)

        def and_start(*what: Any) -> None:
            tell(*what)
            if name == self.when and "far" in what:
                self.program = self.second
                self.start(*self.expected[0][1:])

        return and_start


def test_a_remote_bot_that_is_away_for_too_long_loses_the_game_and_plays_those_that_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watches: list[ResourceMonitor]
) -> None:
    monkeypatch.setattr(supervisor, "GRACE_SECONDS", 0.3)
    watch = Second(LEAVES, "ruling", ANY)
    watches.append(watch)
    outcome, store = play(tmp_path, definition(tmp_path, in_flight=1), watch)
    assert outcome == RunOutcome(True, 4, 0, 0)
    assert not watch.of("withdrawn")
    assert watch.ends() == [7, 0]
    with Store.read(store) as opened:
        games = list(opened.games())
    assert [sum(bool(game.summary["forfeits"]) for game in games), len(games)] == [1, 4]


LEAVES_AFTER_EVERY_GAME: Final = """
import os
from referee.bot import Bot, run

class Leaves(Bot):
    def choose(self, turn):
        return turn.rng.choice(turn.legal)
    def game_over(self, over):
        os._exit(3)

run(Leaves())
"""


def test_a_remote_bot_may_be_away_between_two_legs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watches: list[ResourceMonitor]
) -> None:
    monkeypatch.setattr(runner, "MOST_SETS", 1)  # one set, and one game, a leg
    watch = Second(LEAVES_AFTER_EVERY_GAME, "fault", LEAVES_AFTER_EVERY_GAME)
    watches.append(watch)
    outcome, store = play(tmp_path, definition(tmp_path), watch)
    assert outcome == RunOutcome(True, 4, 0, 0)
    assert not watch.of("withdrawn")
    assert {fault for _, fault, *_ in watch.of("fault")} == {"DISCONNECT"}
    with Store.read(store) as opened:
        assert not any(game.summary["forfeits"] for game in opened.games())


def test_a_remote_bot_that_never_dials_in_is_withdrawn(tmp_path: Path, watches: list[ResourceMonitor]) -> None:
    watch = ResourceMonitor("")
    outcome, _ = play(tmp_path, definition(tmp_path, wait="1s"), watch)
    assert outcome.finished
    assert watch.of("withdrawn") == [["far", "It did not dial in within 1 seconds."]]


# By the command line


def started(folder: Path, *options: str) -> tuple["subprocess.Popen[str]", str, str]:
    """A referee that was started with a port of its own choice, and the address and token that it prints."""
    file = definition(folder, sets=3)
    argv = [*REFEREE, "run", str(file), "--store", str(folder / "cli.sqlite"), "--sandbox", "none", "--output", "plain"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "60"}
    referee = subprocess.Popen(
        [*argv, *options], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert referee.stderr is not None
    for line in referee.stderr:
        found = re.search(r"REFEREE_ADDRESS=(\S+) REFEREE_TOKEN=(\S+)", line)
        if found:
            return referee, found[1], found[2]
    raise AssertionError(referee.communicate())


def test_a_bot_is_started_by_hand_with_what_the_referee_prints(tmp_path: Path, watches: list[ResourceMonitor]) -> None:
    referee, address, token = started(tmp_path, "--listen", "127.0.0.1:0")
    watch = ResourceMonitor(ANY)
    watches.append(watch)
    watch.start(address, token)
    out, err = referee.communicate(timeout=PATIENCE)
    assert referee.returncode == 0, err
    assert "far" in out
    assert watch.ends() == [0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--listen", "localhost:0", "--tls-cert", "none.pem", "--tls-key", "key.pem"), "there is no such file"),
        (("--listen", "localhost:0", "--tls-cert", "certificate.pem", "--tls-key", "other.pem"), "is not the key of"),
        (("--listen", "localhost:0", "--tls-cert", "expired.pem", "--tls-key", "other.pem"), "has expired"),
        (("--listen", "localhost:99999"), "a port is a number from 1 to 65535"),
        (("--listen", "192.0.2.1:7400", "--insecure"), "is not an address of this machine"),
    ],
)
def test_what_no_bot_could_reach_or_trust_is_refused_before_anything_is_promised(
    tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    write_pair(tmp_path)
    (tmp_path / "other.pem").write_text(OTHER_KEY)
    (tmp_path / "expired.pem").write_text(EXPIRED)
    argv = [*REFEREE, "run", str(definition(tmp_path)), *options]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        argv, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "Commitment" not in done.stdout + done.stderr
    assert not (tmp_path / "leagues").exists()


def test_over_tls_a_bot_is_started_with_the_certificate_to_trust(
    tmp_path: Path, watches: list[ResourceMonitor]
) -> None:
    certificate, key = write_pair(tmp_path)
    referee, address, token = started(tmp_path, "--listen", "localhost:0", "--tls-cert", certificate, "--tls-key", key)
    assert address.startswith("tls:localhost:")
    watch = ResourceMonitor(ANY)
    watches.append(watch)
    watch.start(address, token)  # without the certificate it does not trust this referee
    assert watch.ends() == [1]
    watch.start(address, token, REFEREE_CA=certificate)
    _, err = referee.communicate(timeout=PATIENCE)
    assert referee.returncode == 0, err
    assert watch.ends() == [1, 0]


def test_a_referee_with_a_remote_bot_stops_cleanly_and_says_farewell(
    tmp_path: Path, watches: list[ResourceMonitor]
) -> None:
    referee, address, token = started(tmp_path, "--listen", "127.0.0.1:0")
    slow = "import time\nrun(lambda turn: print('asked', flush=True) or time.sleep(0.05) or "
    watch = ResourceMonitor(ANY.replace("run(lambda turn: ", slow))
    watches.append(watch)
    watch.start(address, token)
    assert watch.bots[0].stdout is not None
    assert watch.bots[0].stdout.readline() == "asked\n"
    referee.send_signal(signal.SIGINT)
    out, err = referee.communicate(timeout=PATIENCE)
    assert referee.returncode == 130, err
    assert "Go on with: referee resume" in out
    assert watch.ends() == [0]

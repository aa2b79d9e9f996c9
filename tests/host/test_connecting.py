"""A remote bot on its author's machine: when its processes run and with what, and what happens when host, bot or author go."""

import json
import queue
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from referee.host import connecting
from referee.host.client import HeardOfRemote, HostRequestError
from referee.host.connecting import AFTER_FAREWELL, MOST_STARTS, BotRuns, Connected, HostLink
from referee.host.rows import VersionState
from referee.sandbox.command import Command, LaunchError
from referee.sandbox.process_tree import process
from tests.program import PATIENCE

SESSION = ("tcp:127.0.0.1:7401", "token-of-the-call")


def until(look: Callable[[], Any]) -> Any:
    end = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < end
        time.sleep(0.005)
    return found


class Bot:
    """A bot whose processes write down what they find, and live until the file ``end`` is there, or as they are told."""

    def __init__(self, folder: Path, text: str = "") -> None:
        self.folder, self.told, self.now = folder, list[tuple[str, str]](), 100.0
        (folder / "bot.py").write_text(
            "import json, os, pathlib, sys, time\n"
            "place = pathlib.Path(f'started-{os.getpid()}')\n"
            "place.with_suffix('.part').write_text(json.dumps(dict(os.environ)))\n"
            "place.with_suffix('.part').rename(place)\n" + (text or "time.sleep(3600)\n")
        )
        command = Command(argv=("python", "bot.py"), folder=folder, name="far", environment={"DEPTH": "3"})
        self.runs = BotRuns(command, lambda word, about: self.told.append((word, about)), lambda: self.now)

    def started(self) -> dict[int, dict[str, str]]:
        """The environment of each process that has started, by its number."""
        return {int(one.name[8:]): json.loads(one.read_text()) for one in self.folder.glob("started-*[0-9]")}

    def starts(self, number: int) -> dict[int, dict[str, str]]:
        """The same, when there are so many, and all that have ended are noticed."""

        def look() -> bool:
            self.runs.look()
            return len(self.started()) >= number

        until(look)
        return self.started()


def lives(pid: int) -> bool:
    one = process(pid)
    return one is not None and not one.dead


def test_a_bot_runs_only_while_it_is_called_and_never_sees_the_token_of_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_TOKEN", "referee_of_the_host")
    monkeypatch.setenv("REFEREE_CA", "cert.pem")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setattr(connecting, "ENDING", 0.0)
    bot = Bot(tmp_path)
    bot.runs.look()
    assert bot.started() == {}
    bot.runs.called((SESSION,))
    ((pid, environment),) = bot.starts(1).items()
    assert environment["REFEREE_TOKEN"] == "token-of-the-call"
    assert environment["REFEREE_ADDRESS"] == "tcp:127.0.0.1:7401"
    assert "referee_of_the_host" not in environment.values()
    assert (environment["REFEREE_CA"], environment["CUDA_VISIBLE_DEVICES"], environment["DEPTH"]) == (
        "cert.pem",
        "0",
        "3",
    )
    bot.runs.called((SESSION,))
    bot.runs.look()
    assert lives(pid)
    assert len(bot.started()) == 1
    bot.runs.called(())
    assert not lives(pid)
    bot.runs.look()
    assert len(bot.started()) == 1


def test_what_a_bot_has_started_ends_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "ENDING", 0.0)
    text = (
        "child = os.fork()\n"
        "if not child:\n    time.sleep(3600)\n"
        "pathlib.Path('child.part').write_text(str(child))\npathlib.Path('child.part').rename('child')\n"
        "time.sleep(3600)\n"
    )
    bot = Bot(tmp_path, text)
    bot.runs.called((SESSION,))
    bot.starts(1)
    until((tmp_path / "child").exists)
    child = int((tmp_path / "child").read_text())
    assert lives(child)
    bot.runs.close()
    until(lambda: not lives(child))


def test_what_a_bot_has_started_ends_when_the_bot_ends_by_itself(tmp_path: Path) -> None:
    text = (
        "child = os.fork()\n"
        "if not child:\n    time.sleep(3600)\n"
        "pathlib.Path('child.part').write_text(str(child))\npathlib.Path('child.part').rename('child')\n"
        "sys.exit(1)\n"
    )
    bot = Bot(tmp_path, text)
    bot.runs.called((SESSION,))
    until(lambda: bot.runs.look() or (tmp_path / "child").exists())
    child = int((tmp_path / "child").read_text())
    until(lambda: bot.runs.look() or not lives(child))
    bot.runs.close()


def test_one_that_dies_while_it_is_called_starts_again_later_and_later_and_not_for_ever(tmp_path: Path) -> None:
    bot = Bot(tmp_path, "sys.exit(3)\n")
    bot.runs.called((SESSION,))
    for number in range(1, MOST_STARTS + 1):
        bot.starts(number)
        until(lambda number=number: bot.runs.look() or len(bot.told) == number)
        bot.runs.look()
        assert len(bot.started()) == number  # not before its pause is over
        bot.now += connecting.LONGEST_PAUSE
    bot.runs.look()
    assert len(bot.started()) == MOST_STARTS
    assert bot.told[0] == ("trouble", "the bot has ended (exit code 3) while it is called; it starts again")
    assert "left alone until the next call" in bot.told[-1][1]
    bot.runs.called((("tcp:127.0.0.1:7401", "token-of-the-next"),))
    assert len(bot.starts(MOST_STARTS + 1)) == MOST_STARTS + 1
    bot.runs.close()


def test_one_that_has_heard_its_farewell_is_let_be_for_a_moment(tmp_path: Path) -> None:
    bot = Bot(tmp_path, "pass\n")
    bot.runs.called((SESSION,))
    bot.starts(1)
    runs = bot.runs._runs[SESSION[1]]
    until(lambda: bot.runs.look() or runs.process is None)
    assert runs.again == bot.now + AFTER_FAREWELL
    assert bot.told == []
    bot.runs.called(())
    bot.now += AFTER_FAREWELL
    bot.runs.look()
    assert len(bot.started()) == 1


def test_a_program_that_is_not_there_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="does not exist"):
        BotRuns(Command(argv=("./nothing",), folder=tmp_path, name="far"), lambda *_: None)


class FakeHost:
    """A host that says what a test puts there; nothing means that it is silent."""

    def __init__(self) -> None:
        self.says: queue.SimpleQueue[HeardOfRemote | Exception] = queue.SimpleQueue()
        self.heard: list[Mapping[str, object]] = []

    def remote(self, bot: str, said: Mapping[str, object]) -> HeardOfRemote:
        assert bot == "far"
        self.heard.append(dict(said))
        answer = self.says.get(timeout=PATIENCE)
        if isinstance(answer, Exception):
            raise answer
        return answer


def answer(
    state: VersionState = VersionState.ACCEPTED, called: str = "", line: str = "", mark: str = "m"
) -> HeardOfRemote:
    return HeardOfRemote("1", state, "it cheats", None, called, (SESSION,) if called else (), line, mark)


class Passing(HostRequestError):
    passing = True
    after = 0.0


class Session:
    """A connection in a thread of a test, with a bot that does nothing."""

    def __init__(self, folder: Path) -> None:
        self.host, self.bot, self.goodbyes = FakeHost(), Bot(folder), list[Mapping[str, object]]()
        self.link = HostLink(self.host, "far", "1")  # type: ignore[arg-type]  # all of a client that it uses
        self.connected = Connected(
            self.link,
            self.bot.runs,
            lambda word, about: self.bot.told.append((word, about)),
            goodbye=self.goodbyes.append,
            is_end=lambda heard: heard.state is VersionState.WITHDRAWN,
        )
        self.result: list[Any] = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.result.append(self.connected.run())
        except HostRequestError as error:
            self.result.append(error)

    def words(self) -> list[str]:
        return [word for word, _ in self.bot.told]

    def end(self) -> Any:
        self._thread.join(PATIENCE)
        self.host.says.put(HostRequestError("over"))  # whom nobody listens to any more
        self.link.join(PATIENCE)
        return self.result[0]


def test_a_host_that_is_lost_is_asked_again_and_the_same_connection_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connecting, "ENDING", 0.0)
    one = Session(tmp_path)
    one.host.says.put(Passing("no network"))
    one.host.says.put(answer())
    one.host.says.put(Passing("no network"))
    one.host.says.put(Passing("no network"))
    one.host.says.put(answer(called="round 1", line="Out of round 0.", mark="n"))
    until(one.bot.started)
    one.host.says.put(answer(VersionState.WITHDRAWN))
    last = one.end()
    assert isinstance(last, HeardOfRemote)
    assert one.words() == ["lost", "back", "lost", "back", "note", "called", "over"]
    assert [("begin" in said, said["mark"]) for said in one.host.heard[:6]] == [
        (True, ""),
        (True, ""),
        (False, "m"),
        (False, "m"),
        (False, "m"),
        (False, "n"),
    ]
    assert len({said["session"] for said in one.host.heard}) == 1
    assert not any(lives(pid) for pid in one.bot.started())


def test_a_first_stop_lets_the_round_end_and_a_second_one_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connecting, "ENDING", 0.0)
    for number, ends_by_itself in enumerate((True, False)):
        folder = tmp_path / str(number)
        folder.mkdir()
        one = Session(folder)
        one.host.says.put(answer(called="round 1"))
        (pid,) = until(lambda one=one: one.bot.started())
        one.connected.stop()
        until(lambda one=one: one.goodbyes)
        assert one.goodbyes[0]["leaves"] is True
        assert lives(pid)
        if ends_by_itself:
            one.host.says.put(answer())
        else:
            one.connected.stop()
        assert one.end() is None
        assert not lives(pid)
        assert one.words()[:2] == ["called", "stopping"]


def test_what_the_host_does_not_take_ends_the_connection(tmp_path: Path) -> None:
    one = Session(tmp_path)
    one.host.says.put(HostRequestError("It is not yours.", ours=True))
    ended = one.end()
    assert isinstance(ended, HostRequestError)
    assert ended.ours

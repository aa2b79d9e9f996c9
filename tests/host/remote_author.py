"""The author of a remote bot without `referee connect`: looks into the store of a host, and starts a bot whenever it is called."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from referee.host.rows import BotCall, RemoteBot, VersionState
from referee.host.store import HostStore
from tests.host.hosted import Hosted
from tests.program import PATIENCE

ANY = "from referee.bot import run\nrun(lambda turn: turn.rng.choice(turn.legal))\n"

DOOR = '[host]\naddress = "127.0.0.1:0"\nremote = "127.0.0.1:0"\n'


def host_with_a_door(folder: Path, *bots: str) -> Hosted:
    """A host with a door for remote bots, whose time runs."""
    hosted = Hosted(folder, *bots, host=DOOR)
    hosted.now = time.time()
    return hosted


def connected(
    hosted: Hosted, owner: str, bot: str, version: str = "1", *, accepted: bool = True, later: float = 0.0
) -> RemoteBot:
    """A remote bot that is connected. ``accepted``: it has passed its check; ``later``: in so many seconds."""
    now = time.time() + later
    owners = {one.name: one for one in hosted.store.owners()}
    somebody = owners.get(owner) or hosted.store.join(
        hosted.store.invite(owner, hosted.now, by="test"), owner, hosted.now
    )
    found = hosted.store.connect(somebody, bot, version, f"{bot}-{version}", now, most_bots=4)
    if accepted and found.state is VersionState.WAITING:
        job = hosted.store.lease(now, 60, remote=True)
        assert job is not None
        assert hosted.store.finish(job, VersionState.ACCEPTED, "ok", now, name=version)
    return hosted.store.connection(bot)


class RemoteAuthor:
    """Starts the bot as often as it is called, while the body runs. ``calls``: what for."""

    def __init__(
        self, hosted: Hosted, bot: str, text: str = ANY, started: Callable[[int], None] = lambda _: None
    ) -> None:
        self.calls: list[BotCall] = []
        self._path, self._bot, self._text, self._started = hosted.home.store, bot, text, started
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        for process in self._processes.values():
            process.kill()
            process.wait(PATIENCE)

    def _watch(self) -> None:
        with HostStore.open(self._path) as store:
            while not self._over.wait(0.05):
                call = store.connection(self._bot).call
                if call is None:
                    continue
                self.calls += [call] * (not self.calls or self.calls[-1] != call)
                for address, token in call.sessions:
                    if token not in self._processes:
                        environment = os.environ | {"REFEREE_ADDRESS": address, "REFEREE_TOKEN": token}
                        process = subprocess.Popen([sys.executable, "-c", self._text], env=environment)
                        self._processes[token] = process
                        self._started(process.pid)

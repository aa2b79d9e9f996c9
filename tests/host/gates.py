"""Shared by the tests of the gate: a host in a folder, bots that are handed in, and what became of them."""

import hashlib
import io
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from referee.host.home import HostHome
from referee.host.rows import Job, Owner
from referee.host.store import HostStore
from referee.sandbox.isolation import choose_sandbox

DEFINITION: Final = """\
[tournament]
name = "Club"
variant = "auction-pitch"
seats = 3
[schedule]
format = "ladder"
[limits]
move_ms = 20000
start_s = 600
[host]
build_s = 120
"""

GOOD: Final = "from referee.bot import run\nrun(lambda turn: turn.rng.choice(turn.legal))\n"

RENEGES: Final = """\
from referee.bot import Kind, run
def choose(turn):
    wrong = [card for card in turn.hand if card not in turn.legal] if turn.kind is Kind.PLAY else []
    return wrong[0] if wrong else turn.rng.choice(turn.legal)
run(choose)
"""

BUILDS: Final = 'name = "mine"\nversion = "1"\nrun = ["python", "build/bot.py"]\nbuild = "sh make.sh"\n'
MAKES: Final = "mkdir -p build\ncp bot.py build/bot.py\n"


WAITING_BUILD: Final = f"while [ ! -e built ]; do sleep 0.05; done\n{MAKES}"
"""A build that goes on when there is a file ``built`` in the bot's folder."""

WAITING_BOT: Final = f"""\
import os, time
while not os.path.exists("checked"):
    time.sleep(0.05)
{GOOD}"""
"""A bot that joins when there is a file ``checked`` in its folder."""


@dataclass
class Host:
    """A host in a folder, with one owner."""

    home: HostHome
    store: HostStore
    owner: Owner

    def hand_in(self, files: Mapping[str, str] | bytes, bot: str = "mine", now: float | None = None) -> Job:
        data = files if isinstance(files, bytes) else zipped(files)
        digest = hashlib.sha256(data).hexdigest()
        self.home.archive(digest).write_bytes(data)
        return self.store.hand_in(self.owner, bot, digest, time.time() if now is None else now, most_bots=16)

    def lease(self) -> Job:
        job = self.store.lease(time.time(), 600)
        assert job is not None
        return job


def open_host(folder: Path, more: str = "") -> Host:
    """A host whose definition ends with ``more``. Close its store."""
    (folder / "ladder.toml").write_text(DEFINITION + more, "utf-8")
    home = HostHome.beside(folder / "ladder.toml")
    home.make()
    store = HostStore.open(home.store)
    store.tell("sandbox", choose_sandbox("auto").kind)
    return Host(home, store, store.register("ann", 0))


def zipped(files: Mapping[str, str]) -> bytes:
    """An archive of these files: the same ones make the same archive, whenever it is made."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()

"""Before a host starts: everything is looked at, so that what is wrong is one sentence, and nothing half begun is left."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from referee.host.certificate import certificate_of
from referee.host.door import check_door
from referee.host.engine import begin_ladder, check_ladder, check_same_file
from referee.host.entering import house_bots
from referee.host.home import HostHome
from referee.host.remote_ladder import remote_definition
from referee.host.store import HostStore
from referee.league.definition.definition import Definition, DefinitionError, load_definition
from referee.league.league import LeagueError
from referee.league.play.open_files import room_for
from referee.league.schedule.formats import format_of
from referee.net.listening import check_address
from referee.sandbox.isolation import Policy, choose_sandbox
from referee.sandbox.process_tree import process

_ENDING_SECONDS: Final = 30.0
"""So long a start waits for the parts of a host whose supervisor was killed."""

_EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104  # read, not listened at


class HostError(LeagueError):
    """A host that cannot start. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A host that can start. ``fresh``: nobody was invited to be its organiser yet; ``line``: that there is no sandbox, and what follows."""

    definition: Definition
    line: str
    fresh: bool


def definition_of(file: Path) -> Definition:
    """The definition of a ladder that can be hosted; raises ``DefinitionError``."""
    definition = load_definition(file)
    if not format_of(definition.shape()).endless:
        found = f'"{definition.schedule.format}"'
        raise DefinitionError(
            [definition.problem(("schedule", "format"), found, '"ladder" for a host', 'write format = "ladder"')]
        )
    return definition


def site_url(definition: Definition, address: str) -> str:
    """Where people find the site that listens at that address: what ``url`` says, else the address."""
    section = definition.host_section
    if section.url:
        return section.url.rstrip("/")
    host, _, port = address.rpartition(":")
    return f"{'https' if section.speaks_https else 'http'}://{_EVERYWHERE.get(host, host)}:{port}"


def prepare(file: Path, sandbox: Policy) -> Prepared:
    """Looks at everything that a host needs, and makes its folder, store and ladder where they are not there.

    The lock has to be held. Raises ``ProblemsError``, ``ListenError``, ``LeagueError``, ``StoreError``, ``HostStoreError``,
    ``LaunchError`` or ``OSError``.
    """
    definition = definition_of(file)
    home = HostHome.beside(file.absolute())
    check_address(definition.host_section.address, f"{file}: [host] address")
    certificate_of(definition, [])
    check_door(definition, file)
    choice = choose_sandbox(sandbox)
    definition, house = house_bots(home)
    room_for(definition, house.entrants)
    check_ladder(home, definition)
    if definition.host_section.remote is not None:
        check_same_file(home, home.remote, remote_definition(definition))
    line = ""
    if choice.kind == "none":
        line = f"{choice.line} So the house bots play alone, and nothing is taken in" + (
            ": start the host without --sandbox none" if sandbox == "none" else ": apt install bubblewrap util-linux"
        )
    with HostStore.open(home.store) as store:
        organisers = [one.organiser for one in store.owners()] + [one.organiser for one in store.invitations()]
        store.tell("sandbox", "" if choice.kind == "none" else choice.kind)
        store.tell("sandbox_line", line)
        for key in ("address", "engine_line", "engine_fault", "remote_engine_line", "remote_engine_fault"):
            store.tell(key, "")
    if not home.ladder.exists():
        begin_ladder(home, definition, house, choice.kind)
    return Prepared(definition, line, not any(organisers))


@contextmanager
def only_host(home: HostHome) -> Iterator[IO[str]]:
    """Keeps other hosts out of a home, which is made if there is none; gives the lock, which the parts hold with us.

    Raises ``HostError`` if a host runs there.
    """
    try:
        home.make()
        lock = (home.folder / "host.lock").open("a+")
    except OSError as error:
        raise HostError(f"{home.folder} cannot be written: {error.strerror}; check the folder and its owner") from None
    with lock:
        until = time.monotonic() + _ENDING_SECONDS
        while not _locked(lock):
            lock.seek(0)
            number = lock.read(20).strip()
            if _runs(number) or time.monotonic() > until:
                told = f" (process {number})" if number else ""
                raise HostError(f"a host of {home.definition} runs already{told}; stop it first, or look at its site")
            time.sleep(0.1)  # the parts of a supervisor that was killed end in a moment
        lock.seek(0)
        lock.truncate()
        lock.write(str(os.getpid()))
        lock.flush()
        yield lock


def _locked(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _runs(number: str) -> bool:
    """Whether there is a process of that number that has not ended."""
    if not number.isdigit():
        return False
    if (one := process(int(number))) is not None:
        return not one.dead
    try:
        os.kill(int(number), 0)
    except OSError:
        return False
    return True

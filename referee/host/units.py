"""Unit files of systemd for a host: its service, and a backup each night.

The service is as closed as bubblewrap allows. What would keep bubblewrap from its work stays away on purpose, and stands in the
file: a service that sees part of /proc alone may mount no other, and one with capabilities of its own gets no namespaces.
"""

import os
import pwd
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import referee
from referee.host.home import HostHome
from referee.host.schema import HostStoreError
from referee.host.supervisor import DRAIN_SECONDS

KEPT_BACKUPS: Final = 14
"""So many nights' backups are kept."""

_HOMES: Final = tuple(map(Path, ("/home", "/root", "/run/user")))
_USUAL_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_TEMPORARY: Final = tuple(map(Path, ("/tmp", "/var/tmp")))  # noqa: S108  # a service has its own

_CLOSED: Final = """\
# Closed as far as bubblewrap allows. Not here, for the bots' sandbox would fail: ProtectProc, ProcSubset,
# ProtectKernelTunables, ProtectKernelLogs (part of /proc covered: no other may be mounted), RestrictNamespaces,
# ProtectHostname, ProtectControlGroups, AmbientCapabilities, and MemoryDenyWriteExecute (Java, Node).
NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
ReadWritePaths={folder}
ProtectHome={homes}
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelModules=yes
ProtectClock=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=~@clock @cpu-emulation @module @obsolete @raw-io @reboot @swap
UMask=0077
"""

_SERVICE: Final = """\
# Written by: referee host {definition} --write-units. Write it again after Referee or the definition has moved.
[Unit]
Description=Referee's host of {definition}
Documentation=man:systemd.exec(5)
Wants=network-online.target
After=network-online.target

[Service]
User={user}
WorkingDirectory={folder}
Environment={path}
ExecStart={start}
# A definition that will not do (2) gets no better by itself; for all else it is tried again.
Restart=on-failure
RestartSec=10
RestartPreventExitStatus=2
# Games that have begun are left as they are; the parts get {drain} seconds for a clean end.
KillMode=mixed
TimeoutStopSec={stop}
# Bots get control groups of their own; one that takes too much memory ends alone.
Delegate=yes
OOMPolicy=continue

{closed}
[Install]
WantedBy=multi-user.target
"""

_BACKUP: Final = """\
# Written by: referee host {definition} --write-units.
[Unit]
Description=Backup of Referee's host of {definition}

[Service]
Type=oneshot
User={user}
WorkingDirectory={folder}
ExecStart={start}
# The newest {kept} stay. They are on the same disk: copy them to another machine.
ExecStartPost={sweep}
Nice=10
IOSchedulingClass=idle
PrivateNetwork=yes

{closed}"""

_TIMER: Final = """\
# Written by: referee host {definition} --write-units.
[Unit]
Description=Backup of Referee's host of {definition}, each night

[Timer]
OnCalendar=daily
RandomizedDelaySec=1h
Persistent=yes

[Install]
WantedBy=timers.target
"""


class UnitError(HostStoreError):
    """Unit files that cannot be written. The message has the remedy."""


_STAMP: Final = "[0-9]" * 8 + "T" + "[0-9]" * 6 + "Z"
"""The time in the name of a backup, as a pattern of the shell: those of a host whose name begins alike are not meant."""


def unit_name(definition: Path) -> str:
    """What the service is called, without ``.service``: ``ladder.toml`` has ``referee-ladder``."""
    return f"referee-{re.sub(r'[^A-Za-z0-9_-]+', '-', definition.stem).strip('-') or 'host'}"


def units(home: HostHome, options: Sequence[str]) -> dict[str, str]:
    """The unit files of a host by name. It runs as whoever owns the folder of its definition; ``options``: with what it starts.

    Raises ``UnitError`` where that is root, for strangers' programs are built there.
    """
    folder = home.definition.parent
    owner = folder.stat().st_uid
    if owner == 0:
        raise UnitError(
            f"{folder} belongs to root, and a host needs a user of its own: useradd --system --shell /usr/sbin/nologin "
            f"referee; chown -R referee: {folder}"
        )
    for place in (folder, *_needed(folder)):
        if any(place.is_relative_to(temporary) for temporary in _TEMPORARY):
            what = "the host, such as to /srv" if place == folder else "it, such as to /opt"
            raise UnitError(f"{place} is a place for temporary files, which a service does not see: move {what}")
    for place in _needed(folder):
        if shut := _closed_to(owner, place):
            raise UnitError(
                f"{place} cannot be read by {_name_of(owner)}, for {shut} is closed: install Referee where that user can "
                "(python3 -m venv /opt/referee), or open the folder"
            )
    program = [sys.executable, "-m", "referee", "host", str(home.definition)]
    name = unit_name(home.definition)
    backups = folder / "backups"
    values = {
        "definition": _plain(str(home.definition)),
        "user": _name_of(owner),
        "folder": _path(folder),
        "path": _word(f"PATH={_search_path()}"),
        "drain": f"{DRAIN_SECONDS:.0f}",
        "stop": f"{DRAIN_SECONDS + 30:.0f}",
        "kept": KEPT_BACKUPS,
    }
    homes = "read-only" if any(path.is_relative_to(place) for path in _needed(folder) for place in _HOMES) else "yes"
    closed = _CLOSED.format(folder=_path(folder), homes=homes)
    archive = f"$0/{name}-$(date -u +%Y%m%dT%H%M%SZ).tar.gz"
    back_up = ["/bin/sh", "-c", f'exec "$@" --backup "{archive}"', str(backups)]
    ours = f"{name}-{_STAMP}.tar.gz"
    sweep = (
        f'rm -f -- "$0"/.{ours}.part; '  # of one that was killed
        f'ls -1t "$0"/{ours} | tail -n +{KEPT_BACKUPS + 1} | while read -r old; do rm -f -- "$old"; done'
    )
    return {
        f"{name}.service": _SERVICE.format(
            **values,
            start=_line([*program, *options]),
            closed=closed,
        ),
        f"{name}-backup.service": _BACKUP.format(
            **values,
            start=_line([*back_up, *program]),
            sweep=_line(["/bin/sh", "-c", sweep, str(backups)]),
            closed=closed,
        ),
        f"{name}-backup.timer": _TIMER.format(**values),
    }


def write_units(home: HostHome, target: Path, options: Sequence[str]) -> list[Path]:
    """Writes the unit files of a host into a folder; returns them. Raises ``UnitError``."""
    texts = units(home, options)
    made: list[Path] = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (target / name).write_text(text, "utf-8")
            made.append(target / name)
    except OSError as error:
        raise UnitError(f"{target} cannot be written: {error.strerror}; name a folder that is yours") from None
    return made


def _name_of(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def _closed_to(user: int, path: Path) -> Path | None:
    """The first folder on the way to a path that a user may not enter, as far as its owner and all others are concerned."""
    for place in (*reversed(path.parents), path):
        about = place.stat()
        if not about.st_mode & (0o100 if about.st_uid == user else 0o011):
            return place
    return None


def _needed(folder: Path) -> list[Path]:
    """Where the service reads what it runs."""
    places = (folder, Path(sys.prefix), Path(sys.base_prefix), Path(referee.__file__).parent)
    return [found for place in places for found in (place.absolute(), place.resolve())]


def _search_path() -> str:
    """Where programs are found here, such as tool-chains, as far as a service finds them too."""
    here = [name for name in os.environ.get("PATH", "").split(os.pathsep) if name.startswith("/")]
    kept = [name for name in here if not any(Path(name).is_relative_to(place) for place in _TEMPORARY)]
    return os.pathsep.join(dict.fromkeys([*kept, *_USUAL_PATH.split(":")]))


def _line(words: Sequence[str]) -> str:
    return " ".join(_word(word) for word in words)


def _word(text: str) -> str:
    """A word as systemd reads it back: specifiers, variables, quotes and spaces are none."""
    kept = _plain(text).replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return kept if re.fullmatch(r"[A-Za-z0-9_./:=,@+-]+", kept) else f'"{kept}"'


def _path(path: Path) -> str:
    """A path as a value of its own, where systemd knows neither variables nor, in all, quotes."""
    text = str(path)
    if not re.fullmatch(r"[^\s\"'\\%$]+", text) or not text.isprintable():
        raise UnitError(
            f"{text!r}: systemd takes no path with spaces, quotes or % everywhere; move the host to another"
        )
    return text


def _plain(text: str) -> str:
    if not text.isprintable():
        raise UnitError(f"{text!r} holds characters that no unit file may; move it to a plain name")
    return text.replace("%", "%%")

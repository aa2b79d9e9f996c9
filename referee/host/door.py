"""Where remote bots dial in: the address that is listened at, the one that they are told, and the certificate."""

import ipaddress
import socket
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from referee.host.home import HostHome
from referee.host.store import HostStore
from referee.league.definition.definition import Definition, load_definition
from referee.net.listening import ListenError, check_address

_LISTEN: Final = "remote_listen"
_EVERYWHERE: Final = ("0.0.0.0", "[::]")  # noqa: S104  # read, not listened at


@dataclass(frozen=True, slots=True)
class Door:
    """Where remote bots dial in. ``listen``: HOST:PORT; ``told``: what they are told to dial; ``tls``: files of certificate and key."""

    listen: str
    told: str
    tls: tuple[str, str] | None

    @property
    def address(self) -> str:
        """Where it listens, as a league has it."""
        return f"{'tls' if self.tls else 'tcp'}:{self.listen}"


def door_of(definition: Definition, listen: str = "") -> Door | None:
    """The door of a host; ``None`` if its definition has none. ``listen``: where it is, if the definition lets the system choose."""
    section = definition.host_section
    if section.remote is None:
        return None
    place = listen or section.remote
    tls = None
    if section.certificate is not None and section.key is not None:
        tls = (str(definition.folder / section.certificate), str(definition.folder / section.key))
    told = section.remote_url or f"{'tls' if tls else 'tcp'}:{_as_dialled(place, section.url if tls else None)}"
    return Door(place, told, tls)


def _as_dialled(listen: str, url: str | None) -> str:
    """HOST:PORT as others dial it; ``url``: of the site, for whose name the certificate of the host is."""
    name = urlsplit(url).hostname if url else None
    if not name:
        return listen
    port = listen.rpartition(":")[2]
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


def check_door(definition: Definition, file: object) -> None:
    """Whether remote bots can dial in where the definition says; its certificate was looked at. Raises ``ListenError``."""
    door = door_of(definition)
    if door is None:
        return
    host, _ = check_address(door.listen, f"{file}: [host] remote")
    if door.tls is None and not _is_loopback(host):
        raise ListenError(
            f'{file}: [host] remote = "{door.listen}" is open to other machines, and hands and tokens would travel in the open: give '
            "certificate and key, or listen at 127.0.0.1 behind a proxy that speaks TLS, and say in remote_url where that is"
        )
    if any(door.told.partition(":")[2].rpartition(":")[0] == everywhere for everywhere in _EVERYWHERE):
        raise ListenError(
            f'{file}: [host] remote = "{door.listen}" says where to listen, and nobody can dial that: say in remote_url what bots dial, '
            'as in "tls:pitch.example.org:7401", or give url'
        )
    if door.tls is not None and door.told.startswith("tcp:"):
        raise ListenError(
            f'{file}: [host] remote_url = "{door.told}" is not encrypted, and the door is: write tls: for tcp:'
        )


def _is_loopback(host: str) -> bool:
    name = host.strip("[]")
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def open_door(home: HostHome, store: HostStore) -> Door | None:
    """The door of a host that starts: a port that the system was to choose is chosen. Raises ``DefinitionError`` and ``OSError``."""
    definition = load_definition(home.definition)
    listen = definition.host_section.remote or ""
    if listen.endswith(":0"):
        listen = f"{listen[:-2]}:{_free_port(listen[:-2])}"
    store.tell(_LISTEN, listen)
    return door_of(definition, listen)


def door_that_is_open(home: HostHome, store: HostStore) -> Door | None:
    """The door of a host that runs, as ``open_door`` has chosen it."""
    return door_of(load_definition(home.definition), store.setting(_LISTEN))


def _free_port(host: str) -> int:
    family, kind, protocol, _, where = socket.getaddrinfo(host.strip("[]"), 0, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as one:
        one.bind(where)
        return int(one.getsockname()[1])

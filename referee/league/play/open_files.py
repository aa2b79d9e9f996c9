"""Open files: every bot costs the referee some, and what it may have is looked at before a league begins."""

import resource
from collections.abc import Sequence
from typing import Final

from referee.league.definition.definition import Definition
from referee.league.entrants.roster import Entrant
from referee.league.league import LeagueError, most_processes
from referee.net.server import CONNECTIONS_A_BOT, OWN_CONNECTIONS, STRANGERS

OWN_FILES: Final = 64
"""The store, the logs, the clocks, and what Python has open."""

LOCAL_FILES: Final = 8 + OWN_CONNECTIONS + CONNECTIONS_A_BOT
"""A bot on this machine: its process, its output and its log, the socket it dials, and all connections it may hold."""

REMOTE_FILES: Final = 1 + CONNECTIONS_A_BOT
"""A remote bot: the connections that it may hold, and one on which it is about to show its token."""


def files_wanted(local: int, remote: int) -> int:
    """Open files that the referee may come to need with so many processes of local bots and sessions of remote ones."""
    return OWN_FILES + local * LOCAL_FILES + (STRANGERS + remote * REMOTE_FILES if remote else 0)


def make_room(local: int, remote: int) -> None:
    """Raises this process's own limit of open files as far as it has to be for so many bots.

    Raises ``LeagueError`` with the remedy if the system does not allow that.
    """
    wanted = files_wanted(local, remote)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _within(wanted, soft):
        return
    if not _within(wanted, hard):
        raise LeagueError(_refusal(local, remote, wanted, hard))
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        raise LeagueError(_refusal(local, remote, wanted, soft)) from None


def room_for(definition: Definition, entrants: Sequence[Entrant]) -> None:
    """Makes sure that the bots of a league may be here at once; raises ``LeagueError`` with the remedy if not."""
    shape = definition.shape()
    slots = shape.seats // shape.sides if shape.sides else 1
    remote = sum(entrant.remote for entrant in entrants)
    local = min((len(entrants) - remote) * slots, most_processes(definition))
    make_room(local, remote * slots)


def _within(wanted: int, limit: int) -> bool:
    return limit == resource.RLIM_INFINITY or wanted <= limit


def _refusal(local: int, remote: int, wanted: int, most: int) -> str:
    counts = ((local, "local"), (remote, "remote"))
    who = " and ".join(f"{number:,} {kind} bot{'s' * (number > 1)}" for number, kind in counts if number)
    fewer = "fewer bots" if remote else "a smaller max_processes"
    return (
        f"{who} at a time may need {wanted:,} open files, and this user may have {most:,}; remedy: raise the limit "
        f"(ulimit -n {wanted}, or LimitNOFILE={wanted} of the service; root sets it in /etc/security/limits.conf), "
        f"or play with {fewer}"
    )

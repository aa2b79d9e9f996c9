"""Errors that a user can put right: printed as one sentence, without a traceback."""

from typing import Final

from referee.cards import CardError
from referee.check.ask import NoTurnError
from referee.check.script import ScriptError
from referee.cli.exits import FAILED, USAGE
from referee.host.schema import HostStoreError
from referee.host.store import NotAllowedError
from referee.league.definition.problems import ProblemsError
from referee.league.league import LeagueError
from referee.league.schedule.format import ScheduleError
from referee.league.store import NoGameError, NoLeagueError, StoreError
from referee.net.listening import ListenError
from referee.rules import RuleSetError
from referee.sandbox.command import LaunchError, os_error_text
from referee.umpire.record import RecordError
from referee.verification.receipts import ReceiptsError

EXPECTED: Final = (
    ProblemsError,
    ScheduleError,
    LeagueError,
    StoreError,
    ScriptError,
    RuleSetError,
    RecordError,
    LaunchError,
    CardError,
    HostStoreError,
    NotAllowedError,
    OSError,
)
"""What may be wrong with a file, a bot or an option."""

_USAGE = (
    ListenError,
    ProblemsError,
    ScheduleError,
    ScriptError,
    RuleSetError,
    NoGameError,
    NoLeagueError,
    NoTurnError,
    ReceiptsError,
)
_NO_FILE = (FileNotFoundError, NotADirectoryError, IsADirectoryError)


def exit_code(error: BaseException) -> int:
    """2 for wrong usage and for what is not there, 1 for what failed."""
    return USAGE if isinstance(error, (*_USAGE, *_NO_FILE)) else FAILED


def sentence(error: BaseException) -> str:
    """The error in words, without the number that the system has for it."""
    return os_error_text(error) if isinstance(error, OSError) and error.errno is not None else str(error)

"""Errors that a user can mend: printed as one sentence, without a traceback."""

from typing import Final

from referee.cards import CardError
from referee.check.script import ScriptError
from referee.definitions.problems import ProblemsError
from referee.record import RecordError
from referee.rules import RuleSetError
from referee.scheduling.schedule import ScheduleError
from referee.seats.program import LaunchError
from referee.store import StoreError
from referee.tournament.league import LeagueError
from referee.tournament.listening import ListenError

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
    OSError,
)
"""What may be wrong with a file, a bot or an option."""

_USAGE = (ListenError, ProblemsError, ScheduleError, ScriptError, RuleSetError)


def exit_code(error: BaseException) -> int:
    """2 for what was asked wrongly, 1 for what failed."""
    return 2 if isinstance(error, _USAGE) else 1

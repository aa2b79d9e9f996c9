"""What can go wrong at a table, and what follows: the fault table as data.

``referee explain faults`` prints it, the wire and the records carry the codes.
"""

from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """The kind of a fault. The name is the code on the wire and in records."""

    ILLEGAL_ACTION = "ILLEGAL_ACTION"
    MALFORMED = "MALFORMED"
    PROTOCOL = "PROTOCOL"
    TIMEOUT_MOVE = "TIMEOUT_MOVE"
    TIMEOUT_GAME = "TIMEOUT_GAME"
    DISCONNECT = "DISCONNECT"
    CRASH = "CRASH"
    RESOURCE_MEM = "RESOURCE_MEM"
    RESOURCE_CPU = "RESOURCE_CPU"
    RESOURCE_PIDS = "RESOURCE_PIDS"
    RESOURCE_OUTPUT = "RESOURCE_OUTPUT"
    START_FAILED = "START_FAILED"
    POLICY = "POLICY"
    NO_CONTEST = "NO_CONTEST"


class Consequence(StrEnum):
    """What the referee does after a fault."""

    RETRY = "RETRY"
    SUBSTITUTED = "SUBSTITUTED"
    FORFEITED = "FORFEITED"
    IGNORED = "IGNORED"
    REPLAYED = "REPLAYED"


@dataclass(frozen=True, slots=True)
class FaultEntry:
    """One line of the fault table: the meaning of a fault, and what follows in ``check`` and in a rated game."""

    fault: Fault
    meaning: str
    in_check: str
    in_game: str


FAULTS: tuple[FaultEntry, ...] = (
    FaultEntry(
        Fault.ILLEGAL_ACTION,
        "A well-formed move that breaks a rule; the ruling names the clause.",
        "FAIL of that rule",
        "By the profile: a retry, then the substitute move; too many in one game forfeit it.",
    ),
    FaultEntry(
        Fault.MALFORMED,
        "A move for an open turn with a missing, unknown or doubled value.",
        "FAIL of AF-PROTO",
        "As an illegal action.",
    ),
    FaultEntry(
        Fault.PROTOCOL,
        "A flood of messages, or more than 64 that answer nothing.",
        "FAIL of AF-PROTO",
        "Loses every game under way; may join again, ten times a leg.",
    ),
    FaultEntry(
        Fault.TIMEOUT_MOVE,
        "No answer within the time for the move and the bank.",
        "FAIL of AF-CLOCK",
        "The substitute move; counts like an illegal action.",
    ),
    FaultEntry(
        Fault.TIMEOUT_GAME,
        "The charged thinking time of the whole game is used up.",
        "FAIL of AF-CLOCK",
        "As TIMEOUT_MOVE, for every further decision.",
    ),
    FaultEntry(
        Fault.DISCONNECT,
        "The stream ended before Farewell (a message over 64 KiB ends it too).",
        "FAIL of AF-LIFE",
        "A restart (local) or 30 seconds of grace a game (remote), else it loses the game; ten times a leg.",
    ),
    FaultEntry(
        Fault.CRASH,
        "The process ended, or was silent twice in a row and was ended.",
        "ERROR",
        "As DISCONNECT.",
    ),
    FaultEntry(Fault.RESOURCE_MEM, "The memory limit was reached.", "FAIL of AF-LIFE", "Loses the game."),
    FaultEntry(Fault.RESOURCE_CPU, "The processor limit was reached.", "FAIL of AF-LIFE", "Loses the game."),
    FaultEntry(Fault.RESOURCE_PIDS, "The limit of processes was reached.", "FAIL of AF-LIFE", "Loses the game."),
    FaultEntry(Fault.RESOURCE_OUTPUT, "More than 8 MiB of output.", "FAIL of AF-LIFE", "Loses the game."),
    FaultEntry(
        Fault.START_FAILED,
        "No Join in time, a protocol or variant it cannot play, or a program that does not start.",
        "exit 4",
        "Not started; three in a row and the bot is withdrawn, the league goes on.",
    ),
    FaultEntry(
        Fault.POLICY,
        "Another's token or seat, or an attempt to leave the sandbox.",
        "FAIL, loudly",
        "Loses every game under way; flagged for a person.",
    ),
    FaultEntry(
        Fault.NO_CONTEST,
        "The referee's own fault or the machine's: its exit, a store error, two stalls inside a decision that timed out.",
        "exit 5",
        "No result; the game is played again.",
    ),
)


@dataclass(frozen=True, slots=True)
class Profile:
    """How faults are penalised. ``retries`` illegal answers a decision go back; 0 in ``forfeit_after`` = never."""

    name: str
    retries: int
    forfeit_after: int

    def loses_the_game(self, violations: int) -> bool:
        """Whether a seat with so many violations has made too many: illegal answers, and answers that came too late."""
        return 0 < self.forfeit_after <= violations


PROFILES = {"ranked": Profile("ranked", 0, 3), "dev": Profile("dev", 1, 0)}

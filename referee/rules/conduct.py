"""Clauses about conduct rather than cards: how a bot speaks, keeps time, starts and ends.

They stand in the rule book beside the clauses of the games and are judged by the umpire and the session.
"""

from referee.rules.rulebook import Clause, Level

_WIRE = "the wire contract, allfours.v1"

CONDUCT: tuple[Clause, ...] = (
    Clause(
        "AF-PROTO-001",
        "The field of the turn's kind",
        "A move sets the one field that the turn's kind asks for.",
        _WIRE,
    ),
    Clause(
        "AF-PROTO-002",
        "One value",
        "A move holds one value: no second field is set, and no card is named twice.",
        _WIRE,
    ),
    Clause(
        "AF-PROTO-003",
        "Known values",
        "A move names cards, suits and calls that exist.",
        _WIRE,
    ),
    Clause(
        "AF-PROTO-004",
        "Answers to open turns",
        "A move answers a turn that the referee has asked of this session; at most 64 others are overlooked.",
        _WIRE,
    ),
    Clause(
        "AF-PROTO-005",
        "Readable messages",
        "A message is a PlayRequest of at most 64 KiB; the first one joins, no other does.",
        _WIRE,
    ),
    Clause(
        "AF-CLOCK-001",
        "Time for a move",
        "A turn is answered within the time for the move and what is left of the bank.",
        "the tournament's limits",
    ),
    Clause(
        "AF-CLOCK-002",
        "Time for a game",
        "The charged thinking time of a seat in one game stays within its limit.",
        "the tournament's limits",
    ),
    Clause(
        "AF-LIFE-001",
        "Join in time",
        "A bot joins within ten seconds of its start, for a protocol and variant that it can play.",
        "the fault table",
    ),
    Clause(
        "AF-LIFE-002",
        "Stay to the end",
        "A bot keeps its stream and its process until Farewell.",
        "the fault table",
    ),
    Clause(
        "AF-LIFE-003",
        "Leave at Farewell",
        "After Farewell a bot ends its stream and exits with code 0.",
        "the fault table",
        Level.SHOULD,
    ),
    Clause(
        "AF-LIFE-004",
        "Within the limits",
        "A bot stays within its limits of memory, processes, descriptors and output.",
        "the fault table",
    ),
)

STRAYS = 64
"""Moves that answer nothing, and unreadable messages, that a session may send before it is a PROTOCOL fault."""

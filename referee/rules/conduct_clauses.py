"""Clauses about conduct rather than cards: how a bot speaks, keeps time, starts and ends.

They stand in the rule book beside the clauses of the games. Those of ``CONDUCT`` are judged by the umpire and the
session in every game; those of ``ROBUST`` only a check can put to a bot.
"""

from typing import Final

from referee.rules.rulebook import CLAUSES, Clause, Level

_WIRE: Final = "the wire contract, allfours.v1"

CONDUCT: Final[tuple[Clause, ...]] = (
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
        "A bot joins within the time for a start, 30 seconds unless it is told otherwise, for a protocol and variant that it can play.",
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

ROBUST: Final[tuple[Clause, ...]] = (
    Clause(
        "AF-ROBUST-001",
        "Unknown things are ignored",
        "A bot ignores fields, enum numbers and events that it does not know, and goes on as if they were not there.",
        _WIRE,
    ),
    Clause(
        "AF-ROBUST-002",
        "A history it did not play",
        "A bot answers a turn in the middle of a deal that it has not played so far.",
        _WIRE,
    ),
    Clause(
        "AF-ROBUST-003",
        "Many turns at once",
        "A bot answers as many turns at once as its Join allows, of many games.",
        _WIRE,
    ),
    Clause(
        "AF-ROBUST-004",
        "News is no question",
        "Rulings and notices, doubled, unknown or about nothing it knows, neither stop a bot nor are answered.",
        _WIRE,
    ),
    Clause(
        "AF-ROBUST-005",
        "Going on after a restart",
        "A bot that is started again, or dials in again, answers the open turns of games that it began before.",
        _WIRE,
    ),
    Clause(
        "AF-ROBUST-006",
        "Figures at their ends",
        "A bot takes every figure that the contract allows: ids and seeds up to 2^53-1, scores below zero, an empty bank.",
        _WIRE,
    ),
    Clause(
        "AF-ROBUST-007",
        "No growth",
        "A bot's memory, descriptors and processes do not grow with the number of deals.",
        "good practice",
        Level.SHOULD,
    ),
)
"""Unusual but legal stimuli, all of which a bot must live with."""

WHOLE_BOOK: Final[tuple[Clause, ...]] = (*CLAUSES, *CONDUCT, *ROBUST)
"""Every clause that there is: of the games, of conduct, of robustness."""

EDITIONS: Final[tuple[str, ...]] = tuple(
    sorted({entry.since for entry in WHOLE_BOOK}, key=lambda edition: tuple(map(int, edition.split("."))))
)
"""The editions of the rule book, oldest first."""

STRAYS: Final = 64
"""Moves that answer nothing, and unreadable messages, that a session may send before it is a PROTOCOL fault."""

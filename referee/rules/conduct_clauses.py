"""Clauses about conduct rather than cards: how a bot speaks, keeps time, starts and ends.

They stand in the rule book beside the clauses of the games. Those of ``CONDUCT`` are judged by the umpire and the
session in every game; those of ``ROBUST`` only a check can put to a bot.
"""

from typing import Final

from referee.rules.rulebook import CLAUSES, Clause, Level

_WIRE: Final = "the wire contract, allfours.v1"

CONDUCT: Final[tuple[Clause, ...]] = (
    Clause(
        id="AF-PROTO-001",
        title="The field of the turn's kind",
        sentence="A move sets the one field that the turn's kind asks for.",
        source=_WIRE,
    ),
    Clause(
        id="AF-PROTO-002",
        title="One value",
        sentence="A move holds one value: no second field is set, and no card is named twice.",
        source=_WIRE,
    ),
    Clause(
        id="AF-PROTO-003",
        title="Known values",
        sentence="A move names cards, suits and calls that exist.",
        source=_WIRE,
    ),
    Clause(
        id="AF-PROTO-004",
        title="Answers to open turns",
        sentence="A move answers a turn that the referee has asked of this session; at most 64 others are overlooked.",
        source=_WIRE,
    ),
    Clause(
        id="AF-PROTO-005",
        title="Readable messages",
        sentence="A message is a PlayRequest of at most 64 KiB; the first one joins, no other does.",
        source=_WIRE,
    ),
    Clause(
        id="AF-CLOCK-001",
        title="Time for a move",
        sentence="A turn is answered within the time for the move and what is left of the bank.",
        source="the tournament's limits",
    ),
    Clause(
        id="AF-CLOCK-002",
        title="Time for a game",
        sentence="The charged thinking time of a seat in one game stays within its limit.",
        source="the tournament's limits",
    ),
    Clause(
        id="AF-LIFE-001",
        title="Join in time",
        sentence="A bot joins within the time for a start, 30 seconds unless it is told otherwise, for a protocol and variant that it can play.",
        source="the fault table",
    ),
    Clause(
        id="AF-LIFE-002",
        title="Stay to the end",
        sentence="A bot keeps its stream and its process until Farewell.",
        source="the fault table",
    ),
    Clause(
        id="AF-LIFE-003",
        title="Leave at Farewell",
        sentence="After Farewell a bot ends its stream and exits with code 0.",
        source="the fault table",
        level=Level.SHOULD,
    ),
    Clause(
        id="AF-LIFE-004",
        title="Within the limits",
        sentence="A bot stays within its limits of memory, processes, descriptors and output.",
        source="the fault table",
    ),
)

ROBUST: Final[tuple[Clause, ...]] = (
    Clause(
        id="AF-ROBUST-001",
        title="Unknown things are ignored",
        sentence="A bot ignores fields, enum numbers and events that it does not know, and goes on as if they were not there.",
        source=_WIRE,
    ),
    Clause(
        id="AF-ROBUST-002",
        title="A history it did not play",
        sentence="A bot answers a turn in the middle of a deal that it has not played so far.",
        source=_WIRE,
    ),
    Clause(
        id="AF-ROBUST-003",
        title="Many turns at once",
        sentence="A bot answers as many turns at once as its Join allows, of many games.",
        source=_WIRE,
    ),
    Clause(
        id="AF-ROBUST-004",
        title="News is no question",
        sentence="Rulings and notices, doubled, unknown or about nothing it knows, neither stop a bot nor are answered.",
        source=_WIRE,
    ),
    Clause(
        id="AF-ROBUST-005",
        title="Going on after a restart",
        sentence="A bot that is started again, or dials in again, answers the open turns of games that it began before.",
        source=_WIRE,
    ),
    Clause(
        id="AF-ROBUST-006",
        title="Figures at their ends",
        sentence="A bot takes every figure that the contract allows: ids and seeds up to 2^53-1, scores below zero, an empty bank.",
        source=_WIRE,
    ),
    Clause(
        id="AF-ROBUST-007",
        title="No growth",
        sentence="A bot's memory, descriptors and processes do not grow with the number of deals.",
        source="good practice",
        level=Level.SHOULD,
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

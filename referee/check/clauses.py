"""Clauses that only a check can put to a bot: unusual but legal stimuli, all of which a bot must live with."""

from typing import Final

from referee.rules.clause import Clause, Level
from referee.rules.conduct import CONDUCT
from referee.rules.rulebook import CLAUSES

_WIRE: Final = "the wire contract, allfours.v1"

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
        "A bot that is started again answers the open turns of games that it began in an earlier life.",
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

ALL_CLAUSES: Final[tuple[Clause, ...]] = (*CLAUSES, *CONDUCT, *ROBUST)
"""Every clause that a check can judge or name."""

EDITIONS: Final[tuple[str, ...]] = tuple(
    sorted({entry.since for entry in ALL_CLAUSES}, key=lambda edition: tuple(map(int, edition.split("."))))
)
"""The editions of the rule book, oldest first: the values of ``--ruleset``."""

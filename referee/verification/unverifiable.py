"""What a verification cannot prove, field by field: the table of docs/records.md, and what the tests hold ``verify`` to.

Everything else is found by logic alone: it follows from the definition, the master and the moves, or contradicts
something that stands elsewhere. What is listed here follows from nothing. Under the record root it cannot be changed once that
root is published; before, it is the word of whoever ran the league.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Unproven:
    """Fields that follow from nothing else.

    ``fields``: patterns of places as ``file: path``, ``*`` for any one name or number. ``why`` nobody can compute them again;
    ``closed_by`` says what holds them: the published record root, or else what.
    """

    what: str
    fields: tuple[str, ...]
    why: str
    closed_by: str


_ROOT: Final = "the published record root"
_NOTHING: Final = "nothing: it decides nothing"

UNPROVEN: Final[tuple[Unproven, ...]] = (
    Unproven(
        "Times",
        (
            "records.jsonl: record.volatile.charged_us.*.*",
            "records.jsonl: record.volatile.charged_us.*",
            "attempts.jsonl: started",
            "attempts.jsonl: ended",
            "faults.jsonl: at",
        ),
        "a clock leaves no trace; only what is against the limits, or runs backwards, is found",
        _ROOT,
    ),
    Unproven(
        "What the referee saw of a process",
        (
            "records.jsonl: record.irregular.*.fault",
            "records.jsonl: record.irregular.*.sentence",
            "entrants.jsonl: withdrawn",
            "faults.jsonl: entrant",
            "faults.jsonl: fault",
            "faults.jsonl: sentence",
            "faults.jsonl:",
            "attempts.jsonl: reason",
            "attempts.jsonl: outcome",
        ),
        "a crash, a stall, an attempt that came to nothing can only be told by who was there",
        f"{_ROOT}; receipts, for games that the bot has finished",
    ),
    Unproven(
        "Which program played",
        (
            "entrants.jsonl:",
            "entrants.jsonl: digest",
            "entrants.jsonl: argv.*",
            "entrants.jsonl: argv",
            "entrants.jsonl: folder",
            "entrants.jsonl: description",
            "entrants.jsonl: variants",
            "league.json: sandbox",
            "league.json: code.*",
            "league.json: host.*",
            "league.json: notes.*",
            "league.json: notes",
        ),
        "moves do not show who made them, nor where",
        f"{_ROOT}; receipts, for the games of a bot that runs elsewhere; a rerun, for bots that depend on their turn alone",
    ),
    Unproven(
        "Settings that leave no trace in the games",
        (
            "league.json: definition.limits.*",
            "league.json: definition.policy.checked",
            "league.json: definition.bots.*.path",
            "league.json: definition.schedule.max_tables",
        ),
        "a game is the same with more memory, or more processes",
        "the published commitment, which is over the whole definition",
    ),
    Unproven(
        "Files for people",
        ("export.json: written_by", "standings.csv:"),
        "the tables are made of the rest; the digests beside them can be made anew",
        "make them again: referee report --format csv",
    ),
    Unproven(
        "What is private to the machine",
        (
            "league: tokens",
            "league: tokens.*",
            "league: folder",
            "league: file",
            "league: cluster",
            "league: host.machine",
            "league: host.boot",
            "league: skipped.*.*",
            "attempt: processes",
            "fault: log",
        ),
        "it stays in the store and is never exported",
        _NOTHING,
    ),
)

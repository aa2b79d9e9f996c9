"""The hash chain of a set and the roots of a league: what makes a cut tail or a moved record show.

A chain runs over the records of a set in the order in which they were stored; a root folds the ends of all sets in schedule
order, so that workers need no order. Every field is length-prefixed.

The result root is of results alone. The record root is of everything: ``SCHEME`` names how it is made. That of Referee 0.1.0
was over the records alone; a league that ended with it keeps it, and is verified by it.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from referee.deals import encode
from referee.league.store.league_facts import ROOTS, GameRow, LeagueFacts, SetRow, public_facts
from referee.league.store.reader import Reader
from referee.league.store.source import Source
from referee.umpire.record import canonical

SCHEME: Final = "allfours-root/2"
"""How the record root is made: over every line that is exported."""

FIRST_SCHEME: Final = "allfours-root/1"
"""How it was made in 0.1.0: over the records of scored sets. Leagues that name no scheme have it."""


def chain_start(league: str, set_id: str) -> str:
    """The head of the hash chain of a set without games."""
    return _hash("set", league, set_id)


def chain_next(head: str, digest: str) -> str:
    """The head after one more game."""
    return _hash("game", head, digest)


def chain_end(head: str, count: int) -> str:
    """The end of a finished set's chain: a cut tail shows."""
    return _hash("end", head, count)


def fold_root(ends: Sequence[tuple[str, str]]) -> str:
    """The root of a league: (set id, end or empty) of every set in schedule order, their number first."""
    return _hash("root", len(ends), *(part for pair in ends for part in pair))


def _hash(*parts: str | int) -> str:
    return hashlib.sha256(encode(*parts)).hexdigest()


def roots(store: Reader, last: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The roots of a league as its store stands, and the scheme of the record root.

    ``last``: facts that are about to be stored with them.
    """
    facts = cast("LeagueFacts", {**store.league(), **(last or {})})
    result = result_root(facts["name"], store.sets(), store.games())
    return {"result_root": result, "record_root": record_root(facts, store), "root_scheme": SCHEME}


def scheme_of(facts: LeagueFacts) -> str:
    """How the record root of a league is made."""
    return str(facts.get("root_scheme", FIRST_SCHEME))


def record_root(facts: LeagueFacts, source: Source) -> str:
    """The root over everything that is exported of a league: its facts (but the roots), and every line of every part."""
    fixed = {key: value for key, value in public_facts(facts).items() if key not in ROOTS}
    ends = [_part("league", [fixed]), *(_part(name, lines) for name, lines in source.parts())]
    return hashlib.sha256(encode(SCHEME, *ends)).hexdigest()


def _part(name: str, lines: Iterable[Mapping[str, Any]]) -> str:
    digest, count = hashlib.sha256(encode(name)), 0
    for line in lines:
        written = canonical(line)
        digest.update(len(written).to_bytes(4, "big") + written)
        count += 1
    digest.update(encode(count))
    return digest.hexdigest()


def result_root(league: str, sets: Sequence[SetRow], games: Iterable[GameRow]) -> str:
    """The root over the results of scored sets: equal for equal play."""
    return _folded(league, sets, [(game.fixture_id, game.result_digest) for game in games])


def first_record_root(league: str, sets: Sequence[SetRow], games: Iterable[GameRow]) -> str:
    """The record root of 0.1.0: over the records of scored sets."""
    return _folded(league, sets, [(game.fixture_id, game.record_digest) for game in games])


def _folded(league: str, sets: Sequence[SetRow], games: Iterable[tuple[str, str]]) -> str:
    """Only scored sets count; within a set the games go by rotation, in whatever order they were played."""
    digests: dict[str, list[str]] = {}
    for fixture, digest in sorted(games, key=lambda game: int(game[0].rpartition("-")[2])):
        digests.setdefault(fixture.rpartition("-")[0], []).append(digest)
    return fold_root([(row.id, _end(league, row, digests)) for row in sets])


def _end(league: str, row: SetRow, digests: Mapping[str, Sequence[str]]) -> str:
    if row.state != "SCORED":
        return ""
    head = chain_start(league, row.id)
    for digest in digests.get(row.id, []):
        head = chain_next(head, digest)
    return chain_end(head, len(digests.get(row.id, [])))

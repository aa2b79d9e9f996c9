"""The two roots of a league: one digest each over everything that was played.

The result root is of results alone. The record root is of everything: ``SCHEME`` names how it is made. That of Referee 0.1.0
was over the records alone; a league that ended with it keeps it, and is verified by it.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from referee.deals import encode
from referee.league.store import GameRow, SetRow, Source, Store, chain_end, chain_next, chain_start, fold_root
from referee.league.store.chain import FIRST_SCHEME, SCHEME
from referee.league.store.facts import ROOTS, LeagueFacts, public_facts
from referee.umpire.record import canonical


def roots(store: Store, last: Mapping[str, Any] | None = None) -> dict[str, str]:
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

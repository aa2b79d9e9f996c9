"""The two roots of a league: one digest each over everything that was played."""

from collections.abc import Iterable, Sequence

from referee.store import GameRow, SetRow, Store, chain_end, chain_next, chain_start, fold_root


def roots(store: Store) -> dict[str, str]:
    """The roots of a league as its store stands."""
    return roots_of(store.league()["name"], store.sets(), store.games())


def roots_of(league: str, sets: Sequence[SetRow], games: Iterable[GameRow]) -> dict[str, str]:
    """``result_root``, of results alone (equal for equal play), and ``record_root``, of whole records.

    Only scored sets count; within a set the games go by rotation, in whatever order they were played.
    """
    results: dict[str, list[str]] = {}
    records: dict[str, list[str]] = {}
    for game in sorted(games, key=lambda game: int(game.fixture_id.rpartition("-")[2])):
        set_id = game.fixture_id.rpartition("-")[0]
        results.setdefault(set_id, []).append(game.result_digest)
        records.setdefault(set_id, []).append(game.record_digest)
    return {
        "result_root": fold_root([(row.id, _end(league, row, results)) for row in sets]),
        "record_root": fold_root([(row.id, _end(league, row, records)) for row in sets]),
    }


def _end(league: str, row: SetRow, digests: dict[str, list[str]]) -> str:
    if row.state != "SCORED":
        return ""
    head = chain_start(league, row.id)
    for digest in digests.get(row.id, []):
        head = chain_next(head, digest)
    return chain_end(head, len(digests.get(row.id, [])))

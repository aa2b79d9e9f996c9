"""What verification finds in a league: what its tests share."""

from pathlib import Path
from typing import Any

from referee.league.store import Store
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import Record
from referee.verification.result import Divergence, VerificationResult
from referee.verification.verify import verify
from tests.league.inprocess import at_random, reneges, stumbles
from tests.league.tampered import rows

PLAYERS = {"careful": fallback_move, "reneger": reneges, "stumbler": stumbles, "random": at_random}
GAMES = 16


def verdict(path: Path, **options: Any) -> VerificationResult:
    with Store.read(path) as store:
        return verify(store, **options)


def first(path: Path) -> Divergence:
    found = verdict(path)
    assert not found.ok
    return found.findings[0]


def record_of(path: Path, number: int) -> Record:
    with Store.read(path) as store:
        return store.record(number)


def fixture_of(path: Path, number: int) -> str:
    return str(rows(path, "SELECT fixture_id FROM game WHERE number = ?", number)[0][0])


def ruling_of(path: Path, fault: str, rule: str = "") -> tuple[int, int]:
    """The first ruling of a kind: number of its game, and its place among the game's rulings."""
    query = "SELECT g.number, r.number FROM ruling r JOIN game g USING (fixture_id, redeal) WHERE r.fault = ?"
    return rows(path, f"{query} AND r.rule LIKE ? ORDER BY g.number, r.number", fault, f"{rule}%")[0]

"""Games at the umpire without any wire, for the tests of sessions, games in play and servers."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Final

from referee.net.games_in_play import GameObserver, GamesInPlay
from referee.net.open_turns import PendingTurn
from referee.protocol import wire
from referee.protocol.translate import move_message
from referee.rules import variant
from referee.umpire.events import GameSpec, Ruling, TimeLimits
from referee.umpire.fallback_player import fallback_move
from referee.umpire.faults import PROFILES
from referee.umpire.record import Record, write_record
from referee.umpire.umpire import Umpire
from referee.umpire.view import Chair
from tests.helpers import seeded, shuffled

MOVE_US: Final = 1_000_000
BANK_US: Final = 3_000_000


def new_umpire(
    number: int = 1,
    *,
    ids: Callable[[], int] | None = None,
    seats: int = 2,
    game: str = "auction-pitch",
    profile: str = "ranked",
    limits: TimeLimits | None = None,
) -> Umpire:
    """A game that is not started yet. ``number`` names it and fixes its packs."""
    rules = variant(game)
    chairs = tuple(Chair(game_id=number, seat=seat, seats=seats, rules=rules, bot_seed=seat) for seat in range(seats))
    spec = GameSpec(
        key=f"game-{number}",
        rules=rules,
        chairs=chairs,
        first_dealer=0,
        profile=PROFILES[profile],
        limits=limits or TimeLimits(MOVE_US, BANK_US, 0),
    )
    return Umpire(
        spec,
        lambda deal: shuffled(seeded(f"{number}/{deal}")),
        ids or count(1000 * number + 1).__next__,
        fallback_move,
    )


class Book(GameObserver):
    """Keeps what a games in play reports: it is the organiser of the tests."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self.void: dict[str, str] = {}
        self.rulings: list[tuple[str, Ruling]] = []
        self.games_in_play = GamesInPlay(self)

    def ruled(self, umpire: Umpire, ruling: Ruling) -> None:
        """Keeps it with the key of its game."""
        self.rulings.append((umpire.spec.key, ruling))

    def finished(self, umpire: Umpire) -> Record | None:
        """Each game ends once."""
        key = umpire.spec.key
        assert key not in self.records
        assert key not in self.void
        if umpire.result is None:
            self.void[key] = umpire.void or ""
            return None
        self.records[key] = write_record(umpire, {"league": "test"})
        return self.records[key]


def first_choice(pending: PendingTurn) -> wire.Move:
    """A legal answer to a turn."""
    turn = pending.turn
    return move_message(turn.turn_id, turn.kind, turn.legal[0])


def answers_to(message: wire.PlayResponse | None) -> list[wire.Move]:
    """A legal answer to each turn of a message, as a bot finds it."""
    return [] if message is None else [answer_to(turn) for turn in message.turns]


def answer_to(turn: wire.Turn) -> wire.Move:
    """A legal answer to a turn, from its options alone."""
    move = wire.Move(turn_id=turn.turn_id)
    options: Any = turn.options
    for field, values in (
        ("card", options.cards),
        ("bid", options.bids),
        ("call", options.calls),
        ("suit", options.suits),
    ):
        if values:
            setattr(move, field, values[0])
            return move
    keep = options.keep
    kept: Sequence[Any] = [*keep.must_keep, *keep.may_keep]
    move.kept.extend(kept[: keep.count])
    return move

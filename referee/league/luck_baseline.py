"""The luck of a deal, measured by playing it again: what fallback players would have got from each seat of the same pack.

It is made after the game, in the referee's process, from the pack alone. Nothing of it reaches a bot, and nothing that
a bot did goes into it; so it can be taken off a bot's result without favour (:mod:`referee.statistics.luck`).

One replay says little: a single bid decides who pitches what. So the pack is played by several tables of equal players,
from shy bidders to bold ones, and by some that now and then play any legal card; the mean is what the seat was worth.
All chance follows from the pack.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from itertools import count
from random import Random
from statistics import fmean
from typing import Final

from referee.cards import JACK, KING, SUIT_MASKS, TEN, Card, Mask, cards_in
from referee.rules import Action, Kind, RuleSet
from referee.umpire.events import GameSpec
from referee.umpire.fallback_player import fallback_move, strength
from referee.umpire.umpire import Umpire
from referee.umpire.view import Chair, Turn

REPLAY_VERSION: Final = 1
"""Version of these players: a stored figure is made again by the same, or not at all."""

_BOLDNESS: Final = (0.0, 0.25, 0.5, 0.75)
"""By how many points a player's bid may exceed what its hand promises."""

_WHIMS: Final = 3
"""Whimsical tables for each boldness."""

_WHIM: Final = 0.3
"""How often a whimsical player plays any legal card."""


_EXTRA: Final = (-1, 0, 1, 2, 3, 4)
"""For tables of the fallback player itself: by how many quarters of a point its bid may exceed what it counts."""

Strategy = Callable[[Turn], Action]

CONTROLS: Final = 3
"""Figures for each seat."""


@lru_cache(maxsize=4096)
def replay_by_fallback(
    rules: RuleSet, seats: int, dealer: int, pack: tuple[Card, ...]
) -> tuple[tuple[float, ...], ...]:
    """For each seat the mean points of one deal of this pack, three times: among fallback players, shy to bold; among
    players that weigh a hand by chances; and among the latter with whims.
    """
    houses: list[Strategy] = [partial(_fallback, extra) for extra in _EXTRA]
    steady: list[Strategy] = [partial(_weigher, boldness, None) for boldness in _BOLDNESS]
    whimsical: list[Strategy] = [
        partial(_weigher, boldness, Random(f"house replay {REPLAY_VERSION}: {pack}/{boldness}/{number}"))  # noqa: S311
        for boldness in _BOLDNESS
        for number in range(_WHIMS)
    ]
    kinds = (houses, steady, whimsical)
    played = [[_points(rules, seats, dealer, pack, answer) for answer in kind] for kind in kinds]
    return tuple(tuple(fmean(one[seat] for one in kind) for kind in played) for seat in range(seats))


def _points(rules: RuleSet, seats: int, dealer: int, pack: tuple[Card, ...], answer: Strategy) -> tuple[int, ...]:
    """The points by seat of one deal among players that all answer alike."""
    chairs = tuple(Chair(game_id=1, seat=seat, seats=seats, rules=rules) for seat in range(seats))
    umpire = Umpire(
        GameSpec(key="house replay", rules=rules, chairs=chairs, first_dealer=dealer),
        lambda _: pack,
        partial(next, count(1)),
        fallback_move,
    )
    umpire.start()
    while umpire.open is not None:
        umpire.answer(umpire.open.turn_id, answer(umpire.open), 0)
    scores = umpire.result.scores if umpire.result is not None else ()
    return tuple(scores[rules.side(seat)] for seat in range(seats))


def _fallback(extra: int, turn: Turn) -> Action:
    if turn.kind is not Kind.BID:
        return fallback_move(turn)
    return _bid(turn, (max(strength(turn.hand, suit) for suit in range(4)) + extra) / 4.0)


def _weigher(boldness: float, chance: Random | None, turn: Turn) -> Action:
    if turn.kind is Kind.BID:
        return _bid(turn, max(_promise(turn, suit) for suit in range(4)) + boldness)
    if turn.kind is Kind.PLAY and turn.trump is None:
        best = max(range(4), key=lambda suit: _promise(turn, suit))
        return max(card for card in turn.legal if card >> 4 == best)
    if turn.kind is Kind.PLAY and chance is not None and chance.random() < _WHIM:
        return chance.choice(list(turn.legal))
    return fallback_move(turn)


def _bid(turn: Turn, most: float) -> Action:
    """The least bid that the hand is worth, else the least that may be said."""
    return min((bid for bid in turn.legal if 0 < bid <= most), default=min(turn.legal))


def _promise(turn: Turn, suit: int) -> float:
    """The points that a hand may expect with this suit as trump: High, Low, Jack and Game, item by item."""
    trumps = turn.hand & SUIT_MASKS[suit]
    if not trumps:
        return 0.0
    cards = turn.hand.bit_count()
    top, low = trumps.bit_length() - 1 & 15, (trumps & -trumps).bit_length() - 1 & 15
    dealt = min(1.0, cards * (turn.chair.seats - 1) / (52 - cards))  # the chance that a card unseen is in play
    jack = 0.75 if trumps >> (suit << 4 | JACK) & 1 else 0.4 * dealt * (top > JACK)
    return (1 - dealt) ** (14 - top) + (1 - dealt) ** (low - 2) + jack + _game(turn.hand, trumps)


def _game(hand: Mask, trumps: Mask) -> float:
    """The chance of the point for Game: it goes with trumps, tens and high cards."""
    ranks = [card & 15 for card in cards_in(hand)]
    return min(
        0.9, 0.1 + 0.1 * trumps.bit_count() + 0.1 * ranks.count(TEN) + 0.06 * sum(rank >= KING for rank in ranks)
    )

"""What holds in every deal of every game: cards, options, clauses, events, points."""

from collections import Counter
from random import Random

import pytest

from referee.cards import PACK_MASK, mask_of
from referee.rules import Deal, EventKind, Game, Keeps, Kind, Outcome, RuleSet, unpack_event, variant, variant_names
from referee.rules.deal import substitute
from referee.rules.rulebook import Level, clauses_of
from referee.rules.scoring import AT_ONCE
from tests.helpers import fields_of, seeded, shuffled
from tests.rules.lockstep_family import CHANGES

pytestmark = pytest.mark.search

CONCEIVABLE = {
    Kind.BID: range(-2, 24),
    Kind.STAND_OR_BEG: range(-1, 6),
    Kind.ANSWER_BEG: range(-1, 6),
    Kind.NAME_TRUMP: range(-1, 6),
    Kind.PLAY: range(-2, 67),
}


def disjoint(masks: list[int]) -> int:
    whole = 0
    for mask in masks:
        assert not whole & mask
        whole |= mask
    return whole


def guesses(deal: Deal, chance: Random) -> list[int]:
    """Actions that one could think of; for cards to keep, good ones, spoilt ones and nonsense."""
    legal = deal.legal()
    if not isinstance(legal, Keeps):
        assert deal.kind is not None
        return list(CONCEIVABLE[deal.kind])
    good = [legal[chance.randrange(len(legal))] for _ in range(3)]
    return [
        *good,
        *(kept ^ 1 << chance.randrange(64) for kept in good),
        0,
        -1,
        deal.hands[deal.seat],
        PACK_MASK,
        1 << 70,
    ]


def check_position(deal: Deal, chance: Random, clauses: set[str]) -> None:
    assert disjoint([*deal.hands, *deal.played, *deal.laid_away, mask_of(deal.stock), deal.aside]) == PACK_MASK
    legal, before = deal.legal(), fields_of(deal)
    assert len(legal) > 0
    assert substitute(deal) in legal
    for action in guesses(deal, chance):
        violation = deal.verify(action)
        assert (violation is None) is (action in legal), action
        if violation:
            assert violation.rule in clauses
            assert list(violation.legal)[:20] == list(legal)[:20]
            assert violation.sentence.endswith(".")
    assert fields_of(deal) == before


def check_events(deal: Deal) -> None:
    """The public events tell how many cards every seat holds, and every point scored at once."""
    counts = [deal.rules.hand_size] * deal.seats
    points = Counter[int]()
    for packed in deal.history:
        kind, seat, value = unpack_event(packed)
        if kind is EventKind.RUN:
            counts = [count + 3 for count in counts]
        elif kind is EventKind.DISCARD:
            counts[seat] -= value
        elif kind in (EventKind.SHOW, EventKind.PLAY):
            counts[seat] -= 1
        elif kind is EventKind.DRAW:
            counts[seat] += value
        elif kind is EventKind.TAKE:
            counts[seat] += 1
        elif kind is EventKind.SCORE:
            points[deal.side(seat)] += value
    assert points == Counter({deal.side(award.seat): 0 for award in deal.at_once}) + Counter(
        [deal.side(award.seat) for award in deal.at_once for _ in range(award.points)]
    )
    if deal.rules.rob == "none":  # who robs takes in what is left of the stock, and lays most of it away again
        assert counts == [hand.bit_count() for hand in deal.hands]


def check_outcome(deal: Deal, outcome: Outcome) -> None:
    assert deal.kind is None
    made = Counter[int]()
    for award in outcome.awards:
        made[deal.side(award.seat)] += award.points
    assert outcome.made == tuple(made[side] for side in range(len(outcome.made)))
    at_once = [award for award in outcome.awards if award.item in AT_ONCE]
    assert at_once == deal.at_once == list(outcome.awards[: len(at_once)])
    if outcome.pitcher is None:
        assert outcome.deltas == outcome.made
    if deal.rules.scoring == "points":
        assert sum(outcome.made) <= sum(dict(deal.rules.point_cards).values()) + 5
    assert sum(outcome.pips) <= 80


def games(name: str, chance: Random) -> tuple[RuleSet, int]:
    rules = variant(name).with_rules({"max_deals": 8})
    if chance.random() < 0.6:
        rules = rules.with_rules(chance.choice(CHANGES[rules.trump_by]) if rules.trump_by in CHANGES else {})
    return rules, chance.choice(range(rules.players[0], rules.players[1] + 1, rules.sides or 1))


NAMES = [name for name in variant_names() if variant(name).trump_by != "pitch" or name == "pedro"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(2))
def test_every_position_of_a_game(name: str, seed: int) -> None:
    chance = seeded(f"{name}/{seed}")
    rules, seats = games(name, chance)
    clauses = {entry.id for entry in clauses_of(rules) if entry.level is Level.MUST}
    game = Game(rules, seats, chance.randrange(seats))
    while game.result is None:
        deal = game.deal_pack(shuffled(chance))
        while deal.kind is not None:
            check_position(deal, chance, clauses)
            action = chance.choice(deal.legal())
            twin, before = deal.copy(), fields_of(deal)
            deal.act(action)
            assert fields_of(twin) == before
            twin.act(action)
            assert fields_of(twin) == fields_of(deal)
        assert deal.outcome is not None
        check_events(deal)
        check_outcome(deal, deal.outcome)
        scores = [score + delta for score, delta in zip(game.scores, deal.outcome.deltas, strict=True)]
        game.close(deal.outcome)
        assert game.scores == scores

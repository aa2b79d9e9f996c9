"""Counting opportunities: what could be broken where, without a word about any rule."""

import random
from collections.abc import Iterator

import pytest

from referee.check.requirements import breakable, conceivable
from referee.check.sampling import seat_counts
from referee.rules import Deal, Keeps, Kind, variant, variant_names
from referee.rules.rulebook import clauses_of
from tests.helpers import CONCEIVABLE, seeded, shuffled


def walk(name: str, seed: int, deals: int) -> Iterator[Deal]:
    chance = seeded(f"{name} {seed}")
    rules = variant(name)
    counts = seat_counts(rules)
    for number in range(deals):
        seats = counts[number % len(counts)]
        scores = [chance.choice([0, rules.target - 1, -3]) for _ in range(rules.side_count(seats))]
        deal = Deal(rules, seats, chance.randrange(seats), shuffled(chance), scores)
        while deal.kind is not None:
            yield deal
            legal = deal.legal()
            deal.apply(legal[chance.randrange(len(legal))])


@pytest.mark.parametrize("name", variant_names())
def test_a_few_answers_show_every_clause_that_any_answer_could_break(name: str) -> None:
    """Against every action there is: the short list of conceivable ones must lose no clause."""
    for deal in walk(name, 1, 12):
        everything = CONCEIVABLE.get(deal.kind, range(-1, 8))
        if deal.kind is Kind.DISCARD:
            continue
        refused = {found.rule for action in everything if (found := deal.verify(action)) is not None}
        assert breakable(deal) == refused, deal


def masks(hand: int, legal: Keeps, chance: random.Random) -> Iterator[int]:
    cards = [card for card in range(64) if hand >> card & 1]
    for _ in range(150):
        size = max(0, legal.size + chance.choice([-2, -1, 0, 0, 0, 1, 2]))
        picked = chance.sample(cards, min(size, len(cards)))
        yield sum(1 << card for card in picked) | (1 << chance.choice(range(2, 15)) if chance.random() < 0.2 else 0)


@pytest.mark.parametrize("name", ["all-fours", "seven-up-partners", "cinch", "pedro-louisiana", "pidro"])
def test_the_same_for_cards_to_keep_by_chance(name: str) -> None:
    chance = seeded(name)
    for deal in walk(name, 2, 25):
        legal = deal.legal()
        if isinstance(legal, Keeps):
            refused = {
                found.rule for kept in masks(deal.hands[deal.seat], legal, chance) if (found := deal.verify(kept))
            }
            assert refused <= breakable(deal), deal


@pytest.mark.parametrize("name", variant_names())
def test_what_is_breakable_binds_in_that_game(name: str) -> None:
    bound = {entry.id for entry in clauses_of(variant(name))}
    for deal in walk(name, 3, 6):
        assert breakable(deal) <= bound


def test_a_finished_deal_asks_nothing() -> None:
    *_, deal = walk("auction-pitch", 4, 1)
    assert deal.kind is None, "the walk goes on to the end"
    assert list(conceivable(deal)) == []

import random

import pytest

from referee.deals import deal_key, seeded_master, shuffle
from referee.league.luck_baseline import CONTROLS, replay_by_fallback
from referee.rules import variant, variant_names


def pack(number: int) -> tuple[int, ...]:
    return shuffle(deal_key(seeded_master("house replay"), "test", f"set {number}", 0))


@pytest.mark.parametrize("game", variant_names())
def test_every_game_can_be_replayed(game: str) -> None:
    rules = variant(game).with_rules({"max_deals": 1})
    seats = 4 if rules.sides else rules.players[0]
    found = replay_by_fallback(rules, seats, 0, pack(1))
    assert [len(controls) for controls in found] == [CONTROLS] * seats
    if rules.sides:
        assert found[0] == found[2]


def test_the_same_pack_is_always_worth_the_same() -> None:
    rules = variant("auction-pitch").with_rules({"max_deals": 1})
    first = replay_by_fallback(rules, 4, 0, pack(2))
    replay_by_fallback.cache_clear()
    random.seed(3)
    assert replay_by_fallback(rules, 4, 0, pack(2)) == first
    assert replay_by_fallback(rules, 4, 1, pack(2)) != first


def test_a_hand_of_aces_and_jacks_is_worth_more_than_rubbish() -> None:
    """Packets of three, twice round from eldest (seat 1): the pack is stacked so that seat 1 has all but the nines of hearts."""
    strong = [3 << 4 | rank for rank in (14, 13, 12, 11, 10, 2)]
    weak = [suit << 4 | rank for suit in (0, 1) for rank in (9, 8, 7)]
    rest = [suit << 4 | rank for suit in range(4) for rank in range(2, 15)]
    rest = [card for card in rest if card not in strong + weak]
    stacked = [*strong[:3], *weak[:3], *strong[3:], *weak[3:], *rest]
    eldest, dealer = 1, 0
    found = replay_by_fallback(variant("auction-pitch").with_rules({"max_deals": 1}), 2, dealer, tuple(stacked))
    assert found[eldest][0] > 2.0
    assert found[eldest][1] > 2.0
    assert all(one > other for one, other in zip(found[eldest], found[dealer], strict=True))

"""Careful and random play whole games of every variant, and careful is ahead. The proof: ``benchmarks/variants.py``."""

from typing import Any

import pytest

from benchmarks import strength, variants
from referee.rules import RuleSet, variant, variant_names


@pytest.mark.parametrize("name", variant_names())
def test_whole_games_of_every_variant_without_an_irregularity(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """``strength.step`` asserts that the table notes none."""
    places: list[tuple[int, ...]] = []

    def play(players: list[strength.Player], rules: RuleSet, *rest: Any) -> tuple[int, ...]:
        places.append(strength.play(players, rules, *rest))
        assert {player.name for player in players} == {"careful", "random"}
        assert all(player.decisions for player in players)
        return places[-1]

    monkeypatch.setattr(variants, "play", play)
    gap = variants.contest(name, 2, "test")
    assert gap.sets == 2
    seats = variant(name).players[0]
    assert [len(found) for found in places] == [seats] * 2 * variant(name).side_count(seats)


def test_careful_is_ahead_over_all_games() -> None:
    means = {name: variants.contest(name, 3, "ahead").mean or 0.0 for name in variant_names()}
    assert sum(means.values()) / len(means) > 0.4, means
    assert sum(mean > 0 for mean in means.values()) >= 12, means

"""The scale of drawings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.report.axis import Axis

FIGURES = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(FIGURES, min_size=1, max_size=8))
def test_all_figures_lie_inside_with_room(figures: list[float]) -> None:
    axis = Axis.over(figures)
    assert axis.low < min(figures)
    assert max(figures) < axis.high
    assert all(0 < axis.share(figure) < 100 for figure in figures)


@given(FIGURES, st.floats(1e-3, 1e6), st.integers(2, 8))
def test_ticks_are_round_ascending_and_inside(low: float, width: float, about: int) -> None:
    axis = Axis(low, low + width)
    ticks = axis.ticks(about)
    figures = [float(tick.text) for tick in ticks]
    assert figures == sorted(set(figures))
    assert 1 <= len(ticks) <= about + 1
    for tick, figure in zip(ticks, figures, strict=True):
        assert float(tick.at.rstrip("%")) == pytest.approx(axis.share(figure), abs=0.02)


def test_a_single_figure_gets_a_scale() -> None:
    assert Axis.over([0.0]).share(0.0) == 50.0
    assert Axis.over([0.0, 1.0]) == Axis.over([])


def test_round_steps() -> None:
    assert [tick.text for tick in Axis(0.13, 0.97).ticks()] == ["0.2", "0.4", "0.6", "0.8"]
    assert [tick.text for tick in Axis(-250, 260).ticks(4)] == ["-200", "0", "200"]
    assert [tick.text for tick in Axis(1, 400402).ticks(2)] == ["200000", "400000"]  # steps of 500000 would miss it


def test_what_lies_outside_is_at_the_edge() -> None:
    axis = Axis(0, 1)
    assert (axis.at(-3), axis.at(7), axis.width(0.25, 0.75)) == ("0.00%", "100.00%", "50.00%")

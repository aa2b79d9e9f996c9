"""How the figures of the standings are written: the same digits in the terminal, the report, Markdown and CSV."""

from typing import Final

from referee.statistics.paired import Estimate
from referee.statistics.rating_intervals import RatingInterval
from referee.statistics.results import MeasureName
from referee.statistics.standings import StandingsRow

UNITS: Final[dict[MeasureName, str]] = {"place": "place points", "stakes": "stakes", "points": "points"}
"""What each measure counts."""

MEANINGS: Final[dict[MeasureName, str]] = {
    "place": "the share of its opponents that it beat, 0 to 1",
    "stakes": "stakes won less stakes lost",
    "points": "points scored",
}
"""What each measure means, after a colon."""

DIGITS: Final = 3
"""Digits after the point of the league's measure."""

NONE: Final = "-"
"""Stands where there is no figure."""


def ranks(row: StandingsRow) -> str:
    """The rank, or the range of ranks that the data support."""
    if row.rank_low is None or row.rank_high is None:
        return NONE
    return str(row.rank_low) if row.rank_low == row.rank_high else f"{row.rank_low}-{row.rank_high}"


def figure(value: float | None, digits: int = DIGITS, sign: bool = False) -> str:
    """A number with so many digits after the point; never minus zero."""
    if value is None:
        return NONE
    text = f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"
    return text if float(text) else text.replace("-", "+" if sign else "")


def interval(value: Estimate, digits: int = DIGITS) -> str:
    """A 95% interval, as ``[0.855, 0.953]``; empty where there is none."""
    if value.low is None or value.high is None:
        return ""
    return f"[{figure(value.low, digits)}, {figure(value.high, digits)}]"


def estimate(value: Estimate, digits: int = DIGITS) -> str:
    """A mean and its interval, as ``0.904 [0.855, 0.953]``."""
    return f"{figure(value.mean, digits)} {interval(value, digits)}".strip()


def between(value: Estimate, digits: int = DIGITS) -> str:
    """The interval as ``0.855 to 0.953``; empty where there is none."""
    if value.low is None or value.high is None:
        return ""
    return f"{figure(value.low, digits)} to {figure(value.high, digits)}"


def rating(value: RatingInterval) -> str:
    """A rating and its interval, as ``+257 [+197, +316]``."""
    if value.low is None or value.high is None:
        return figure(value.value, 0, sign=True)
    return (
        f"{figure(value.value, 0, sign=True)} [{figure(value.low, 0, sign=True)}, {figure(value.high, 0, sign=True)}]"
    )


def skill(row: StandingsRow) -> str:
    """TrueSkill: the conservative skill, then mu and sigma."""
    return f"{figure(row.skill.conservative, 1)} (mu {figure(row.skill.mu, 1)}, sigma {figure(row.skill.sigma, 1)})"


def milliseconds(value: float | None) -> str:
    """A time in milliseconds, with two digits below ten."""
    return NONE if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"

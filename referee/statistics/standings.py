"""Standings: one row an entrant, every column from the same closed sets.

Rows are ordered by *advantage*: what the entrant gets per game of the league's measure beyond the average entrant at
the same table. While all met the same opponents that is the order of the measure itself; where tables differ, it is
fair to those that met strong ones. The rank beside it is a range, as wide as the data leave it.

Rendering is done elsewhere; :meth:`Standings.to_json` gives plain data. Given the same games in the same order, all
numbers are the same to the last digit; all but TrueSkill do not depend on the order of sets.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import fsum, sqrt
from typing import Any, Final, Literal

from referee.statistics.bootstrap import RESAMPLES, Resampled, resample
from referee.statistics.comparison import Comparison, compare
from referee.statistics.finishing_orders import gather
from referee.statistics.intervals import CONFIDENCE, FEWEST_SETS, ROUNDING, agreement
from referee.statistics.luck import GameShare, Saving, saving_of
from referee.statistics.paired import Estimate, estimate
from referee.statistics.plackett_luce import fit_awards
from referee.statistics.ranks import ranges_of_orders, rank_ranges, separated
from referee.statistics.rating_intervals import RatingInterval, rating_intervals
from referee.statistics.results import (
    GameSet,
    MeasureName,
    ResultError,
    Span,
    check_sets,
    ranked_sides,
    set_means,
    span_of,
    trials_of,
)
from referee.statistics.sequential_tests import estimate_at_any_look
from referee.statistics.trueskill_ratings import Skill, SkillTable, rate_skills

METHOD: Final = 2
"""How intervals and ranks are made, in standings that are kept: 2 since version 0.2.0; those of 0.1.0 do not say."""

Status = Literal["ranked", "too few to rank", "yardstick"]
"""``yardstick``: the bot that all others of a gauntlet have met; it is not ranked among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultCounts:
    """What is counted outside the results, for one entrant; passed through to its row.

    Counts are over closed sets. Decision times in milliseconds, None where no decision was timed.
    """

    bids_made: int = 0
    bids_set_back: int = 0
    illegal_actions: int = 0
    time_outs: int = 0
    crashes: int = 0
    decision_ms_median: float | None = None
    decision_ms_p99: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingsRow:
    """One entrant.

    ``rank_low``, ``rank_high``: best and worst rank the data support, 1 the best; None unless ``status`` is "ranked".
    ``measure``: the league's measure per game. ``advantage``: see the module. ``stability``: how often, 0..1,
    this row stays ahead of the next under resampling; None where either has no rank. ``rating``: order-free, Elo-like,
    mean 0. ``adjusted``: the measure with the luck of the deal taken off by house replay, where that applies. ``wins``: games finished first alone; ``shared_wins``: first together with another side. ``stakes``: total.
    ``panel``: on a ladder, place points against the panel; None elsewhere.
    """

    entrant: str
    status: Status
    rank_low: int | None
    rank_high: int | None
    measure: Estimate
    advantage: float | None
    stability: float | None
    rating: RatingInterval
    skill: Skill
    adjusted: Estimate | None
    sets: int
    games: int
    wins: int
    shared_wins: int
    stakes: float
    tally: FaultCounts
    panel: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderView:
    """What the standings of a ladder rest on besides the sets that are given to them.

    ``orders``: the pairs whose order is shown, as (ahead, behind). ``known``: who has ten sets or more of any kind; the others are
    provisional. ``panel``: what each gets against the panel. ``notes``: what a reader must know of the ladder, in sentences.
    """

    orders: tuple[tuple[str, str], ...]
    known: frozenset[str]
    panel: Mapping[str, Estimate]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VoidSet:
    """A set that does not count: its id, its entrants, and why, in words."""

    id: str
    entrants: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings:
    """The table of a league and how it was made.

    ``status``: "too few to rank" while nobody has a rank. ``share``: how many games give an interval as narrow as a game of
    plain deals does, between two at a table, measured on this league; ``share_by``: what has saved them; ``share_note``: the same
    in a sentence. ``ladder``: they are those of a ladder.
    ``void``: the sets that do not count, and why. ``method``: see ``METHOD``. ``notes``: what a reader must know, in sentences.
    """

    measure: MeasureName
    status: Status
    sets: int
    games: int
    rows: tuple[StandingsRow, ...]
    confidence: float
    resamples: int
    seed: str
    share: GameShare | None
    share_by: Literal["shared packs", "house replay", ""]
    share_note: str
    draw_probability: float
    tau: float
    skipped: int
    void: tuple[VoidSet, ...]
    method: int
    notes: tuple[str, ...]
    ladder: bool = False

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, text and numbers, ready for ``json.dumps``."""
        plain = asdict(self)
        for row, source in zip(plain["rows"], self.rows, strict=True):
            row["skill"]["conservative"] = source.skill.conservative
            if not self.ladder:
                del row["panel"]
        if not self.ladder:
            del plain["ladder"]
        for one in plain["void"]:
            one["entrants"] = list(one["entrants"])
        return {key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Standings":
        """The standings of which ``to_json`` has made this, to the last digit; raises ValueError for anything else."""
        from pydantic import TypeAdapter  # slow to import, and only a finished league needs it

        text = json.dumps(plain, sort_keys=True)
        table = TypeAdapter(cls).validate_json(text)
        if json.dumps(table.to_json(), sort_keys=True) != text:  # a field too many, a number written otherwise
            raise ValueError("these are not the standings of this version")
        return table


_UNRATED: Final = RatingInterval(None, None, None)


@dataclass(slots=True, kw_only=True)
class _EntrantCounts:
    games: int = 0
    wins: int = 0
    shared_wins: int = 0
    stakes: list[float] = field(default_factory=list)
    means: list[float] = field(default_factory=list)
    trials: list[float] = field(default_factory=list)


def standings(  # noqa: PLR0913  # a league has many properties
    sets: Iterable[GameSet],
    tallies: Mapping[str, FaultCounts],
    *,
    measure: MeasureName = "place",
    entrants: Iterable[str] = (),
    seed: str = "",
    resamples: int = RESAMPLES,
    skills: SkillTable | None = None,
    certainty_at_any_look: float | None = None,
    yardstick: str | None = None,
    ladder: LadderView | None = None,
) -> Standings:
    """The standings after these closed sets, in schedule order.

    ``tallies``: by entrant key; an entrant without one has a row of zeros, and a tally makes a row. ``entrants``: more
    keys that get a row though they have not played. ``seed``: of the bootstrap. ``skills``: TrueSkill of exactly these
    sets, from a running :class:`referee.statistics.trueskill_ratings.SkillRater`; made here when absent, which takes longest.
    ``certainty_at_any_look``: the league looks at its results and may stop early; ranks hold at every look with this
    certainty, and the intervals of the measure with the usual one. ``yardstick``: the entrant of a gauntlet that all others
    have met; these are ranked among themselves. ``ladder``: who is ranked, and how, comes from there. Sets that do not count (``void``) are for the caller to add.

    Raises ResultError for sets that contradict one another, or skills that are not of these sets.
    """
    checked = check_sets(sets)
    names = {key for games in checked for game in games for key in game.entrants} | set(tallies) | set(entrants)
    rated = skills if skills is not None else rate_skills(checked, sorted(names))
    counts = _count(checked, measure)
    _check_skills(rated, names, counts)
    awards = gather(checked)
    comparison = compare(checked, measure)
    resampled = resample(comparison, seed=seed, resamples=resamples) if checked else None
    ratings = rating_intervals(checked, awards, fit_awards(awards)) if checked else {}
    saving = saving_of(checked, measure, seed)
    span = span_of(checked, measure)
    evidence = _StandingsInput(
        names=sorted(names),
        counts=counts,
        comparison=comparison,
        resampled=resampled,
        ratings=ratings,
        skill_table=rated,
        tallies=tallies,
        certainty_at_any_look=certainty_at_any_look,
        yardstick=yardstick if yardstick in names else None,
        span=span,
        saving=saving,
        ladder=ladder,
    )
    rows = _rows(evidence)
    return Standings(
        measure=measure,
        status="ranked" if any(row.status == "ranked" for row in rows) else "too few to rank",
        sets=len(checked),
        games=awards.games,
        rows=rows,
        confidence=CONFIDENCE,
        resamples=resamples,
        seed=seed,
        share=saving.share,
        share_by=saving.by,
        share_note=saving.note,
        draw_probability=rated.draw_probability,
        tau=rated.tau,
        skipped=rated.skipped,
        void=(),
        method=METHOD,
        notes=tuple(_notes(rows, evidence)),
        ladder=ladder is not None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _StandingsInput:
    """All that rows are made of."""

    names: Sequence[str]
    counts: Mapping[str, _EntrantCounts]
    comparison: Comparison
    resampled: Resampled | None
    ratings: Mapping[str, RatingInterval]
    skill_table: SkillTable
    tallies: Mapping[str, FaultCounts]
    certainty_at_any_look: float | None
    yardstick: str | None
    span: Span
    saving: Saving
    ladder: LadderView | None


def _check_skills(table: SkillTable, names: Iterable[str], counts: Mapping[str, _EntrantCounts]) -> None:
    for key in sorted(names):
        rated = table.skills[key].games if key in table.skills else -1
        played = counts[key].games if key in counts else 0
        if not played - table.skipped <= rated <= played:
            told = f"has rated {rated} games of {key!r}, not {played}" if rated >= 0 else f"does not know {key!r}"
            raise ResultError(f"skills: the rater {told}; give it every entrant and exactly these sets")


def _rows(evidence: _StandingsInput) -> tuple[StandingsRow, ...]:
    counts, yardstick = evidence.counts, evidence.yardstick
    advantages = dict(zip(evidence.comparison.entrants, evidence.comparison.advantages, strict=True))
    order = sorted(evidence.names, key=lambda key: _sort_key(key, counts.get(key), advantages.get(key), yardstick))
    enough = [key for key in order if key in counts and len(counts[key].means) >= FEWEST_SETS]
    ranked = [key for key in enough if key != yardstick]
    if len(ranked) < 2:  # a bot that is alone with enough sets is ahead of nobody
        ranked = []
    certainty = evidence.certainty_at_any_look
    looks = certainty is not None
    if evidence.ladder is not None:
        ranked = [key for key in order if key in evidence.ladder.known]
        ranges = ranges_of_orders(evidence.ladder.orders, ranked)
    else:
        ranges = rank_ranges(
            evidence.comparison, ranked, certainty or CONFIDENCE, at_any_look=looks, family=enough if ranked else ()
        )
    drawn = [key for key in ranked if key in advantages]
    stability = evidence.resampled.stability(drawn) if evidence.resampled else []
    stays_ahead = dict(zip(drawn, stability, strict=False))  # the last has no next
    return tuple(_row(evidence, key, ranges.get(key), advantages.get(key), stays_ahead.get(key)) for key in order)


def _row(
    evidence: _StandingsInput, key: str, ranks: tuple[int, int] | None, advantage: float | None, stability: float | None
) -> StandingsRow:
    count = evidence.counts.get(key, _EntrantCounts())
    return StandingsRow(
        entrant=key,
        status="yardstick" if key == evidence.yardstick else "ranked" if ranks else "too few to rank",
        rank_low=ranks[0] if ranks else None,
        rank_high=ranks[1] if ranks else None,
        measure=_measure(evidence, count),
        advantage=advantage,
        stability=stability,
        rating=evidence.ratings.get(key, _UNRATED),
        skill=evidence.skill_table.skills[key],
        adjusted=evidence.saving.adjusted.get(key),
        sets=len(count.means),
        games=count.games,
        wins=count.wins,
        shared_wins=count.shared_wins,
        stakes=fsum(count.stakes),
        tally=evidence.tallies.get(key, FaultCounts()),
        panel=None if evidence.ladder is None else evidence.ladder.panel.get(key),
    )


def _measure(evidence: _StandingsInput, count: _EntrantCounts) -> Estimate:
    means, span = count.means, evidence.span
    if evidence.certainty_at_any_look is None:
        return estimate(means, span, fsum(count.trials) / max(len(means), 1))
    if len(means) < FEWEST_SETS or not span.high > span.low:
        return Estimate(fsum(means) / len(means) if means else None, None, None, len(means))
    # As far as sets agree, two more are thought of that do not.
    scale = (span.high - span.low) / 2.0 * sqrt(agreement(means))
    return estimate_at_any_look(means, 1.0 - CONFIDENCE, scale, span)


def _sort_key(
    key: str, count: _EntrantCounts | None, advantage: float | None, yardstick: str | None
) -> tuple[int, float, str]:
    """The yardstick of a gauntlet, then entrants with enough sets, with too few, with none; by advantage, then by name."""
    if key == yardstick:
        return -1, 0.0, key
    if count is None or advantage is None:
        return 2, 0.0, key
    return int(len(count.means) < FEWEST_SETS), -round(advantage, 12), key


def _count(sets: Sequence[GameSet], measure: MeasureName) -> dict[str, _EntrantCounts]:
    counts: dict[str, _EntrantCounts] = {}
    for games in sets:
        trials = trials_of(games)
        for key, mean in set_means(games, measure).items():
            count = counts.setdefault(key, _EntrantCounts())
            count.means.append(mean)
            count.trials.append(trials)
        for game in games:
            first = ranked_sides(game.entrants, game.places, game.sides)[0]
            winners = {key for side in first for key in side}
            for key in set(game.entrants):
                counts[key].games += 1
                counts[key].wins += key in winners and len(first) == 1
                counts[key].shared_wins += key in winners and len(first) > 1
            for key, stake in zip(game.entrants, game.measures.stakes, strict=True):
                counts[key].stakes.append(stake)
    return counts


def _notes(rows: Sequence[StandingsRow], evidence: _StandingsInput) -> Iterator[str]:
    if evidence.ladder is not None:
        yield from evidence.ladder.notes
        return
    certainty, yardstick = evidence.certainty_at_any_look, evidence.yardstick
    if certainty is not None:
        yield (
            f"This league looks at its results and may stop early: ranks hold at every look ({certainty:.4g}), "
            f"and so do the intervals of the measure; those of the rating are for a league of fixed length."
        )
    tables = evidence.comparison.tables
    if tables and all(max(table.values()) - min(table.values()) <= ROUNDING for table in tables):
        yield f"No difference seen: in {_each(len(tables))} all bots got the same."
    waiting = sum(row.sets < FEWEST_SETS for row in rows)
    if waiting:
        who = "No entrant has" if waiting == len(rows) else f"{waiting} of {len(rows)} entrants do not have"
        whom = "there are" if waiting == len(rows) else "for these there are"
        yield (
            f"{who} {FEWEST_SETS} closed sets yet, so {whom} no ranks and no intervals: fewer sets do not show how much "
            "results vary."
        )
    if yardstick is not None:
        yield from _against(rows, evidence, yardstick)
    elif len(rows) - waiting == 1:
        yield "One entrant alone has enough sets: there is nobody to rank it against."
    if rows and not waiting and not evidence.span.high > evidence.span.low:
        yield "Every figure of every game was the same: how they may differ is not known, so there are no intervals."
    groups = len(set(evidence.comparison.groups))
    if groups > 1:
        yield f"The entrants form {groups} groups that never met: between groups nothing is compared."
    skill_table = evidence.skill_table
    if skill_table.skipped:
        yield f"TrueSkill could not rate {skill_table.skipped} games and left them out."
    yield from skill_table.notes


def _each(sets: int) -> str:
    return "the one closed set" if sets == 1 else f"each of {sets} closed sets"


def _against(rows: Sequence[StandingsRow], evidence: _StandingsInput, yardstick: str) -> Iterator[str]:
    """What a gauntlet shows: the challengers against the bot that all of them have met."""
    yield (
        f"A gauntlet: {yardstick} has met all others, and these not one another except at its tables. The others are ranked "
        f"among themselves, by what each got beyond the average at its tables; {yardstick} has no rank."
    )
    enough = [row.entrant for row in rows if row.sets >= FEWEST_SETS]
    if yardstick not in enough or len(enough) < 2:
        return
    certainty = evidence.certainty_at_any_look
    found = separated(evidence.comparison, sorted(enough), certainty or CONFIDENCE, at_any_look=certainty is not None)
    better = [one for one in enough if (one, yardstick) in found]
    worse = [one for one in enough if (yardstick, one) in found]
    yield (
        f"Shown to be better than {yardstick}: {', '.join(better) or 'none'}; worse: {', '.join(worse) or 'none'}; "
        f"open: {len(enough) - 1 - len(better) - len(worse)}."
    )

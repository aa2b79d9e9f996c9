"""Standings: one row an entrant, every column from the same closed sets.

Rows are ordered by *advantage*: what the entrant gets per game of the league's measure beyond the average entrant at
the same table. While all met the same opponents that is the order of the measure itself; where tables differ, it is
fair to those that met strong ones. The rank beside it is a range, as wide as the data leave it.

Rendering is done elsewhere; :meth:`Standings.to_json` gives plain data. Given the same games in the same order, all
numbers are the same to the last digit; all but TrueSkill do not depend on the order of sets.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import fsum
from typing import Any, Final, Literal

from referee.statistics.anytime import estimate_at_any_look
from referee.statistics.awards import Awards, gather
from referee.statistics.comparison import Comparison, compare
from referee.statistics.luck import Saving, Share, saving_of
from referee.statistics.paired import CONFIDENCE, Estimate, estimate
from referee.statistics.plackett_luce import fit_awards
from referee.statistics.ranks import rank_ranges
from referee.statistics.ratings import Skill, SkillTable, rate_skills
from referee.statistics.resample import RESAMPLES, RatingInterval, Resampled, resample
from referee.statistics.results import GameSet, MeasureName, ResultError, check_sets, ranked_sides, set_means

FEWEST_SETS: Final = 10
"""Closed sets an entrant needs before it gets a rank."""

Status = Literal["ranked", "too few to rank"]


@dataclass(frozen=True, slots=True)
class Tally:
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


@dataclass(frozen=True, slots=True)
class Row:
    """One entrant.

    ``rank_low``, ``rank_high``: best and worst rank the data support, 1 the best; None while ``status`` is "too few to
    rank". ``measure``: the league's measure per game. ``advantage``: see the module. ``stability``: how often, 0..1,
    this row stays ahead of the next under resampling; None where either has no rank. ``rating``: order-free, Elo-like,
    mean 0. ``adjusted``: the measure with the luck of the deal taken off by house replay, where that applies. ``wins``: games finished first alone; ``shared_wins``: first together with another side. ``stakes``: total.
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
    tally: Tally


@dataclass(frozen=True, slots=True)
class Standings:
    """The table of a league and how it was made.

    ``status``: "too few to rank" while nobody has a rank. ``share``: how many games give an interval as narrow as a game of
    plain deals does, between two at a table, measured on this league; ``share_by``: what has saved them; ``share_note``: the same
    in a sentence.
    ``notes``: what a reader must know, in sentences.
    """

    measure: MeasureName
    status: Status
    sets: int
    games: int
    rows: tuple[Row, ...]
    confidence: float
    resamples: int
    seed: str
    share: Share | None
    share_by: Literal["shared packs", "house replay", ""]
    share_note: str
    draw_probability: float
    tau: float
    skipped: int
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, text and numbers, ready for ``json.dumps``."""
        plain = asdict(self)
        for row, source in zip(plain["rows"], self.rows, strict=True):
            row["skill"]["conservative"] = source.skill.conservative
        return {key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()}


_UNRATED: Final = RatingInterval(None, None, None)


@dataclass(slots=True)
class _Counts:
    games: int = 0
    wins: int = 0
    shared_wins: int = 0
    stakes: list[float] = field(default_factory=list)
    means: list[float] = field(default_factory=list)


def standings(
    sets: Iterable[GameSet],
    tallies: Mapping[str, Tally],
    *,
    measure: MeasureName = "place",
    entrants: Iterable[str] = (),
    seed: str = "",
    resamples: int = RESAMPLES,
    skills: SkillTable | None = None,
    certainty_at_any_look: float | None = None,
) -> Standings:
    """The standings after these closed sets, in schedule order.

    ``tallies``: by entrant key; an entrant without one has a row of zeros, and a tally makes a row. ``entrants``: more
    keys that get a row though they have not played. ``seed``: of the bootstrap. ``skills``: TrueSkill of exactly these
    sets, from a running :class:`referee.statistics.ratings.SkillRater`; made here when absent, which takes longest.
    ``certainty_at_any_look``: the league looks at its results and may stop early; ranks hold at every look with this
    certainty, and the intervals of the measure with the usual one.

    Raises ResultError for sets that contradict one another, or skills that are not of these sets.
    """
    checked = check_sets(sets)
    names = {key for games in checked for game in games for key in game.entrants} | set(tallies) | set(entrants)
    rated = skills if skills is not None else rate_skills(checked, sorted(names))
    counts = _count(checked, measure)
    _check_skills(rated, names, counts)
    awards = gather(checked)
    comparison = compare(checked, measure)
    resampled = _resampled(checked, awards, comparison, seed, resamples)
    saving = saving_of(checked, measure, seed)
    rows = _rows(_Evidence(sorted(names), counts, comparison, resampled, rated, tallies, certainty_at_any_look, saving))
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
        notes=_notes(rows, comparison, rated, certainty_at_any_look),
    )


def _resampled(
    sets: Sequence[GameSet], awards: Awards, comparison: Comparison, seed: str, resamples: int
) -> Resampled | None:
    if not sets:
        return None
    return resample(sets, awards, fit_awards(awards), comparison, seed=seed, resamples=resamples)


@dataclass(frozen=True, slots=True)
class _Evidence:
    """All that rows are made of."""

    names: Sequence[str]
    counts: Mapping[str, _Counts]
    comparison: Comparison
    resampled: Resampled | None
    skill_table: SkillTable
    tallies: Mapping[str, Tally]
    certainty_at_any_look: float | None
    saving: Saving


def _check_skills(table: SkillTable, names: Iterable[str], counts: Mapping[str, _Counts]) -> None:
    for key in sorted(names):
        rated = table.skills[key].games if key in table.skills else -1
        played = counts[key].games if key in counts else 0
        if not played - table.skipped <= rated <= played:
            told = f"has rated {rated} games of {key!r}, not {played}" if rated >= 0 else f"does not know {key!r}"
            raise ResultError(f"skills: the rater {told}; give it every entrant and exactly these sets")


def _rows(evidence: _Evidence) -> tuple[Row, ...]:
    counts = evidence.counts
    advantages = dict(zip(evidence.comparison.entrants, evidence.comparison.advantages, strict=True))
    order = sorted(evidence.names, key=lambda key: _sort_key(key, counts.get(key), advantages.get(key)))
    ranked = [key for key in order if key in counts and len(counts[key].means) >= FEWEST_SETS]
    certainty = evidence.certainty_at_any_look
    looks = certainty is not None
    ranges = rank_ranges(evidence.comparison, ranked, certainty or CONFIDENCE, at_any_look=looks)
    stability = evidence.resampled.stability(ranked) if evidence.resampled else []
    stays_ahead = dict(zip(ranked, stability, strict=False))  # the last has no next
    ratings = evidence.resampled.ratings if evidence.resampled else {}
    return tuple(
        _row(evidence, key, ranges.get(key), advantages.get(key), stays_ahead.get(key), ratings.get(key, _UNRATED))
        for key in order
    )


def _row(
    evidence: _Evidence,
    key: str,
    ranks: tuple[int, int] | None,
    advantage: float | None,
    stability: float | None,
    rating: RatingInterval,
) -> Row:
    count = evidence.counts.get(key, _Counts())
    means = count.means
    looks = evidence.certainty_at_any_look is not None
    return Row(
        entrant=key,
        status="ranked" if ranks else "too few to rank",
        rank_low=ranks[0] if ranks else None,
        rank_high=ranks[1] if ranks else None,
        measure=estimate_at_any_look(means, 1.0 - CONFIDENCE) if looks else estimate(means),
        advantage=advantage,
        stability=stability,
        rating=rating,
        skill=evidence.skill_table.skills[key],
        adjusted=evidence.saving.adjusted.get(key),
        sets=len(count.means),
        games=count.games,
        wins=count.wins,
        shared_wins=count.shared_wins,
        stakes=fsum(count.stakes),
        tally=evidence.tallies.get(key, Tally()),
    )


def _sort_key(key: str, count: _Counts | None, advantage: float | None) -> tuple[int, float, str]:
    """Ranked entrants first, then those with too few sets, then those without any; each by advantage, then by name."""
    if count is None or advantage is None:
        return 2, 0.0, key
    return int(len(count.means) < FEWEST_SETS), -round(advantage, 12), key


def _count(sets: Sequence[GameSet], measure: MeasureName) -> dict[str, _Counts]:
    counts: dict[str, _Counts] = {}
    for games in sets:
        for key, mean in set_means(games, measure).items():
            counts.setdefault(key, _Counts()).means.append(mean)
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


def _notes(
    rows: Sequence[Row], comparison: Comparison, skill_table: SkillTable, certainty_at_any_look: float | None
) -> tuple[str, ...]:
    notes = []
    if certainty_at_any_look is not None:
        notes.append(
            f"This league looks at its results and may stop early: ranks hold at every look ({certainty_at_any_look:.4g}), "
            f"and so do the intervals of the measure; those of the rating are for a league of fixed length."
        )
    waiting = sum(row.status != "ranked" for row in rows)
    if waiting:
        notes.append(f"{waiting} of {len(rows)} entrants have fewer than {FEWEST_SETS} closed sets: too few to rank.")
    groups = len(set(comparison.groups))
    if groups > 1:
        notes.append(f"The entrants form {groups} groups that never met: between groups nothing is compared.")
    if skill_table.skipped:
        notes.append(f"TrueSkill could not rate {skill_table.skipped} games and left them out.")
    return (*notes, *skill_table.notes)

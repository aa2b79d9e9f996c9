"""The standings of a league, from its store: the one place from which every screen, report and file takes them.

First what they need of one finished game: its *summary*, which the store keeps beside the record. Then the fold over scored sets.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from referee.league.ladder_history import LadderHistory, aims, closed_rounds, history_of, is_ladder, rounds_of
from referee.league.league import League
from referee.league.luck_baseline import replay_by_fallback
from referee.league.schedule.formats import format_of
from referee.league.schedule.schedule import Schedule, read_schedule
from referee.league.store import GameRow, GameSummary, LeagueFacts, SetRow, Store
from referee.statistics.bootstrap import RESAMPLES
from referee.statistics.intervals import CONFIDENCE, FEWEST_SETS
from referee.statistics.panel_points import panel_points
from referee.statistics.results import Measures, PlayedGame, place_points
from referee.statistics.standings import METHOD, FaultCounts, LadderView, Standings, VoidSet, standings
from referee.statistics.trueskill_ratings import SkillState, rate_skills_from
from referee.umpire.faults import Fault
from referee.umpire.umpire import Umpire

_STEPS = 8
"""Buckets of decision times per factor of two: a quantile is right to within 4.5%."""


def summarise(umpire: Umpire, entrants: Sequence[str], set_id: str) -> GameSummary:
    """The summary of a finished game; figures are by seat. ``times`` are the only ones that are measured."""
    result, sides = umpire.result, umpire.spec.rules.sides
    if result is None:
        raise ValueError("the game has no result")
    seats = range(umpire.spec.seats)
    made, set_back = _contracts(umpire)
    faults = [Counter(item.fault for item in umpire.irregularities if item.seat == seat) for seat in seats]
    summary: GameSummary = {
        "set": set_id,
        "entrants": list(entrants),
        "sides": sides,
        "winner": result.winner,
        "reason": str(result.reason),
        "deals": len(umpire.deals),
        "decisions": umpire.steps,
        "places": list(result.places),
        "stakes": list(result.stakes),
        "points": [result.scores[umpire.spec.rules.side(seat)] for seat in seats],
        "forfeits": list(result.forfeits),
        "bids_made": made,
        "bids_set_back": set_back,
        "illegal": [count[Fault.ILLEGAL_ACTION] + count[Fault.MALFORMED] for count in faults],
        "time_outs": [count[Fault.TIMEOUT_MOVE] + count[Fault.TIMEOUT_GAME] for count in faults],
        "lost": [sum(count[fault] for fault in _LOSSES) for count in faults],
        "times": [histogram(times) for times in umpire.charged],
    }
    if umpire.spec.rules.max_deals == 1:
        deal = umpire.deals[0]
        by_seat = replay_by_fallback(umpire.spec.rules, umpire.spec.seats, deal.dealer, deal.pack)
        summary["house"] = [list(seat) for seat in by_seat]
    return summary


_LOSSES = frozenset(Fault) - {Fault.ILLEGAL_ACTION, Fault.MALFORMED, Fault.TIMEOUT_MOVE, Fault.TIMEOUT_GAME}


def _contracts(umpire: Umpire) -> tuple[list[int], list[int]]:
    made, set_back = [0] * umpire.spec.seats, [0] * umpire.spec.seats
    for log in umpire.deals:
        outcome = log.outcome
        if outcome is not None and outcome.pitcher is not None and outcome.bid:
            (made if outcome.set_back is None else set_back)[outcome.pitcher] += 1
    return made, set_back


def histogram(times_us: Iterable[int]) -> dict[str, int]:
    """Times counted in buckets of an eighth of a factor of two, keyed by the bucket's number."""
    counts = Counter(math.floor(math.log2(time) * _STEPS) if time > 0 else 0 for time in times_us)
    return {str(bucket): counts[bucket] for bucket in sorted(counts)}


def quantile_ms(counts: Mapping[str, int], share: float) -> float | None:
    """The time below which that share of the counted times lies, in milliseconds; ``None`` if there are none."""
    total = sum(counts.values())
    below = 0
    for bucket in sorted(counts, key=int):
        below += counts[bucket]
        if below >= share * total and total:
            return round(2 ** ((int(bucket) + 0.5) / _STEPS) / 1000, 3)
    return None


def played_game(summary: GameSummary) -> PlayedGame:
    """A summary as the ratings take it."""
    places, sides = tuple(summary["places"]), summary["sides"]
    measures = Measures(
        place_points(places, sides), tuple(map(float, summary["stakes"])), tuple(map(float, summary["points"]))
    )
    controls = tuple(tuple(map(float, seat)) for seat in summary.get("house", ()))
    return PlayedGame(
        set_id=summary["set"],
        entrants=tuple(summary["entrants"]),
        places=places,
        sides=sides,
        measures=measures,
        controls=controls,
    )


def games_by_set(games: Iterable[GameRow]) -> dict[str, list[PlayedGame]]:
    """The games of each set by its id; within a set by rotation."""
    by_set: dict[str, list[tuple[int, PlayedGame]]] = {}
    for game in games:
        set_id, _, rotation = game.fixture_id.rpartition("-")
        by_set.setdefault(set_id, []).append((int(rotation), played_game(game.summary)))
    return {set_id: [game for _, game in sorted(played, key=lambda pair: pair[0])] for set_id, played in by_set.items()}


def closed_sets(sets: Iterable[SetRow], games: Iterable[GameRow]) -> list[list[PlayedGame]]:
    """The games of every scored set, in schedule order; within a set by rotation."""
    by_set = games_by_set(games)
    return [by_set[row.id] for row in sets if row.state == "SCORED" and row.id in by_set]


def tallies(sets: Sequence[SetRow], games: Iterable[GameRow]) -> dict[str, FaultCounts]:
    """What is counted for each entrant outside the results, over scored sets."""
    scored = {row.id for row in sets if row.state == "SCORED"}
    counts: defaultdict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(_COUNTED, 0))
    times: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for game in games:
        summary: Mapping[str, Any] = game.summary
        if summary["set"] not in scored:
            continue
        for seat, key in enumerate(summary["entrants"]):
            own, spent = counts[key], times[key]
            for name in _COUNTED:
                own[name] += summary[name][seat]
            for bucket, number in summary["times"][seat].items():
                spent[bucket] = spent.get(bucket, 0) + number
    return {
        key: FaultCounts(
            bids_made=count["bids_made"],
            bids_set_back=count["bids_set_back"],
            illegal_actions=count["illegal"],
            time_outs=count["time_outs"],
            crashes=count["lost"],
            decision_ms_median=quantile_ms(times[key], 0.5),
            decision_ms_p99=quantile_ms(times[key], 0.99),
        )
        for key, count in counts.items()
    }


_COUNTED: Final = ("bids_made", "bids_set_back", "illegal", "time_outs", "lost")


def standings_of(
    store: Store, league: League, resamples: int | None = None, games: Sequence[GameRow] | None = None
) -> Standings:
    """The standings after the scored sets of a league. ``resamples`` trades speed for finer shares.

    ``games``: those of the store, if they were read already. The standings of a finished league are kept with it
    (``kept_standings``), and not worked out again.
    """
    sets = store.sets()
    ladder = is_ladder(league)  # its figures are of those who play now, not of all its sets
    kept = kept_standings(store.league(), league, sets) if resamples is None and not ladder else None
    if kept is not None:
        return kept
    needed = ladder or any(row.state == "VOID" for row in sets)
    return table_from(
        league,
        read_schedule(store) if needed else Schedule(()),
        sets,
        store.games() if games is None else games,
        resamples,
        store.skills() if ladder else (),
    )


def skill_states(
    league: League, schedule: Schedule, sets: Sequence[SetRow], games: Iterable[GameRow], states: Sequence[SkillState]
) -> list[SkillState]:
    """What TrueSkill has come to on a ladder, to go on from: made of ``states``, those of before, as far as they still hold."""
    closed = sets_of_the_roster(league, schedule, closed_sets(sets, games))
    return rate_skills_from(states, closed)[1]


def figures_so_far(store: Store, league: League, resamples: int) -> Standings:
    """What all stored games come to, those of sets under way among them: for a look while no set is whole yet.

    The rotations of a set balance one another only when all are played. So nobody has a rank here, and no figure an interval.
    """
    sets = [replace(row, state="SCORED") if row.state == "OPEN" and row.games else row for row in store.sets()]
    table = table_from(league, read_schedule(store), sets, store.games(), resamples)
    rows = tuple(
        replace(
            row,
            status="too few to rank",
            rank_low=None,
            rank_high=None,
            stability=None,
            measure=replace(row.measure, low=None, high=None),
            rating=replace(row.rating, low=None, high=None),
            adjusted=None,
        )
        for row in table.rows
    )
    return replace(table, status="too few to rank", rows=rows, share=None, share_by="", share_note="", notes=())


def kept_standings(facts: LeagueFacts, league: League, sets: Sequence[SetRow]) -> Standings | None:
    """The standings that a finished league was stored with; ``None`` if there are none, or they are not of these sets.

    Nor are they taken where another version made them in another way, or anything in them is not as it is written today.
    ``verify`` does not use them: it works them out and compares.
    """
    stored = facts.get("standings")
    if facts["state"] != "finished" or not stored or stored.get("method") != METHOD:
        return None
    try:
        table = Standings.from_json(stored)
    except ValueError:
        return None
    states = Counter(row.state for row in sets)
    fits = (
        table.measure == league.shape.objective
        and table.seed == league.commitment
        and table.resamples == RESAMPLES
        and table.sets == states["SCORED"]
        and table.games == sum(row.games for row in sets if row.state == "SCORED")
        and not states["OPEN"]
        and [(one.id, one.reason) for one in table.void]
        == [(row.id, _reason(row)) for row in sets if row.state == "VOID"]
        and sorted(row.entrant for row in table.rows) == sorted(entrant.key for entrant in league.entrants)
    )
    return table if fits else None


def table_from(
    league: League,
    schedule: Schedule,
    sets: Sequence[SetRow],
    games: Iterable[GameRow],
    resamples: int | None = None,
    states: Sequence[SkillState] = (),
) -> Standings:
    """The standings of a league whose sets and games are these.

    ``schedule`` tells who was to play the sets that are void; of a ladder it is needed. ``states``: from where TrueSkill goes on.
    """
    known = list(games)
    options: dict[str, Any] = {} if resamples is None else {"resamples": resamples}
    keys, shape = [entrant.key for entrant in league.entrants], league.shape
    format_ = format_of(shape)
    closed, counting = closed_sets(sets, known), sets
    if is_ladder(league):
        keys, view = _on_the_ladder(league, schedule, closed)
        closed = sets_of_the_roster(league, schedule, closed)
        ids = {games[0].set_id for games in closed}
        counting = [row for row in sets if row.id in ids]
        if states:
            options["skills"] = rate_skills_from(states, closed, keys)[0]
        options |= {"ladder": view, "certainty_at_any_look": CONFIDENCE}
    else:
        options |= {"certainty_at_any_look": format_.certainty(shape), "yardstick": format_.yardstick(keys)}
    table = standings(
        closed,
        tallies(counting, known),
        measure=shape.objective,
        entrants=keys,
        seed=league.commitment,
        **options,
    )
    tables = {planned.id: planned.table for planned in schedule.sets}
    void = (row for row in sets if row.state == "VOID")
    return replace(table, void=tuple(VoidSet(row.id, tables.get(row.id, ()), _reason(row)) for row in void))


def _reason(row: SetRow) -> str:
    return row.reason or "no reason is stored"


_NAMED: Final = 12
"""The most bots that a note names."""


def sets_of_the_roster(
    league: League, schedule: Schedule, closed: Sequence[list[PlayedGame]]
) -> list[list[PlayedGame]]:
    """Of the closed sets of a ladder those that tell of the bots that play now against one another; of any other league all.

    They hold nobody who has retired, and were not aimed at a pair: who met whom there was no matter of lots.
    """
    if not is_ladder(league):
        return list(closed)
    rounds = rounds_of(league)
    here, aimed = set(rounds[-1]["bots"]) if rounds else set[str](), _aims_by_set(league, schedule)
    return [
        games
        for games in closed
        if len(aimed[games[0].set_id]) < 2 and all(key in here for game in games for key in game.entrants)
    ]


def _aims_by_set(league: League, schedule: Schedule) -> dict[str, tuple[str, ...]]:
    """At whom each set of a ladder is aimed."""
    found = (at for one in rounds_of(league) for at in aims(one))
    return dict(zip((one.id for one in schedule.sets), found, strict=False))


def _on_the_ladder(
    league: League, schedule: Schedule, closed: Sequence[list[PlayedGame]]
) -> tuple[list[str], LadderView]:
    """Who plays on a ladder now, and what their ranks rest on."""
    history = history_of(league, schedule.sets, {games[0].set_id: games for games in closed})
    rounds, aimed = rounds_of(league), _aims_by_set(league, schedule)
    keys = list(rounds[-1]["bots"]) if rounds else []
    panel = [key for key in keys if history.entered[key]["panel"]]
    known = frozenset(key for key in keys if history.orders.sets(key) >= FEWEST_SETS)
    view = LadderView(
        orders=tuple(history.orders.orders(sorted(known))),
        known=known,
        panel=panel_points(((games, aimed[games[0].set_id]) for games in closed), panel, keys),
        notes=tuple(_ladder_notes(history, closed_rounds(league), keys, known, panel)),
    )
    return keys, view


def _ladder_notes(
    history: LadderHistory, closed: int, keys: Sequence[str], known: frozenset[str], panel: Sequence[str]
) -> Iterator[str]:
    """What a reader must know of a ladder, in sentences."""
    yield (
        f"A ladder, after {closed} closed {'round' if closed == 1 else 'rounds'}: ranks hold at every look, all of them together with certainty {CONFIDENCE:g}. An "
        "order means: ahead on average over the rosters that both have met. Figures are over sets among those who play now; sets "
        "aimed at a pair count for the order of that pair alone. The intervals of the measure and of panel points hold at every "
        "look of each by itself; those of the rating, and of the cross-table, are for a league of fixed length."
    )
    waiting = [key for key in keys if key not in known]
    if waiting:
        yield f"Provisional, with fewer than {FEWEST_SETS} closed sets: {_named(waiting)}."
    if panel:
        yield f"The panel: {_named(panel)}. Points against it compare over months."
    gone = [key for key in history.entered if key not in keys]
    if gone:
        yield f"Retired: {_named(gone[::-1])}. What they played stays, and counts for the orders of all who met them."


def _named(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
    return ", ".join(keys[:_NAMED]) + more

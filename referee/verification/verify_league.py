"""The frame of a league verified: commitment, definition, schedule, sets with their chains, roots, standings."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from referee import __version__, deals
from referee.league.ladder_history import closed_rounds, is_ladder, open_round
from referee.league.league import League, rules_of, source_digest
from referee.league.schedule.format import ScheduleError
from referee.league.schedule.schedule import Schedule
from referee.league.sets_to_play import find_ending, whole_schedule
from referee.league.standings import closed_sets, sets_of_the_roster, table_from
from referee.league.store import FixtureRow, GameRow, SetRow, Source, chain_next, chain_start
from referee.league.store.root_digests import (
    FIRST_SCHEME,
    SCHEME,
    first_record_root,
    record_root,
    result_root,
    scheme_of,
)
from referee.statistics.bootstrap import RESAMPLES
from referee.statistics.trueskill_ratings import SkillRater, SkillState
from referee.umpire.fallback_player import FALLBACK_VERSION
from referee.umpire.record import first_difference
from referee.verification.result import Check, Divergence, Findings, object_in, shown

MOST_RESAMPLES: Final = 20_000
"""Stored standings that claim more resamples are not recomputed as they claim: it would take for ever."""


def check_definition(league: League, found: Findings, published: str | None) -> None:
    """Definition, rules, master and commitment belong together."""
    facts, definition = league.facts, league.definition
    text = json.dumps(facts["definition"], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    found.differ(Check.DEFINITION, "digest of the definition", facts["digest"], digest)
    changed = first_difference(definition.canonical(), facts["definition"])
    if changed:
        found.differ(Check.DEFINITION, f"definition.{changed.path}", changed.theirs, changed.ours)
    found.differ(Check.DEFINITION, "name of the league", league.name, definition.tournament.name)
    ours = object_in(facts, "code").get("referee") == __version__  # an earlier version knew fewer house rules
    rules = first_difference(rules_of(definition).as_dict(), facts["rules"] if ours else league.rules.as_dict())
    if rules:
        found.differ(Check.DEFINITION, f"rules.{rules.path}", rules.theirs, rules.ours)
    own = deals.commitment(league.master, digest)
    found.differ(Check.COMMITMENT, "commitment to master and definition", league.commitment, own)
    if published is not None:
        own_too = [
            str(one.get("commitment")) for one in facts.get("rounds", [])
        ]  # each of a ladder is checked with its round
        found.differ(
            Check.COMMITMENT, "commitment that was published", published, published if published in own_too else own
        )
    seed = definition.schedule.seed
    found.differ(Check.COMMITMENT, "whether the master follows from a seed", league.seeded, seed is not None)
    for number, entry in enumerate(facts.get("earlier", ())):
        theirs = deals.commitment(bytes.fromhex(entry["master"]), entry["digest"])
        found.differ(Check.COMMITMENT, f"commitment of earlier season {number + 1}", entry["commitment"], theirs)
    if seed is not None and league.master != deals.seeded_master(seed):
        found.differ(Check.COMMITMENT, "master", "another", f"that of the seed {seed!r}")


def check_schedule(
    source: Source, league: League, sets: Sequence[SetRow], games: Iterable[GameRow], found: Findings
) -> Schedule | None:
    """Sets and fixtures are those that follow from definition, entrants and results; ``None`` if none do.

    ``games`` are those that count, as they are stored. The only place where the schedule of a league is made again.
    """
    try:
        schedule = whole_schedule(source, league, sets, games)
    except ScheduleError as error:
        found.add(
            Divergence(
                check=Check.SCHEDULE, what="there is no schedule for these entrants", says=shown(str(error)), should=""
            )
        )
        return None
    stored = [row.id for row in sets]
    planned = [one.id for one in schedule.sets]
    odd = first_difference(planned, stored)
    if odd:
        found.differ(Check.SCHEDULE, f"sets{odd.path}", odd.theirs, odd.ours)
    rows = {row.id: row for row in source.fixtures()}
    for fixture in schedule.fixtures:
        row = FixtureRow(fixture.id, fixture.set_id, fixture.rotation, fixture.seats)
        found.differ(
            Check.SCHEDULE, "seats of the fixture", _seating(rows.pop(fixture.id, None)), _seating(row), fixture.id
        )
    for extra in rows:
        found.add(
            Divergence(check=Check.SCHEDULE, what="a fixture that is not planned", says=shown(extra), should="nothing")
        )
    again = first_difference([one.id for one in schedule.fixtures], [row.id for row in source.fixtures()])
    if again and not rows:
        found.differ(Check.SCHEDULE, f"fixtures{again.path}", again.theirs, again.ours)
    return schedule


def _seating(row: FixtureRow | None) -> str | None:
    return None if row is None else f"{', '.join(row.seats)} (set {row.set_id}, rotation {row.rotation})"


def sort_games(
    games: Sequence[GameRow], fixtures: Mapping[str, FixtureRow], sets: Mapping[str, SetRow], found: Findings
) -> Iterator[tuple[GameRow, bool]]:
    """The games of the schedule with whether they count, or were superseded by new packs; others are found.

    Numbers run from 1 without a gap: a game that was taken away leaves one.
    """
    gap = next(((game.number, place) for place, game in enumerate(games, 1) if game.number != place), None)
    if gap:
        found.differ(Check.GAMES, "number of the next game", *gap)
    for game in games:
        fixture = fixtures.get(game.fixture_id)
        row = sets.get(fixture.set_id) if fixture else None
        if fixture is None or row is None:
            found.add(_extra(game, "a game of no fixture"))
        elif not 0 <= game.redeal <= row.redeal:
            found.add(_extra(game, f"a game of redeal {game.redeal}, its set is at {row.redeal}"))
        else:
            yield game, game.redeal == row.redeal


def _extra(game: GameRow, what: str) -> Divergence:
    return Divergence(
        check=Check.GAMES, what=what, says="a game", should="nothing", game=game.number, fixture=shown(game.fixture_id)
    )


def check_sets(
    league: League, schedule: Schedule, sets: Mapping[str, SetRow], games: Sequence[GameRow], found: Findings
) -> None:
    """Each set's chain and count, and that no game is missing where the set is scored. ``games`` are those that count."""
    by_set: dict[str, list[GameRow]] = {}
    for game in games:
        by_set.setdefault(game.fixture_id.rpartition("-")[0], []).append(game)
    played = {game.fixture_id for game in games}
    finished = league.facts.get("state") == "finished"
    last = _sets_needed(league, schedule)
    for number, planned in enumerate(schedule.sets):
        row, own = sets.get(planned.id), by_set.get(planned.id, [])
        if row is None:
            continue  # the schedule has it found
        head = chain_start(league.name, row.id)
        for game in own:
            head = chain_next(head, game.record_digest)
        found.differ(Check.CHAIN, f"head of the chain of set {row.id}", row.chain, head)
        found.differ(Check.CHAIN, f"number of games of set {row.id}", row.games, len(own))
        found.differ(Check.SETS, f"place of set {row.id} in the schedule", row.position, number)
        if row.state == "SCORED":
            for fixture in planned.fixtures:
                if fixture.id not in played:
                    found.add(
                        Divergence(
                            check=Check.GAMES, what="missing game", says="nothing", should="a game", fixture=fixture.id
                        )
                    )
        elif row.state not in ("OPEN", "VOID"):
            found.add(
                Divergence(
                    check=Check.SETS,
                    what=f"state of set {row.id}",
                    says=shown(row.state),
                    should="OPEN, SCORED or VOID",
                )
            )
        elif row.state == "VOID" and not row.reason:
            found.add(
                Divergence(check=Check.SETS, what=f"set {row.id}", says="VOID without a reason", should="a reason")
            )
        elif row.state == "OPEN" and finished and number < last:
            found.add(
                Divergence(
                    check=Check.SETS, what=f"set {row.id} of a finished league", says="OPEN", should="SCORED or VOID"
                )
            )


def _sets_needed(league: League, schedule: Schedule) -> int:
    """How many sets of the schedule must be over when the league is: all, or those before an early end."""
    early = league.facts.get("ended")
    sets = early.get("sets") if isinstance(early, dict) else None
    return sets if isinstance(sets, int) else len(schedule.sets)


def check_ending(
    league: League, schedule: Schedule, sets: Sequence[SetRow], games: Sequence[GameRow], found: Findings
) -> None:
    """A league that looks at its results stopped at the first look that showed enough. ``games`` are those that count."""
    if league.facts.get("state") != "finished":
        return
    try:
        closed = {own[0].set_id: own for own in closed_sets(sets, games)}
        ending = find_ending(league, schedule, closed)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        found.add(
            Divergence(check=Check.SETS, what="why the league ended cannot be told", says=shown(str(error)), should="")
        )
        return
    found.differ(Check.SETS, "its early end", league.facts.get("ended"), asdict(ending) if ending else None)


def check_roots(
    league: League,
    source: Source,
    sets: Sequence[SetRow],
    games: Sequence[GameRow],
    found: Findings,
    published: str | None,
) -> dict[str, str]:
    """The roots of a finished league; empty ones while it runs. ``games`` are those that count, as they should be."""
    facts = league.facts
    if facts.get("state") != "finished":
        return {"result_root": "", "record_root": ""}
    scheme = scheme_of(facts)
    if scheme == SCHEME:
        own = record_root(facts, source)
    else:
        own = first_record_root(league.name, sets, games)
        found.differ(Check.ROOT, "scheme of the record root", scheme, FIRST_SCHEME)
    roots = {"result_root": result_root(league.name, sets, games), "record_root": own}
    for name, root in roots.items():
        found.differ(Check.ROOT, name.replace("_", " "), facts.get(name), root)
    if published is not None:
        found.differ(Check.ROOT, "record root that was published", published, roots["record_root"])
    return roots


def check_standings(
    league: League, schedule: Schedule, sets: Sequence[SetRow], games: Sequence[GameRow], found: Findings
) -> None:
    """The standings that were stored at the end, computed again from the replayed games."""
    stored = league.facts.get("standings")
    if stored is None:
        if league.facts.get("state") == "finished" and scheme_of(league.facts) == SCHEME:
            found.differ(Check.STANDINGS, "standings of a finished league", None, "standings")
        return
    claims = object_in(league.facts, "standings")
    resamples = claims.get("resamples")
    sane = isinstance(resamples, int) and 1 <= resamples <= MOST_RESAMPLES
    try:
        table = table_from(
            league, schedule, sets, games, resamples if sane and isinstance(resamples, int) else RESAMPLES
        )
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        found.add(
            Divergence(check=Check.STANDINGS, what="they cannot be computed again", says=shown(str(error)), should="")
        )
        return
    ours = json.loads(json.dumps(table.to_json()))
    early = str(object_in(league.facts, "code").get("referee")).startswith("0.1.")
    if (
        early and "method" not in claims
    ):  # intervals and ranks of 0.1 were made in another way; what was counted was not
        ours, stored = _counted(ours), _counted(claims)
    elif league.facts.get("state") == "finished" and claims.get("resamples") != RESAMPLES:
        found.differ(Check.STANDINGS, "resamples", resamples, RESAMPLES)
    odd = first_difference(ours, stored, "", _close)
    if odd:
        found.add(Divergence(check=Check.STANDINGS, what=odd.path, says=shown(odd.theirs), should=shown(odd.ours)))


def check_skills(
    league: League,
    schedule: Schedule,
    sets: Sequence[SetRow],
    games: Sequence[GameRow],
    states: Sequence[SkillState],
    found: Findings,
) -> None:
    """What a ladder has noted of TrueSkill is what comes of its sets. What it has noted of other sets is used by nobody."""
    noted, rater = {one["sets"]: one for one in states}, SkillRater()
    for number, one in enumerate(sets_of_the_roster(league, schedule, closed_sets(sets, games)) if noted else (), 1):
        rater.add_set(one)
        if number in noted and (ours := rater.state())["digest"] == noted[number]["digest"]:
            odd = first_difference(json.loads(json.dumps(ours)), noted[number], "", _close)
            if odd:
                found.differ(Check.STANDINGS, f"TrueSkill after {number} sets: {odd.path}", odd.theirs, odd.ours)


_SETTLED: Final = ("measure", "sets", "games", "draw_probability", "tau", "skipped")
_SETTLED_OF_ROWS: Final = ("advantage", "skill", "sets", "games", "wins", "shared_wins", "stakes", "tally")


def _counted(table: Any) -> dict[str, Any]:
    """What does not depend on how intervals and ranks are made: counts, means, and ratings."""
    counted = {name: table.get(name) for name in _SETTLED}
    rows = table.get("rows")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return {**counted, "rows": rows}
    for row in sorted(rows, key=lambda row: str(row.get("entrant"))):
        own = {name: row.get(name) for name in _SETTLED_OF_ROWS}
        for name, part in (("measure", "mean"), ("rating", "value")):
            figure = row.get(name)
            own[name] = figure.get(part) if isinstance(figure, dict) else figure
        counted[f"row of {row.get('entrant')}"] = own
    return counted


def _close(ours: Any, theirs: Any) -> bool:
    """Equal, but for the last digits that another machine may round otherwise."""
    if isinstance(ours, float) and isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=1e-6, abs_tol=1e-9)
    return type(ours) is type(theirs) and bool(ours == theirs)


def notes(league: League, sets: Sequence[SetRow], superseded: int) -> Iterator[str]:
    """What a reader of the verdict should know besides."""
    facts, states = league.facts, Counter(row.state for row in sets)
    if is_ladder(league):
        closed, round_ = closed_rounds(league), open_round(league)
        known = (
            "1 closed round, with a commitment"
            if closed == 1
            else f"{closed} closed rounds, each with a commitment of its own"
        )
        being = f"; round {round_['number']} is being played, sets that are open: {states['OPEN']}." if round_ else "."
        yield f"A ladder with {known}{being}"
    elif facts.get("state") != "finished":
        yield f"The league is not finished: {states['OPEN']} of {len(sets)} sets are open."
    elif facts.get("standings") is None:
        yield "No standings are stored with this league, so none were compared."
    if facts.get("state") == "finished" and scheme_of(facts) == FIRST_SCHEME:
        yield "The record root is that of Referee 0.1.0, over the records alone: it says nothing of entrants, attempts and faults."
    if states["VOID"]:
        reasons = sorted({row.reason or "no reason" for row in sets if row.state == "VOID"})
        more = f" (and {len(reasons) - 3} other reasons)" if len(reasons) > 3 else ""
        yield f"Sets that do not count: {states['VOID']} void: {'; '.join(reasons[:3])}{more}"
    redealt = sum(row.redeal > 0 for row in sets)
    if redealt:
        yield (
            f"Sets dealt anew after an interruption: {redealt}; {superseded} games of earlier packs are kept, "
            "were verified too, and do not count."
        )
    if league.seeded:
        yield "The packs follow from a public seed: reproducible, not secret."
    else:
        yield "The commitment shows that the packs were fixed before the first deal, not how the master was chosen."
    kept = sum(len(entry["sets"]) for entry in facts.get("earlier", ()))
    if kept:
        commitments = ", ".join(str(entry["commitment"]) for entry in facts["earlier"])
        yield f"Sets kept from earlier seasons: {kept}, with packs that were committed to then: {commitments}"
    played = object_in(facts, "code")
    if played.get("house") != FALLBACK_VERSION:
        yield f"Played with house@{played.get('house')}, replayed with house@{FALLBACK_VERSION}: games with forfeits may differ."
    if played.get("referee") != __version__:
        yield f"Played with referee {played.get('referee')}, verified with {__version__}."
    elif played.get("source", source_digest()) != source_digest():
        yield f"Played with other files of referee {__version__} than those that verify now."

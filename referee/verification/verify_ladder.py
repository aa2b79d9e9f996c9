"""The rounds of a ladder verified: who was in, who was placed, whose order was open, and that chairs and packs came after that.

Each round is made again from the rounds before it: what was to be fixed first, its digest, the commitment to the master with that
digest, and the tables that follow from the master. ``verify_league.check_schedule`` compares the sets themselves.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from referee import deals
from referee.league.definition.names import is_readable
from referee.league.ladder import MOST_OF_A_REASON
from referee.league.ladder_history import (
    LadderHistory,
    is_ladder,
    key_of_version,
    rounds_of,
    seeded_round_master,
    sets_of_round,
    versions_of,
)
from referee.league.league import League
from referee.league.schedule.schedule import Schedule
from referee.league.standings import closed_sets
from referee.league.store import GameRow, SetRow
from referee.league.store.league_facts import NewOnLadder, RoundFacts
from referee.league.store.root_digests import result_root
from referee.verification.result import Check, Findings, shown

_FIELDS: Final = frozenset(RoundFacts.__annotations__)
_OF_NEW: Final = frozenset(NewOnLadder.__annotations__)


def check_rounds(
    league: League,
    entrants: Mapping[str, Mapping[str, Any]],
    schedule: Schedule,
    sets: Sequence[SetRow],
    games: Sequence[GameRow],
    found: Findings,
) -> None:
    """The facts of each round are those that follow from the rounds before. ``games`` are those that count, as they should be."""
    facts = league.facts
    if not is_ladder(league):
        for name in ("rounds", "frozen", "paused"):
            found.differ(Check.FACTS, f"{name} of a league that is no ladder", name in facts, False)
        return
    rounds = rounds_of(league)
    entered = [one["key"] for round_ in rounds for one in round_["entered"]]
    found.differ(Check.ENTRANT, "entrants, as the rounds tell who entered", list(entrants), entered)
    frozen = facts.get("frozen")
    if frozen is not None:
        late = [one["key"] for round_ in rounds[frozen:] for one in round_["entered"]]
        found.differ(Check.ROUND, f"who entered after the ladder was frozen in round {frozen}", late, [])
    results = {one[0].set_id: one for one in closed_sets(sets, games)}
    history, place = LadderHistory(league), 0
    for number, round_ in enumerate(rounds, 1):
        number_of_sets = sets_of_round(round_)
        _check_round(league, entrants, history, round_, number, found)
        end = place + number_of_sets
        is_last = number == len(rounds)
        if "result_root" in round_:
            root = result_root(league.name, sets[:end], games)
            found.differ(Check.ROOT, f"result root after round {number}", round_["result_root"], root)
            left = [row.id for row in sets[place:end] if row.state == "OPEN"]
            found.differ(Check.SETS, f"open sets of round {number}, which is closed", left, [])
        elif not is_last or facts.get("state") == "finished":
            found.differ(Check.ROUND, f"result root of round {number}, which is over", None, "a root")
        history.add(round_, schedule.sets[place:end], results)
        place = end
    found.differ(Check.ROUND, "sets of all rounds", place, len(sets))


def _check_round(
    league: League,
    entrants: Mapping[str, Mapping[str, Any]],
    history: LadderHistory,
    round_: RoundFacts,
    number: int,
    found: Findings,
) -> None:
    """One round; ``history`` knows those before it, and learns who enters."""
    what = f"of round {number}"
    found.differ(Check.ROUND, f"number {what}", round_["number"], number)
    found.differ(Check.ROUND, f"fields {what}", sorted(round_.keys() - _FIELDS), [])
    why: object = round_.get("voided", "nobody")
    if not (isinstance(why, str) and 0 < len(why) <= MOST_OF_A_REASON and is_readable(why)):
        found.differ(Check.ROUND, f"why the rest {what} was voided", why, "a plain line")
    for one in round_["entered"]:
        found.differ(Check.ROUND, f"fields of {shown(one['key'])}, which entered with it", sorted(one), sorted(_OF_NEW))
        key = key_of_version(one["bot"], len(versions_of(one["bot"], history.entered.values())) + 1)
        found.differ(Check.ROUND, f"key of a version of {shown(one['bot'])}", one["key"], key)
        found.differ(
            Check.ROUND, f"whether {shown(key)} is of the panel", one["panel"], bool(one["panel"]) and number == 1
        )
        found.differ(Check.ROUND, f"owner of {shown(key)}", one["owner"], "" if one["panel"] else one["owner"])
        history.enter([one])
    bots, order = round_["bots"], [*history.entered]
    found.differ(Check.ROUND, f"order of the bots {what}", bots, [key for key in order if key in set(bots)])
    panel = [key for key, one in history.entered.items() if one["panel"]]
    staying = [key for key in panel if key in bots or not entrants[key]["withdrawn"]]
    found.differ(Check.ROUND, f"panel {what}", [key for key in panel if key in bots], staying)
    names = Counter(history.entered[key]["bot"].casefold() for key in bots)
    twice = sorted(name for name, number in names.items() if number > 1)
    found.differ(Check.ROUND, f"bots {what} in two versions", twice, [])
    left_out = [one["key"] for one in round_["entered"] if one["key"] not in bots]
    found.differ(Check.ROUND, f"who entered with it and is not {what}", left_out, [])
    plan = history.plan(round_["entered"], bots)
    found.differ(Check.ROUND, f"newcomers that are placed {what}", round_["placed"], list(plan.placed))
    found.differ(Check.ROUND, f"pairs {what} whose order was open", round_["pairs"], [list(one) for one in plan.pairs])
    digest = history.digest(plan, round_["entered"])
    found.differ(Check.ROUND, f"digest {what}", round_["digest"], digest)
    master = bytes.fromhex(round_["master"])
    found.differ(
        Check.COMMITMENT, f"commitment to round {number}", round_["commitment"], deals.commitment(master, digest)
    )
    seed = league.definition.schedule.seed
    if seed is not None and master != seeded_round_master(seed, number):
        found.differ(Check.COMMITMENT, f"master {what}", "another", f"that of the seed {seed!r}")
    drawn = history.draw(plan, master, sets_of_round(round_))
    found.differ(Check.ROUND, f"tables {what}", round_["tables"], drawn.tables)

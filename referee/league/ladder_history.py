"""What the rounds of a ladder so far have shown, and what follows for the next: who is placed, whose order is open, who sits where.

A fold over rounds in their order. Everything follows from the facts of the rounds, the stored schedule, and the results of sets
that count, so whoever has these makes the same next round.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Final

from referee import deals
from referee.league.entrants.roster import Entrant
from referee.league.league import League
from referee.league.schedule.format import planned_set, set_id
from referee.league.schedule.formats import format_of
from referee.league.schedule.ladder import (
    AimedTable,
    LadderBot,
    Meetings,
    RoundPlan,
    draw_round,
    extra_tables,
    newcomers_to_place,
    open_pairs,
    table_numbers,
)
from referee.league.schedule.schedule import PlannedSet
from referee.league.store.league_facts import AimedTables, NewOnLadder, RoundFacts
from referee.statistics.ladder_orders import LadderOrders
from referee.statistics.results import GameSet, set_means

OF_A_VERSION: Final = "@"
"""Stands between a bot and the number of its version in the key of an entrant: ``careful@2`` is the second that entered."""


def versions_of(bot: str, entered: Iterable[NewOnLadder]) -> list[NewOnLadder]:
    """The versions of a bot among those that have entered, oldest first. Careful and careful are one bot."""
    return [one for one in entered if one["bot"].casefold() == bot.casefold()]


def key_of_version(bot: str, number: int) -> str:
    """The key of the version of a bot that enters as that number, from 1."""
    return bot if number == 1 else f"{bot}{OF_A_VERSION}{number}"


def is_ladder(league: League) -> bool:
    """Whether a league is a ladder."""
    return format_of(league.shape).endless


def rounds_of(league: League) -> list[RoundFacts]:
    """The rounds of a ladder in order; none of another league."""
    return league.facts.get("rounds", [])


def entered_on(league: League) -> dict[str, NewOnLadder]:
    """All that ever entered a ladder, by key, in that order."""
    return {one["key"]: one for round_ in rounds_of(league) for one in round_["entered"]}


def closed_rounds(league: League) -> int:
    """How many rounds are closed."""
    return sum("result_root" in one for one in rounds_of(league))


def open_round(league: League) -> RoundFacts | None:
    """The round that is being played, if one is."""
    rounds = rounds_of(league)
    return rounds[-1] if rounds and "result_root" not in rounds[-1] else None


def definition_file(league: League) -> str:
    """The definition that a ladder is played from, as a command names it."""
    return league.facts.get("file") or "LADDER.toml"


def aims(round_: RoundFacts) -> Iterator[tuple[str, ...]]:
    """At whom each set of a round is aimed, in schedule order."""
    return chain.from_iterable(repeat(tuple(part["aimed"]), part["sets"]) for part in round_["tables"])


def sets_of_round(round_: RoundFacts) -> int:
    """How many sets a round has."""
    return sum(part["sets"] for part in round_["tables"])


def voided_with_round(number: int, reason: str) -> str:
    """Why a set is void that was not over when what was open of its round was voided for that reason."""
    return f"round {number} was voided: {reason}"


@dataclass(frozen=True, slots=True)
class DrawnRound:
    """The sets of a round, and its tables as its facts tell them."""

    sets: tuple[PlannedSet, ...]
    tables: list[AimedTables]


class LadderHistory:
    """The rounds of a ladder so far.

    ``orders``: the evidence. ``entered``: all that ever entered, by key, in that order. ``last_round``: the last round that each
    was in. ``rounds``: how many there were.
    """

    def __init__(self, league: League, incoming: Sequence[Entrant] = ()) -> None:
        """``incoming``: bots that are about to enter."""
        self._league, self._shape = league, league.shape
        self._bots = {entrant.key: entrant for entrant in (*league.entrants, *incoming)}
        self._met = Meetings()
        self._seated: Counter[frozenset[str]] = Counter()
        self.orders = LadderOrders()
        self.entered: dict[str, NewOnLadder] = {}
        self.last_round: dict[str, int] = {}
        self.rounds = 0

    def enter(self, new: Sequence[NewOnLadder]) -> None:
        """These enter, in this order; raises ValueError for one that has entered already."""
        for one in new:
            self.orders.enter(one["key"], one["owner"])
            self.entered[one["key"]] = one

    def plan(self, new: Sequence[NewOnLadder], bots: Sequence[str]) -> RoundPlan:
        """The next round of these bots, of which the new have entered: who is placed, and whose order is open."""
        known = tuple(LadderBot(key, self._bots[key].version, self.entered[key]["owner"]) for key in bots)
        keys = [one["key"] for one in new]
        placed = newcomers_to_place(self._shape, known, keys)
        others = [bot.key for bot in known if bot.key not in placed]
        pairs = open_pairs(self.orders, others, extra_tables(self._shape, len(others)))
        return RoundPlan(self.rounds + 1, known, placed, pairs)

    def digest(self, plan: RoundPlan, new: Sequence[NewOnLadder]) -> str:
        """SHA-256 over all that is fixed of a round before its master is drawn."""
        said = {
            "ladder": self._league.facts["digest"],
            "number": plan.number,
            "entered": [dict(one) for one in new],
            "bots": [[bot.key, bot.version, self._bots[bot.key].digest] for bot in plan.bots],
            "placed": list(plan.placed),
            "pairs": [list(pair) for pair in plan.pairs],
        }
        text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def draw(self, plan: RoundPlan, master: bytes, most: int | None = None) -> DrawnRound:
        """Who sits where in a round with that master.

        Raises ``ScheduleError`` where the bots cannot fill a table, or there would be more than ``most`` tables: of a round that
        somebody else has stored, only as many are drawn as are there.
        """
        drawn = draw_round(self._shape, plan, self._met, self._league.name, master, most)
        bots = {bot.key: bot for bot in plan.bots}
        numbers = table_numbers([table.order for table in drawn], self._seated)
        sets = tuple(
            planned_set(
                set_id([bots[key] for key in table.order], number), table.order, table.rotations, self._shape.seats
            )
            for table, number in zip(drawn, numbers, strict=True)
        )
        return DrawnRound(sets, _told(drawn))

    def add(self, round_: RoundFacts, sets: Sequence[PlannedSet], results: Mapping[str, GameSet]) -> None:
        """A round with its sets; ``results``: the games of those that count, by id. Its newcomers have entered."""
        self.rounds = round_["number"]
        aimed = list(aims(round_))
        balanced = [key for key in round_["bots"] if key not in round_["placed"]]
        self._met.add(self.rounds, balanced, ((one.table, bool(at)) for one, at in zip(sets, aimed, strict=True)))
        self.last_round |= dict.fromkeys(round_["bots"], self.rounds)
        for planned, at in zip(sets, aimed, strict=True):
            self._seated[frozenset(planned.table)] += 1
            if games := results.get(planned.id):
                self.orders.add(set_means(games, self._shape.objective), at)


def _told(tables: Sequence[AimedTable]) -> list[AimedTables]:
    """Tables as the facts of a round tell them: those that follow one another and are aimed alike together."""
    found: list[AimedTables] = []
    for table in tables:
        if found and found[-1]["aimed"] == list(table.aimed):
            found[-1]["sets"] += 1
        else:
            found.append({"aimed": list(table.aimed), "sets": 1})
    return found


def history_of(
    league: League,
    schedule: Sequence[PlannedSet],
    results: Mapping[str, GameSet],
    incoming: Sequence[Entrant] = (),
) -> LadderHistory:
    """The history of a ladder from its store. ``schedule``: all its sets; ``results``: the games of those that count, by id.

    An open round is part of it, as far as it is played. Raises ValueError if rounds and schedule contradict one another.
    """
    history, place = LadderHistory(league, incoming), 0
    for round_ in rounds_of(league):
        history.enter(round_["entered"])
        number = sets_of_round(round_)
        history.add(round_, schedule[place : place + number], results)
        place += number
    return history


def round_master(league: League, number: int) -> bytes:
    """A master for a round: that of the seed, which anybody can tell, or a secret one drawn now."""
    seed = league.definition.schedule.seed
    return deals.secret_master() if seed is None else seeded_round_master(seed, number)


def seeded_round_master(seed: str, number: int) -> bytes:
    """The master of a round of a ladder that is reproducible."""
    return hashlib.sha256(deals.encode("af-ladder-round-v1", deals.seeded_master(seed).hex(), number)).digest()

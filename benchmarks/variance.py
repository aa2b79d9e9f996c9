"""How many games luck costs, and how many duplicate deals, swapped versions and house replay save: sample bots, in process.

    python benchmarks/variance.py [--sets 400] [--only duplicate] [--only compare] [--only house]

Single deals, by points (``length = deal``), four seats, counted in games. The yardstick of the same run is plain deals: each game with packs of its
own. A figure is the share of plain games that gives an interval as narrow, with its own 95% interval over sets:

* duplicate: sets of four games, a pack played from every seat, between two bots at one table;
* compare: pairs of games, only the version swapped. "same question": plain games of either version among the same others;
  "same table": plain games in which both versions sit at one table, by the difference between them;
* house: plain deals with the replay of fallback players taken off.

Bounds: duplicate 0.65 and house replay 0.7 at tables of sound bots, compare 0.45 for close versions. Nothing is promised where a
random bot sits at the table; that row is shown all the same. The exit code is 1 if a bound is missed.
"""

import argparse
import importlib.util
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from referee.bot import Bot, Objective, Turn
from referee.deals import bot_seed, deal_key, seeded_master, shuffle
from referee.league.luck_baseline import replay_by_fallback
from referee.league.schedule.format import cyclic_orders
from referee.protocol import wire
from referee.protocol.translate import rule_set_message, turn_message
from referee.rules import Action, variant
from referee.statistics.luck import GameShare, PlainGame, adjust, shared_packs
from referee.statistics.results import GameSet, Measures, PlayedGame
from referee.umpire.events import GameSpec
from referee.umpire.fallback_player import fallback_move
from referee.umpire.umpire import Umpire
from referee.umpire.view import Chair
from referee.umpire.view import Turn as Asked

SAMPLES: Final = Path(__file__).resolve().parents[1] / "sample_bots" / "python"
RULES: Final = variant("auction-pitch").with_rules({"max_deals": 1})
MESSAGE: Final = rule_set_message(RULES, 1)
SEATS: Final = 4
MASTER: Final = seeded_master("variance")

Player = Callable[[Asked], Action]


@dataclass(frozen=True, slots=True)
class Row:
    """A measured share and the bound it should keep, None where nothing is promised."""

    label: str
    share: GameShare
    bound: float | None
    games: int

    @property
    def missed(self) -> bool:
        """Whether a bound is not kept."""
        return self.bound is not None and self.share.value > self.bound


def sample(name: str, **changes: Any) -> Player:
    """A sample bot in process, with some of its constants changed."""
    tag = f"sample_{name}_{abs(hash(str(changes)))}"
    spec = importlib.util.spec_from_file_location(tag, SAMPLES / name / "bot.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[tag] = module
    spec.loader.exec_module(module)
    for constant, value in changes.items():
        assert hasattr(module, constant), f"{name} has no {constant}"
        setattr(module, constant, value)
    bots = [one for one in vars(module).values() if isinstance(one, type) and issubclass(one, Bot) and one is not Bot]
    choose = bots[0]().choose if bots else module.choose

    def player(asked: Asked) -> Action:
        turn = Turn(wire.Turn.FromString(turn_message(asked).SerializeToString()), MESSAGE, Objective.POINTS)
        action = choose(turn)
        return int(action) if isinstance(action, int) else sum(1 << card for card in action)

    return player


def pack_of(name: str) -> tuple[int, ...]:
    """The pack of a set."""
    return shuffle(deal_key(MASTER, "variance", name, 0))


def play(players: Sequence[Player], name: str, turn: int = 0) -> tuple[int, ...]:
    """One deal of the pack of that name; the points by seat. ``turn`` separates the chance of games with equal packs."""
    chairs = tuple(
        Chair(game_id=1, seat=s, seats=SEATS, rules=RULES, bot_seed=bot_seed(MASTER, "variance", name, turn, s))
        for s in range(SEATS)
    )
    ids = iter(range(1, 1 << 40))
    umpire = Umpire(
        GameSpec(key=name, rules=RULES, chairs=chairs), lambda _: pack_of(name), lambda: next(ids), fallback_move
    )
    umpire.start()
    while umpire.open is not None:
        umpire.answer(umpire.open.turn_id, players[umpire.open.chair.seat](umpire.open), 0)
    assert umpire.result is not None
    assert not umpire.irregularities
    return umpire.result.scores


def duplicate_sets(table: dict[str, Player], sets: int, label: str) -> list[GameSet]:
    """Sets of four rotations at one table, cyclic orders in turn."""
    names, orders = sorted(table), cyclic_orders(SEATS, sets)
    made: list[GameSet] = []
    for number in range(sets):
        order, name = orders[number % len(orders)], f"{label} {number:05}"
        games = []
        for turn in range(SEATS):
            seated = [names[order[(seat + turn) % SEATS]] for seat in range(SEATS)]
            points = play([table[key] for key in seated], name, turn)
            places = tuple(1 + sum(other > own for other in points) for own in points)
            figures = tuple(map(float, points))
            games.append(
                PlayedGame(
                    set_id=name,
                    entrants=tuple(seated),
                    places=places,
                    sides=0,
                    measures=Measures(figures, figures, figures),
                )
            )
        made.append(games)
    return made


def plain_games(sets: Sequence[GameSet]) -> list[PlainGame]:
    """One game of each set, so that each has packs of its own, with its house replay."""
    found = []
    for number, games in enumerate(sets):
        game = games[number % SEATS]
        controls = replay_by_fallback(RULES, SEATS, 0, pack_of(game.set_id))
        found.append(PlainGame(game.set_id, game.entrants, game.measures.points, controls))
    return found


def table_rows(label: str, table: dict[str, Player], sets: int, sound: bool, only: Sequence[str]) -> Iterator[Row]:
    """Duplicate deals and house replay at one table."""
    played = duplicate_sets(table, sets, label)
    if not only or "duplicate" in only:
        share = shared_packs(played, "points", label)
        assert share is not None
        yield Row(f"duplicate: {label}", share, 0.65 if sound else None, sets * SEATS)
    if not only or "house" in only:
        adjusted = adjust(plain_games(played), label)
        assert adjusted is not None
        yield Row(f"house replay: {label}", adjusted.share, 0.7 if sound else None, sets)


def compare_rows(label: str, old: Player, new: Player, other: Player, sets: int) -> Iterator[Row]:
    """Swapped versions against both yardsticks."""
    pairs, same_table = [], []
    for number in range(sets):
        seat, name = number % SEATS, f"compare {number:05}"
        got = []
        for version in (old, new):
            players = [other] * SEATS
            players[seat] = version
            got.append(play(players, name)[seat])
        pairs.append((got[0], got[1]))
        beside = (seat + 1 + number // SEATS % (SEATS - 1)) % SEATS
        players = [other] * SEATS
        players[seat], players[beside] = new, old
        points = play(players, f"plain {number:05}")
        same_table.append(points[seat] - points[beside])
    yield Row(f"compare: {label}, same question", share_of(pairs, unpaired, label), 0.45, 2 * sets)
    yield Row(
        f"compare: {label}, same table",
        share_of(list(zip(pairs, same_table, strict=True)), together, label),
        0.45,
        3 * sets,
    )


def variance(values: Sequence[float]) -> float:
    """The sample variance."""
    mean = fmean(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


def unpaired(pairs: Sequence[tuple[int, int]]) -> float:
    """Two games of a pair against two games with packs of their own, one of either version."""
    return variance([new - old for old, new in pairs]) / (
        variance([old for old, _ in pairs]) + variance([new for _, new in pairs])
    )


def together(rows: Sequence[tuple[tuple[int, int], int]]) -> float:
    """Two games of a pair against plain games that hold both versions, one difference a game."""
    return 2.0 * variance([new - old for (old, new), _ in rows]) / variance([difference for _, difference in rows])


def share_of(rows: Sequence[Any], ratio: Callable[[Sequence[Any]], float], seed: str) -> GameShare:
    """A ratio with the interval of 95% of resamples."""
    rng = random.Random(f"variance: {seed}")
    found = sorted(ratio(rng.choices(rows, k=len(rows))) for _ in range(400))
    return GameShare(ratio(rows), found[10], found[-11])


def rows(sets: int, only: Sequence[str]) -> Iterator[Row]:
    """All measurements."""
    careful = sample("careful")
    bold = sample("careful", DARING={2: 600_000, 3: 700_000, 4: 700_000})
    shy = sample("careful", DARING={2: 0, 3: 100_000, 4: 100_000})
    greedy = sample("careful", PIP=1_000_000 // 15)
    tables: dict[str, tuple[dict[str, Player], bool, int]] = {
        "four kinds of careful": ({"careful": careful, "bold": bold, "shy": shy, "greedy": greedy}, True, sets),
        "careful, bold, shy, the house": (
            {"careful": careful, "bold": bold, "shy": shy, "house": fallback_move},
            True,
            sets,
        ),
        "montecarlo, careful, bold, the house": (
            {"montecarlo": sample("montecarlo"), "careful": careful, "bold": bold, "house": fallback_move},
            True,
            max(sets // 3, 60),
        ),
        "careful, bold, the house, random": (
            {"careful": careful, "bold": bold, "house": fallback_move, "random": sample("random")},
            False,
            sets,
        ),
    }
    if not only or set(only) & {"duplicate", "house"}:
        for label, (table, sound, number) in tables.items():
            yield from table_rows(label, table, number, sound, only)
    if not only or "compare" in only:
        close = {
            "careful, a little bolder": sample("careful", DARING={2: 400_000, 3: 500_000, 4: 500_000}),
            "careful, pips worth more": sample("careful", PIP=1_000_000 // 20),
            "careful, much bolder": bold,
        }
        for label, new in close.items():
            yield from compare_rows(label, careful, new, careful, 2 * sets)


def main() -> None:
    """Measures, prints, and says by its exit code whether the bounds are kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--only", action="append", default=[], choices=["duplicate", "compare", "house"])
    options = parser.parse_args()
    print("| single deals, four seats | games played | share of plain games | 95% interval | bound |")
    print("| --- | --- | --- | --- | --- |")
    missed = []
    for row in rows(options.sets, options.only):
        bound = "none" if row.bound is None else f"{row.bound:g}" + (" MISSED" if row.missed else "")
        share = row.share
        print(
            f"| {row.label} | {row.games:,} | {share.value:.2f} | {share.low:.2f} to {share.high:.2f} | {bound} |",
            flush=True,
        )
        missed += [row.label] if row.missed else []
    sys.exit(f"bounds missed: {'; '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()

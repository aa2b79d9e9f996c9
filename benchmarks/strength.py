"""How strong the sample bots are against each other, and how long they think: self-play in process, in duplicate sets.

    python benchmarks/strength.py                                   # careful against random, montecarlo against careful
    python benchmarks/strength.py montecarlo careful careful --sets 150

The bots of a table play every set once per rotation of the seats, with the same packs. Printed are the place points of
every bot (the share of its opponents that it beat), the paired difference of every two with its 95% interval over sets,
bids made and bids set back, and the time of a decision as a multiple of the random bot's in the same run.
"""

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from referee.bot import Bot, Objective, Turn
from referee.deals import bot_seed, deal_key, seeded_master, shuffle
from referee.protocol import wire
from referee.protocol.translate import rule_set_message, turn_message
from referee.rules import RuleSet, variant
from referee.statistics.paired import estimate
from referee.statistics.results import place_points
from referee.umpire.events import DealClosed, GameSpec
from referee.umpire.umpire import Umpire
from referee.umpire.view import Chair

ROOT: Final = Path(__file__).resolve().parents[1]

Choose = Callable[[Turn], Any]


class Player:
    """A bot in process, and what it has done: time, decisions, bids made and set back."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.choose = load(name.partition("#")[0])
        self.seconds = 0.0
        self.decisions = self.made = self.set_back = self.deals = self.games = self.wins = 0


def load(name: str) -> Choose:
    """The ``choose`` of a sample bot, by its folder's name."""
    path = ROOT / "sample_bots" / "python" / name / "bot.py"
    spec = importlib.util.spec_from_file_location(f"sample_{name}", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path}: not there")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    bots = [
        item for item in vars(module).values() if isinstance(item, type) and issubclass(item, Bot) and item is not Bot
    ]
    choose: Choose = bots[0]().choose if bots else module.choose
    return choose


def play(players: Sequence[Player], rules: RuleSet, seed: str, number: int, rotation: int) -> tuple[int, ...]:
    """One game; the places by seat."""
    master, name = seeded_master(seed), f"set-{number}"
    seats = len(players)
    chairs = tuple(
        Chair(
            game_id=number * seats + rotation + 1,
            seat=seat,
            seats=seats,
            rules=rules,
            rule_set_id=1,
            bot_seed=bot_seed(master, "strength", name, rotation, seat),
        )
        for seat in range(seats)
    )
    ids = iter(range(1, 2**53))
    message = rule_set_message(rules, 1)
    umpire = Umpire(
        GameSpec(key=name, rules=rules, chairs=chairs),
        lambda deal: shuffle(deal_key(master, "strength", name, deal)),
        lambda: next(ids),
        lambda turn: turn.legal[0],
    )
    outputs = umpire.start()
    while True:
        for output in outputs:
            if isinstance(output, DealClosed):
                note(players, output)
        if umpire.result is not None:
            return umpire.result.places
        outputs = step(umpire, players, message)


def step(umpire: Umpire, players: Sequence[Player], rules: wire.RuleSet) -> Any:
    """Asks one bot by way of the wire's messages, and hands its answer to the table."""
    asked = umpire.open
    assert asked is not None
    player = players[asked.chair.seat]
    turn = Turn(wire.Turn.FromString(turn_message(asked).SerializeToString()), rules, Objective.PLACE)
    began = time.process_time()
    action = player.choose(turn)
    player.seconds += time.process_time() - began
    player.decisions += 1
    outputs = umpire.answer(asked.turn_id, action if isinstance(action, int) else sum(1 << card for card in action), 0)
    assert not umpire.irregularities, umpire.irregularities
    return outputs


def note(players: Sequence[Player], closed: DealClosed) -> None:
    """Counts the bid of a deal."""
    outcome = closed.outcome
    for player in players:
        player.deals += 1
    if outcome.pitcher is not None and outcome.bid:
        if outcome.set_back is None:
            players[outcome.pitcher].made += 1
        else:
            players[outcome.pitcher].set_back += 1


def seated(names: Sequence[str]) -> list[Player]:
    """A player for each name; copies of a bot are numbered."""
    return [
        Player(f"{name}#{names[:i].count(name) + 1}" if names.count(name) > 1 else name) for i, name in enumerate(names)
    ]


def contest(players: Sequence[Player], rules: RuleSet, sets: int, seed: str) -> list[list[float]]:
    """Plays the sets; for each the mean place points of every player."""
    count = len(players)
    rows = []
    for number in range(sets):
        order = list(range(count)) if number % 2 == 0 else list(range(count))[::-1]
        sums = [0.0] * count
        for rotation in range(count):
            at = [order[(seat + rotation) % count] for seat in range(count)]
            places = play([players[who] for who in at], rules, seed, number, rotation)
            for seat, points in enumerate(place_points(places, rules.sides)):
                sums[at[seat]] += points / count
                players[at[seat]].games += 1
                players[at[seat]].wins += places[seat] == 1
        rows.append(sums)
    return rows


def report(players: Sequence[Player], rows: Sequence[Sequence[float]], yardstick_us: float) -> None:
    """Prints what came out."""
    for who, player in enumerate(players):
        mean = estimate([row[who] for row in rows]).mean
        us = 1e6 * player.seconds / player.decisions
        print(
            f"  {player.name:14} place {mean:.3f}, won {player.wins} of {player.games}, bids made {player.made}, set back "
            f"{player.set_back}, in {player.deals} deals; {us:,.0f} us a decision = {us / yardstick_us:,.0f} x random"
        )
    for one, other in combinations(range(len(players)), 2):
        if players[one].name.partition("#")[0] == players[other].name.partition("#")[0]:
            continue
        gap = estimate([row[one] - row[other] for row in rows])
        print(f"  {players[one].name} - {players[other].name}: {gap.mean:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]")


def yardstick() -> float:
    """Microseconds that the random bot takes for a decision, in this run."""
    players = seated(["random"] * 3)
    contest(players, variant("auction-pitch"), 5, "yardstick")
    return 1e6 * sum(player.seconds for player in players) / sum(player.decisions for player in players)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Self-play of the sample bots in duplicate sets.")
    parser.add_argument("bots", nargs="*", help="the bots of one table, by the names of their folders")
    parser.add_argument("--sets", type=int, default=0, help="sets to play (default: 10 with random, else 30)")
    parser.add_argument("--seed", default="strength")
    parser.add_argument("--variant", default="auction-pitch")
    given = parser.parse_args()
    tables = [given.bots] if given.bots else [["careful", "random", "random"], ["montecarlo", "careful", "careful"]]
    yardstick_us = yardstick()
    for names in tables:
        sets = given.sets or (10 if "random" in names else 30)
        print(f"{given.variant}, {', '.join(names)}: {sets} sets of {len(names)} games")
        players = seated(names)
        report(players, contest(players, variant(given.variant), sets, given.seed), yardstick_us)


if __name__ == "__main__":
    main()

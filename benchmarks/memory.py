"""Is the referee's memory flat? Plays 100,000 deals through games in play, umpire, records and sessions, and watches it.

Run: python benchmarks/memory.py [--deals N]

Four sessions are fed by a loop in this process instead of a stream; everything else is what a league runs, but for the
store, which keeps games on disk. The figure is the growth of resident memory from one tenth of the way to the end.
"""

import argparse
import random
from pathlib import Path

from referee.deals import deal_key, seeded_master, shuffle
from referee.league.play.leg import random_ids
from referee.league.standings import summarise
from referee.net.games_in_play import GameObserver, GamesInPlay
from referee.net.open_turns import TurnSession
from referee.protocol import wire
from referee.rules import variant
from referee.umpire.events import GameSpec
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import Record, canonical, write_record
from referee.umpire.umpire import Umpire
from referee.umpire.view import Chair

TABLES = 64


def resident_mib() -> float:
    """Resident memory of this process in MiB (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


class Play(GameObserver):
    """Keeps a number of tables going until enough deals are played."""

    def __init__(self, deals: int) -> None:
        self.left, self.deals, self.opened = deals, 0, 0
        self.rules = variant("auction-pitch").with_rules({"max_deals": 20})
        self.master, self.ids = seeded_master("memory"), random_ids()
        self.games_in_play = GamesInPlay(self)
        self.sessions = [TurnSession(5_000_000) for _ in range(4)]

    def finished(self, umpire: Umpire) -> Record:
        """Writes the record as a league would, and lets it go."""
        record = write_record(umpire, {})
        canonical(record)
        summarise(umpire, ("a", "b", "c", "d"), "s")
        self.deals += len(umpire.deals)
        return record

    def open(self) -> None:
        """Another table."""
        number, self.opened = self.opened, self.opened + 1
        chairs = tuple(Chair(game_id=next(self.ids), seat=seat, seats=4, rules=self.rules) for seat in range(4))
        spec = GameSpec(key=f"g{number}", rules=self.rules, chairs=chairs)
        packs = lambda deal: shuffle(deal_key(self.master, "memory", str(number), deal))  # noqa: E731
        self.games_in_play.open(Umpire(spec, packs, self.ids.__next__, fallback_move), self.sessions)

    def step(self, rng: random.Random) -> None:
        """Every session answers what it is asked."""
        while len(self.games_in_play.seated) < TABLES and self.deals < self.left:
            self.open()
        for session in self.sessions:
            response = session.flush(0)
            if response is not None:
                moves = [answer(turn, rng) for turn in response.turns]
                self.games_in_play.answered(session.heard(moves, 100))


def answer(turn: wire.Turn, rng: random.Random) -> wire.Move:
    """A legal move by chance."""
    if turn.kind == wire.TURN_KIND_PLAY:
        return wire.Move(turn_id=turn.turn_id, card=rng.choice(turn.options.cards))
    return wire.Move(turn_id=turn.turn_id, bid=rng.choice(turn.options.bids))


def main() -> None:
    """Plays, and prints the memory at every tenth of the way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=100_000)
    options = parser.parse_args()
    play, rng, marks = Play(options.deals), random.Random(1), []
    while play.games_in_play.seated or play.deals < options.deals:
        play.step(rng)
        if play.deals * 10 >= options.deals * (len(marks) + 1):
            marks.append(resident_mib())
            print(f"{play.deals:8,} deals   {marks[-1]:7.1f} MiB", flush=True)
    print(f"growth from the first tenth to the end: {100 * (marks[-1] / marks[0] - 1):+.1f}%   (target: within 5%)")


if __name__ == "__main__":
    main()

"""Writes the golden turns anew. Needed after careful or the wire has changed:

    python -m tests.languages.write_golden

Careful and random play whole games of every variant at tables of every size; all bids, calls and discards are taken, and
one in four plays where there is a choice. The same code writes the same turns on every machine.
"""

import contextlib
import random
import sys
from typing import Any, Final

from benchmarks.strength import Player, play
from referee.bot import Kind, Turn, wire
from referee.protocol.translate import rule_set_message
from referee.rules import RuleSet, RuleSetError, variant, variant_names
from tests.languages.golden_file import PATH, Golden, careful_move, tally

TURNS: Final = 10_000
_STEP: Final = 0x1B54A32D192ED03  # odd: every number below 2^53 is met once before one comes again


def joined() -> wire.Joined:
    """What a bot is told before the golden turns: the rule sets of all variants."""
    rules = [rule_set_message(variant(name), number) for number, name in enumerate(variant_names(), 1)]
    return wire.Joined(objective=wire.OBJECTIVE_PLACE, rule_sets=rules, move_ms=60_000)


def turns_of(name: str) -> list[wire.Turn]:
    """The turns of one variant, with ids that are used in no other."""
    names = variant_names()
    place = names.index(name)
    wanted = TURNS // len(names) + (place < TURNS % len(names))
    found: list[wire.Turn] = []
    number = 0
    while len(found) < wanted:
        found += _game(name, number)
        number += 1
    del found[wanted:]
    for count, turn in enumerate(found, 1):
        turn.turn_id = (place * TURNS + count) * _STEP % 2**53
        turn.game_id, turn.rule_set_id = place + 1, place + 1
    return found


def _game(name: str, number: int) -> list[wire.Turn]:
    """Some of the turns of a game of careful and random bots."""
    rules, chance = variant(name), random.Random(f"golden {name} {number}")  # noqa: S311  # repeatable on purpose
    found: list[wire.Turn] = []
    seats = chance.choice(_tables(rules))
    players = [Player(chance.choice(["careful", "careful", "random"])) for _ in range(seats)]
    for player in players:
        player.choose = _watched(player.choose, found, chance)
    play(players, rules, "golden", number, 0)
    return found


def _tables(rules: RuleSet) -> list[int]:
    """With how many seats the game can be played."""
    fitting = []
    for seats in range(rules.players[0], rules.players[1] + 1):
        with contextlib.suppress(RuleSetError):
            rules.check_seats(seats)
            fitting.append(seats)
    return fitting


def _watched(choose: Any, found: list[wire.Turn], chance: random.Random) -> Any:
    def watching(turn: Turn) -> Any:
        if turn.kind is not Kind.PLAY or (len(turn.legal) > 1 and chance.random() < 0.25):
            found.append(turn.message)
        return choose(turn)

    return watching


def main() -> None:
    """Plays, asks careful, writes the file."""
    turns = [turn for name in variant_names() for turn in turns_of(name)]
    golden = Golden(joined(), tuple(turns), {})
    for turn in turns:
        golden.moves[turn.turn_id] = careful_move(golden.read(turn))
    golden.write()
    counts = tally(map(golden.read, turns))
    sys.stdout.write(f"{PATH}: {PATH.stat().st_size:,} bytes, {len(golden.moves):,} turns: {counts}\n")


if __name__ == "__main__":
    main()

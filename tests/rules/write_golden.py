"""Writes ``golden/<variant>.json``: the full record of one game of every variant, to be confirmed by later versions.

    python -m tests.rules.write_golden            # only the variants that have none yet

A golden record is written once. It changes only when the rules or the format of records do, and then on purpose. Of the
house rules it keeps those that differ from their defaults, so that a new house rule changes none of them.
"""

import dataclasses
import itertools
import json
from pathlib import Path
from typing import Final

from referee.rules import RuleSet, variant, variant_names
from referee.umpire.events import GameSpec
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import Record, write_record
from referee.umpire.umpire import Umpire
from referee.umpire.view import Chair, Turn
from tests.helpers import seeded, shuffled

FOLDER: Final = Path(__file__).with_name("golden")
DEALS: Final = 6
"""At most so many deals, so that a record can still be read."""


def make(name: str) -> Record:
    """One game: seat 0 plays anything legal, the others are the house. One wrong answer and one late one are in it."""
    rules = variant(name).with_rules({"max_deals": DEALS})
    seats = max(seats for seats in range(2, 5) if rules.players[0] <= seats <= rules.players[1])
    chance = seeded(f"golden/{name}")
    spec = GameSpec(
        key=f"golden-{name}",
        rules=rules,
        chairs=tuple(Chair(game_id=1, seat=seat, seats=seats, rules=rules) for seat in range(seats)),
        first_dealer=seats - 1,
    )
    umpire = Umpire(
        spec, lambda number: shuffled(seeded(f"{name}/{number}")), itertools.count(1).__next__, fallback_move
    )
    umpire.start()
    step = 0
    while turn := umpire.open:
        if step == 3:
            umpire.late(turn.turn_id, 6_000_000)
        else:
            umpire.answer(turn.turn_id, 200 if step == 5 else answer(turn, chance.random()), 1000 + step)
        step += 1
    return write_record(umpire, {"variant": name})


def answer(turn: Turn, fraction: float) -> int:
    if turn.chair.seat:
        return fallback_move(turn)
    return turn.legal[int(fraction * len(turn.legal))]


def text(record: Record) -> str:
    """A record as the file has it."""
    defaults = {field.name: field.default for field in dataclasses.fields(RuleSet)}
    rules = RuleSet.from_dict(record["rules"])
    changed = {name: value for name, value in rules.as_dict().items() if getattr(rules, name) != defaults[name]}
    return json.dumps(record | {"rules": changed}, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in variant_names():
        path = FOLDER / f"{name}.json"
        if not path.exists():
            path.write_text(text(make(name)), "utf-8")

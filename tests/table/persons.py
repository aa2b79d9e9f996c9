"""People for whole tables with bots in processes: each decides in a thread of its own, as a page or a terminal does."""

import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from referee.cli.adhoc_league import adhoc_definition
from referee.rules import variant
from referee.table.game import TableGame, TablePlan
from referee.table.seating import names_of_copies, seat_all, table_definition
from referee.table.state import TableState
from referee.table.table import RefusedError, Table

LONG_S = 900.0
"""More than anything takes here, however busy the machine is."""


def plan_for(
    path: Path,
    bots: Sequence[str],
    *,
    game: str = "auction-pitch",
    changes: Mapping[str, Any] | None = None,
    seats: int | None = None,
    seat: int = 1,
    person: str = "You",
    title: str = "Table",
    **options: Any,
) -> TablePlan:
    """A table as the command makes it."""
    rules = variant(game)
    seating = seat_all(rules.with_rules(changes or {}), bots, seats, seat)
    names = names_of_copies(seating, {bot: Path(bot).stem.replace("_", "-") for bot in seating.bots if bot})
    text = table_definition(title, rules, changes or {}, seating, names, person, options.get("seconds"))
    definition, roster = adhoc_definition(text, seating.bots, {})
    return TablePlan(definition=definition, roster=roster, you=seating.you, path=path, **options)


def legal_answer(state: TableState, chance: random.Random) -> tuple[str, list[str] | None]:
    """Anything that the State calls legal."""
    assert state.turn is not None
    if state.turn.choose is not None:
        must = [held.card for held in state.hand if held.must]
        may = [held.card for held in state.hand if held.legal and not held.must]
        return "", must + chance.sample(may, state.turn.choose[0] - len(must))
    legal = [one.move for one in state.moves if one.legal] + [one.card for one in state.hand if one.legal]
    return chance.choice(legal), None


Decide = Callable[[Table, TableState], bool]
"""Does something at a State in which the person is asked; false to leave the table."""


def plays_on(seed: int = 1) -> Decide:
    """A person who plays anything legal."""
    chance = random.Random(seed)  # noqa: S311  # a test repeats itself

    def decide(table: Table, state: TableState) -> bool:
        assert state.turn is not None
        move, cards = legal_answer(state, chance)
        table.move(state.turn.id, move, cards)
        return True

    return decide


@contextmanager
def played(plan: TablePlan, decide: Decide) -> Iterator[TableGame]:
    """The game of that plan, played to its end, or until the person leaves; in the body what it has kept is still there."""
    game = TableGame(plan)
    errors: list[BaseException] = []

    def person() -> None:
        try:
            sit(game.table, decide)
        except BaseException as error:  # noqa: BLE001  # raised below, in the test
            errors.append(error)
        game.stop()

    with game.begun():
        thread = threading.Thread(target=person)
        thread.start()
        game.play()
        thread.join()
        if errors:
            raise errors[0]
        yield game


def sit(table: Table, decide: Decide) -> None:
    """Decides whenever something is asked, and reads the sheets."""
    done = ""

    def is_something(state: TableState) -> bool:
        asked = state.turn is not None and state.turn.id != done
        return asked or state.over is not None or state.sheet is not None

    while (state := table.wait_for(is_something, LONG_S)) is not None:
        if state.over is not None:
            return
        if state.turn is not None and state.turn.id != done:
            done = state.turn.id
            if not decide(table, state):
                return
        elif state.sheet is not None:
            try:
                table.go_on()
            except RefusedError:
                continue

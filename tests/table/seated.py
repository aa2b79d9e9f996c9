"""A person's table without processes: the umpire in this thread, bots by chance, the person by whoever drives it."""

import asyncio
import itertools
import random
from collections.abc import Callable, Iterator

from referee.cards import PACK
from referee.net.games_in_play import GamesInPlay
from referee.rules import Action, Deal, RuleSet
from referee.table.state import TableState
from referee.table.table import Table
from referee.umpire.events import GameSpec, TimeLimits
from referee.umpire.fallback_player import fallback_move
from referee.umpire.faults import PROFILES
from referee.umpire.umpire import Umpire
from referee.umpire.view import Chair, Turn


class Seated:
    """A table with a game whose bots play by chance from a seed. ``person`` decides: the answer to a State, as it is sent."""

    def __init__(self, rules: RuleSet, seats: int, seed: int, you: int = 0, **options: object) -> None:
        self.chance = random.Random(f"{rules.name} {seats} {seed}")  # noqa: S311  # a test repeats itself
        chairs = tuple(Chair(game_id=1, seat=seat, seats=seats, rules=rules) for seat in range(seats))
        spec = GameSpec(
            key="table",
            rules=rules,
            chairs=chairs,
            first_dealer=self.chance.randrange(seats),
            profile=PROFILES["dev"],
            limits=TimeLimits(),
        )
        self.packs: dict[int, list[int]] = {}
        self.umpire = Umpire(spec, self.pack, itertools.count(1).__next__, fallback_move)
        names = [f"bot {seat}" for seat in range(seats)]
        self.table = Table(rules, names, you, **options)  # type: ignore[arg-type]
        self.games = GamesInPlay(watch=self.table.moved)
        self.you = you

    def pack(self, number: int) -> list[int]:
        if number not in self.packs:
            pack = list(PACK)
            random.Random(f"{number} {self.chance.random()}").shuffle(pack)  # noqa: S311
            self.packs[number] = pack
        return self.packs[number]

    @property
    def deal(self) -> Deal:
        assert self.umpire.deal is not None
        return self.umpire.deal

    def start(self) -> None:
        self.umpire.start()
        self.look()

    def look(self) -> None:
        """The table is told, as by the event loop of a game."""

        async def tell() -> None:
            self.table.moved(self.games, self.umpire)

        asyncio.run(tell())

    def bot_moves(self) -> bool:
        """Lets the bot play whose turn it is; whether it was one's."""
        turn = self.umpire.open
        if turn is None or turn.chair.seat == self.you:
            return False
        self.umpire.answer(turn.turn_id, self.by_chance(turn), 0)
        self.look()
        return True

    def by_chance(self, turn: Turn) -> Action:
        return turn.legal[self.chance.randrange(len(turn.legal))]

    def until_asked(self) -> TableState | None:
        """On to the person's next turn, sheets being read; ``None`` when the game is over."""
        while True:
            while self.bot_moves():
                pass
            state = self.table.state()
            if state.sheet is not None and self.umpire.result is None:
                self.table.go_on()
            elif self.umpire.closed:
                return None
            elif state.turn is not None:
                return state

    def carry(self) -> None:
        """What the person has said goes to the umpire, as the seat sends it."""
        given = self.table._answer
        assert given is not None
        assert self.umpire.open is not None
        assert given[0] == self.umpire.open.turn_id
        before = len(self.umpire.irregularities)
        self.umpire.answer(given[0], given[1], 0)
        assert len(self.umpire.irregularities) == before
        self.look()

    def turns(self, choose: Callable[[TableState], None]) -> Iterator[TableState]:
        """Plays the game to its end: each State in which the person is asked, answered by ``choose`` afterwards."""
        self.start()
        while (state := self.until_asked()) is not None:
            yield state
            choose(state)
            self.carry()


def answer_by_chance(seated: Seated) -> Callable[[TableState], None]:
    """A person who chooses blindly among what the State says is legal."""

    def choose(state: TableState) -> None:
        turn = state.turn
        assert turn is not None
        if turn.choose is not None:
            must = [held.card for held in state.hand if held.must]
            may = [held.card for held in state.hand if held.legal and not held.must]
            free = turn.choose[0] - len(must)
            seated.table.move(turn.id, cards=must + seated.chance.sample(may, free))
            return
        legal = [one.move for one in state.moves if one.legal] + [one.card for one in state.hand if one.legal]
        seated.table.move(turn.id, seated.chance.choice(legal))

    return choose

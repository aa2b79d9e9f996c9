"""The course of a game as far as it went, so that a bot can be led through it again, turn by turn and news by news.

A bot that is led is asked everything that it was asked then. What it answers is judged, and where it is legal the game
goes on with what was done then: so every bot, mended or not, comes to the same last turn and is told the same news.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from referee.cards import Card, cards_text, parse_cards
from referee.check.position import Position, PositionError, Setting, spec_of
from referee.rules import Action, Game, RuleSet, RuleSetError
from referee.umpire.events import Output
from referee.umpire.fallback_player import fallback_move
from referee.umpire.table import Table
from referee.umpire.view import Turn


@dataclass(frozen=True, slots=True)
class Course:
    """One game from its start, or from the start of a deal in the middle of it, with the bot at ``seat``.

    ``packs`` and ``actions`` are by deal; the actions are those of all seats. ``scores`` and ``set_backs`` are by side
    before the first of these deals, ``deal`` is its number and ``decision`` how much the bot had been asked before.
    """

    rules: RuleSet
    seats: int
    seat: int
    dealer: int
    packs: tuple[tuple[Card, ...], ...]
    actions: tuple[tuple[Action, ...], ...]
    bot_seed: int = 0
    scores: tuple[int, ...] = ()
    set_backs: tuple[int, ...] = ()
    deal: int = 0
    decision: int = 0

    @classmethod
    def to(cls, position: Position) -> Self:
        """From the start of a position's deal to the position; raises ``PositionError``."""
        seat = position.reached().seat
        decision = 0 if position.decision is None else position.decision - position.own_past(seat)
        return cls(
            position.rules,
            position.seats,
            seat,
            position.dealer,
            (tuple(position.pack),),
            (tuple(position.actions),),
            position.bot_seed,
            position.scores,
            position.set_backs,
            position.deal,
            max(decision, 0),
        )

    @classmethod
    def of(cls, table: Table, seat: int, start: Position | None) -> Self:
        """What has been played at a table, which began at ``start`` or with the first deal of a game."""
        spec = table.spec
        return cls(
            spec.rules,
            spec.seats,
            seat,
            spec.first_dealer,
            tuple(tuple(log.pack) for log in table.deals),
            tuple(tuple(log.actions) for log in table.deals),
            spec.chairs[seat].bot_seed,
            tuple(table.deals[0].scores),
            start.set_backs if start else (),
            table.game.deals - sum(log.outcome is not None for log in table.deals),
        )

    def begin(self) -> Position:
        """Its first deal before anything was decided."""
        return Position(
            self.rules,
            self.seats,
            self.dealer,
            self.packs[0],
            (),
            self.scores,
            self.set_backs,
            self.deal,
            None,
            self.bot_seed,
            "the course of a game",
        )

    def lay(self, setting: Setting) -> tuple[Table, list[Output]]:
        """A table at which it can be played again, and what the umpire says first."""
        spec = spec_of(self.rules, self.seats, self.dealer, setting, bot_seed=self.bot_seed)
        last = len(self.packs) - 1
        table = Table(spec, lambda number: self.packs[min(number - self.deal, last)], setting.ids, fallback_move)
        table.game = Game(self.rules, self.seats, self.dealer, self.scores, self.set_backs)
        table.game.deals = self.deal
        table.decisions[self.seat] = self.decision
        return table, table.start()

    def next(self, table: Table, turn: Turn) -> Action | None:
        """What was done at this turn of the table; ``None`` where the course is at its end or has been left."""
        number = len(table.deals) - 1
        if number >= len(self.actions):
            return None
        log, done = self.actions[number], table.deals[number].actions
        if len(done) < len(log) and tuple(done) == log[: len(done)] and log[len(done)] in turn.legal:
            return log[len(done)]
        return None

    def to_json(self) -> dict[str, Any]:
        """As JSON values; ``from_json`` reads it back."""
        return {
            "rules": self.rules.as_dict(),
            "seats": self.seats,
            "seat": self.seat,
            "dealer": self.dealer,
            "deals": [
                {"pack": cards_text(pack), "actions": list(actions)}
                for pack, actions in zip(self.packs, self.actions, strict=True)
            ],
            "bot_seed": self.bot_seed,
            "scores": list(self.scores),
            "set_backs": list(self.set_backs),
            "deal": self.deal,
            "decision": self.decision,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The course that ``to_json`` wrote; raises ``PositionError``."""
        try:
            deals: Sequence[Mapping[str, Any]] = data["deals"]
            course = cls(
                RuleSet.from_dict(data["rules"]),
                int(data["seats"]),
                int(data["seat"]),
                int(data["dealer"]),
                tuple(parse_cards(deal["pack"]) for deal in deals),
                tuple(tuple(map(int, deal["actions"])) for deal in deals),
                int(data["bot_seed"]),
                tuple(map(int, data["scores"])),
                tuple(map(int, data["set_backs"])),
                int(data["deal"]),
                int(data["decision"]),
            )
            course.rules.check_seats(course.seats)
        except (KeyError, TypeError, ValueError, RuleSetError) as error:
            raise PositionError(f"the course of the game lacks or garbles {error}") from None
        if not course.packs or any(len(pack) != len(set(pack)) or len(pack) != 52 for pack in course.packs):
            raise PositionError("the course of the game has a deal without a whole pack")
        return course

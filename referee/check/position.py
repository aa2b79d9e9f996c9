"""A position: one decision in one deal, stated as a pack and all that was decided before it.

The umpire deals the pack and carries the actions out, as in play, so a position that cannot come about cannot be
stated. A bot meets it as it would after a restart: with a history that it did not play.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Self

from referee.cards import Card, cards_text, parse_cards
from referee.rules import Action, Deal, Game, Kind, RuleSet, RuleSetError
from referee.rules.actions import DECISION_WORDS
from referee.umpire.events import GameSpec, Output, TimeLimits
from referee.umpire.fallback_player import fallback_move
from referee.umpire.faults import Profile
from referee.umpire.umpire import Umpire
from referee.umpire.view import Chair, Turn, see

PROFILE = Profile("check", 0, 0)
"""No retry and no forfeit: an illegal answer is ruled upon, replaced, and the deal goes on."""


class PositionError(ValueError):
    """A position that cannot come about; the message says at which action, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """One decision. ``scores`` and ``set_backs`` are by side, before the deal; empty = all zero.

    ``pack`` is dealt from its first card, ``actions`` are all decisions before this one, of every seat. ``deal`` and
    ``decision`` are what the turn says of itself, ``bot_seed`` seeds the bot's own chance. ``origin`` names the case or
    the game that it comes from, for people.
    """

    rules: RuleSet
    seats: int
    dealer: int
    pack: tuple[Card, ...]
    actions: tuple[Action, ...] = ()
    scores: tuple[int, ...] = ()
    set_backs: tuple[int, ...] = ()
    deal: int = 0
    decision: int | None = None
    bot_seed: int = 0
    origin: str = field(default="", compare=False)

    def reached(self) -> Deal:
        """The deal at this decision, for the caller to keep or to change; raises ``PositionError``."""
        return _reached(self).copy()

    def own_past(self, seat: int) -> int:
        """How many of the actions were that seat's."""
        deal, count = Deal(self.rules, self.seats, self.dealer, self.pack, self.scores), 0
        for action in self.actions:
            count += deal.seat == seat
            deal.apply(action)
        return count

    def turn(self) -> Turn:
        """What the seat to decide is told (with ids and times left out)."""
        deal = self.reached()
        game = Game(self.rules, self.seats, self.dealer, self.scores, self.set_backs)
        game.deals = self.deal
        chair = Chair(game_id=1, seat=deal.seat, seats=self.seats, rules=self.rules, bot_seed=self.bot_seed)
        decision = self.decision if self.decision is not None else self.own_past(deal.seat)
        return see(deal, game, chair, turn_id=1, decision=decision, retry=0, move_us=0, bank_us=0)

    def at_start(self) -> Self:
        """The same deal before the first decision."""
        return replace(self, actions=(), decision=None)

    def size(self) -> tuple[int, ...]:
        """How much a reader has to take in; smaller is simpler."""
        odd = sum(map(abs, self.scores)) + sum(self.set_backs)
        return (len(self.actions), self.seats, bool(odd), odd, self.deal)

    def to_json(self) -> dict[str, Any]:
        """As JSON values; ``from_json`` reads it back."""
        return {
            "rules": self.rules.as_dict(),
            "seats": self.seats,
            "dealer": self.dealer,
            "pack": cards_text(self.pack),
            "actions": list(self.actions),
            "scores": list(self.scores),
            "set_backs": list(self.set_backs),
            "deal": self.deal,
            "decision": self.decision,
            "bot_seed": self.bot_seed,
            "origin": self.origin,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The position that ``to_json`` wrote; raises ``PositionError``."""
        try:
            position = cls(
                rules=RuleSet.from_dict(data["rules"]),
                seats=int(data["seats"]),
                dealer=int(data["dealer"]),
                pack=parse_cards(data["pack"]),
                actions=tuple(map(int, data["actions"])),
                scores=tuple(map(int, data["scores"])),
                set_backs=tuple(map(int, data["set_backs"])),
                deal=int(data["deal"]),
                decision=None if data["decision"] is None else int(data["decision"]),
                bot_seed=int(data["bot_seed"]),
                origin=str(data["origin"]),
            )
        except (KeyError, TypeError, ValueError, RuleSetError) as error:
            raise PositionError(f"the position lacks or garbles {error}") from None
        position.reached()
        return position


@lru_cache(maxsize=2048)  # a check comes back to its positions a few times: when it looks for them, sorts and asks them
def _reached(position: Position) -> Deal:
    try:
        deal = Deal(position.rules, position.seats, position.dealer, position.pack, position.scores)
    except (ValueError, RuleSetError) as error:
        raise PositionError(str(error)) from None
    for number, action in enumerate(position.actions):
        violation = deal.verify(action) if deal.kind is not None else None
        if deal.kind is None or violation:
            reason = f"{violation.rule}: {violation.sentence}" if violation else "the deal is over"
            raise PositionError(f"action {number + 1} ({action}): {reason}")
        deal.apply(action)
    if deal.kind is None:
        raise PositionError("nothing is to be decided: the deal is over")
    return deal


@dataclass(frozen=True, slots=True)
class Setting:
    """What an umpire needs besides the game: ids, the number of each rule set in the session, the clock."""

    ids: Callable[[], int]
    rule_set_id: Callable[[RuleSet], int]
    limits: TimeLimits


def seat_at(position: Position, setting: Setting, *, ask_from: int | None = None) -> tuple[Umpire, int, list[Output]]:
    """An umpire with the deal at the position, the seat that is asked there, and what the umpire says.

    With ``ask_from`` only the first so many actions are stated: the bot plays from there, others may follow the rest.
    Raises ``PositionError``.
    """
    deal = position.reached()
    seat, stated = deal.seat, len(position.actions) if ask_from is None else ask_from
    spec = spec_of(position.rules, position.seats, position.dealer, setting, bot_seed=position.bot_seed)
    umpire = Umpire(spec, lambda _deal: position.pack, setting.ids, fallback_move)
    umpire.game = Game(position.rules, position.seats, position.dealer, position.scores, position.set_backs)
    umpire.game.deals = position.deal
    if position.decision is not None:
        umpire.decisions[seat] = position.decision - position.own_past(seat)
    outputs = umpire.start()
    if stated:
        outputs = umpire.follow(position.actions[:stated])
    return umpire, seat, outputs


def spec_of(rules: RuleSet, seats: int, dealer: int, setting: Setting, *, bot_seed: int = 0) -> GameSpec:
    """A game of the check: no retries, no forfeits."""
    game_id, number = setting.ids(), setting.rule_set_id(rules)
    chairs = tuple(
        Chair(game_id=game_id, seat=seat, seats=seats, rules=rules, rule_set_id=number, bot_seed=bot_seed)
        for seat in range(seats)
    )
    return GameSpec(
        key="check", rules=rules, chairs=chairs, first_dealer=dealer, profile=PROFILE, limits=setting.limits
    )


def snapshot(umpire: Umpire, dealt: int, done: int, turn: Turn, origin: str) -> Position:
    """The position of a turn of a game: deal number ``dealt`` in its log after ``done`` actions."""
    log = umpire.deals[dealt]
    return Position(
        rules=umpire.spec.rules,
        seats=umpire.spec.seats,
        dealer=log.dealer,
        pack=tuple(log.pack),
        actions=tuple(log.actions[:done]),
        scores=tuple(log.scores),
        set_backs=tuple(turn.set_backs),
        deal=turn.deal,
        decision=turn.decision,
        bot_seed=turn.chair.bot_seed,
        origin=origin,
    )


def kind_name(kind: Kind) -> str:
    """What a bot is asked for, in words: of a discard its move names the cards kept."""
    return "keep cards" if kind is Kind.DISCARD else DECISION_WORDS[kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePrefix:
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
            rules=position.rules,
            seats=position.seats,
            seat=seat,
            dealer=position.dealer,
            packs=(tuple(position.pack),),
            actions=(tuple(position.actions),),
            bot_seed=position.bot_seed,
            scores=position.scores,
            set_backs=position.set_backs,
            deal=position.deal,
            decision=max(decision, 0),
        )

    @classmethod
    def of(cls, umpire: Umpire, seat: int, start: Position | None) -> Self:
        """What has been played in a game, which began at ``start`` or with the first deal of a game."""
        spec = umpire.spec
        return cls(
            rules=spec.rules,
            seats=spec.seats,
            seat=seat,
            dealer=spec.first_dealer,
            packs=tuple(tuple(log.pack) for log in umpire.deals),
            actions=tuple(tuple(log.actions) for log in umpire.deals),
            bot_seed=spec.chairs[seat].bot_seed,
            scores=tuple(umpire.deals[0].scores),
            set_backs=start.set_backs if start else (),
            deal=umpire.game.deals - sum(log.outcome is not None for log in umpire.deals),
        )

    def begin(self) -> Position:
        """Its first deal before anything was decided."""
        return Position(
            rules=self.rules,
            seats=self.seats,
            dealer=self.dealer,
            pack=self.packs[0],
            actions=(),
            scores=self.scores,
            set_backs=self.set_backs,
            deal=self.deal,
            decision=None,
            bot_seed=self.bot_seed,
            origin="the course of a game",
        )

    def lay(self, setting: Setting) -> tuple[Umpire, list[Output]]:
        """An umpire with which it can be played again, and what the umpire says first."""
        spec = spec_of(self.rules, self.seats, self.dealer, setting, bot_seed=self.bot_seed)
        last = len(self.packs) - 1
        umpire = Umpire(spec, lambda number: self.packs[min(number - self.deal, last)], setting.ids, fallback_move)
        umpire.game = Game(self.rules, self.seats, self.dealer, self.scores, self.set_backs)
        umpire.game.deals = self.deal
        umpire.decisions[self.seat] = self.decision
        return umpire, umpire.start()

    def next(self, umpire: Umpire, turn: Turn) -> Action | None:
        """What was done at this turn of the game; ``None`` where the course is at its end or has been left."""
        number = len(umpire.deals) - 1
        if number >= len(self.actions):
            return None
        log, done = self.actions[number], umpire.deals[number].actions
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
                rules=RuleSet.from_dict(data["rules"]),
                seats=int(data["seats"]),
                seat=int(data["seat"]),
                dealer=int(data["dealer"]),
                packs=tuple(parse_cards(deal["pack"]) for deal in deals),
                actions=tuple(tuple(map(int, deal["actions"])) for deal in deals),
                bot_seed=int(data["bot_seed"]),
                scores=tuple(map(int, data["scores"])),
                set_backs=tuple(map(int, data["set_backs"])),
                deal=int(data["deal"]),
                decision=int(data["decision"]),
            )
            course.rules.check_seats(course.seats)
        except (KeyError, TypeError, ValueError, RuleSetError) as error:
            raise PositionError(f"the course of the game lacks or garbles {error}") from None
        if not course.packs or any(len(pack) != len(set(pack)) or len(pack) != 52 for pack in course.packs):
            raise PositionError("the course of the game has a deal without a whole pack")
        return course

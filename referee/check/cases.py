"""Positions written down as data: the files in ``cases/``."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any, Final

from referee.cards import PACK, Card, CardError, Mask, cards_in, parse_cards
from referee.check.position import Position, PositionError
from referee.rules import Action, Deal, Kind, RuleSet, parse_action

FORMAT: Final = 1


class CaseError(ValueError):
    """A case that cannot come about or is garbled; the message names the file, the case and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionCase:
    """One case of a file."""

    id: str
    title: str
    clauses: tuple[str, ...]
    variants: tuple[str, ...]
    seats: int
    dealer: int
    hands: tuple[str, ...]
    stock: str
    said: tuple[str, ...]
    scores: tuple[int, ...]

    def position(self, rules: RuleSet) -> Position:
        """The case under these rules; raises ``CaseError`` if it cannot come about."""
        try:
            pack = stack(rules, [parse_cards(hand) for hand in self.hands], self.dealer, parse_cards(self.stock))
            start = Position(
                rules=rules,
                seats=self.seats,
                dealer=self.dealer,
                pack=pack,
                actions=(),
                scores=self.scores,
                origin=self.id,
            )
            position = replace(start, actions=tuple(_actions(start, self.said)))
            position.reached()
        except (CardError, PositionError, ValueError) as error:
            raise CaseError(f"case {self.id}: {error}") from None
        return position


@cache
def all_cases() -> tuple[PositionCase, ...]:
    """Every case of every file; raises ``CaseError``, also if there is none at all: a check must not run on nothing."""
    folder = resources.files("referee.check") / "cases"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    cases = [case for file in files for case in _read(file.name, file.read_text("utf-8"))]
    if not cases:
        raise CaseError("no case was found in referee/check/cases: install Referee again")
    ids = [case.id for case in cases]
    doubled = {name for name in ids if ids.count(name) > 1}
    if doubled:
        raise CaseError(f"two cases have the id {', '.join(sorted(doubled))}: give each its own")
    return tuple(cases)


def _read(file: str, text: str) -> Iterator[PositionCase]:
    try:
        data = tomllib.loads(text)
        if data.get("format") != FORMAT:
            raise CaseError(f"{file}: format {data.get('format')!r} is not {FORMAT}")
        for entry in data["case"]:
            yield _case(entry)
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise CaseError(f"{file}: {type(error).__name__}: {error}") from None


def _case(entry: Mapping[str, Any]) -> PositionCase:
    seats = int(entry["seats"])
    return PositionCase(
        id=entry["id"],
        title=entry["title"],
        clauses=tuple(entry["clauses"]),
        variants=tuple(entry["variants"]),
        seats=seats,
        dealer=int(entry.get("dealer", seats - 1)),
        hands=tuple(entry.get("hands", ())) or ("",) * seats,
        stock=entry.get("stock", ""),
        said=tuple(entry.get("said", ())),
        scores=tuple(entry.get("scores", ())),
    )


def cases_for(rules: RuleSet, seats: Sequence[int] = ()) -> list[Position]:
    """The cases of a game, each in its four shapes. One that house rules make impossible is left out."""
    found = []
    for case in all_cases():
        if rules.name not in case.variants or (seats and case.seats not in seats):
            continue
        try:
            position = case.position(rules)
        except CaseError:
            continue
        found += [moved(position, number) for number in range(4)]
    return found


def stack(rules: RuleSet, hands: Sequence[Sequence[Card]], dealer: int, stock: Sequence[Card] = ()) -> tuple[Card, ...]:
    """A pack that deals at least these cards to the seats, with these on top of the stock; raises ``ValueError``."""
    named = [card for cards in (*hands, stock) for card in cards]
    if len(set(named)) != len(named):
        raise ValueError("a card is in two places")
    left = [card for card in PACK if card not in named]
    seats = len(hands)
    full = []
    for number, cards in enumerate(hands):
        if len(cards) > rules.hand_size:
            raise ValueError(f"seat {number} has {len(cards)} cards, {rules.hand_size} are dealt")
        # Every seats-th card that is left, so that no filled hand is all of one suit.
        lacking = rules.hand_size - len(cards)
        filling = left[:: max(len(left) // max(lacking, 1), 1)][:lacking]
        left = [card for card in left if card not in filling]
        full.append([*cards, *filling])
    pack: list[Card] = []
    for top in range(0, rules.hand_size, rules.packet):
        for place in range(1, seats + 1):
            pack += full[(dealer + place) % seats][top : top + rules.packet]
    return (*pack, *stock, *left)


def _actions(start: Position, said: Sequence[str]) -> Iterator[Action]:
    deal = Deal(start.rules, start.seats, start.dealer, start.pack, start.scores)
    for line in said:
        whole = line.startswith(("keep", "name"))
        for word in [line.removeprefix("name ")] if whole else line.split():
            if deal.kind is None:
                raise PositionError(f"{word}: the deal is over")
            action = parse_action(deal.kind, word)
            violation = deal.verify(action)
            if violation:
                raise PositionError(f"{word}: {violation.rule}: {violation.sentence}")
            deal.apply(action)
            yield action


def moved(position: Position, number: int) -> Position:
    """The same position with the suits exchanged (0 to 3: by number, which keeps pairs of one colour) and the seats moved on."""
    flip, seats = number << 4, position.seats
    if not number:
        return position
    pack = [card ^ flip for card in position.pack]  # dealt from eldest on, it moves with the dealer by itself
    deal = Deal(position.rules, seats, position.dealer, position.pack, position.scores)
    actions = []
    for action in position.actions:
        actions.append(_flipped(deal.kind, action, number))
        deal.apply(action)
    sides = position.rules.side_count(seats)
    scores = position.scores and tuple(position.scores[(side - number) % sides] for side in range(sides))
    dealer = (position.dealer + number) % seats
    return replace(position, dealer=dealer, pack=tuple(pack), actions=tuple(actions), scores=scores)


def _flipped(kind: Kind | None, action: Action, number: int) -> Action:
    if kind is Kind.PLAY:
        return action ^ number << 4
    if kind is Kind.NAME_TRUMP:
        return action ^ number
    if kind is Kind.DISCARD:
        return _flipped_mask(action, number)
    return action


def _flipped_mask(cards: Mask, number: int) -> Mask:
    return sum(1 << (card ^ number << 4) for card in cards_in(cards))

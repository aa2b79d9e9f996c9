"""House rules as data: one frozen ``RuleSet`` for every game of the family.

A field is one house rule. Its allowed values come from its annotation, its meaning from the ``house`` text beside it;
the rule book, the wire, the oracle and the docs all read them from here. ``registry`` names the variants.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Self, get_args, get_origin, get_type_hints

from referee.rules.consistency import RuleSetError, check_sense

__all__ = ["RuleSet", "RuleSetError", "allowed_values", "house", "meanings"]


def house(meaning: str, default: Any = dataclasses.MISSING) -> Any:
    """A field of ``RuleSet``: its meaning in one sentence, and the default if it has one."""
    return dataclasses.field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """All house rules of one game. Immutable; ``with_rules`` makes a changed copy.

    A *side* is one seat where ``sides`` is 0 (each for self); otherwise seat s belongs to side ``s % sides``. Seats are
    numbered in the direction of play.
    """

    name: str = house("Name of the variant in the registry.")
    title: str = house("Name of the game as people write it.")
    players: tuple[int, int] = house("Fewest and most seats.")
    sides: int = house("0 = each for self; else the number of sides, partners being every sides-th seat.", 0)

    hand_size: int = house("Cards dealt to each seat.", 6)
    packet: int = house("Cards dealt at a time.", 3)
    trump_by: Literal["pitch", "turn_up", "name", "cut"] = house(
        "What fixes trump: the pitcher's first lead; a card turned up that eldest may refuse; the pitcher's word; or the "
        "top card of the stock, which nobody may refuse.",
        "pitch",
    )

    min_bid: int = house("Lowest bid; 0 = there is no auction.", 2)
    max_bid: int = house("Highest bid; 0 = there is no auction.", 4)
    steal: tuple[int, ...] = house("Bids that may be taken over at the same amount.", (2, 3))
    steal_by: Literal["dealer", "anyone"] = house("Who may take a bid over: the dealer, or any later seat.", "dealer")
    top_bid_ends: bool = house("Whether the highest bid ends the auction (who may steal it still speaks).", True)
    all_pass: Literal[
        "thrown_in_next_dealer",
        "thrown_in_same_dealer",
        "dealer_forced",
        "dealer_free",
        "eldest_free",
        "dealer_set_back",
    ] = house(
        "When nobody bids: thrown in and the deal passes left or stays; the dealer must bid the minimum; the dealer or "
        "eldest pitches without obligation; or the dealer is set back by the minimum without play.",
        "thrown_in_next_dealer",
    )

    turned_scores: tuple[tuple[str, int], ...] = house("Points for the dealer's side by rank turned up.", ())
    jack_turns: Literal["every", "fixing"] = house(
        "Which turned cards score: every one, or the one that stays.", "every"
    )
    gift_to: Literal["eldest", "opponents"] = house("Who gets the point when the dealer gives one.", "eldest")
    gift_out: bool = house("Whether the gift may be the point that ends the game.", False)
    without_trump: Literal["accepts", "stands", "refuses"] = house(
        "What a seat without a card of the suit turned up may do: accept it as any other, stand but not give, or neither.",
        "accepts",
    )
    after_run: Literal["reduce", "keep", "keep_once"] = house(
        "After running the cards: back to the hand size; keep all; or keep all after one run and reduce after more.",
        "reduce",
    )
    stock_out: Literal["redeal", "turn_last"] = house(
        "When the stock cannot serve another run: redeal, or turn the remaining cards first.", "redeal"
    )

    first_lead: Literal["pitcher", "eldest"] = house("Who leads to the first trick.", "pitcher")
    follow: Literal["follow_or_trump", "strict", "no_undertrump"] = house(
        "Duty to a plain lead: follow or trump; follow if able; follow or trump but never below a trump on the table.",
        "follow_or_trump",
    )
    left_pedro: bool = house("Whether the five of the same colour is a trump, just below the five of trumps.", False)
    play_only_trumps: bool = house("Whether only trumps are played, a seat without any dropping out.", False)

    discard: Literal["none", "cinch", "pidro"] = house("Discard and draw before play, and by which rules.", "none")
    rob: Literal["none", "dealer"] = house("Whether the dealer takes the rest of the stock to choose from.", "none")
    stock: Literal["none", "face_up", "face_down"] = house("Whether each trick is followed by drawing.", "none")

    scoring: Literal["items", "points"] = house("High, Low, Jack and Game, or points for single trumps.", "items")
    point_cards: tuple[tuple[str, int], ...] = house("Points by trump rank where single trumps score.", ())
    low_to: Literal["holder", "taker"] = house("Who scores Low: who played it, or who won it.", "holder")
    game_tie: Literal["nobody", "elder", "pitcher", "non_dealer"] = house("Who scores Game on equal pips.", "nobody")
    game_points: int = house("Points for Game.", 1)
    hang_jack: int = house("Points for the trump jack when the other side wins it.", 1)
    pitcher_scores: Literal["made", "bid"] = house("What a successful pitcher scores.", "made")
    score_style: Literal["set_back", "difference"] = house(
        "Set-back: both sides score what they took, a failed bid is subtracted. Difference: only the better side scores.",
        "set_back",
    )

    target: int = house("Score that wins the game.", 7)
    pitcher_first: bool = house("Whether the pitcher's side is counted first.", True)
    smudge: Literal["none", "bid", "any"] = house(
        "All four items win the game at once: never; for a pitcher who bid four and was not in the hole; for anyone.",
        "bid",
    )
    in_hole: Literal["below_zero", "zero_or_below"] = house("Which scores are in the hole.", "below_zero")
    settlement: Literal["stakes", "none"] = house("Whether the losers pay the winner.", "stakes")
    settlement_set_backs: bool = house("Whether a loser pays one more for each time he was set back.", False)
    max_deals: int = house("Deals after which the game ends undecided; thrown-in deals count.", 100)

    def __post_init__(self) -> None:
        for name, kind in _types().items():
            object.__setattr__(self, name, _checked(name, kind, getattr(self, name)))
        check_sense(self)

    def with_rules(self, changes: Mapping[str, object]) -> Self:
        """A copy with some house rules changed; raises ``RuleSetError`` naming the field and what is allowed."""
        _check_names(changes)
        return dataclasses.replace(self, **dict(changes))  # type: ignore[arg-type]

    def as_dict(self) -> dict[str, Any]:
        """Every house rule by name, as plain JSON values; ``from_dict`` reads it back."""
        return {name: _plain(getattr(self, name)) for name in _types()}

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Self:
        """The rule set written by ``as_dict``; raises ``RuleSetError``."""
        _check_names(values)
        for entry in dataclasses.fields(cls):
            if entry.default is dataclasses.MISSING and entry.name not in values:
                raise RuleSetError(entry.name, "it is missing, and has no default")
        return cls(**dict(values))  # type: ignore[arg-type]

    @property
    def has_auction(self) -> bool:
        """Whether the seats bid for the right to make trump."""
        return self.trump_by in ("pitch", "name")

    @property
    def lays_away(self) -> bool:
        """Whether seats can be asked which cards they keep."""
        return self.discard != "none" or (self.trump_by == "turn_up" and self.after_run != "keep")

    def side_count(self, seats: int) -> int:
        """How many sides play when that many seats are taken."""
        return self.sides or seats

    def check_seats(self, seats: int) -> None:
        """Raises ``RuleSetError`` if the game cannot be played with that many seats."""
        low, high = self.players
        if not low <= seats <= high:
            fitting = f"{low}" if low == high else f"{low} to {high}"
            raise RuleSetError("seats", f"{self.title} is for {fitting} players, not {seats}")
        if self.sides and seats % self.sides:
            raise RuleSetError("sides", f"{seats} seats cannot form {self.sides} equal sides")
        turned = 1 if self.trump_by in ("turn_up", "cut") else 0
        if self.hand_size * seats + turned > 52:
            more = " and a card to turn up" if turned else ""
            raise RuleSetError("hand_size", f"{seats} hands of {self.hand_size}{more} need more than 52 cards")
        if self.game_tie == "non_dealer" and self.side_count(seats) != 2:
            raise RuleSetError("game_tie", "'non_dealer' names nobody among more than two sides; use 'elder'")


def meanings() -> dict[str, str]:
    """The meaning of every house rule, by field name, in the order of the fields."""
    return {field.name: field.metadata["meaning"] for field in dataclasses.fields(RuleSet)}


def allowed_values(name: str) -> tuple[object, ...] | None:
    """The values that a house rule can take, or ``None`` where it is a number or a list."""
    kind = _types()[name]
    if kind is bool:
        return (False, True)
    return get_args(kind) if get_origin(kind) is Literal else None


_CACHE: dict[str, Any] = {}


def _types() -> dict[str, Any]:
    if not _CACHE:
        _CACHE.update(get_type_hints(RuleSet))
    return _CACHE


def _check_names(values: Mapping[str, object]) -> None:
    for name in values:
        if name not in _types():
            raise RuleSetError(name, f"no such house rule; the house rules are {', '.join(_types())}")


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


_KINDS: Final = {bool: "true or false", int: "a whole number", str: "a text"}


def _checked(name: str, kind: Any, value: Any) -> Any:
    """The value in its proper type, or ``RuleSetError``. Lists and tables as TOML and JSON write them are accepted."""
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise RuleSetError(name, f"{value!r} is not one of {', '.join(map(repr, get_args(kind)))}")
    elif get_origin(kind) is tuple:
        return _checked_tuple(name, kind, value)
    elif type(value) is not kind:
        raise RuleSetError(name, f"{value!r} is not {_KINDS[kind]}")
    return value


def _checked_tuple(name: str, kind: Any, value: Any) -> tuple[Any, ...]:
    if isinstance(value, Mapping):
        value = list(value.items())
    if not isinstance(value, list | tuple):
        raise RuleSetError(name, f"{value!r} is not a list")
    inner = get_args(kind)
    if inner[-1] is Ellipsis:
        return tuple(_checked(name, inner[0], item) for item in value)
    if len(value) != len(inner):
        raise RuleSetError(name, f"{value!r} needs {len(inner)} entries")
    return tuple(_checked(name, part, item) for part, item in zip(inner, value, strict=True))

"""House rules as data: one frozen ``RuleSet`` for every game of the family.

A field is one house rule. Its allowed values come from its annotation, its meaning from the ``house_rule`` text beside it;
the rule book, the wire, the oracle and the docs all read them from here. ``registry`` names the variants.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, Self, get_args, get_origin, get_type_hints

from referee.cards import RANKS

HELD: Final = 6
"""Cards in a hand after the discard and draw of Cinch and its relatives."""

POINT_NAMES: Final = {"A": "high", "2": "low", "J": "jack", "T": "game", "3": "three", "5": "right pedro", "9": "nine"}
"""Ranks of single trumps that can score, in the order in which they count (Foster: High, Low, Jack, Ten, Three, Five,
Nine), and what their points are called."""


class RuleSetError(ValueError):
    """A house rule that does not exist, has a value it cannot have, or makes no sense beside another.

    ``field`` names the house rule, the message says what is allowed.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


def house_rule(meaning: str, default: Any = dataclasses.MISSING) -> Any:
    """A field of ``RuleSet``: its meaning in one sentence, and the default if it has one."""
    return dataclasses.field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """All house rules of one game. Immutable; ``with_rules`` makes a changed copy.

    A *side* is one seat where ``sides`` is 0 (each for self); otherwise seat s belongs to side ``s % sides``. Seats are
    numbered in the direction of play.
    """

    name: str = house_rule("Name of the variant in the registry.")
    title: str = house_rule("Name of the game as people write it.")
    players: tuple[int, int] = house_rule("Fewest and most seats.")
    sides: int = house_rule("0 = each for self; else the number of sides, partners being every sides-th seat.", 0)

    hand_size: int = house_rule("Cards dealt to each seat.", 6)
    packet: int = house_rule("Cards dealt at a time.", 3)
    trump_by: Literal["pitch", "turn_up", "name", "cut"] = house_rule(
        "What fixes trump: the pitcher's first lead; a card turned up that eldest may refuse; the pitcher's word; or the "
        "top card of the stock, which nobody may refuse.",
        "pitch",
    )

    min_bid: int = house_rule("Lowest bid; 0 = there is no auction.", 2)
    max_bid: int = house_rule("Highest bid; 0 = there is no auction.", 4)
    steal: tuple[int, ...] = house_rule("Bids that may be taken over at the same amount.", (2, 3))
    steal_by: Literal["dealer", "anyone"] = house_rule(
        "Who may take a bid over: the dealer, or any later seat.", "dealer"
    )
    top_bid_ends: bool = house_rule("Whether the highest bid ends the auction (who may steal it still speaks).", True)
    all_pass: Literal[
        "thrown_in_next_dealer",
        "thrown_in_same_dealer",
        "dealer_forced",
        "dealer_free",
        "eldest_free",
        "dealer_set_back",
    ] = house_rule(
        "When nobody bids: thrown in and the deal passes left or stays; the dealer must bid the minimum; the dealer or "
        "eldest pitches without obligation; or the dealer is set back by the minimum without play.",
        "thrown_in_next_dealer",
    )

    turned_scores: tuple[tuple[str, int], ...] = house_rule("Points for the dealer's side by rank turned up.", ())
    jack_turns: Literal["every", "fixing"] = house_rule(
        "Which turned cards score: every one, or the one that stays.", "every"
    )
    gift_to: Literal["eldest", "opponents"] = house_rule("Who gets the point when the dealer gives one.", "eldest")
    gift_out: bool = house_rule("Whether the gift may be the point that ends the game.", False)
    without_trump: Literal["accepts", "stands", "refuses"] = house_rule(
        "What a seat without a card of the suit turned up may do: accept it as any other, stand but not give, or neither.",
        "accepts",
    )
    after_run: Literal["reduce", "keep", "keep_once"] = house_rule(
        "After running the cards: back to the hand size; keep all; or keep all after one run and reduce after more.",
        "reduce",
    )
    stock_out: Literal["redeal", "turn_last"] = house_rule(
        "When the stock cannot serve another run: redeal, or turn the remaining cards first.", "redeal"
    )

    first_lead: Literal["pitcher", "eldest"] = house_rule("Who leads to the first trick.", "pitcher")
    follow: Literal["follow_or_trump", "strict", "no_undertrump"] = house_rule(
        "Duty to a plain lead: follow or trump; follow if able; follow or trump but never below a trump on the table.",
        "follow_or_trump",
    )
    left_pedro: bool = house_rule(
        "Whether the five of the same colour is a trump, just below the five of trumps.", False
    )
    play_only_trumps: bool = house_rule("Whether only trumps are played, a seat without any dropping out.", False)

    discard: Literal["none", "cinch", "pidro"] = house_rule("Discard and draw before play, and by which rules.", "none")
    rob: Literal["none", "dealer"] = house_rule(
        "Whether the dealer takes the rest of the stock to choose from.", "none"
    )
    stock: Literal["none", "face_up", "face_down"] = house_rule("Whether each trick is followed by drawing.", "none")

    scoring: Literal["items", "points"] = house_rule("High, Low, Jack and Game, or points for single trumps.", "items")
    point_cards: tuple[tuple[str, int], ...] = house_rule("Points by trump rank where single trumps score.", ())
    low_to: Literal["holder", "taker"] = house_rule("Who scores Low: who played it, or who won it.", "holder")
    game_tie: Literal["nobody", "elder", "pitcher", "non_dealer"] = house_rule(
        "Who scores Game on equal pips.", "nobody"
    )
    game_points: int = house_rule("Points for Game.", 1)
    hang_jack: int = house_rule("Points for the trump jack when the other side wins it.", 1)
    pitcher_scores: Literal["made", "bid"] = house_rule("What a successful pitcher scores.", "made")
    score_style: Literal["set_back", "difference"] = house_rule(
        "Set-back: both sides score what they took, a failed bid is subtracted. Difference: only the better side scores.",
        "set_back",
    )

    target: int = house_rule("Score that wins the game.", 7)
    pitcher_first: bool = house_rule("Whether the pitcher's side is counted first.", True)
    smudge: Literal["none", "bid", "any"] = house_rule(
        "All four items win the game at once: never; for a pitcher who bid four and was not in the hole; for anyone.",
        "bid",
    )
    in_hole: Literal["below_zero", "zero_or_below"] = house_rule("Which scores are in the hole.", "below_zero")
    settlement: Literal["stakes", "none"] = house_rule("Whether the losers pay the winner.", "stakes")
    settlement_set_backs: bool = house_rule("Whether a loser pays one more for each time he was set back.", False)
    max_deals: int = house_rule("Deals after which the game ends undecided; thrown-in deals count.", 100)

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

    def side(self, seat: int) -> int:
        """The side that a seat plays for."""
        return seat % self.sides if self.sides else seat

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


@cache
def _types() -> dict[str, Any]:
    return get_type_hints(RuleSet)


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


# Which house rules make sense together

Demand = tuple[str, bool, str]
"""A house rule, whether what is demanded of it holds, and the reason for the demand."""


def check_sense(rules: RuleSet) -> None:
    """Refuses house rules that contradict each other; raises ``RuleSetError``."""
    for demands in (_cards, _auction, _turn_up, _play, _draw, _scores, _contracts):
        for field, holds, reason in demands(rules):
            if not holds:
                raise RuleSetError(field, f"{getattr(rules, field)!r} makes no sense: {reason}")


def most_points(rules: RuleSet, seats: int) -> int:
    """The most that one side can make in a deal with an auction, by the best play of the best cards.

    Short hands bound it: a seat that plays for itself cannot both win a jack with its only trump and have played the
    lowest one; and where the two scores for its holder, the trick that it is played to brings a lone holder nothing else.
    """
    tricks = HELD if rules.discard != "none" else rules.hand_size
    keeps_low = rules.low_to == "holder" and not (rules.sides and seats > rules.sides)
    if rules.scoring == "items":
        if tricks == 1 and keeps_low:
            return max(3, 1 + rules.hang_jack) + rules.game_points
        return 2 + rules.hang_jack + rules.game_points
    worth = dict(rules.point_cards)
    two = worth.pop("2", 0)
    others = sorted([*worth.values(), *([worth["5"]] if rules.left_pedro else [])], reverse=True)
    if not keeps_low:
        return sum(sorted([two, *others], reverse=True)[: tricks * seats])
    return max(sum(others[: tricks * seats]), two + sum(others[: (tricks - 1) * seats]))


def _idle(rules: RuleSet, needed: bool, what: str, *names: str) -> Iterator[Demand]:
    """House rules that have no effect unless ``needed``: they keep their defaults."""
    for field in dataclasses.fields(rules):
        if field.name in names:
            yield field.name, needed or getattr(rules, field.name) == field.default, f"it has no effect without {what}"


def _cards(rules: RuleSet) -> Iterator[Demand]:
    low, high = rules.players
    yield "players", 2 <= low <= high <= 7, "the family is played by 2 to 7"
    yield "hand_size", 1 <= rules.hand_size <= 26, "a hand has 1 to 26 cards"
    yield "packet", 1 <= rules.packet <= rules.hand_size, "a packet has from one card to the whole hand"
    yield "packet", rules.hand_size % rules.packet == 0, f"{rules.hand_size} cards do not divide into it"
    yield "sides", rules.sides in (0, 2, 3), "0 is each for self, else 2 or 3 sides"


def _auction(rules: RuleSet) -> Iterator[Demand]:
    if not rules.has_auction:
        yield "min_bid", rules.min_bid == 0, f"nobody bids with trump_by = {rules.trump_by!r}: write 0"
        yield "max_bid", rules.max_bid == 0, f"nobody bids with trump_by = {rules.trump_by!r}: write 0"
        yield "steal", rules.steal == (), "there is no bid to take over: write an empty list"
    else:
        yield "min_bid", 1 <= rules.min_bid <= rules.max_bid, f"it must lie between 1 and max_bid ({rules.max_bid})"
        yield "max_bid", rules.max_bid <= 255, "a bid is at most 255"
        fitting = all(rules.min_bid <= bid <= rules.max_bid for bid in rules.steal)
        yield "steal", fitting, f"the amounts must lie between {rules.min_bid} and {rules.max_bid}"
        yield "steal", list(rules.steal) == sorted(set(rules.steal)), "name each amount once, ascending"
    yield from _idle(rules, bool(rules.steal), "amounts in 'steal'", "steal_by")
    yield from _idle(rules, rules.has_auction, "an auction", "pitcher_scores", "score_style")
    yield from _idle(rules, rules.has_auction, "an auction", "all_pass", "top_bid_ends")
    yield "first_lead", rules.has_auction or rules.first_lead == "eldest", "there is no pitcher: write 'eldest'"
    yield "first_lead", rules.trump_by != "pitch" or rules.first_lead == "pitcher", "the first lead is the pitch"


def _turn_up(rules: RuleSet) -> Iterator[Demand]:
    turned = rules.trump_by == "turn_up"
    answers = ("gift_to", "gift_out", "without_trump", "after_run")
    yield from _idle(rules, turned, "a turned-up trump", "turned_scores", "stock_out", *answers)
    yield from _idle(rules, bool(rules.turned_scores), "'turned_scores'", "jack_turns")
    yield "turned_scores", *_rank_table(rules.turned_scores, RANKS)


def _rank_table(table: tuple[tuple[str, int], ...], ranks: Any) -> tuple[bool, str]:
    """Whether a table has each rank once with a sensible number of points, and what it must have."""
    names = [rank for rank, _ in table]
    fitting = all(rank in ranks and len(rank) == 1 and 1 <= points <= 100 for rank, points in table)
    return fitting and len(set(names)) == len(names), f"write each rank of {' '.join(ranks)} once, with 1 to 100 points"


def _play(rules: RuleSet) -> Iterator[Demand]:
    named = rules.trump_by == "name"
    fives = "5" in dict(rules.point_cards)
    yield "left_pedro", fives or not rules.left_pedro, "it scores as the five: give point_cards a '5'"
    yield "left_pedro", rules.trump_by != "turn_up" or not rules.left_pedro, "no turned-up trump is played with it"
    yield from _idle(rules, named, "trump_by = 'name'", "discard", "play_only_trumps")
    yield from _idle(rules, not rules.play_only_trumps, "plain suits in play", "follow")


def _draw(rules: RuleSet) -> Iterator[Demand]:
    discards = rules.discard != "none"
    yield from _idle(rules, discards, "a discard", "rob")
    yield "discard", not discards or rules.hand_size >= HELD, f"hands of {HELD} cannot be kept of {rules.hand_size}"
    scoring = len(rules.point_cards) + rules.left_pedro
    yield "discard", rules.discard != "pidro" or scoring <= HELD, f"no more than {HELD} trumps that score can be kept"
    only_trumps = (
        "hands differ in length after it, so plain cards cannot be played to the end: write play_only_trumps = true"
    )
    yield "discard", rules.discard != "pidro" or rules.play_only_trumps, only_trumps
    yield from _idle(rules, rules.trump_by == "cut", "trump_by = 'cut'", "stock")
    yield "players", rules.stock == "none" or rules.players == (2, 2), "two draw from the stock: write [2, 2]"


def _scores(rules: RuleSet) -> Iterator[Demand]:
    items = rules.scoring == "items"
    yield "smudge", rules.smudge == "none" or items, "all four items must score"
    bid_of_four = rules.has_auction and rules.max_bid == 4
    yield "smudge", rules.smudge != "bid" or bid_of_four, "it means a bid of four: use it with max_bid = 4"
    yield "point_cards", items != bool(rules.point_cards), "they score with scoring = 'points', and only there"
    yield "point_cards", *_rank_table(rules.point_cards, POINT_NAMES)
    yield from _idle(rules, items, "scoring = 'items'", "game_points", "hang_jack", "game_tie")
    yield "game_tie", rules.game_tie != "pitcher" or rules.has_auction, "there is no pitcher"
    difference = rules.score_style == "difference"
    yield "score_style", not difference or rules.sides == 2, "the difference is between two sides: write sides = 2"
    yield "pitcher_scores", not difference or rules.pitcher_scores == "made", "the difference is scored"
    yield "target", 1 <= rules.target <= 1000, "it must lie between 1 and 1000"
    yield "max_deals", 1 <= rules.max_deals <= 10_000, "it must lie between 1 and 10000"
    yield "game_points", 1 <= rules.game_points <= 10, "it must lie between 1 and 10"
    yield "hang_jack", 1 <= rules.hang_jack <= 10, "it must lie between 1 and 10"
    each = rules.sides == 0
    yield "settlement", rules.settlement == "none" or each, "no source settles stakes between sides"
    paid = rules.settlement == "stakes" or not rules.settlement_set_backs
    yield "settlement_set_backs", paid, "it needs settlement = 'stakes'"


def _contracts(rules: RuleSet) -> Iterator[Demand]:
    """No contract is for sale that nobody can make."""
    if rules.has_auction:
        low = rules.players[0]
        fewest = low + -low % rules.sides if rules.sides else low
        most = most_points(rules, fewest)
        reason = f"with {fewest} seats one side can make {most} at most in a deal, and a bid must be possible to make"
        yield "max_bid", rules.max_bid <= most, reason

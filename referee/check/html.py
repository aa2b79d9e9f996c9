"""The report as one page of HTML: bots by rules, and each breach with the table drawn as the bot saw it."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from referee.rules.actions import seat_text
from referee.sandbox.output import harmless

_SUITS: Final = {"C": ("♣", "black"), "D": ("♦", "red"), "H": ("♥", "red"), "S": ("♠", "black")}
_NAMES: Final = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
_RANKS: Final = {"T": "10"}
_RANK_NAMES: Final = {"A": "ace", "K": "king", "Q": "queen", "J": "jack", "T": "ten"}

WIDTH: Final = 640
_CENTRE: Final = (320, 205)
_RADII: Final = (250, 165)
_HAND_Y: Final = 440
_CALL_LENGTH: Final = 10
_CARD: Final = (46, 64)
_GAP: Final = 52


@dataclass(frozen=True, slots=True)
class DrawnCard:
    """A card to draw: where, and how it is marked: ``legal``, ``wrong``, ``lost`` (should have been kept)."""

    text: str
    x: float
    y: float
    mark: str = ""

    @property
    def rank(self) -> str:
        """The rank as people read it."""
        return _RANKS.get(self.text[0], self.text[0])

    @property
    def suit(self) -> str:
        """The sign of the suit."""
        return _SUITS[self.text[1]][0]

    @property
    def colour(self) -> str:
        """Red or black."""
        return _SUITS[self.text[1]][1]

    @property
    def name(self) -> str:
        """The card in words, for those who hear the page."""
        rank = _RANK_NAMES.get(self.text[0], self.text[0])
        return f"{rank} of {_NAMES[self.text[1]]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A seat to draw: its place, what it is, and what it said."""

    number: int
    x: float
    y: float
    label: str
    call: str
    wrong: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A table to draw. ``height`` fits the hand below it, ``told`` says it in words."""

    seats: list[Seat]
    trick: list[DrawnCard]
    hand: list[DrawnCard]
    stranger: DrawnCard | None
    turn_up: DrawnCard | None
    trump: str
    height: int
    told: str


def picture_of(scene: Mapping[str, Any]) -> Picture:
    """The table of a scene, the bot at the bottom, the direction of play clockwise."""
    seats = [_seat(scene, number) for number in range(scene["seats"])]
    trick = [DrawnCard(card, *_place(scene, seat, 0.57)) for seat, card in scene["trick"]]
    trick = [DrawnCard(card.text, card.x - _CARD[0] / 2, card.y - _CARD[1] / 2) for card in trick]
    cards = scene["hand"].split()
    rows = [cards[start : start + 12] for start in range(0, len(cards), 12)]
    hand = [
        _in_hand(scene, card, number, row, len(line))
        for row, line in enumerate(rows)
        for number, card in enumerate(line)
    ]
    stranger = None
    if scene["card"] and scene["card"] not in cards:
        stranger = DrawnCard(scene["card"], WIDTH - _CARD[0] - 40, _HAND_Y, "wrong")
    turned = DrawnCard(scene["turn_up"], WIDTH / 2 - 23, 155) if scene["turn_up"] and not scene["trick"] else None
    trump = f"{_SUITS[scene['trump'][0].upper()][0]} {scene['trump']}" if scene["trump"] else ""
    table = ", ".join(f"{seat_text(seat)} played {card}" for seat, card in scene["trick"])
    told = f"The table. {table + '. ' if table else ''}The bot held {scene['hand'] or 'nothing'} and answered {scene['did']}."
    return Picture(
        seats=seats,
        trick=trick,
        hand=hand,
        stranger=stranger,
        turn_up=turned,
        trump=trump,
        height=_HAND_Y + 10 + 78 * max(len(rows), 1),
        told=told,
    )


def _place(scene: Mapping[str, Any], seat: int, reach: float) -> tuple[float, float]:
    """Where something of a seat lies; ``reach`` 1 is the edge of the table."""
    angle = math.pi / 2 + 2 * math.pi * ((seat - scene["seat"]) % scene["seats"]) / scene["seats"]
    return _CENTRE[0] + _RADII[0] * reach * math.cos(angle), _CENTRE[1] + _RADII[1] * reach * math.sin(angle)


def _seat(scene: Mapping[str, Any], number: int) -> Seat:
    x, y = _place(scene, number, 0.98)
    words = ["the bot" if number == scene["seat"] else seat_text(number)]
    if number == scene["dealer"]:
        words.append("dealer")
    if number == scene["pitcher"] and scene["kind"] != "BID":
        words.append(f"bid {scene['bid']}" if scene["bid"] else "pitcher")
    if scene["sides"] and number != scene["seat"] and (number - scene["seat"]) % scene["sides"] == 0:
        words.append("partner")
    if any(scene["scores"]):
        words.append(f"score {scene['scores'][number]}")
    call, wrong = _call(scene, number)
    return Seat(number=number, x=x, y=y, label=", ".join(words), call=call, wrong=wrong)


def _call(scene: Mapping[str, Any], number: int) -> tuple[str, bool]:
    """What a seat has said to the matter, and whether that is what is wrong."""
    if scene["kind"] in ("PLAY", "DISCARD"):
        return "", False
    if number == scene["seat"]:
        return scene["did"] if len(scene["did"]) <= _CALL_LENGTH else "?", True
    if scene["kind"] == "ANSWER_BEG":
        return "beg" if number == (scene["dealer"] + 1) % scene["seats"] else "", False
    if scene["kind"] == "BID":
        return next((call for seat, call in scene["calls"] if seat == number), ""), False
    return "", False


def _in_hand(scene: Mapping[str, Any], card: str, number: int, row: int, count: int) -> DrawnCard:
    left = (WIDTH - _GAP * count + _GAP - _CARD[0]) / 2
    mark = _mark(scene, card)
    lift = -12 if mark == "wrong" else 0
    return DrawnCard(card, left + _GAP * number, _HAND_Y + 74 * row + lift, mark)


def _mark(scene: Mapping[str, Any], card: str) -> str:
    if scene["kind"] == "DISCARD":
        if card in scene["did"].split():
            return "legal" if card in scene["legal_cards"] else "wrong"
        return "lost" if card in scene["must"] else ""
    if card == scene["card"]:
        return "wrong"
    return "legal" if card in scene["legal_cards"] else ""


def as_html(document: Mapping[str, Any]) -> str:
    """The page."""
    keys: dict[str, dict[str, Any]] = {}
    for run in document["runs"]:
        for entry in run["verdicts"]:
            if entry["level"] != "INFO":
                keys.setdefault(entry["key"], entry)
    in_order = sorted(keys.items(), key=lambda one: not one[1]["variant"])  # games first, conduct below
    matrix = [(entry, [_cell(run, key) for run in document["runs"]]) for key, entry in in_order]
    pictures = {
        (number, entry["key"]): picture_of(entry["witness"]["scene"])
        for number, run in enumerate(document["runs"])
        for entry in run["verdicts"]
        if entry["witness"] and entry["witness"]["scene"]
    }
    return _environment().get_template("check.html.j2").render(document=document, matrix=matrix, pictures=pictures)


def _cell(run: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    return next((entry for entry in run["verdicts"] if entry["key"] == key), None)


_CARD_WORD = re.compile(r"(?<!\w)([2-9TJQKA])([CDHS])(?!\w)")


def _with_signs(text: str) -> str:
    """A text with every card written by its sign: ``AC`` is ``A♣``."""
    return _CARD_WORD.sub(lambda found: _RANKS.get(found[1], found[1]) + _SUITS[found[2]][0], text)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("referee.check", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["harmless"] = harmless
    environment.filters["cards"] = _with_signs
    environment.filters["anchor"] = lambda key: "".join(sign if sign.isalnum() or sign == "-" else "-" for sign in key)
    return environment

"""The variants by name: what each game changes against the shared core."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from referee.rules.ruleset import RuleSet, RuleSetError

ALIASES: Final = {
    "pitch": "auction-pitch",
    "auction-pitch-stick-the-dealer": "auction-pitch-forced",
    "pitch-smudge": "smudge",
    "setback": "partnership-pitch",
    "set-back": "partnership-pitch",
    "all-4s": "all-fours",
    "high-low-jack": "all-fours",
    "old-sledge": "seven-up",
    "sledge": "seven-up",
    "7-up": "seven-up",
    "trinidad-all-fours": "trinidad",
    "all-foes": "trinidad",
    "double-pedro": "cinch",
    "high-five": "cinch",
    "single-pedro": "pedro",
    "cajun-pedro": "pedro-louisiana",
    "louisiana-pedro": "pedro-louisiana",
    "finnish-pedro": "pidro",
    "california-all-fours": "california-jack",
}
"""Other names of a variant."""

Changes = Mapping[str, Any]

_PITCH: Final[Changes] = {"name": "auction-pitch", "title": "Auction Pitch", "players": (2, 7)}

_FORCED: Final[Changes] = {
    "name": "auction-pitch-forced",
    "title": "Auction Pitch, dealer forced",
    "all_pass": "dealer_forced",
}

_SMUDGE: Final[Changes] = {
    "name": "smudge",
    "title": "Pitch (Smudge)",
    "players": (3, 5),
    "steal": (),
    "low_to": "taker",
    "smudge": "any",
}

_PARTNERSHIP_PITCH: Final[Changes] = {
    "name": "partnership-pitch",
    "title": "Partnership Pitch",
    "players": (4, 6),
    "sides": 2,
    "target": 11,
    "settlement": "none",
}

_NO_AUCTION: Final[Changes] = {
    "min_bid": 0,
    "max_bid": 0,
    "steal": (),
    "first_lead": "eldest",
    "pitcher_first": False,
    "smudge": "none",
    "settlement": "none",
}

_ALL_FOURS: Final[Changes] = {
    **_NO_AUCTION,
    "name": "all-fours",
    "title": "All Fours",
    "players": (2, 3),
    "trump_by": "turn_up",
    "turned_scores": (("J", 1),),
    "game_tie": "elder",
}

_PARTNERS: Final[Changes] = {"players": (4, 4), "sides": 2}
"""All Fours is each for self with two or three players and in two sides with four: so each has two variants."""

_SEVEN_UP: Final[Changes] = {"name": "seven-up", "title": "Seven-Up"}

_TRINIDAD: Final[Changes] = {
    **_PARTNERS,
    "name": "trinidad",
    "title": "Trinidad All Fours",
    "turned_scores": (("A", 1), ("6", 2), ("J", 3)),
    "after_run": "keep",
    "stock_out": "turn_last",
    "follow": "no_undertrump",
    "hang_jack": 3,
    "game_tie": "nobody",
    "target": 14,
}

_CALIFORNIA_JACK: Final[Changes] = {
    **_NO_AUCTION,
    "name": "california-jack",
    "title": "California Jack",
    "players": (2, 2),
    "trump_by": "cut",
    "stock": "face_up",
    "low_to": "taker",
}

_SHASTA_SAM: Final[Changes] = {"name": "shasta-sam", "title": "Shasta Sam", "stock": "face_down"}

_PEDRO: Final[Changes] = {
    "name": "pedro",
    "title": "Pedro",
    "max_bid": 9,
    "scoring": "points",
    "point_cards": (("A", 1), ("J", 1), ("T", 1), ("2", 1), ("5", 5)),
    "low_to": "taker",
    "smudge": "none",
    "target": 50,
}

_CINCH: Final[Changes] = {
    **_PARTNERS,
    "name": "cinch",
    "title": "Cinch",
    "hand_size": 9,
    "trump_by": "name",
    "min_bid": 1,
    "max_bid": 14,
    "steal": (),
    "all_pass": "dealer_free",
    "left_pedro": True,
    "discard": "cinch",
    "rob": "dealer",
    "target": 51,
    "settlement": "none",
}

_LOUISIANA: Final[Changes] = {
    "name": "pedro-louisiana",
    "title": "Louisiana Pedro",
    "min_bid": 7,
    "all_pass": "dealer_forced",
    "target": 62,
}

_PIDRO: Final[Changes] = {
    "name": "pidro",
    "title": "Pidro",
    "min_bid": 6,
    "steal": (14,),
    "steal_by": "anyone",
    "all_pass": "dealer_forced",
    "play_only_trumps": True,
    "discard": "pidro",
    "low_to": "holder",
    "target": 62,
}


_GAMES: Final[dict[str, tuple[str, Changes]]] = {
    "auction-pitch": ("", _PITCH),
    "auction-pitch-forced": ("auction-pitch", _FORCED),
    "smudge": ("auction-pitch", _SMUDGE),
    "partnership-pitch": ("auction-pitch", _PARTNERSHIP_PITCH),
    "all-fours": ("auction-pitch", _ALL_FOURS),
    "all-fours-partners": ("all-fours", {**_PARTNERS, "name": "all-fours-partners", "title": "All Fours for partners"}),
    "seven-up": ("all-fours", _SEVEN_UP),
    "seven-up-partners": ("seven-up", {**_PARTNERS, "name": "seven-up-partners", "title": "Seven-Up for partners"}),
    "trinidad": ("all-fours", _TRINIDAD),
    "california-jack": ("auction-pitch", _CALIFORNIA_JACK),
    "shasta-sam": ("california-jack", _SHASTA_SAM),
    "pedro": ("auction-pitch", _PEDRO),
    "cinch": ("pedro", _CINCH),
    "pedro-louisiana": ("cinch", _LOUISIANA),
    "pidro": ("cinch", _PIDRO),
}
"""Every variant: the game that it changes, and its changes."""


@cache
def _game(name: str) -> RuleSet:
    base, changes = _GAMES[name]
    return _game(base).with_rules(changes) if base else RuleSet(**changes)


def variant(name: str) -> RuleSet:
    """The rule set of a variant, by its name or an alias; raises ``RuleSetError`` with the nearest names.

    Capitals and blanks do not matter: "All Fours" is ``all-fours``.
    """
    key = "-".join(name.lower().replace("_", " ").split())
    key = ALIASES.get(key, key)
    if key not in _GAMES:
        raise RuleSetError("variant", f"{name!r} is not a variant; {_hint(key)}")
    return _game(key)


def _hint(key: str) -> str:
    import difflib  # only a wrong name needs it

    near = difflib.get_close_matches(key, [*_GAMES, *ALIASES], n=3)
    return f"did you mean {' or '.join(near)}?" if near else f"the variants are {', '.join(_GAMES)}"


def variant_names() -> tuple[str, ...]:
    """The names of all variants, the primary game first."""
    return tuple(_GAMES)

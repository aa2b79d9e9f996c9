"""House rules: the keys the oracle understands, their defaults, and the games of Part 1 as plain dicts.

The defaults are Auction Pitch (1.1) with the choices of Part 2. Every other game is written as the changes its own
section names. What the text leaves open is listed in README.md beside this file.
"""

from collections.abc import Mapping
from typing import Any

Rules = dict[str, Any]

AUCTION_PITCH: Rules = {
    "hand_size": 6,
    "packet": 3,
    "direction": "clockwise",
    "sides": 0,  # 0: each for self; otherwise the side of a seat is seat % sides
    "trump_by": "pitch",
    "min_bid": 2,  # DP-04
    "max_bid": 4,
    "steal": [2, 3],  # DP-02
    "steal_by": "dealer",
    "top_bid_ends": True,  # DP-06
    "all_pass": "thrown_in_next_dealer",  # DP-03
    "low_to": "holder",  # DP-01
    "game_tie": "nobody",  # DP-17
    "target": 7,
    "pitcher_first": True,  # DP-09
    "pitcher_scores": "made",  # DP-16
    "smudge": "bid",
    "in_hole": "below_zero",  # DP-12
    "settlement": "stakes",
    "settlement_set_backs": False,  # DP-28
    "max_deals": 100,  # DP-34
    "follow": "follow_or_trump",  # DP-31
    "turned_score": {"J": 1},
    "jack_turns": "every",  # DP-25
    "gift_to": "eldest",  # DP-21
    "gift_out": False,  # DP-20
    "without_trump": "accepts",  # 1.8
    "after_run": "reduce",  # DP-22
    "stock_out": "redeal",  # DP-24
    "first_lead": "eldest",
    "hang_jack": 1,
    "game_points": 1,
    "scoring": "items",
    "point_cards": {},
    "left_pedro": False,
    "discard": "none",
    "draw_to": 6,
    "rob": "none",
    "short_stock": "keep_plain",
    "score_style": "set_back",
    "stock": "none",
    "play_only_trumps": False,
}

SMUDGE: Rules = {**AUCTION_PITCH, "smudge": "any", "steal": [], "low_to": "taker"}
PARTNERSHIP_PITCH: Rules = {**AUCTION_PITCH, "sides": 2, "target": 11, "settlement": "none"}

ALL_FOURS: Rules = {
    **AUCTION_PITCH,
    "trump_by": "turn_up",
    "game_tie": "elder",
    "smudge": "none",
    "pitcher_first": False,
    "settlement": "none",
}
SEVEN_UP: Rules = dict(ALL_FOURS)
CALIFORNIA_JACK: Rules = {**ALL_FOURS, "trump_by": "cut", "low_to": "taker", "stock": "face_up_draw"}
SHASTA_SAM: Rules = {**CALIFORNIA_JACK, "stock": "face_down_draw"}
TRINIDAD: Rules = {
    **ALL_FOURS,
    "sides": 2,
    "direction": "anticlockwise",
    "turned_score": {"A": 1, "6": 2, "J": 3},
    "after_run": "keep",
    "stock_out": "turn_last",
    "follow": "no_undertrump",
    "hang_jack": 3,
    "game_tie": "nobody",
    "target": 14,
}

CINCH: Rules = {
    **AUCTION_PITCH,
    "hand_size": 9,
    "sides": 2,
    "trump_by": "name",
    "min_bid": 1,
    "max_bid": 14,
    "steal": [],
    "all_pass": "dealer_free",
    "low_to": "taker",
    "smudge": "none",
    "settlement": "none",
    "target": 51,
    "first_lead": "pitcher",
    "scoring": "points",
    "point_cards": {"A": 1, "J": 1, "T": 1, "2": 1, "5": 5, "left5": 5},
    "left_pedro": True,
    "discard": "cinch",
    "rob": "dealer",
}
PEDRO_LOUISIANA: Rules = {**CINCH, "min_bid": 7, "all_pass": "dealer_forced"}
PIDRO: Rules = {
    **CINCH,
    "min_bid": 6,
    "steal": [14],
    "steal_by": "anyone",
    "all_pass": "dealer_forced",
    "discard": "pidro",
    "play_only_trumps": True,
    "low_to": "holder",
    "target": 62,
}
PEDRO_SINGLE: Rules = {
    **AUCTION_PITCH,
    "max_bid": 9,
    "low_to": "taker",
    "smudge": "none",
    "target": 50,
    "scoring": "points",
    "point_cards": {"A": 1, "2": 1, "J": 1, "T": 1, "5": 5},
}

CHOICES: dict[str, set[str]] = {
    "direction": {"clockwise", "anticlockwise"},
    "trump_by": {"pitch", "name", "turn_up", "cut"},
    "all_pass": {
        "thrown_in_next_dealer",
        "thrown_in_same_dealer",
        "dealer_forced",
        "dealer_free",
        "eldest_free",
        "dealer_set_back",
    },
    "low_to": {"holder", "taker"},
    "steal_by": {"dealer", "anyone"},
    "game_tie": {"nobody", "elder", "pitcher", "non_dealer"},
    "pitcher_scores": {"made", "bid"},
    "smudge": {"bid", "any", "none"},
    "in_hole": {"below_zero", "zero_or_below"},
    "settlement": {"stakes", "none"},
    "follow": {"follow_or_trump", "strict", "no_undertrump"},
    "jack_turns": {"every", "fixing"},
    "gift_to": {"eldest", "opponents"},
    "without_trump": {"accepts", "stands", "refuses"},
    "after_run": {"reduce", "keep", "keep_once"},
    "stock_out": {"redeal", "turn_last"},
    "first_lead": {"eldest", "pitcher"},
    "scoring": {"items", "points"},
    "discard": {"none", "cinch", "pidro"},
    "rob": {"dealer", "none"},
    "score_style": {"set_back", "difference"},
    "stock": {"none", "face_up_draw", "face_down_draw"},
}


STOCKS = {"face_up": "face_up_draw", "face_down": "face_down_draw"}


def translated(rules: Mapping[str, Any]) -> Rules:
    """The keys and words of a Referee rule set in those of this file: tables are lists of pairs there."""
    own = dict(rules)
    if "turned_scores" in own:
        own["turned_score"] = dict(own.pop("turned_scores"))
    if "point_cards" in own:
        own["point_cards"] = points = dict(own["point_cards"])
        if own.get("left_pedro") and "5" in points:
            points.setdefault("left5", points["5"])
    own["stock"] = STOCKS.get(own.get("stock", "none"), own.get("stock", "none"))
    return own


def complete(rules: Mapping[str, Any]) -> Rules:
    """All keys: those given, and Auction Pitch for those left out. Keys that no rule uses are kept and ignored.

    Raises ValueError where a value is none of the words the rule text knows.
    """
    full = {**AUCTION_PITCH, **translated(rules)}
    for key, words in CHOICES.items():
        if full[key] not in words:
            raise ValueError(f"{key}: {full[key]!r} is unknown; use one of {', '.join(sorted(words))}")
    return full

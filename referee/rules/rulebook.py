"""The rule book: every clause with a stable id, its sentence, its source, and the games it binds.

A clause is written once. ``binds`` names the house rules under which it holds, so the printed rule book of a variant
is exactly the clauses that its ``RuleSet`` switches on. Numbers are never reused or moved. Source keys: BIC
bicyclecards.com, FOS Foster's Complete Hoyle, HOF Hoffmann, CAS Cassell, EB Encyclopaedia Britannica 1911/1929, EN an
encyclopaedia's All Fours entry, IT/DA/HU three translations of one Auction Pitch text, DP a decision point of the docs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from referee.rules.ruleset import RuleSet


class Level(StrEnum):
    """How binding a clause is on a bot: MUST and SHOULD bind it, INFO tells what the referee does."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    INFO = "INFO"


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause. ``sentence`` may name house rules in braces; ``clause_text`` fills them in."""

    id: str
    title: str
    sentence: str
    source: str
    level: Level = Level.MUST
    differs: str = ""
    binds: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    since: str = "2026.1"

    def bound_by(self, rules: RuleSet) -> bool:
        """Whether the clause holds under these house rules."""
        return all(getattr(rules, name) in values for name, values in self.binds.items())


PITCHED = {"trump_by": ("pitch",)}
ITEMS = {"scoring": ("items",)}

CLAUSES: tuple[Clause, ...] = (
    Clause(
        "AF-BID-001",
        "Amount of a bid",
        "A call is a pass, or a bid of a whole number from {min_bid} to {max_bid}.",
        "IT DA HU EN; DP-04, DP-07",
        differs="Some books allow a bid of one (EB 1929, Parlett); some computer games a bid above four.",
        binds={"trump_by": ("pitch", "name")},
    ),
    Clause(
        "AF-BID-002",
        "Higher than the bids before",
        "A bid is higher than every bid before it; only the dealer may have the right to equal it.",
        "IT DA HU EN",
        binds={"trump_by": ("pitch", "name")},
    ),
    Clause(
        "AF-BID-003",
        "Who may steal",
        "Only the dealer may take the bid over at the same amount, and only at the amounts {steal}.",
        "IT DA HU; DP-02",
        differs="No steal in Smudge (BIC); others allow it at four only, or at two, three and four.",
        binds={"trump_by": ("pitch", "name")},
    ),
    Clause(
        "AF-BID-004",
        "The dealer is forced",
        "When all others have passed, the dealer bids at least {min_bid}.",
        "computer Pitch texts; DP-03",
        differs="The seeds let the dealer pass; most tournaments force him.",
        binds={"all_pass": ("dealer_forced",), "trump_by": ("pitch", "name")},
    ),
    Clause(
        "AF-BID-005",
        "Order of the auction",
        "Eldest speaks first, then each seat in turn, dealer last; each has one turn.",
        "EN; DP-05",
        Level.INFO,
        binds={"trump_by": ("pitch", "name")},
    ),
    Clause(
        "AF-BID-006",
        "The highest bid ends the auction",
        "A bid of {max_bid} ends the auction at once, unless the dealer may steal it: then he alone still speaks.",
        "IT DA HU; DP-06",
        Level.INFO,
        binds={"trump_by": ("pitch", "name"), "top_bid_ends": (True,)},
    ),
    Clause(
        "AF-BID-007",
        "All pass: thrown in",
        "When all pass, the hands are thrown in, nobody scores, and the deal passes to the next seat.",
        "DP-03",
        Level.INFO,
        binds={"trump_by": ("pitch", "name"), "all_pass": ("thrown_in_next_dealer",)},
    ),
    Clause(
        "AF-BID-008",
        "All pass: same dealer",
        "When all pass, the hands are thrown in, nobody scores, and the same dealer deals again.",
        "DP-03",
        Level.INFO,
        binds={"trump_by": ("pitch", "name"), "all_pass": ("thrown_in_same_dealer",)},
    ),
    Clause(
        "AF-BID-009",
        "All pass: no obligation",
        "When all pass, the named seat pitches with a contract of nothing and cannot be set back ({all_pass}).",
        "EB 1911 and 1929, FOS; DP-03",
        Level.INFO,
        binds={"trump_by": ("pitch", "name"), "all_pass": ("dealer_free", "eldest_free")},
    ),
    Clause(
        "AF-BID-010",
        "All pass: dealer set back",
        "When all pass, the dealer's side loses {min_bid} without play, and the deal passes to the next seat.",
        "DP-03",
        Level.INFO,
        binds={"trump_by": ("pitch", "name"), "all_pass": ("dealer_set_back",)},
    ),
    Clause(
        "AF-TRUMP-001",
        "The pitch makes trump",
        "The suit of the pitcher's first lead is trump. He may lead any card; trump is not announced.",
        "IT DA HU EN; DP-08",
        Level.INFO,
        binds=PITCHED,
    ),
    Clause(
        "AF-PLAY-001",
        "A card of one's own",
        "A seat plays a card that it holds.",
        "all sources",
    ),
    Clause(
        "AF-PLAY-002",
        "Trump led: follow",
        "When trump is led, a seat that holds a trump plays a trump.",
        "all sources; DP-31",
    ),
    Clause(
        "AF-PLAY-003",
        "Plain suit led: follow or trump",
        "When a plain suit is led, a seat that holds it plays that suit or a trump.",
        "all sources; DP-31",
        binds={"follow": ("follow_or_trump", "no_undertrump")},
        differs="Some pages claim strict following; no classical source does.",
    ),
    Clause(
        "AF-PLAY-004",
        "Plain suit led: follow strictly",
        "When a plain suit is led, a seat that holds it plays that suit.",
        "Phat, some Pedro; DP-31",
        binds={"follow": ("strict",)},
    ),
    Clause(
        "AF-PLAY-006",
        "Leading, and being void",
        "The leader plays any card; so does a seat that holds no card of the suit led.",
        "all sources",
        Level.INFO,
    ),
    Clause(
        "AF-PLAY-007",
        "Winner of a trick",
        "The highest trump wins the trick, or without trumps the highest card of the suit led; the winner leads next.",
        "all sources",
        Level.INFO,
    ),
    Clause(
        "AF-SCORE-001",
        "High",
        "High, one point, to the side that played the highest trump in play.",
        "all sources; DP-19, DP-23",
        Level.INFO,
        binds=ITEMS,
    ),
    Clause(
        "AF-SCORE-002",
        "Low to its holder",
        "Low, one point, to the side that played the lowest trump in play.",
        "BIC, EN, FOS, HOF, CAS, EB; DP-01",
        Level.INFO,
        differs="To the taker in Smudge (BIC) and most computer games.",
        binds={**ITEMS, "low_to": ("holder",)},
    ),
    Clause(
        "AF-SCORE-003",
        "Low to its taker",
        "Low, one point, to the side that won the trick with the lowest trump in play.",
        "BIC Smudge; DP-01",
        Level.INFO,
        differs="To the holder in Auction Pitch (BIC, EN).",
        binds={**ITEMS, "low_to": ("taker",)},
    ),
    Clause(
        "AF-SCORE-004",
        "Jack",
        "Jack, one point, to the side that wins the trick with the trump jack; nobody if it is not in play.",
        "all sources; DP-18",
        Level.INFO,
        binds=ITEMS,
    ),
    Clause(
        "AF-SCORE-005",
        "Game",
        "Game, {game_points} point, to the side with the most pips in its tricks (T 10, A 4, K 3, Q 2, J 1).",
        "all sources",
        Level.INFO,
        binds=ITEMS,
    ),
    Clause(
        "AF-SCORE-006",
        "Equal pips",
        "On equal pips Game goes to: {game_tie}.",
        "FOS, EB 1911 (nobody, Pitch), HOF, CAS (elder, All Fours); DP-17",
        Level.INFO,
        binds=ITEMS,
    ),
    Clause(
        "AF-SCORE-007",
        "The pitcher's score",
        "A pitcher who makes at least his bid scores all he made; otherwise he is set back: he loses his bid and scores nothing.",
        "IT DA HU EN; DP-16",
        Level.INFO,
        differs="In one program he scores his bid only.",
        binds={"pitcher_scores": ("made",), "score_style": ("set_back",), "trump_by": ("pitch", "name")},
    ),
    Clause(
        "AF-SCORE-008",
        "The pitcher scores his bid",
        "A pitcher who makes at least his bid scores his bid; otherwise he is set back: he loses his bid and scores nothing.",
        "DP-16",
        Level.INFO,
        binds={"pitcher_scores": ("bid",), "trump_by": ("pitch", "name")},
    ),
    Clause(
        "AF-SCORE-009",
        "The others' score",
        "Every other side scores what it made, also when the pitcher is set back.",
        "IT DA HU EN",
        Level.INFO,
        binds={"trump_by": ("pitch", "name")},
    ),
    Clause(
        "AF-SCORE-010",
        "Game over",
        "The first side to stand at {target} or more wins.",
        "IT DA HU EN; DP-26, DP-27",
        Level.INFO,
    ),
    Clause(
        "AF-SCORE-011",
        "The pitcher is counted first",
        "The pitcher's side is counted first and wins at {target} even if another side has more.",
        "IT DA HU; DP-09",
        Level.INFO,
        differs="In some programs the higher score wins.",
        binds={"pitcher_first": (True,), "trump_by": ("pitch", "name")},
    ),
    Clause(
        "AF-SCORE-012",
        "Order of counting",
        "After that the items count one by one: High, Low, Jack, Game; the tally is completed for all sides.",
        "IT DA HU EN; DP-10",
        Level.INFO,
        binds=ITEMS,
    ),
    Clause(
        "AF-SCORE-013",
        "Smudge",
        "A pitcher who bid four and makes all four items wins the game at once, unless his score before the deal was in the hole.",
        "IT DA HU; DP-12, DP-13, DP-14, DP-15",
        Level.INFO,
        binds={"smudge": ("bid",), **ITEMS},
    ),
    Clause(
        "AF-SCORE-014",
        "All four items",
        "A side that scores all four items in one deal wins the game at once, whatever was bid and whatever its score.",
        "BIC Smudge, EN; DP-11",
        Level.INFO,
        binds={"smudge": ("any",), **ITEMS},
    ),
    Clause(
        "AF-SCORE-015",
        "In the hole",
        "A score is in the hole when it is: {in_hole}.",
        "IT DA HU; DP-12",
        Level.INFO,
        binds={"smudge": ("bid",), **ITEMS},
    ),
    Clause(
        "AF-SCORE-016",
        "Settlement",
        "Each loser pays the winner one stake, or two if his final score is zero or less.",
        "IT DA HU",
        Level.INFO,
        binds={"settlement": ("stakes",)},
    ),
    Clause(
        "AF-SCORE-017",
        "Settlement of set-backs",
        "Each loser pays one stake more for each time he was set back in the game.",
        "IT DA HU; DP-28",
        Level.INFO,
        binds={"settlement": ("stakes",), "settlement_set_backs": (True,)},
    ),
    Clause(
        "AF-SCORE-018",
        "Cap of deals",
        "After {max_deals} deals, thrown-in deals included, the game ends: sides rank by score, and nobody pays.",
        "DP-34",
        Level.INFO,
    ),
)

_BY_ID = {clause.id: clause for clause in CLAUSES}


def clause(rule_id: str) -> Clause:
    """The clause with that id; raises ``KeyError`` if there is none."""
    return _BY_ID[rule_id]


def clause_text(entry: Clause, rules: RuleSet) -> str:
    """The clause's sentence with the values of these house rules in it."""
    return entry.sentence.format_map({name: _value_text(getattr(rules, name)) for name in rules.as_dict()})


def clauses_of(rules: RuleSet) -> tuple[Clause, ...]:
    """The clauses that hold under these house rules, in the order of the book."""
    return tuple(entry for entry in CLAUSES if entry.bound_by(rules))


def _value_text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return value.replace("_", " ") if isinstance(value, str) else str(value)

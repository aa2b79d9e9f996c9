"""The rule book: every clause with a stable id, its sentence, its source, and the games it binds.

A clause is written once. ``binds`` names the house rules under which it holds, so the printed rule book of a variant
is exactly the clauses that its ``RuleSet`` switches on. Numbers are never reused or moved; a new clause takes the next
number of its area. Clauses about conduct rather than cards stand in ``conduct``. Source keys: BIC
bicyclecards.com, FOS Foster's Complete Hoyle, HOF Hoffmann, CAS Cassell, EW Enquire Within, EB Encyclopaedia Britannica
1911/1929, EN an encyclopaedia's All Fours entry, IT/DA/HU three translations of one Auction Pitch text, WIK Wikipedia,
EVG The Everything Card Games Book, ARN a games-book reprint, BGA Board Game Arena, TTS Trinidad school tournaments, DP a
decision point of the docs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from referee.rules.ruleset import RuleSet


class Level(StrEnum):
    """How binding a clause is on a bot: MUST and SHOULD bind it, INFO tells what the referee does."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    INFO = "INFO"


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause. ``sentence`` may name house rules in braces; ``clause_text`` fills them in.

    It holds where every field of ``binds`` has one of its values, and no field of ``unless`` has one of its.
    """

    id: str
    title: str
    sentence: str
    source: str
    level: Level = Level.MUST
    differs: str = ""
    binds: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    unless: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    since: str = "2026.1"

    def bound_by(self, rules: RuleSet) -> bool:
        """Whether the clause holds under these house rules."""
        return all(getattr(rules, name) in values for name, values in self.binds.items()) and not any(
            getattr(rules, name) in values for name, values in self.unless.items()
        )


PITCHED: Final = {"trump_by": ("pitch",)}
AUCTION: Final = {"trump_by": ("pitch", "name")}
TURNED: Final = {"trump_by": ("turn_up",)}
NO_STEAL: Final = {"steal": ((),)}
KEEPS: Final = {"lays_away": (True,)}
DRAWS: Final = {"discard": ("cinch", "pidro")}
PLAIN: Final = {"play_only_trumps": (False,)}
ITEMS: Final = {"scoring": ("items",)}
POINTS: Final = {"scoring": ("points",)}
"""Conditions that many clauses share. A condition is a field of ``RuleSet``, or a property, with the values that meet it."""

CLAUSES: Final[tuple[Clause, ...]] = (
    # The auction
    Clause(
        "AF-BID-001",
        "Amount of a bid",
        "A call is a pass, or a bid of a whole number from {min_bid} to {max_bid}.",
        "IT DA HU EN; DP-04, DP-07",
        differs="Some books allow a bid of one (EB 1929, Parlett); some computer games a bid above four.",
        binds=AUCTION,
    ),
    Clause(
        "AF-BID-002",
        "Higher than the bids before",
        "A bid is higher than every bid before it, unless the seat may steal.",
        "IT DA HU EN",
        binds=AUCTION,
    ),
    Clause(
        "AF-BID-003",
        "Who may steal",
        "A bid may be taken over at the same amount by the dealer alone, and only at these amounts: {steal}.",
        "IT DA HU; DP-02",
        differs="No steal in Smudge (BIC); others allow it at four only, or at two, three and four.",
        binds={**AUCTION, "steal_by": ("dealer",)},
        unless=NO_STEAL,
    ),
    Clause(
        "AF-BID-004",
        "The dealer is forced",
        "When all others have passed, the dealer bids at least {min_bid}.",
        "computer Pitch texts; DP-03",
        differs="The seeds let the dealer pass; most tournaments force him.",
        binds={"all_pass": ("dealer_forced",), **AUCTION},
    ),
    Clause(
        "AF-BID-005",
        "Order of the auction",
        "Eldest speaks first, then each seat in turn, dealer last; each has one turn.",
        "EN; DP-05",
        Level.INFO,
        binds=AUCTION,
    ),
    Clause(
        "AF-BID-006",
        "The highest bid ends the auction",
        "A bid of {max_bid} ends the auction at once, unless it may be stolen: then those who may steal it still speak.",
        "IT DA HU; DP-06",
        Level.INFO,
        binds={**AUCTION, "top_bid_ends": (True,)},
    ),
    Clause(
        "AF-BID-007",
        "All pass: thrown in",
        "When all pass, the hands are thrown in, nobody scores, and the deal passes to the next seat.",
        "DP-03",
        Level.INFO,
        binds={**AUCTION, "all_pass": ("thrown_in_next_dealer",)},
    ),
    Clause(
        "AF-BID-008",
        "All pass: same dealer",
        "When all pass, the hands are thrown in, nobody scores, and the same dealer deals again.",
        "DP-03",
        Level.INFO,
        binds={**AUCTION, "all_pass": ("thrown_in_same_dealer",)},
    ),
    Clause(
        "AF-BID-009",
        "All pass: no obligation",
        "When all pass, the named seat pitches with a contract of nothing and cannot be set back ({all_pass}).",
        "EB 1911 and 1929, FOS; DP-03",
        Level.INFO,
        binds={**AUCTION, "all_pass": ("dealer_free", "eldest_free")},
    ),
    Clause(
        "AF-BID-010",
        "All pass: dealer set back",
        "When all pass, the dealer's side loses {min_bid} without play, and the deal passes to the next seat.",
        "DP-03",
        Level.INFO,
        binds={**AUCTION, "all_pass": ("dealer_set_back",)},
    ),
    Clause(
        "AF-BID-011",
        "Any later seat may steal",
        "A bid may be taken over at the same amount by any later seat, but only at these amounts: {steal}.",
        "Pidro: pidrochallenge.com, marcelfahle; DP-33, DP-42",
        differs="Only the dealer may in some Pidro clubs (sou.fi); in other games he alone, or nobody.",
        binds={**AUCTION, "steal_by": ("anyone",)},
        unless=NO_STEAL,
    ),
    Clause(
        "AF-BID-012",
        "No stealing",
        "Nobody may take a bid over at the same amount, not even the dealer: it has to be higher.",
        "BIC; DP-02",
        Level.INFO,
        binds={**AUCTION, **NO_STEAL},
    ),
    # Trump
    Clause(
        "AF-TRUMP-001",
        "The pitch makes trump",
        "The suit of the pitcher's first lead is trump. He may lead any card; trump is not announced.",
        "IT DA HU EN; DP-08",
        Level.INFO,
        binds=PITCHED,
    ),
    Clause(
        "AF-TRUMP-002",
        "The pitcher names trump",
        "The pitcher names one of the four suits, and it is trump. He may name a suit that he does not hold.",
        "BIC, WIK",
        binds={"trump_by": ("name",)},
    ),
    Clause(
        "AF-TRUMP-003",
        "Stand or beg",
        "Eldest stands, and the suit turned up is trump, or begs. He begs once only.",
        "HOF, CAS, FOS, EW, EN",
        binds=TURNED,
    ),
    Clause(
        "AF-TRUMP-004",
        "Give or run",
        "The dealer answers a beg: he gives the point, and the suit turned up is trump, or he runs the cards.",
        "HOF, CAS, FOS, EN",
        binds=TURNED,
    ),
    Clause(
        "AF-TRUMP-005",
        "The gift ends no game",
        "The dealer may not give if the point would take its receiver to {target}: he runs the cards.",
        "FOS; DP-20",
        differs="Some programs allow it.",
        binds={**TURNED, "gift_out": (False,)},
    ),
    Clause(
        "AF-TRUMP-006",
        "Without a trump",
        "A seat without a card of the suit turned up may not give, nor stand where neither is allowed ({without_trump}).",
        "Trinidad tournament rules",
        differs="Most tables leave it free.",
        binds={**TURNED, "without_trump": ("stands", "refuses")},
    ),
    Clause(
        "AF-TRUMP-007",
        "The turned card",
        "The card after the deal is turned up; its suit is trump if eldest stands or the dealer gives.",
        "all sources",
        Level.INFO,
        binds=TURNED,
    ),
    Clause(
        "AF-TRUMP-008",
        "Running the cards",
        "In a run every seat gets three more cards and the next card is turned up. A new suit is trump, without a second beg; the same suit is set aside, and the cards are run again.",
        "HOF, CAS, FOS, EN",
        Level.INFO,
        binds=TURNED,
    ),
    Clause(
        "AF-TRUMP-009",
        "The last cards are turned",
        "When the stock cannot serve another run, the cards that are left are turned up one by one, without dealing.",
        "Trinidad programs; DP-24",
        Level.INFO,
        binds={**TURNED, "stock_out": ("turn_last",)},
    ),
    Clause(
        "AF-TRUMP-010",
        "No other suit comes",
        "When the stock is out before a new suit comes, the deal is void, and the same dealer deals again; points scored at once stand.",
        "whiteknucklecards.com, AllFoursApp; DP-24",
        Level.INFO,
        binds=TURNED,
    ),
    Clause(
        "AF-TRUMP-011",
        "The stock shows trump",
        "The suit of the top card of the stock is trump; the card stays there and is drawn first.",
        "BIC and five others; DP-40",
        Level.INFO,
        differs="FOS cuts for trump before the deal.",
        binds={"trump_by": ("cut",)},
    ),
    # Laying away and drawing
    Clause(
        "AF-DRAW-001",
        "Cards of one's own",
        "A seat keeps cards that it holds.",
        "all sources",
        binds=KEEPS,
    ),
    Clause(
        "AF-DRAW-002",
        "How many are kept",
        "A seat keeps exactly as many cards as it is asked to keep.",
        "FOS, BIC, EVG",
        binds=KEEPS,
    ),
    Clause(
        "AF-DRAW-003",
        "Plain cards go",
        "Before the draw a seat lays its plain cards away, but for those that fill a hand which the stock cannot.",
        "BIC; DP-33",
        differs="Elsewhere at least three cards are laid away (FOS, WIK, EVG).",
        binds=DRAWS,
    ),
    Clause(
        "AF-DRAW-004",
        "Trumps stay",
        "Before the draw a seat keeps all its trumps, as far as six.",
        "BIC, EVG",
        binds=DRAWS,
    ),
    Clause(
        "AF-DRAW-005",
        "Trumps that score stay",
        "A seat with more than six trumps lays away trumps that score nothing.",
        "pidrochallenge.com, marcelfahle",
        binds={"discard": ("pidro",)},
    ),
    Clause(
        "AF-DRAW-006",
        "After a run: reduce",
        "After a run every seat lays cards of its choice away, down to {hand_size}, face down; what was laid away is told when all have chosen.",
        "FOS, EN; DP-22",
        Level.INFO,
        differs="All cards are kept in Trinidad (WIK, BGA).",
        binds={**TURNED, "after_run": ("reduce",)},
    ),
    Clause(
        "AF-DRAW-007",
        "After a run: keep",
        "After a run every seat keeps all its cards, and there are as many tricks.",
        "WIK, Trinidad; DP-22",
        Level.INFO,
        binds={**TURNED, "after_run": ("keep",)},
    ),
    Clause(
        "AF-DRAW-008",
        "After a run: keep once",
        "After one run every seat keeps all its cards; after more it lays cards of its choice away, down to {hand_size}.",
        "FOS (some clubs); DP-22",
        Level.INFO,
        binds={**TURNED, "after_run": ("keep_once",)},
    ),
    Clause(
        "AF-DRAW-009",
        "Discard and draw",
        "From eldest on, dealer last, every seat lays cards away and draws from the stock up to six.",
        "BIC, FOS, EVG",
        Level.INFO,
        binds=DRAWS,
    ),
    Clause(
        "AF-DRAW-010",
        "Dead trumps",
        "A trump that is laid away is shown and is out of play.",
        "BIC; DP-33",
        Level.INFO,
        binds=DRAWS,
    ),
    Clause(
        "AF-DRAW-011",
        "A short stock",
        "A seat that the stock cannot fill keeps plain cards of its choice beside its trumps, so that it holds six.",
        "DP-33",
        Level.INFO,
        binds={"discard": ("cinch",)},
    ),
    Clause(
        "AF-DRAW-012",
        "The dealer robs",
        "The dealer takes the rest of the stock in hand, keeps any six cards and says how many of them come from the stock.",
        "BIC, ARN, EVG",
        Level.INFO,
        binds={"discard": ("cinch",), "rob": ("dealer",)},
    ),
    Clause(
        "AF-DRAW-013",
        "The dealer robs for trumps",
        "The dealer takes the rest of the stock in hand and keeps six cards, all his trumps among them as far as six.",
        "sou.fi, pidrochallenge.com, marcelfahle; DP-41",
        Level.INFO,
        binds={"discard": ("pidro",), "rob": ("dealer",)},
    ),
    Clause(
        "AF-DRAW-014",
        "Drawing from an open stock",
        "After each trick its winner takes the face-up top card of the stock, the other seat the next one.",
        "BIC, FOS",
        Level.INFO,
        binds={"stock": ("face_up",)},
    ),
    Clause(
        "AF-DRAW-015",
        "Drawing from a closed stock",
        "After each trick its winner draws the top card of the stock unseen, the other seat the next one.",
        "FOS (Shasta Sam)",
        Level.INFO,
        binds={"stock": ("face_down",)},
    ),
    # Play
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
        binds=PLAIN,
    ),
    Clause(
        "AF-PLAY-003",
        "Plain suit led: follow or trump",
        "When a plain suit is led, a seat that holds it plays that suit or a trump.",
        "all sources; DP-31",
        binds={**PLAIN, "follow": ("follow_or_trump", "no_undertrump")},
        differs="Some pages claim strict following; no classical source does.",
    ),
    Clause(
        "AF-PLAY-004",
        "Plain suit led: follow strictly",
        "When a plain suit is led, a seat that holds it plays that suit.",
        "Phat, some Pedro; DP-31",
        binds={**PLAIN, "follow": ("strict",)},
    ),
    Clause(
        "AF-PLAY-005",
        "No undertrumping",
        "On a plain lead a seat plays no trump below one that lies on the trick already, unless its hand is all trumps.",
        "Trinidad: pagat.com, BGA, TTS; DP-31",
        binds={"follow": ("no_undertrump",)},
    ),
    Clause(
        "AF-PLAY-006",
        "Leading, and being void",
        "The leader plays any card; so does a seat that holds no card of the suit led.",
        "all sources",
        Level.INFO,
        binds=PLAIN,
    ),
    Clause(
        "AF-PLAY-007",
        "Winner of a trick",
        "The highest trump wins the trick, or without trumps the highest card of the suit led; the winner leads next.",
        "all sources",
        Level.INFO,
    ),
    Clause(
        "AF-PLAY-008",
        "Only trumps are played",
        "A seat plays trumps only.",
        "pidrochallenge.com",
        binds={"play_only_trumps": (True,)},
    ),
    Clause(
        "AF-PLAY-009",
        "Dropping out",
        "A seat without a trump drops out; if it should lead, the next seat with a trump leads. The play is over when nobody has one.",
        "sou.fi, marcelfahle",
        Level.INFO,
        binds={"play_only_trumps": (True,)},
    ),
    Clause(
        "AF-PLAY-010",
        "The left pedro",
        "The five of the other suit of trump's colour is a trump, just below the five of trumps, for leading, following and winning.",
        "BIC, WIK",
        Level.INFO,
        binds={"left_pedro": (True,)},
    ),
    Clause(
        "AF-PLAY-011",
        "Eldest leads",
        "Eldest leads to the first trick.",
        "HOF, CAS, FOS, EN",
        Level.INFO,
        binds={"first_lead": ("eldest",)},
    ),
    Clause(
        "AF-PLAY-012",
        "The pitcher leads",
        "The pitcher leads to the first trick.",
        "EVG, sou.fi, pidrochallenge.com; DP-33",
        Level.INFO,
        differs="Left of the dealer in some Pidro (marcelfahle).",
        binds={"first_lead": ("pitcher",), "trump_by": ("name",)},
    ),
    # What a deal is worth, and how a game ends
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
        binds={"pitcher_scores": ("made",), "score_style": ("set_back",), **AUCTION},
    ),
    Clause(
        "AF-SCORE-008",
        "The pitcher scores his bid",
        "A pitcher who makes at least his bid scores his bid; otherwise he is set back: he loses his bid and scores nothing.",
        "DP-16",
        Level.INFO,
        binds={"pitcher_scores": ("bid",), **AUCTION},
    ),
    Clause(
        "AF-SCORE-009",
        "The others' score",
        "Every other side scores what it made, also when the pitcher is set back.",
        "IT DA HU EN",
        Level.INFO,
        binds={**AUCTION, "score_style": ("set_back",)},
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
        binds={"pitcher_first": (True,), **AUCTION},
    ),
    Clause(
        "AF-SCORE-012",
        "Order of counting",
        "The items count one by one: High, Low, Jack, Game; the tally is completed for all sides.",
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
    Clause(
        "AF-SCORE-019",
        "A card turned up",
        "A card turned up scores for the dealer's side at once ({turned_scores}); which turned cards score: {jack_turns}.",
        "HOF, CAS, FOS; DP-25",
        Level.INFO,
        differs="WIK counts only the card that makes trump.",
        binds=TURNED,
    ),
    Clause(
        "AF-SCORE-020",
        "The gift",
        "When the dealer gives, the receiver scores one point at once: {gift_to}.",
        "BIC; DP-21",
        Level.INFO,
        differs="FOS: with three players both opponents score.",
        binds=TURNED,
    ),
    Clause(
        "AF-SCORE-021",
        "Out in the middle of a deal",
        "A side that reaches {target} by a point scored at once wins, and the deal is not played.",
        "HOF, CAS, FOS; DP-20",
        Level.INFO,
        binds=TURNED,
    ),
    Clause(
        "AF-SCORE-022",
        "A hanged jack",
        "The jack is worth {hang_jack} points to a side that wins it from another.",
        "Trinidad: pagat.com, BGA",
        Level.INFO,
        binds={**ITEMS, "hang_jack": tuple(range(2, 11))},
    ),
    Clause(
        "AF-SCORE-023",
        "The difference",
        "Contract made: the better side scores the difference. Contract failed: the other side scores its points and the bid.",
        "ARN; DP-33",
        Level.INFO,
        binds={**AUCTION, "score_style": ("difference",)},
    ),
    Clause(
        "AF-SCORE-024",
        "Single trumps",
        "Single trumps score for the side that wins the trick they fall in: {point_cards}; the left pedro, if it is a trump, as the five.",
        "BIC, WIK, FOS",
        Level.INFO,
        binds=POINTS,
    ),
    Clause(
        "AF-SCORE-025",
        "The two stays",
        "The two of trumps scores for the side that played it.",
        "pidrochallenge.com",
        Level.INFO,
        differs="Elsewhere for the side that wins it.",
        binds={**POINTS, "low_to": ("holder",)},
    ),
    Clause(
        "AF-SCORE-026",
        "Order of counting single trumps",
        "The trumps count one by one: ace, two, jack, ten, three, five, left pedro, nine; the tally is completed for all sides.",
        "FOS; DP-10",
        Level.INFO,
        binds={**POINTS, "score_style": ("set_back",)},
    ),
)
"""Every clause of the games, in the order of the book."""


def clause_text(entry: Clause, rules: RuleSet) -> str:
    """The clause's sentence with the values of these house rules in it."""
    return entry.sentence.format_map({name: _value_text(getattr(rules, name)) for name in rules.as_dict()})


def clauses_of(rules: RuleSet) -> tuple[Clause, ...]:
    """The clauses that hold under these house rules, in the order of the book."""
    return tuple(entry for entry in CLAUSES if entry.bound_by(rules))


def _value_text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(" ".join(map(str, item)) if isinstance(item, tuple) else str(item) for item in value) or "none"
    return value.replace("_", " ") if isinstance(value, str) else str(value)

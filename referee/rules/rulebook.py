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


@dataclass(frozen=True, slots=True, kw_only=True)
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
        id="AF-BID-001",
        title="Amount of a bid",
        sentence="A call is a pass, or a bid of a whole number from {min_bid} to {max_bid}.",
        source="IT DA HU EN; DP-04, DP-07",
        differs="Some books allow a bid of one (EB 1929, Parlett); some computer games a bid above four.",
        binds=AUCTION,
    ),
    Clause(
        id="AF-BID-002",
        title="Higher than the bids before",
        sentence="A bid is higher than every bid before it, unless the seat may steal.",
        source="IT DA HU EN",
        binds=AUCTION,
    ),
    Clause(
        id="AF-BID-003",
        title="Who may steal",
        sentence="A bid may be taken over at the same amount by the dealer alone, and only at these amounts: {steal}.",
        source="IT DA HU; DP-02",
        differs="No steal in Smudge (BIC); others allow it at four only, or at two, three and four.",
        binds={**AUCTION, "steal_by": ("dealer",)},
        unless=NO_STEAL,
    ),
    Clause(
        id="AF-BID-004",
        title="The dealer is forced",
        sentence="When all others have passed, the dealer bids at least {min_bid}.",
        source="computer Pitch texts; DP-03",
        differs="The seeds let the dealer pass; most tournaments force him.",
        binds={"all_pass": ("dealer_forced",), **AUCTION},
    ),
    Clause(
        id="AF-BID-005",
        title="Order of the auction",
        sentence="Eldest speaks first, then each seat in turn, dealer last; each has one turn.",
        source="EN; DP-05",
        level=Level.INFO,
        binds=AUCTION,
    ),
    Clause(
        id="AF-BID-006",
        title="The highest bid ends the auction",
        sentence="A bid of {max_bid} ends the auction at once, unless it may be stolen: then those who may steal it still speak.",
        source="IT DA HU; DP-06",
        level=Level.INFO,
        binds={**AUCTION, "top_bid_ends": (True,)},
    ),
    Clause(
        id="AF-BID-007",
        title="All pass: thrown in",
        sentence="When all pass, the hands are thrown in, nobody scores, and the deal passes to the next seat.",
        source="DP-03",
        level=Level.INFO,
        binds={**AUCTION, "all_pass": ("thrown_in_next_dealer",)},
    ),
    Clause(
        id="AF-BID-008",
        title="All pass: same dealer",
        sentence="When all pass, the hands are thrown in, nobody scores, and the same dealer deals again.",
        source="DP-03",
        level=Level.INFO,
        binds={**AUCTION, "all_pass": ("thrown_in_same_dealer",)},
    ),
    Clause(
        id="AF-BID-009",
        title="All pass: no obligation",
        sentence="When all pass, the named seat pitches with a contract of nothing and cannot be set back ({all_pass}).",
        source="EB 1911 and 1929, FOS; DP-03",
        level=Level.INFO,
        binds={**AUCTION, "all_pass": ("dealer_free", "eldest_free")},
    ),
    Clause(
        id="AF-BID-010",
        title="All pass: dealer set back",
        sentence="When all pass, the dealer's side loses {min_bid} without play, and the deal passes to the next seat.",
        source="DP-03",
        level=Level.INFO,
        binds={**AUCTION, "all_pass": ("dealer_set_back",)},
    ),
    Clause(
        id="AF-BID-011",
        title="Any later seat may steal",
        sentence="A bid may be taken over at the same amount by any later seat, but only at these amounts: {steal}.",
        source="Pidro: pidrochallenge.com, marcelfahle; DP-33, DP-42",
        differs="Only the dealer may in some Pidro clubs (sou.fi); in other games he alone, or nobody.",
        binds={**AUCTION, "steal_by": ("anyone",)},
        unless=NO_STEAL,
    ),
    Clause(
        id="AF-BID-012",
        title="No stealing",
        sentence="Nobody may take a bid over at the same amount, not even the dealer: it has to be higher.",
        source="BIC; DP-02",
        level=Level.INFO,
        binds={**AUCTION, **NO_STEAL},
    ),
    # Trump
    Clause(
        id="AF-TRUMP-001",
        title="The pitch makes trump",
        sentence="The suit of the pitcher's first lead is trump. He may lead any card; trump is not announced.",
        source="IT DA HU EN; DP-08",
        level=Level.INFO,
        binds=PITCHED,
    ),
    Clause(
        id="AF-TRUMP-002",
        title="The pitcher names trump",
        sentence="The pitcher names one of the four suits, and it is trump. He may name a suit that he does not hold.",
        source="BIC, WIK",
        binds={"trump_by": ("name",)},
    ),
    Clause(
        id="AF-TRUMP-003",
        title="Stand or beg",
        sentence="Eldest stands, and the suit turned up is trump, or begs. He begs once only.",
        source="HOF, CAS, FOS, EW, EN",
        binds=TURNED,
    ),
    Clause(
        id="AF-TRUMP-004",
        title="Give or run",
        sentence="The dealer answers a beg: he gives the point, and the suit turned up is trump, or he runs the cards.",
        source="HOF, CAS, FOS, EN",
        binds=TURNED,
    ),
    Clause(
        id="AF-TRUMP-005",
        title="The gift ends no game",
        sentence="The dealer may not give if the point would take its receiver to {target}: he runs the cards.",
        source="FOS; DP-20",
        differs="Some programs allow it.",
        binds={**TURNED, "gift_out": (False,)},
    ),
    Clause(
        id="AF-TRUMP-006",
        title="Without a trump",
        sentence="A seat without a card of the suit turned up may not give, nor stand where neither is allowed ({without_trump}).",
        source="Trinidad tournament rules",
        differs="Most tables leave it free.",
        binds={**TURNED, "without_trump": ("stands", "refuses")},
    ),
    Clause(
        id="AF-TRUMP-007",
        title="The turned card",
        sentence="The card after the deal is turned up; its suit is trump if eldest stands or the dealer gives.",
        source="all sources",
        level=Level.INFO,
        binds=TURNED,
    ),
    Clause(
        id="AF-TRUMP-008",
        title="Running the cards",
        sentence="In a run every seat gets three more cards and the next card is turned up. A new suit is trump, without a second beg; the same suit is set aside, and the cards are run again.",
        source="HOF, CAS, FOS, EN",
        level=Level.INFO,
        binds=TURNED,
    ),
    Clause(
        id="AF-TRUMP-009",
        title="The last cards are turned",
        sentence="When the stock cannot serve another run, the cards that are left are turned up one by one, without dealing.",
        source="Trinidad programs; DP-24",
        level=Level.INFO,
        binds={**TURNED, "stock_out": ("turn_last",)},
    ),
    Clause(
        id="AF-TRUMP-010",
        title="No other suit comes",
        sentence="When the stock is out before a new suit comes, the deal is void, and the same dealer deals again; points scored at once stand.",
        source="whiteknucklecards.com, AllFoursApp; DP-24",
        level=Level.INFO,
        binds=TURNED,
    ),
    Clause(
        id="AF-TRUMP-011",
        title="The stock shows trump",
        sentence="The suit of the top card of the stock is trump; the card stays there and is drawn first.",
        source="BIC and five others; DP-40",
        level=Level.INFO,
        differs="FOS cuts for trump before the deal.",
        binds={"trump_by": ("cut",)},
    ),
    # Laying away and drawing
    Clause(
        id="AF-DRAW-001",
        title="Cards of one's own",
        sentence="A seat keeps cards that it holds.",
        source="all sources",
        binds=KEEPS,
    ),
    Clause(
        id="AF-DRAW-002",
        title="How many are kept",
        sentence="A seat keeps exactly as many cards as it is asked to keep.",
        source="FOS, BIC, EVG",
        binds=KEEPS,
    ),
    Clause(
        id="AF-DRAW-003",
        title="Plain cards go",
        sentence="Before the draw a seat lays its plain cards away, but for those that fill a hand which the stock cannot.",
        source="BIC; DP-33",
        differs="Elsewhere at least three cards are laid away (FOS, WIK, EVG).",
        binds=DRAWS,
    ),
    Clause(
        id="AF-DRAW-004",
        title="Trumps stay",
        sentence="Before the draw a seat keeps all its trumps, as far as six.",
        source="BIC, EVG",
        binds=DRAWS,
    ),
    Clause(
        id="AF-DRAW-005",
        title="Trumps that score stay",
        sentence="A seat with more than six trumps lays away trumps that score nothing.",
        source="pidrochallenge.com, marcelfahle",
        binds={"discard": ("pidro",)},
    ),
    Clause(
        id="AF-DRAW-006",
        title="After a run: reduce",
        sentence="After a run every seat lays cards of its choice away, down to {hand_size}, face down; what was laid away is told when all have chosen.",
        source="FOS, EN; DP-22",
        level=Level.INFO,
        differs="All cards are kept in Trinidad (WIK, BGA).",
        binds={**TURNED, "after_run": ("reduce",)},
    ),
    Clause(
        id="AF-DRAW-007",
        title="After a run: keep",
        sentence="After a run every seat keeps all its cards, and there are as many tricks.",
        source="WIK, Trinidad; DP-22",
        level=Level.INFO,
        binds={**TURNED, "after_run": ("keep",)},
    ),
    Clause(
        id="AF-DRAW-008",
        title="After a run: keep once",
        sentence="After one run every seat keeps all its cards; after more it lays cards of its choice away, down to {hand_size}.",
        source="FOS (some clubs); DP-22",
        level=Level.INFO,
        binds={**TURNED, "after_run": ("keep_once",)},
    ),
    Clause(
        id="AF-DRAW-009",
        title="Discard and draw",
        sentence="From eldest on, dealer last, every seat lays cards away and draws from the stock up to six.",
        source="BIC, FOS, EVG",
        level=Level.INFO,
        binds=DRAWS,
    ),
    Clause(
        id="AF-DRAW-010",
        title="Dead trumps",
        sentence="A trump that is laid away is shown and is out of play.",
        source="BIC; DP-33",
        level=Level.INFO,
        binds=DRAWS,
    ),
    Clause(
        id="AF-DRAW-011",
        title="A short stock",
        sentence="A seat that the stock cannot fill keeps plain cards of its choice beside its trumps, so that it holds six.",
        source="DP-33",
        level=Level.INFO,
        binds={"discard": ("cinch",)},
    ),
    Clause(
        id="AF-DRAW-012",
        title="The dealer robs",
        sentence="The dealer takes the rest of the stock in hand, keeps any six cards and says how many of them come from the stock.",
        source="BIC, ARN, EVG",
        level=Level.INFO,
        binds={"discard": ("cinch",), "rob": ("dealer",)},
    ),
    Clause(
        id="AF-DRAW-013",
        title="The dealer robs for trumps",
        sentence="The dealer takes the rest of the stock in hand and keeps six cards, all his trumps among them as far as six.",
        source="sou.fi, pidrochallenge.com, marcelfahle; DP-41",
        level=Level.INFO,
        binds={"discard": ("pidro",), "rob": ("dealer",)},
    ),
    Clause(
        id="AF-DRAW-014",
        title="Drawing from an open stock",
        sentence="After each trick its winner takes the face-up top card of the stock, the other seat the next one.",
        source="BIC, FOS",
        level=Level.INFO,
        binds={"stock": ("face_up",)},
    ),
    Clause(
        id="AF-DRAW-015",
        title="Drawing from a closed stock",
        sentence="After each trick its winner draws the top card of the stock unseen, the other seat the next one.",
        source="FOS (Shasta Sam)",
        level=Level.INFO,
        binds={"stock": ("face_down",)},
    ),
    # Play
    Clause(
        id="AF-PLAY-001",
        title="A card of one's own",
        sentence="A seat plays a card that it holds.",
        source="all sources",
    ),
    Clause(
        id="AF-PLAY-002",
        title="Trump led: follow",
        sentence="When trump is led, a seat that holds a trump plays a trump.",
        source="all sources; DP-31",
        binds=PLAIN,
    ),
    Clause(
        id="AF-PLAY-003",
        title="Plain suit led: follow or trump",
        sentence="When a plain suit is led, a seat that holds it plays that suit or a trump.",
        source="all sources; DP-31",
        binds={**PLAIN, "follow": ("follow_or_trump", "no_undertrump")},
        differs="Some pages claim strict following; no classical source does.",
    ),
    Clause(
        id="AF-PLAY-004",
        title="Plain suit led: follow strictly",
        sentence="When a plain suit is led, a seat that holds it plays that suit.",
        source="Phat, some Pedro; DP-31",
        binds={**PLAIN, "follow": ("strict",)},
    ),
    Clause(
        id="AF-PLAY-005",
        title="No undertrumping",
        sentence="On a plain lead a seat plays no trump below one that lies on the trick already, unless its hand is all trumps.",
        source="Trinidad: pagat.com, BGA, TTS; DP-31",
        binds={"follow": ("no_undertrump",)},
    ),
    Clause(
        id="AF-PLAY-006",
        title="Leading, and being void",
        sentence="The leader plays any card; so does a seat that holds no card of the suit led.",
        source="all sources",
        level=Level.INFO,
        binds=PLAIN,
    ),
    Clause(
        id="AF-PLAY-007",
        title="Winner of a trick",
        sentence="The highest trump wins the trick, or without trumps the highest card of the suit led; the winner leads next.",
        source="all sources",
        level=Level.INFO,
    ),
    Clause(
        id="AF-PLAY-008",
        title="Only trumps are played",
        sentence="A seat plays trumps only.",
        source="pidrochallenge.com",
        binds={"play_only_trumps": (True,)},
    ),
    Clause(
        id="AF-PLAY-009",
        title="Dropping out",
        sentence="A seat without a trump drops out; if it should lead, the next seat with a trump leads. The play is over when nobody has one.",
        source="sou.fi, marcelfahle",
        level=Level.INFO,
        binds={"play_only_trumps": (True,)},
    ),
    Clause(
        id="AF-PLAY-010",
        title="The left pedro",
        sentence="The five of the other suit of trump's colour is a trump, just below the five of trumps, for leading, following and winning.",
        source="BIC, WIK",
        level=Level.INFO,
        binds={"left_pedro": (True,)},
    ),
    Clause(
        id="AF-PLAY-011",
        title="Eldest leads",
        sentence="Eldest leads to the first trick.",
        source="HOF, CAS, FOS, EN",
        level=Level.INFO,
        binds={"first_lead": ("eldest",)},
    ),
    Clause(
        id="AF-PLAY-012",
        title="The pitcher leads",
        sentence="The pitcher leads to the first trick.",
        source="EVG, sou.fi, pidrochallenge.com; DP-33",
        level=Level.INFO,
        differs="Left of the dealer in some Pidro (marcelfahle).",
        binds={"first_lead": ("pitcher",), "trump_by": ("name",)},
    ),
    # What a deal is worth, and how a game ends
    Clause(
        id="AF-SCORE-001",
        title="High",
        sentence="High, one point, to the side that played the highest trump in play.",
        source="all sources; DP-19, DP-23",
        level=Level.INFO,
        binds=ITEMS,
    ),
    Clause(
        id="AF-SCORE-002",
        title="Low to its holder",
        sentence="Low, one point, to the side that played the lowest trump in play.",
        source="BIC, EN, FOS, HOF, CAS, EB; DP-01",
        level=Level.INFO,
        differs="To the taker in Smudge (BIC) and most computer games.",
        binds={**ITEMS, "low_to": ("holder",)},
    ),
    Clause(
        id="AF-SCORE-003",
        title="Low to its taker",
        sentence="Low, one point, to the side that won the trick with the lowest trump in play.",
        source="BIC Smudge; DP-01",
        level=Level.INFO,
        differs="To the holder in Auction Pitch (BIC, EN).",
        binds={**ITEMS, "low_to": ("taker",)},
    ),
    Clause(
        id="AF-SCORE-004",
        title="Jack",
        sentence="Jack, one point, to the side that wins the trick with the trump jack; nobody if it is not in play.",
        source="all sources; DP-18",
        level=Level.INFO,
        binds=ITEMS,
    ),
    Clause(
        id="AF-SCORE-005",
        title="Game",
        sentence="Game, {game_points} point, to the side with the most pips in its tricks (T 10, A 4, K 3, Q 2, J 1).",
        source="all sources",
        level=Level.INFO,
        binds=ITEMS,
    ),
    Clause(
        id="AF-SCORE-006",
        title="Equal pips",
        sentence="On equal pips Game goes to: {game_tie}.",
        source="FOS, EB 1911 (nobody, Pitch), HOF, CAS (elder, All Fours); DP-17",
        level=Level.INFO,
        binds=ITEMS,
    ),
    Clause(
        id="AF-SCORE-007",
        title="The pitcher's score",
        sentence="A pitcher who makes at least his bid scores all he made; otherwise he is set back: he loses his bid and scores nothing.",
        source="IT DA HU EN; DP-16",
        level=Level.INFO,
        differs="In one program he scores his bid only.",
        binds={"pitcher_scores": ("made",), "score_style": ("set_back",), **AUCTION},
    ),
    Clause(
        id="AF-SCORE-008",
        title="The pitcher scores his bid",
        sentence="A pitcher who makes at least his bid scores his bid; otherwise he is set back: he loses his bid and scores nothing.",
        source="DP-16",
        level=Level.INFO,
        binds={"pitcher_scores": ("bid",), **AUCTION},
    ),
    Clause(
        id="AF-SCORE-009",
        title="The others' score",
        sentence="Every other side scores what it made, also when the pitcher is set back.",
        source="IT DA HU EN",
        level=Level.INFO,
        binds={**AUCTION, "score_style": ("set_back",)},
    ),
    Clause(
        id="AF-SCORE-010",
        title="Game over",
        sentence="The first side to stand at {target} or more wins.",
        source="IT DA HU EN; DP-26, DP-27",
        level=Level.INFO,
    ),
    Clause(
        id="AF-SCORE-011",
        title="The pitcher is counted first",
        sentence="The pitcher's side is counted first and wins at {target} even if another side has more.",
        source="IT DA HU; DP-09",
        level=Level.INFO,
        differs="In some programs the higher score wins.",
        binds={"pitcher_first": (True,), **AUCTION},
    ),
    Clause(
        id="AF-SCORE-012",
        title="Order of counting",
        sentence="The items count one by one: High, Low, Jack, Game; the tally is completed for all sides.",
        source="IT DA HU EN; DP-10",
        level=Level.INFO,
        binds=ITEMS,
    ),
    Clause(
        id="AF-SCORE-013",
        title="Smudge",
        sentence="A pitcher who bid four and makes all four items wins the game at once, unless his score before the deal was in the hole.",
        source="IT DA HU; DP-12, DP-13, DP-14, DP-15",
        level=Level.INFO,
        binds={"smudge": ("bid",), **ITEMS},
    ),
    Clause(
        id="AF-SCORE-014",
        title="All four items",
        sentence="A side that scores all four items in one deal wins the game at once, whatever was bid and whatever its score.",
        source="BIC Smudge, EN; DP-11",
        level=Level.INFO,
        binds={"smudge": ("any",), **ITEMS},
    ),
    Clause(
        id="AF-SCORE-015",
        title="In the hole",
        sentence="A score is in the hole when it is: {in_hole}.",
        source="IT DA HU; DP-12",
        level=Level.INFO,
        binds={"smudge": ("bid",), **ITEMS},
    ),
    Clause(
        id="AF-SCORE-016",
        title="Settlement",
        sentence="Each loser pays the winner one stake, or two if his final score is zero or less.",
        source="IT DA HU",
        level=Level.INFO,
        binds={"settlement": ("stakes",)},
    ),
    Clause(
        id="AF-SCORE-017",
        title="Settlement of set-backs",
        sentence="Each loser pays one stake more for each time he was set back in the game.",
        source="IT DA HU; DP-28",
        level=Level.INFO,
        binds={"settlement": ("stakes",), "settlement_set_backs": (True,)},
    ),
    Clause(
        id="AF-SCORE-018",
        title="Cap of deals",
        sentence="After {max_deals} deals, thrown-in deals included, the game ends: sides rank by score, and nobody pays.",
        source="DP-34",
        level=Level.INFO,
    ),
    Clause(
        id="AF-SCORE-019",
        title="A card turned up",
        sentence="A card turned up scores for the dealer's side at once ({turned_scores}); which turned cards score: {jack_turns}.",
        source="HOF, CAS, FOS; DP-25",
        level=Level.INFO,
        differs="WIK counts only the card that makes trump.",
        binds=TURNED,
    ),
    Clause(
        id="AF-SCORE-020",
        title="The gift",
        sentence="When the dealer gives, the receiver scores one point at once: {gift_to}.",
        source="BIC; DP-21",
        level=Level.INFO,
        differs="FOS: with three players both opponents score.",
        binds=TURNED,
    ),
    Clause(
        id="AF-SCORE-021",
        title="Out in the middle of a deal",
        sentence="A side that reaches {target} by a point scored at once wins, and the deal is not played.",
        source="HOF, CAS, FOS; DP-20",
        level=Level.INFO,
        binds=TURNED,
    ),
    Clause(
        id="AF-SCORE-022",
        title="A hanged jack",
        sentence="The jack is worth {hang_jack} points to a side that wins it from another.",
        source="Trinidad: pagat.com, BGA",
        level=Level.INFO,
        binds={**ITEMS, "hang_jack": tuple(range(2, 11))},
    ),
    Clause(
        id="AF-SCORE-023",
        title="The difference",
        sentence="Contract made: the better side scores the difference. Contract failed: the other side scores its points and the bid.",
        source="ARN; DP-33",
        level=Level.INFO,
        binds={**AUCTION, "score_style": ("difference",)},
    ),
    Clause(
        id="AF-SCORE-024",
        title="Single trumps",
        sentence="Single trumps score for the side that wins the trick they fall in: {point_cards}; the left pedro, if it is a trump, as the five.",
        source="BIC, WIK, FOS",
        level=Level.INFO,
        binds=POINTS,
    ),
    Clause(
        id="AF-SCORE-025",
        title="The two stays",
        sentence="The two of trumps scores for the side that played it.",
        source="pidrochallenge.com",
        level=Level.INFO,
        differs="Elsewhere for the side that wins it.",
        binds={**POINTS, "low_to": ("holder",)},
    ),
    Clause(
        id="AF-SCORE-026",
        title="Order of counting single trumps",
        sentence="The trumps count one by one: ace, two, jack, ten, three, five, left pedro, nine; the tally is completed for all sides.",
        source="FOS; DP-10",
        level=Level.INFO,
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

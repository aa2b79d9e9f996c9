"""Clauses about the auction and about trump. Source keys: see ``rulebook``."""

from typing import Final

from referee.rules.clause import Clause, Level

PITCHED: Final = {"trump_by": ("pitch",)}
AUCTION: Final = {"trump_by": ("pitch", "name")}
TURNED: Final = {"trump_by": ("turn_up",)}
NO_STEAL: Final = {"steal": ((),)}

BID: Final[tuple[Clause, ...]] = (
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
)

TRUMP: Final[tuple[Clause, ...]] = (
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
)

"""Faulty bots: one reference bot, each time with one decision changed. ``python mutants.py NAME`` runs one.

``MUTANTS`` says of each which rule it breaks, and in which game it is to be checked. The reference bot does anything
legal; a mutant's function returns what it does instead, or None where it does as the reference does.
"""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from referee.bot import ACE, JACK, PACK, TEN, Call, EventKind, Kind, Suit, Turn, run

NOT_HELD = 99


@dataclass(frozen=True)
class Mutant:
    """One faulty bot: the rule it breaks, the game, and house rules that differ from that game's."""

    name: str
    rule: str
    game: str
    about: str
    decide: Callable[[Turn], Any]
    house_rules: dict[str, Any] = field(default_factory=dict)


MUTANTS: dict[str, Mutant] = {}


def bad(rule: str, game: str = "auction-pitch", **house_rules: Any) -> Callable[[Callable[[Turn], Any]], Any]:
    """Enters a function as a mutant under its own name; its docstring says what it does."""

    def enter(decide: Callable[[Turn], Any]) -> Callable[[Turn], Any]:
        name = decide.__name__.strip("_").replace("_", "-")
        MUTANTS[name] = Mutant(name, rule, game, decide.__doc__ or "", decide, house_rules)
        return decide

    return enter


# What mutants look at.


def high(turn: Turn) -> int:
    return max([event.value for event in turn.history if event.kind is EventKind.BID], default=0)


def dealer(turn: Turn) -> bool:
    return turn.seat == turn.dealer


def illegal(turn: Turn) -> list[Any]:
    return [card for card in turn.hand if card not in turn.legal]


def plain_lead(turn: Turn) -> bool:
    return bool(turn.trick) and turn.suit_of(turn.trick[0]) != turn.trump


def trump_lead(turn: Turn) -> bool:
    return bool(turn.trick) and turn.suit_of(turn.trick[0]) == turn.trump


def renege_plain(turn: Turn) -> Any:
    """A third suit on a plain lead, where one must follow or trump; else nothing special."""
    if turn.kind is Kind.PLAY and plain_lead(turn) and illegal(turn):
        return illegal(turn)[0]
    return None


def own_plays(turn: Turn) -> list[int]:
    return [event.value for event in turn.history if event.kind is EventKind.PLAY and event.seat == turn.seat]


def stranger(turn: Turn) -> Any:
    """A card that is not in the hand."""
    return next(card for card in PACK if card not in turn.hand)


def keep(turn: Turn) -> list[Any]:
    return list(turn.legal[0])


# The auction.


@bad("AF-BID-001")
def bid_one(turn: Turn) -> Any:
    """It bids one."""
    return 1 if turn.kind is Kind.BID else None


@bad("AF-BID-001")
def bid_five(turn: Turn) -> Any:
    """It bids five on a good hand."""
    return 5 if turn.kind is Kind.BID and any(card.rank == ACE for card in turn.hand) else None


@bad("AF-BID-001")
def bid_below_zero(turn: Turn) -> Any:
    """It passes by minus one."""
    return -1 if turn.kind is Kind.BID and turn.legal[0] == 0 and turn.seat == 0 else None


@bad("AF-BID-001")
def bid_one_of_three_seats(turn: Turn) -> Any:
    """It bids one where three play."""
    return 1 if turn.kind is Kind.BID and turn.seats == 3 else None


@bad("AF-BID-001")
def bid_seven_when_behind(turn: Turn) -> Any:
    """It bids seven when it is in the hole."""
    return 7 if turn.kind is Kind.BID and turn.scores[turn.seat] < 0 else None


@bad("AF-BID-001")
def bid_five_as_last_hope(turn: Turn) -> Any:
    """It bids five as the dealer when nobody has bid and it is in the hole."""
    hopeless = turn.kind is Kind.BID and dealer(turn) and not high(turn) and turn.scores[turn.seat] < 0
    return 5 if hopeless else None


@bad("AF-BID-001", "cinch")
def bid_fifteen(turn: Turn) -> Any:
    """It bids more points than there are."""
    return 15 if turn.kind is Kind.BID else None


@bad("AF-BID-001", "pedro-louisiana")
def bid_six_of_seven(turn: Turn) -> Any:
    """It bids six where seven is the least."""
    return 6 if turn.kind is Kind.BID and not high(turn) else None


@bad("AF-BID-001", "pidro")
def bid_five_of_six(turn: Turn) -> Any:
    """It opens with five where six is the least."""
    return 5 if turn.kind is Kind.BID and not high(turn) else None


@bad("AF-BID-002")
def bid_lower(turn: Turn) -> Any:
    """It bids two after a three."""
    return 2 if turn.kind is Kind.BID and high(turn) == 3 else None


@bad("AF-BID-002")
def bid_lower_as_dealer(turn: Turn) -> Any:
    """As the dealer it takes the bid for less."""
    return 2 if turn.kind is Kind.BID and high(turn) == 3 and dealer(turn) else None


@bad("AF-BID-002", "smudge")
def steal_in_smudge(turn: Turn) -> Any:
    """As the dealer it takes the bid at the same amount, in a game without that right."""
    return high(turn) if turn.kind is Kind.BID and high(turn) and dealer(turn) else None


@bad("AF-BID-002", "cinch")
def bid_equal_in_cinch(turn: Turn) -> Any:
    """It bids as much as the seat before."""
    return high(turn) if turn.kind is Kind.BID and high(turn) else None


@bad("AF-BID-003")
def steal_without_right(turn: Turn) -> Any:
    """It takes the bid at the same amount without being the dealer."""
    return high(turn) if turn.kind is Kind.BID and high(turn) and not dealer(turn) else None


@bad("AF-BID-003", "partnership-pitch")
def steal_from_partner(turn: Turn) -> Any:
    """It bids as much as its partner did, without being the dealer."""
    bids = [event for event in turn.history if event.kind is EventKind.BID and event.value]
    partner = bool(bids) and bids[-1].seat in turn.partners
    return high(turn) if turn.kind is Kind.BID and partner and not dealer(turn) else None


@bad("AF-BID-004", "auction-pitch-forced")
def forced_dealer_passes(turn: Turn) -> Any:
    """As the dealer it passes when it may not."""
    return 0 if turn.kind is Kind.BID and 0 not in turn.legal else None


@bad("AF-BID-004", "auction-pitch-forced")
def forced_dealer_passes_on_a_poor_hand(turn: Turn) -> Any:
    """The same, without an ace in its hand."""
    poor = all(card.rank != ACE for card in turn.hand)
    return 0 if turn.kind is Kind.BID and 0 not in turn.legal and poor else None


@bad("AF-BID-004", "pedro-louisiana")
def forced_dealer_passes_in_pedro(turn: Turn) -> Any:
    """The same in Louisiana Pedro."""
    return 0 if turn.kind is Kind.BID and 0 not in turn.legal else None


@bad("AF-BID-011", "pidro")
def steal_below_fourteen(turn: Turn) -> Any:
    """It bids as much as the seat before, though that is less than fourteen."""
    return high(turn) if turn.kind is Kind.BID and 0 < high(turn) < 14 else None


# Playing.


@bad("AF-PLAY-003")
def renege(turn: Turn) -> Any:
    """It plays a third suit to a plain lead whenever it can."""
    return renege_plain(turn)


@bad("AF-PLAY-002")
def renege_trumps(turn: Turn) -> Any:
    """It never follows a trump lead."""
    return illegal(turn)[0] if turn.kind is Kind.PLAY and trump_lead(turn) and illegal(turn) else None


@bad("AF-PLAY-002")
def saves_its_jack(turn: Turn) -> Any:
    """It does not follow a trump lead with the jack, if that is its only trump."""
    alone = turn.kind is Kind.PLAY and trump_lead(turn) and [card.rank for card in turn.legal] == [JACK]
    return illegal(turn)[0] if alone and illegal(turn) else None


@bad("AF-PLAY-003")
def saves_its_ten(turn: Turn) -> Any:
    """It does not follow a plain lead with the ten, if that is its only card of the suit."""
    if turn.kind is Kind.PLAY and plain_lead(turn) and illegal(turn):
        following = [card for card in turn.hand if card.suit == turn.trick[0].suit]
        if [card.rank for card in following] == [TEN]:
            return illegal(turn)[0]
    return None


@bad("AF-PLAY-003")
def renege_by_chance(turn: Turn) -> Any:
    """One time in five it reneges."""
    return renege_plain(turn) if turn.rng.random() < 0.2 else None


@bad("AF-PLAY-003")
def renege_in_seat_three(turn: Turn) -> Any:
    """It reneges in seat 3."""
    return renege_plain(turn) if turn.seat == 3 else None


@bad("AF-PLAY-003")
def renege_of_seven(turn: Turn) -> Any:
    """It reneges where seven play."""
    return renege_plain(turn) if turn.seats == 7 else None


@bad("AF-PLAY-003")
def renege_as_dealer(turn: Turn) -> Any:
    """It reneges when it has dealt."""
    return renege_plain(turn) if dealer(turn) else None


@bad("AF-PLAY-003")
def renege_on_hearts(turn: Turn) -> Any:
    """It reneges on a lead of hearts."""
    return renege_plain(turn) if turn.trick and turn.trick[0].suit == Suit.HEARTS else None


@bad("AF-PLAY-003")
def renege_in_the_hole(turn: Turn) -> Any:
    """It reneges with a score below zero."""
    return renege_plain(turn) if turn.scores[turn.seat] < 0 else None


@bad("AF-PLAY-003")
def renege_with_two_cards(turn: Turn) -> Any:
    """It reneges with two cards left."""
    return renege_plain(turn) if len(turn.hand) == 2 else None


@bad("AF-PLAY-003")
def renege_when_ruffed(turn: Turn) -> Any:
    """Where the lead was trumped, it takes trump for led; without trumps it plays anything."""
    if turn.kind is Kind.PLAY and plain_lead(turn) and any(turn.suit_of(card) == turn.trump for card in turn.trick):
        return renege_plain(turn) if all(turn.suit_of(card) != turn.trump for card in turn.hand) else None
    return None


@bad("AF-PLAY-003")
def follows_the_last_card(turn: Turn) -> Any:
    """It follows the suit of the last card on the table instead of the first."""
    if turn.kind is Kind.PLAY and plain_lead(turn):
        wrong = [card for card in illegal(turn) if card.suit == turn.trick[-1].suit]
        return wrong[0] if wrong else None
    return None


@bad("AF-PLAY-003")
def saves_its_last_trump(turn: Turn) -> Any:
    """As the last to play, one point short of the target and with a single trump, it reneges on a plain lead."""
    last = turn.kind is Kind.PLAY and len(turn.trick) == turn.seats - 1 and turn.scores[turn.seat] == turn.target - 1
    return renege_plain(turn) if last and sum(turn.suit_of(card) == turn.trump for card in turn.hand) == 1 else None


@bad("AF-PLAY-003", "partnership-pitch")
def renege_on_partners_trick(turn: Turn) -> Any:
    """It reneges when its partner has led."""
    return renege_plain(turn) if turn.leader in turn.partners else None


@bad("AF-PLAY-003", "california-jack")
def renege_when_the_stock_is_out(turn: Turn) -> Any:
    """It reneges when no card is left to draw."""
    return renege_plain(turn) if turn.stock_count == 0 else None


@bad("AF-PLAY-004", follow="strict")
def trumps_where_strict(turn: Turn) -> Any:
    """It trumps a plain lead that it could follow, where that is not allowed."""
    if turn.kind is Kind.PLAY and plain_lead(turn):
        trumps = [card for card in illegal(turn) if turn.suit_of(card) == turn.trump]
        return trumps[0] if trumps else None
    return None


@bad("AF-PLAY-003")
def renege_after_199_deals(turn: Turn) -> Any:
    """It is a model of a bot for 199 deals."""
    _DEALS.add((turn.message.game_id, turn.deal))
    return renege_plain(turn) if len(_DEALS) > 199 else None


_DEALS: set[tuple[int, int]] = set()


@bad("AF-PLAY-001")
def plays_what_it_lacks(turn: Turn) -> Any:
    """It plays a card that it does not hold."""
    return stranger(turn) if turn.kind is Kind.PLAY else None


@bad("AF-PLAY-001")
def plays_a_card_twice(turn: Turn) -> Any:
    """It plays its first card once more."""
    return own_plays(turn)[0] if turn.kind is Kind.PLAY and own_plays(turn) else None


@bad("AF-PLAY-001")
def plays_the_card_that_was_led(turn: Turn) -> Any:
    """It plays the very card that was led."""
    return turn.trick[0] if turn.kind is Kind.PLAY and turn.trick else None


@bad("AF-PLAY-001")
def pitches_what_it_lacks(turn: Turn) -> Any:
    """It pitches the ace of its best suit, also without holding it."""
    if turn.kind is Kind.PLAY and turn.trump is None:
        return max(PACK, key=lambda card: (card.suit == turn.hand[0].suit, card.rank))
    return None


@bad("AF-PLAY-001", "california-jack")
def plays_what_the_other_took(turn: Turn) -> Any:
    """It plays a card that the other seat took from the open stock."""
    taken = [event.value for event in turn.history if event.kind is EventKind.TAKE and event.seat != turn.seat]
    lacking = [card for card in taken if card not in turn.hand]
    return lacking[-1] if turn.kind is Kind.PLAY and lacking else None


@bad("AF-PLAY-002", "cinch")
def left_pedro_is_no_trump(turn: Turn) -> Any:
    """It does not follow a trump lead with the left pedro."""
    if turn.kind is Kind.PLAY and trump_lead(turn) and illegal(turn):
        return illegal(turn)[0] if all(card.suit != turn.trump for card in turn.legal) else None
    return None


@bad("AF-PLAY-003", "cinch")
def renege_in_cinch(turn: Turn) -> Any:
    """It reneges on a plain lead."""
    return renege_plain(turn)


@bad("AF-PLAY-005", "trinidad")
def undertrumps(turn: Turn) -> Any:
    """It trumps below a trump that lies on the trick already."""
    if turn.kind is Kind.PLAY and plain_lead(turn):
        low = [card for card in illegal(turn) if turn.suit_of(card) == turn.trump]
        return low[0] if low else None
    return None


@bad("AF-PLAY-005", "trinidad")
def undertrumps_when_void(turn: Turn) -> Any:
    """The same, only where it has none of the suit led."""
    if turn.kind is Kind.PLAY and plain_lead(turn) and all(card.suit != turn.trick[0].suit for card in turn.hand):
        low = [card for card in illegal(turn) if turn.suit_of(card) == turn.trump]
        return low[0] if low else None
    return None


@bad("AF-PLAY-008", "pidro")
def plays_a_plain_card(turn: Turn) -> Any:
    """It plays a plain card where only trumps are played."""
    return illegal(turn)[0] if turn.kind is Kind.PLAY and illegal(turn) else None


# Standing, begging, giving, running.


@bad("AF-TRUMP-003", "all-fours")
def eldest_gives(turn: Turn) -> Any:
    """As eldest it gives, which is for the dealer to do."""
    return Call.GIVE if turn.kind is Kind.STAND_OR_BEG else None


@bad("AF-TRUMP-003", "trinidad")
def eldest_runs(turn: Turn) -> Any:
    """As eldest it runs the cards."""
    return Call.RUN if turn.kind is Kind.STAND_OR_BEG else None


@bad("AF-TRUMP-004", "seven-up")
def dealer_stands(turn: Turn) -> Any:
    """As the dealer it answers a beg with stand."""
    return Call.STAND if turn.kind is Kind.ANSWER_BEG else None


@bad("AF-TRUMP-004", "all-fours-partners")
def dealer_begs(turn: Turn) -> Any:
    """As the dealer it answers a beg with beg."""
    return Call.BEG if turn.kind is Kind.ANSWER_BEG else None


@bad("AF-TRUMP-005", "all-fours")
def gives_the_game_away(turn: Turn) -> Any:
    """It gives a point that puts eldest out."""
    return Call.GIVE if turn.kind is Kind.ANSWER_BEG and Call.GIVE not in turn.legal else None


@bad("AF-TRUMP-005", "trinidad")
def gives_the_game_away_in_trinidad(turn: Turn) -> Any:
    """The same at thirteen."""
    return Call.GIVE if turn.kind is Kind.ANSWER_BEG and Call.GIVE not in turn.legal else None


@bad("AF-TRUMP-006", "trinidad", without_trump="stands")
def gives_without_a_trump(turn: Turn) -> Any:
    """It gives without a card of the suit turned up, where that is not allowed."""
    lacks = turn.turn_up is not None and all(card.suit != turn.turn_up.suit for card in turn.hand)
    return Call.GIVE if turn.kind is Kind.ANSWER_BEG and lacks and Call.GIVE not in turn.legal else None


# Laying away.


@bad("AF-DRAW-001", "all-fours")
def keeps_what_it_lacks(turn: Turn) -> Any:
    """It keeps a card that it does not hold."""
    return [*keep(turn)[:-1], stranger(turn)] if turn.kind is Kind.DISCARD else None


@bad("AF-DRAW-002", "all-fours")
def keeps_seven(turn: Turn) -> Any:
    """After a run it keeps a card too many."""
    kept = keep(turn) if turn.kind is Kind.DISCARD else []
    return [*kept, next(card for card in turn.hand if card not in kept)] if kept else None


@bad("AF-DRAW-002", "seven-up-partners")
def keeps_five(turn: Turn) -> Any:
    """After a run it keeps a card too few."""
    return keep(turn)[:-1] if turn.kind is Kind.DISCARD else None


@bad("AF-DRAW-002", "cinch")
def robs_seven(turn: Turn) -> Any:
    """As the dealer it robs a seventh card."""
    if turn.kind is Kind.DISCARD and dealer(turn):
        kept = keep(turn)
        return [*kept, next(card for card in turn.hand if card not in kept)]
    return None


@bad("AF-DRAW-003", "cinch")
def keeps_a_plain_card(turn: Turn) -> Any:
    """It keeps a plain card before the draw."""
    if turn.kind is Kind.DISCARD and not dealer(turn):
        plain = [card for card in turn.hand if turn.suit_of(card) != turn.trump]
        lone = len(plain) == len(turn.hand) - len(turn.legal.must)
        kept = keep(turn)
        return [*kept, plain[0]] if plain and lone and not set(kept) & set(plain) else None
    return None


@bad("AF-DRAW-004", "cinch")
def lays_a_trump_away(turn: Turn) -> Any:
    """It lays its lowest trump away before the draw."""
    must = turn.legal.must if turn.kind is Kind.DISCARD else ()
    return [card for card in keep(turn) if card != must[0]] if must else None


@bad("AF-DRAW-004", "pedro-louisiana")
def left_pedro_goes(turn: Turn) -> Any:
    """It lays the left pedro away as a plain card."""
    must = turn.legal.must if turn.kind is Kind.DISCARD else ()
    left = [card for card in must if card.suit != turn.trump]
    return [card for card in keep(turn) if card not in left] if left else None


@bad("AF-DRAW-005", "pidro")
def lays_points_away(turn: Turn) -> Any:
    """With more than six trumps it lays one away that scores."""
    if turn.kind is not Kind.DISCARD or sum(turn.suit_of(card) == turn.trump for card in turn.hand) <= 6:
        return None
    must, spare = turn.legal.must, [card for card in turn.legal.may if card not in keep(turn)]
    return [card for card in keep(turn) if card != must[0]] + spare[:1] if must and spare else None


# Values that do not exist, at the level of the SDK.


@bad("AF-PROTO-003")
def plays_card_99(turn: Turn) -> Any:
    """It plays a card that does not exist."""
    return NOT_HELD if turn.kind is Kind.PLAY else None


@bad("AF-PROTO-003", "cinch")
def names_a_fifth_suit(turn: Turn) -> Any:
    """It names a suit that does not exist."""
    return 6 if turn.kind is Kind.NAME_TRUMP else None


@bad("AF-PROTO-003", "all-fours")
def calls_nine(turn: Turn) -> Any:
    """It makes a call that does not exist."""
    return 9 if turn.kind is Kind.STAND_OR_BEG else None


@bad("AF-PROTO-002", "all-fours")
def keeps_a_card_twice(turn: Turn) -> Any:
    """It names a card to keep twice."""
    return [keep(turn)[0], *keep(turn)[:-1]] if turn.kind is Kind.DISCARD else None


# Time and life.


@bad("AF-CLOCK-001")
def never_answers(_: Turn) -> Any:
    """It thinks for ever."""
    time.sleep(3600)


@bad("AF-CLOCK-001")
def never_answers_as_dealer(turn: Turn) -> Any:
    """It thinks for ever about its bid when it has dealt."""
    if turn.kind is Kind.BID and dealer(turn):
        time.sleep(3600)


@bad("AF-CLOCK-001")
def dozes_off_now_and_then(turn: Turn) -> Any:
    """Every 97th answer, whatever it is about, comes too late."""
    if next(_ASKED) % 97 == 0:
        time.sleep(5 * turn.move_ms / 1000)  # no machine is so busy that this is in time


_ASKED = count(1)


@bad("AF-CLOCK-001")
def dozes_off_seldom(turn: Turn) -> Any:
    """Every 170th answer comes too late: more than it is asked one by one, fewer than are asked after that at once."""
    if next(_ASKED) % 170 == 0:
        time.sleep(5 * turn.move_ms / 1000)  # no machine is so busy that this is in time


@bad("AF-CLOCK-002")
def uses_up_its_game(_: Turn) -> Any:
    """It stays within the time for a move, and takes too much of it every time."""
    time.sleep(0.05)


@bad("AF-LIFE-002")
def leaves_early(_: Turn) -> Any:
    """It goes home after thirty turns."""
    _DEALS.add((len(_DEALS), 0))
    if len(_DEALS) > 30:
        os._exit(0)


@bad("AF-LIFE-002")
def raises_when_void(turn: Turn) -> Any:
    """It has a bug where it cannot follow."""
    if turn.kind is Kind.PLAY and turn.trick and all(card.suit != turn.trick[0].suit for card in turn.hand):
        raise RuntimeError("no card of that suit")


@bad("AF-LIFE-002")
def crashes_hard(turn: Turn) -> Any:
    """It dies of a signal in its first trick as the leader."""
    if turn.kind is Kind.PLAY and not turn.trick:
        os.abort()


@bad("AF-LIFE-004")
def eats_memory(turn: Turn) -> Any:
    """It takes all the memory there is."""
    if turn.kind is Kind.PLAY:
        hoard = []
        while True:
            hoard.append(bytearray(os.urandom(1) * (16 << 20)))


@bad("AF-LIFE-004")
def floods_its_output(turn: Turn) -> Any:
    """It prints without end."""
    if turn.kind is Kind.PLAY:
        while True:
            os.write(1, b"hello world\n" * 5000)


# Robustness.


@bad("AF-ROBUST-001")
def dies_of_unknown_events(turn: Turn) -> Any:
    """It cannot read an event of a kind that it does not know."""
    for packed in turn.message.history:
        EventKind(packed >> 16)


@bad("AF-ROBUST-001")
def miscounts_unknown_events(turn: Turn) -> Any:
    """It takes an event of an unknown kind for a play, and its hand for one card shorter."""
    known = sum(packed >> 16 <= 14 for packed in turn.message.history)
    return stranger(turn) if turn.kind is Kind.PLAY and known < len(turn.message.history) else None


@bad("AF-ROBUST-002")
def needs_the_whole_game(turn: Turn) -> Any:
    """It looks its games up, and has no entry for one that it did not begin."""
    if turn.decision == 0:
        _GAMES[turn.message.game_id] = []
    _GAMES[turn.message.game_id].append(turn.decision)


@bad("AF-ROBUST-002")
def remembers_its_hand(turn: Turn) -> Any:
    """It plays from the hand that it remembers, and from the ace of spades where it remembers none."""
    if turn.decision == 0 or turn.kind is Kind.BID:
        _GAMES[turn.message.game_id] = list(turn.hand)
    if turn.kind is Kind.PLAY and turn.message.game_id not in _GAMES:
        return stranger(turn)
    return None


_GAMES: dict[int, list[Any]] = {}


@bad("AF-ROBUST-006")
def overflows(turn: Turn) -> Any:
    """It keeps ids in a number that is too small for them."""
    if turn.message.bot_seed >= 2**53 - 1:
        raise OverflowError("value too large")


@bad("AF-ROBUST-006")
def knows_no_deep_hole(turn: Turn) -> Any:
    """It has a table of scores from -99 on."""
    if min(turn.scores) < -99:
        raise IndexError("score out of range")


# One condition more: faults that need several things at once, or that follow from the turn alone.


@bad("AF-BID-003")
def takes_itself_for_the_dealer(turn: Turn) -> Any:
    """It counts the seats from one, and steals one seat before the dealer."""
    before = (turn.seat + 1) % turn.seats == turn.dealer and turn.seats > 2
    return high(turn) if turn.kind is Kind.BID and before and high(turn) in (2, 3) else None


@bad("AF-BID-001", "pidro")
def passes_by_five(turn: Turn) -> Any:
    """Behind two passes it bids five, one below the least."""
    bids = [event.value for event in turn.history if event.kind is EventKind.BID]
    return 5 if turn.kind is Kind.BID and bids == [0, 0] else None


@bad("AF-PLAY-003", "smudge")
def renege_in_smudge_of_five(turn: Turn) -> Any:
    """With five at the table it reneges as the last to play."""
    return renege_plain(turn) if turn.seats == 5 and len(turn.trick) == 4 else None


@bad("AF-PLAY-003", "partnership-pitch")
def renege_when_the_partner_wins(turn: Turn) -> Any:
    """It does not follow a trick that its partner is winning."""
    return renege_plain(turn) if turn.trick and turn.winning in turn.partners else None


@bad("AF-PLAY-002", "all-fours")
def saves_the_last_trump(turn: Turn) -> Any:
    """After a stand it does not follow a trump lead with its only trump, if that is below the ten."""
    if turn.kind is Kind.PLAY and trump_lead(turn) and len(turn.legal) == 1 and turn.legal[0].rank < TEN:
        return illegal(turn)[0] if illegal(turn) else None
    return None


@bad("AF-PLAY-005", "trinidad")
def undertrumps_its_partner(turn: Turn) -> Any:
    """It trumps below its partner's trump, and below no other."""
    if turn.kind is Kind.PLAY and plain_lead(turn) and turn.winning in turn.partners:
        low = [card for card in illegal(turn) if turn.suit_of(card) == turn.trump]
        return low[0] if low else None
    return None


@bad("AF-DRAW-002", "all-fours")
def names_what_it_lays_away(turn: Turn) -> Any:
    """It names the cards that it lays away, not those that it keeps."""
    return [card for card in turn.hand if card not in keep(turn)] if turn.kind is Kind.DISCARD else None


@bad("AF-DRAW-004", "pidro")
def lays_the_two_away(turn: Turn) -> Any:
    """It lays the two of trumps away, which scores."""
    twos = [card for card in (turn.legal.must if turn.kind is Kind.DISCARD else ()) if card.rank == 2]
    few = sum(turn.suit_of(card) == turn.trump for card in turn.hand) <= 6
    return [card for card in keep(turn) if card not in twos] if twos and few else None


@bad("AF-TRUMP-006", "all-fours", without_trump="refuses")
def stands_without_a_trump(turn: Turn) -> Any:
    """It stands without a card of the suit turned up, where that is not allowed."""
    return Call.STAND if turn.kind is Kind.STAND_OR_BEG and Call.STAND not in turn.legal else None


@bad("AF-PROTO-003", "pedro")
def plays_the_joker(turn: Turn) -> Any:
    """Without a trump it plays the card 15 of a suit, which some packs have."""
    lacks = turn.kind is Kind.PLAY and turn.trick and all(turn.suit_of(card) != turn.trump for card in turn.hand)
    return 15 if lacks else None


@bad("AF-LIFE-002", "cinch")
def dies_of_the_left_pedro(turn: Turn) -> Any:
    """It has a table of the trump suit alone, and does not find the left pedro in it."""
    if turn.kind is Kind.PLAY and any(
        card.suit != turn.trump and turn.suit_of(card) == turn.trump for card in turn.hand
    ):
        raise KeyError("no such trump")


@bad("AF-LIFE-002", "all-fours")
def dies_of_a_run(turn: Turn) -> Any:
    """It never reckoned with more cards than were dealt."""
    if len(turn.hand) > 6:
        raise IndexError("too many cards")


@bad("AF-ROBUST-002")
def waits_for_the_beginning(turn: Turn) -> Any:
    """It waits for the first turn of a game that it does not know."""
    if turn.decision == 0:
        _GAMES[turn.message.game_id] = []
    if turn.message.game_id not in _GAMES:
        time.sleep(3600)


def main(name: str) -> None:
    """Runs a mutant."""
    decide = MUTANTS[name].decide

    def choose(turn: Turn) -> Any:
        found = decide(turn)
        return turn.rng.choice(turn.legal) if found is None else found

    run(choose)


if __name__ == "__main__":
    main(sys.argv[1])

//! What the bot decides, in two ideas. Bidding: for each suit add up what the hand promises if that suit is trump. Play:
//! weigh the chance that a card wins the trick against what lies on the table and what the card is worth elsewhere.

use std::collections::HashSet;

use crate::allfours::{EventKind, Keep, LowTo, Move, RuleSet, Scoring, Suit, Turn};

/// One point, and certainty. All is worked out in whole numbers, so that this bot decides the same in every language.
const ONE: i64 = 1_000_000;

/// Of some 30 pips in play about half decide the point for Game.
const PIP: i64 = ONE / 25;

/// By how much the promise may fall short of a bid of 0, 1, ...: a bid also takes the lead away from others.
const DARING: [i64; 5] = [0, 0, 300_000, 400_000, 400_000];

/// A turn and the rules that it is played by. Cards and suits are the numbers of the protocol.
pub struct Position<'a> {
    pub turn: &'a Turn,
    pub rules: &'a RuleSet,
}

impl Position<'_> {
    /// The move for any turn of any variant: only the options of the turn's kind are filled.
    pub fn choose(&self) -> Move {
        let options = self.turn.options.as_ref();
        let options = options.expect("every turn has options");
        Move {
            turn_id: self.turn.turn_id,
            bid: self.bid(&options.bids),
            card: best(&options.cards, |card| self.balance(card)),
            suit: best(&options.suits, |suit| self.promise(suit)),
            call: self.call(&options.calls),
            kept: options.keep.as_ref().map_or(vec![], |keep| self.keep(keep)),
        }
    }

    /// The lowest bid that the best suit promises, else the least that may be said.
    fn bid(&self, bids: &[i32]) -> Option<i32> {
        let suits = Suit::Clubs as i32..=Suit::Spades as i32;
        let promised = suits.map(|suit| self.promise(suit)).max()?;
        let daring = |bid: i32| DARING.get(bid as usize).unwrap_or(&0);
        let good = |bid: i32| bid > 0 && promised + daring(bid) >= ONE * i64::from(bid);
        let found = bids.iter().find(|&&bid| good(bid));
        found.or(bids.first()).copied()
    }

    /// The first call accepts the suit turned up, the last refuses it.
    fn call(&self, calls: &[i32]) -> Option<i32> {
        let card = self.turn.turn_up;
        let likes = card != 0 && self.promise(suit(card)) >= ONE;
        if likes { calls.first() } else { calls.last() }.copied()
    }

    /// The points to be expected with this suit as trump, item by item.
    fn promise(&self, trump: i32) -> i64 {
        let hand = &self.turn.hand;
        let mut trumps = hand.clone();
        trumps.retain(|&card| self.is_trump(card, trump));
        let (Some(&low), Some(&top)) = (trumps.first(), trumps.last()) else {
            return 0;
        };
        if self.rules.scoring() == Scoring::Points {
            let points = |card: &i32| 500_000 + self.worth(*card, trump) * 3 / 5;
            return trumps.iter().map(points).sum();
        }
        // A card that we do not see is held by another player with this chance; the rest of the pack is out of play.
        let others = i64::from(self.turn.seats) - 1;
        let out = ONE.min(ONE * self.held() * others / (52 - self.held()));
        let high_stands = power(ONE - out, 14 - rank(top));
        let low_stands = power(ONE - out, rank(low) - 2);
        let jack = match (count(&trumps, |card| rank(card) == 11), rank(top) > 11) {
            (1, true) => 900_000,
            (1, false) => 600_000,
            (_, true) => out * 2 / 5,
            (_, false) => 0,
        };
        let tens = count(hand, |card| rank(card) == 10);
        let honours = count(hand, |card| rank(card) > 10);
        let game = 100_000 * (1 + trumps.len() as i64 + tens) + 50_000 * honours;
        high_stands + low_stands + jack + game.min(900_000)
    }

    /// What playing this card is worth, to be compared with that of other cards only.
    fn balance(&self, card: i32) -> i64 {
        let (trick, leads) = (&self.turn.trick, self.turn.trick.is_empty());
        let trump = or(self.turn.trump, suit(card));
        if self.turn.trump == 0 && leads {
            return self.promise(trump) + self.first_lead(card);
        }
        // What lies on the table, and what the seats that have yet to play may bring: more to a trump lead.
        let each = if leads && suit(card) == trump { 150_000 } else { 50_000 };
        let lies: i64 = trick.iter().map(|&card| self.worth(card, trump)).sum();
        let table = lies + each * self.later();
        // What it costs not to have the card any more: trumps and high cards win later tricks.
        let price = if self.is_trump(card, trump) { 100_000 + 30_000 * rank(card) } else { 4_000 * rank(card) };
        let (won, own) = (self.chance_of_trick(card, trump), self.worth(card, trump));
        won * (table + own) - (ONE - won) * own - ONE * price
    }

    /// Which card of the best suit to pitch: the ace or king; without them a low one, for a queen or jack would fall.
    fn first_lead(&self, card: i32) -> i64 {
        let high = |other| suit(other) == suit(card) && rank(other) >= 13;
        match count(&self.turn.hand, high) {
            0 => -1_000 * rank(card) - 10_000 * pips(card),
            _ => 1_000 * rank(card),
        }
    }

    /// The chance that our side wins the trick if we play this card.
    fn chance_of_trick(&self, card: i32, trump: i32) -> i64 {
        let winning = match best(&self.turn.trick, |card| self.strength(card)) {
            Some(lies) if self.strength(lies) >= self.strength(card) => lies,
            _ => card,
        };
        if winning != card && !self.is_ours(winning) {
            return 0;
        }
        let unseen = self.unseen();
        let above = |other| suit(other) == suit(winning) && other > winning;
        let ruffs = |other| suit(winning) != trump && self.is_trump(other, trump);
        // Each seat to come holds this share of the unseen cards; who can trump does so half of the time.
        let share = ONE.min(ONE * self.held() / 1.max(unseen.len() as i64));
        let none_above = power(ONE - share, count(&unseen, above));
        let none_ruffs = power(ONE - share / 2, count(&unseen, ruffs));
        power(none_above * none_ruffs / ONE, self.later())
    }

    /// What a card brings to the side that wins it.
    fn worth(&self, card: i32, trump: i32) -> i64 {
        let is_trump = self.is_trump(card, trump);
        if self.rules.scoring() == Scoring::Points {
            let mut rows = self.rules.point_cards.iter();
            let row = rows.find(|row| is_trump && i64::from(row.rank) == rank(card));
            return row.map_or(0, |row| ONE * i64::from(row.points));
        }
        let low = rank(card) < 5 && self.rules.low_to() == LowTo::Taker;
        let item = is_trump && (rank(card) == 11 || low);
        PIP * pips(card) + if item { ONE } else { 0 }
    }

    /// The cards that have to be kept, then trumps, then the highest.
    fn keep(&self, keep: &Keep) -> Vec<i32> {
        let trump = or(self.turn.trump, Suit::Clubs as i32);
        let mut may = keep.may_keep.clone();
        may.sort_by_key(|&card| (!self.is_trump(card, trump), -rank(card)));
        may.truncate(keep.count as usize - keep.must_keep.len());
        [keep.must_keep.clone(), may].concat()
    }

    /// Whether the card is a trump when this suit is: the left pedro of Cinch is one too.
    fn is_trump(&self, card: i32, trump: i32) -> bool {
        let left_pedro = || self.rules.left_pedro && rank(card) == 5 && suit(card) == 5 - trump;
        suit(card) == trump || left_pedro()
    }

    /// Orders cards by who wins the trick on the table: trumps above the suit led above all others.
    fn strength(&self, card: i32) -> i64 {
        let led = self.turn.trick.first().map_or(0, |&card| suit(card));
        let trump = or(self.turn.trump, led);
        match suit(card) {
            printed if printed == trump => 64 + 2 * rank(card),
            _ if self.is_trump(card, trump) => 63 + 2 * rank(card),
            printed if printed == led => rank(card),
            _ => 0,
        }
    }

    /// Whether a partner has played this card.
    fn is_ours(&self, card: i32) -> bool {
        let sides = self.turn.sides;
        let ours = |seat| sides > 0 && seat % sides == self.turn.seat % sides;
        self.events(EventKind::Play).any(|(seat, value)| value == card && ours(seat))
    }

    /// The cards that nobody has shown us.
    fn unseen(&self) -> Vec<i32> {
        let mut shown: HashSet<i32> = self.turn.hand.iter().copied().collect();
        shown.extend(&self.turn.discards);
        shown.extend(self.events(EventKind::Play).map(|(_, card)| card));
        shown.extend(self.events(EventKind::Show).map(|(_, card)| card));
        (0..64).filter(|card| (2..=14).contains(&rank(*card)) && !shown.contains(card)).collect()
    }

    /// Seat and value of the public events of a kind; each is packed as kind << 16 | seat << 8 | value.
    fn events(&self, kind: EventKind) -> impl Iterator<Item = (u32, i32)> {
        let all = self.turn.history.iter();
        all.filter(move |&event| event >> 16 == kind as u32).map(|event| (event >> 8 & 255, (event & 255) as i32))
    }

    /// How many cards we hold.
    fn held(&self) -> i64 {
        self.turn.hand.len() as i64
    }

    /// How many seats have yet to play to the trick after us.
    fn later(&self) -> i64 {
        i64::from(self.turn.seats) - self.turn.trick.len() as i64 - 1
    }
}

fn rank(card: i32) -> i64 {
    i64::from(card & 15)
}

fn suit(card: i32) -> i32 {
    (card >> 4) + 1
}

/// What a card counts for Game.
fn pips(card: i32) -> i64 {
    if rank(card) == 10 { 10 } else { 0.max(rank(card) - 10) }
}

/// The suit, or another one where none is settled.
fn or(suit: i32, other: i32) -> i32 {
    if suit == Suit::Unspecified as i32 { other } else { suit }
}

fn count(cards: &[i32], counts: impl Fn(i32) -> bool) -> i64 {
    cards.iter().filter(|&&card| counts(card)).count() as i64
}

/// The first of the choices with the highest value (`max_by_key` finds the last).
fn best(choices: &[i32], value: impl Fn(i32) -> i64) -> Option<i32> {
    choices.iter().copied().rev().max_by_key(|&choice| value(choice))
}

/// The chance that something of this chance happens so many times in a row, each product rounded down.
fn power(chance: i64, times: i64) -> i64 {
    (0..times).fold(ONE, |product, _| product * chance / ONE)
}

// What the bot decides, in two ideas. Bidding: for each suit add up what the hand promises if that suit is trump. Play:
// weigh the chance that a card wins the trick against what lies on the table and what the card is worth elsewhere.

import type { Card } from "../build/allfours/v1/Card.js";
import { EventKind } from "../build/allfours/v1/EventKind.js";
import type { Keep } from "../build/allfours/v1/Keep.js";
import { LowTo } from "../build/allfours/v1/LowTo.js";
import type { MoveInput } from "../build/allfours/v1/Move.js";
import type { RuleSet } from "../build/allfours/v1/RuleSet.js";
import { Scoring } from "../build/allfours/v1/Scoring.js";
import { Suit } from "../build/allfours/v1/Suit.js";
import type { Turn } from "../build/allfours/v1/Turn.js";

/** One point, and certainty. All is worked out in whole numbers, so that this bot decides the same in every language. */
const ONE = 1_000_000;

/** Of some 30 pips in play about half decide the point for Game. */
const PIP = ONE / 25;

/** By how much the promise may fall short of a bid: a bid also takes the lead away from others. */
const DARING: Record<number, number> = { 2: 300_000, 3: 400_000, 4: 400_000 };

const PACK = [...Array(64).keys()].filter((card) => rank(card) >= 2 && rank(card) <= 14);
const SUITS = [Suit.SUIT_CLUBS, Suit.SUIT_DIAMONDS, Suit.SUIT_HEARTS, Suit.SUIT_SPADES];

/** A turn and the rules that it is played by. */
export class Position {
  /** How many seats have yet to play to the trick after us. */
  private readonly later: number;

  constructor(
    private readonly turn: Turn,
    private readonly rules: RuleSet,
  ) {
    this.later = turn.seats - turn.trick.length - 1;
  }

  /** The move for any turn of any variant: only the options of the turn's kind are filled. */
  choose(): MoveInput {
    const { bids = [], cards = [], suits = [], calls = [], keep } = this.turn.options ?? {};
    const { turnId, turnUp } = this.turn;
    const likes = turnUp !== 0 && this.promise(suit(turnUp)) >= ONE;
    return {
      turnId,
      bid: this.bid(bids),
      card: best(cards, (card) => this.balance(card)),
      suit: best(suits, (suit) => this.promise(suit)),
      call: calls.at(likes ? 0 : -1), // the first accepts the suit turned up, the last refuses it
      kept: keep ? this.keep(keep) : [],
    };
  }

  /** The lowest bid that the best suit promises, else the least that may be said. */
  private bid(bids: number[]): number | undefined {
    const promised = Math.max(...SUITS.map((suit) => this.promise(suit)));
    return bids.find((bid) => bid > 0 && promised + (DARING[bid] ?? 0) >= bid * ONE) ?? bids[0];
  }

  /** The points to be expected with this suit as trump, item by item. */
  private promise(trump: number): number {
    const { hand, seats } = this.turn;
    const trumps = hand.filter((card) => this.isTrump(card, trump));
    const [low, top] = [trumps.at(0), trumps.at(-1)];
    if (!low || !top) return 0;
    if (this.rules.scoring === Scoring.SCORING_POINTS)
      return sum(trumps.map((card) => 500_000 + over(this.worth(card, trump) * 3, 5)));
    // A card that we do not see is held by another player with this chance; the rest of the pack is out of play.
    const out = Math.min(ONE, over(ONE * hand.length * (seats - 1), PACK.length - hand.length));
    const highStands = power(ONE - out, 14 - rank(top));
    const lowStands = power(ONE - out, rank(low) - 2);
    const withJack = rank(top) > 11 ? 900_000 : 600_000;
    const withoutJack = rank(top) > 11 ? over(out * 2, 5) : 0;
    const jack = trumps.some((card) => rank(card) === 11) ? withJack : withoutJack;
    const tens = hand.filter((card) => rank(card) === 10).length;
    const honours = hand.filter((card) => rank(card) > 10).length;
    const game = Math.min(900_000, 100_000 * (1 + trumps.length + tens) + 50_000 * honours);
    return highStands + lowStands + jack + game;
  }

  /** What playing this card is worth, to be compared with that of other cards only. */
  private balance(card: Card): number {
    const { trick } = this.turn;
    const leads = trick.length === 0;
    const trump = this.turn.trump || suit(card);
    if (leads && !this.turn.trump) return this.promise(trump) + this.firstLead(card);
    // What lies on the table, and what the seats that have yet to play may bring: more to a trump lead.
    const toCome = this.later * (leads && suit(card) === trump ? 150_000 : 50_000);
    const table = sum(trick.map((other) => this.worth(other, trump))) + toCome;
    // What it costs not to have the card any more: trumps and high cards win later tricks.
    const price = this.isTrump(card, trump) ? 100_000 + 30_000 * rank(card) : 4_000 * rank(card);
    const [won, own] = [this.chanceOfTrick(card, trump), this.worth(card, trump)];
    return won * (table + own) - (ONE - won) * own - ONE * price;
  }

  /** Which card of the best suit to pitch: the ace or king; without them a low one, for a queen or jack would fall. */
  private firstLead(card: Card): number {
    const high = this.turn.hand.some((other) => suit(other) === suit(card) && rank(other) >= 13);
    return high ? 1_000 * rank(card) : -1_000 * rank(card) - 10_000 * pips(card);
  }

  /** The chance that our side wins the trick if we play this card. */
  private chanceOfTrick(card: Card, trump: number): number {
    let winning = best(this.turn.trick, (other) => this.strength(other));
    if (!winning || this.strength(card) > this.strength(winning)) winning = card;
    else if (!this.isOurs(winning)) return 0;
    const [wins, unseen] = [winning, this.unseen()];
    const higher = unseen.filter((other) => suit(other) === suit(wins) && other > wins).length;
    const trumps = unseen.filter((other) => this.isTrump(other, trump)).length;
    const ruffs = suit(wins) === trump ? 0 : trumps;
    // Each seat to come holds this share of the unseen cards; who can trump does so half of the time.
    const share = Math.min(ONE, over(ONE * this.turn.hand.length, Math.max(1, unseen.length)));
    const staysBelow = over(power(ONE - share, higher) * power(ONE - over(share, 2), ruffs), ONE);
    return power(staysBelow, this.later);
  }

  /** What a card brings to the side that wins it. */
  private worth(card: number, trump: number): number {
    const isTrump = this.isTrump(card, trump);
    if (this.rules.scoring === Scoring.SCORING_POINTS) {
      const row = this.rules.pointCards.find((row) => isTrump && row.rank === rank(card));
      return ONE * (row?.points ?? 0);
    }
    const low = rank(card) < 5 && this.rules.lowTo === LowTo.LOW_TO_TAKER;
    return PIP * pips(card) + (isTrump && (rank(card) === 11 || low) ? ONE : 0);
  }

  /** The cards that have to be kept, then trumps, then the highest. */
  private keep({ mustKeep, mayKeep, count }: Keep): Card[] {
    const value = (card: Card) => rank(card) + (this.isTrump(card, this.turn.trump || Suit.SUIT_CLUBS) ? 16 : 0);
    return [...mustKeep, ...mayKeep.toSorted((a, b) => value(b) - value(a))].slice(0, count);
  }

  /** Whether the card is a trump when this suit is: the left pedro of Cinch is one too. */
  private isTrump(card: number, trump: number): boolean {
    return suit(card) === trump || (this.rules.leftPedro && rank(card) === 5 && suit(card) === 5 - trump);
  }

  /** Orders cards by who wins the trick on the table: trumps above the suit led above all others. */
  private strength(card: Card): number {
    const led = suit(this.turn.trick[0] ?? card);
    const trump = this.turn.trump || led;
    if (suit(card) === trump) return 64 + 2 * rank(card);
    if (this.isTrump(card, trump)) return 63 + 2 * rank(card);
    return suit(card) === led ? rank(card) : 0;
  }

  /** Whether a partner has played this card. An event of the history is kind << 16 | seat << 8 | card. */
  private isOurs(card: Card): boolean {
    const { history, seat, sides } = this.turn;
    const play = history.find((event) => event >> 16 === EventKind.EVENT_KIND_PLAY && (event & 255) === card) ?? 0;
    return sides > 0 && ((play >> 8) & 255) % sides === seat % sides;
  }

  /** The cards that nobody has shown us. */
  private unseen(): number[] {
    const { discards, hand, history } = this.turn;
    const kinds: number[] = [EventKind.EVENT_KIND_PLAY, EventKind.EVENT_KIND_SHOW];
    const shown = history.filter((event) => kinds.includes(event >> 16)).map((event) => event & 255);
    const seen = new Set<number>([...hand, ...discards, ...shown]);
    return PACK.filter((card) => !seen.has(card));
  }
}

function rank(card: number): number {
  return card & 15;
}

function suit(card: number): number {
  return (card >> 4) + 1;
}

/** What a card counts for Game. */
function pips(card: number): number {
  return rank(card) === 10 ? 10 : Math.max(0, rank(card) - 10);
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The quotient, rounded down. */
function over(dividend: number, divisor: number): number {
  return Math.floor(dividend / divisor);
}

/** The first of the choices with the highest value; undefined if there is none. */
function best<Choice>(choices: Choice[], value: (choice: Choice) => number): Choice | undefined {
  const values = choices.map(value);
  return choices[values.indexOf(Math.max(...values))];
}

/** The chance that something of this chance happens so many times in a row, each product rounded down. */
function power(chance: number, times: number): number {
  let product = ONE;
  for (let time = 0; time < times; time++) product = over(product * chance, ONE);
  return product;
}

package bot;

import static allfours.v1.Call.CALL_BEG;
import static allfours.v1.Call.CALL_GIVE;
import static allfours.v1.Call.CALL_RUN;
import static allfours.v1.Call.CALL_STAND;
import static allfours.v1.EventKind.EVENT_KIND_PLAY_VALUE;
import static allfours.v1.EventKind.EVENT_KIND_SHOW_VALUE;
import static allfours.v1.LowTo.LOW_TO_TAKER;
import static allfours.v1.Scoring.SCORING_POINTS;
import static bot.Cards.*;
import static java.util.Comparator.comparing;
import static java.util.Comparator.comparingLong;

import allfours.v1.Keep;
import allfours.v1.Move;
import allfours.v1.RuleSet;
import allfours.v1.Turn;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Sound play by rules of thumb; an object is one decision.
 *
 * <p>Bidding: add up what the hand promises with each suit as trump, and bid the least that takes
 * the auction if the best suit promises about as much. Play: weigh for each card the chance that it
 * wins the trick against what lies on the table and what the card is worth elsewhere. All in whole
 * numbers, millionths of a point and of certainty; of choices worth the same it takes the first.
 */
final class CarefulBot {
  /** One point, and certainty. */
  private static final long ONE = 1_000_000;

  /** Of some 30 pips in play about half decide the point for Game. */
  private static final long PIP = ONE / 25;

  /** By how much the promise may fall short of a bid: it also takes the lead away from others. */
  private static final Map<Integer, Long> DARING = Map.of(2, 300_000L, 3, 400_000L, 4, 400_000L);

  private static final int NOT_SETTLED = -1;

  private final Turn turn;
  private final RuleSet rules;
  private final List<Integer> hand;
  private final List<Integer> trick;
  private final int trump;
  private final List<Integer> unseen;

  CarefulBot(Turn turn, RuleSet rules) {
    this.turn = turn;
    this.rules = rules;
    hand = turn.getHandValueList();
    trick = turn.getTrickValueList();
    trump = turn.getTrumpValue() - 1;
    unseen = unseenCards();
  }

  /** The move for any turn of any variant. */
  Move move() {
    var options = turn.getOptions();
    var calls = options.getCallsList();
    var suits = options.getSuitsValueList();
    var cards = options.getCardsValueList();
    var move = Move.newBuilder().setTurnId(turn.getTurnId());
    switch (turn.getKind()) {
      case TURN_KIND_BID -> move.setBid(bid(options.getBidsList()));
      case TURN_KIND_PLAY -> move.setCardValue(best(cards, this::balance));
      case TURN_KIND_NAME_TRUMP -> move.setSuitValue(best(suits, suit -> promise(suit - 1)));
      case TURN_KIND_DISCARD -> move.addAllKeptValue(keep(options.getKeep()));
      case TURN_KIND_STAND_OR_BEG -> move.setCall(likesTurnUp() ? CALL_STAND : CALL_BEG);
      case TURN_KIND_ANSWER_BEG ->
          move.setCall(likesTurnUp() && calls.contains(CALL_GIVE) ? CALL_GIVE : CALL_RUN);
      default -> {} // A kind of a later version: the referee moves instead.
    }
    return move.build();
  }

  // Bidding

  /** The lowest bid that the best suit promises, else the least that may be said. */
  private int bid(List<Integer> bids) {
    long best = SUITS.stream().mapToLong(this::promise).max().orElseThrow();
    return bids.stream()
        .filter(bid -> bid > 0 && best + DARING.getOrDefault(bid, 0L) >= bid * ONE)
        .findFirst()
        .orElse(bids.get(0));
  }

  /** The points to be expected with this suit as trump, item by item. */
  private long promise(int suit) {
    var trumps = hand.stream().filter(card -> isTrump(card, suit)).toList();
    if (trumps.isEmpty()) {
      return 0;
    }
    if (rules.getScoring() == SCORING_POINTS) {
      return trumps.stream().mapToLong(card -> 500_000 + worth(card, suit) * 3 / 5).sum();
    }
    int top = rank(Collections.max(trumps));
    int low = rank(Collections.min(trumps));
    // A card that we do not see is held by another player with this chance; the rest is asleep.
    long others = ONE * hand.size() * (turn.getSeats() - 1);
    long out = Math.min(ONE, others / (PACK.size() - hand.size()));
    long highStands = power(ONE - out, ACE - top);
    long lowStands = power(ONE - out, low - 2);
    long jackWithout = top > JACK ? out * 2 / 5 : 0;
    long jackInHand = top > JACK ? 900_000 : 600_000;
    long jack = count(trumps, card -> rank(card) == JACK) > 0 ? jackInHand : jackWithout;
    int tens = count(hand, card -> rank(card) == TEN);
    int honours = count(hand, card -> rank(card) > TEN);
    long game = Math.min(900_000, 100_000 * (1 + trumps.size() + tens) + 50_000 * honours);
    return highStands + lowStands + jack + game;
  }

  /** Whether the suit of the turned-up card would do as trump. */
  private boolean likesTurnUp() {
    return turn.getTurnUpValue() != 0 && promise(suit(turn.getTurnUpValue())) >= ONE;
  }

  // Play

  /** What playing this card is worth: points times certainty, only to be compared. */
  private long balance(int card) {
    if (trump == NOT_SETTLED && trick.isEmpty()) {
      return promise(suit(card)) + firstLead(card);
    }
    int suit = trump == NOT_SETTLED ? suit(card) : trump;
    long won = chanceOfTrick(card, suit);
    long own = worth(card, suit);
    long table = trick.stream().mapToLong(other -> worth(other, suit)).sum() + toCome(card, suit);
    return won * (table + own) - (ONE - won) * own - ONE * price(card, suit);
  }

  /** Which card of the best suit to pitch: the ace or king; without them a low one. */
  private long firstLead(int card) {
    int high = count(hand, other -> suit(other) == suit(card) && rank(other) >= KING);
    return high > 0 ? 1_000 * rank(card) : -1_000 * rank(card) - 10_000 * pips(card);
  }

  /** The chance that our side wins the trick if we play this card. */
  private long chanceOfTrick(int card, int trump) {
    int winning = trick.isEmpty() ? card : best(trick, other -> strength(other, trump));
    if (strength(card, trump) > strength(winning, trump)) {
      winning = card;
    } else if (winning != card && !isOurs(winning)) {
      return 0;
    }
    int later = turn.getSeats() - trick.size() - 1;
    if (later == 0 || unseen.isEmpty()) {
      return ONE;
    }
    int suit = suit(winning);
    int rank = rank(winning);
    int higher = count(unseen, other -> suit(other) == suit && rank(other) > rank);
    int ruffs = suit == trump ? 0 : count(unseen, other -> isTrump(other, trump));
    // Each seat to come holds this share of them; who can trump does so half of the time.
    long share = Math.min(ONE, ONE * hand.size() / unseen.size());
    long oneStaysBelow = power(ONE - share, higher) * power(ONE - share / 2, ruffs) / ONE;
    return power(oneStaysBelow, later);
  }

  /** What a card can do in this trick: trumps stand above the suit led, that above all others. */
  private int strength(int card, int trump) {
    if (isTrump(card, trump)) {
      return 64 + 2 * rank(card) - (suit(card) == trump ? 0 : 1);
    }
    return trick.isEmpty() || suit(card) == suit(trick.get(0)) ? rank(card) : 0;
  }

  /** What a card brings to the side that wins it. */
  private long worth(int card, int trump) {
    boolean isTrump = isTrump(card, trump);
    if (rules.getScoring() == SCORING_POINTS) {
      return rules.getPointCardsList().stream()
          .filter(row -> isTrump && row.getRank() == rank(card))
          .mapToLong(row -> ONE * row.getPoints())
          .sum();
    }
    boolean isLow = rank(card) < 5 && rules.getLowTo() == LOW_TO_TAKER;
    return PIP * pips(card) + (isTrump && (rank(card) == JACK || isLow) ? ONE : 0);
  }

  /** What the seats that have yet to play may bring; a trump lead makes them part with trumps. */
  private long toCome(int card, int trump) {
    int later = turn.getSeats() - trick.size() - 1;
    return later * (suit(card) == trump && trick.isEmpty() ? 150_000 : 50_000);
  }

  /** What it costs not to have the card any more: trumps and high cards win later tricks. */
  private long price(int card, int trump) {
    if (hand.size() == 1) {
      return 0;
    }
    return isTrump(card, trump) ? 100_000 + 30_000 * rank(card) : 4_000 * rank(card);
  }

  /** The chance that something happens so many times in a row, each product rounded down. */
  private static long power(long chance, int times) {
    long product = ONE;
    for (int i = 0; i < times; i++) {
      product = product * chance / ONE;
    }
    return product;
  }

  // Cards

  /** Whether the card is a trump when this suit is: the left pedro of Cinch is one too. */
  private boolean isTrump(int card, int trump) {
    boolean isPedro = rules.getLeftPedro() && rank(card) == 5;
    return suit(card) == trump || (isPedro && suit(card) == 3 - trump);
  }

  /** The cards that nobody has shown us. */
  private List<Integer> unseenCards() {
    var unseen = new ArrayList<>(PACK);
    unseen.removeAll(hand);
    unseen.removeAll(turn.getDiscardsValueList());
    for (int event : turn.getHistoryList()) {
      if (event >> 16 == EVENT_KIND_PLAY_VALUE || event >> 16 == EVENT_KIND_SHOW_VALUE) {
        unseen.remove((Integer) (event & 255));
      }
    }
    return unseen;
  }

  /** Whether our side has played the card. */
  private boolean isOurs(int card) {
    int sides = turn.getSides();
    return turn.getHistoryList().stream()
        .filter(event -> event >> 16 == EVENT_KIND_PLAY_VALUE && (event & 255) == card)
        .anyMatch(event -> sides > 0 && (event >> 8 & 255) % sides == turn.getSeat() % sides);
  }

  /** The cards that have to be kept, then trumps, then the highest. */
  private List<Integer> keep(Keep keep) {
    int suit = Math.max(trump, 0);
    var trumpsFirst = comparing((Integer card) -> isTrump(card, suit)).thenComparing(Cards::rank);
    var kept = new ArrayList<>(keep.getMustKeepValueList());
    keep.getMayKeepValueList().stream()
        .sorted(trumpsFirst.reversed())
        .limit(keep.getCount() - kept.size())
        .forEach(kept::add);
    return kept;
  }

  /** The first of the choices with the highest value. */
  private static int best(List<Integer> choices, ToLongFunction<Integer> value) {
    return Collections.max(choices, comparingLong(value));
  }
}

package bot;

import java.util.Collection;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/** Cards are numbers, as on the wire: suit << 4 | rank, suits from clubs 0 to spades 3, ace 14. */
final class Cards {
  static final int TEN = 10, JACK = 11, KING = 13, ACE = 14;
  static final List<Integer> SUITS = List.of(0, 1, 2, 3);
  static final List<Integer> PACK =
      IntStream.range(0, 64).filter(card -> rank(card) >= 2 && rank(card) <= ACE).boxed().toList();

  static int suit(int card) {
    return card >> 4;
  }

  static int rank(int card) {
    return card & 15;
  }

  /** What a card counts for Game: ten 10, ace 4, king 3, queen 2, jack 1. */
  static int pips(int card) {
    return rank(card) == TEN ? 10 : Math.max(0, rank(card) - TEN);
  }

  static int count(Collection<Integer> cards, IntPredicate which) {
    return (int) cards.stream().filter(which::test).count();
  }
}

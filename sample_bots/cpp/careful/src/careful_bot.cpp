// Bidding: add up what the hand promises with each suit as trump, and bid the least that takes the
// auction if the best suit promises about as much. Play: weigh for each card the chance that it
// wins the trick against what lies on the table and what the card is worth elsewhere. All in whole
// numbers, millionths of a point and of certainty; of choices worth the same it takes the first.

#include "careful_bot.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "allfours/v1/events.pb.h"

using namespace allfours::v1;
using std::ranges::any_of, std::ranges::count_if;

namespace {

using Points = std::int64_t;
using Cards = google::protobuf::RepeatedField<int>;

constexpr Points kOne = 1'000'000;  // one point, and certainty
constexpr Points kPip = kOne / 25;  // of some 30 pips in play about half decide the point for Game
constexpr int kNotSettled = -1;

// Cards are numbers: suit << 4 | rank, suits from clubs 0 to spades 3, ace 14.
constexpr int kTen = 10, kJack = 11, kKing = 13, kAce = 14, kPack = 52;

constexpr int suit_of(int card) { return card >> 4; }
constexpr int rank_of(int card) { return card & 15; }

/// What a card counts for Game: ten 10, ace 4, king 3, queen 2, jack 1.
constexpr int pips_of(int card) {
  return rank_of(card) == kTen ? 10 : std::max(0, rank_of(card) - kTen);
}

/// By how much the promise may fall short of a bid: a bid also takes the lead away from others.
constexpr Points daring(int bid) { return bid == 2 ? 300'000 : bid == 3 || bid == 4 ? 400'000 : 0; }

/// The chance that something happens so many times in a row, each product rounded down.
constexpr Points power(Points chance, Points times) {
  Points product = kOne;
  while (times-- > 0) product = product * chance / kOne;
  return product;
}

/// One decision.
class Careful {
 public:
  Careful(const Turn& turn, const RuleSet& rules)
      : turn_(turn),
        rules_(rules),
        hand_(turn.hand()),
        trick_(turn.trick()),
        trump_(turn.trump() - 1) {}

  Move move() const {
    const auto by_balance = [this](int card) { return balance(card); };
    const auto by_promise = [this](int suit) { return promise(suit - 1); };
    const Options& options = turn_.options();
    const bool may_give = std::ranges::count(options.calls(), CALL_GIVE) > 0;
    Move move;
    move.set_turn_id(turn_.turn_id());
    switch (turn_.kind()) {
      case TURN_KIND_BID: move.set_bid(bid(options.bids())); break;
      case TURN_KIND_PLAY:
        move.set_card(static_cast<Card>(best(options.cards(), by_balance)));
        break;
      case TURN_KIND_NAME_TRUMP:
        move.set_suit(static_cast<Suit>(best(options.suits(), by_promise)));
        break;
      case TURN_KIND_DISCARD: keep(options.keep(), *move.mutable_kept()); break;
      case TURN_KIND_STAND_OR_BEG: move.set_call(likes_turn_up() ? CALL_STAND : CALL_BEG); break;
      case TURN_KIND_ANSWER_BEG:
        move.set_call(may_give && likes_turn_up() ? CALL_GIVE : CALL_RUN);
        break;
      default:  // A kind of a later version: the referee moves instead.
        break;
    }
    return move;
  }

 private:
  // Bidding

  /// The lowest bid that the best suit promises, else the least that may be said.
  int bid(const Cards& bids) const {
    const Points most = std::max({promise(0), promise(1), promise(2), promise(3)});
    const auto good = [most](int bid) { return bid > 0 && most + daring(bid) >= bid * kOne; };
    const auto found = std::ranges::find_if(bids, good);
    return found == bids.end() ? bids[0] : *found;
  }

  /// The points to be expected with this suit as trump, item by item.
  Points promise(int suit) const {
    std::set<int> trumps;
    std::ranges::copy_if(hand_, std::inserter(trumps, trumps.end()),
                         [&](int card) { return is_trump(card, suit); });
    if (trumps.empty()) return 0;
    if (rules_.scoring() == SCORING_POINTS) {
      Points sum = 0;
      for (int card : trumps) sum += 500'000 + worth(card, suit) * 3 / 5;
      return sum;
    }
    const int top = rank_of(*trumps.rbegin()), low = rank_of(*trumps.begin());
    // A card that we do not see is held by another player with this chance; the rest is asleep.
    const Points others = kOne * hand_.size() * (turn_.seats() - 1);
    const Points out = std::min(kOne, others / (kPack - hand_.size()));
    const Points high_stands = power(kOne - out, kAce - top);
    const Points low_stands = power(kOne - out, low - 2);
    const bool has_jack = any_of(trumps, [](int card) { return rank_of(card) == kJack; });
    const Points jack =
        has_jack ? (top > kJack ? 900'000 : 600'000) : (top > kJack ? out * 2 / 5 : 0);
    const auto tens = count_if(hand_, [](int card) { return rank_of(card) == kTen; });
    const auto honours = count_if(hand_, [](int card) { return rank_of(card) > kTen; });
    const auto length = std::ssize(trumps);
    const Points game = std::min<Points>(900'000, 100'000 * (1 + length + tens) + 50'000 * honours);
    return high_stands + low_stands + jack + game;
  }

  /// Whether the suit of the turned-up card would do as trump.
  bool likes_turn_up() const {
    return turn_.turn_up() && promise(suit_of(turn_.turn_up())) >= kOne;
  }

  // Play

  /// What playing this card is worth: points times certainty, only to be compared.
  Points balance(int card) const {
    if (trump_ == kNotSettled && trick_.empty()) return promise(suit_of(card)) + first_lead(card);
    const int trump = trump_ == kNotSettled ? suit_of(card) : trump_;
    const Points won = chance_of_trick(card, trump), own = worth(card, trump);
    Points table = to_come(card, trump);
    for (int other : trick_) table += worth(other, trump);
    return won * (table + own) - (kOne - won) * own - kOne * price(card, trump);
  }

  /// Which card of the best suit to pitch: the ace or king; without them a low one.
  Points first_lead(int card) const {
    const bool high = any_of(hand_, [card](int other) {
      return suit_of(other) == suit_of(card) && rank_of(other) >= kKing;
    });
    return high ? 1'000 * rank_of(card) : -1'000 * rank_of(card) - 10'000 * pips_of(card);
  }

  /// The chance that our side wins the trick if we play this card.
  Points chance_of_trick(int card, int trump) const {
    int winning = card;
    if (!trick_.empty()) {
      const auto strength_of = [=, this](int other) { return strength(other, trump); };
      const int lying = best(trick_, strength_of);
      if (strength_of(card) <= strength_of(lying)) {
        if (!is_ours(lying)) return 0;
        winning = lying;
      }
    }
    const std::vector<int> unseen = unseen_cards();
    if (later() == 0 || unseen.empty()) return kOne;
    const auto higher = count_if(unseen, [=](int other) {
      return suit_of(other) == suit_of(winning) && rank_of(other) > rank_of(winning);
    });
    const auto trumps = count_if(unseen, [=, this](int other) { return is_trump(other, trump); });
    const auto ruffs = suit_of(winning) == trump ? 0 : trumps;
    // Each seat to come holds this share of them; who can trump does so half of the time.
    const Points share = std::min<Points>(kOne, kOne * hand_.size() / std::ssize(unseen));
    return power(power(kOne - share, higher) * power(kOne - share / 2, ruffs) / kOne, later());
  }

  /// What a card can do in this trick: trumps stand above the suit led, that above all others.
  int strength(int card, int trump) const {
    if (is_trump(card, trump)) return 64 + 2 * rank_of(card) - (suit_of(card) != trump);
    return suit_of(card) == suit_of(trick_[0]) ? rank_of(card) : 0;
  }

  /// What a card brings to the side that wins it.
  Points worth(int card, int trump) const {
    const bool trumps = is_trump(card, trump);
    if (rules_.scoring() == SCORING_POINTS) {
      const auto row = std::ranges::find(rules_.point_cards(), rank_of(card), &RankPoints::rank);
      return trumps && row != rules_.point_cards().end() ? kOne * row->points() : 0;
    }
    const bool scores =
        rank_of(card) == kJack || (rank_of(card) < 5 && rules_.low_to() == LOW_TO_TAKER);
    return kPip * pips_of(card) + (trumps && scores ? kOne : 0);
  }

  /// What the seats that have yet to play may bring; a trump lead makes them part with trumps.
  Points to_come(int card, int trump) const {
    return later() * (suit_of(card) == trump && trick_.empty() ? 150'000 : 50'000);
  }

  /// What it costs not to have the card any more: trumps and high cards win later tricks.
  Points price(int card, int trump) const {
    if (hand_.size() == 1) return 0;
    return is_trump(card, trump) ? 100'000 + 30'000 * rank_of(card) : 4'000 * rank_of(card);
  }

  // Cards

  /// Whether the card is a trump when this suit is: the left pedro of Cinch is one too.
  bool is_trump(int card, int trump) const {
    return suit_of(card) == trump ||
           (rules_.left_pedro() && rank_of(card) == 5 && suit_of(card) == 3 - trump);
  }

  /// How many seats have yet to play to this trick after us.
  int later() const { return static_cast<int>(turn_.seats()) - trick_.size() - 1; }

  /// The cards that nobody has shown us.
  std::vector<int> unseen_cards() const {
    std::uint64_t shown = 0;
    for (int card : hand_) shown |= 1ULL << card;
    for (int card : turn_.discards()) shown |= 1ULL << card;
    for (auto event : turn_.history()) {
      const auto kind = event >> 16;
      if (kind == EVENT_KIND_PLAY || kind == EVENT_KIND_SHOW) shown |= 1ULL << (event & 63);
    }
    std::vector<int> unseen;
    for (int card = 0; card < 64; ++card) {
      const bool is_card = rank_of(card) >= 2 && rank_of(card) <= kAce;
      if (is_card && !(shown >> card & 1)) unseen.push_back(card);
    }
    return unseen;
  }

  /// Whether our side has played the card.
  bool is_ours(int card) const {
    return any_of(turn_.history(), [card, this](auto event) {
      const auto seat = event >> 8 & 255;
      return event >> 16 == EVENT_KIND_PLAY && static_cast<int>(event & 255) == card &&
             turn_.sides() > 0 && seat % turn_.sides() == turn_.seat() % turn_.sides();
    });
  }

  /// The cards that have to be kept, then trumps, then the highest.
  void keep(const Keep& keep, Cards& kept) const {
    const int trump = std::max(trump_, 0);
    std::vector<int> may(keep.may_keep().begin(), keep.may_keep().end());
    std::ranges::stable_sort(may, std::greater{}, [=, this](int card) {
      return std::pair(is_trump(card, trump), rank_of(card));
    });
    may.resize(keep.count() - keep.must_keep_size());
    kept = keep.must_keep();
    kept.Add(may.begin(), may.end());
  }

  /// The first of the choices with the highest value.
  static int best(const Cards& choices, auto value) {
    return *std::ranges::max_element(choices, {}, value);
  }

  const Turn& turn_;
  const RuleSet& rules_;
  const Cards& hand_;
  const Cards& trick_;
  const int trump_;
};

}  // namespace

Move careful_move(const Turn& turn, const RuleSet& rules) { return Careful(turn, rules).move(); }

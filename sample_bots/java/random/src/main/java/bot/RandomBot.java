package bot;

import allfours.v1.Move;
import allfours.v1.Turn;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Plays any legal move, each with the same chance. */
final class RandomBot {
  static Move move(Turn turn) {
    // Chance of its own for every decision: so a game can be played again, whatever the order of
    // turns.
    var decision = turn.getBotSeed() * 1_000_003 + turn.getDecision();
    var random = new SplittableRandom(decision * 1_000_003 + turn.getRetry());
    var options = turn.getOptions();
    var move = Move.newBuilder().setTurnId(turn.getTurnId());
    switch (turn.getKind()) {
      case TURN_KIND_BID -> move.setBid(any(options.getBidsList(), random));
      case TURN_KIND_PLAY -> move.setCardValue(any(options.getCardsValueList(), random));
      case TURN_KIND_NAME_TRUMP -> move.setSuitValue(any(options.getSuitsValueList(), random));
      case TURN_KIND_STAND_OR_BEG, TURN_KIND_ANSWER_BEG ->
          move.setCallValue(any(options.getCallsValueList(), random));
      case TURN_KIND_DISCARD -> {
        var may = new ArrayList<>(options.getKeep().getMayKeepValueList());
        move.addAllKeptValue(options.getKeep().getMustKeepValueList());
        while (move.getKeptCount() < options.getKeep().getCount()) {
          move.addKeptValue(may.remove(random.nextInt(may.size())));
        }
      }
      default -> {} // A kind of a later version: the referee moves instead.
    }
    return move.build();
  }

  private static int any(List<Integer> choices, SplittableRandom random) {
    return choices.get(random.nextInt(choices.size()));
  }
}

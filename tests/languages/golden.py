"""Does a bot decide like the Python careful on all golden turns?

    python -m tests.languages.golden sample_bots/go/careful
    python -m tests.languages.golden sample_bots/go/careful --batch 1 --most 3

The bot must be built. Every difference is printed as the position, with what careful does and what the bot did. The exit
code is 0 if there is none, 1 if there are some, 2 if the bot did not answer all turns.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from referee.bot import Kind, wire
from referee.league.entrants.bot_source import BotSource, find_bot
from tests.languages.golden_file import Golden, golden, in_order, move_text
from tests.languages.recital import Outcome, recite


@dataclass(frozen=True, slots=True)
class Difference:
    """A turn that the bot has answered otherwise than careful."""

    turn: wire.Turn
    careful: wire.Move
    bot: wire.Move | None

    def text(self, file: Golden) -> str:
        """The position, and both moves."""
        turn = file.read(self.turn)
        return f"{turn.rules.name}, {turn}\n  careful {move_text(self.careful)}\n  the bot {move_text(self.bot)}"


def perform(bot: BotSource, file: Golden, batch: int = 64) -> Outcome:
    """The bot's answers to all golden turns."""
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        return asyncio.run(recite(bot, file.joined, file.turns, Path(folder), batch=batch))


def differences(file: Golden, outcome: Outcome) -> Iterator[Difference]:
    """All turns that the bot has answered otherwise."""
    for turn in file.turns:
        found = outcome.moves.get(turn.turn_id)
        if found is None or in_order(found) != file.moves[turn.turn_id]:
            yield Difference(turn, file.moves[turn.turn_id], found)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compares a bot with the Python careful on the golden turns.")
    parser.add_argument("bot", help="the bot's folder, or the name of a sample bot")
    parser.add_argument("--batch", type=int, default=64, help="turns a message (default: 64)")
    parser.add_argument("--most", type=int, default=10, help="differences to print (default: 10)")
    given = parser.parse_args()
    bot, file = find_bot(given.bot, Path.cwd()), golden()
    outcome = perform(bot, file, given.batch)
    sys.stdout.write(report(bot.name, file, outcome, given.most))
    return 2 if outcome.failure else int(any(differences(file, outcome)))


def report(name: str, file: Golden, outcome: Outcome, most: int) -> str:
    """What came of it, with at most so many of the differences."""
    if outcome.failure:
        return f"{name}: {outcome.failure}\nThe end of its log:\n{outcome.words}\n"
    found = list(differences(file, outcome))
    kinds = {kind.name: sum(one.turn.kind == kind for one in found) for kind in Kind}
    rate = len(file.turns) / outcome.seconds
    ending = outcome.exit.sentence if outcome.exit else "It did not end by itself."
    lines = [difference.text(file) + "\n" for difference in found[:most]]
    lines.append(f"{name}: {len(found)} of {len(file.turns):,} turns differ {kinds}")
    lines.append(f"{rate:,.0f} decisions a second in {outcome.messages:,} messages. After Farewell: {ending}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())

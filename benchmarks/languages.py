"""The wire's cost from each language: decisions a second of the same bot, at 1 and at 64 tables, as ratios to Python's.

    python benchmarks/languages.py                # careful in every language that is built (make bots)
    python benchmarks/languages.py --bot random --runs 5

A bot process answers the golden turns (tests/languages) at a real endpoint: one a message, as at one table, and 64 a message,
as at 64 tables. Nothing is judged or recorded, so that what is measured is the bot, its gRPC library, and ours. Runs of
all languages take turns; printed are the medians, and their ratios to Python's in the same runs.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from referee.league.definition.shipped import shipped_folder
from referee.league.entrants.bot_build import unbuilt
from referee.league.entrants.bot_source import BotSource, find_bot
from referee.league.entrants.new_bot import TITLES, languages
from tests.languages.golden_file import golden
from tests.languages.recital import recite

TABLES = {1: 1_000, 64: 10_000}
"""How many turns are asked, by the number of tables."""


def rate(bot: BotSource, tables: int) -> float:
    """Decisions a second of one run; ``SystemExit`` if the bot fails."""
    file = golden()
    with tempfile.TemporaryDirectory(prefix="languages-") as folder:
        turns = file.turns[:: len(file.turns) // TABLES[tables]]
        outcome = asyncio.run(recite(bot, file.joined, turns, Path(folder), batch=tables))
    if outcome.failure:
        raise SystemExit(f"{bot.name}: {outcome.failure}\n{outcome.words}")
    return len(turns) / outcome.seconds


def found(bot: str) -> dict[str, BotSource]:
    """The bot in each language in which it is built; the others are named."""
    bots = {}
    for language in languages():
        source = find_bot(str(shipped_folder("sample_bots") / language / bot), Path.cwd())
        problem = unbuilt(source)
        if problem is None:
            bots[language] = source
        else:
            print(f"left out: {problem}")
    return bots


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description="Decisions a second from each language.")
    parser.add_argument("--bot", default="careful", choices=["random", "careful"])
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    bots = found(given.bot)
    rates: dict[tuple[str, int], list[float]] = {}
    for _ in range(given.runs):
        for language, source in bots.items():
            for tables in TABLES:
                rates.setdefault((language, tables), []).append(rate(source, tables))
    print(f"{given.bot}, decisions a second (median of {given.runs} runs) and as a multiple of Python's:")
    print(f"  {'':12}{'1 table':>20}{'64 tables':>20}")
    for language in bots:
        cells = []
        for tables in TABLES:
            ratios = [one / base for one, base in zip(rates[language, tables], rates["python", tables], strict=True)]
            median, ratio = statistics.median(rates[language, tables]), statistics.median(ratios)
            cells.append(f"{median:>11,.0f} {ratio:>6.2f} x")
        print(f"  {TITLES[language]:12}{''.join(f'{cell:>20}' for cell in cells)}")


if __name__ == "__main__":
    main()

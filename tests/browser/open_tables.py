"""Tables for tests in a browser, opened in a process of their own: bots end with the main thread that has started them, and Playwright has that of the test.

    python -m tests.browser.open_tables

Each line on standard input is JSON: ``folder``, ``game``, ``seat`` and ``practice`` open a table, with packs that are the same each time and a bot
``other.py`` of that folder in the other seats; the answer is its link. ``null`` closes it; the answer is how it ended. Where the input ends, so
does the process.
"""

import json
import queue
import sys
import threading
from pathlib import Path
from typing import Any, Final

from referee.league.league import KnownMaster
from referee.rules import variant
from referee.sandbox import launch
from referee.table.game import TableGame
from referee.table.web import TableSite, serve_table
from tests import warm_start
from tests.table.persons import plan_for

PACKS: Final = KnownMaster(bytes(range(32)), "The packs of the tests.")


def main() -> None:
    launch._spawn = warm_start.spawn
    orders: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read, args=(orders,), daemon=True).start()
    while order := orders.get():
        _play(json.loads(order), orders)


def _read(orders: queue.Queue[str]) -> None:
    for line in sys.stdin:
        orders.put(line)
    orders.put("")
    orders.put("")


def _play(order: dict[str, Any], orders: queue.Queue[str]) -> None:
    """Opens a table and plays until the next line."""
    folder, game = Path(order["folder"]), order["game"]
    low, high = variant(game).players
    plan = plan_for(
        folder / "table.sqlite",
        [str(folder / "other.py")],
        game=game,
        seats=min(max(low, 3), high),
        seat=order["seat"],
        practice=order["practice"],
        known=PACKS,
    )
    played = TableGame(plan)
    site = TableSite(played)

    def stop() -> None:
        orders.get()
        site.stop.set()
        played.stop()

    with played.begun():
        others = [threading.Thread(target=stop), threading.Thread(target=serve_table, args=(site, 0, _tell))]
        for thread in others:
            thread.start()
        played.play()
        for thread in others:
            thread.join()
    _tell("closed" if played.failure is None else f"failed: {played.failure}")


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

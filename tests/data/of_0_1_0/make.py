"""How the leagues of this folder were made, with the code of 0.1.0 (commit 872d1f5): a finished store, a stopped one, an export.

    git worktree add ../old 872d1f5; cd ../old; PYTHONPATH=. python .../make.py FOLDER

They stay as they are: later versions must read them, and find their roots true.
"""

import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from referee.definitions.definition import parse_definition
from referee.entrants.entrants import Entrant, Roster
from referee.seats.house import house
from referee.store import Store
from referee.tournament import league as leagues
from referee.tournament.export import write_export
from referee.tournament.league import read_league
from tests.tournament import inprocess
from tests.tournament.inprocess import at_random, found_league, go_on, league_text, play_league, reneges, stumbles

PLAYERS: dict[str, Any] = {"careful": house, "reneger": reneges, "stumbler": stumbles, "random": at_random}
HOST = {"system": "Linux", "python": "3.11.0", "processors": "2 x86_64", "machine": "", "boot": ""}


def entered(names: Sequence[str]) -> Roster:
    """Entrants with digests, as real ones have."""
    digests = {name: hashlib.sha256(name.encode()).hexdigest() for name in names}
    argv = ("never", "run")
    return Roster(tuple(Entrant(name, name, "1", argv, Path(), digests[name], False, (), None) for name in names))


def main(out: Path) -> None:
    """Makes them in the new folder ``out``."""
    leagues.host = lambda: dict(HOST)
    inprocess.roster = entered
    out.mkdir(parents=True)
    finished = play_league(out / "finished.sqlite", PLAYERS, seats=4, sets=2, length="deal")
    stopped = out / "stopped.sqlite"
    found_league(stopped, parse_definition(league_text(list(PLAYERS), seats=4, length="deal", sets=3)), list(PLAYERS))
    go_on(stopped, PLAYERS, most=6)
    with Store.read(finished) as store:
        facts = store.league()
        write_export(store, read_league(store), out / "export", {})
    published = {name: facts[name] for name in ("commitment", "result_root", "record_root")}
    (out / "published.json").write_text(json.dumps(published, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

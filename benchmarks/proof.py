"""Is careful better than random, and montecarlo better than careful? Plays both leagues and prints the proof.

Run: python benchmarks/proof.py [--workers N] [--write README.md]

The statistical unit is the set: the same packs in every rotation of the seats. The figure is the mean over sets of the
difference in place points a game (the share of opponents beaten, 0 to 1) between the two bots, with Student's 95%
interval. The exit code is 1 if an interval does not lie above zero.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import fmean

from referee.league.definition.shipped import shipped_tournaments
from referee.league.league import League, read_league
from referee.league.standings import closed_sets
from referee.league.store import Store
from referee.statistics.paired import Estimate, estimate
from referee.statistics.results import set_means

PROOFS = (
    ("careful-beats-random", "careful", "random"),
    ("montecarlo-beats-careful", "montecarlo", "careful"),
)
BEGIN, END = "<!-- proof:begin -->\n", "<!-- proof:end -->"


def difference(store: Store, league: League, better: str, worse: str) -> Estimate:
    """The paired difference between two bots over the sets of a league, copies of a bot taken together."""
    names = {entrant.key: entrant.name for entrant in league.entrants}
    differences = []
    for games in closed_sets(store.sets(), store.games()):
        means = set_means(games, "place")
        first, second = (fmean(mean for key, mean in means.items() if names[key] == name) for name in (better, worse))
        differences.append(first - second)
    return estimate(differences)


def main() -> None:
    """Plays the leagues, prints the table, and says by its exit code whether both proofs hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", type=Path, help="file whose proof table is replaced")
    options = parser.parse_args()
    rows, holds = [], True
    for definition, better, worse in PROOFS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "proof.sqlite"
            command = [sys.executable, "-c", "from referee.cli import main; main()", "run"]
            command += [str(shipped_tournaments()[definition]), "--store", str(path)]
            subprocess.run([*command, "--workers", str(options.workers), "--output", "plain"], check=True)
            with Store.read(path) as store:
                found = difference(store, read_league(store), better, worse)
                games = len(store.games())
        if found.mean is None or found.low is None or found.high is None:
            sys.exit(f"{definition}: too few sets for an interval")
        holds = holds and found.low > 0
        interval = f"{found.low:+.3f} to {found.high:+.3f}"
        rows.append(f"| {better} over {worse} | {found.sets} | {games} | {found.mean:+.3f} | {interval} |")
    head = "| difference in place points a game | sets | games | mean | 95% interval |\n|---|---|---|---|---|\n"
    text = head + "\n".join(rows) + "\n"
    print(text)
    if options.write:
        before, _, rest = options.write.read_text("utf-8").partition(BEGIN)
        options.write.write_text(before + BEGIN + text + END + rest.partition(END)[2], "utf-8")
    sys.exit(0 if holds else "at least one interval does not lie above zero")


if __name__ == "__main__":
    main()

"""Whole ladders without processes: who is there is a mapping of names to players, and a round is played with who is there.

ladder = Ladder(tmp_path / "ladder.sqlite", {"a": fallback_move, "b": at_random, "c": at_random, "d": fallback_move})
ladder.play(2)
ladder.come("e", at_random)          # a newcomer, or a new version of a bot that is there
ladder.play()
"""

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from referee.league.definition.definition import Definition, parse_definition
from referee.league.entrants.roster import Roster
from referee.league.ladder import begin_round, close_round
from referee.league.ladder_history import open_round
from referee.league.league import begin, read_league
from referee.league.play.runner import RunOutcome
from referee.league.store import Store
from referee.league.store.league_facts import RoundFacts
from tests.league.inprocess import InProcess, Player, roster


class Ladder:
    """A ladder that is played in process. ``owners`` and ``panel`` are by name; ``versions`` count up when a bot changes."""

    def __init__(
        self,
        path: Path,
        players: Mapping[str, Player],
        *,
        seats: int = 3,
        sets: int = 2,
        extra: int | None = None,
        seed: str | None = "ladder",
        owners: Mapping[str, str] | None = None,
        panel: tuple[str, ...] = (),
    ) -> None:
        self.path, self.players, self.owners, self.panel = path, dict(players), dict(owners or {}), panel
        self.versions = dict.fromkeys(players, 1)
        self.shape = (seats, sets, extra, seed)
        begin(self.definition, self.roster, path, "none", {})

    @property
    def definition(self) -> Definition:
        """The definition as its file stands now."""
        seats, sets, extra, seed = self.shape
        lines = [
            f'[tournament]\nname = "Test ladder"\nvariant = "auction-pitch"\nseats = {seats}',
            f'[schedule]\nformat = "ladder"\nsets = {sets}',
            f"extra = {extra}" if extra is not None else "",
            f'seed = "{seed}"' if seed is not None else "",
        ]
        for name in self.players:
            lines.append(f'[[bots]]\npath = "{name}"')
            lines += [f'owner = "{self.owners.get(name)}"'] * (name in self.owners)
            lines += ["panel = true"] * (name in self.panel)
        return parse_definition("\n".join(lines) + "\n")

    @property
    def roster(self) -> Roster:
        """Its bots, each in its version."""
        made = roster([*self.players]).entrants
        digests = {one.key: sha256(f"{one.key} {self.versions[one.key]}".encode()).hexdigest() for one in made}
        return Roster(tuple(replace(one, version=str(self.versions[one.key]), digest=digests[one.key]) for one in made))

    def come(self, name: str, player: Player, owner: str | None = None) -> None:
        """A bot comes, or comes again as a new version."""
        self.versions[name] = self.versions.get(name, 0) + 1
        self.players[name] = player
        if owner is not None:
            self.owners[name] = owner

    def go(self, name: str) -> Player:
        """A bot is taken out of the definition; its player is returned."""
        return self.players.pop(name)

    def begin(self) -> RoundFacts:
        """Begins the next round."""
        with Store.write(self.path) as store:
            return begin_round(store, read_league(store), self.definition, self.roster).facts

    def go_on(self, most: int = 1 << 30) -> RunOutcome:
        """Plays the open round, or ``most`` games of it; it is closed if it is over."""
        with Store.write(self.path) as store:
            league = read_league(store)
            by_key = {
                one["key"]: self.players[one["bot"]]
                for round_ in league.facts.get("rounds", [])
                for one in round_["entered"]
                if one["bot"] in self.players
            }
            outcome = InProcess(store, by_key, most=most).run()
            if not outcome.open:
                close_round(store, read_league(store))
            return outcome

    def play(self, rounds: int = 1) -> None:
        """Plays whole rounds; one that is open is the first."""
        for _ in range(rounds):
            with Store.read(self.path) as store:
                is_open = open_round(read_league(store)) is not None
            if not is_open:
                self.begin()
            assert not self.go_on().open

    @property
    def rounds(self) -> list[RoundFacts]:
        """The rounds as they are stored."""
        with Store.read(self.path) as store:
            return store.league().get("rounds", [])

"""Plays bad bots in short legs, beside good ones, and gathers what was found of each. It is no bot."""

import asyncio
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import count
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, Final

from referee.bot._turn import Turn as BotTurn
from referee.deals import seeded_master
from referee.umpire.faults import PROFILES, Fault, Profile
from referee.net.games_in_play import GamesInPlay, InProcessPlayer
from referee.umpire.events import TimeLimits
from referee.protocol.translate import turn_message
from referee.umpire.record import Record, result_digest, write_record
from referee.rules import Action, variant
from referee.sandbox.limits import ResourceLimits as BotLimits
from referee.sandbox.command import Command
from referee.umpire.umpire import Umpire
from referee.league.play.event_sink import EventSink
from referee.league.play.leg import Leg
from referee.league.plan import BotPlan, GamePlan, LeaguePlan, log_file
from referee.umpire.view import Turn
from tests.shared import FOLDER as SHARED
from tests.shared import made_once

FOLDER: Final = Path(__file__).parent
GOOD: Final = ("good", "good#2", "good#3")
NO_BOTS: Final = {"raw", "http2", "attacks", "leagues", "test_badbots", "good"}
BOXED: Final = {"snoops", "starts_many_processes", "crashes"}
"""Bad bots that play once more, shut in by bubblewrap."""

A_LEG: Final = 12
"""Bad bots in one leg: more would all start at once."""

STALL: Final = "the referee stalled for "
REPLAYS: Final = 10
"""How often a game is played again that is no contest for a stall of ours, as a league plays it again: a busy machine has many."""

SLOW: Final = TimeLimits(8_000_000, 0, 0)
"""Much for a good bot on a busy machine, and silence costs twice as much."""
PATIENT: Final = TimeLimits(60_000_000, 0, 0)
TIGHT: Final = BotLimits(memory_mib=128, processes=8, descriptors=64, output_total=1 << 20)


@dataclass(frozen=True, slots=True)
class BadBot:
    """A program of this folder with what its first lines say of it."""

    name: str
    sin: str
    verdict: frozenset[str]
    games: str
    says: str
    perhaps: frozenset[str]
    leg: str
    variant: str
    seats: int
    seed: str
    file: str


@dataclass(slots=True)
class Findings:
    """What a leg found. Verdicts are ``FAULT`` or ``FAULT RULE``."""

    verdicts: dict[str, set[str]] = field(default_factory=dict)
    sentences: dict[str, list[str]] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    no_contests: list[str] = field(default_factory=list)
    stalled: set[str] = field(default_factory=set)
    withdrawn: dict[str, str] = field(default_factory=dict)
    logs: dict[str, str] = field(default_factory=dict)
    expected: dict[str, str] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)

    def add(self, entrant: str, verdict: str, sentence: str) -> None:
        self.verdicts.setdefault(entrant, set()).add(verdict)
        self.sentences.setdefault(entrant, []).append(sentence)


class FindingsSink(EventSink):
    """Writes to ``Findings`` what a leg tells."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def finished(self, game: GamePlan, umpire: Umpire, record: Record) -> None:
        self._findings.records[game.fixture_id] = record
        for entry in record["irregular"]:
            verdict = f"{entry['fault']} {entry['rule']}".strip()
            self._findings.add(game.seats[entry["seat"]], verdict, entry["sentence"])

    def no_contest(self, game: GamePlan, reason: str) -> None:
        if reason.startswith(STALL):
            self._findings.stalled.add(game.fixture_id)
        else:
            self._findings.no_contests.append(f"{game.fixture_id}: {reason}")

    def fault(self, entrant: str, fault: Fault, sentence: str, log: Path) -> None:
        self._findings.add(entrant, str(fault), sentence)

    def withdrawn(self, entrant: str, reason: str) -> None:
        self._findings.withdrawn[entrant] = reason


def bad_bots() -> dict[str, BadBot]:
    """All bad bots by name."""
    files = [path for path in FOLDER.iterdir() if path.suffix in {".py", ""} and path.is_file()]
    return {path.stem: _read(path) for path in sorted(files) if path.stem not in NO_BOTS}


def _read(path: Path) -> BadBot:
    text = path.read_text("utf-8")
    head = text.split('"""')[1] if path.suffix == ".py" else "\n".join(re.findall(r"^# ?(.*)$", text, re.MULTILINE))
    said = dict(re.findall(r"^(\w+): (.+)$", head, re.MULTILINE))
    return BadBot(
        name=path.stem,
        sin=head.strip().split("\n\n")[0],
        verdict=_verdicts(said["Verdict"]),
        games=said["Games"],
        says=said.get("Says", ""),
        perhaps=_verdicts(said.get("Perhaps", "none")),
        leg=said.get("Lap", "plain"),
        variant=said.get("Variant", "auction-pitch"),
        seats=int(said.get("Seats", "3")),
        seed=said.get("Seed", ""),
        file=path.name,
    )


def _verdicts(text: str) -> frozenset[str]:
    return frozenset() if text == "none" else frozenset(text.split(", "))


def legs() -> dict[str, list[BadBot]]:
    """The bots that play together, by the name of their leg."""
    groups: dict[str, list[BadBot]] = {}
    for bot in bad_bots().values():
        groups.setdefault(f"{bot.leg} {bot.variant}", []).append(bot)
    groups["boxed auction-pitch"] = [bot for bot in bad_bots().values() if bot.name in BOXED]
    return {
        f"{name} {start // A_LEG}": bots[start : start + A_LEG]
        for name, bots in groups.items()
        for start in range(0, len(bots), A_LEG)
    }


def leg_of(name: str) -> str:
    """The leg in which a bad bot plays."""
    return next(leg for leg, bots in legs().items() if any(bot.name == name for bot in bots))


@cache
def play(leg: str) -> Findings:
    """What a leg found; it is played once in a run of the tests."""
    return made_once(f"bad bots: {leg}", partial(played, leg))


def played(leg: str) -> Findings:
    """Plays a leg."""
    bots = legs()[leg]
    kind = leg.partition(" ")[0]
    plan = plan_of(bots, Path(mkdtemp(prefix="badbots-", dir=os.environ[SHARED])))
    if kind == "slow":
        plan = replace(plan, limits=SLOW, profile=Profile("slow", 0, 2))
    if kind in {"limits", "boxed"}:
        plan = replace(plan, bot_limits=TIGHT)
    if kind == "boxed":
        plan = replace(plan, sandbox="bubblewrap")
    games = games_of(bots, plan)
    findings = Findings(expected={game.fixture_id: expected(plan, game) for game in games if game.set_id == "control"})
    for _ in range(REPLAYS):
        asyncio.run(ImpatientLap(plan, games, FindingsSink(findings), asyncio.Event()).play())
        games = [game for game in games if game.fixture_id in findings.stalled]
        findings.stalled.clear()
        if not games:
            break
    findings.digests = {key: result_digest(record) for key, record in findings.records.items()}
    for key in plan.bots:
        log = log_file(plan.log_dir, key)
        findings.logs[key] = log.read_text("utf-8") if log.exists() else ""
    rmtree(plan.log_dir)
    return findings


class ImpatientLap(Leg):
    """A leg in which good bots have all the time of the world to start, and those that never will have little."""

    async def _admit(self, endpoints: Any, folder: Path) -> None:
        await super()._admit(endpoints, folder)
        for (key, _), supervisor in self._supervisors.items():
            never = key in {"starts_slowly", "speaks_another_protocol"}
            supervisor.start_seconds = 2.0 if never else 60.0  # type: ignore[attr-defined]


def plan_of(bots: Sequence[BadBot], logs: Path) -> LeaguePlan:
    rules = variant(bots[0].variant).with_rules({"max_deals": 8})
    seats = 4 if rules.sides else min(bots[0].seats, rules.players[1])
    good = {key: BotPlan(key=key, version="1", command=_command("good.py")) for key in GOOD}
    bad = {bot.name: BotPlan(key=bot.name, version="1", command=_command(bot.file)) for bot in bots}
    return LeaguePlan(
        league="bad bots",
        master=seeded_master(f"bad bots {bots[0].seed}".strip()),
        rules=rules,
        seats=seats,
        objective="place",
        commitment="",
        bots=good | bad,
        log_dir=logs,
        profile=PROFILES["ranked"],
        limits=PATIENT,
        sandbox="none",
    )


def _command(file: str) -> Command:
    argv = ("python", file) if file.endswith(".py") else (f"./{file}",)
    return Command(argv=argv, folder=FOLDER, name=Path(file).stem, only=(file, "raw.py", "http2.py", "attacks.py"))


def games_of(bots: Sequence[BadBot], plan: LeaguePlan) -> list[GamePlan]:
    """Two games for each bad bot, in two seats, and two control games among good bots."""
    rosters = [(bot.name, *GOOD) for bot in bots] + [("good#3", *GOOD[:2], "good#3")]
    games = []
    for number, (name, *others) in enumerate(rosters):
        set_id = "control" if name == "good#3" else name
        for rotation in (0, 1):
            if plan.rules.sides:
                seats = tuple([name, others[0]] * 2) if not rotation else tuple([others[0], name] * 2)
                slots = (0, 0, 1, 1)
            else:
                line = [name, *others][: plan.seats]
                seats, slots = tuple(line if not rotation else line[::-1]), (0,) * plan.seats
            games.append(
                GamePlan(
                    fixture_id=f"{set_id}-{rotation}",
                    set_id=f"{set_id}{number}",
                    rotation=rotation,
                    seats=seats,
                    slots=slots,
                )
            )
    return [replace(game, set_id="control") if game.fixture_id.startswith("control") else game for game in games]


def expected(plan: LeaguePlan, game: GamePlan) -> str:
    """What comes of a game among good bots where nobody disturbs them: the digest of its result, played in process."""
    ids = count(1)
    umpire = Umpire(plan.spec(game, 1), partial(plan.pack, game), ids.__next__, good_choice)
    GamesInPlay().open(umpire, [InProcessPlayer(good_choice)] * plan.seats)
    return result_digest(write_record(umpire, plan.heading(game)))


def good_choice(turn: Turn) -> Action:
    """What good.py does, in process."""
    asked = BotTurn(turn_message(turn))
    choice = asked.rng.choice(asked.legal)
    return sum(1 << card for card in choice) if isinstance(choice, tuple) else int(choice)

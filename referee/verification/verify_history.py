"""The course of a league verified: entrants, attempts, redeals, void sets, faults and times belong together.

A set is taken out of a league, or dealt anew, for reasons that leave traces: an attempt that came to nothing, a bot that was
withdrawn. Who forges one has to forge the other.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from referee.league.ladder_history import OF_A_VERSION, is_ladder, rounds_of, sets_of_round, voided_with_round
from referee.league.league import League
from referee.league.schedule.schedule import PlannedSet, Schedule
from referee.league.sets_to_play import (
    INTERRUPTED,
    MOST_NO_CONTESTS,
    away_from,
    never_contested,
    withdrawn_early,
    withdrawn_from,
)
from referee.league.store import FaultLine, GameRow, SetRow, Source
from referee.league.store.export_format import FILES, LEAGUE
from referee.league.store.league_facts import (
    PRIVATE,
    AttemptLine,
    CodeVersions,
    EarlierSeason,
    EntrantFacts,
    Host,
    PartnerFacts,
)
from referee.umpire.faults import Fault
from referee.verification.result import Check, Divergence, Findings, object_in, shown

_TIME: Final = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d\.\d{3}\+00:00")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_OUTCOMES: Final = ("SCORED", "NO_CONTEST", "STOPPED")
_FIRST: Final = "0.1.0"
"""The version whose clock could run backwards."""


def check_entrants(league: League, entrants: Mapping[str, Mapping[str, Any]], found: Findings) -> None:
    """Names, copies, digests and commands of the entrants are those of programs or of remote bots, as the definition says."""
    definition = league.definition
    for key, about in entrants.items():
        for claim in _claims_of(key, about, entrants, ladder=is_ladder(league)):
            found.differ(Check.ENTRANT, f"{claim.what} of {shown(key)}", claim.says, claim.should)
        withdrawn = about.get("withdrawn")
        if withdrawn is not None and not (isinstance(withdrawn, str) and withdrawn):
            found.differ(Check.ENTRANT, f"why {shown(key)} was withdrawn", withdrawn, "a reason, or nothing")
    if definition.pairs or is_ladder(league) or any(bot.bots_from is not None for bot in definition.bots):
        return  # who they are follows from the bots' own files, or from the rounds
    entries = [bot for bot in definition.bots for _ in range(bot.copies)]
    found.differ(Check.ENTRANT, "number of entrants", len(entrants), len(entries))
    for (key, about), bot in zip(entrants.items(), entries, strict=False):
        wanted: dict[str, Any] = {"remote": bot.remote, "submitted": False, "wait_s": bot.wait_s if bot.remote else 0}
        wanted |= {"name": bot.name} if bot.name is not None else {}
        wanted |= {"version": bot.version} if bot.version is not None else {}
        for name, should in wanted.items():
            found.differ(Check.ENTRANT, f"{name} of {shown(key)}", about.get(name), should)


class Claim(NamedTuple):
    """What stands in a league of a thing, and what should stand there."""

    what: str
    says: object
    should: object


def _claims_of(key: str, about: Mapping[str, Any], entrants: Mapping[str, Any], *, ladder: bool) -> Iterator[Claim]:
    """What an entrant says of itself."""
    base, _, copy = key.partition("#") if not ladder else (key.partition(OF_A_VERSION)[0], "", "")
    yield Claim("name", about.get("name"), base)
    copied = copy.isdecimal() and str(int(copy)) == copy and int(copy) >= 2 and base in entrants
    if copy:
        yield Claim("number of the copy", copy, copy if copied else "2, 3 ... of an entrant of that name")
    yield Claim("first copy", about.get("copy_of"), base if copy else None)
    local = not about.get("remote")
    digest = about.get("digest")
    sound = isinstance(digest, str) and (_DIGEST.fullmatch(digest) if local or about.get("partner") else digest == "")
    yield Claim("digest", digest, digest if sound else "64 hexadecimal digits" if local else "")
    argv = about.get("argv")
    words = isinstance(argv, list) and all(isinstance(word, str) for word in argv) and bool(argv) is local
    yield Claim("command", argv, argv if words else "a program and its arguments" if local else [])
    yield Claim("folder", about.get("folder") is not None, local)
    partner = about.get("partner")
    yield _no_others(about, EntrantFacts)
    if partner is not None:
        yield _no_others(partner, PartnerFacts)
        yield Claim("partner", partner.get("copy_of") is None or "#" in partner["key"], True)


def _no_others(about: Mapping[str, Any], known: type) -> Claim:
    return Claim("fields that no entrant has", ", ".join(sorted(about.keys() - known.__annotations__.keys())), "")


def check_facts(league: League, schedule: Schedule, sets: Mapping[str, SetRow], found: Findings) -> None:
    """Facts of the league beside its definition: its state, its notes, the seasons that it keeps sets of."""
    facts = league.facts
    unknown = sorted(facts.keys() - FILES[LEAGUE]["properties"].keys() - PRIVATE)
    found.differ(Check.FACTS, "facts that no league has", ", ".join(unknown), "")
    unknown = sorted(object_in(facts, "host").keys() - Host.__annotations__.keys())
    found.differ(Check.FACTS, "facts that no host has", ", ".join(unknown), "")
    state = facts.get("state")
    found.differ(Check.FACTS, "state", state, state if state in ("running", "finished") else "running or finished")
    found.differ(Check.FACTS, "whether it tells of an early end", "ended" in facts, state == "finished")
    if state != "finished":
        for name in ("ended", "standings", "result_root", "record_root", "root_scheme"):
            found.differ(Check.FACTS, f"{name} of a league that is not finished", facts.get(name), None)
    sandbox = facts.get("sandbox")
    found.differ(
        Check.FACTS, "sandbox", sandbox, sandbox if sandbox in ("bubblewrap", "none") else "bubblewrap or none"
    )
    notes = list(facts.get("notes", ()))
    found.differ(Check.FACTS, "notes on the schedule", notes[: len(schedule.notes)], list(schedule.notes))
    found.differ(Check.FACTS, "length of the master", len(league.master), 32)
    code, named = facts.get("code"), object_in(facts, "code").keys() == CodeVersions.__annotations__.keys()
    found.differ(Check.FACTS, "code", code, code if named else "versions of referee, source, house and python")
    seen: set[str] = set()
    for number, entry in enumerate(facts.get("earlier", ()), 1):
        what, ids = f"sets of earlier season {number}", entry["sets"]
        found.differ(Check.FACTS, f"fields of earlier season {number}", sorted(entry), _EARLIER)
        odd = [one for one in ids if one not in sets or one in seen]
        if odd or not ids:
            found.add(
                Divergence(
                    check=Check.FACTS, what=what, says=shown(ids), should="sets of this league, each of one season"
                )
            )
        found.differ(Check.FACTS, f"order of the {what}", ids, sorted(ids))
        seen |= set(ids)


_EARLIER: Final = sorted(EarlierSeason.__annotations__)


def played_with(league: League) -> object:
    """The version of Referee that began the league."""
    return object_in(league.facts, "code").get("referee")


def kept_sets(league: League) -> frozenset[str]:
    """The sets that come from seasons before, with their games and the attempts at these."""
    return frozenset(one for entry in league.facts.get("earlier", ()) for one in entry["sets"])


class HistoryCheck:
    """What happened in a league, from its attempts and faults; ``check`` finds what does not belong together."""

    def __init__(
        self,
        source: Source,
        league: League,
        schedule: Schedule,
        sets: Mapping[str, SetRow],
        games: Sequence[GameRow],
        found: Findings,
    ) -> None:
        """``games`` are all that are stored, those of earlier packs too."""
        self._league, self._sets, self._games, self._found = league, sets, games, found
        self._planned = {planned.id: planned for planned in schedule.sets}
        self._fixtures = {fixture.id: planned for planned in schedule.sets for fixture in planned.fixtures}
        self._entrants = source.entrants()
        self._gone = {key: gone for key, one in self._entrants.items() if (gone := one["withdrawn"])}
        self._attempts = [row for row in source.attempts() if self._is_attempt(row)]
        self._faults = source.faults()
        self._kept = kept_sets(league)
        numbers = [one for one in rounds_of(league) for _ in range(sets_of_round(one))]
        self._round_of = {planned.id: one for planned, one in zip(schedule.sets, numbers, strict=False)}
        self._clocked = played_with(league) != _FIRST
        self._finished = league.facts.get("state") == "finished"

    def check(self) -> None:
        """All of it."""
        self._check_attempts()
        self._check_games()
        self._check_redeals()
        self._check_voids()
        self._check_withdrawals()
        self._check_faults()
        self._check_clock()

    def _odd(self, check: Check, what: str, says: object, should: str) -> None:
        self._found.add(Divergence(check=check, what=what, says=shown(says), should=should))

    def _is_attempt(self, row: AttemptLine) -> bool:
        """Whether it is one that can be looked at: numbers, and a fixture of the schedule."""
        number = shown(row["id"])
        planned = self._fixtures.get(row["fixture_id"])
        if planned is None:
            self._odd(Check.ATTEMPT, f"fixture of attempt {number}", row["fixture_id"], "one of the schedule")
            return False
        most = self._sets[planned.id].redeal if planned.id in self._sets else 0
        if not 0 <= row["redeal"] <= most:
            self._odd(Check.ATTEMPT, f"redeal of attempt {number}", row["redeal"], f"0 to {most}, as its set")
            return False
        return True

    def _check_attempts(self) -> None:
        """Each has a number, an end and a reason as its outcome asks for; none follows after a game has its result."""
        scored: set[tuple[str, int]] = set()
        for place, row in enumerate(self._attempts, 1):
            what, outcome, reason = f"attempt {place}", row["outcome"], row["reason"]
            if row["id"] != place:
                self._odd(Check.ATTEMPT, "number of the next attempt", row["id"], str(place))
                return
            game = (row["fixture_id"], row["redeal"])
            if game in scored:
                self._odd(Check.ATTEMPT, what, "at a game that has its result", "nothing")
            if row["ended"] is None:
                if outcome is not None or reason is not None or self._finished:
                    self._odd(
                        Check.ATTEMPT, f"end of {what}", outcome, "an end, in a finished league or with an outcome"
                    )
            elif outcome not in _OUTCOMES:
                self._odd(Check.ATTEMPT, f"outcome of {what}", outcome, ", ".join(_OUTCOMES))
            elif (outcome == "SCORED") != (reason is None) or reason == "":
                self._odd(Check.ATTEMPT, f"reason of {what}, {outcome}", reason, "one where it was not scored")
            if outcome == "SCORED":
                scored.add(game)

    def _check_games(self) -> None:
        """Each game has the attempt that came to it, and each scored attempt its game."""
        attempts = {
            (row["fixture_id"], row["redeal"]): row["id"] for row in self._attempts if row["outcome"] == "SCORED"
        }
        seen: Counter[tuple[str, int]] = Counter()
        for game in self._games:
            key = (game.fixture_id, game.redeal)
            seen[key] += 1
            if seen[key] == 2:
                self._odd(Check.GAMES, f"game {game.number}", "a second result of its fixture", "nothing")
            if key not in attempts:
                self._odd(Check.ATTEMPT, f"attempt that came to game {game.number}", None, "one that is SCORED")
            elif game.attempt is not None and game.attempt != attempts[key]:
                self._odd(Check.ATTEMPT, f"attempt of game {game.number}", game.attempt, str(attempts[key]))
        for key, number in attempts.items():
            if not seen[key]:
                self._odd(Check.ATTEMPT, f"game of attempt {number}, which is SCORED", None, "a game")

    def _check_redeals(self) -> None:
        """A set is dealt anew only where bots may have seen its packs: after a referee that died, or a remote no contest."""
        evidence: set[tuple[str, int]] = set()
        for row in self._attempts:
            planned = self._fixtures[row["fixture_id"]]
            remote = any(key in self._entrants and self._entrants[key].get("remote") for key in planned.table)
            died = row["outcome"] == "STOPPED" and row["reason"] == INTERRUPTED
            if died or (row["outcome"] == "NO_CONTEST" and remote):
                evidence.add((planned.id, row["redeal"]))
        for one in self._sets.values():
            if one.id in self._kept or one.id not in self._planned:
                continue
            for redeal in range(min(one.redeal, 1000)):
                if (one.id, redeal) not in evidence:
                    self._odd(
                        Check.SETS,
                        f"redeal {redeal + 1} of set {one.id}",
                        "dealt anew",
                        "an attempt that was cut short before",
                    )
                    break
        self._check_order_of_redeals()

    def _check_order_of_redeals(self) -> None:
        """A set is dealt anew when all attempts at its packs before have ended; none of these follows."""
        latest: dict[str, AttemptLine] = {}
        ended: dict[tuple[str, int], str] = {}
        for row in self._attempts:
            set_id = self._fixtures[row["fixture_id"]].id
            if set_id in self._kept:
                continue
            before = latest.get(set_id)
            what = f"redeal of attempt {row['id']}"
            if before is not None and row["redeal"] < before["redeal"]:
                should = f"{before['redeal']} or more, as attempt {before['id']} at its set"
                self._odd(Check.ATTEMPT, what, row["redeal"], should)
                return
            end = max((ended.get((set_id, one), "") for one in range(min(row["redeal"], 1000))), default="")
            if self._clocked and row["started"] < end:
                should = (
                    f"one whose packs were dealt before {row['started']}: it started while those before were played"
                )
                self._odd(Check.ATTEMPT, what, row["redeal"], should)
                return
            latest[set_id] = row
            key = (set_id, row["redeal"])
            ended[key] = max(ended.get(key, ""), row["ended"] or "")

    def _check_voids(self) -> None:
        """A set is void only for a reason that left its traces; one that counts has none."""
        failed: Counter[str] = Counter(row["fixture_id"] for row in self._attempts if row["outcome"] == "NO_CONTEST")
        for row in self._sets.values():
            planned = self._planned.get(row.id)
            if planned is None:
                continue
            if row.state != "VOID":
                if row.reason is not None:
                    self._odd(Check.SETS, f"reason of set {row.id}, {row.state}", row.reason, "nothing")
            elif row.reason and row.reason not in self._reasons(planned, failed):
                self._odd(
                    Check.SETS,
                    f"set {row.id}",
                    f"VOID: {row.reason}",
                    "a withdrawal, no contests or a voided round that are on record",
                )

    def _reasons(self, planned: PlannedSet, failed: Mapping[str, int]) -> Iterator[str]:
        """For what this set may be void."""
        for key in planned.table:
            if key in self._gone:
                yield withdrawn_from(key, self._gone[key])
                yield withdrawn_early(key, self._gone[key])
            if is_ladder(self._league) and key in self._entrants and self._entrants[key].get("remote"):
                told = (row for row in self._faults if (row.entrant, row.fault) == (key, Fault.DISCONNECT))
                yield from (away_from(key, row.sentence) for row in told)
        round_ = self._round_of.get(planned.id)
        if round_ is not None and "voided" in round_ and self._sets[planned.id].games < len(planned.fixtures):
            yield voided_with_round(round_["number"], round_["voided"])
        for fixture in planned.fixtures:
            if failed.get(fixture.id, 0) >= MOST_NO_CONTESTS:
                yield never_contested(fixture.id)

    def _check_withdrawals(self) -> None:
        """Who was withdrawn plays no set any more, and keeps its scored sets only if they are at least half of all."""
        for key in self._gone if self._finished and not is_ladder(self._league) else ():
            own = [self._sets[one.id] for one in self._planned.values() if key in one.table and one.id in self._sets]
            scored = sum(row.state == "SCORED" for row in own)
            if 0 < scored * 2 < len(own):
                says = f"{scored} of {len(own)} sets count"
                self._odd(
                    Check.SETS, f"sets of {shown(key)}, which was withdrawn", says, "none, for it is less than half"
                )

    def _check_faults(self) -> None:
        for number, row in enumerate(self._faults, 1):
            for what, says, sound, should in _of_a_fault(row, self._entrants):
                if not sound:
                    self._odd(Check.FAULTS, f"{what} of fault {number}", says, should)

    def _check_clock(self) -> None:
        """Times are times, and none runs backwards: of an attempt, from one attempt, game or fault to the next."""
        own = [row for row in self._attempts if self._fixtures[row["fixture_id"]].id not in self._kept]
        for row in self._attempts:
            ended = row["ended"]
            for name, time in (("start", row["started"]), ("end", ended)):
                if time is not None and not _TIME.fullmatch(time):
                    self._odd(Check.ATTEMPT, f"{name} of attempt {row['id']}", time, "a time in UTC, with milliseconds")
                    return
            if self._clocked and ended is not None and ended < row["started"]:
                self._odd(Check.ATTEMPT, f"end of attempt {row['id']}", ended, f"{row['started']} or later")
        if not self._clocked:
            return
        self._ascending("start of attempt", [(row["id"], row["started"]) for row in own])
        ends = {(row["fixture_id"], row["redeal"]): row["ended"] for row in own if row["outcome"] == "SCORED"}
        stored = [(game.number, ends.get((game.fixture_id, game.redeal))) for game in self._games]
        self._ascending("end of game", [(number, time) for number, time in stored if time is not None])
        self._ascending("time of fault", [(number, row.at) for number, row in enumerate(self._faults, 1)])

    def _ascending(self, what: str, times: Sequence[tuple[int, str]]) -> None:
        for (_, before), (number, after) in pairwise(times):
            if after < before:
                self._odd(Check.ATTEMPT, f"{what} {number}", after, f"{before} or later")
                return


def _of_a_fault(row: FaultLine, entrants: Mapping[str, Any]) -> Iterator[tuple[str, object, bool, str]]:
    yield "time", row.at, bool(_TIME.fullmatch(row.at)), "a time in UTC, with milliseconds"
    yield "entrant", row.entrant, row.entrant in entrants, "an entrant"
    yield "kind", row.fault, row.fault in tuple(Fault), "one of the fault table"
    yield "sentence", row.sentence, bool(row.sentence), "what happened"

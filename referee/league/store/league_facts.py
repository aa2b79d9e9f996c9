"""What is kept of a league, one definition each: its facts, its entrants, and every line of its store and of its export.

A store holds these values as JSON or as columns, an export as the lines of its files. The JSON Schema of an export, what a
reader accepts, and the tables of docs/records.md all follow from the types and their annotations here: a text is the meaning of
the field, a dictionary what JSON Schema calls its keywords. ``NotRequired`` is what may be lacking.

What was read is of the right type at its top, field by field; what lies deeper (``code``, ``host``, ``standings``) is taken on
trust by everybody but ``referee.verification``.
"""

import os
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Final, NotRequired, TypedDict, cast

from referee.umpire.record import Record

Count = Annotated[int, {"minimum": 0}]
Number = Annotated[int, {"minimum": 1}]
Digest = Annotated[str, {"pattern": "^[0-9a-f]{64}$"}]
FixtureId = Annotated[str, "The game's fixture: the set's id, a dash, the rotation."]
Redeal = Annotated[Count, "0, and one more each time the set's packs were dealt anew."]


class CodeVersions(TypedDict):
    """The program that began a league."""

    referee: Annotated[str, "The version of Referee."]
    source: Annotated[str, "SHA-256 over its files."]
    house: Annotated[int, "The version of the fallback player, who plays on for a forfeited seat."]
    python: Annotated[str, "The version of Python."]


class Host(TypedDict):
    """The machine that played; ``machine`` and ``boot`` tell it from others, and are never exported."""

    system: str
    python: str
    processors: str
    machine: NotRequired[str]
    boot: NotRequired[str]


class EarlierSeason(TypedDict):
    """Where sets come from that are kept from a season before: the master of their packs."""

    master: str
    commitment: str
    digest: str
    sets: list[str]


class EarlyEnd(TypedDict):
    """That a league ended before its schedule did: after how many sets, and why."""

    sets: int
    reason: str


class PublicFacts(TypedDict):
    """What is fixed for the league."""

    name: Annotated[str, "The league's name."]
    definition: Annotated[dict[str, Any], "The frozen definition, every field with its value."]
    digest: Annotated[Digest, "SHA-256 of the definition."]
    rules: Annotated[dict[str, Any], "Every house rule of the game that was played."]
    master: Annotated[Digest, "The revealed master from which all packs follow, in hexadecimal."]
    seeded: Annotated[bool, "Whether the master follows from the seed in the definition."]
    commitment: Annotated[Digest, "What was published before the first deal."]
    code: Annotated[
        CodeVersions,
        "Versions: referee, with a digest of its files (source); house, who plays on for a forfeited seat; python.",
    ]
    host: Annotated[Host, "The machine that played: system, processors, python."]
    sandbox: Annotated[str, "How bots were shut in."]
    state: Annotated[str, "running or finished."]
    standings: NotRequired[Annotated[dict[str, Any], "The standings at the end, in full."]]
    result_root: NotRequired[Annotated[Digest, "Root over all results."]]
    record_root: NotRequired[Annotated[Digest, "Root over everything that is exported."]]
    root_scheme: NotRequired[
        Annotated[str, "How the record root is made; without it, as in 0.1.0: over the records alone."]
    ]
    notes: Annotated[list[str], "Sentences about the schedule and the entrants."]
    skipped: Annotated[
        list[tuple[str, str]], "Submissions that did not take part: the path of each, and an empty text."
    ]
    earlier: Annotated[
        list[EarlierSeason],
        "Of sets that are kept from seasons before: master, commitment, digest and sets of each.",
    ]
    ended: NotRequired[Annotated[EarlyEnd | None, "After how many sets the league ended early, and why."]]
    cluster: NotRequired[Annotated[bool, "Whether workers elsewhere played; in the exports of 0.1.0 alone."]]


class NewOnLadder(TypedDict):
    """A bot in one version, as it entered a ladder."""

    key: Annotated[str, "The entrant."]
    bot: Annotated[str, "The bot, whose versions share this name."]
    owner: Annotated[str, "Whose it is; empty for a bot without an owner."]
    panel: Annotated[bool, "Whether it is of the panel."]


class AimedTables(TypedDict):
    """Tables of a round that follow one another and are aimed at the same bots."""

    aimed: Annotated[list[str], "At whom: nobody in the balanced part, a newcomer, or a pair.", {"maxItems": 2}]
    sets: Annotated[Number, "How many tables; each has one set."]


class RoundFacts(TypedDict):
    """A round of a ladder: what was fixed before its master was drawn, and what followed from that."""

    number: Annotated[int, "Its number, from 1."]
    entered: Annotated[list[NewOnLadder], "Who entered with it, in this order."]
    bots: Annotated[list[str], "Who plays, in the order in which they entered."]
    placed: Annotated[list[str], "Newcomers that are placed in this round."]
    pairs: Annotated[list[list[str]], "At which pairs the extra tables are aimed, one entry a table."]
    digest: Annotated[str, "SHA-256 over all of that, with the versions of the bots, and the definition."]
    commitment: Annotated[str, "SHA-256 over the master and that digest, published before the first deal."]
    master: Annotated[Digest, "From which its chairs and packs follow; revealed when it is closed."]
    tables: Annotated[list[AimedTables], "Its tables, in schedule order."]
    result_root: NotRequired[Annotated[str, "Root over all results up to its end; a round without one is open."]]
    voided: NotRequired[Annotated[str, "Why what was open of it was voided, if somebody did so."]]


class ArchivedRecords(TypedDict):
    """Records of old rounds of a ladder that lie in a file of their own."""

    file: Annotated[str, "The name of the file."]
    digest: Annotated[Digest, "SHA-256 of the file."]
    first_round: Annotated[Number, "The first of its rounds."]
    last_round: Annotated[Number, "The last of its rounds."]
    first_game: Annotated[Number, "The number of the first game that has its record there."]
    last_game: Annotated[Number, "The number of the last."]


class LadderFacts(PublicFacts):
    """What is fixed for the league."""

    rounds: NotRequired[Annotated[list[RoundFacts], "Of a ladder: its rounds, in order."]]
    frozen: NotRequired[Annotated[int, "Of a ladder: after which round no bot and no version could enter any more."]]


class LeagueFacts(LadderFacts):
    """The facts of a league as its store has them: those that are exported, and those that are private to its machine."""

    folder: Annotated[str, "The folder of the definition, from which the paths of its bots count."]
    file: NotRequired[Annotated[str, "The file that the definition was read from."]]
    tokens: NotRequired[Annotated[dict[str, str], "The tokens of the remote bots, by entrant."]]
    paused: NotRequired[Annotated[bool, "Of a ladder: whether no round may begin."]]
    archives: NotRequired[
        Annotated[
            list[ArchivedRecords],
            "Of a ladder: where the records of old rounds lie, oldest first; files as paths from the folder of the store.",
        ]
    ]


PRIVATE: Final = frozenset(LeagueFacts.__annotations__.keys() - LadderFacts.__annotations__.keys() | {"cluster"})
"""Facts of a league that are never exported; 0.1.0 exported ``cluster`` too."""

ROOTS: Final = frozenset({"result_root", "record_root", "root_scheme"})
"""Facts of a league that are not under the record root: they are it, or say how it is made."""


class EntrantKey(TypedDict):
    """What an entrant is known by."""

    key: Annotated[str, "Its name in the league: what all other files call it."]


class BotFacts(TypedDict):
    """What is known of a bot when it enters."""

    name: Annotated[str, "The bot's name."]
    version: Annotated[str, "The bot's version."]
    digest: Annotated[str, "SHA-256 over the bot's files; empty for a remote bot."]
    argv: Annotated[list[str], "The command that starts it, without the folders of the machine."]
    folder: Annotated[str | None, "The name of its folder."]
    remote: Annotated[bool, "Whether it dialled in from elsewhere."]
    submitted: Annotated[bool, "Whether it came in by a pattern: a program of somebody else."]
    copy_of: Annotated[str | None, "Of a further copy of a bot, the name of the first."]
    environment: NotRequired[Annotated[dict[str, str], "Variables that were set for it, if any."]]
    cwd: NotRequired[Annotated[str, "Where in its folder it ran, if not at its top."]]
    variants: Annotated[list[str], "The games that it says it plays; none = all."]
    description: Annotated[str, "What its author says of it."]
    wait_s: Annotated[Count, "Seconds that a remote bot may take to dial in."]
    partner: NotRequired[
        Annotated[
            "PartnerFacts",
            "In a pair of two bots, the one at the other seat of the side; version and digest are of both.",
        ]
    ]


class PartnerFacts(EntrantKey, BotFacts):
    """The second bot of a pair."""


class EntrantFacts(BotFacts):
    """What a store has of an entrant: the bot as it entered, and whether it stayed."""

    withdrawn: Annotated[str | None, "Why it left the league, if it did."]


class EntrantLine(EntrantKey, EntrantFacts):
    """An entrant, in the order of entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRow:
    """A set, in schedule order."""

    id: Annotated[str, "Digest of its entrants with their versions, and of its number."]
    position: Annotated[Count, "Its place in the schedule, from 0."]
    redeal: Redeal
    state: Annotated[str, "Whether it counts.", {"enum": ["OPEN", "SCORED", "VOID"]}]
    reason: Annotated[str | None, "Why it is void."]
    chain: Annotated[Digest, "Head of its hash chain."]
    games: Annotated[Count, "Games in that chain."]


@dataclass(frozen=True, slots=True)
class FixtureRow:
    """A game that the schedule has, set by set."""

    id: FixtureId
    set_id: Annotated[str, "Its set."]
    rotation: Annotated[Count, "Its rotation."]
    seats: Annotated[tuple[str, ...], "The entrant at each seat."]


class GameSummary(TypedDict):
    """What the standings need of a finished game. Figures are by seat; times are the only ones that are measured."""

    set: Annotated[str, "Its set."]
    entrants: Annotated[list[str], "The entrant at each seat."]
    sides: Annotated[int, "How many sides share the seats; 0 = each seat plays for itself."]
    winner: Annotated[int | None, "The side that won, if one did."]
    reason: Annotated[str, "Why the game ended."]
    deals: Annotated[int, "Deals that were dealt."]
    decisions: Annotated[int, "Decisions that were made."]
    places: Annotated[list[int], "The place of each seat, 1 the best."]
    stakes: Annotated[list[int], "What each seat won or paid."]
    points: Annotated[list[int], "The final score of each seat's side."]
    forfeits: Annotated[list[int], "The seats that forfeited, in that order."]
    bids_made: Annotated[list[int], "Contracts that each seat made."]
    bids_set_back: Annotated[list[int], "Contracts for which each seat was set back."]
    illegal: Annotated[list[int], "Illegal and malformed answers of each seat."]
    time_outs: Annotated[list[int], "Decisions that came too late, by seat."]
    lost: Annotated[list[int], "Other faults of each seat."]
    times: Annotated[
        list[dict[str, int]], "The times of each seat's answers, counted in buckets (`summary.histogram`)."
    ]
    house: NotRequired[
        Annotated[list[list[float]], "Of a game of one deal: what fallback players got from each seat of its pack."]
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRow:
    """A finished game, in the order in which they were stored.

    An export of 0.1.0 does not tell the attempt.
    """

    number: Annotated[Number, "Its number, from 1."]
    fixture_id: FixtureId
    redeal: Redeal
    attempt: Annotated[int | None, "The attempt that came to this result.", {"minimum": 1}] = None
    record_digest: Annotated[Digest, "SHA-256 of its record."]
    result_digest: Annotated[Digest, "SHA-256 of its record without times."]
    summary: Annotated[GameSummary, "What the standings need: places, stakes, points, counts, decision times."]


class RecordLine(TypedDict):
    """The record of a game, in the same order."""

    number: Annotated[Number, "The number of the game."]
    record: Annotated[Record, "The record, as on this page: every input of the umpire."]


class RulingLine(TypedDict):
    """A ruling of a game; of games that do not count too."""

    game: Annotated[Number, "The number of the game."]
    fixture_id: FixtureId
    redeal: Redeal
    number: Annotated[Count, "Its place among the rulings of the game, from 0."]
    entrant: Annotated[str, "Against whom."]
    seat: Annotated[Count, "At which seat, from 0."]
    step: Annotated[Count, "After how many decisions of the game."]
    fault: Annotated[str, "The fault."]
    rule: Annotated[str, "The clause; empty where none was broken."]
    sentence: Annotated[str, "What happened, in words."]
    consequence: Annotated[str, "What followed."]


class AttemptLine(TypedDict):
    """One go at a game; a game that was no contest has several."""

    id: Annotated[Number, "Its number."]
    fixture_id: FixtureId
    redeal: Redeal
    started: Annotated[str, "When, in UTC."]
    ended: Annotated[str | None, "When it ended."]
    outcome: Annotated[str | None, "SCORED, NO_CONTEST or STOPPED."]
    reason: Annotated[str | None, "Why it was not scored."]


@dataclass(frozen=True, slots=True)
class FaultLine:
    """Something that happened to a bot outside any single decision."""

    at: Annotated[str, "When, in UTC."]
    entrant: Annotated[str, "To whom."]
    fault: Annotated[str, "The fault."]
    sentence: Annotated[str, "What happened, in words."]


@dataclass(frozen=True, slots=True)
class FaultRow(FaultLine):
    """The same in a store, with the path of the log; a log is never exported."""

    log: str


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """A finished game about to be stored: its attempt, fixture, redeal, record and summary."""

    attempt: int
    fixture: FixtureRow
    redeal: int
    record: Record
    summary: GameSummary


def field_names(kind: type) -> tuple[str, ...]:
    """The fields of one of these types, in their order."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else tuple(kind.__annotations__)


_EXPORTED_HOST: Final = ("system", "python", "processors")


def public_facts(facts: LeagueFacts) -> PublicFacts:
    """What is fixed for a league, without what is private to one machine: tokens, folders, machine ids."""
    public: dict[str, Any] = {key: value for key, value in facts.items() if key not in PRIVATE}
    if isinstance(host := public.get("host"), dict):
        public["host"] = {name: host[name] for name in _EXPORTED_HOST if name in host}
    if "skipped" in public:
        public["skipped"] = [[path, ""] for path, _ in facts["skipped"]]  # the reasons name folders
    return cast("PublicFacts", public)


def entrant_line(key: str, about: EntrantFacts) -> EntrantLine:
    """An entrant as it is exported: without the folders of our machine."""
    return cast("EntrantLine", _public_bot(key, about))


def _public_bot(key: str, about: BotFacts) -> dict[str, Any]:
    argv = [Path(word).name if os.path.isabs(word) else word for word in about["argv"]]  # noqa: PTH117  # a word, no path yet
    public = {"key": key, **about, "argv": argv, "folder": about["folder"] and Path(about["folder"]).name}
    if partner := about.get("partner"):
        public["partner"] = _public_bot(partner["key"], partner)
    return public

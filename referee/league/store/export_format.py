"""The form of an exported league: which files there are, and what each line holds, as JSON Schema.

Another field, or one that changes its meaning or goes, makes another ``FORMAT``: whatever stands in an export is checked, so
nothing may stand there that nobody knows.
"""

import json
from typing import Any, Final

FORMAT: Final = "allfours-export/2"

FIRST_FORMAT: Final = "allfours-export/1"
"""That of Referee 0.1.0, which is read too: games do not name their attempt, superseded games have no rulings."""

MANIFEST: Final = "export.json"
LEAGUE: Final = "league.json"

Schema = dict[str, Any]


def _of(kind: str | list[str], meaning: str, **more: Any) -> Schema:
    return {"type": kind, "description": meaning, **more}


def _texts(meaning: str) -> Schema:
    return _of("array", meaning, items={"type": "string"})


def _line(meaning: str, optional: tuple[str, ...] = (), **fields: Schema) -> Schema:
    needed = [name for name in fields if name not in optional]
    return {"type": "object", "description": meaning, "properties": fields, "required": needed}


_OR_NONE: Final = ["string", "null"]
_FIXTURE: Final = _of("string", "The game's fixture: the set's id, a dash, the rotation.")
_REDEAL: Final = _of("integer", "0, and one more each time the set's packs were dealt anew.", minimum=0)
_DIGEST: Final = {"pattern": "^[0-9a-f]{64}$"}

FILES: Final[dict[str, Schema]] = {
    MANIFEST: _line(
        "What this folder is, and the commands that check it and play it again.",
        ("files",),
        format=_of("string", "The version of the form.", const=FORMAT),
        league=_of("string", "The league's name."),
        written_by=_of("string", "The version of Referee that wrote the folder."),
        files=_of("object", "SHA-256 of each further file: the schema, the definition, the tables."),
        rows=_of("object", "How many lines each JSONL file has.", additionalProperties={"type": "integer"}),
        verify=_of("string", "The command that checks everything."),
        rerun=_of("string", "The command that plays the league again with the same packs."),
    ),
    LEAGUE: _line(
        "What is fixed for the league.",
        ("standings", "result_root", "record_root", "root_scheme", "ended", "cluster"),
        name=_of("string", "The league's name."),
        definition=_of("object", "The frozen definition, every field with its value."),
        digest=_of("string", "SHA-256 of the definition.", **_DIGEST),
        rules=_of("object", "Every house rule of the game that was played."),
        master=_of("string", "The revealed master from which all packs follow, in hexadecimal.", **_DIGEST),
        seeded=_of("boolean", "Whether the master follows from the seed in the definition."),
        commitment=_of("string", "What was published before the first deal.", **_DIGEST),
        code=_of(
            "object",
            "Versions: referee, with a digest of its files (source); house, who plays on for a forfeited seat; python.",
        ),
        host=_of("object", "The machine that played: system, processors, python."),
        sandbox=_of("string", "How bots were shut in."),
        state=_of("string", "running or finished."),
        standings=_of("object", "The standings at the end, in full."),
        result_root=_of("string", "Root over all results.", **_DIGEST),
        record_root=_of("string", "Root over everything that is exported.", **_DIGEST),
        root_scheme=_of("string", "How the record root is made; without it, as in 0.1.0: over the records alone."),
        notes=_texts("Sentences about the schedule and the entrants."),
        skipped=_of("array", "Submissions that did not take part: the path of each, and an empty text."),
        earlier=_of("array", "Of sets that are kept from seasons before: master, commitment, digest and sets of each."),
        ended=_of(["object", "null"], "After how many sets the league ended early, and why."),
        cluster=_of("boolean", "Whether workers elsewhere played; in the exports of 0.1.0 alone."),
    ),
    "entrants.jsonl": _line(
        "An entrant, in the order of entry.",
        ("partner", "environment", "cwd"),
        key=_of("string", "Its name in the league: what all other files call it."),
        name=_of("string", "The bot's name."),
        version=_of("string", "The bot's version."),
        digest=_of("string", "SHA-256 over the bot's files; empty for a remote bot."),
        argv=_texts("The command that starts it, without the folders of the machine."),
        folder=_of(_OR_NONE, "The name of its folder."),
        remote=_of("boolean", "Whether it dialled in from elsewhere."),
        submitted=_of("boolean", "Whether it came in by a pattern: a program of somebody else."),
        copy_of=_of(_OR_NONE, "Of a further copy of a bot, the name of the first."),
        environment=_of("object", "Variables that were set for it, if any.", additionalProperties={"type": "string"}),
        cwd=_of("string", "Where in its folder it ran, if not at its top."),
        variants=_texts("The games that it says it plays; none = all."),
        description=_of("string", "What its author says of it."),
        wait_s=_of("integer", "Seconds that a remote bot may take to dial in.", minimum=0),
        withdrawn=_of(_OR_NONE, "Why it left the league, if it did."),
        partner=_of(
            "object", "In a pair of two bots, the one at the other seat of the side; version and digest are of both."
        ),
    ),
    "sets.jsonl": _line(
        "A set, in schedule order.",
        id=_of("string", "Digest of its entrants with their versions, and of its number."),
        position=_of("integer", "Its place in the schedule, from 0.", minimum=0),
        redeal=_REDEAL,
        state=_of("string", "Whether it counts.", enum=["OPEN", "SCORED", "VOID"]),
        reason=_of(_OR_NONE, "Why it is void."),
        chain=_of("string", "Head of its hash chain.", **_DIGEST),
        games=_of("integer", "Games in that chain.", minimum=0),
    ),
    "fixtures.jsonl": _line(
        "A game that the schedule has, set by set.",
        id=_FIXTURE,
        set_id=_of("string", "Its set."),
        rotation=_of("integer", "Its rotation.", minimum=0),
        seats=_texts("The entrant at each seat."),
    ),
    "games.jsonl": _line(
        "A finished game, in the order in which they were stored.",
        ("attempt",),
        number=_of("integer", "Its number, from 1.", minimum=1),
        fixture_id=_FIXTURE,
        redeal=_REDEAL,
        attempt=_of("integer", "The attempt that came to this result.", minimum=1),
        record_digest=_of("string", "SHA-256 of its record.", **_DIGEST),
        result_digest=_of("string", "SHA-256 of its record without times.", **_DIGEST),
        summary=_of("object", "What the standings need: places, stakes, points, counts, decision times."),
    ),
    "records.jsonl": _line(
        "The record of a game, in the same order.",
        number=_of("integer", "The number of the game.", minimum=1),
        record=_of("object", "The record, as on this page: every input of the umpire."),
    ),
    "rulings.jsonl": _line(
        "A ruling of a game; of games that do not count too.",
        game=_of("integer", "The number of the game.", minimum=1),
        fixture_id=_FIXTURE,
        redeal=_REDEAL,
        number=_of("integer", "Its place among the rulings of the game, from 0.", minimum=0),
        entrant=_of("string", "Against whom."),
        seat=_of("integer", "At which seat, from 0.", minimum=0),
        step=_of("integer", "After how many decisions of the game.", minimum=0),
        fault=_of("string", "The fault."),
        rule=_of("string", "The clause; empty where none was broken."),
        sentence=_of("string", "What happened, in words."),
        consequence=_of("string", "What followed."),
    ),
    "attempts.jsonl": _line(
        "One go at a game; a game that was no contest has several.",
        id=_of("integer", "Its number.", minimum=1),
        fixture_id=_FIXTURE,
        redeal=_REDEAL,
        started=_of("string", "When, in UTC."),
        ended=_of(_OR_NONE, "When it ended."),
        outcome=_of(_OR_NONE, "SCORED, NO_CONTEST or STOPPED."),
        reason=_of(_OR_NONE, "Why it was not scored."),
    ),
    "faults.jsonl": _line(
        "Something that happened to a bot outside any single decision.",
        at=_of("string", "When, in UTC."),
        entrant=_of("string", "To whom."),
        fault=_of("string", "The fault."),
        sentence=_of("string", "What happened, in words."),
    ),
}
"""Each file of JSON with the schema of the whole, or of each line where the name ends in ``.jsonl``."""


_KINDS: Final = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}


def misfit(name: str, field: str, value: object) -> str:
    """What a field of a file needs instead of this value, such as ``string or null``; empty if it is of the right type."""
    kinds = FILES[name]["properties"][field]["type"]
    kinds = [kinds] if isinstance(kinds, str) else kinds
    allowed = tuple(one for kind in kinds for one in _KINDS[kind])
    sound = isinstance(value, allowed) and (not isinstance(value, bool) or bool in allowed)
    return "" if sound else " or ".join(kinds)


def dumped(value: object) -> bytes:
    """The bytes of the files that are one JSON object each: sorted keys, a line for each value."""
    try:
        return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:  # names of files in another encoding
        return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()


def export_schema() -> Schema:
    """The JSON Schema (2020-12) of an export: a definition for each file, by its name."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An exported league",
        "description": f"{FORMAT}: each file of JSON, or each line of a JSONL file, by the definition of its name.",
        "$defs": FILES,
    }

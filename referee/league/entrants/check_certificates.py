"""Receipts: which bots have passed ``referee check`` under the rules of a tournament.

They stand in ``NAME.checked.json`` beside the definition ``NAME.toml``, one for each bot by the digest of its files and
that of the rules, so that a bot or a house rule that was changed since has no receipt any more.
"""

import datetime as dt
import hashlib
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import referee
from referee.league.definition.definition import Definition, DefinitionError
from referee.league.definition.problems import Problem, plain, shown
from referee.league.definition.toml_file import read_text, write_text
from referee.league.entrants.roster import Entrant, Roster, Skipped
from referee.rules import RuleSet

FORMAT: Final = "allfours-checked/1"
_LARGEST: Final = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCertificate:
    """A passed check. ``rules`` is the digest of the house rules and the number of seats."""

    bot: str
    name: str
    version: str
    rules: str
    exercised: int
    edition: str
    referee: str
    at: str


def rules_digest(rules: RuleSet, seats: int) -> str:
    """SHA-256, in hexadecimal, over all house rules and the number of seats."""
    text = json.dumps([rules.as_dict(), seats], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def receipt(
    entrant_digest: str, name: str, version: str, definition: Definition, exercised: int, edition: str
) -> CheckCertificate:
    """The receipt for a check that was passed now."""
    rules = rules_digest(definition.rule_set(), definition.tournament.seats)
    at = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    return CheckCertificate(
        bot=entrant_digest,
        name=name,
        version=version,
        rules=rules,
        exercised=exercised,
        edition=edition,
        referee=referee.__version__,
        at=at,
    )


def receipts_path(definition_file: Path) -> Path:
    """Where the receipts of a definition stand."""
    return definition_file.with_suffix(".checked.json")


def read_receipts(path: Path) -> list[CheckCertificate]:
    """The receipts in a file, none if it is not there; ``ProblemsError`` if it is garbled or cannot be read."""
    if not os.path.lexists(path):
        return []
    text = read_text(path, _LARGEST, "submit the bots again with referee submit")
    try:
        data = json.loads(text)
        found = [CheckCertificate(**entry) for entry in data["checked"]] if data["format"] == FORMAT else None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _garbled(path, str(error)) from None
    if found is None:
        raise _garbled(path, f"format {data['format']!r}")
    return found


def _garbled(path: Path, found: str) -> DefinitionError:
    remedy = "delete it, and submit the bots again with referee submit"
    return DefinitionError(
        [
            Problem(
                file=plain(str(path)), line=0, field="the receipts", found=shown(found), allowed=FORMAT, remedy=remedy
            )
        ]
    )


def add_receipt(path: Path, new: CheckCertificate) -> None:
    """Writes a receipt to the file; an earlier one for the same bot and rules gives way."""
    kept = [one for one in read_receipts(path) if (one.bot, one.rules) != (new.bot, new.rules)]
    entries: list[dict[str, Any]] = [
        {name: getattr(one, name) for name in CheckCertificate.__slots__} for one in (*kept, new)
    ]
    text = json.dumps({"format": FORMAT, "checked": entries}, indent=1) + "\n"
    write_text(path, text)


def has_receipt(path: Path, digest: str, definition: Definition) -> bool:
    """Whether a bot of that digest has passed the check that a definition demands: its rules and seats."""
    rules = rules_digest(definition.rule_set(), definition.tournament.seats)
    return any((one.bot, one.rules) == (digest, rules) for one in read_receipts(path))


def only_checked(definition: Definition, roster: Roster, definition_file: Path) -> Roster:
    """The roster without bots that were not checked, where ``[policy] checked = true``.

    Submissions without a receipt are skipped; any other bot without one is a ``DefinitionError``.
    """
    if not definition.policy.checked:
        return roster
    rules = rules_digest(definition.rule_set(), definition.tournament.seats)
    known = {one.bot for one in read_receipts(receipts_path(definition_file)) if one.rules == rules}
    lacking = [one for one in roster.entrants if one.remote or one.digest not in known]
    invited = [one for one in lacking if not one.submitted and one.copy_of is None]
    if invited:
        raise DefinitionError([_problem(definition, one, definition_file) for one in invited])
    skipped = [
        Skipped(plain(str(one.folder)), f"it was never checked as it is now: {_remedy(one, definition_file)}")
        for one in lacking
        if one.copy_of is None
    ]
    left = tuple(one for one in roster.entrants if one not in lacking)
    return replace(roster, entrants=left, skipped=(*roster.skipped, *skipped))


def _remedy(entrant: Entrant, file: Path) -> str:
    return f"referee submit {plain(str(entrant.folder))} {plain(str(file))}"


def _problem(definition: Definition, entrant: Entrant, file: Path) -> Problem:
    allowed = "bots that have passed referee check"
    if entrant.remote:
        remedy = "take it out: nobody can tell what runs elsewhere"
        return definition.problem(("policy", "checked"), f"{entrant.key}, a remote bot", allowed, remedy)
    remedy = _remedy(entrant, file)
    found = f"{entrant.key} {entrant.version}, never checked as it is now under these rules"
    return definition.problem(("policy", "checked"), found, allowed, remedy)

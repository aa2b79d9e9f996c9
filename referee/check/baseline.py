"""The baseline: breaches that are known and accepted for now, in a file that must not go stale.

    format = 1

    [[accepted]]
    rule = "AF-PLAY-003"
    variant = "cinch"                  # optional: in this game only
    reason = "The left pedro is not done yet."
    issue = "https://example.org/7"    # optional
    expires = 2027-01-31               # optional

A line whose rule passes, does not exist or is past its day fails the check, and is named so that it can be deleted.
"""

import datetime as dt
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from referee.check.requirements import Requirement
from referee.rules.conduct import WHOLE_BOOK

FORMAT: Final = 1
_FIELDS: Final = {"rule": str, "variant": str, "reason": str, "issue": str, "expires": dt.date}
_IDS: Final = frozenset(entry.id for entry in WHOLE_BOOK)


class BaselineError(ValueError):
    """A baseline that cannot be used; the message names the file, the line and the remedy."""


@dataclass(frozen=True, slots=True)
class Excuse:
    """One accepted breach. ``line`` is where it stands in the file."""

    rule: str
    variant: str
    reason: str
    issue: str
    expires: dt.date | None
    line: int

    def covers(self, requirement: Requirement) -> bool:
        """Whether it speaks of this requirement."""
        return self.rule == requirement.id and self.variant in ("", requirement.variant)


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline as it is read on one day."""

    file: str
    excuses: tuple[Excuse, ...]
    today: dt.date

    def excuse_for(self, requirement: Requirement) -> Excuse | None:
        """The excuse of a requirement, if there is one and its day has not passed."""
        for excuse in self.excuses:
            if excuse.covers(requirement) and not self._expired(excuse):
                return excuse
        return None

    def stale(self, excuse: Excuse) -> str:
        """What to do about an excuse that is not needed any more."""
        return f"{self.file}:{excuse.line}: {excuse.rule} passes: delete this entry"

    def complaints(self, requirements: Sequence[Requirement]) -> list[str]:
        """What is wrong with the file itself: unknown rules, days that have passed."""
        told = []
        for excuse in self.excuses:
            where = f"{self.file}:{excuse.line}: {excuse.rule}"
            if excuse.rule not in _IDS:
                told.append(f"{where} is no rule: delete this entry")
            elif self._expired(excuse):
                told.append(f"{where} was accepted until {excuse.expires}: mend the bot, or delete this entry")
            elif (
                excuse.variant
                and not any(excuse.covers(one) for one in requirements)
                and any(one.id == excuse.rule for one in requirements)
            ):
                told.append(f"{where} names the variant {excuse.variant!r}, which has no such rule: delete this entry")
        return told

    def _expired(self, excuse: Excuse) -> bool:
        return excuse.expires is not None and excuse.expires < self.today


def read_baseline(path: Path, today: dt.date) -> Baseline:
    """The baseline in a file; raises ``BaselineError``."""
    if path.exists() and not path.is_file():  # a pipe would keep us for ever
        raise BaselineError(f"--baseline {path}: it is no plain file")
    try:
        text = path.read_text("utf-8")
        data = tomllib.loads(text)
    except OSError as error:
        raise BaselineError(f"--baseline {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BaselineError(f"{path}: it is no UTF-8 text: save the file as UTF-8") from None
    except RecursionError:
        raise BaselineError(f"{path}: it is nested too deeply: take brackets away") from None
    except tomllib.TOMLDecodeError as error:
        raise BaselineError(f"{path}: {error}") from None
    if data.get("format") != FORMAT:
        raise BaselineError(f"{path}: format is {data.get('format')!r}: write format = {FORMAT}")
    unknown = set(data) - {"format", "accepted"}
    if unknown:
        raise BaselineError(f"{path}: unknown field {min(unknown)}: delete it")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith("[[accepted]]")]
    entries = data.get("accepted", [])
    if not isinstance(entries, list) or len(lines) != len(entries):
        raise BaselineError(f"{path}: write each accepted breach as a section [[accepted]]")
    return Baseline(str(path), tuple(_excuse(path, *pair) for pair in zip(entries, lines, strict=True)), today)


def _excuse(path: Path, entry: dict[str, Any], line: int) -> Excuse:
    for name, value in entry.items():
        if name not in _FIELDS:
            raise BaselineError(f"{path}:{line}: unknown field {name}; the fields are {', '.join(_FIELDS)}")
        if not isinstance(value, _FIELDS[name]) or isinstance(value, dt.datetime):
            kind = "a day such as 2027-01-31" if name == "expires" else "text in quotes"
            raise BaselineError(f"{path}:{line}: {name} = {value!r}: write {kind}")
    for name in ("rule", "reason"):
        if not entry.get(name):
            raise BaselineError(f"{path}:{line}: {name} is missing: every accepted breach says which rule, and why")
    return Excuse(
        entry["rule"], entry.get("variant", ""), entry["reason"], entry.get("issue", ""), entry.get("expires"), line
    )

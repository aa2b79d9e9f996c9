"""What a ``.gitignore`` says of a path, as git reads it.

A path is asked about after the folders above it, from the top: git looks into no folder that is ignored. So a pattern has to match the
path itself here, and never the folders that it lies in. (Libraries for these patterns that look at whole paths let too much in where one
pattern names a file and a later one lets its folder in again.)
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

_CLASSES: Final = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


@dataclass(frozen=True, slots=True)
class IgnorePattern:
    """One line: what it matches, whether it lets in again, whether it is about folders alone, and about the name alone."""

    matches: re.Pattern[str]
    lets_in: bool
    folders_only: bool
    name_only: bool


def read_gitignore(text: str) -> tuple[IgnorePattern, ...]:
    """The patterns of a file, in its order. A pattern that git cannot read matches nothing, there and here."""
    lines = (line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n"))
    return tuple(pattern for line in lines if (pattern := _pattern(line)) is not None)


def is_ignored(patterns: Sequence[IgnorePattern], path: str, *, is_folder: bool) -> bool | None:
    """What a file says of a path, seen from its folder and with ``/`` between names; ``None`` if nothing. The last pattern counts."""
    name = path.rpartition("/")[2]
    for pattern in reversed(patterns):
        if (is_folder or not pattern.folders_only) and pattern.matches.fullmatch(name if pattern.name_only else path):
            return not pattern.lets_in
    return None


def _pattern(line: str) -> IgnorePattern | None:
    if line.startswith("#"):
        return None
    line = _without_trailing_spaces(line)
    lets_in = line.startswith("!")
    line = line[lets_in:]
    folders_only = line.endswith("/")
    line = line[: len(line) - folders_only]
    if not line:
        return None
    name_only = "/" not in line
    try:
        matches = re.compile("".join(_regex(line.removeprefix("/"))), re.DOTALL)
    except (ValueError, IndexError, re.error):
        return None
    return IgnorePattern(matches, lets_in, folders_only, name_only)


def _without_trailing_spaces(line: str) -> str:
    kept = line.rstrip(" ")
    escaped = len(kept) - len(kept.rstrip("\\"))
    return f"{kept} " if escaped % 2 and kept != line else kept


def _regex(glob: str) -> Iterable[str]:
    """The regular expression of a pattern, in parts. Raises ``ValueError`` for one that matches nothing."""
    at = 0
    while at < len(glob):
        sign = glob[at]
        if sign == "*":
            stars = len(glob) - at - len(glob[at:].lstrip("*"))
            whole = stars == 2 and (at == 0 or glob[at - 1] == "/")
            at += stars
            if whole and glob[at:].startswith("/"):
                at += 1
                yield "(?:.*/)?"
            else:
                yield ".*" if whole and at == len(glob) else "[^/]*"
        elif sign == "[":
            part, at = _bracket(glob, at + 1)
            yield part
        elif sign == "\\":
            if at + 1 == len(glob):
                raise ValueError("a backslash at the end")
            yield re.escape(glob[at + 1])
            at += 2
        else:
            yield "[^/]" if sign == "?" else re.escape(sign)
            at += 1


def _bracket(glob: str, at: int) -> tuple[str, int]:
    """A class of characters as a regular expression, and where it ends. Raises ``ValueError`` or ``IndexError`` if it does not."""
    inverted = glob[at : at + 1] in ("!", "^")
    at += inverted
    first, members, last = True, list[str](), ""
    while first or glob[at] != "]":
        first = False
        sign = glob[at]
        named = re.match(r"\[:(\w*):\]", glob[at:])
        if named is not None:
            if named[1] not in _CLASSES:
                raise ValueError(f"no class {named[1]}")
            members.append(_CLASSES[named[1]])
            at, last = at + named.end(), ""
        elif sign == "-" and last and glob[at + 1] != "]":
            at += 1 + (glob[at + 1] == "\\")
            end = glob[at]
            if last <= end:
                members.append(f"{re.escape(last)}-{re.escape(end)}")
            at, last = at + 1, ""
        else:
            at += sign == "\\"
            last = glob[at]
            members.append(re.escape(last))
            at += 1
        if at >= len(glob):
            raise ValueError("a class without an end")
    if not members:
        return "[^/]" if inverted else "(?!)", at + 1
    return f"(?!/)[{'^' * inverted}{''.join(members)}]", at + 1

"""On which line of a TOML text a value stands. ``tomllib`` does not say, and an error is only kind if it does.

A small scan splits the text into statements (it knows strings, comments and brackets, so a list over several lines is
one statement); the head of each is read by ``tomllib`` itself.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping

from referee.league.definition.problems import Location

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*|\n|[\[\]{}=]|[^\"'\#\n\[\]{}=]+|.",
    re.DOTALL,
)

LONGEST_HEAD = 400
"""Longer heads are not looked into: ``tomllib`` needs time that grows with the square of the dots in a key."""


def line_numbers(text: str) -> dict[Location, int]:
    """The line (from 1) of every section and key of a TOML text, by its location.

    The text is one that ``tomllib`` accepts. A section that is only implied by others has the line of the first of them.
    """
    lines: dict[Location, int] = {(): 1}
    arrays: dict[Location, int] = {}
    section: Location = ()
    for line, head in _statements(text):
        path = _path(head)
        if path is None:
            continue
        if head.startswith("["):
            section = _numbered(path, arrays, opens=head.startswith("[["))
            where = section
        else:
            where = section + path
        for end in range(1, len(where) + 1):
            lines.setdefault(where[:end], line)
    return lines


def line_of(lines: Mapping[Location, int], where: Location) -> int:
    """The line of a location, or of the nearest thing around it."""
    while where not in lines:
        where = where[:-1]
    return lines[where]


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """First line and head of each statement: a header in its brackets, or what stands before the ``=``."""
    line, start, depth = 1, 1, 0
    head, head_done = "", False
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "\n" and depth == 0:
            yield start, head.strip()
            head, head_done, start = "", False, line + 1
        elif token == "=" and depth == 0:
            head_done = True
        elif not token.startswith("#"):
            depth = max(0, depth + (token in "[{") - (token in "]}"))
            if not head_done:
                head += token
        line += token.count("\n")
    yield start, head.strip()


def _path(head: str) -> tuple[str, ...] | None:
    """The keys that a header or a dotted key names, or ``None`` if it is not one (or too long to be meant well)."""
    if not head or len(head) > LONGEST_HEAD:
        return None
    try:
        node: object = tomllib.loads(head if head.startswith("[") else f"{head} = 0")
    except (ValueError, RecursionError):
        return None
    path: list[str] = []
    while node:
        node = node[0] if isinstance(node, list) else node
        if isinstance(node, dict) and node:
            key, node = next(iter(node.items()))
            path.append(key)
    return tuple(path) or None


def _numbered(path: tuple[str, ...], arrays: dict[Location, int], *, opens: bool) -> Location:
    """The location that a header opens, with the place in each list of tables on the way."""
    where: Location = ()
    for place, key in enumerate(path):
        where += (key,)
        if opens and place == len(path) - 1:
            arrays[where] = arrays.get(where, -1) + 1
        if where in arrays:
            where += (arrays[where],)
    return where

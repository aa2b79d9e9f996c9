"""What is wrong in a file that a person wrote: where, what was found, what is allowed, and what to do about it."""

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass

SHOWN = 60
"""The most characters of a found value that an error repeats."""

Location = tuple[str | int, ...]
"""The way to a value in a TOML document: keys, and places (from 0) in lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One fault of a file.

    ``line`` counts from 1; 0 means that the fault has no line (a file that is not there). ``field`` is the field as
    people read it, ``found`` what stands there, ``allowed`` what may stand there, ``remedy`` what to do.
    """

    file: str
    line: int
    field: str
    found: str
    allowed: str
    remedy: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.field}: found {self.found}; allowed: {self.allowed}; remedy: {self.remedy}"


class ProblemsError(ValueError):
    """A file that cannot be used. ``problems`` holds every fault; the text is one line for each."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def shown(value: object) -> str:
    """A found value in one short line of harmless ASCII, however hostile or long it is.

    >>> shown("four")
    '"four"'
    >>> shown("x" * 500)
    '"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..." (500 characters)'
    """
    if isinstance(value, str):
        if len(value) <= SHOWN:
            return _ascii(value)
        return f'{_ascii(value[:SHOWN])[:-1]}..." ({len(value):,} characters)'
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return f"a table of {len(value)} field{'s' * (len(value) != 1)}"
    if isinstance(value, list | tuple):
        plain_items = len(value) <= 3 and not any(isinstance(item, list | tuple) for item in value)
        return f"[{', '.join(map(shown, value))}]" if plain_items else f"a list of {len(value)}"
    if isinstance(value, int) and value.bit_length() > 128:
        return "a huge whole number"
    return _ascii(str(value)[:SHOWN])[1:-1]


def one_of(values: Iterable[object]) -> str:
    """The values as a list for people to choose from.

    >>> one_of(["ranked", "dev"])
    '"ranked" or "dev"'
    """
    *most, last = [shown(value) for value in values]
    return f"{', '.join(most)} or {last}" if most else last


def near(text: object, known: Iterable[str]) -> str | None:
    """The known name that somebody probably meant, or ``None``.

    >>> near("carefull", ["random", "careful"])
    'careful'
    """
    names = {name.casefold(): name for name in known}
    found = difflib.get_close_matches(str(text)[:SHOWN].casefold(), names, n=1)
    return names[found[0]] if found else None


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "set"), counted(2, "set")
    ('1 set', '2 sets')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def plain(text: str) -> str:
    """A file name or other foreign text without anything that could spoil a line of output."""
    return text if text.isascii() and text.isprintable() else _ascii(text)[1:-1]


def _ascii(text: str) -> str:
    # json leaves DEL alone, which terminals may act on.
    return json.dumps(text, ensure_ascii=True).replace("\x7f", "\\u007f")

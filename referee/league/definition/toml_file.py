"""Reading a TOML file that a person wrote: size, encoding and syntax, and where each value stands; texts read and written whole."""

import json
import os
import re
import secrets
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from referee.league.definition.problems import SHOWN, Location, Problem, ProblemsError, plain, shown
from referee.league.definition.toml_lines import line_numbers, line_of

MISSING: Final = object()
"""Marks a value that is not in the document."""


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed TOML text. ``file`` is how errors name it; ``lines`` maps locations to lines."""

    file: str
    data: Mapping[str, Any]
    lines: Mapping[Location, int]

    def value(self, where: Location) -> Any:
        """The value at a location, or ``MISSING``."""
        node: Any = self.data
        for key in where:
            try:
                node = node[key]
            except (KeyError, IndexError, TypeError):
                return MISSING
        return node

    def problem(self, where: Location, allowed: str, remedy: str, found: str | None = None) -> Problem:
        """A problem of the value at a location; ``found`` is read from the document unless it is given."""
        if found is None:
            value = self.value(where)
            found = "nothing" if value is MISSING else shown(value)
        return Problem(
            file=self.file,
            line=line_of(self.lines, where),
            field=field_name(where),
            found=found,
            allowed=allowed,
            remedy=remedy,
        )


def read_text(path: Path, limit: int, remedy: str) -> str:
    """The text of a regular UTF-8 file of at most ``limit`` bytes; ``ProblemsError`` otherwise.

    ``remedy`` is what to do when the file is not there.
    """
    file = plain(str(path))

    def fault(line: int, found: str, allowed: str, remedy: str) -> ProblemsError:
        return ProblemsError(
            [Problem(file=file, line=line, field="the file", found=found, allowed=allowed, remedy=remedy)]
        )

    try:
        # Only regular files: reading a pipe would wait for ever.
        regular = stat.S_ISREG(path.stat().st_mode)
        raw = b""
        if regular:
            with path.open("rb") as stream:
                raw = stream.read(limit + 1)
    except FileNotFoundError:
        raise fault(0, "nothing", "a text file", remedy) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise fault(0, plain(reason), "a text file that can be read", "check the path and its permissions") from None
    if not regular:
        raise fault(0, "no regular file", "a text file", "name the .toml file itself")
    if len(raw) > limit:
        raise fault(0, f"more than {limit:,} bytes", f"at most {limit:,} bytes", "make the file smaller")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise fault(line, f"byte 0x{raw[error.start]:02x}", "UTF-8 text", "save the file as UTF-8") from None


def parse(text: str, file: str) -> Document:
    """The document that a TOML text holds; ``ProblemsError`` with line and column if it is not TOML."""
    text = text.replace("\r\n", "\n")
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProblemsError([_syntax_problem(text, plain(file), error)]) from None
    return Document(plain(file), data, line_numbers(text))


def _syntax_problem(text: str, file: str, error: Exception) -> Problem:
    deep = isinstance(error, RecursionError)
    message = "nested too deeply" if deep else str(error)
    place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)", message)
    lines = text.split("\n")
    line = (int(place[1]) if place[1] else len(text.rstrip().split("\n"))) if place else 0
    content = lines[line - 1].strip() if line else ""
    column = f", column {place[2]}" if place and place[2] else ""
    found = f"{shown(content)}{column} ({plain(message[: place.start()] if place else message)})"
    return Problem(
        file=file,
        line=line,
        field="syntax",
        found=found,
        allowed="TOML (https://toml.io)",
        remedy="take brackets away" if deep else _syntax_remedy(content, message),
    )


def _syntax_remedy(content: str, message: str) -> str:
    word = re.match(r"([\w.-]+)\s*=\s*([A-Za-z/~.][^\"'#\[\]{}]*?)\s*(?:#.*)?$", content)
    if "overwrite" in message or "declare" in message or "twice" in message:
        return "the field or section is there twice: keep one (several bots are several [[bots]])"
    if word and word[2].lower() in ("true", "false"):
        return f"write {word[1]} = {word[2].lower()}"
    if word:
        return f"put text in quotes: {word[1]} = {json.dumps(word[2])}"
    if "Illegal character '\\n'" in message:
        return "close the quotes in this line"
    if "Unclosed" in message or "end of document" in message:
        return "close the bracket or the quotes that are open"
    if re.match(r"[\w-]+\s*:", content):
        return "write field = value, with an equals sign"
    return "correct this line"


def field_name(where: Location) -> str:
    """A location as people read it.

    >>> field_name(("bots", 1, "copies")), field_name(("tournament", "seats")), field_name(("run", 0))
    ('[[bots]] entry 2, copies', '[tournament] seats', 'run, item 1')
    """
    words = [f"item {key + 1}" if isinstance(key, int) else plain(key)[:SHOWN] for key in where]
    if where[:1] == ("bots",):
        entry = f"[[bots]] entry {words.pop(1)[5:]}" if len(where) > 1 else "[[bots]]"
        return ", ".join([entry, *words[1:]])
    if len(where) > 1 and isinstance(where[1], str):
        return ", ".join([f"[{words[0]}] {words[1]}", *words[2:]])
    return ", ".join(words) or "the file"


def write_text(path: Path, text: str) -> None:
    """Writes a text to a file in one step: the whole of it stands there, or what stood there before.

    A pipe or a device is written to as it is, and so is a file in a folder where none can be made. Raises ``OSError`` that
    names the file.
    """
    target = Path(os.path.realpath(path))  # what a link leads to is written, not the link
    draft = target.with_name(f".{secrets.token_hex(8)}.new")
    try:
        if (target.exists() and not target.is_file()) or not os.access(target.parent, os.W_OK):
            target.write_text(text, "utf-8")
            return
        draft.write_text(text, "utf-8")
        if target.exists():
            draft.chmod(stat.S_IMODE(target.stat().st_mode))
        draft.replace(target)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise
    finally:
        draft.unlink(missing_ok=True)

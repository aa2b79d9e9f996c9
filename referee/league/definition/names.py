"""Names that can be shown anywhere: in a terminal, a web page, a file name, a column of CSV.

A bot's name ends up in all of these and may come from somebody who wishes us ill, so the alphabet is small. Text that is
read by people only (titles, descriptions) may use any printable letters.
"""

import re
import unicodedata
from typing import Annotated

from pydantic import Field, StringConstraints

NAME_ALLOWED = (
    "1 to 40 letters (a-z, A-Z), digits, spaces and . _ - +, with a letter or digit first and no space or . last"
)
VERSION_ALLOWED = "1 to 40 letters (a-z, A-Z), digits and . _ - +, with a letter or digit first"

_NAME = r"^[A-Za-z0-9](?:[A-Za-z0-9 ._+\-]{0,38}[A-Za-z0-9_+\-])?$"
_VERSION = r"^[A-Za-z0-9][A-Za-z0-9._+\-]{0,39}$"
_PRINTABLE = r"^[^\x00-\x1f\x7f-\x9f]+$"

BotName = Annotated[
    str, StringConstraints(pattern=_NAME, max_length=40), Field(json_schema_extra={"x-allowed": NAME_ALLOWED})
]
"""A bot's name, as ``bot.toml`` and a definition may give it."""

BotVersion = Annotated[
    str, StringConstraints(pattern=_VERSION, max_length=40), Field(json_schema_extra={"x-allowed": VERSION_ALLOWED})
]
"""A bot's version. A bot in a new version is a new player."""

PlainText = Annotated[
    str,
    StringConstraints(pattern=_PRINTABLE, max_length=4096),
    Field(json_schema_extra={"x-allowed": "text of 1 to 4096 characters, no control characters"}),
]
"""A path, or one word of a command."""


def is_name(text: str) -> bool:
    """Whether the text may be the name of a bot."""
    return re.fullmatch(_NAME[1:-1], text) is not None


def is_version(text: str) -> bool:
    """Whether the text may be the version of a bot."""
    return re.fullmatch(_VERSION[1:-1], text) is not None


def harmless_name(text: str) -> str:
    """The name of a bot that is nearest to a text, such as the name of a file; ``bot`` where nothing of it can stay.

    >>> harmless_name("Zo\u00eb's bot!"), harmless_name("\u732b")
    ('Zoe-s bot', 'bot')
    """
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = re.sub(r"[^A-Za-z0-9 ._+\-]+", "-", folded)[:60].strip(" .-_+")[:40].rstrip(" .")
    return name if is_name(name) else "bot"


def is_readable(text: str, *, lines: bool = False) -> bool:
    """Whether people can read the text as it stands: no control characters, and no marks that turn its direction.

    With ``lines`` it may be broken into lines.
    """
    return all(sign.isprintable() or (lines and sign == "\n") for sign in text)

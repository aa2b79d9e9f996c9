"""Text from elsewhere (names of bots, their words, reasons) made harmless for every place where it is shown.

HTML is escaped by the templates; what is done here is for all of them: no control characters, no marks that turn the
direction of the text, no endless length, no towers of accents.
"""

import unicodedata
from typing import Final

NAME_LENGTH: Final = 60
SENTENCE_LENGTH: Final = 400
_MOST_MARKS: Final = 2
_FORMULA: Final = "=+-@\t\r"
_MARKDOWN: Final = "\\`*_[]<>#|~&"
_LEADING: Final = "+-=!"


def sanitize(text: object, limit: int = SENTENCE_LENGTH) -> str:
    r"""The text in one line of printable characters, at most ``limit`` of them; what is no such character shows as U+FFFD.

    >>> sanitize("a\u202eb\x1b[2J\nc") == "a\ufffdb\ufffd[2J c"
    True
    """
    kept: list[str] = []
    marks = 0
    for char in str(text)[: 4 * limit]:
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks > _MOST_MARKS:
            continue
        kept.append(char if char.isprintable() else " " if char.isspace() else "\N{REPLACEMENT CHARACTER}")
    clean = "".join(kept).strip()
    short = len(clean) <= limit and len(str(text)) <= 4 * limit
    return clean if short else clean[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"


def name(text: object) -> str:
    """A name, harmless and short enough for a table; never empty."""
    return sanitize(text, NAME_LENGTH) or "(no name)"


def csv_text(text: object) -> str:
    """A text for a cell of a spreadsheet: harmless, and never taken for a formula."""
    clean = sanitize(text)
    return f"'{clean}" if clean[:1] and clean[0] in _FORMULA else clean


def markdown_text(text: object, limit: int = SENTENCE_LENGTH) -> str:
    """A text for Markdown: harmless, and nothing in it is markup, not even where it begins a line."""
    clean = sanitize(text, limit)
    marked = "".join(f"\\{char}" if char in _MARKDOWN else char for char in clean)
    begins_line = clean[:1] in _LEADING and clean[1:2] in f" {_LEADING}"  # an empty text is in any text
    return f"\\{marked}" if clean and begins_line else marked

"""Text for a screen or a pipe: lines broken between words where they are seen, harmless whatever stands in them."""

import re
import shutil
import sys
from typing import Any, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from referee.report.sanitize import sanitize

WIDTH = 80
"""Columns of a screen that does not say how many it has, and of everything that goes elsewhere."""

_DEEPEST = 12  # cells; what stands further in begins no paragraph


def plain_text(text: str, limit: int = 300) -> str:
    """A text from elsewhere, harmless in a terminal: no control characters, one line, bounded."""
    return sanitize(text, limit)


class Lines(Console):
    """A console for sentences: a terminal gets them broken between words, anything else a line each, whatever its length.

    Nothing in a text is markup. A word that is wider than the terminal, such as a path, stays whole.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        """Prints as ``Console`` does."""
        if self.is_terminal and not options.get("soft_wrap"):
            objects = tuple(self._between_words(one) for one in objects)
        super().print(*objects, **(options | {"soft_wrap": True}))

    def _between_words(self, one: Any) -> Any:
        if isinstance(one, str):
            return broken(one, self.width)
        return Text(broken(one.plain, self.width), style=one.style) if isinstance(one, Text) else one


def broken(text: str, width: int) -> str:
    """A line as lines of at most so many cells, broken at blanks; those after the first stand under the words of the first.

    A word that is wider stays whole.
    """
    label = re.match(r" *(?:\S+ ?\S*  +)?", text)
    hang = label.end() if label is not None and label.end() <= _DEEPEST else 2
    lines = [""]
    for piece in re.findall(r" *[^ ]+", text):
        if lines[-1].strip() and cell_len(lines[-1]) + cell_len(piece) > width:
            lines.append(" " * hang + piece.lstrip())
        else:
            lines[-1] += piece
    return "\n".join(lines)


def messages() -> Lines:
    """The error stream: colours where it is a terminal, whatever FORCE_COLOR says.

    Names of bots and their words come from elsewhere; ``[red]`` and ``:x:`` in them are shown as they are.
    """
    return Lines(stderr=True, force_terminal=sys.stderr.isatty(), markup=False, emoji=False, highlight=False)


def results() -> Lines:
    """The output stream, for a report in lines."""
    return Lines(markup=False, emoji=False, highlight=False)


def columns_of(stream: TextIO) -> int:
    """The columns of a terminal, 80 for anything else."""
    if not stream.isatty():
        return WIDTH
    return max(shutil.get_terminal_size((WIDTH, 24)).columns, 40)

"""The last board in a file, so that a site that starts has one to show at once, and need not work it out first."""

import contextlib
import os
from pathlib import Path
from typing import Final

import orjson
from pydantic import TypeAdapter, ValidationError

from referee import __version__
from referee.host.web.board import Board

_MOST: Final = 64 << 20


def keep_board(board: Board, path: Path) -> None:
    """Writes a board to a file, whole or not at all. Raises ``OSError``."""
    draft = path.with_name(f".{path.name}.part")
    data = orjson.dumps({"referee": __version__, "board": board}, option=orjson.OPT_NON_STR_KEYS)
    try:
        with open(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:  # noqa: PTH123  # of a descriptor
            file.write(data)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def kept_board(path: Path) -> Board | None:
    """The board in a file; ``None`` where there is none, or none that this version has written."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, ValidationError):
        if path.stat().st_size <= _MOST:
            found = orjson.loads(path.read_bytes())
            if found["referee"] == __version__:
                return TypeAdapter(Board).validate_python(found["board"])
    return None

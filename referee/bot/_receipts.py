"""Receipts of games: what a bot keeps, so that its owner can hold the referee to them. ``referee verify --receipts`` compares.

One line a game, appended and brought to the disk before the bot answers on; a line that a crash has cut short is ended by the
next one, and read by nobody. docs/records.md has the format for other languages.
"""

import os
import re
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Final

from referee.bot._output import MARK
from referee.protocol import wire

LINE: Final = "allfours-receipt/1"
"""The first word of each line: the version of the format."""

OFF: Final = "off"


def receipts_for(told: str | None, environ: Mapping[str, str], *, remote: bool) -> "Receipts | None":
    """Where receipts are kept: in the file that ``run`` or REFEREE_RECEIPTS names; without either, those of a bot that dials in
    from elsewhere in ``leagues/NAME.receipts``. "off" (or an empty name) keeps none.
    """
    named = told if told is not None else environ.get("REFEREE_RECEIPTS")
    if named is None:
        return Receipts(None) if remote else None
    return None if named in ("", OFF) else Receipts(named)


class Receipts:
    """The file of receipts of one bot. What cannot be written is said once, and the bot plays on."""

    def __init__(self, path: str | None) -> None:
        """``path`` is the file; ``None`` names it by the name that the bot has in the league."""
        self._path = path
        self._name = self._commitment = ""
        self._broken = False

    def joined(self, name: str, commitment: str) -> None:
        """The bot is in a league: under which name, and with which commitment to all deals."""
        self._name = " ".join(name.split())
        self._commitment = commitment or "-"

    def keep(self, receipts: Iterable[wire.Receipt]) -> None:
        """Appends a line for each, and waits until the disk has them."""
        if self._broken:
            return
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        lines = [
            f"{LINE} {now} league={self._commitment} seat={one.seat} seed={one.bot_seed} record={one.record_digest}"
            f" name={self._name}\n"
            for one in receipts
        ]
        name = re.sub(r"[^A-Za-z0-9_+.#-]", "_", self._name) or "bot"
        path = self._path or f"leagues/{name}.receipts"
        try:
            self._append(path, "".join(lines).encode())
        except OSError as error:
            self._broken = True
            print(
                f"{MARK}receipts cannot be kept in {path}: {error.strerror}; name another file in REFEREE_RECEIPTS, or: off",
                file=sys.stderr,
                flush=True,
            )

    @staticmethod
    def _append(path: str, text: bytes) -> None:
        if folder := path.rpartition("/")[0]:
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103  # pathlib would cost every bot a part of its start
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(handle).st_size
            if size and os.pread(handle, 1, size - 1) != b"\n":
                text = b"\n" + text  # a crash has cut the last line
            while text:
                text = text[os.write(handle, text) :]
            os.fsync(handle)
        finally:
            os.close(handle)

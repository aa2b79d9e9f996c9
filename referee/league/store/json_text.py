"""Reading JSON that anybody may have written: bounded in time and memory, and nothing overlooked."""

import json
import zlib
from math import isfinite
from typing import Any, Final

import orjson

from referee.umpire.record import canonical

MOST_BYTES: Final = 32 << 20
"""A record, a line of an export, a value of a store is never larger; one that claims so is damaged, or wishes us ill."""

MOST_SHORT: Final = 64 << 10
"""Bytes of a short text: it cannot hold values enough to do harm."""

MOST_VALUES: Final = 2_000_000
"""Values in one JSON text: many small ones take far more memory than their text."""


class TextError(ValueError):
    """What is no JSON of ours; the message says why, in one line."""


def read_json(data: bytes | str) -> Any:
    """The value of a JSON text in UTF-8. Raises ``TextError`` for what is none, too large, or holds NaN or infinity."""
    if len(data) > MOST_BYTES:
        raise TextError(f"larger than {MOST_BYTES >> 20} MiB, which nothing in a league is")
    text = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    if values_at_most(text) > MOST_VALUES:
        raise TextError(f"more than {MOST_VALUES:,} values, which nothing in a league has")
    try:
        return json.loads(text.decode(), parse_constant=_refuse, parse_float=_finite)
    except TextError:
        raise
    except RecursionError:
        raise TextError("no JSON of a league: nested too deeply") from None
    except ValueError as error:
        raise TextError(f"no JSON: {str(error)[:200]}") from None


def values_at_most(text: bytes) -> int:
    """How many values a JSON text has at most, told without reading it."""
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def read_short(text: str) -> Any:
    """As ``read_json``, for one of many short texts; but a whole number of more than 64 bits comes as a float."""
    if len(text) < MOST_SHORT:
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            pass  # the other reader says in our words why, or takes it all the same
    return read_json(text)


def _refuse(name: str) -> Any:
    raise TextError(f"no JSON: {name} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    return number if isfinite(number) else _refuse(text[:20])


def column(value: object) -> str:
    """A value as the store writes it into a column of JSON: sorted keys, no blanks, ASCII alone (and of it no DEL)."""
    written = canonical(value)
    if written.isascii() and b"\x7f" not in written:
        return written.decode()
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def inflate(blob: bytes) -> bytes:
    """What one zlib stream holds. Raises ``TextError`` if it is damaged, too large, cut short, or if something follows it."""
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(blob, MOST_BYTES)
    except (zlib.error, TypeError) as error:
        raise TextError(f"not compressed as records are: {error}") from None
    if inflater.unconsumed_tail:
        raise TextError(f"larger than {MOST_BYTES >> 20} MiB, which no record is")
    if not inflater.eof:
        raise TextError("compressed data that are cut short")
    if inflater.unused_data:
        raise TextError(f"{len(inflater.unused_data):,} bytes follow after its end")
    return data

"""What differs between two definitions, in words: for whoever changed the file of a league that has begun."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from referee.league.definition.problems import plain, shown

MOST: Final = 8
"""The most changes that are told one by one."""

_SOURCES: Final = ("path", "command", "bots_from", "name", "bots")


def changes(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What differs between two canonical forms, a phrase each: ``[schedule] sets was 10, is 20``.

    >>> changes({"schedule": {"sets": 10}}, {"schedule": {"sets": 20}, "bots": [{"path": "random"}]})
    ['[schedule] sets was 10, is 20', '[[bots]] "random" is new']
    """
    found: list[str] = []
    for part in dict.fromkeys([*then, *now]):
        old, new = then.get(part), now.get(part)
        if old == new:
            continue
        if isinstance(old, list) or isinstance(new, list):
            found += _of_entries(part, old or (), new or ())
        elif isinstance(old, dict) or isinstance(new, dict):
            found += _of_fields(f"[{part}]", old or {}, new or {})
        else:
            found.append(_changed(part, old, new))
    return found


def told_changes(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """The changes as part of a sentence, the first few of them one by one."""
    found = changes(then, now)
    more = f"; and {len(found) - MOST} more changes" if len(found) > MOST else ""
    return "; ".join(found[:MOST]) + more


def _of_fields(where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) != new.get(name):
            yield _changed(f"{where} {plain(name)}", old.get(name), new.get(name))


def _changed(what: str, old: Any, new: Any) -> str:
    if old is None:
        return f"{what} is new: {shown(new)}"
    return f"{what} was {shown(old)}, is gone" if new is None else f"{what} was {shown(old)}, is {shown(new)}"


def _of_entries(part: str, old: Sequence[Any], new: Sequence[Any]) -> Iterator[str]:
    """Entries are known by where their bots come from; those that moved are told once."""
    then, now = ({_key(entry, all_): entry for entry in all_} for all_ in (old, new))
    for key, entry in then.items():
        if key not in now:
            yield f"[[{part}]] {shown(_label(entry))} is gone"
        else:
            yield from _of_fields(f"[[{part}]] {shown(_label(entry))}", entry, now[key])
    yield from (f"[[{part}]] {shown(_label(entry))} is new" for key, entry in now.items() if key not in then)
    if [key for key in then if key in now] != [key for key in now if key in then]:
        yield f"[[{part}]] stand in another order"


def _key(entry: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> str:
    """The source of an entry; with its name where one source has several entries."""
    alike = sum(_label(other) == _label(entry) for other in entries)
    return json.dumps([_label(entry), *[entry.get("name"), entry.get("version")] * (alike > 1)])


def _label(entry: Mapping[str, Any]) -> Any:
    return next((entry[name] for name in _SOURCES if name in entry), "an entry")

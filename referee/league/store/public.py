"""The public form of a league: what is exported of it, and what its record root is taken of.

What is private to one machine stays there: tokens, folders, machine ids, process numbers, logs.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

PRIVATE: Final = frozenset({"tokens", "folder", "file", "cluster"})
"""Facts of a league that are never exported."""

ROOTS: Final = frozenset({"result_root", "record_root", "root_scheme"})
"""Facts of a league that are not under the record root: they are it, or say how it is made."""

_HOST: Final = ("system", "python", "processors")


def public_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What is fixed for a league, without what is private."""
    told = {key: value for key, value in facts.items() if key not in PRIVATE}
    if isinstance(host := facts.get("host"), Mapping):
        told["host"] = {name: host[name] for name in _HOST if name in host}
    if "skipped" in facts:
        told["skipped"] = [[path, ""] for path, _ in facts["skipped"]]  # the reasons name folders
    return told


def public_entrant(key: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """An entrant without the folders of our machine."""
    argv = [Path(word).name if os.path.isabs(word) else word for word in about["argv"]]  # noqa: PTH117  # a word, no path yet
    told = {"key": key, **about, "argv": argv, "folder": about["folder"] and Path(about["folder"]).name}
    if partner := about.get("partner"):
        told["partner"] = public_entrant(partner["key"], partner)
    return told

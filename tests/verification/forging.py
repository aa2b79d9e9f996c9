"""A forger of exports: changes one value anywhere, and may make everything fit that can be computed without a secret."""

import contextlib
import copy
import hashlib
import json
import pickle
import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from referee import deals
from referee.league.definition.definition import restore_definition
from referee.league.export import definition_toml
from referee.league.standings import histogram
from referee.league.store import GameRow, SetRow, chain_next, chain_start
from referee.league.store.export_format import dumped
from referee.league.store.exported import PARTS
from referee.league.store.root_digests import record_root, result_root
from referee.umpire.record import canonical, record_digest, result_digest
from referee.verification import verify, verify_league

Path_ = tuple[Any, ...]
Files = dict[str, Any]
"""The files of an export: a list of lines, an object, or bytes."""


def load(folder: Path) -> Files:
    """The files of an export."""
    files: Files = {}
    for path in sorted(folder.iterdir()):
        text = path.read_bytes()
        if path.suffix == ".jsonl":
            files[path.name] = [json.loads(line) for line in text.splitlines()]
        else:
            files[path.name] = json.loads(text) if path.name in ("export.json", "league.json") else text
    return files


def save(files: Files, folder: Path) -> None:
    """Writes the files as an export does."""
    for name, held in files.items():
        lines = [canonical(line) + b"\n" for line in held] if isinstance(held, list) else []
        data = held if isinstance(held, bytes) else b"".join(lines) if isinstance(held, list) else dumped(held)
        (folder / name).write_bytes(data)


def cover(files: Files, folder: Path) -> None:
    """Writes it all with everything made to fit what stands there now; ``files`` stay as they are."""
    records = {"records.jsonl": files["records.jsonl"]}  # most of it, and only read
    own = pickle.loads(pickle.dumps({name: held for name, held in files.items() if name not in records}))  # noqa: S301
    whole = {name: {**own, **records}[name] for name in files}
    fit(whole, folder)
    save(whole, folder)


def fit(files: Files, folder: Path) -> None:
    """Makes digests, chains, roots, commitments, counts and commands fit what stands there now."""
    league, name = files["league.json"], files["league.json"].get("name")
    league["digest"] = hashlib.sha256(
        json.dumps(league.get("definition"), sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()
    league["commitment"] = deals.commitment(bytes.fromhex(league["master"]), league["digest"])
    with contextlib.suppress(Exception):  # so garbled that it says nothing
        files["definition.toml"] = _definition_file(json.dumps([league["definition"], name]), folder)
    records = {line.get("number"): line.get("record") for line in files["records.jsonl"]}
    sets = {line.get("id"): line for line in files["sets.jsonl"]}
    heads = {set_id: (chain_start(name, set_id), 0) for set_id in sets}
    for game in files["games.jsonl"]:
        record = records.get(game.get("number"))
        if isinstance(record, dict):
            game["record_digest"] = record_digest(record)
            game["result_digest"] = result_digest(record)
        set_id = str(game.get("fixture_id")).rpartition("-")[0]
        if set_id in sets and game.get("redeal") == sets[set_id].get("redeal"):
            head, count = heads[set_id]
            heads[set_id] = chain_next(head, game["record_digest"]), count + 1
        with contextlib.suppress(Exception):
            game["summary"]["times"] = [histogram(times) for times in record["volatile"]["charged_us"]]
            _rule_again(files["rulings.jsonl"], game["number"], record)
    for set_id, (head, count) in heads.items():
        sets[set_id] |= {"chain": head, "games": count}
    manifest = files["export.json"]
    manifest["rows"] = {one: len(held) for one, held in files.items() if isinstance(held, list)}
    manifest["files"] = {
        one: hashlib.sha256(held).hexdigest() for one, held in files.items() if isinstance(held, bytes)
    }
    sets_, games = (
        [SetRow(**line) for line in files["sets.jsonl"]],
        [GameRow(**line) for line in files["games.jsonl"]],
    )
    league["result_root"] = result_root(name, sets_, games)
    source: Any = _Parts(files)
    league["record_root"] = record_root(league, source)
    word = str(manifest["verify"]).split()
    if "--commitment" in word and "--record-root" in word:
        word[word.index("--commitment") + 1] = league["commitment"]
        word[word.index("--record-root") + 1] = league["record_root"]
        manifest["verify"] = " ".join(word)


@cache
def _definition_file(facts: str, folder: Path) -> bytes:
    """``definition.toml`` for the definition and the name of a league, given as JSON."""
    definition, name = json.loads(facts)
    told: Any = SimpleNamespace(name=name, definition=restore_definition(definition, folder))
    return definition_toml(told).encode()


def _rule_again(rulings: list[Any], game: int, record: Any) -> None:
    """The rows of rulings say what the record says."""
    for row in rulings:
        if row["game"] == game:
            entry = record["irregular"][row["number"]]
            row |= {key: entry[key] for key in ("seat", "step", "fault", "rule", "sentence", "consequence")}


class _Parts:
    """The parts of an export that is not written yet."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def parts(self) -> Iterator[tuple[str, Any]]:
        return ((name, self._files[f"{name}.jsonl"]) for name in PARTS)


def places(value: object, path: Path_ = ()) -> Iterator[Path_]:
    """The path of every value inside."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key)
        yield from places(one, (*path, key))


def pattern(name: str, path: Sequence[Any]) -> str:
    """The place of a value with any number, and any name that is data, as a star: ``sets.jsonl: redeal``."""
    keys = path[1:] if name.endswith(".jsonl") else path
    words = ["*" if isinstance(key, int) or re.fullmatch(r"-?\d+", key) else key for key in keys]
    return f"{name}: {'.'.join(words)}".strip()


def at(value: Any, path: Path_) -> Any:
    """The value at a path."""
    for key in path:
        value = value[key]
    return value


def changes(old: Any) -> Iterator[tuple[str, Any]]:
    """What a forger may put in place of a value: how it is told, and the new one."""
    if isinstance(old, bool):
        yield "the other", not old
    elif isinstance(old, int):
        yield "one more", old + 1
        yield "huge", 10**30
    elif isinstance(old, float):
        yield "a little more", old * 1.01 + 0.01
    elif isinstance(old, str):
        yield "another text", _another(old)
        if old in _OTHERS:
            yield "another of its kind", _OTHERS[old]
    elif old is None:
        yield "a text", "forged"
    elif isinstance(old, list) and old:
        yield "the first dropped", old[1:]
        yield "the last doubled", [*old, copy.deepcopy(old[-1])]
        swapped = [*old[1:], old[0]]
        if swapped != old:
            yield "turned round", swapped
    elif isinstance(old, list):
        yield "something in it", ["forged"]
    elif isinstance(old, dict):
        yield "a name more", {**old, "forged": 1}
    if isinstance(old, str | int | list | dict):
        yield "nothing", None


_OTHERS = {
    "none": "bubblewrap",
    "CRASH": "DISCONNECT",
    "START_FAILED": "CRASH",
    "STOPPED": "NO_CONTEST",
    "stumbler": "careful",
    "random": "careful",
}
"""For some words, another that may stand in their place."""


def _another(old: str) -> str:
    """Another text of the same form: a digit changed in digests and times, else a letter more."""
    time = re.fullmatch(r"(\d{4}-.*:\d\d\.)(\d{3})(\+00:00)", old)
    if time:
        return f"{time[1]}{(int(time[2]) + 1) % 1000:03}{time[3]}"
    if re.fullmatch(r"[0-9a-f]{20,}", old):
        return ("0" if old[0] != "0" else "1") + old[1:]
    return f"{old}x"


def forgeries(
    files: Files, name: str, rng: random.Random, most: int, always: Callable[[str], object]
) -> Iterator[tuple[str, str, Files]]:
    """Kinds of places in a file with what may be done there: (pattern, what was done, the forged files).

    ``most``: how many patterns are tried, chosen by chance; those that ``always`` says yes to come besides.
    """
    held = files[name]
    if isinstance(held, bytes):
        yield f"{name}:", "another text", {**files, name: held + b"x"}
        return
    by_pattern: dict[str, list[Path_]] = {}
    for path in places(held):
        by_pattern.setdefault(pattern(name, path), []).append(path)
    chosen = set(rng.sample(sorted(by_pattern), min(most, len(by_pattern)))) | set(filter(always, by_pattern))
    for told, found in by_pattern.items():
        if told not in chosen:
            continue
        kinds: dict[type, Path_] = {}  # of one pattern, a place of each type that stands there
        for path in rng.sample(found, len(found)):
            kinds.setdefault(type(at(held, path)), path)
        more = rng.sample(found, min(6, len(found))) if always(told) else []  # of what is listed, some may be found
        for path in dict.fromkeys([*kinds.values(), *more]):
            for what, value in changes(at(held, path)):
                yield told, what, _with(files, name, path, value)
            yield told, "dropped", _without(files, name, path)
    if isinstance(held, list) and held:
        place = rng.randrange(len(held))
        yield f"{name}:", "line dropped", {**files, name: held[:place] + held[place + 1 :]}
        yield f"{name}:", "line doubled", {**files, name: [*held, held[place]]}
        if len(held) > 1:
            yield f"{name}:", "lines turned round", {**files, name: [*held[1:], held[0]]}


def _with(files: Files, name: str, path: Path_, value: Any) -> Files:
    return {**files, name: _copied(files[name], path[:-1], lambda inner: inner.__setitem__(path[-1], value))}


def _without(files: Files, name: str, path: Path_) -> Files:
    return {**files, name: _copied(files[name], path[:-1], lambda inner: inner.__delitem__(path[-1]))}


def _copied(held: Any, path: Path_, change: Callable[[Any], None]) -> Any:
    """A copy of a value, changed at a path; what lies beside the path is shared."""
    twin = copy.copy(held)
    if path:
        twin[path[0]] = _copied(held[path[0]], path[1:], change)
    else:
        change(twin)
    return twin


class Memory:
    """Remembers what was verified of a game, and which standings were computed: a forger leaves most of them as they are."""

    def __init__(self, monkeypatch: Any) -> None:
        self._kept: dict[Any, Any] = {}
        self._check, self._table = verify.check_game, verify_league.table_from
        monkeypatch.setattr(verify, "check_game", self.check_game)
        monkeypatch.setattr(verify_league, "table_from", self.table_from)

    def check_game(self, case: Any, rulings: Any, **options: Any) -> Any:
        plan = case.plan
        key = (
            repr(plan),
            plan.master,
            dict(plan.earlier),
            repr(case.row),
            case.fixture,
            canonical(case.record),
            rulings,
            options,
        )
        return self._once(repr(key), lambda: self._check(case, rulings, **options))

    def table_from(self, *arguments: Any, **options: Any) -> Any:
        league, *others = arguments
        known = (repr(league.definition), league.commitment, league.entrants, others, options)
        return self._once(repr(known), lambda: self._table(*arguments, **options))

    def _once(self, key: Any, made: Any) -> Any:
        if key not in self._kept:
            self._kept[key] = made()
        return self._kept[key]

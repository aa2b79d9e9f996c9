"""Every column of every table of a store forged: what is exported is held by the published root; what is private is listed."""

import os
import random
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from referee.league.store import Store, StoreError
from referee.league.store.root_digests import roots
from referee.verification.unverifiable import UNPROVEN
from referee.verification.verify import verify
from tests.verification.forging import Memory
from tests.verification.leagues import KINDS
from tests.verification.store_forging import FILES, Form, Tables, covered, exported, forgeries, load_store, save_store

LISTED = [field for one in UNPROVEN for field in one.fields]
PRIVATE = [field for field in LISTED if field.split(":")[0] in FILES]
"""What stands in a store alone."""

EVERYTHING = bool(os.environ.get("REFEREE_FORGE_ALL"))
"""Whether every place of every table is forged, in five leagues, which takes long; else a sample, always the same."""

MOST = 1 << 30 if EVERYTHING else 4
"""Patterns of a table that are tried, besides those that are listed."""

pytestmark = pytest.mark.timeout(7200 if EVERYTHING else 1800)

LEAGUES = ("eventful", "partners", "gauntlet", "compared", "workers") if EVERYTHING else ("eventful",)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Form, Tables]]:
    """A store of each kind of league, with every private fact that one may have."""
    folder = tmp_path_factory.mktemp("stores")
    made = {}
    for kind in LEAGUES:
        path = folder / f"{kind}.sqlite"
        KINDS[kind](path)
        with Store.write(path) as store:
            host = {**store.league()["host"], "machine": "0" * 32, "boot": "b"}
            store.put(tokens={"far": "secret"}, file="/srv/a/league.toml", cluster=False, host=host)
            store.put(skipped=[["/srv/a/bots/late", "it fails"]])
            store.put(**roots(store))
        with Store.read(path) as store:
            assert verify(store).ok
        made[kind] = (path, *load_store(path))
    return made


def is_found(path: Path, **published: str) -> bool:
    try:
        with Store.read(path) as store:
            return not verify(store, **published).ok
    except StoreError:
        return True


def listed(pattern: str) -> list[str]:
    return [field for field in LISTED if fnmatchcase(pattern, field) or fnmatchcase(exported(pattern), field)]


def unfound(
    stores: dict[str, tuple[Path, Form, Tables]], tmp_path: Path, table: str, *, cover: bool, publish: bool
) -> Iterator[tuple[str, str, str]]:
    """The forgeries of a table that a verification does not find: (league, pattern, what was done)."""
    for kind, (sound, form, tables) in stores.items():
        facts = {row["key"]: row["value"] for row in tables["league"]}
        published = {name: facts[name] for name in ("commitment", "record_root")} if publish else {}
        rng = random.Random(f"{kind} {table}")  # noqa: S311  # repeatable on purpose
        path = tmp_path / "forged.sqlite"
        for pattern, what, forged in forgeries(
            form, tables, table, rng, MOST, listed, every_row=EVERYTHING and kind == LEAGUES[0]
        ):
            made = covered(forged, tmp_path) if cover else forged
            if made == tables or not save_store(form, made, sound, path, tables):
                continue  # made to fit, it is what it was; or SQLite refuses such a row
            if not is_found(path, **published):
                yield kind, pattern, what


def test_the_tables_are_those_of_the_file(stores: dict[str, tuple[Path, Form, Tables]]) -> None:
    """No table escapes the tests below: each that a store has is forged."""
    for _, form, tables in stores.values():
        assert sorted(tables) == sorted(FILES)
        assert all(rows for table, rows in tables.items() if table not in ("fault", "ruling"))
        assert {("league", "value"), ("entrant", "about"), ("game", "summary"), ("fixture", "seats")} <= form.json
        assert form.packed == {("game", "record")}


@pytest.mark.parametrize("table", FILES)
def test_with_the_published_root_only_what_is_private_can_be_changed(
    stores: dict[str, tuple[Path, Form, Tables]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    Memory(monkeypatch)
    passed = list(unfound(stores, tmp_path, table, cover=True, publish=True))
    private = {field for _, pattern, _ in passed for field in PRIVATE if fnmatchcase(pattern, field)}
    assert [one for one in passed if not any(fnmatchcase(one[1], field) for field in PRIVATE)] == []
    assert private == {
        field for field in PRIVATE if field.startswith(f"{table}:")
    }  # what is listed is not found, indeed


@pytest.mark.parametrize("table", FILES)
@pytest.mark.parametrize("cover", [False, True], ids=["as it is", "made to fit"])
def test_without_it_what_follows_from_something_is_found(
    stores: dict[str, tuple[Path, Form, Tables]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    table: str,
    cover: bool,
) -> None:
    """The forger computes digests, chains, commitment and roots anew, or leaves them; nothing was published."""
    Memory(monkeypatch)
    passed = list(unfound(stores, tmp_path, table, cover=cover, publish=False))
    assert [one for one in passed if not listed(one[1])] == []


@pytest.mark.parametrize("pattern", ["attempt: redeal", "entrant: about", "league: host"])
def test_what_once_passed_in_some_row_is_found_in_every_row(
    stores: dict[str, tuple[Path, Form, Tables]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    """An attempt at packs that were dealt later; an entrant or a host with a field that none has."""
    Memory(monkeypatch)
    sound, form, tables = stores["eventful"]
    table, path, rng = pattern.partition(":")[0], tmp_path / "forged.sqlite", random.Random(pattern)  # noqa: S311
    tried = 0
    for place, what, forged in forgeries(form, tables, table, rng, 0, pattern.__eq__, every_row=True):
        if place == pattern and save_store(form, covered(forged, tmp_path), sound, path, tables):
            assert is_found(path), what
            tried += 1
    assert tried

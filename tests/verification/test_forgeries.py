"""Every field of an export forged, one at a time: what follows from something is found, what does not is listed, and only that."""

import random
import shutil
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from referee.league.export import write_export
from referee.league.league import read_league
from referee.league.store import Exported, Store, StoreError
from referee.verification.unverifiable import UNPROVEN
from referee.verification.verify import verify
from tests.verification.forging import Files, Memory, cover, forgeries, load, save
from tests.verification.leagues import KINDS

LISTED = [field for one in UNPROVEN for field in one.fields]


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An export of each kind of league."""
    folder = tmp_path_factory.mktemp("exports")
    for name in ("eventful", "partners", "gauntlet"):
        KINDS[name](folder / f"{name}.sqlite")
        with Store.read(folder / f"{name}.sqlite") as store:
            write_export(store, read_league(store), folder / name, {"standings.csv": "a,b\n"})
        assert verify(Exported(folder / name)).ok
    return {name: folder / name for name in KINDS if (folder / name).exists()}


def is_found(folder: Path, **published: str) -> bool:
    try:
        return not verify(Exported(folder), **published).ok
    except StoreError:
        return True


def listed(pattern: str) -> list[str]:
    return [field for field in LISTED if fnmatchcase(pattern, field) or pattern == field]


def covered(files: Files, folder: Path) -> None:
    """Writes the forged files, made to fit as far as they can be."""
    try:
        cover(files, folder)
    except Exception:  # noqa: BLE001  # whatever it is: so garbled that nothing can be computed of it
        save(files, folder)


FILES = (
    "attempts.jsonl",
    "definition.toml",
    "entrants.jsonl",
    "export.json",
    "faults.jsonl",
    "fixtures.jsonl",
    "games.jsonl",
    "league.json",
    "records.jsonl",
    "rulings.jsonl",
    "schema.json",
    "sets.jsonl",
    "standings.csv",
)
MOST = 8
"""Patterns of a file that are tried in one run, besides those that are listed; which ones changes with the day."""


@pytest.mark.parametrize("name", FILES)
def test_whoever_makes_everything_fit_is_found_unless_it_is_listed(
    exports: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The forger computes digests, chains, commitment and roots anew, and nothing was published: only logic is left."""
    Memory(monkeypatch)
    missed: list[tuple[str, str, str]] = []
    excused: set[str] = set()
    for kind in ("eventful", "partners", "gauntlet") if name == "records.jsonl" else ("eventful", "partners"):
        folder = Path(shutil.copytree(exports[kind], tmp_path / kind))
        files, rng = load(folder), random.Random(f"{kind} {name}")  # noqa: S311  # repeatable on purpose
        for pattern, what, forged in forgeries(files, name, rng, MOST, listed):
            covered(forged, folder)
            if load(folder) == files or is_found(folder):  # the first: made to fit, it is what it was
                continue
            excused.update(listed(pattern))
            if not listed(pattern):
                missed.append((kind, pattern, what))
    assert not missed
    if (
        name == "league.json"
    ):  # who changes the definition has to make the standings anew too, which this forger does not
        assert excused
        return
    assert excused == {field for field in LISTED if field.startswith(f"{name}:")}  # what is listed is not found, indeed


@pytest.mark.parametrize("name", FILES)
def test_with_the_published_root_nothing_that_is_exported_can_be_changed(
    exports: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The same forger, where commitment and record root are known: only files for people are left to him."""
    Memory(monkeypatch)
    folder = Path(shutil.copytree(exports["eventful"], tmp_path / "export"))
    files, rng = load(folder), random.Random(name)  # noqa: S311  # repeatable on purpose
    facts = files["league.json"]
    published = {"commitment": facts["commitment"], "record_root": facts["record_root"]}
    for pattern, what, forged in forgeries(files, name, rng, MOST, listed):
        covered(forged, folder)
        people = pattern.startswith(("export.json:", "standings.csv:"))
        assert load(folder) == files or is_found(folder, **published) or people, (pattern, what)

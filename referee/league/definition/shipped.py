"""What comes with the referee: the sample bots and the tournament definitions, by name."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import referee

_PACKAGE = Path(referee.__file__).resolve().parent


def sample_root() -> Path:
    """The folder of the Python sample bots, whether the referee runs from a checkout or is installed."""
    return shipped_folder("sample_bots/python")


@cache
def sample_bots() -> dict[str, Path]:
    """The folder of each shipped sample bot, by its name."""
    return _by_name(sample_root(), lambda path: (path / "bot.toml").is_file())


@cache
def shipped_tournaments() -> dict[str, Path]:
    """The file of each shipped tournament definition, by its name without ``.toml``."""
    return _by_name(shipped_folder("tournaments"), lambda path: path.suffix == ".toml")


def shipped_folder(name: str) -> Path:
    """A folder that comes with the referee: in a wheel inside the package (pyproject.toml puts it there), in a checkout
    beside it.
    """
    # In this order: beside an installed package, a folder of this name would be somebody else's.
    installed = _PACKAGE / "data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def shipped_file(name: str) -> Path:
    """A file that comes with the referee, as ``shipped_folder``."""
    installed = _PACKAGE / "data" / name
    return installed if installed.is_file() else _PACKAGE.parent / name


def copy_protos(folder: Path) -> list[Path]:
    """Writes the .proto files of the wire contract to a folder, which is made; returns them."""
    target = folder / "allfours" / "v1"
    target.mkdir(parents=True, exist_ok=True)
    sources = sorted((shipped_folder("protos") / "allfours" / "v1").glob("*.proto"))
    for source in sources:
        copy_shipped(source, target / source.name)
    return [target / source.name for source in sources]


def copy_shipped(source: Path, target: Path) -> None:
    """Copies a file that comes with the referee; onto itself, in its own checkout, it is left as it is."""
    if not (target.exists() and target.samefile(source)):
        shutil.copyfile(source, target)


def _by_name(folder: Path, wanted: Callable[[Path], bool]) -> dict[str, Path]:
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return {path.stem: path for path in found if wanted(path)}

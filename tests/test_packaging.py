"""What `pip install .` brings: the package, its command, and the data that it looks up at run time."""

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

import pytest

from referee.league.entrants.bot_digest import PRODUCTS, TRACES

ROOT: Final = Path(__file__).resolve().parents[1]
NOT_SHIPPED: Final = TRACES | PRODUCTS
SHIPPED: Final = ("protos", "sample_bots", "tournaments", "tests/vectors")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by the project's own build back end without a look at an index."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.mark.parametrize("folder", SHIPPED)
def test_the_wheel_holds_every_file_of(folder: str, wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    files = [path for path in (ROOT / folder).rglob("*") if path.is_file() and NOT_SHIPPED.isdisjoint(path.parts)]
    assert files
    missing = [path for path in files if f"referee/data/{path.relative_to(ROOT)}" not in names]
    assert not missing
    built = [name for name in names if name.startswith("referee/data") and not NOT_SHIPPED.isdisjoint(name.split("/"))]
    assert not built


def test_the_wheel_holds_what_new_projects_are_made_of(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    program = "import sys; from referee.cli import main; sys.argv[1:] = ['new', 'python', 'mine']; main()"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "mine" / ".github" / "workflows" / "rules.yml").is_file()


def test_the_wheel_holds_the_package_and_nothing_compiled(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = [path.relative_to(ROOT).as_posix() for path in (ROOT / "referee").rglob("*.py")]
    assert names.issuperset({*modules, "referee/py.typed"})
    pages = [path.relative_to(ROOT).as_posix() for path in (ROOT / "referee").glob("**/templates/*")]
    assert len(pages) > 30
    assert names.issuperset(pages)
    assert not [name for name in names if name.endswith((".pyc", ".sqlite")) or name.startswith(("tests", "docs"))]


def test_the_package_runs_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    """Unpacked somewhere else, without the checkout on the path, the command answers."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    program = "import referee, referee.cli, sys; print(referee.__file__); sys.argv = ['referee', '--help']; referee.cli.main()"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path))
    assert "Usage" in done.stdout

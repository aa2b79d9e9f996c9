"""Links, and bots with a virtual environment of their own: the same with and without a sandbox, or refused by name."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from referee.league.definition.definition import parse_definition
from referee.league.entrants.bot_source import BotSourceError, find_bot
from referee.league.entrants.roster import enter
from tests.program import FIRST, referee

BOTH = [pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap")), "none"]

HEAD = '[tournament]\nname = "x"\nvariant = "auction-pitch"\nseats = 2\n'
MANIFEST = 'name = "mine"\nversion = "1"\nrun = ["python", "bot.py"]\n'
HELPED = "from helper import choose\nfrom referee.bot import run\nrun(choose)\n"
HELPER = "def choose(turn):\n    return turn.legal[0]\n"


@pytest.fixture
def yard(tmp_path: Path) -> Path:
    """A bot whose helper is linked in from beside it, twice over; and links to bots."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "helper.py").write_text(HELPER)
    (tmp_path / "shared" / "again.py").symlink_to("helper.py")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "bot.toml").write_text(MANIFEST)
    (mine / "bot.py").write_text(HELPED)
    (mine / "helper.py").symlink_to("../shared/again.py")
    (tmp_path / "folder").symlink_to(mine)
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "first.py").write_text(FIRST)
    (tmp_path / "link.py").symlink_to("far/first.py")
    return tmp_path


@pytest.mark.parametrize("sandbox", BOTH)
def test_links_to_bots_and_linked_files_work_alike(sandbox: str, yard: Path) -> None:
    bots = "".join(
        f'[[bots]]\npath = "{path}"\nname = "{name}"\n'
        for path, name in (("link.py", "a"), ("mine", "b"), ("folder", "c"))
    )
    (yard / "club.toml").write_text(f"{HEAD}[schedule]\nsets = 1\n{bots}")
    done = referee(yard, "run", "club.toml", "--sandbox", sandbox, "--output", "plain")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fault " not in done.stderr
    assert "withdrawn" not in done.stderr


def test_what_is_behind_a_link_counts_for_the_digest(yard: Path) -> None:
    before = find_bot("mine", yard).digest, find_bot("link.py", yard).digest
    (yard / "shared" / "helper.py").write_text(HELPER + "# changed\n")
    (yard / "far" / "first.py").write_text(FIRST + "# changed\n")
    assert find_bot("mine", yard).digest != before[0]
    assert find_bot("link.py", yard).digest != before[1]
    assert find_bot("link.py", yard).name == "link"


def test_a_linked_folder_is_refused_by_name(yard: Path) -> None:
    (yard / "mine" / "lib").symlink_to(yard / "shared")
    with pytest.raises(BotSourceError, match=r'found "lib", a link to a folder outside.*copy that folder'):
        find_bot("mine", yard)


def test_links_inside_of_the_folder_or_to_nowhere_or_to_the_system_are_nobodys_business(yard: Path) -> None:
    mine = yard / "mine"
    (mine / "own").mkdir()
    for name, target in (("inner", "own"), ("gone", "nowhere"), ("loop", "loop"), ("sh", "/bin/sh"), ("self", ".")):
        (mine / name).symlink_to(target)
    assert {path.name for path in find_bot("mine", yard).command().reads} == {"again.py", "helper.py"}


def test_a_submission_shows_nothing_of_ours_through_a_link(yard: Path) -> None:
    subs = yard / "subs"
    shutil.copytree(yard / "mine", subs / "eve", symlinks=True)
    (subs / "eve" / "helper.py").unlink()
    (subs / "eve" / "helper.py").symlink_to(yard / "shared" / "helper.py")
    (subs / "mallory").symlink_to(yard / "mine")
    (subs / "trudy.py").symlink_to(yard / "far" / "first.py")
    shutil.copytree(yard / "mine", subs / "ann")
    roster = enter(parse_definition(f'{HEAD}[[bots]]\nbots_from = "subs/*"\n', folder=yard))
    assert [one.key for one in roster.entrants] == ["mine"]
    assert len(roster.skipped) == 3
    assert all("a link that leads out of it" in one.reason for one in roster.skipped)


@pytest.mark.parametrize("sandbox", BOTH)
def test_a_bot_may_have_a_virtual_environment_of_its_own(sandbox: str, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(mine / ".venv")], check=True)
    (site,) = (mine / ".venv" / "lib").glob("python*/site-packages")
    ours = Path(sysconfig.get_path("purelib"))
    for name in ("grpc", "google", "typing_extensions.py"):
        place = ours / name
        if place.is_dir():
            shutil.copytree(place, site / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif place.exists():
            shutil.copy(place, site / name)
    (site / "only_here.py").write_text(HELPER)
    (mine / "bot.toml").write_text(MANIFEST.replace('"python"', '".venv/bin/python"'))
    (mine / "bot.py").write_text(HELPED.replace("helper", "only_here"))
    done = referee(tmp_path, "play", "mine", "random", "-n", "2", "--sandbox", sandbox, "--output", "plain")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fault " not in done.stderr

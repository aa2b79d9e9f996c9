"""tournaments/languages.toml: whoever is built plays; Python alone is enough."""

import json
import shutil
from pathlib import Path
from typing import Final

import pytest

from referee.league.definition.definition import load_definition
from referee.league.definition.shipped import shipped_folder
from referee.league.entrants.bot_digest import PRODUCTS
from referee.league.entrants.roster import enter
from tests.languages.tools import BOTS, LANGUAGES, ROOT, built, command

TOURNAMENT: Final = shipped_folder("tournaments") / "languages.toml"
PYTHON: Final = {"random", "careful", "montecarlo"}
COMPILED: Final = {f"{bot}-{language}" for language in LANGUAGES if language != "python" for bot in BOTS}
TOOLS: Final = sorted({tool for told in LANGUAGES.values() for tool in told.needs})


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A checkout in which nothing is built."""
    shutil.copytree(ROOT, tmp_path / "sample_bots", ignore=shutil.ignore_patterns(*PRODUCTS, "__pycache__"))
    (tmp_path / "tournaments").mkdir()
    return Path(shutil.copy(TOURNAMENT, tmp_path / "tournaments"))


def test_python_alone_is_enough_and_each_bot_left_out_has_its_line(elsewhere: Path) -> None:
    roster = enter(load_definition(elsewhere))
    assert {entrant.key for entrant in roster.entrants} == PYTHON
    assert len(roster.skipped) == len(COMPILED)
    assert all("it is not built" in one.reason and "referee build" in one.reason for one in roster.skipped)
    assert not any("\n" in one.reason for one in roster.skipped)


@pytest.mark.timeout(7200)
@pytest.mark.needs(*TOOLS)
def test_all_of_them_play_a_league_without_a_fault(elsewhere: Path, tmp_path: Path) -> None:
    for language in LANGUAGES:
        for bot in BOTS:
            built(language, bot)
    text = (
        TOURNAMENT.read_text("utf-8").replace("sets = 8 ", "sets = 1 ").replace('[[bots]]\npath = "montecarlo"\n', "")
    )
    text = text.replace("../sample_bots", str(ROOT))
    assert "sets = 1 " in text
    (tmp_path / "short.toml").write_text(text, "utf-8")
    done = command("run", "short.toml", "--trust-bots", "--output", "json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert {row["entrant"] for row in rows} == COMPILED | PYTHON - {"montecarlo"}
    assert all(row["games"] == 2 * (len(rows) - 1) for row in rows)
    assert not [row["entrant"] for row in rows if any(row["tally"][fault] for fault in ("illegal_actions", "crashes"))]

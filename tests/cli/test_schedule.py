"""``referee schedule``, as a user types it."""

import json
import subprocess
from pathlib import Path

from tests.program import referee

BOT = "from referee.bot import run\nrun(lambda turn: turn.legal[0])\n"


def schedule(folder: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "league.toml").write_text(text)
    return referee(folder, "schedule", "league.toml", *arguments)


def league(seats: int, bots: str, rest: str = "") -> str:
    return f'[tournament]\nname = "Big"\nvariant = "auction-pitch"\nseats = {seats}\n[schedule]\nsets = 2\n{rest}\n{bots}\n'


def test_a_class_beyond_max_tables_is_scheduled_by_a_design_and_printed(tmp_path: Path) -> None:
    for number in range(13):
        folder = tmp_path / f"class/b{number:02}"
        folder.mkdir(parents=True)
        (folder / "bot.py").write_text(BOT)
        (folder / "bot.toml").write_text(f'name = "b{number:02}"\nversion = "1"\nrun = ["python", "bot.py"]\n')
    text = league(4, '[[bots]]\nbots_from = "class/*"', "max_tables = 30")
    shown = schedule(tmp_path, text)
    assert shown.returncode == 0, shown.stderr + shown.stdout
    assert "13 tables, 26 sets, 104 games" in shown.stdout
    assert "ok    pairs  every pair meets at 1 table" in shown.stdout
    assert "Of 715 tables" in shown.stdout
    told = json.loads(schedule(tmp_path, text, "--output", "json").stdout)
    assert told["ok"]
    assert told["designed"]
    assert len(told["tables"]) == 13
    assert len(told["fixtures"]) == 104
    assert {tuple(one["seats"]) for one in told["entrants"]} == {(8, 8, 8, 8)}
    assert not (tmp_path / "leagues").exists()


def test_a_schedule_in_which_seats_are_unequal_is_said_so_and_exits_with_one(tmp_path: Path) -> None:
    text = league(3, '[[bots]]\npath = "careful"\ncopies = 2\n[[bots]]\npath = "random"', "duplicate = false")
    shown = schedule(tmp_path, text)
    assert shown.returncode == 1
    assert "FAIL  seats" in shown.stdout
    assert "ok    packs" in shown.stdout


def test_too_few_bots_are_the_same_error_as_in_a_run(tmp_path: Path) -> None:
    shown = schedule(tmp_path, league(3, '[[bots]]\npath = "careful"'))
    assert shown.returncode == 2
    assert "copies = 3" in shown.stderr

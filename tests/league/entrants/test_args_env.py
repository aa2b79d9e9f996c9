"""Arguments and variables of a bot: they reach it with and without a sandbox, and a bot with others is another bot."""

import json
from pathlib import Path

import pytest

from referee.league.definition.definition import DefinitionError, parse_definition
from referee.league.definition.problems import ProblemsError
from referee.league.entrants.roster import Roster, enter
from referee.league.store import Store
from tests.program import referee

BOTH = [pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap")), "none"]
HEAD = '[tournament]\nname = "x"\nvariant = "auction-pitch"\nseats = 2\n[schedule]\nsets = 1\n'
TELLS = """\
import json, os, sys
from referee.bot import run
print("GOT " + json.dumps([sys.argv[1:], {name: os.environ.get(name) for name in ("DEPTH", "MOOD")}]), flush=True)
run(lambda turn: turn.legal[0])
"""
MANIFEST = 'name = "mine"\nversion = "1"\nrun = ["python", "bot.py", "--own"]\nenv = { DEPTH = "1", MOOD = "calm" }\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "bot.toml").write_text(MANIFEST)
    (tmp_path / "mine" / "bot.py").write_text(TELLS)
    (tmp_path / "lone.py").write_text(TELLS)
    return tmp_path


def entered(folder: Path, entry: str) -> Roster:
    return enter(parse_definition(HEAD + entry, file="club.toml", folder=folder))


@pytest.mark.parametrize("sandbox", BOTH)
def test_they_reach_the_bot(sandbox: str, folder: Path) -> None:
    bots = '[[bots]]\npath = "mine"\nargs = ["--deep", "7"]\nenv = { DEPTH = "2" }\n'
    bots += '[[bots]]\npath = "lone.py"\nargs = ["-x"]\n[bots.env]\nMOOD = "bold"\n'
    (folder / "club.toml").write_text(HEAD + bots)
    done = referee(folder, "run", "club.toml", "--sandbox", sandbox, "--output", "plain")
    assert done.returncode == 0, done.stderr
    got = {
        name: (folder / f"leagues/club.logs/{name}.log").read_text().split("GOT ", 1)[1] for name in ("mine", "lone")
    }
    assert json.loads(got["mine"].splitlines()[0]) == [["--own", "--deep", "7"], {"DEPTH": "2", "MOOD": "calm"}]
    assert json.loads(got["lone"].splitlines()[0]) == [["-x"], {"DEPTH": None, "MOOD": "bold"}]
    assert referee(folder, "verify", "leagues/club.sqlite").returncode == 0
    with Store.read(folder / "leagues/club.sqlite") as store:
        assert store.entrants()["lone"]["environment"] == {"MOOD": "bold"}


@pytest.mark.parametrize("sandbox", BOTH)
def test_it_runs_where_its_manifest_says(sandbox: str, folder: Path) -> None:
    inner = folder / "mine" / "engine"
    inner.mkdir()
    (inner / "bot.py").write_text((folder / "mine" / "bot.py").read_text())
    (folder / "mine" / "bot.py").unlink()
    (folder / "mine" / "bot.toml").write_text(MANIFEST + 'cwd = "engine"\n')
    (folder / "club.toml").write_text(HEAD + '[[bots]]\npath = "mine"\ncopies = 2\n')
    for command in (["run", "club.toml"], ["check", "mine", "--seconds", "0", "--area", "LIFE"]):
        done = referee(folder, *command, "--sandbox", sandbox)
        assert done.returncode == 0, done.stderr + done.stdout
    assert referee(folder, "verify", "leagues/club.sqlite").returncode == 0
    with Store.read(folder / "leagues/club.sqlite") as store:
        assert store.entrants()["mine"]["cwd"] == "engine"


@pytest.mark.parametrize("cwd", ["/etc", "../lone", "engine/../..", "missing"])
def test_it_runs_nowhere_else(cwd: str, folder: Path) -> None:
    (folder / "mine" / "bot.toml").write_text(MANIFEST + f'cwd = "{cwd}"\n')
    with pytest.raises(ProblemsError, match="a folder inside the bot's own") as caught:
        entered(folder, '[[bots]]\npath = "mine"\n')
    assert "remedy: " in str(caught.value)


def test_a_bot_with_others_is_another_bot(folder: Path) -> None:
    plain, deep, same = (
        entered(folder, f'[[bots]]\npath = "lone.py"\n{more}').entrants[0]
        for more in ("", 'args = ["--deep"]\n', "args = []\nenv = {}\n")
    )
    assert plain == same
    assert deep.digest != plain.digest
    assert deep.version == deep.digest[:8]
    variable = entered(folder, '[[bots]]\npath = "mine"\nenv = { DEPTH = "9" }\n').entrants[0]
    assert variable.version == "1"
    assert variable.digest != entered(folder, '[[bots]]\npath = "mine"\n').entrants[0].digest
    both = '[[bots]]\npath = "mine"\n[[bots]]\npath = "mine"\nname = "deep"\nargs = ["--deep"]\n'
    assert [one.key for one in entered(folder, both).entrants] == ["mine", "deep"]


@pytest.mark.parametrize(
    ("entry", "field", "remedy"),
    [
        ('path = "mine"\nenv = { DEPTH = 3 }', "[[bots]] entry 1, env, DEPTH", 'put it in quotes, such as "3"'),
        ('path = "mine"\nenv = { REFEREE_TOKEN = "x" }', "[[bots]] entry 1, env, REFEREE_TOKEN", "another name"),
        ('path = "mine"\nenv = { "a b" = "x" }', "[[bots]] entry 1, env, a b", "another name"),
        ('path = "mine"\nenv = { A = "\\u001b" }', "[[bots]] entry 1, env, A", "shorten it"),
        ('path = "mine"\nargs = "--deep 3"', "[[bots]] entry 1, args", 'write args = ["--deep", "3"]'),
        ('command = ["sh"]\nname = "x"\nargs = ["y"]', "[[bots]] entry 1, args", "put them into command"),
        ('bots_from = "*"\nenv = { A = "x" }', "[[bots]] entry 1, env", "an entry of its own"),
        ('remote = true\nname = "x"\nargs = ["y"]', "[[bots]] entry 1, args", "where the bot is started"),
    ],
)
def test_what_cannot_be_is_told(entry: str, field: str, remedy: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        parse_definition(f"{HEAD}[[bots]]\n{entry}\n".replace("sets = 1", "sets = 1\nduplicate = false"))
    (problem,) = caught.value.problems
    assert problem.field == field
    assert remedy in problem.remedy

"""What a bot of a league finds when it looks for everything: nothing but what is its own."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.league import league
from referee.league.definition.definition import parse_definition
from referee.league.entrants.roster import Entrant, enter
from referee.league.league import begin, plan_of, read_league
from referee.league.store import Store
from referee.sandbox.command import PACKAGE, Command, named_entries
from referee.sandbox.limits import ResourceLimits
from tests.net.bot_processes import BotProcesses
from tests.program import PATIENCE

WORD = "secret-" + "of-the-league"
"""What every file of the league holds that no bot may read. It is put together here so that this file does not hold it."""

OWN = "own-" + "secret"

LOOKS = """
import os, sys
word, own = b"secret-" + b"of-the-league", b"own-" + b"secret"
found = set()
def look(path):
    try:
        with open(path, "rb") as file:
            text = file.read(1 << 20)
    except OSError:
        return
    if word in text:
        print("FOUND", path)
    if own in text:
        print("OWN")
for top in os.listdir("/"):
    if os.path.exists("/etc/shadow"):
        break  # the whole machine would take long, and what is looked for is named below
    if top not in ("usr", "proc", "dev"):
        for where, folders, files in os.walk("/" + top):
            folders[:] = [name for name in folders if name not in ("site-packages", "node_modules", "lib")]
            for name in files:
                look(os.path.join(where, name))
for pid in os.listdir("/proc"):
    if pid.isdigit():
        for name in ("environ", "cmdline", "maps", "cwd", "root/etc/hostname"):
            look(f"/proc/{pid}/{name}")
for path in PLACES:
    look(path)
    try:
        print("FOUND listed", path) if {"rival.py", "other.sqlite", "league.toml"} & {*os.listdir(path)} else None
    except OSError:
        pass
print(word in str(dict(os.environ)).encode() and "FOUND in the environment" or "ready")
"""

DEFINITION = f"""
# {WORD}
[tournament]
name = "Secrets"
variant = "auction-pitch"
seats = 3

[schedule]
sets = 1
seed = "{WORD}"

[[bots]]
name = "command"
command = ["python", "looks.py", "data"]

[[bots]]
path = "looks_too.py"

[[bots]]
path = "folder"

[[bots]]
path = "rival"

[[bots]]
path = "folder/inner"
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that other users may enter, as tmp_path is not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def write_league(place: Path, leagues: str = "leagues") -> tuple[Path, list[Path]]:
    """A league in a folder, with all that may lie there. Its store, and everything with a secret in it."""
    (place / leagues / "secrets.logs").mkdir(parents=True)
    secret = [place / "league.toml", place / "other.toml", place / "rival.py"]
    secret += [
        place / leagues / name for name in ("other.sqlite", "other.sqlite-wal", "secrets.logs/rival.log", "other.html")
    ]
    secret += [place / "rival" / "weights", place / "folder" / "inner" / "weights", place / "folder" / "cup.toml"]
    program = LOOKS.replace(
        "PLACES", repr([str(path) for path in (*secret, *map(Path, ("/", place, place / leagues)))])
    )
    for folder, name in (("folder", "folder"), ("rival", "rival"), ("folder/inner", "inner")):
        (place / folder).mkdir(exist_ok=True)
        (place / folder / "bot.toml").write_text(
            f'name = "{name}"\\nversion = "1"\\nrun = ["python", "bot.py"]\\n'.replace("\\n", "\n")
        )
        (place / folder / "bot.py").write_text(program)
    for path in secret:
        path.write_text(DEFINITION if path.suffix == ".toml" else WORD)
    (place / "folder" / "weights").write_text(OWN)
    for name in ("looks.py", "looks_too.py"):
        (place / name).write_text(program + f"# {OWN}")
    (place / "data").mkdir()
    # A link in a bot's folder to another folder is refused; one to a file that is not the league's makes the file its own.
    links = [path for path in secret if path != place / "rival.py"]
    for folder, targets in (("folder", links), ("data", [*secret, place, place / leagues])):
        for number, path in enumerate(targets):
            (place / folder / f"link{number}").symlink_to(path)
    definition = parse_definition(DEFINITION, folder=place)
    store = place / leagues / "secrets.sqlite"
    begin(definition, enter(definition), store, "none", {})
    return store, secret


def commands_of(store: Path) -> dict[str, Command]:
    with Store.read(store) as reader:
        plan = plan_of(read_league(reader), store.with_suffix(".logs"), "bubblewrap")
    found = {key: bot.command_of(0) for key, bot in plan.bots.items()}
    return {key: command for key, command in found.items() if command is not None}


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize("leagues", ["leagues", ".", "folder/leagues", "folder"])
@pytest.mark.parametrize("bot", ["command", "looks_too", "folder"])
def test_a_bot_that_looks_everywhere_finds_only_its_own(
    bots_here: BotProcesses, place: Path, monkeypatch: pytest.MonkeyPatch, bot: str, leagues: str
) -> None:
    store, _ = write_league(place, leagues)
    command = commands_of(store)[bot]
    monkeypatch.setenv("REFEREE_TEST_SECRET", WORD)
    (bots_here.bot_folder.parent / "another").write_text(WORD)

    async def story() -> None:
        # Another bot, with the word in its command line, its environment and its private folder.
        (bots_here.bot_folder / "hold.py").write_text(
            f"import os, time\nopen(os.environ['HOME'] + '/mine', 'w').write('{WORD}')\nprint('ready', flush=True)\ntime.sleep(3600)"
        )
        other = Command(
            argv=("python", "hold.py", WORD, bots_here.word),
            folder=bots_here.bot_folder,
            name="other",
            environment={"SECRET": WORD},
        )
        await bots_here.ready(other, "none")
        end, output = await bots_here.end_of(command, "bubblewrap")
        assert end.code == 0, output
        assert output.splitlines()[-1] == "ready", output
        assert "FOUND" not in output
        assert "OWN" in output

    bots_here.run(story)


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize("bot", ["command", "looks_too", "folder"])
def test_without_a_sandbox_it_finds_all_of_it(bots_here: BotProcesses, place: Path, bot: str) -> None:
    """Which is what the line about `none` says; and it shows that the search above would find it."""
    store, secret = write_league(place)
    command = commands_of(store)[bot]

    async def story() -> None:
        end, output = await bots_here.end_of(command, "none", ResourceLimits())
        assert end.code == 0, output
        assert {str(path) for path in secret} <= {line.removeprefix("FOUND ") for line in output.splitlines()}

    bots_here.run(story)


AS_A_USER = """
import os, subprocess, sys
sys.path[:0] = PATHS
from pathlib import Path
from referee.sandbox.limits import ResourceLimits
from referee.sandbox.command import Command
from referee.sandbox.isolation import put_in_box, own_user_id
folder, only, hides, script = Path(ARGS[0]), ARGS[1], tuple(map(Path, ARGS[2])), ARGS[3]
if os.geteuid() == 0:
    os.setgroups([]), os.setresgid(65534, 65534, 65534), os.setresuid(65534, 65534, 65534)
command = Command(argv=("/bin/sh", "-c", script), folder=folder, name="bot", only=only, whole=not only, hides=hides)
box = put_in_box(command, Path("/bin/sh"), ResourceLimits())
done = subprocess.run(box.argv, pass_fds=box.handles, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
print(done.returncode)
print(done.stdout, done.stderr)
"""


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize("bot", ["command", "looks_too", "folder"])
def test_a_normal_users_bot_finds_no_more(place: Path, bot: str) -> None:
    """There the bot has the very user id that owns the store: what it cannot name, it cannot open."""
    store, secret = write_league(place)
    command = commands_of(store)[bot]
    if os.geteuid() == 0:
        for where, folders, files in os.walk(place):
            for name in (".", *folders, *files):
                os.chown(Path(where, name), 65534, 65534, follow_symlinks=False)
    paths = " ".join(f"'{path}'" for path in (*secret, store))
    script = f"cat {paths} 2>/dev/null; find '{place}' -type f ! -empty 2>/dev/null; echo done"
    given = (str(command.folder), command.only, [str(path) for path in command.hides], script)
    program = AS_A_USER.replace("PATHS", repr(sys.path)).replace("ARGS", repr(given))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    if "No permissions to create" in done.stdout or "setting up uid map" in done.stdout:
        pytest.skip("users may not make namespaces here")
    assert "done" in done.stdout, done.stdout + done.stderr
    assert WORD not in done.stdout
    seen = {line for line in done.stdout.splitlines() if line.startswith(str(place))}
    own = {
        "command": {"looks.py"},
        "looks_too": {"looks_too.py"},
        "folder": {f"folder/{x}" for x in ("bot.py", "bot.toml", "weights")},
    }
    assert {path.removeprefix(f"{place}/") for path in seen} == own[bot]


def test_what_a_command_names_of_a_folder(tmp_path: Path) -> None:
    for name in (
        "bot.js",
        "bots/bob/run.sh",
        "bots/bob/more",
        "classes/Bot.class",
        "lib/a.jar",
        "pack/__init__.py",
        "net.bin",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for argv, names in {
        ("node", "bot.js"): ("bot.js",),
        ("node", "./bot.js", "--net=net.bin"): ("bot.js", "net.bin"),
        ("bots/bob/run.sh", "bot.js"): ("bots/bob", "bot.js"),
        ("java", "-cp", "classes:lib/a.jar", "Bot"): ("classes", "lib"),
        ("python", "-m", "pack.bot"): ("pack",),
        ("python", "-m", "bots.bob"): ("bots",),
        ("node", "bots/bob/more", "bots"): ("bots",),
        ("x", "..", ".", "/etc/passwd", "../x", "nowhere", ""): (),
        ("x", str(tmp_path / "bot.js"), str(tmp_path)): ("bot.js",),
    }.items():
        assert set(named_entries(argv, tmp_path)) == set(names), argv


@pytest.mark.parametrize("only", [("first.py",), ()])
def test_what_the_referee_runs_from_is_hidden_from_nobody_though_it_lies_beside_a_bot(only: tuple[str, ...]) -> None:
    """As in a checkout: .venv, the package and a newcomer's first bot share a folder."""
    for beside in (Path(sys.prefix).parent, PACKAGE.parent):
        argv = (sys.executable, "first.py", f"--data={PACKAGE.name}")
        first = Entrant(
            key="first",
            name="first",
            version="1",
            argv=argv,
            folder=beside,
            digest="",
            remote=False,
            variants=(),
            copy_of=None,
            only=only,
        )
        private = league._private([first], beside / "leagues" / "x.logs")
        needed = (Path(sys.executable), PACKAGE / "bot.py")
        assert not [path for path in private for one in needed if one.is_relative_to(path)]

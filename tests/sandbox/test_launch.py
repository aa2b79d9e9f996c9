"""What a bot is given at its start, and what is said when it cannot be started."""

import asyncio
import json
import sys
import threading
from pathlib import Path

import pytest

from referee.sandbox.command import bot_environment, find_program, installations
from referee.sandbox.launch import Command, LaunchError, Policy, ResourceLimits
from tests.net.bot_processes import HOLD, BotProcesses

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="leftovers are looked for in /proc: Linux only")


LOOKS_AROUND = """
    import json, os, resource, sys
    import referee.cards
    with open(os.environ["HOME"] + "/note", "w") as note:
        note.write("mine")
    print(json.dumps({
        "environment": dict(os.environ), "folder": os.getcwd(), "arguments": sys.argv[2:],
        "handles": sorted(os.listdir("/proc/self/fd")), "typed": sys.stdin.read(),
        "core": resource.getrlimit(resource.RLIMIT_CORE), "files": resource.getrlimit(resource.RLIMIT_NOFILE),
        "terminal": os.getsid(0) == os.getsid(os.getppid()),
    }))
"""


def test_what_a_bot_finds_at_its_start(
    bots_here: BotProcesses, sandbox: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_REFEREE", "1")
    monkeypatch.setenv("PYTHONSTARTUP", "/nowhere")

    async def story() -> None:
        end, output = await bots_here.end_of(bots_here.command(LOOKS_AROUND, environment={"LEVEL": "9"}), sandbox)
        assert end.code == 0, output
        found = json.loads(output)
        given = found["environment"]
        usual = {"PATH", "HOME", "TMPDIR", "LANG", "JAVA_TOOL_OPTIONS", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}
        usual |= {"PYTHONFAULTHANDLER", "PYTHONHASHSEED", "PYTHONPATH", "PWD", "LC_CTYPE"}
        assert {"REFEREE_ADDRESS", "REFEREE_TOKEN", "REFEREE_BOT_ID", "LEVEL", "HOME"} <= given.keys()
        assert given.keys() <= usual | {"REFEREE_ADDRESS", "REFEREE_TOKEN", "REFEREE_BOT_ID", "LEVEL"}
        assert given["REFEREE_TOKEN"] == "a token of the test"
        assert given["HOME"] == given["TMPDIR"]
        assert found["folder"] == str(bots_here.bot_folder)
        assert found["handles"] == ["0", "1", "2", "3"]  # 3 is the listing's own
        assert (found["core"], found["files"]) == ([0, 0], [128, 128])
        assert found["typed"] == ""
        assert not (bots_here.bot_folder / "__pycache__").exists()

    bots_here.run(story)


def started(
    bots_here: BotProcesses, argv: tuple[str, ...], folder: Path | None = None, sandbox: Policy = "none"
) -> None:
    """Tries to start a bot, in an event loop of its own."""

    async def story() -> None:
        bots_here.start(Command(argv=argv, folder=folder or bots_here.bot_folder, name="bad"), sandbox)

    bots_here.run(story)


def test_a_bot_that_cannot_be_started_says_why_and_how_to_mend_it(bots_here: BotProcesses) -> None:
    folder = bots_here.bot_folder
    (folder / "plain").write_text("x")
    (folder / "script").write_text("import sys")
    (folder / "script").chmod(0o755)
    wrong = {
        (): 'the command is empty: give one, as ["./bot"]',
        ("",): "the command is empty",
        ("python", "a\0b"): "the command holds a NUL character: take it out",
        ("no-such-program-anywhere",): "is not on the PATH: install it, or write ./no-such-program-anywhere",
        ("./missing",): f"program {folder}/missing does not exist: build it, or correct the command",
        ("./plain",): f"program {folder}/plain is not executable: chmod +x {folder}/plain",
        ("./script",): f"script {folder}/script does not say what runs it: begin it with a line #!/usr/bin/env",
    }
    for argv, sentence in wrong.items():
        with pytest.raises(LaunchError) as caught:
            started(bots_here, argv)
        assert sentence in str(caught.value)
        assert str(caught.value).startswith("bot bad: ")
    with pytest.raises(LaunchError, match=r"folder .*/nowhere does not exist: correct its path"):
        started(bots_here, ("python", "bot.py"), folder / "nowhere")


def test_a_log_or_a_folder_that_cannot_be_made(bots_here: BotProcesses) -> None:
    bots_here.logs = bots_here.bot_folder / "file" / "logs"
    (bots_here.bot_folder / "file").write_text("in the way")
    with pytest.raises(LaunchError, match=r"log .* cannot be written: Not a directory"):
        started(bots_here, ("python", "bot.py"))
    bots_here.logs = bots_here.bot_folder
    bots_here.work = bots_here.bot_folder / "file" / "work"
    with pytest.raises(LaunchError, match=r"no folder can be made in .*: Not a directory"):
        started(bots_here, ("python", "bot.py"))


@pytest.mark.needs("bwrap")
def test_an_address_that_no_sandbox_can_reach(bots_here: BotProcesses) -> None:
    for address, sentence in {
        "tcp:127.0.0.1:50051": "a sandbox has no network, tcp:127.0.0.1:50051 is out of reach: give a unix: address",
        "unix:/nowhere/socket": "there is no socket /nowhere/socket: start its server first",
    }.items():
        bots_here.address = address
        with pytest.raises(LaunchError) as caught:
            started(bots_here, ("python", "bot.py"), sandbox="bubblewrap")
        assert sentence in str(caught.value)


def test_bots_are_started_in_the_main_thread_alone(bots_here: BotProcesses) -> None:
    """Else they would end with that thread, which no author could make sense of."""

    async def story() -> None:
        with pytest.raises(RuntimeError, match="main thread"):
            bots_here.start(HOLD, "none")

    caught: list[BaseException] = []

    def thread() -> None:
        try:
            asyncio.run(story())
        except BaseException as error:  # noqa: BLE001 - it is looked at below
            caught.append(error)

    other = threading.Thread(target=thread)
    other.start()
    other.join()
    assert caught == []


def test_a_program_elsewhere_brings_its_installation_and_no_more(tmp_path: Path) -> None:
    node = tmp_path / "node"
    (node / "bin").mkdir(parents=True)
    (node / "lib").mkdir()
    (node / "bin" / "node").write_bytes(b"\x7fELF")
    bot = tmp_path / "bot"
    (bot / "bin").mkdir(parents=True)
    (bot / "lib").mkdir()
    (bot / "bin" / "run").symlink_to(node / "bin" / "node")
    assert installations(bot / "bin" / "run", bot) == [bot / "bin" / "run", node]
    lone = tmp_path / "bin" / "lone"
    lone.parent.mkdir()
    lone.write_bytes(b"\x7fELF")
    assert installations(lone, bot) == [lone]
    assert installations(Path.home() / "bin" / "tool", bot) == [Path.home() / "bin" / "tool"]


def test_the_environment_of_a_bot(tmp_path: Path) -> None:
    command = Command(
        argv=("python", "bot.py"),
        folder=tmp_path,
        name="bad",
        environment={"PYTHONPATH": "mine", "REFEREE_TOKEN": "forged", "A": "1"},
    )
    program = find_program(command)
    assert program == Path(sys.executable)
    given = bot_environment(
        command, program, address="unix:/s", token="t", marker="m", home="/h", limits=ResourceLimits(memory_mib=300)
    )
    assert given["REFEREE_TOKEN"] == "t"
    assert given["A"] == "1"
    assert given["PYTHONPATH"].startswith("mine")
    assert given["JAVA_TOOL_OPTIONS"] == "-XX:MaxRAM=300m"
    assert "PYTHONUNBUFFERED" not in bot_environment(
        command, Path("/usr/bin/node"), address="", token="", marker="", home="", limits=ResourceLimits()
    )


@pytest.mark.parametrize("field", ["memory_mib", "processes", "descriptors", "disk_mib", "cpu_seconds", "output_kept"])
def test_limits_that_nobody_could_live_with(field: str) -> None:
    with pytest.raises(ValueError, match=f"limits.{field} is 0: give a whole number above 0"):
        ResourceLimits(**{field: 0})

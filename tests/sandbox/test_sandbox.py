"""What a bot in the sandbox cannot do, and what is said where there is no sandbox."""

import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.sandbox.command import PACKAGE
from referee.sandbox.isolation import SandboxChoice, SandboxError, choose_sandbox, why_no_bubblewrap
from referee.sandbox.launch import Command, LaunchError, ResourceLimits
from referee.sandbox.mounts import mounts
from referee.sandbox.system_call_filter import NUMBERS, bot_filter
from referee.umpire.faults import Fault
from tests.net.bot_processes import HOLD, BotProcesses

needs_sandbox = pytest.mark.needs("bwrap")

TRIES = """
    import ctypes, errno, json, os, socket, sys
    LIBC = ctypes.CDLL(None, use_errno=True)

    def attempt(what):
        try:
            return what() or "done"
        except OSError as error:
            return errno.errorcode[error.errno]

    def call(name, *arguments):
        if getattr(LIBC, name)(*arguments) < 0:
            raise OSError(ctypes.get_errno(), name)

    def write(path):
        with open(path, "w") as file:
            file.write("x")

    def connect(family, address):
        with socket.socket(family) as one:
            one.connect(address)

    tell = {}
"""


def tried(bots_here: BotProcesses, lines: str, limits: ResourceLimits | None = None) -> dict[str, object]:
    """What a bot in the sandbox found out. `lines` put it into `tell`; `order` is what the test gave it."""
    program = TRIES + "".join(f"    {line}\n" for line in lines.strip().splitlines()) + "    print(json.dumps(tell))\n"
    found: dict[str, object] = {}

    async def story() -> None:
        end, output = await bots_here.end_of(program, "bubblewrap", limits)
        assert end.code == 0, output
        found.update(json.loads(output))

    bots_here.run(story)
    return found


@needs_sandbox
def test_it_sees_its_own_files_and_no_others(bots_here: BotProcesses) -> None:
    secret = bots_here.bot_folder.parent / "secret"
    secret.write_text("the seed")
    found = tried(
        bots_here,
        f"""
tell["secret"] = attempt(lambda: open({str(secret)!r}).read())
tell["store"] = attempt(lambda: os.listdir({str(bots_here.bot_folder.parent)!r}) != ["bot"])
tell["home"] = attempt(lambda: os.listdir({str(Path.home() / ".ssh")!r}))
tell["shadow"] = attempt(lambda: open("/etc/shadow").read())
tell["own"] = sorted(os.listdir("."))
tell["etc"] = attempt(lambda: os.listdir("/etc/ssl"))
import pwd
tell["user"] = pwd.getpwuid(os.getuid()).pw_name
""",
    )
    assert found == {
        "secret": "ENOENT",
        "store": "done",
        "home": "ENOENT",
        "shadow": "ENOENT",
        "own": ["bot.py"],
        "etc": "ENOENT",
        "user": "bot",
    }


@needs_sandbox
def test_it_writes_nowhere_but_in_its_private_folder(bots_here: BotProcesses) -> None:
    found = tried(
        bots_here,
        """
for place in (".", "/", "/usr", "/etc", "/dev", "/run/referee", "/proc/sys/kernel"):
    tell[place] = attempt(lambda: write(place + "/file"))
for place in (os.environ["HOME"], os.environ["TMPDIR"], "/dev/shm"):
    tell[place] = attempt(lambda: write(place + "/file"))
""",
    )
    for place in ("/tmp", "/dev/shm"):  # noqa: S108 - inside the sandbox
        assert found.pop(place) == "done"
    assert set(found.values()) <= {"EROFS", "EACCES", "EPERM", "ENOENT"}


@needs_sandbox
def test_it_reaches_its_own_socket_and_no_other(bots_here: BotProcesses) -> None:
    with socket.create_server(("127.0.0.1", 0)) as loopback, socket.socket(socket.AF_UNIX) as hidden:
        hidden.bind(f"\0{bots_here.word}")
        hidden.listen()
        other = bots_here.bot_folder.parent / "other"
        with socket.socket(socket.AF_UNIX) as another:
            another.bind(str(other))
            another.listen()
            other.chmod(0o777)
            found = tried(
                bots_here,
                f"""
scheme, _, address = os.environ["REFEREE_ADDRESS"].partition(":")
tell["own"] = attempt(lambda: connect(socket.AF_UNIX, address))
tell["other"] = attempt(lambda: connect(socket.AF_UNIX, {str(other)!r}))
tell["abstract"] = attempt(lambda: connect(socket.AF_UNIX, chr(0) + sys.argv[1]))
tell["loopback"] = attempt(lambda: connect(socket.AF_INET, ("127.0.0.1", {loopback.getsockname()[1]})))
tell["network"] = attempt(lambda: connect(socket.AF_INET, ("192.0.2.1", 80)))
tell["devices"] = [name for _, name in socket.if_nameindex()]
""",
            )
    assert found == {
        "own": "done",
        "other": "ENOENT",
        "abstract": "ECONNREFUSED",
        "loopback": "ECONNREFUSED",
        "network": "ENETUNREACH",
        "devices": ["lo"],
    }


@needs_sandbox
def test_it_has_no_rights_and_sees_no_other_process(bots_here: BotProcesses) -> None:
    async def story() -> None:
        other = await bots_here.ready(HOLD, "bubblewrap")
        program = (
            TRIES
            + f"""
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    tell["rights"] = [int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")]
    tell["root"] = os.getuid() == 0 and {os.geteuid() == 0}
    tell["seen"] = len([name for name in os.listdir("/proc") if name.isdigit()])
    tell["kill"] = attempt(lambda: os.kill({other.pid}, 9))
    tell["setuid"] = attempt(lambda: os.setuid(0)) if {os.geteuid() == 0} else "EPERM"
    tell["hostname"] = socket.gethostname()
    print(json.dumps(tell))
"""
        )
        end, output = await bots_here.end_of(program, "bubblewrap")
        assert end.code == 0, output
        assert json.loads(output) == {
            "rights": [0, 0, 0, 0],
            "root": False,
            "seen": 2,
            "kill": "ESRCH",
            "setuid": "EPERM",
            "hostname": "bot",
        }
        assert other.pid in bots_here.processes()

    bots_here.run(story)


@needs_sandbox
@pytest.mark.skipif(bot_filter() is None, reason="there is no system-call filter for this processor")
def test_ways_around_its_limits_are_closed(bots_here: BotProcesses) -> None:
    found = tried(
        bots_here,
        """
tell["user namespace"] = attempt(lambda: call("unshare", 0x10000000))
tell["with others"] = attempt(lambda: call("unshare", 0x10020000))
tell["memory file"] = attempt(lambda: os.memfd_create("x"))
tell["shared memory"] = attempt(lambda: call("shmget", 0, 4096, 0o1600))
tell["semaphores"] = attempt(lambda: call("semget", 0, 1, 0o1600))
tell["message queue"] = attempt(lambda: call("msgget", 0, 0o1600))
import threading
threading.Thread(target=tell.update, args=[{"threads": "work"}]).start()
tell["fork"] = os.waitstatus_to_exitcode(os.system("exit 5"))
""",
    )
    assert found == {
        "user namespace": "EPERM",
        "with others": "EPERM",
        "memory file": "ENOSYS",
        "shared memory": "ENOSYS",
        "semaphores": "ENOSYS",
        "message queue": "ENOSYS",
        "threads": "work",
        "fork": 5,
    }


@needs_sandbox
def test_it_fills_its_private_folder_and_no_disk(bots_here: BotProcesses) -> None:
    found = tried(
        bots_here,
        """
def fill(place):
    data, number = b"x" * 2**18, 0
    while True:
        with open(f"{place}/{number}", "wb", buffering=0) as file:
            if file.write(data) < len(data):
                return number
        number += 1
for place in ("/tmp", "/dev/shm"):
    tell["stopped by"] = attempt(lambda: fill(place))
    tell[place] = sum(os.stat(f"{place}/{name}").st_blocks * 512 for name in os.listdir(place))
""",
        ResourceLimits(disk_mib=2),
    )
    assert found.pop("stopped by") == "ENOSPC"
    assert all(isinstance(used, int) and 2**20 < used <= 2 * 2**20 for used in found.values())


@needs_sandbox
def test_the_kernel_counts_its_tasks(bots_here: BotProcesses) -> None:
    """Threads are not processes to the watch, but a bomb of them stops as well: at eight tasks a process."""
    found = tried(
        bots_here,
        """
import threading
hold, number = threading.Event(), 0
try:
    while number < 2000:
        threading.Thread(target=hold.wait, daemon=True).start()
        number += 1
except RuntimeError as error:
    tell["error"] = str(error)
tell["number"] = number
hold.set()
""",
        ResourceLimits(processes=8),
    )
    assert found["error"] == "can't start new thread"
    assert isinstance(found["number"], int)
    assert 32 < found["number"] < 64


@needs_sandbox
def test_the_sdk_and_its_libraries_are_there(bots_here: BotProcesses) -> None:
    assert tried(bots_here, "import google.protobuf, grpc, referee.cards\ntell['grpc'] = grpc.__name__") == {
        "grpc": "grpc"
    }


@needs_sandbox
def test_a_folder_closed_to_others_is_shown_all_the_same(bots_here: BotProcesses) -> None:
    """As every temporary folder is. Its links stay links: they open nothing outside."""
    secret = bots_here.bot_folder.parent / "secret"
    secret.write_text("the seed")
    (bots_here.bot_folder / "link").symlink_to(secret)
    (bots_here.bot_folder / "parts").mkdir()
    (bots_here.bot_folder / "parts" / "part.py").write_text("NUMBER = 7")
    bots_here.bot_folder.chmod(0o700)
    found = tried(
        bots_here,
        """
import parts.part
tell["part"] = parts.part.NUMBER
tell["link"] = attempt(lambda: open("link").read())
tell["write"] = attempt(lambda: write("file"))
""",
    )
    assert found.pop("write") in {"EROFS", "EACCES"}
    assert found == {"part": 7, "link": "ENOENT"}


@needs_sandbox
def test_a_bot_of_one_file_sees_only_that(bots_here: BotProcesses) -> None:
    command = bots_here.command("import os\nprint(sorted(os.listdir('.')))")
    (bots_here.bot_folder / "league.sqlite").write_text("the store")
    (bots_here.bot_folder / "rival.py").write_text("its secrets")

    async def story() -> None:
        shown = Command(argv=command.argv, folder=command.folder, name=command.name, only=("bot.py",))
        end, output = await bots_here.end_of(shown, "bubblewrap")
        assert (end.code, output) == (0, "['bot.py']\n")

    bots_here.run(story)


@needs_sandbox
def test_more_can_be_shown_to_it(bots_here: BotProcesses) -> None:
    weights = bots_here.bot_folder.parent / "weights"
    weights.write_text("1 2 3")
    command = bots_here.command(f"print(open({str(weights)!r}).read())")

    async def story() -> None:
        shown = Command(argv=command.argv, folder=command.folder, name=command.name, reads=(weights,))
        end, output = await bots_here.end_of(shown, "bubblewrap")
        assert (end.code, output) == (0, "1 2 3\n")

    bots_here.run(story)


@needs_sandbox
def test_somebody_ends_the_outer_process(bots_here: BotProcesses) -> None:
    async def story() -> None:
        bot = await bots_here.ready(HOLD, "bubblewrap")
        os.kill(bot.pid, signal.SIGKILL)
        end = await bot.exited()
        assert (end.fault, end.signal) == (Fault.CRASH, signal.SIGKILL)
        assert "which the referee did not send" in end.sentence
        assert bots_here.processes() == []

    bots_here.run(story)


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap needs Linux")
def test_a_folder_that_must_not_be_shown(tmp_path: Path) -> None:
    python = Path(sys.executable)
    for folder in (Path("/"), Path.home(), Path("/etc")):
        command = Command(argv=("python", "bot.py"), folder=folder, name="bad")
        with pytest.raises(LaunchError, match="holds more than a bot: move the bot to one of its own"):
            mounts(command, python, ResourceLimits(), None, other_user=False)
    tmp_path.chmod(0o700)
    (tmp_path / "bot.py").touch(0o600)
    with pytest.raises(LaunchError, match=r"bot.py is closed to other users: chmod -R o\+rX"):
        mounts(
            Command(argv=("python", "bot.py"), folder=tmp_path, name="bad"),
            python,
            ResourceLimits(),
            None,
            other_user=True,
        )
    with pytest.raises(LaunchError, match=r"rival\.py does not exist: correct the list of files"):
        mounts(
            Command(argv=("python", "bot.py"), folder=tmp_path, name="bad", only=("rival.py",)),
            python,
            ResourceLimits(),
            None,
            other_user=True,
        )


@pytest.fixture
def path_of_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is the whole PATH for a while."""
    monkeypatch.setenv("PATH", str(tmp_path))
    why_no_bubblewrap.cache_clear()
    yield tmp_path
    why_no_bubblewrap.cache_clear()


def test_without_the_tools_one_line_says_so(path_of_tools: Path) -> None:
    choice = choose_sandbox("auto")
    assert choice.kind == "none"
    assert choice.line.startswith(
        "Bots run without a sandbox, they can read all that you can, every card too, and do anything to each other: bwrap"
    )
    assert "\n" not in choice.line
    with pytest.raises(
        SandboxError, match=r"sandbox bubblewrap: bwrap.* not found \(apt install bubblewrap util-linux\)"
    ):
        choose_sandbox("bubblewrap")


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap needs Linux")
def test_a_tool_that_does_not_work_is_told_from_a_missing_one(path_of_tools: Path) -> None:
    for name in ("bwrap", "setpriv"):
        (path_of_tools / name).write_text(
            "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
        )
        (path_of_tools / name).chmod(0o755)
    choice = choose_sandbox("auto")
    assert choice.kind == "none"
    assert "a trial of bubblewrap failed: bwrap: No permissions to create new namespace (it needs" in choice.line
    with pytest.raises(SandboxError, match="No permissions"):
        choose_sandbox("bubblewrap")


def test_none_is_never_silent() -> None:
    assert choose_sandbox("none") == SandboxChoice(
        "none",
        "Bots run without a sandbox, as was asked: they can read all that you can, every card too, and do anything to each other.",
    )


def test_a_policy_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="sandbox 'docker': give auto, bubblewrap or none"):
        choose_sandbox("docker")  # type: ignore[arg-type]


@needs_sandbox
def test_where_it_works_it_is_chosen_and_nothing_is_said() -> None:
    assert choose_sandbox("auto") == choose_sandbox("bubblewrap") == SandboxChoice("bubblewrap")


@pytest.mark.parametrize("machine", NUMBERS)
def test_every_jump_of_the_filter_stays_inside(machine: str) -> None:
    code = bot_filter(machine)
    assert code is not None
    steps = [code[at : at + 8] for at in range(0, len(code), 8)]
    assert len(code) == 8 * len(steps)
    for at, step in enumerate(steps):
        assert at + 1 + max(step[2], step[3]) < len(steps) or step[0] == 6
    assert bot_filter("unknown") is None


def test_a_bot_in_the_checkout_of_the_referee_sees_the_sdk_beside_it() -> None:
    """There a newcomer saves the first one: the package lies in the very folder of which the bot is one file."""
    folder = PACKAGE.parent
    command = Command(argv=("python", "README.md"), folder=folder, name="first", only=("README.md",))
    options = mounts(command, Path(sys.executable), ResourceLimits(), None, other_user=False)
    shown = {options[at + 2] for at, option in enumerate(options) if option == "--ro-bind"}
    assert {str(PACKAGE), str(folder / "README.md")} <= shown
    assert str(folder) not in shown
    assert not any(place.startswith((f"{folder}/tests", f"{folder}/leagues")) for place in shown)

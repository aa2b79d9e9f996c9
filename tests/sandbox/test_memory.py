"""The limit on memory counts what the kernel holds for a bot, wherever a bot may hide it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import referee.sandbox.launch
from referee.sandbox import control_group as cgroup
from referee.sandbox.control_group import ControlGroup, make_group, own_folders
from referee.sandbox.kernel_memory import STACK_BYTES, buffer_bytes, inode_bytes, table_bytes
from referee.sandbox.launch import Policy, ResourceLimits
from referee.sandbox.mounts import HOME
from referee.umpire.faults import Fault
from tests.net.bot_processes import BotProcesses, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is looked at in /proc: Linux only")

STAYS = "print('ready', flush=True)\nimport time\nwhile True: time.sleep(60)\n"

HIDES = {
    "page tables": """
        import ctypes
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
        size = 160 << 30
        start = libc.mmap(None, size, 1, 0x2 | 0x20 | 0x4000, -1, 0)
        libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), 15)
        for at in range(0, size, 2 << 20):
            ctypes.c_char.from_address(start + at).value
    """,
    "sockets": """
        import os, socket
        for child in range(30):
            if os.fork() == 0:
                pairs = []
                for _ in range(48):
                    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
                    one.setblocking(False)
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
                    try:
                        while True:
                            one.send(bytes(16384))
                    except OSError:
                        pairs.append((one, other))
                time.sleep(3600)
    """,
    "pipes": """
        import fcntl, os
        for child in range(3):
            if os.fork() == 0:
                for _ in range(48):
                    out, into = os.pipe()
                    os.set_blocking(into, False)
                    try:
                        fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, 1 << 20)
                    except OSError:
                        pass
                    try:
                        while True:
                            os.write(into, bytes(65536))
                    except OSError:
                        pass
                time.sleep(3600)
    """,
    "many processes at once": """
        import os
        for child in range(12):
            if os.fork() == 0:
                held = bytearray(100 << 20)
                time.sleep(3600)
    """,
    "one process": """
        held = []
        while len(held) < 1000:
            held.append(bytearray(1 << 20))
    """,
}

IN_A_BOX = {
    "empty files": """
        import os
        try:
            for place in ("/tmp", "/dev/shm"):
                for number in range(150_000):
                    os.close(os.open(f"{place}/{number}", os.O_CREAT | os.O_WRONLY))
        except OSError as error:
            print(error)
    """,
}

WITHOUT = {
    "memory files": """
        import os
        for _ in range(30):
            os.write(os.memfd_create("held"), bytes(15 << 20))
    """,
}

LIMITS = {"pipes": 56}
"""MiB, where it is not 160: what waits in the pipes of a user without rights is bounded by the kernel, at 64 MiB."""

EVERYWHERE = ["none", "no groups", "bubblewrap", "bubblewrap, no groups"]


def program_of(body: str) -> str:
    lines = "\n".join(line[8:] for line in body.splitlines())
    return f"import time\n{lines}\n{STAYS}"


@pytest.mark.parametrize(
    ("where", "how"),
    [
        pytest.param(where, how, marks=pytest.mark.needs("bwrap") if "bubblewrap" in where else ())
        for where in EVERYWHERE
        for how in (*HIDES, *(IN_A_BOX if "bubblewrap" in where else WITHOUT))
    ],
)
def test_it_counts_wherever_a_bot_hides_it(
    bots_here: BotProcesses, monkeypatch: pytest.MonkeyPatch, where: str, how: str
) -> None:
    if "no groups" in where:
        monkeypatch.setattr(referee.sandbox.launch, "make_group", lambda marker, limits: None)
    sandbox: Policy = "bubblewrap" if "bubblewrap" in where else "none"
    limits = ResourceLimits(memory_mib=LIMITS.get(how, 160), disk_mib=16)

    async def story() -> None:
        end, output = await bots_here.end_of(program_of((HIDES | IN_A_BOX | WITHOUT)[how]), sandbox, limits)
        assert end.fault is Fault.RESOURCE_MEM, (end, output)
        assert f"{limits.memory_mib} MiB" in end.sentence

    bots_here.run(story)


@pytest.mark.parametrize(
    "where",
    [pytest.param(where, marks=pytest.mark.needs("bwrap") if "bubble" in where else ()) for where in EVERYWHERE],
)
def test_what_the_kernel_can_take_back_does_not_count(
    bots_here: BotProcesses, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """A bot that reads a large file is not one that uses much memory."""
    if "no groups" in where:
        monkeypatch.setattr(referee.sandbox.launch, "make_group", lambda marker, limits: None)
    large = bots_here.bot_folder / "large"
    with large.open("wb") as file:
        for _ in range(300):
            file.write(os.urandom(1 << 20))
    os.sync()
    program = """
import mmap
with open("large", "rb") as file:
    os_read = sum(len(part) for part in iter(lambda: file.read(1 << 20), b""))
print(os_read >> 20, flush=True)
"""

    async def story() -> None:
        sandbox: Policy = "bubblewrap" if "bubblewrap" in where else "none"
        end, output = await bots_here.end_of(program, sandbox, ResourceLimits(memory_mib=100))
        assert (end.fault, end.code, output) == (None, 0, "300\n")

    bots_here.run(story)


PLACES = ("/", HOME, "/dev/shm")  # noqa: S108  # where file systems are


def test_the_files_of_the_machine_are_nobodys() -> None:
    assert inode_bytes([os.getpid(), os.getppid(), 1], PLACES) == 0
    assert inode_bytes([2**22 + 1], PLACES) == 0  # there is no such process


@pytest.mark.needs("bwrap")
def test_a_bot_has_the_files_that_it_made_whichever_process_is_looked_at(
    bots_here: BotProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Helpers of the sandbox see the machine's disk, with a million files: they were once taken for the bot's."""
    monkeypatch.setattr(referee.sandbox.launch, "make_group", lambda marker, limits: None)
    made = "for number in range(500): open(f'/tmp/{number}', 'w').close()\n"

    async def story() -> None:
        bot = bots_here.start(made + STAYS, "bubblewrap")
        await until(lambda: "ready" in bot.tail())
        members = [one.pid for one in bot._tree.look() if not one.dead]
        by_process = [inode_bytes([pid], PLACES) for pid in members]
        assert len(members) > 1
        assert 0 in by_process  # a helper outside
        assert 500 << 10 <= max(by_process) < 1 << 20
        assert inode_bytes(members, PLACES) == inode_bytes(members[::-1], PLACES) == max(by_process)

    bots_here.run(story)


@pytest.mark.parametrize("groups", [True, False])
def test_threads_are_bounded_too(bots_here: BotProcesses, monkeypatch: pytest.MonkeyPatch, groups: bool) -> None:
    """With a control group the kernel refuses the one too many; without, the watch ends the bot."""
    if not groups:
        monkeypatch.setattr(referee.sandbox.launch, "make_group", lambda marker, limits: None)
    program = """
import threading, time
hold, number = threading.Event(), 0
try:
    while number < 400:
        threading.Thread(target=hold.wait, daemon=True).start()
        number += 1
except RuntimeError as error:
    print("refused", flush=True)
print("ready", number, flush=True)
while True: time.sleep(60)
"""

    async def story() -> None:
        bot = bots_here.start(program, "none", ResourceLimits(processes=8))
        group = bot._tree.group
        if group is None or not any((folder / "pids.max").exists() for folder in group.folders):
            end = await bot.exited()
            assert end.fault is Fault.RESOURCE_PIDS
            assert "threads at once; its limit is 64." in end.sentence
            return
        ended = await bots_here_says(bots_here, bot)
        assert "refused" in ended

    bots_here.run(story)


async def bots_here_says(bots_here: BotProcesses, bot: object) -> str:
    await until(lambda: "ready" in bot.tail())  # type: ignore[attr-defined]
    return str(bot.tail())  # type: ignore[attr-defined]


DESCRIPTORS = """\
import os
import subprocess
out, into = os.pipe()
copy = os.dup(out)
print(flush=True), input()
os.write(into, b"x")
print(flush=True), input()
os.write(os.memfd_create("held"), bytes(1 << 20))
print(flush=True), input()
"""


def test_what_is_behind_descriptors_counts_once() -> None:
    """In a process of its own: pipes of this one fill and empty meanwhile."""
    with subprocess.Popen([sys.executable, "-c", DESCRIPTORS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        seen = []
        for _ in range(3):
            child.stdout.readline()
            seen.append(buffer_bytes([child.pid, child.pid]))
            child.stdin.write(b"\n")
            child.stdin.flush()
        assert seen[1][0] - seen[0][0] >= 4096
        assert seen[2][1] >= 1 << 20
    assert table_bytes(os.getpid())[0] >= STACK_BYTES
    assert table_bytes(2**22 + 1) == (0, 0)
    assert buffer_bytes([2**22 + 1]) == (0, 0)


V1 = """\
25 1 0:22 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
26 25 0:23 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct
27 25 0:24 /docker/abc /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
28 25 0:25 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw
"""


def test_the_folders_of_our_own_groups_are_found() -> None:
    mine = "4:memory:/docker/abc/one\n3:cpu,cpuacct:/\n1:name=systemd:/x\n0::/user.slice/a:b\n"
    assert own_folders(V1, mine) == {
        "": (Path("/sys/fs/cgroup/unified/user.slice/a:b"), Path("/sys/fs/cgroup/unified")),
        "memory": (Path("/sys/fs/cgroup/memory/one"), Path("/sys/fs/cgroup/memory")),
        "cpu": (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup/cpu")),
        "cpuacct": (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup/cpu")),
    }
    assert own_folders("", "") == {}
    assert own_folders(V1, "4:memory:/elsewhere\n") == {}


@pytest.fixture
def unified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A made-up mount of version 2 with our own group `mount/ours`. As in the kernel, memory is shared out by a group
    that has no processes.
    """
    ours = tmp_path / "mount" / "ours"
    ours.mkdir(parents=True)

    def write(path: Path, text: str) -> None:
        if path.name != "cgroup.subtree_control":
            path.write_text(text)
        elif not (path.parent / "cgroup.procs").read_text() or (path.parent / "referee-main").exists():
            path.write_text(f"{path.read_text()} {text[1:]}")

    monkeypatch.setattr(cgroup, "own_folders", lambda mounts, groups: {"": (ours, ours.parent)})
    monkeypatch.setattr(cgroup, "_write", write)
    cgroup._homes.cache_clear()
    yield ours
    cgroup._homes.cache_clear()


ME = str(os.getpid())


@pytest.mark.parametrize(
    ("shared", "above", "controllers", "members", "home"),
    [
        ("memory", "memory", "memory pids", "1", "mount/ours"),
        ("", "memory pids", "memory pids", f"1\n{ME}", "mount"),
        ("", "cpu", "memory pids", "", "mount/ours"),
        ("", "cpu", "memory pids", ME, "mount/ours"),
        ("", "cpu", "memory pids", f"1\n{ME}", "mount/ours"),
        ("", "cpu", "cpu", ME, "mount/ours"),
    ],
    ids=["ours shares it", "beside us", "ours is empty", "below us, for we are alone", "nowhere", "not counted at all"],
)
def test_a_group_is_made_where_memory_is_counted(
    unified: Path, shared: str, above: str, controllers: str, members: str, home: str
) -> None:
    for folder, files in {
        unified: {"subtree_control": shared, "controllers": controllers, "procs": members},
        unified.parent: {"subtree_control": above, "controllers": "cpu memory pids", "procs": ""},
    }.items():
        for name, text in files.items():
            (folder / f"cgroup.{name}").write_text(text)
    assert cgroup._homes() == (unified.parent.parent / home,)
    alone = controllers != "cpu" and members == ME
    assert (unified / "referee-main").exists() is alone
    counted = "memory" in (cgroup._homes()[0] / "cgroup.subtree_control").read_text().split()
    assert counted is (controllers != "cpu" and not (above == "cpu" and "1" in members.split()))


def test_the_figures_of_version_2(tmp_path: Path) -> None:
    for name, text in {
        "memory.current": "1000000\n",
        "memory.stat": "anon 5\ninactive_file 200000\nactive_file 100000\nslab_reclaimable 50000\nshmem 7\n",
        "memory.events": "low 0\noom 3\noom_kill 0\noom_group_kill 0\n",
        "memory.max": "max",
        "memory.swap.max": "max",
        "memory.oom.group": "0",
        "pids.max": "max",
        "cgroup.procs": "12\n13\n",
    }.items():
        (tmp_path / name).write_text(text)
    group = ControlGroup((tmp_path,))
    assert group.counts_memory
    assert group.used_bytes() == 650_000
    assert not group.was_starved()
    (tmp_path / "memory.events").write_text("oom_kill 2\n")
    assert group.was_starved()
    assert group.members() == {12, 13}
    group.bound(ResourceLimits(memory_mib=8, processes=4))
    assert int((tmp_path / "memory.max").read_text()) == 13 << 20
    assert (tmp_path / "memory.swap.max").read_text().startswith("0")
    assert (tmp_path / "memory.oom.group").read_text() == "1"
    assert (tmp_path / "pids.max").read_text().startswith("36")


def test_the_figures_of_version_1(tmp_path: Path) -> None:
    for name, text in {
        "memory.usage_in_bytes": "1000000\n",
        "memory.kmem.tcp.usage_in_bytes": "5000\n",
        "memory.stat": "cache 9\ninactive_file 1\ntotal_inactive_file 200000\ntotal_active_file 100000\n",
        "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
    }.items():
        (tmp_path / name).write_text(text)
    group = ControlGroup((tmp_path,))
    assert group.used_bytes() == 705_000
    assert group.was_starved()


def test_a_group_without_counts(tmp_path: Path) -> None:
    group = ControlGroup((tmp_path,))
    assert not group.counts_memory
    assert (group.used_bytes(), group.was_starved(), group.members()) == (0, False, set())
    assert ControlGroup((tmp_path / "gone",)).remove()
    (tmp_path / "held").mkdir()
    (tmp_path / "held" / "x").touch()
    assert not ControlGroup((tmp_path / "held",)).remove()


def test_where_no_group_can_be_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cgroup, "_homes", lambda: ())
    assert make_group("x", ResourceLimits()) is None
    monkeypatch.setattr(cgroup, "_homes", lambda: (tmp_path / "nowhere",))
    assert make_group("x", ResourceLimits()) is None

"""Two bots that are shut in see the same files of the system: what one does with them, the other must not feel."""

import json
import os
import platform
import socket
import sys
from pathlib import Path

import pytest

from referee.sandbox.command import Command, LaunchError
from referee.sandbox.launch import ResourceLimits
from referee.sandbox.mounts import mounts
from referee.sandbox.system_call_filter import NUMBERS, RULES, WHOLE, bot_filter
from tests.net.bot_processes import BotProcesses
from tests.sandbox.test_sandbox import TRIES, tried

needs_sandbox = pytest.mark.needs("bwrap")
needs_filter = pytest.mark.skipif(bot_filter() is None, reason="there is no system-call filter for this processor")

SHARED = "/usr/bin/env"
"""A file that all bots see."""

HOLDS = f"""
    import fcntl, os, struct, time
    held = [os.open({SHARED!r}, os.O_RDONLY), os.open("bot.py", os.O_RDONLY)]
    for one in held:
        fcntl.flock(one, fcntl.LOCK_EX)
        fcntl.fcntl(one, fcntl.F_SETLK, struct.pack("hhqqi", fcntl.F_RDLCK, 0, 0, 0, 0))
    print("ready", flush=True)
    time.sleep(3600)
"""


@needs_sandbox
@needs_filter
def test_a_lock_is_felt_by_nobody_else(bots_here: BotProcesses) -> None:
    """And seems to succeed: programs with files of their own go on."""
    looks = (
        TRIES
        + f"""
    import fcntl, struct
    def asks(one, how, kind):
        fcntl.fcntl(one, how, struct.pack("hhqqi", kind, 0, 0, 0, 0))
    for name in ({SHARED!r}, "bot.py", os.environ["HOME"] + "/own"):
        one = os.open(name, os.O_RDWR | os.O_CREAT if name.endswith("own") else os.O_RDONLY)
        tell[name] = [
            attempt(lambda: fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)),
            attempt(lambda: asks(one, fcntl.F_SETLK, fcntl.F_WRLCK)),
            attempt(lambda: asks(one, 37, fcntl.F_WRLCK)),
            attempt(lambda: asks(one, fcntl.F_GETLK, fcntl.F_WRLCK)),
            attempt(lambda: asks(one, 36, fcntl.F_WRLCK)),
            attempt(lambda: fcntl.fcntl(one, fcntl.F_SETLEASE, fcntl.F_RDLCK)),
            attempt(lambda: fcntl.fcntl(one, fcntl.F_NOTIFY, fcntl.DN_ACCESS)),
            attempt(lambda: fcntl.fcntl(one, 1036, struct.pack("Q", 2))),
        ]
    tell["flags"] = attempt(lambda: fcntl.fcntl(one, fcntl.F_GETFL))
    print(json.dumps(tell))
"""
    )

    async def story() -> None:
        await bots_here.ready(HOLDS, "bubblewrap")
        end, output = await bots_here.end_of(looks, "bubblewrap")
        assert end.code == 0, output
        tell = json.loads(output)
        assert tell.pop("flags") & os.O_RDWR
        assert len(tell) == 3
        for answers in tell.values():
            assert answers == ["done"] * 3 + ["EINVAL"] * 5

    bots_here.run(story)


@needs_sandbox
@needs_filter
def test_nothing_tells_which_pages_of_a_file_are_in_memory(bots_here: BotProcesses) -> None:
    found = tried(
        bots_here,
        f"""
import mmap
one = os.open({SHARED!r}, os.O_RDONLY)
read = os.pread(one, 4096, 0)
tell["plain"] = os.preadv(one, [bytearray(16)], 0)
tell["at once"] = attempt(lambda: os.preadv(one, [bytearray(16)], 0, os.RWF_NOWAIT))
shown = mmap.mmap(one, 4096, prot=mmap.PROT_READ)
page = ctypes.c_char_p(ctypes.addressof(ctypes.c_char.from_buffer_copy(b"x")))
tell["mincore"] = attempt(lambda: call("mincore", page, 4096, page))
tell["cachestat"] = attempt(lambda: call("syscall", 451, one, page, page, 0))
tell["asynchronous"] = attempt(lambda: call("syscall", {NUMBERS[platform.machine()].calls["io_setup"]}, 1, page))
tell["page out"] = attempt(lambda: shown.madvise(21))
tell["advice"] = attempt(lambda: os.posix_fadvise(one, 0, 0, os.POSIX_FADV_DONTNEED))
tell["other advice"] = attempt(lambda: os.posix_fadvise(one, 0, 0, os.POSIX_FADV_RANDOM))
""",
    )
    assert found == {
        "plain": 16,
        "at once": "EAGAIN",
        "mincore": "ENOSYS",
        "cachestat": "ENOSYS",
        "asynchronous": "ENOSYS",
        "page out": "EINVAL",
        "advice": "done",
        "other advice": "done",
    }


@needs_sandbox
@needs_filter
def test_there_are_no_watches_no_kernel_log_and_no_sockets_past_the_network(bots_here: BotProcesses) -> None:
    found = tried(
        bots_here,
        """
tell["inotify"] = attempt(lambda: call("inotify_init"))
tell["inotify1"] = attempt(lambda: call("inotify_init1", 0))
tell["fanotify"] = attempt(lambda: call("fanotify_init", 0x200, 0))
tell["log"] = attempt(lambda: call("klogctl", 3, ctypes.create_string_buffer(64), 64))
tell["queue"] = attempt(lambda: call("mq_open", b"/x", 0o102, 0o600, None))
for family in (38, 40, 42, 44):
    tell[family] = attempt(lambda: socket.socket(family, socket.SOCK_SEQPACKET if family == 38 else socket.SOCK_STREAM))
for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6):
    tell[family] = attempt(lambda: socket.socket(family).close())
tell["netlink"] = attempt(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close())
tell["sync"] = attempt(os.sync)
""",
    )
    assert found == {
        **dict.fromkeys(("inotify", "inotify1", "fanotify", "queue"), "ENOSYS"),
        "log": "EPERM",
        **dict.fromkeys(("38", "40", "42", "44"), "EAFNOSUPPORT"),
        **dict.fromkeys(map(str, map(int, (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6))), "done"),
        "netlink": "done",
        "sync": "done",
    }


@needs_sandbox
def test_pipes_and_sockets_in_a_folder_are_no_way_to_talk(bots_here: BotProcesses) -> None:
    """A read-only folder keeps nobody from writing into a pipe that lies there."""
    (bots_here.bot_folder / "parts").mkdir()
    for place in (bots_here.bot_folder, bots_here.bot_folder / "parts"):
        os.mkfifo(place / "pipe")
        (place / "pipe").chmod(0o666)
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(place / "socket"))
        (place / "socket").chmod(0o666)
        (place / "link").symlink_to("pipe")
    found = tried(
        bots_here,
        """
for place in (".", "parts"):
    for name in ("pipe", "socket", "link"):
        for flags in (os.O_RDONLY, os.O_RDWR):
            tell[f"{place}/{name} {flags}"] = attempt(lambda: os.open(f"{place}/{name}", flags | os.O_NONBLOCK))
    tell[f"{place} connect"] = attempt(lambda: connect(socket.AF_UNIX, f"{place}/socket"))
""",
    )
    assert len(found) == 14
    assert set(found.values()) <= {"EACCES", "EROFS", "ENOTSOCK", "ECONNREFUSED"}


def test_a_folder_full_of_pipes_is_refused(tmp_path: Path) -> None:
    for number in range(200):
        os.mkfifo(tmp_path / f"{number}")
    with pytest.raises(LaunchError, match="holds many pipes or sockets"):
        mounts(
            Command(argv=("python", "x.py"), folder=tmp_path, name="bad"),
            Path(sys.executable),
            ResourceLimits(),
            None,
            other_user=False,
        )


@needs_sandbox
def test_what_counts_for_the_whole_machine_is_not_shown(bots_here: BotProcesses) -> None:
    found = tried(
        bots_here,
        """
for name in ("loadavg", "locks", "vmstat", "interrupts", "diskstats", "sys/kernel/random/entropy_avail"):
    tell[name] = attempt(lambda: open("/proc/" + name).read())
for name in ("pressure", "sys/fs"):
    tell[name] = os.path.isdir("/proc/" + name) and os.listdir("/proc/" + name)
    tell[name + " write"] = attempt(lambda: write(f"/proc/{name}/file"))
tell["own"] = bool(open("/proc/self/stat").read() and open("/proc/meminfo").read() and open("/proc/cpuinfo").read())
""",
    )
    assert found.pop("own") is True
    assert found.pop("pressure") in ([], False)
    assert found.pop("sys/fs") == []
    assert set(found.values()) <= {"EACCES", "ENOENT", "EROFS"}


@needs_sandbox
def test_reading_a_file_leaves_no_time_on_it(bots_here: BotProcesses) -> None:
    file = bots_here.bot_folder / "weights"
    file.write_text("1 2 3")
    os.utime(file, (1, 1))
    found = tried(bots_here, "tell['read'] = open('weights').read()\ntell['time'] = os.stat('weights').st_atime")
    assert found == {"read": "1 2 3", "time": 1}
    assert file.stat().st_atime == 1


@needs_sandbox
@needs_filter
def test_what_programs_are_used_to_still_works(bots_here: BotProcesses) -> None:
    """A database with its locks, processes that share a lock, threads, a pipe, a terminal."""
    found = tried(
        bots_here,
        """
import multiprocessing, pty, sqlite3, subprocess, threading
base = sqlite3.connect(os.environ["HOME"] + "/base")
with base:
    base.execute("create table x (y)")
    base.execute("insert into x values (5)")
tell["base"] = base.execute("select y from x").fetchone()[0]
with multiprocessing.get_context("fork").Pool(2) as pool:
    tell["pool"] = pool.map(abs, [-1, -2])
tell["shell"] = subprocess.run(["sh", "-c", "echo hello | cat"], capture_output=True, text=True).stdout
one, other = pty.openpty()
tell["terminal"] = os.isatty(other)
left, right = socket.socketpair()
left.send(b"x")
tell["pair"] = right.recv(1).decode()
""",
    )
    assert found == {"base": 5, "pool": [1, 2], "shell": "hello\n", "terminal": True, "pair": "x"}


@pytest.mark.parametrize("machine", NUMBERS)
def test_every_call_has_one_fate(machine: str) -> None:
    calls = NUMBERS[machine].calls
    assert not WHOLE.keys() & RULES.keys()
    assert calls.keys() <= WHOLE.keys() | RULES.keys()
    assert (WHOLE.keys() | RULES.keys()) - calls.keys() <= {"inotify_init"}  # only the older machine has it
    assert len(set(calls.values())) == len(calls)

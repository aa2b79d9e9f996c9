"""The sandbox of local bots: bubblewrap, or none, and one line for people that says why.

Inside, a bot sees the system's programs and libraries, its interpreter, its own folder, the SDK and its socket, all
read-only; a private /tmp of limited size; no network, no other process, no other bot, no store. Where the referee runs
as root the bot gets a user id of its own, which also makes the process limit its own.
"""

import contextlib
import os
import platform
import re
import secrets
import select
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from referee.sandbox.command import PACKAGE, Command, LaunchError
from referee.sandbox.limits import ResourceLimits, limited
from referee.sandbox.mounts import HOME, build_mounts, mounts
from referee.sandbox.process_tree import adopt_orphans
from referee.sandbox.system_call_filter import bot_filter

SandboxKind = Literal["bubblewrap", "none"]
Policy = Literal["auto", "bubblewrap", "none"]

HELPERS = 2
"""Processes of bubblewrap around each bot."""

_NONE_MEANS = "they can read all that you can, every card too, and do anything to each other"

_REMEDY = "apt install bubblewrap util-linux"
_NEEDS = "it needs bubblewrap 0.7 or later, and user namespaces unless root runs it"
_SWITCHES = (("kernel.apparmor_restrict_unprivileged_userns", 0), ("kernel.unprivileged_userns_clone", 1))

_CHILD = re.compile(rb'"child-pid"\s*:\s*(\d+)[\s,}]')

# User ids that no system gives to people. The second range is systemd's for short-lived services; it is for containers
# that know no ids above 65535.
_USER_IDS = ((1_878_000_000, 1_048_576), (61_184, 4_336))


class SandboxError(LaunchError):
    """The sandbox that was asked for does not work here. The message says why, and the remedy."""


@dataclass(frozen=True, slots=True)
class SandboxChoice:
    """The sandbox that is used: its kind, and a line for people if it is none."""

    kind: SandboxKind
    line: str = ""


def choose_sandbox(policy: Policy) -> SandboxChoice:
    """What a policy comes to on this machine. `auto` is bubblewrap where a trial works, else none.

    The first call may take a tenth of a second, for the trial. Raises SandboxError if `bubblewrap` is demanded and does
    not work, ValueError for another policy.
    """
    if policy not in {"auto", "bubblewrap", "none"}:
        raise ValueError(f"sandbox {policy!r}: give auto, bubblewrap or none")
    if policy == "none":
        return SandboxChoice("none", f"Bots run without a sandbox, as was asked: {_NONE_MEANS}.")
    trouble = why_no_bubblewrap()
    if not trouble:
        return SandboxChoice("bubblewrap")
    if policy == "bubblewrap":
        raise SandboxError(f"sandbox bubblewrap: {trouble}")
    return SandboxChoice("none", f"Bots run without a sandbox, {_NONE_MEANS}: {trouble}")


@cache
def why_no_bubblewrap() -> str:
    """Why bubblewrap cannot be used here, with the remedy; empty if a trial run works. The answer is kept."""
    if sys.platform != "linux":
        return "bubblewrap needs Linux."
    tools = ["bwrap", "setpriv"] if os.geteuid() == 0 else ["bwrap"]
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        return f"{' and '.join(missing)} not found ({_REMEDY})."
    try:
        done = _trial()
    except (OSError, subprocess.SubprocessError, LaunchError) as error:
        return f"a trial of bubblewrap failed: {error}."
    if done.returncode == 0:
        return ""
    said = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {done.returncode}"]
    return f"a trial of bubblewrap failed: {said[-1]} ({_switch() or _NEEDS})."


def _switch() -> str:
    """The setting that keeps users from namespaces here, as a remedy; empty if it is none that we know."""
    for name, wanted in _SWITCHES if os.geteuid() != 0 else ():
        with contextlib.suppress(OSError):
            if int(Path("/proc/sys", *name.split(".")).read_text()) != wanted:
                return f"sudo sysctl {name}={wanted}"
    return ""


def _trial() -> subprocess.CompletedProcess[bytes]:
    """Runs the referee's own interpreter in the sandbox; it must find this very package."""
    command = Command(argv=(sys.executable, "-c", f"import {__name__}"), folder=PACKAGE, name="trial")
    box = put_in_box(command, Path(sys.executable), ResourceLimits())
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(PACKAGE.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    adopt_orphans()
    try:
        done = subprocess.run(
            box.argv,
            env=environment,
            pass_fds=box.handles,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
        )
        inner = inner_process(os.read(box.info, 4096)) if select.select([box.info], [], [], 0)[0] else None
    finally:
        box.close()
    if inner is not None:
        # It dies with the outer process, as our child where we adopt; else init reaps it.
        with contextlib.suppress(ChildProcessError):
            os.waitpid(inner, 0)
    return done


def inner_process(told: bytes) -> int | None:
    """The process number that bubblewrap wrote to its information pipe; None if it has not yet."""
    match = _CHILD.search(told)
    return int(match[1]) if match else None


@dataclass(frozen=True, slots=True)
class SandboxCommand:
    """A command line that starts a bot in a sandbox. `handles` are open files to pass on to it, and then to close.

    `user` is the bot's user id, `info` the reading end of the pipe where bubblewrap names its first process inside.
    """

    argv: tuple[str, ...]
    handles: tuple[int, ...]
    user: int
    info: int

    def close(self) -> None:
        """Closes all handles, `info` too. For a bot that was not started after all."""
        for handle in (*self.handles, self.info):
            os.close(handle)


def put_in_box(command: Command, program: Path, limits: ResourceLimits, socket: Path | None = None) -> SandboxCommand:
    """The command line that runs `command`, whose program was found to be `program`, in bubblewrap under `limits`.

    `socket` is the bot's own, which must exist. Raises LaunchError if the bot's folder cannot be shown to it.
    """
    root = os.geteuid() == 0
    user = own_user_id() if root else os.getuid()
    inner = limited([str(program), *command.argv[1:]], limits, own_user=root or _namespaces_count_tasks())
    visible = mounts(command, program, limits, socket, other_user=root)
    info, tell = os.pipe()
    handles = [tell, _filled_pipe(f"bot:x:{user}:{user}:bot:{HOME}:/bin/sh\n".encode())]
    argv = [_tool("bwrap"), "--die-with-parent", "--new-session", "--unshare-ipc", "--unshare-pid", "--unshare-net"]
    argv += ["--unshare-uts", "--unshare-cgroup-try", "--hostname", "bot", "--info-fd", str(tell)]
    # Setting the user id later needs these two, and gives them up. Without root the namespace has only one id.
    argv += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] if root else ["--unshare-user"]
    argv += [*visible, "--perms", "0644", "--ro-bind-data", str(handles[1]), "/etc/passwd", "--remount-ro", "/"]
    code = bot_filter()
    if code is not None:
        handles.append(_filled_pipe(code))
        argv += ["--seccomp", str(handles[2])]
    argv += ["--chdir", str(command.folder.absolute() / command.cwd), "--"]
    if root:
        argv += [_tool("setpriv"), f"--reuid={user}", f"--regid={user}", "--clear-groups", "--inh-caps=-all", "--"]
    return SandboxCommand((*argv, *inner), tuple(handles), user, info)


def own_user_id() -> int:
    """A user id for one bot, drawn at random from a range that nobody uses and this system knows.

    Raises SandboxError if the system has no such id.
    """
    for start, count in _USER_IDS:
        if _is_mapped(start, count):
            return start + secrets.randbelow(count)
    raise SandboxError("sandbox bubblewrap: this container has no user ids to spare: give it 65536 of them")


def _is_mapped(start: int, count: int) -> bool:
    """Whether our user namespace knows the ids from `start` on."""
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, length = map(int, line.split())
        if first <= start and start + count <= first + length:
            return True
    return False


def _namespaces_count_tasks() -> bool:
    """Whether the limit on tasks counts within a user namespace (Linux 5.14), not all that the user runs."""
    major, minor = platform.release().split(".")[:2]
    return (int(major), int("".join(filter(str.isdigit, minor)) or 0)) >= (5, 14)


def _tool(name: str) -> str:
    """The path of a tool, which is known to be there once the trial has worked."""
    return shutil.which(name) or name


def _filled_pipe(data: bytes) -> int:
    """The reading end of a pipe that holds `data` (less than a pipe takes: 64 KiB)."""
    out, into = os.pipe()
    os.write(into, data)
    os.close(into)
    return out


def put_build_in_box(
    argv: Sequence[str],
    folder: Path,
    limits: ResourceLimits,
    reads: Iterable[Path] = (),
    *,
    home: Path,
    network: bool = False,
) -> SandboxCommand:
    """The command line that runs a build step in bubblewrap: its ``folder`` is writable, ``reads`` and the system are not.

    It runs as whoever owns the folder, who alone can write there; what else that user owns is not shown. ``home``, in the
    folder, is the home of that user inside. Raises LaunchError if the folder cannot be shown.
    """
    root, owner = os.geteuid() == 0, folder.stat()
    user, group = (owner.st_uid, owner.st_gid) if root else (os.getuid(), os.getgid())
    visible = build_mounts(folder, reads, network=network)
    info, tell = os.pipe()
    passwd = f"build:x:{user}:{group}:build:{home}:/bin/sh\n".encode()
    handles = [tell, _filled_pipe(passwd)]
    line = [_tool("bwrap"), "--die-with-parent", "--new-session", "--unshare-ipc", "--unshare-pid", "--unshare-uts"]
    line += ["--unshare-cgroup-try", "--hostname", "build", "--info-fd", str(tell)]
    line += [] if network else ["--unshare-net"]
    if not root:
        line += ["--unshare-user"]
    elif user == 0:
        line += ["--cap-drop", "ALL"]
    line += [*visible, "--perms", "0644", "--ro-bind-data", str(handles[1]), "/etc/passwd", "--remount-ro", "/"]
    code = bot_filter()
    if code is not None:
        handles.append(_filled_pipe(code))
        line += ["--seccomp", str(handles[2])]
    line += ["--chdir", str(folder), "--"]
    if root and user != 0:
        line += [_tool("setpriv"), f"--reuid={user}", f"--regid={group}", "--clear-groups", "--inh-caps=-all", "--"]
    # A limit on tasks would count all that this user runs, unless the user namespace counts its own.
    inner = limited(list(argv), limits, own_user=not root and _namespaces_count_tasks())
    return SandboxCommand((*line, *inner), tuple(handles), user, info)

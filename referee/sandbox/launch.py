"""Starts the process of a local bot.

    bot = launch(Command(argv=("python", "bot.py"), folder=folder, name="careful"), address="unix:/path/to/socket", token=token,
                 work_dir=work, log_path=log)
    ...
    end = await bot.kill()  # or: await bot.exited()

The output is read, limits are watched and the end is noticed in the running event loop; nothing waits for a bot.
"""

import asyncio
import contextlib
import os
import secrets
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from referee.sandbox.bytecode import compile_sdk
from referee.sandbox.command import Command, LaunchError, bot_environment, find_program, is_python, os_error_text
from referee.sandbox.control_group import ControlGroup, make_group
from referee.sandbox.exit_status import ExitStatus
from referee.sandbox.isolation import Policy, SandboxChoice, SandboxError, choose_sandbox, put_in_box
from referee.sandbox.limits import ResourceLimits, grouped, limited
from referee.sandbox.mounts import HOME, SOCKET_FOLDER
from referee.sandbox.output import BoundedLog
from referee.sandbox.process import BotProcess
from referee.sandbox.process_tree import ProcessMarks, ProcessTree, adopt_orphans, owner
from referee.sandbox.temporary_folder import make_folder, remove_folder

__all__ = [
    "BotProcess",
    "Command",
    "ExitStatus",
    "LaunchError",
    "Policy",
    "ResourceLimits",
    "SandboxChoice",
    "SandboxError",
    "choose_sandbox",
    "launch",
]

_DEFAULTS = ResourceLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """All that Popen needs, and what must be given back: by `close` if the start fails, else in the end."""

    argv: tuple[str, ...]
    environment: dict[str, str]
    folder: Path
    handles: tuple[int, ...] = ()
    info: int | None = None
    group: ControlGroup | None = None
    scratch: Path | None = None

    def close(self) -> None:
        for handle in self.handles:
            os.close(handle)
        if self.info is not None:
            os.close(self.info)
        if self.group is not None:
            self.group.remove()
        if self.scratch is not None:
            remove_folder(self.scratch)


def launch(
    command: Command,
    *,
    address: str,
    token: str,
    work_dir: Path,
    log_path: Path,
    limits: ResourceLimits = _DEFAULTS,
    sandbox: Policy = "auto",
    terminal: bool = False,
) -> BotProcess:
    """Starts a bot and returns at once; the bot finds `address` and `token` in its environment.

    `address` is `unix:PATH`, whose server listens already, or without a sandbox also `tcp:HOST:PORT`. The socket should
    lie in a folder that is closed to other users: it is opened to the bot's own user id. In `work_dir` the bot without
    a sandbox gets its private folder, removed in the end. An existing log is continued.

    With `terminal` the bot has the referee's own terminal instead of a log, so that a debugger in it can be talked to.

    Call it in the running event loop of the main thread: bubblewrap ends a bot together with the thread that started it.
    Raises LaunchError if the bot cannot be started (START_FAILED), SandboxError if the sandbox demanded does not work,
    RuntimeError outside of the main thread or an event loop.
    """
    asyncio.get_running_loop()
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("launch bots from the main thread: a bot ends with the thread that started it")
    kind = choose_sandbox(sandbox).kind
    program = find_program(command)
    if is_python(program):
        compile_sdk()
    adopt_orphans()
    signs = ProcessMarks(secrets.randbits(62), f"{owner()}.{secrets.token_hex(8)}")
    log = _open_log(command.name, log_path, limits)
    with contextlib.ExitStack() as undo:
        undo.callback(log.close)
        prepare = _with_box if kind == "bubblewrap" else _without_box
        start = prepare(command, program, limits, work_dir, address=address, token=token, signs=signs)
        undo.callback(start.close)
        popen, pipe = _spawn(command.name, start, terminal=terminal)
        undo.pop_all()
    for handle in start.handles:
        os.close(handle)
    return BotProcess(
        popen,
        pipe=pipe,
        log=log,
        tree=ProcessTree(popen.pid, signs, start.group),
        limits=limits,
        sandbox=kind,
        info=start.info,
        scratch=start.scratch,
    )


def _open_log(name: str, path: Path, limits: ResourceLimits) -> BoundedLog:
    try:
        return BoundedLog(path, limits.output_kept)
    except OSError as error:
        raise LaunchError(f"bot {name}: log {path} cannot be written: {error.strerror}") from error


def _with_box(
    command: Command,
    program: Path,
    limits: ResourceLimits,
    work_dir: Path,
    *,
    address: str,
    token: str,
    signs: ProcessMarks,
) -> _Start:
    """The start in bubblewrap: the socket appears at a place of its own, and nothing else of the machine does."""
    del work_dir
    scheme, _, rest = address.partition(":")
    socket = Path(rest).absolute()
    if scheme != "unix":
        raise LaunchError(
            f"bot {command.name}: a sandbox has no network, {address} is out of reach: give a unix: address"
        )
    if not socket.is_socket():
        raise LaunchError(f"bot {command.name}: there is no socket {socket}: start its server first")
    if os.geteuid() == 0:
        # The bot has another user id. What keeps others away is the folder around the socket.
        socket.chmod(0o666)
    inside = f"unix:{SOCKET_FOLDER}/{socket.name}"
    given = bot_environment(
        command, program, address=inside, token=token, marker=signs.marker, home=HOME, limits=limits
    )
    box = put_in_box(command, program, limits, socket)
    group = make_group(signs.marker, limits)
    argv = grouped(box.argv, group.folders if group is not None else ())
    return _Start(
        argv=tuple(argv), environment=given, folder=Path("/"), handles=box.handles, info=box.info, group=group
    )


def _without_box(
    command: Command,
    program: Path,
    limits: ResourceLimits,
    work_dir: Path,
    *,
    address: str,
    token: str,
    signs: ProcessMarks,
) -> _Start:
    """The start without a sandbox: a private folder for convenience, and a control group where we may make one."""
    try:
        scratch = make_folder(work_dir, signs.marker)
    except OSError as error:
        raise LaunchError(f"bot {command.name}: no folder can be made in {work_dir}: {error.strerror}") from error
    home = str(scratch)
    given = bot_environment(
        command, program, address=address, token=token, marker=signs.marker, home=home, limits=limits
    )
    group = make_group(signs.marker, limits)
    folders = group.folders if group is not None else ()
    argv = limited([str(program), *command.argv[1:]], limits, own_user=False, brand=signs.brand, cgroups=folders)
    return _Start(
        argv=tuple(argv),
        environment=given,
        folder=command.folder.absolute() / command.cwd,
        group=group,
        scratch=scratch,
    )


def _spawn(name: str, start: _Start, *, terminal: bool) -> tuple[subprocess.Popen[bytes], int]:
    """Starts the process. Returns it and the reading end of the pipe that carries both its outputs (or nothing)."""
    out, into = os.pipe()
    try:
        popen = subprocess.Popen(
            start.argv,
            env=start.environment,
            cwd=start.folder,
            pass_fds=start.handles,
            stdin=None if terminal else subprocess.DEVNULL,
            stdout=None if terminal else into,
            stderr=None if terminal else into,
            start_new_session=not terminal,
        )
    except OSError as error:
        os.close(out)
        raise LaunchError(f"bot {name}: cannot be started: {os_error_text(error)}") from error
    finally:
        os.close(into)
    return popen, out

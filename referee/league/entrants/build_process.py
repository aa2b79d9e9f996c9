"""The process of a build step: what it sees, what it may use, and what it finds in its environment.

A build is a stranger's program like the bot that it makes. In the sandbox it sees the system's programs and libraries, the
tool-chains on the PATH and the wire contract, all read-only, and the bot's own folder, where it may write. It has no home
but ``.build-home`` in that folder, where tools keep what they have fetched; the network it has only if it is told so.
Without a sandbox everything else is the same: the environment, the home, the limits, and the end of all that it started.
"""

import asyncio
import contextlib
import os
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from referee.league.definition.shipped import shipped_folder
from referee.sandbox.command import PACKAGE, LaunchError, installations, is_too_wide
from referee.sandbox.exit_status import ExitStatus
from referee.sandbox.isolation import SandboxKind, put_build_in_box
from referee.sandbox.limits import ResourceLimits, limited
from referee.sandbox.output import BoundedLog
from referee.sandbox.process import BotProcess
from referee.sandbox.process_tree import MARKER, ProcessMarks, ProcessTree, adopt_orphans, owner

HOME: Final = ".build-home"
"""The home of a build, in the bot's folder: caches of tools, kept for the next build of this bot and no other."""

PROGRAMS: Final = (
    *("cargo", "rustc", "rustup", "go", "gofmt", "node", "npm", "npx", "pnpm", "yarn", "bun", "deno", "java", "javac"),
    *("mvn", "gradle", "kotlinc", "scala", "sbt", "dotnet", "cmake", "ninja", "make", "meson", "bazel", "cc", "gcc"),
    *("g++", "c++", "clang", "clang++", "ld", "protoc", "grpc_cpp_plugin", "pkg-config", "buf", "git", "zig", "swift"),
    *("ghc", "cabal", "stack", "ocaml", "dune", "nim", "crystal", "ruby", "perl", "php", "elixir", "mix", "erl", "uv"),
)
"""Programs of tool-chains. Those that are installed outside of the system's folders are shown with what belongs to them."""

MEMORY_MIB: Final = 4096
_PROCESSES: Final = 512
_DESCRIPTORS: Final = 4096
_FILE_MIB: Final = 4096
_OUTPUT_BYTES: Final = 64 << 20

_PASSED: Final = re.compile(
    r"PATH|LANG|LC_\w+|TZ|TERM|SOURCE_DATE_EPOCH|(https?|no|all|ftp)_proxy|SSL_CERT_(FILE|DIR)|CURL_CA_BUNDLE"
    r"|JAVA_HOME|(MAVEN|JAVA|GRADLE|NODE|CARGO|GO|RUST|RUSTUP|CMAKE|PKG_CONFIG|PIP|UV|NPM_CONFIG)_\w+|GO[A-Z]+|RUSTFLAGS"
    r"|CC|CXX|CPP|LD|AR|CFLAGS|CXXFLAGS|CPPFLAGS|LDFLAGS|MAKEFLAGS",
    re.IGNORECASE,
)
"""Variables of tool-chains. Everything else stays outside."""

_SECRET: Final = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|_KEY", re.IGNORECASE)
_USER_IN_URL: Final = re.compile(r"://[^/\s@]+@")

_OF_A_HOME: Final = frozenset(
    {
        *("CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_INSTALL_ROOT", "GOPATH", "GOMODCACHE", "GOCACHE", "GOENV", "GOBIN"),
        *(
            "GOTMPDIR",
            "GRADLE_USER_HOME",
            "MAVEN_USER_HOME",
            "PIP_CACHE_DIR",
            "PIP_TARGET",
            "PIP_PREFIX",
            "UV_CACHE_DIR",
        ),
        *("NPM_CONFIG_CACHE", "NPM_CONFIG_USERCONFIG", "NPM_CONFIG_GLOBALCONFIG", "NPM_CONFIG_PREFIX", "NODE_PATH"),
    }
)
"""Variables that name places in the user's home, where a build has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildStep:
    """A build step about to run: its program and arguments, the bot's folder, and what it may use.

    ``memory_mib`` is the memory of all its processes, in MiB; ``network`` whether a sandbox gives it one.
    """

    name: str
    argv: tuple[str, ...]
    folder: Path
    sandbox: SandboxKind
    network: bool = False
    memory_mib: int = MEMORY_MIB

    def limits(self) -> ResourceLimits:
        """What it may use. Processes are counted in all, files one by one."""
        return ResourceLimits(
            memory_mib=self.memory_mib,
            processes=_PROCESSES,
            descriptors=_DESCRIPTORS,
            disk_mib=_FILE_MIB,
            output_total=_OUTPUT_BYTES,
        )


class BuildLog(BoundedLog):
    """The log of a build, which may show on the screen what it keeps."""

    def __init__(self, path: Path, kept: int, *, live: bool) -> None:
        """With ``live`` the screen is standard output."""
        super().__init__(path, kept)
        self._live = live

    def write(self, data: bytes) -> None:
        """Keeps and shows data, which are harmless text in UTF-8 by now."""
        super().write(data)
        if self._live:
            # A screen that is gone, as `head` at the end of a pipe, must not end a build.
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.write(data.decode("utf-8", "replace"))
                sys.stdout.flush()


@dataclass(frozen=True, slots=True)
class Ended:
    """How a build step ended; ``late`` if its time was up; ``words`` is the end of its output, harmless to show."""

    exit: ExitStatus
    late: bool
    words: str


async def run_step(step: BuildStep, log: Path, *, seconds: float, live: bool) -> Ended:
    """Runs a build step to its end, for at most so many seconds; what it prints goes to ``log``.

    When this returns or raises, nothing that the step has started is left. Raises ``LaunchError`` if it cannot be started.
    """
    process = _start(step, log, live=live)
    late = False
    try:
        await asyncio.wait_for(process.exited(), seconds)
    except TimeoutError:
        late = True
    finally:
        end = await process.kill()
    return Ended(end, late, process.tail())


def _start(step: BuildStep, log: Path, *, live: bool) -> BotProcess:
    program = _program(step)
    home = _home(step)
    adopt_orphans()
    signs = ProcessMarks(secrets.randbits(62), f"{owner()}.{secrets.token_hex(8)}")
    environment = build_environment(home, os.environ, offline=step.sandbox != "none" and not step.network)
    argv, limits = [str(program), *step.argv[1:]], step.limits()
    with contextlib.ExitStack() as undo:
        output = BuildLog(log, limits.output_kept, live=live)
        undo.callback(output.close)
        handles: tuple[int, ...] = ()
        info = None
        if step.sandbox == "bubblewrap":
            box = put_build_in_box(argv, step.folder, limits, reads(step, environment), home=home, network=step.network)
            argv, handles, info = list(box.argv), box.handles, box.info
            undo.callback(os.close, info)
        else:
            argv = limited(argv, limits, own_user=False, brand=signs.brand)
        popen, pipe = _spawn(argv, step, environment | {MARKER: signs.marker}, handles)
        undo.pop_all()
    return BotProcess(
        popen, pipe=pipe, log=output, tree=ProcessTree(popen.pid, signs), limits=limits, sandbox=step.sandbox, info=info
    )


def _spawn(
    argv: Sequence[str], step: BuildStep, environment: dict[str, str], handles: tuple[int, ...]
) -> tuple[subprocess.Popen[bytes], int]:
    """Starts it; closes the handles that were for it. Returns it and the reading end of its output."""
    out, into = os.pipe()
    try:
        popen = subprocess.Popen(  # noqa: S603  # starting what a bot's manifest says is what it is for
            argv,
            env=environment,
            cwd=step.folder if step.sandbox == "none" else "/",
            pass_fds=handles,
            stdin=subprocess.DEVNULL,
            stdout=into,
            stderr=into,
            start_new_session=True,
        )
    except OSError as error:
        os.close(out)
        raise LaunchError(f"{step.argv[0]} cannot be started: {error.strerror}") from None
    finally:
        for handle in (into, *handles):
            os.close(handle)
    return popen, out


def _program(step: BuildStep) -> Path:
    """The program of a build step: seen from the folder if there is a slash in it, else from the PATH."""
    first = step.argv[0]
    found = shutil.which(first if "/" not in first else str(step.folder / first))
    if found is None:
        raise LaunchError(f"{first} cannot be started: it is not there, or no program")
    return Path(found).absolute()


def _home(step: BuildStep) -> Path:
    """The home of the build, made if it is not there. Links are refused: they would lead out of the folder."""
    home = step.folder / HOME
    try:
        for place in (home, home / "tmp"):
            if place.is_symlink() or (place.exists() and not place.is_dir()):
                raise LaunchError(f"{place} is not a folder: remove it, it is the home of the build")
            if not place.exists():
                place.mkdir(mode=0o700)
                if os.geteuid() == 0:
                    folder = step.folder.stat()
                    os.chown(place, folder.st_uid, folder.st_gid, follow_symlinks=False)
    except OSError as error:
        raise LaunchError(f"{home} cannot be made: {error.strerror}; a build writes to the bot's folder") from None
    return home


def build_environment(home: Path, ours: "os._Environ[str] | dict[str, str]", *, offline: bool) -> dict[str, str]:
    """The environment of a build: the user's settings of tool-chains without secrets, and a home of its own.

    With ``offline`` tools are told that there is no network, so that they say so at once.
    """
    passed = {
        name: value
        for name, value in ours.items()
        if _PASSED.fullmatch(name)
        and not _SECRET.search(name)
        and not _USER_IN_URL.search(value)
        and name.upper() not in _OF_A_HOME
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{passed.get('PATH', os.defpath)}"
    rustup = Path(ours.get("RUSTUP_HOME", Path.home() / ".rustup"))
    found = {"RUSTUP_HOME": str(rustup)} if rustup.is_dir() else {}
    # Files of Go's module cache are read-only unless it is told otherwise, and then nobody can remove the folder.
    goflags = f"-modcacherw -buildvcs=false {passed.get('GOFLAGS', '')}".strip()
    told = {"CARGO_NET_OFFLINE": "true", "NPM_CONFIG_OFFLINE": "true", "GOPROXY": "off", "PIP_NO_INDEX": "1"}
    return {
        "LANG": "C.UTF-8",
        **passed,
        **found,
        **(told if offline else {}),
        "PATH": path,
        "GOFLAGS": goflags,
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def reads(step: BuildStep, environment: dict[str, str]) -> Iterator[Path]:
    """What a build may read besides the system and its folder: the tool-chains, the SDK and the wire contract."""
    yield PACKAGE
    yield shipped_folder("protos")
    yield shipped_folder("sample_bots") / "go" / "allfours"  # the messages, which the samples in Go share
    yield from installations(Path(sys.executable), step.folder)
    words = re.findall(r"[\w+-]+", " ".join(step.argv))
    for name in dict.fromkeys((*PROGRAMS, *words)):
        found = shutil.which(name)
        if found is not None:
            yield from installations(Path(found).absolute(), step.folder)
    for name in ("RUSTUP_HOME", "JAVA_HOME", "GOROOT"):
        place = Path(environment.get(name, ""))
        if place.is_absolute() and not is_too_wide(place):
            yield place

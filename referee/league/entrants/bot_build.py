"""The build step of a bot: running it, and telling whether it has been run.

A bot is built when every product that its ``run`` names is there: each word of it that is a path into a folder that
builds write to (``target/release/mybot``, ``dist/bot.js``). A ``:`` in a word separates paths, as in a class path.
"""

import asyncio
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from referee.league.definition.problems import Problem, plain
from referee.league.entrants.bot_digest import PRODUCTS
from referee.league.entrants.bot_source import BotSource, BotSourceError
from referee.league.entrants.build_process import MEMORY_MIB, BuildStep, Ended, run_step
from referee.sandbox.command import LaunchError
from referee.sandbox.isolation import SandboxKind
from referee.umpire.faults import Fault

TOOLS: Final = {
    "cargo": "Rust 1.88 or newer: https://rustup.rs",
    "cmake": "apt install g++ cmake pkg-config libgrpc++-dev libprotobuf-dev protobuf-compiler-grpc",
    "g++": "apt install g++",
    "go": "Go 1.24 or newer: https://go.dev/dl, or apt install golang",
    "gradle": "https://gradle.org/install",
    "java": "apt install default-jdk-headless",
    "javac": "apt install default-jdk-headless",
    "make": "apt install make",
    "mvn": "apt install maven",
    "node": "Node.js 20 or newer: https://nodejs.org, or apt install nodejs",
    "npm": "Node.js 20 or newer: https://nodejs.org, or apt install npm",
    "npx": "Node.js 20 or newer: https://nodejs.org, or apt install npm",
}
"""What brings a program that builds call, by its name."""

_GRPC_CPP: Final = (
    "the C++ libraries of gRPC (apt install pkg-config libgrpc++-dev libprotobuf-dev protobuf-compiler-grpc)"
)
_LACKS: Final = tuple(
    (re.compile(pattern), told)
    for pattern, told in (
        (r"package\s+configuration\s+file\s+provided\s+by\s+\"gRPC\"|Could\s+NOT\s+find\s+gRPC", _GRPC_CPP),
        (r"Could\s+NOT\s+find\s+Protobuf|provided\s+by\s+\"[Pp]rotobuf\"", _GRPC_CPP),
        (r"\"gRPC::grpc_cpp_plugin\"\s+references\s+the\s+file|Target\s+\"?protobuf::protoc\"? not found", _GRPC_CPP),
        (r"fatal error: ['\"]?(grpcpp|google/protobuf)/\S+ (No such file|file not found)", _GRPC_CPP),
        (r"No\s+CMAKE_CXX_COMPILER\s+could\s+be\s+found", "a C++ compiler (apt install g++)"),
        (
            r"No\s+compiler\s+is\s+provided\s+in\s+this\s+environment",
            "a Java compiler (apt install default-jdk-headless)",
        ),
        (r"linker `(cc|gcc|clang)` not found", "a C compiler (apt install gcc)"),
    )
)
"""What tools say when a library or a compiler that they call is not installed, and what brings it."""

_NO_NETWORK: Final = re.compile(
    r"could not resolve|name or service not known|temporary failure in name resolution|unknown host|UnknownHostException"
    r"|ENOTFOUND|EAI_AGAIN|ENOTCACHED|network is unreachable|no address associated|lookup disabled by GOPROXY=off"
    r"|--offline was specified|without the offline flag|because you're offline|dial tcp|failed to establish a new connection"
    r"|no matching distribution found|could not find a version that satisfies",
    re.IGNORECASE,
)
"""What tools say when they wanted to fetch something."""

_BUILT: Final = PRODUCTS | {".venv", "venv"}
"""Names of folders that builds write to; some make a virtual environment."""

SHOWN_LINES: Final = 60


@dataclass(frozen=True, slots=True)
class BuildOutcome:
    """How a build went. ``failure`` is one sentence, empty if it went well; ``words`` the end of its output if it failed.

    ``lacks``: it failed because something that it needs is not installed here.
    """

    seconds: float
    failure: str = ""
    words: str = ""
    lacks: bool = False


@dataclass(frozen=True, slots=True)
class BuildRemedies:
    """What helps a build that was ended, or that wants the network, in the words of whoever runs it: ends of sentences."""

    seconds: str = "--seconds gives it more"
    memory: str = "--memory-mib gives it more"
    fetches: str = "a build has the network only with --network; run it again with that"
    network: str = "--network gives it one"


class Built(Protocol):
    """What is known of a bot that may have to be built: a ``BotSource`` or an entrant."""

    @property
    def argv(self) -> tuple[str, ...]:
        """How it is started."""

    @property
    def build(self) -> tuple[str, ...]:
        """How it is built; empty = not at all."""

    @property
    def folder(self) -> Path | None:
        """Its folder; ``None`` for one that dials in."""


def missing_products(source: Built) -> tuple[str, ...]:
    """The products that the bot's ``run`` names and that are not there; empty where nothing is built."""
    folder = source.folder
    if not source.build or folder is None:
        return ()
    paths = [path for word in source.argv for path in word.split(":") if _is_product(path)]
    return tuple(path for path in paths if not (folder / path).exists())


def _is_product(path: str) -> bool:
    place = Path(path)
    return not place.is_absolute() and "*" not in path and not _BUILT.isdisjoint(place.parts)


def unbuilt(source: Built) -> Problem | None:
    """That the bot has to be built first, with the command that does it; ``None`` if it need not be."""
    missing, folder = missing_products(source), _seen_from_here(source.folder or Path())
    if not missing:
        return None
    found = f"no {plain(missing[0])} in its folder: it is not built"
    return Problem(
        file=plain(folder),
        line=0,
        field="the bot",
        found=found,
        allowed="a bot that is built",
        remedy=f"run referee build {plain(folder)}",
    )


def require_built(sources: Iterable[Built]) -> None:
    """Raises ``BotSourceError`` with every bot that has to be built first."""
    problems = [problem for source in sources if (problem := unbuilt(source)) is not None]
    if problems:
        raise BotSourceError(dict.fromkeys(problems))


def _seen_from_here(folder: Path) -> str:
    here = Path.cwd()
    return str(folder.relative_to(here)) if folder.is_relative_to(here) else str(folder)


def programs_of(build: Sequence[str]) -> tuple[str, ...]:
    """The programs that a build step calls, as far as its words tell: the first, and all that are known as tools of builds."""
    words = [build[0], *(word for word in re.findall(r"[\w+-]+", " ".join(build)) if word in TOOLS)] if build else []
    return tuple(word for word in dict.fromkeys(words) if "/" not in word)


def missing_tools(build: Sequence[str]) -> tuple[str, ...]:
    """The programs that a build step calls and that are not on the PATH, each with what brings it."""
    missing = [word for word in programs_of(build) if shutil.which(word) is None]
    return tuple(f"{word} ({TOOLS[word]})" if word in TOOLS else word for word in missing)


def build(
    source: BotSource,
    *,
    seconds: float,
    live: bool,
    sandbox: SandboxKind = "none",
    network: bool = False,
    memory_mib: int = MEMORY_MIB,
    remedies: BuildRemedies = BuildRemedies(),
) -> BuildOutcome:
    """Runs the build step in the bot's folder, for at most so many seconds: see :mod:`referee.league.entrants.build_process`.

    With ``live`` its output is shown as it comes, else the end of it is kept. Whatever it has started is ended when it ends,
    is late, or an exception (Ctrl-C) comes by. Call it in the main thread, outside of an event loop.
    """
    step = BuildStep(
        name=source.name,
        argv=source.build,
        folder=source.folder.absolute(),
        sandbox=sandbox,
        network=network,
        memory_mib=memory_mib,
    )
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="referee-build-") as place:
        try:
            ended = asyncio.run(run_step(step, Path(place, "log"), seconds=seconds, live=live))
        except LaunchError as error:
            return BuildOutcome(0.0, str(error))
    took = time.monotonic() - started
    failure = _failure(source, ended, seconds, remedies)
    if not failure:
        return BuildOutcome(took)
    lacks = missing_libraries(ended.words)
    if lacks:
        return BuildOutcome(took, f"what it needs is not here: {lacks}", lacks=True)
    if sandbox != "none" and not network:
        failure = _want_of_network(failure, ended.words, remedies)
    return BuildOutcome(took, failure, "\n".join(ended.words.splitlines()[-SHOWN_LINES:]))


def _failure(source: BotSource, ended: Ended, seconds: float, remedies: BuildRemedies) -> str:
    if ended.late:
        return f"it was not done after {seconds:g} seconds and was ended; {remedies.seconds}"
    end = ended.exit
    if end.fault is Fault.RESOURCE_MEM:
        return f"its build step was ended: {_lower(end.sentence)} {remedies.memory}"
    if end.fault is not None and end.fault is not Fault.CRASH:
        return f"its build step was ended: {_lower(end.sentence)}".rstrip(".")
    if end.signal is not None:
        return f"its build step ended by signal {end.signal}"
    if end.code != 0:
        return f"its build step ended with exit code {end.code}"
    missing = missing_products(source)
    if missing:
        return f'its build step brought no {missing[0]}, which "run" names: correct build or run in its bot.toml'
    return ""


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def missing_libraries(words: str) -> str:
    """What the output of a build says is not installed, with what brings it; empty if it is something else."""
    return "; ".join(dict.fromkeys(told for pattern, told in _LACKS if pattern.search(words)))


def _want_of_network(failure: str, words: str, remedies: BuildRemedies) -> str:
    if _NO_NETWORK.search(words):
        return f"{failure}: it fetches packages, and {remedies.fetches}"
    return f"{failure} (it had no network; {remedies.network})"

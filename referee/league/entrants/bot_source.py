"""Finding a bot: a folder with ``bot.toml``, a ``.py`` file, a command, or the name of a sample bot.

``bot.toml`` says what the referee must know of a bot::

    name = "my bot"                  # how it is called in standings
    version = "1.2"                  # a new version is a new player
    run = ["python", "bot.py"]       # started in this folder
    build = ["make"]                 # optional: a list, or a string for sh; products go to build/, dist/, target/ ...
    variants = ["auction-pitch"]     # optional: what it can play
    env = { DEPTH = "3" }            # optional: variables for its environment
    cwd = "engine"                   # optional: where it runs, a folder inside its own
    description = "Counts trumps."   # optional
"""

import hashlib
import json
import shutil
import sys
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, field_validator

from referee.league.definition.fields import ENVIRONMENT_ALLOWED, Section, environment
from referee.league.definition.model_problems import FieldProblem, finding_error, problems_of
from referee.league.definition.names import (
    NAME_ALLOWED,
    BotName,
    BotVersion,
    PlainText,
    harmless_name,
    is_name,
    is_readable,
)
from referee.league.definition.problems import Problem, ProblemsError, near, plain, shown
from referee.league.definition.shipped import sample_bots, sample_root
from referee.league.definition.toml_file import parse, read_text
from referee.league.entrants.bot_digest import (
    TooLarge,
    command_digest,
    file_digest,
    folder_digest,
    linked_files,
    outer_links,
)
from referee.sandbox.command import Command, bot_command

LARGEST = 16 * 1024
"""The most bytes of a bot.toml."""

CWD_ALLOWED = "the path of a folder inside the bot's own"

_PYTHONS = ("python", "python3")
_SAMPLE_PREFIX = "sample_bots/python/"
_Words = Annotated[tuple[PlainText, ...], Field(max_length=64, strict=False)]


class BotSourceError(ProblemsError):
    """A bot that cannot be used. Problems with line 0 are about the bot as a whole, the others about its bot.toml."""


class Manifest(Section):
    """The content of a ``bot.toml``."""

    name: BotName = Field(description="How the bot is called.", examples=["my bot"])
    version: BotVersion = Field(description="A new version is a new player.", examples=["1.0"])
    run: _Words = Field(min_length=1, description="Program and arguments.", examples=[["python", "bot.py"]])
    build: _Words = Field(default=(), description="Program and arguments that build the bot, or a line for sh.")
    variants: _Words = Field(default=(), description="Variants that it can play. Absent: it says so when it joins.")
    env: dict[str, Any] = Field(
        default={},
        description="Variables for its environment.",
        examples=[{"DEPTH": "3"}],
        json_schema_extra={"x-allowed": ENVIRONMENT_ALLOWED},
    )
    description: str = Field(
        default="",
        max_length=400,
        description="What is special about it.",
        json_schema_extra={"x-allowed": "text of up to 400 readable characters"},
    )

    cwd: PlainText = Field(
        default="",
        max_length=200,
        description="Where it runs, if not at the top of its folder.",
        examples=["engine"],
        json_schema_extra={"x-allowed": CWD_ALLOWED},
    )

    @field_validator("cwd")
    @classmethod
    def _inside(cls, cwd: str) -> str:
        if cwd.startswith("/") or ".." in cwd.split("/"):
            raise finding_error(FieldProblem((), CWD_ALLOWED, "move it inside, and name it from the bot's folder"))
        return cwd

    @field_validator("build", mode="before")
    @classmethod
    def _shell_line(cls, build: Any) -> Any:
        return ("sh", "-c", build) if isinstance(build, str) else build

    @field_validator("env")
    @classmethod
    def _variables(cls, env: dict[str, Any]) -> dict[str, Any]:
        return environment(env)

    @field_validator("description")
    @classmethod
    def _readable(cls, text: str) -> str:
        if not is_readable(text, lines=True):
            allowed = "text of up to 400 readable characters"
            raise finding_error(FieldProblem((), allowed, "take control and direction marks out of it"))
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class BotSource:
    """A bot that was found, ready to be started: run ``argv`` in ``folder``.

    ``digest`` is SHA-256 over its files. ``variants`` is empty where the bot does not say what it plays; ``build`` is
    empty where nothing is built; ``only`` names the one file of a ``.py`` bot and is empty for all others; ``environment`` is
    what its author wants set, ``cwd`` where in ``folder`` it runs.
    """

    name: str
    version: str
    argv: tuple[str, ...]
    folder: Path
    digest: str
    build: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    description: str = ""
    only: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)
    cwd: str = ""

    def command(self) -> Command:
        """How to start it."""
        command = with_links(bot_command(self.argv, self.folder, self.name, only=self.only))
        return replace(command, environment=self.environment, cwd=self.cwd)

    def with_options(self, args: Sequence[str], environment: Mapping[str, str], version: str | None) -> "BotSource":
        """The same bot with further arguments and variables, which are part of its digest; ``version`` is one that was given."""
        if not (args or environment):
            return self
        told = json.dumps([self.digest, list(args), dict(environment)], sort_keys=True)
        digest = hashlib.sha256(told.encode()).hexdigest()
        own = digest[:8] if self.version == self.digest[:8] else self.version
        return replace(
            self,
            argv=(*self.argv, *args),
            digest=digest,
            version=version or own,
            environment={**self.environment, **environment},
        )


def with_links(command: Command) -> Command:
    """The same command, for which a sandbox shows the files that links in the bot's folder lead to."""
    if not (command.whole or command.only):
        return command
    linked = linked_files(command.folder, command.only)
    return replace(command, reads=(*command.reads, *linked)) if linked else command


def find_bot(text: str, relative_to: Path | str, *, name: str | None = None, version: str | None = None) -> BotSource:
    """The bot that a path (seen from ``relative_to``) or the name of a sample bot means.

    ``name`` and ``version`` replace the bot's own. A ``.py`` file is called by its name without ``.py`` (or what of that may be a name), its version is
    the start of its digest; only that file is watched for changes. Raises ``BotSourceError``.
    """
    tried: list[str] = []
    for path in dict.fromkeys(_places(text, Path(relative_to))):
        fault = _why_not(path)
        if fault is None:
            folder = path.parent if path.name == "bot.toml" else path
            return _script(path, name, version) if path.suffix == ".py" else _from_folder(folder, name, version)
        tried.append(f"{plain(str(path))} ({fault})")
        if fault != "not there":
            break
    allowed = f"a folder with bot.toml, a .py file, or a sample bot ({', '.join(sample_bots()) or 'none is there'})"
    meant = near(text, _neighbours(text, Path(relative_to)))
    remedy = f'did you mean "{plain(meant)}"?' if meant else "correct the path"
    raise _bot_error(text, f"no bot; tried {' and '.join(tried)}", allowed, remedy)


def command_bot(argv: Sequence[str], folder: Path | str, *, name: str, version: str | None = None) -> BotSource:
    """The bot that a command starts in a folder. Files that the command names are watched for changes.

    Raises ``BotSourceError`` if the name is not harmless or the program is nowhere.
    """
    folder = Path(folder).absolute()
    words = _with_interpreter(argv)
    if shutil.which(words[0] if "/" not in words[0] else str(folder / words[0])) is None:
        allowed = "a program on the PATH, or an executable file"
        raise _bot_error(name, f"the command {shown(argv[0])}, which is neither", allowed, "correct the command")
    digest = _digested(name, lambda: command_digest(argv, folder))
    return BotSource(name=_named(name, name), version=version or digest[:8], argv=words, folder=folder, digest=digest)


def _places(text: str, relative_to: Path) -> Iterator[Path]:
    try:
        yield (relative_to / Path(text).expanduser()).absolute()
    except RuntimeError:
        yield (relative_to / text).absolute()
    sample = text.removeprefix(_SAMPLE_PREFIX).rstrip("/")
    if sample and "/" not in sample and sample not in (".", ".."):
        yield sample_root() / sample


def _why_not(path: Path) -> str | None:
    """Why the path is no bot, or ``None`` if it is one."""
    try:
        if path.is_dir():
            return None if (path / "bot.toml").exists() else "a folder without bot.toml"
        if path.is_file():
            return None if path.suffix == ".py" or path.name == "bot.toml" else "a file, but no .py file"
        return "neither a folder nor a file" if path.exists() else "not there"
    except (OSError, ValueError) as error:
        return plain(getattr(error, "strerror", None) or str(error))


def _neighbours(text: str, relative_to: Path) -> list[str]:
    """Bots that might have been meant: the sample bots, and what is beside the place that was named."""
    names = list(sample_bots())
    try:
        parent = Path(text).parent
        beside = [path for path in (relative_to / parent).iterdir() if _why_not(path) is None]
        names += [path.name if parent == Path() else str(parent / path.name) for path in beside]
    except (OSError, ValueError):
        pass
    return names


def _from_folder(folder: Path, name: str | None, version: str | None) -> BotSource:
    path = folder / "bot.toml"
    try:
        document = parse(read_text(path, LARGEST, "add a bot.toml"), str(path))
        try:
            manifest = Manifest.model_validate(document.data)
        except ValidationError as error:
            raise BotSourceError(problems_of(error, Manifest, document)) from None
    except ProblemsError as error:
        raise BotSourceError(error.problems) from None
    digest = _digested(str(folder), lambda: folder_digest(folder, built=bool(manifest.build)))
    _refuse_linked_folders(folder)
    if not (folder / manifest.cwd).is_dir():
        raise _bot_error(
            str(path), f"cwd = {manifest.cwd!r}, but no such folder", CWD_ALLOWED, "make it, or correct cwd"
        )
    return BotSource(
        name=_named(str(folder), name or manifest.name),
        version=version or manifest.version,
        argv=_with_interpreter(manifest.run),
        folder=folder,
        digest=digest,
        build=_with_interpreter(manifest.build),
        variants=manifest.variants,
        description=" ".join(manifest.description.split()),
        environment=manifest.env,
        cwd=manifest.cwd,
    )


def _script(path: Path, name: str | None, version: str | None) -> BotSource:
    """A bot of one file. It may be named by a link: then it runs where the file is, under the link's name."""
    digest = _digested(str(path), lambda: file_digest(path))
    _refuse_no_python(path)
    named = _named(str(path), name or (path.stem if is_name(path.stem) else harmless_name(path.stem)))
    file = path.resolve()
    word = f"./{file.name}" if file.name.startswith("-") else file.name  # else Python takes it for an option
    return BotSource(
        name=named,
        version=version or digest[:8],
        argv=(sys.executable, word),
        folder=file.parent,
        digest=digest,
        only=(file.name,),
    )


def _refuse_no_python(path: Path) -> None:
    """A file that Python would not even begin to read as a program: an empty one, or one that is no text."""
    allowed, remedy = "a program in Python", "name the file of the bot, as it was saved by an editor"
    try:
        with tokenize.open(path) as file:
            text = file.read()
    except (SyntaxError, LookupError, UnicodeError):  # also where it names an encoding that is none of text
        raise _bot_error(str(path), "bytes that are no text", allowed, remedy) from None
    except OSError:
        return  # told where the digest is made
    if "\0" in text:
        raise _bot_error(str(path), "bytes that are no text", allowed, remedy)
    if not text.strip():
        raise _bot_error(str(path), "an empty file", allowed, remedy)


def _refuse_linked_folders(folder: Path) -> None:
    """A linked file counts with its content, but what lies in a linked folder could change without anybody's notice."""
    try:
        links = [name for name, target in outer_links(folder) if target.is_dir()]
    except (OSError, TooLarge):
        return  # told where the digest is made
    if links:
        found = f"{shown(links[0])}, a link to a folder outside"
        raise _bot_error(str(folder), found, "its own files, and links to files", "copy that folder into the bot's")


def _digested(bot: str, digest: Callable[[], str]) -> str:
    try:
        return digest()
    except TooLarge as error:
        remedy = "keep only what the bot needs in its folder"
        raise _bot_error(bot, str(error), "20,000 files and 1,024 MiB", remedy) from None
    except OSError as error:
        where = f" ({plain(str(error.filename))})" if error.filename else ""
        raise _bot_error(bot, f"{error.strerror}{where}", "files that can be read", "check the permissions") from None


def _with_interpreter(argv: Sequence[str]) -> tuple[str, ...]:
    """The command with ``python`` and bare ``.py`` files run by the interpreter that runs the referee."""
    if argv and argv[0] in _PYTHONS:
        return (sys.executable, *argv[1:])
    return (sys.executable, *argv) if argv and argv[0].endswith(".py") else tuple(argv)


def _named(bot: str, name: str) -> str:
    if not is_name(name):
        raise _bot_error(bot, f"the name {shown(name)}", NAME_ALLOWED, 'give it a harmless name with name = "..."')
    return name


def _bot_error(bot: str, found: str, allowed: str, remedy: str) -> BotSourceError:
    return BotSourceError(
        [Problem(file=plain(bot[:200]), line=0, field="the bot", found=found, allowed=allowed, remedy=remedy)]
    )

"""A fresh bot project, made from a sample bot: the same sources, under a name of its own.

Templates are the samples themselves. Each that is not in Python calls itself ``random-go`` and the like wherever its
project has a name; there the new name is put. What builds bring is left behind; the wire contract is copied in, so that
the project can be built anywhere, and so is a workflow that checks the bot at every push.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from referee.league.definition.problems import Problem, near, one_of, plain, shown
from referee.league.definition.shipped import copy_protos, shipped_file, shipped_folder
from referee.league.entrants.bot_digest import PRODUCTS, TRACES
from referee.league.entrants.bot_source import BotSourceError, find_bot

TITLES: Final = {
    "python": "Python",
    "typescript": "TypeScript",
    "go": "Go",
    "rust": "Rust",
    "java": "Java",
    "cpp": "C++",
}
"""How people write the languages of the sample bots, by the names of their folders."""

SETUP: Final = {
    "typescript": ["- { uses: actions/setup-node@v4, with: { node-version: 22 } }"],
    "go": ["- { uses: actions/setup-go@v5, with: { go-version-file: go.mod } }"],
    "rust": ["- run: rustup update stable"],
    "java": ["- { uses: actions/setup-java@v4, with: { distribution: temurin, java-version: 21 } }"],
    "cpp": [
        "- run: sudo apt-get update",
        "- run: sudo apt-get install -y g++ cmake pkg-config libgrpc++-dev libprotobuf-dev protobuf-compiler-grpc",
    ],
}
"""The steps that put a language's tool-chain on a machine of GitHub."""

SHARED: Final = {"go": ("allfours", "go.mod")}
"""By language: the folder beside its samples that they share, and the file that says where it is. A project gets its own."""

NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_NAME_ALLOWED: Final = "up to 40 small letters, digits and single hyphens, a letter first"


@dataclass(frozen=True, slots=True)
class Project:
    """What was written: where, which sample it began as, and whether it has to be built.

    ``home`` is Referee's own repository as the workflow names it; ``None``: nobody knows it here.
    """

    folder: Path
    sample: str
    built: bool
    home: str | None


def build_step(language: str) -> str:
    """The command that builds a new project. All but those in C++ fetch packages, the first time at least."""
    return "referee build" if language == "cpp" else "referee build --network"


def languages() -> tuple[str, ...]:
    """The languages that there are samples in."""
    root = shipped_folder("sample_bots")
    wanted = ("README.md", "random/bot.toml", "careful/bot.toml")
    return tuple(name for name in TITLES if all((root / name / file).is_file() for file in wanted))


def new_bot(language: str, name: str, parent: Path, *, sample: str = "random", home: str | None = None) -> Project:
    """Writes the project ``parent/name``, from the sample of that language.

    ``home`` says where Referee is on GitHub, as OWNER/REPOSITORY; absent, it is looked up. Raises ``BotSourceError`` for a
    language, name or sample that cannot be, and where something of that name is there already.
    """
    target = parent / name
    _check(language, name, sample, target)
    source = shipped_folder("sample_bots") / language / sample
    bot = find_bot(str(source), parent)
    with tempfile.TemporaryDirectory(dir=parent, prefix=f".{name}-") as place:
        draft = Path(place) / name
        for file in sorted(_sources(source)):
            _copy(source / file, draft / file, bot.name if f"-{language}" in bot.name else "", name)
        if language in SHARED:
            _share(source.parent, draft, *SHARED[language])
        _rename(draft / "bot.toml", name)
        (draft / "README.md").write_text(_readme(language, name, sample, bot.name, built=bool(bot.build)), "utf-8")
        (draft / ".gitignore").write_text("".join(f"{one}\n" for one in _ignored(language)), "utf-8")
        if language != "python":
            copy_protos(draft / "protos")
        home = home or home_of_referee()
        workflow = draft / ".github" / "workflows" / "rules.yml"
        workflow.parent.mkdir(parents=True)
        workflow.write_text(_workflow(language, home), "utf-8")
        draft.rename(target)
    return Project(target, sample, bool(bot.build), home)


def _check(language: str, name: str, sample: str, target: Path) -> None:
    known = languages()
    if language not in known:
        meant = near(language, known)
        remedy = f'did you mean "{meant}"?' if meant else "choose one of these"
        raise _error("LANGUAGE", shown(language), one_of(known), remedy)
    if len(name) > 40 or NAME.fullmatch(name) is None:
        raise _error("NAME", shown(name), _NAME_ALLOWED, "write it like my-bot")
    samples = sorted(path.parent.name for path in (shipped_folder("sample_bots") / language).glob("*/bot.toml"))
    if sample not in samples:
        raise _error("--from", shown(sample), one_of(samples), "choose one of these")
    if target.exists() or target.is_symlink():
        raise _error("NAME", f"{plain(str(target))}, which is there already", "a new name", "choose another name")


def _error(field: str, found: str, allowed: str, remedy: str) -> BotSourceError:
    return BotSourceError(
        [Problem(file="referee new", line=0, field=field, found=found, allowed=allowed, remedy=remedy)]
    )


def _sources(folder: Path) -> Iterator[str]:
    """The files of a sample, seen from its folder, without what tools and builds bring."""
    for root, folders, files in os.walk(folder):
        folders[:] = [one for one in folders if one not in PRODUCTS | TRACES]
        yield from (str(Path(root, file).relative_to(folder)) for file in files if file not in TRACES)


def _copy(source: Path, target: Path, old: str, new: str) -> None:
    """Copies a file; in a text, ``old`` (if any) becomes ``new``. Its mode is kept."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    content = source.read_bytes()
    if old and b"\0" not in content:
        target.write_bytes(content.replace(old.encode(), new.encode()))


def _share(samples: Path, project: Path, folder: str, file: str) -> None:
    """Gives a project the folder that the samples share, and points its file there."""
    for one in sorted(_sources(samples / folder)):
        _copy(samples / folder / one, project / folder / one, "", "")
    place = project / file
    place.write_text(place.read_text("utf-8").replace(f"../{folder}", f"./{folder}"), "utf-8")


def _rename(manifest: Path, name: str) -> None:
    text = manifest.read_text("utf-8")
    manifest.write_text(re.sub(r'^name = ".*"$', f'name = "{name}"', text, count=1, flags=re.MULTILINE), "utf-8")


def _ignored(language: str) -> list[str]:
    built = ["__pycache__"] if language == "python" else sorted(PRODUCTS)
    return [f"{one}/" for one in (*built, "failures", "leagues")]


def _readme(language: str, name: str, sample: str, old: str, *, built: bool) -> str:
    """What to do with the project; then what the samples' own README says after its first steps."""
    steps = [build_step(language)] * built + ["referee play . careful", "referee check ."]
    lines = [
        f"# {name}",
        "",
        f"An All Fours bot in {TITLES[language]}, begun as the sample bot `{sample}` of Referee.",
        "",
    ]
    lines += [f"    {step}" for step in steps]
    text = (shipped_folder("sample_bots") / language / "README.md").read_text("utf-8")
    _, found, rest = text.partition("\n## From zero")[2].partition("\n## ")
    more = f"{found}{rest}".replace(f"random-{language}", name).replace(old, name if "-" in old else old)
    return "\n".join(lines) + "\n" + more


def _workflow(language: str, home: str | None) -> str:
    """The workflow that checks the bot, with the steps that its language needs."""
    text = shipped_file(".github/actions/check/bot-ci.yml").read_text("utf-8")
    steps = "".join(f"      {step}\n" for step in SETUP.get(language, ()))
    text = text.replace("checkout@v4 }\n", f"checkout@v4 }}\n{steps}")
    return text.replace("OWNER/referee", home) if home else text


def home_of_referee() -> str | None:
    """Where this Referee comes from, as OWNER/REPOSITORY on GitHub: what pip noted when it was installed from there, or
    the remote of the checkout that it runs from; ``None`` if neither says so.
    """
    try:
        noted = metadata.distribution("allfours-referee").read_text("direct_url.json") or ""
    except metadata.PackageNotFoundError:
        noted = ""
    return _on_github(noted) or _on_github(_remote(Path(__file__).resolve().parents[3]))


def _remote(folder: Path) -> str:
    if not (folder / ".git").exists():
        return ""
    asked = ["git", "-C", str(folder), "remote", "get-url", "origin"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


def _on_github(text: str) -> str | None:
    found = re.search(r"github\.com[:/]([A-Za-z0-9-]+/[A-Za-z0-9._-]+?)(\.git)?(?=[\s\"@/?#]|$)", text)
    return found.group(1) if found else None

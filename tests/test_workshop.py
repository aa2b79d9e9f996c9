"""The house rules that a machine can hold us to: purity, no trace of one machine, set-up that explains itself."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Container, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import pytest
import yaml

import referee
from referee.rules.actions import DECISION_WORDS, EVENT_WORDS

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGE: Final = ROOT / "referee"
GENERATED: Final = PACKAGE / "protocol" / "allfours"
MODULES: Final = sorted(path for path in PACKAGE.rglob("*.py") if GENERATED not in path.parents)

PURE_STDLIB: Final = {
    *("__future__", "bisect", "collections", "dataclasses", "difflib", "enum", "functools", "heapq", "itertools"),
    *("hashlib", "json", "math", "operator", "re", "string", "textwrap", "types", "typing", "unicodedata"),
}
PURE_LIBRARIES: Final = {"umpire": {"orjson"}}
"""Libraries that are pure as well, by the part of referee that may use them."""
CORE: Final = {"cards", "rules", "umpire"}
PURE: Final = dict.fromkeys(CORE, CORE) | {"rules": {"cards", "rules"}, "oracle": {"oracle"}}
"""What must be pure: for each part of referee, the parts that it may import. Whether an arrow points down is judged by
the contract in pyproject.toml."""

JUDGED: Final = CORE | {"deals", "bot", "protocol", "sandbox", "net"}
"""The parts that the second rules engine judges, or whose word it must be able to contradict."""


def part_of(path: Path) -> str:
    """The part of referee, a package or a module, that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> Iterator[str]:
    """The absolute names of all modules that a file imports, at its top or inside a function."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*above, *(node.module or "").split("."))).rstrip(".")
            yield from (f"{module}.{alias.name}" for alias in node.names)


def files_of_the_project() -> Iterator[Path]:
    """Every text file of ours, as a checkout or an export of it has them; what .gitignore names is left out."""
    ignored = (ROOT / ".gitignore").read_text("utf-8").split()
    for folder, folders, names in os.walk(ROOT):
        here = Path(folder)
        folders[:] = [name for name in folders if name != ".git" and not matches(here / name, ignored)]
        yield from (here / name for name in names if name != ".git" and not matches(here / name, ignored))


def matches(path: Path, patterns: list[str]) -> bool:
    """Whether a pattern of .gitignore names this path: plain names and wild cards are all that ours has."""
    relative = path.relative_to(ROOT)
    return any(
        relative == Path(pattern) if "/" in pattern.rstrip("/") else relative.match(pattern.rstrip("/"))
        for pattern in patterns
    )


def offences(pattern: str, files: Iterator[Path]) -> list[str]:
    """Where a pattern occurs in files of text, as ``file:line: text``."""
    found = []
    for path in files:
        try:
            lines = path.read_text("utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        place = path.relative_to(ROOT)
        found += [f"{place}:{number}: {line}" for number, line in enumerate(lines, 1) if re.search(pattern, line)]
    return found


@pytest.mark.parametrize("name", sorted(PURE))
def test_the_core_is_pure(name: str) -> None:
    """No I/O, clock, randomness or logging: only these few modules of the standard library and libraries, and the parts below."""
    files = [path for path in MODULES if part_of(path) == name]
    assert files, f"there is no referee.{name}: correct the table PURE"
    allowed = tuple(f"referee.{part}." for part in PURE[name])
    libraries = PURE_STDLIB | PURE_LIBRARIES.get(name, set())
    impure = {
        f"{file.relative_to(ROOT)}: {module}"
        for file in files
        for module in imports_of(file)
        if module.split(".")[0] not in libraries and not f"{module}.".startswith(allowed)
    }
    assert not impure


def test_nothing_below_the_record_leans_on_the_second_engine() -> None:
    """The oracle can prove the rules only while the parts that it judges do not use it."""
    judged = [path for path in MODULES if part_of(path) in JUDGED]
    leaning = [path for path in judged if any(module.startswith("referee.oracle") for module in imports_of(path))]
    assert not leaning


def name_of(path: Path) -> str:
    """The absolute name of a module, or of a package for its ``__init__.py``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def first_circle(imports: dict[str, list[str]]) -> list[str]:
    """Modules that import each other round in a circle, the first one named again at the end; empty if none do.

    ``imports`` has by module what it imports: modules, and names in modules.
    """
    needs = {module: {_module(name, imports) for name in names} - {None} for module, names in imports.items()}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def _module(name: str, modules: Container[str]) -> str | None:
    """The module of these that an import of that name is of: itself, or the one that holds it."""
    return next((found for found in (name, name.rpartition(".")[0]) if found in modules), None)


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Inside a package too; what is imported in a function, or for types alone, counts as well."""
    circle = first_circle({name_of(path): list(imports_of(path)) for path in MODULES})
    assert circle == [], " imports ".join(circle)


def test_a_circle_would_be_found() -> None:
    assert first_circle({"a.b": ["a.c.x", "os.path"], "a.c": ["a.d"], "a.d": []}) == []
    assert sorted(set(first_circle({"a.b": ["a.c.x"], "a.c": ["a.d"], "a.d": ["a.b.y"]}))) == ["a.b", "a.c", "a.d"]
    assert first_circle({"a": ["a.b.x"], "a.b": ["a.y"]}) in (["a", "a.b", "a"], ["a.b", "a", "a.b"])


NAMED_TWICE: Final = {
    "Call": "the SDK mirrors it for authors of bots",
    "Event": "the SDK mirrors it for authors of bots",
    "EventKind": "the SDK mirrors it for authors of bots",
    "Keeps": "the SDK mirrors it for authors of bots",
    "Kind": "the SDK mirrors it for authors of bots",
    "Turn": "the SDK mirrors it for authors of bots",
}
"""Class names that two modules define, with the reason. One of the two is always in ``referee.bot``, which imports nothing of the rest."""


def test_a_class_name_means_one_thing() -> None:
    """Whoever searches for a class finds it; an underscore makes no other name."""
    places: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name.lstrip("_"), []).append(part_of(path))
    twice = {name: parts for name, parts in places.items() if len(parts) > 1}
    assert twice.keys() == NAMED_TWICE.keys(), twice
    assert {name: parts for name, parts in twice.items() if len(parts) > 2 or parts.count("bot") != 1} == {}


def test_what_decisions_and_events_are_in_words_is_said_once() -> None:
    """No second map beside those of ``rules.actions`` says the same of two kinds or more."""
    known = {f"Kind.{kind.name}": words for kind, words in DECISION_WORDS.items()}
    known |= {f"EventKind.{kind.name}": words.replace(" {}", "") for kind, words in EVENT_WORDS.items()}
    again = []
    for path in (ROOT / "referee").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Dict) and path.name != "actions.py":
                pairs = [(ast.unparse(key), value) for key, value in zip(node.keys, node.values, strict=True) if key]
                said = [
                    key
                    for key, value in pairs
                    if isinstance(value, ast.Constant) and str(value.value).replace(" {}", "") == known.get(key)
                ]
                again += [f"{path.name}:{node.lineno}"] if len(said) > 1 else []
    assert not again


def test_no_file_names_a_place_of_one_machine() -> None:
    """A home folder or a checkout's path in a file works on one machine only."""
    here = "|".join(map(re.escape, {f"{ROOT}/", f"{Path.home()}/"} - {"//"}))
    ours = (path for path in files_of_the_project() if path != Path(__file__).resolve())
    assert offences(rf"{here}|(?<![\w.])/(home|Users|root|work|workspace)/[\w.]", ours) == []


def test_no_file_chooses_a_package_index() -> None:
    """Packages come from wherever the machine's own pip configuration points; the lock file names the public index."""
    choice = r"index[-_]url|find[-_]links|trusted[-_]host|tool\.uv\.index|PIP_INDEX|UV_INDEX|UV_DEFAULT_INDEX"
    ours = (path for path in files_of_the_project() if path != Path(__file__).resolve())
    assert offences(choice, ours) == []
    hosts = set(re.findall(r"https?://([^/\"]+)", (ROOT / "uv.lock").read_text("utf-8")))
    assert hosts == {"pypi.org", "files.pythonhosted.org"}


def test_continuous_integration_runs_what_a_person_runs() -> None:
    """`.ci/run`, and the wheel on every Python that the package says it runs on."""
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]
    commands = {name: [step.get("run", "") for step in job["steps"]] for name, job in jobs.items()}
    assert "bash .ci/run" in commands["checks"]
    assert ".ci/try-wheel python" in commands["wheel"]
    about = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["classifiers"]
    versions = [text.rpartition(" ")[2] for text in about if re.search(r":: Python :: 3\.\d+$", text)]
    assert jobs["wheel"]["strategy"]["matrix"]["python"] == versions
    run = (ROOT / ".ci" / "run").read_text("utf-8")
    for script in ("run", "install", "try-wheel"):
        assert os.access(ROOT / ".ci" / script, os.X_OK) or f"bash .ci/{script}" in run


def test_each_hook_before_a_commit_is_a_step_of_continuous_integration() -> None:
    """And each starts a tool of .venv or a script of ours that is there."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]
    make = (ROOT / "Makefile").read_text("utf-8").replace("$(BIN)", ".venv/bin")
    for hook in hooks:
        for command in re.findall(r"\.venv/bin/[\w-]+(?: -m \w+| \S+\.py| check| format| lint)?", hook["entry"]):
            tool, _, script = command.partition(" ")
            assert (ROOT / tool).exists(), hook["id"]
            assert not script.endswith(".py") or (ROOT / script).is_file(), hook["id"]
            assert command in make or script == "docs/generate.py", hook["id"]  # the tests compare that one


def test_the_change_log_tells_of_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.split(r"^## ", text, flags=re.MULTILINE)[1]
    assert referee.__version__ in newest.splitlines()[0]
    assert re.findall(r"^### (\w+)", newest, flags=re.MULTILINE) == ["Rules", "Protocol", "Tooling"]


def install(folder: Path, python: str) -> subprocess.CompletedProcess[str]:
    """Runs a copy of the set-up script in a folder of its own, with that Python asked for."""
    script = folder / ".ci" / "install"
    script.parent.mkdir()
    script.write_bytes((ROOT / ".ci" / "install").read_bytes())
    script.chmod(0o755)
    environment = os.environ | {"PYTHON": python}
    return subprocess.run([script, "runtime"], capture_output=True, text=True, env=environment, check=False)


def stub(folder: Path, body: str) -> str:
    """A stand-in for a Python, written in sh."""
    path = folder / "python-stub"
    path.write_text(f"#!/bin/sh\n{body}\n", "utf-8")
    path.chmod(0o755)
    return str(path)


def test_set_up_names_the_remedy_for_a_missing_venv_module(tmp_path: Path) -> None:
    python = stub(tmp_path, f'case "$*" in *ensurepip*) exit 1 ;; esac\nexec {sys.executable} "$@"')
    done = install(tmp_path, python)
    assert done.returncode == 1
    assert "Remedy: apt install python3-venv" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_set_up_names_the_remedy_for_an_old_python(tmp_path: Path) -> None:
    python = stub(tmp_path, '[ "$1" = --version ] && echo "Python 3.9.18"\nexit 1')
    done = install(tmp_path, python)
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed, but" in done.stderr
    assert "is Python 3.9.18. Remedy: install one" in done.stderr


def test_set_up_names_the_remedy_for_no_python_at_all(tmp_path: Path) -> None:
    done = install(tmp_path, str(tmp_path / "nowhere"))
    assert done.returncode == 1
    assert "Remedy: install one" in done.stderr


def test_set_up_names_the_remedy_when_pip_fails(tmp_path: Path) -> None:
    """A .venv whose pip answers only to --version stands for a machine without a connection or a compiler."""
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    fake = stub(tmp_path, 'case "$*" in -c*|*--version) exit 0 ;; esac\necho "error: command gcc failed" >&2\nexit 1')
    (tmp_path / ".venv" / "bin" / "python").symlink_to(fake)
    done = install(tmp_path, sys.executable)
    assert done.returncode == 1
    assert "error: command gcc failed" in done.stderr
    assert "apt install build-essential python3-dev" in done.stderr


@pytest.mark.parametrize(
    ("ci", "status", "told"), [("", 0, "SKIPPED [2]"), ("true", 1, "with CI=true nothing is skipped")]
)
def test_a_missing_tool_is_one_line_and_under_ci_an_error(tmp_path: Path, ci: str, status: int, told: str) -> None:
    (tmp_path / "conftest.py").write_bytes((ROOT / "tests" / "conftest.py").read_bytes())
    body = 'import pytest\n\n@pytest.mark.needs("bwrap")\n@pytest.mark.parametrize("n", range(2))\ndef test(n): pass\n'
    (tmp_path / "test_sandbox.py").write_text(body, "utf-8")
    quiet = [
        "-q",
        "-rs",
        "-W",
        "ignore",
        "-o",
        "markers=needs(tool)",
        "-o",
        f"pythonpath={ROOT}",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *quiet, tmp_path],
        cwd=tmp_path,
        env=os.environ | {"PATH": str(tmp_path), "CI": ci, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout
    assert told in done.stdout
    assert "bwrap is not installed: apt install bubblewrap" in done.stdout

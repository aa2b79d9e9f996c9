"""The SDK is compiled once, by the referee, for all the bots that it starts."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

from referee.sandbox.bytecode import compile_sdk
from referee.sandbox.command import PACKAGE
from referee.sandbox.launch import Policy
from tests.net.bot_processes import BotProcesses


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of our shape, in which Python may write bytecode."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    for name in ("__init__.py", "bot/__init__.py", "protocol/v1/turn.py", "rules/play.py"):
        (tmp_path / "package" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "package" / name).write_text("x = 1\n")
    compile_sdk.cache_clear()
    return tmp_path / "package"


def compiled(package: Path) -> list[str]:
    return sorted(str(path.relative_to(package)).partition(".cpython")[0] for path in package.rglob("*.pyc"))


def test_what_bots_import_is_compiled_and_nothing_else(package: Path) -> None:
    compile_sdk(package)
    assert compiled(package) == ["__pycache__/__init__", "bot/__pycache__/__init__", "protocol/v1/__pycache__/turn"]


def test_it_is_looked_at_once_a_process_and_what_has_changed_is_compiled_again(package: Path) -> None:
    source = package / "bot/__init__.py"
    cached = Path(importlib.util.cache_from_source(str(source)))
    compile_sdk(package)
    cached.unlink()
    compile_sdk(package)
    assert not cached.exists()
    compile_sdk.cache_clear()
    compile_sdk(package)
    before = cached.read_bytes()
    source.write_text("x = 22\n")
    os.utime(source, (1, 1))
    compile_sdk.cache_clear()
    compile_sdk(package)
    assert cached.read_bytes() != before


def test_who_wants_no_bytecode_gets_none(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    compile_sdk(package)
    assert compiled(package) == []


def test_what_cannot_be_written_or_compiled_stops_nothing(package: Path) -> None:
    (package / "__pycache__").write_text("a file where the folder would be")
    (package / "bot/__init__.py").write_text("this is no Python\n")
    compile_sdk(package)
    assert compiled(package) == ["protocol/v1/__pycache__/turn"]


READS: str = """
    import os, sys
    import referee.bot
    from referee.bot import _dial
    print([os.path.exists(module.__cached__) for module in (referee.bot, _dial)])
    try:
        open(os.path.dirname(_dial.__cached__) + "/mine", "w").close()
        print("it could write")
    except OSError:
        print("it could not write")
"""


@pytest.mark.needs("bwrap")
def test_a_bot_in_the_sandbox_finds_compiled_files_where_it_cannot_write(
    bots_here: BotProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = set(PACKAGE.rglob("__pycache__"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    compile_sdk.cache_clear()

    async def story() -> None:
        policy: Policy = "bubblewrap"
        end, output = await bots_here.end_of(bots_here.command(READS), policy)
        assert end.code == 0, output
        assert output.splitlines() == ["[True, True]", "it could not write"]

    try:
        bots_here.run(story)
    finally:
        for folder in set(PACKAGE.rglob("__pycache__")) - there:
            shutil.rmtree(folder)

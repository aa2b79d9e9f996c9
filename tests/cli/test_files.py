"""Every command that takes a file, given a path where there is no such file: exit 2 and one line in our words, no hang."""

import os
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from referee import cli
from tests.program import referee
from tests.tls import write_pair

OWN = '[tournament]\nname = "Own"\nvariant = "auction-pitch"\nseats = 2\n[[bots]]\npath = "careful"\ncopies = 2\n'
CHECKED = f"{OWN}[policy]\nchecked = true\n"
ENDPOINT = OWN.replace('path = "careful"', 'remote = true\nname = "far"') + "[schedule]\nduplicate = false\nsets = 2\n"


def missing(path: Path) -> None:
    del path


def directory(path: Path) -> None:
    path.mkdir()


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    """One that can be read for ever."""
    path.symlink_to("/dev/zero")


def endpoint(path: Path) -> None:
    """A socket; bound from its folder, since the name of one is short."""
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind(path.name)
    finally:
        os.chdir(here)


def loop(path: Path) -> None:
    path.symlink_to(path)


def dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def unreadable(path: Path) -> None:
    path.write_text("what it says nobody may read\n")
    path.chmod(0)


def empty(path: Path) -> None:
    path.touch()


def binary(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 64)


KINDS: list[Callable[[Path], None]] = [
    missing,
    directory,
    pipe,
    device,
    endpoint,
    loop,
    dangling,
    unreadable,
    empty,
    binary,
]

SHUT = ["--sandbox", "none"]
ARGUMENTS = {
    "run": ("own.toml", ["run", "FILE", *SHUT]),
    "run --store": ("league.sqlite", ["run", "sound.toml", "--store", "FILE", *SHUT]),
    "run --tls-cert": (
        "cert.pem",
        ["run", "door.toml", "--listen", "127.0.0.1:0", "--tls-cert", "FILE", "--tls-key", "sound/key.pem"],
    ),
    "run --tls-key": (
        "key.pem",
        ["run", "door.toml", "--listen", "127.0.0.1:0", "--tls-cert", "sound/certificate.pem", "--tls-key", "FILE"],
    ),
    "resume": ("league.sqlite", ["resume", "FILE", *SHUT]),
    "play": ("mybot.py", ["play", "FILE", "careful", "-n", "1"]),
    "play a bot.toml": ("mybot/bot.toml", ["play", "mybot", "careful", "-n", "1"]),
    "play --script": ("deal.toml", ["play", "--script", "FILE"]),
    "compare old": ("old.py", ["compare", "FILE", "careful", *SHUT]),
    "compare new": ("new.py", ["compare", "careful", "FILE", *SHUT]),
    "compare --keep": ("league.sqlite", ["compare", "careful", "random", "--keep", "FILE", *SHUT]),
    "schedule": ("own.toml", ["schedule", "FILE"]),
    "standings": ("league.sqlite", ["standings", "FILE"]),
    "report": ("league.sqlite", ["report", "FILE"]),
    "show": ("league.sqlite", ["show", "1", "--league", "FILE"]),
    "replay": ("league.sqlite", ["replay", "1", "--league", "FILE"]),
    "verify": ("league.sqlite", ["verify", "FILE"]),
    "verify --receipts": ("far.receipts", ["verify", "sound.sqlite", "--receipts", "FILE"]),
    "verify an export": ("export/export.json", ["verify", "export"]),
    "verify games of an export": ("export/games.jsonl", ["verify", "export"]),
    "export": ("league.sqlite", ["export", "FILE", "--out", "made"]),
    "rerun": ("league.sqlite", ["rerun", "FILE", *SHUT]),
    "rerun an export": ("export/export.json", ["rerun", "export", *SHUT]),
    "ask --league": ("league.sqlite", ["ask", "1", "--turn", "1", "careful", "--league", "FILE", *SHUT]),
    "ask": ("mybot.py", ["ask", "1", "--turn", "1", "FILE", "--league", "sound.sqlite", *SHUT]),
    "check": ("mybot.py", ["check", "FILE", *SHUT]),
    "check a bot.toml": ("mybot/bot.toml", ["check", "mybot", *SHUT]),
    "check --baseline": ("baseline.toml", ["check", "careful", "--baseline", "FILE", *SHUT]),
    "check --replay": ("AF-BID-001.json", ["check", "careful", "--replay", "FILE", *SHUT]),
    "build": ("mybot/bot.toml", ["build", "mybot"]),
    "build a file": ("mybot.py", ["build", "FILE"]),
    "submit": ("mybot.py", ["submit", "FILE", "sound.toml", *SHUT]),
    "submit to": ("own.toml", ["submit", "careful", "FILE", *SHUT]),
    "receipts of submit": ("checked.checked.json", ["run", "checked.toml", *SHUT]),
    "withdraw": ("own.toml", ["withdraw", "careful", "FILE"]),
}
"""The file, from the working folder, and the command."""

MAY_BE_MISSING = {"run --store", "compare --keep", "receipts of submit"}
"""Where a file that is missing is made, or means that there is nothing yet."""

PARTS = {"verify games of an export"}
"""A part of a league that is there: that it is missing is what a verification finds."""


def ended(words: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Runs a command as the shell does: its exit code, what it prints, and its errors."""
    monkeypatch.setattr(sys, "argv", ["referee", *words])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    return (caught.value.code if isinstance(caught.value.code, int) else 0, *capfd.readouterr())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("argument", ARGUMENTS)
def test_a_path_without_such_a_file_is_exit_2_and_one_line(
    sound: Path,
    exported: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    argument: str,
    kind: Callable[[Path], None],
) -> None:
    if kind is missing and argument in MAY_BE_MISSING:
        return
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sound.toml").write_text(OWN)
    (tmp_path / "door.toml").write_text(ENDPOINT)
    (tmp_path / "checked.toml").write_text(CHECKED)
    (tmp_path / "sound").mkdir()
    (tmp_path / "mybot").mkdir()
    write_pair(tmp_path / "sound")
    shutil.copy(sound, "sound.sqlite")
    shutil.copytree(exported, "export")
    name, words = ARGUMENTS[argument]
    path = tmp_path / name
    path.unlink(missing_ok=True)
    kind(path)
    command = [name if word == "FILE" else word for word in words]
    if kind is unreadable:  # root reads everything, unless it gives that up, for good
        done = referee(tmp_path, *command, ordinary=True)
        code, out, err = done.returncode, done.stdout, done.stderr
    else:
        code, out, err = ended(command, monkeypatch, capfd)
    assert code == (1 if argument in PARTS else 2), out + err
    assert path.name in out + err or path.parent.name in err, out + err
    assert "Traceback" not in out + err
    assert "rrno" not in out + err
    assert len(err.splitlines()) < 9, err

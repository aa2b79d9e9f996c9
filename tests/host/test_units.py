"""Unit files for systemd: what they say, that systemd takes them, and that a host runs under them where systemd runs."""

import os
import re
import shutil
import stat
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from referee.host import units as written
from referee.host.home import HostHome
from referee.host.store import HostStore
from referee.host.units import UnitError, unit_name, units, write_units
from tests.host.hosted import HOUSE, definition_text
from tests.program import PATIENCE, referee

SOMEBODY = 61_183


def given(folder: Path, name: str = "small.toml") -> HostHome:
    """The home of a host in a folder that does not belong to root."""
    for bot, text in HOUSE.items():
        (folder / f"{bot}.py").write_text(text)
    (folder / name).write_text(definition_text(*HOUSE))
    if os.geteuid() == 0:
        os.chown(folder, SOMEBODY, SOMEBODY)
    return HostHome.beside(folder / name)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HostHome:
    """As on a machine where the host's folder is no temporary one, and its user can read our interpreter."""
    monkeypatch.setattr(written, "_TEMPORARY", ())
    monkeypatch.setattr(written, "_closed_to", lambda *_: None)
    monkeypatch.setenv("PATH", "relative:/opt/go/bin:/usr/bin")
    return given(tmp_path)


def values(text: str, name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", text, re.MULTILINE)


def test_the_service_starts_what_was_asked_for_as_whoever_owns_the_folder(home: HostHome) -> None:
    made = units(home, ["--workers", "4", "--cluster", "tcp://a b$c:1"])
    assert list(made) == ["referee-small.service", "referee-small-backup.service", "referee-small-backup.timer"]
    service = made["referee-small.service"]
    (start,) = values(service, "ExecStart")
    assert start.endswith(f' -m referee host {home.definition} --workers 4 --cluster "tcp://a b$$c:1"')
    user = SOMEBODY if os.geteuid() == 0 else os.getuid()
    assert values(service, "User")[0] in (str(user), written._name_of(user))
    assert values(service, "ReadWritePaths") == [str(home.definition.parent)]
    assert values(service, "Environment")[0].startswith("PATH=/opt/go/bin:/usr/bin:/usr/local/sbin:")
    assert int(values(service, "TimeoutStopSec")[0]) > int(re.findall(r"get (\d+) seconds", service)[0])


def test_what_would_break_the_bots_sandbox_stands_in_no_line(home: HostHome) -> None:
    for text in units(home, []).values():
        settings = {line.partition("=")[0]: line.partition("=")[2] for line in text.splitlines() if line[:1] != "#"}
        breaks = {"ProtectProc", "ProcSubset", "ProtectKernelTunables", "ProtectKernelLogs", "RestrictNamespaces"}
        breaks |= {"ProtectHostname", "AmbientCapabilities", "MemoryDenyWriteExecute", "PrivateUsers"}
        assert not breaks & settings.keys()
        assert "AF_NETLINK" in settings.get("RestrictAddressFamilies", "AF_NETLINK")
        assert "@mount" not in settings.get("SystemCallFilter", "")


@pytest.mark.needs("systemd-analyze")
def test_systemd_takes_the_files_and_finds_nothing_to_say(home: HostHome, tmp_path: Path) -> None:
    folder = tmp_path / "units"
    made = write_units(home, folder, ["--workers", "2"])
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, made)], capture_output=True, text=True, check=False
    )
    ours = [line for line in done.stderr.splitlines() if "referee-" in line]
    assert (done.returncode, ours) == (0, []), done.stderr


def test_the_backup_runs_as_written_and_the_oldest_go(home: HostHome) -> None:
    home.make()
    HostStore.open(home.store).close()
    backups = home.definition.parent / "backups"
    backups.mkdir()
    for night in range(written.KEPT_BACKUPS + 3):
        old = backups / f"referee-small-20200101T0000{night:02}Z.tar.gz"
        old.touch()
        os.utime(old, (night, night))
    others = ["mine.tar.gz", "referee-small-b-20200101T000000Z.tar.gz", "referee-small-before.tar.gz"]
    for name in others:
        (backups / name).touch()
    (backups / ".referee-small-20200101T000000Z.tar.gz.part").touch()  # it was killed
    service = units(home, [])["referee-small-backup.service"]
    for name in ("ExecStart", "ExecStartPost"):
        subprocess.run(words_of(values(service, name)[0]), check=True, capture_output=True)
    left = sorted(path.name for path in backups.iterdir())
    assert len(left) == written.KEPT_BACKUPS + len(others)
    assert set(others) <= set(left)
    assert "referee-small-20200101T000004Z.tar.gz" in left
    assert "referee-small-20200101T000003Z.tar.gz" not in left
    (new,) = (path for path in backups.glob("referee-small-2*Z.tar.gz") if "-2020" not in path.name)
    assert stat.S_IMODE(new.stat().st_mode) == 0o600


def words_of(line: str) -> list[str]:
    """The words of a command line as systemd reads them."""
    found = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', line)
    return [re.sub(r"\\(.)", r"\1", a or b).replace("$$", "$").replace("%%", "%") for a, b in found]


def test_a_name_is_one_that_systemd_takes(tmp_path: Path) -> None:
    assert [unit_name(tmp_path / name) for name in ("my ladder.v2.toml", "Zoë%.toml", "%.toml", "a_b-1.toml")] == [
        "referee-my-ladder-v2",
        "referee-Zo",
        "referee-host",
        "referee-a_b-1",
    ]


@pytest.mark.parametrize("name", ["a b", "a%b", 'a"b', "a$b", "a\\b", "a\nb"])
def test_a_folder_that_systemd_cannot_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(written, "_TEMPORARY", ())
    monkeypatch.setattr(written, "_closed_to", lambda *_: None)
    folder = tmp_path / name
    folder.mkdir()
    with pytest.raises(UnitError, match=r"move (it|the host) to"):
        units(given(folder), [])


def test_where_no_service_could_run_the_command_says_so_and_writes_nothing(tmp_path: Path) -> None:
    home = given(tmp_path)
    words = ("host", "small.toml", "--write-units", "units")
    done = referee(tmp_path, *words)
    assert done.returncode != 0
    assert "is a place for temporary files" in done.stderr or not tmp_path.is_relative_to("/tmp")  # noqa: S108
    assert not (tmp_path / "units").exists()
    assert not home.folder.exists()
    both = referee(tmp_path, *words, "--invite", "ann")
    assert both.returncode == 2
    assert "exclude one another" in " ".join(both.stderr.split())


def test_a_user_that_cannot_read_the_interpreter_is_told_which_folder_is_closed(
    home: HostHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(written, "_TEMPORARY", ())
    closed = tmp_path / "closed"
    venv = closed / "venv"
    venv.mkdir(parents=True)
    os.chown(tmp_path, os.geteuid(), -1)
    assert written._closed_to(os.geteuid(), venv) is None
    closed.chmod(0o077)  # closed to its owner, of all people
    monkeypatch.setattr(written, "_needed", lambda folder: [folder, venv])
    monkeypatch.setattr(written, "_closed_to", lambda _, path: closed if path == venv else None)
    if os.geteuid() == 0:
        os.chown(tmp_path, SOMEBODY, -1)
    with pytest.raises(UnitError, match=rf"venv cannot be read by .*, for {closed} is closed"):
        units(home, [])
    monkeypatch.undo()
    os.chown(tmp_path, os.geteuid(), -1)
    try:
        assert written._closed_to(os.geteuid(), closed) == closed
    finally:
        closed.chmod(0o700)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has folders of root")
def test_root_is_no_user_for_a_host(tmp_path: Path) -> None:
    home = given(tmp_path)
    os.chown(tmp_path, 0, 0)
    with pytest.raises(UnitError, match=r"belongs to root, and a host needs a user of its own: useradd --system"):
        units(home, [])


def user_manager(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["systemctl", "--user", *words], capture_output=True, text=True, check=False)


@pytest.fixture
def at_home() -> Iterator[Path]:
    """A folder that a service of this user sees."""
    with tempfile.TemporaryDirectory(prefix="referee-units-", dir=Path.home()) as made:
        yield Path(made)


def why_no_user_manager() -> str:
    """Why no service can be started here as this user; empty if it can."""
    if os.geteuid() == 0 or shutil.which("systemctl") is None or not os.environ.get("XDG_RUNTIME_DIR"):
        return "systemd runs no services of this user here"
    done = user_manager("is-system-running")
    known = done.stdout.strip() in ("running", "degraded")
    return "" if known else f"systemd runs no services of this user here: {done.stdout or done.stderr}"


def started(commands: Sequence[Sequence[str]]) -> None:
    for words in commands:
        done = user_manager(*words)
        assert done.returncode == 0, done.stderr


@pytest.mark.skipif(bool(why_no_user_manager()), reason=why_no_user_manager())
def test_a_host_runs_under_its_unit_with_the_sandbox_and_ends_by_itself_when_told(at_home: Path) -> None:
    home = given(at_home, f"trial{os.getpid()}.toml")
    name = unit_name(home.definition)
    file = Path(os.environ["XDG_RUNTIME_DIR"], "systemd/user", f"{name}.service")
    file.parent.mkdir(parents=True, exist_ok=True)
    # What only the system's own manager may do: another user, and what takes capabilities away.
    ours = r"^(User|CapabilityBoundingSet|PrivateDevices|ProtectClock|ProtectKernelModules)=.*\n"
    file.write_text(re.sub(ours, "", units(home, [])[f"{name}.service"], flags=re.MULTILINE))
    try:
        started([["daemon-reload"], ["start", name]])
        end, address = time.monotonic() + PATIENCE, ""
        while not address:
            assert time.monotonic() < end
            assert user_manager("is-active", name).returncode == 0
            time.sleep(0.1)
            if home.store.exists():
                with HostStore.open(home.store) as store:
                    address = store.setting("address")
                    sandbox = store.setting("sandbox"), store.setting("sandbox_line")
        assert sandbox == ("bubblewrap", "")
        with urllib.request.urlopen(f"http://{address}/healthz") as answer:  # our own
            assert answer.status == 200
        started([["stop", name]])
        assert user_manager("show", name, "--property=Result", "--value").stdout == "success\n"
    finally:
        user_manager("kill", "--signal=KILL", name)
        file.unlink()
        user_manager("daemon-reload")
        user_manager("reset-failed", name)

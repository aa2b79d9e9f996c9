"""Backups of a host: made while it runs, whole or not at all, and refused when anything in them is not as it was."""

import gzip
import hashlib
import io
import json
import re
import shutil
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.host.backup import BackupError, back_up, restore
from referee.host.home import HostHome
from referee.host.rows import VersionState
from referee.host.store import HostStore
from referee.league.definition.definition import parse_definition
from referee.league.plan import GamePlan
from referee.league.store import Store
from referee.verification.verify import verify
from tests.host.hosted import Hosted, engine_of
from tests.league.inprocess import found_league, league_text
from tests.program import referee

LADDER = '[tournament]\nname = "Club"\nvariant = "auction-pitch"\nseats = 3\n[schedule]\nformat = "ladder"\n'


def hand_in(home: HostHome, store: HostStore, name: str, state: VersionState = VersionState.ACCEPTED) -> int:
    content = f"archive of {name}".encode()
    digest = hashlib.sha256(content).hexdigest()
    home.archive(digest).write_bytes(content)
    owner = store.register(f"owner of {name}", 1.0)
    store.hand_in(owner, name, digest, 1.0, most_bots=1)
    job = store.lease(2.0, 60)
    assert job is not None
    folder = home.bot(job.version)
    (folder / "lib").mkdir(parents=True)
    (folder / "bot.py").write_text(f"# {name}\n")
    (folder / "bot.py").chmod(0o755)
    (folder / "lib" / "link.py").symlink_to("../bot.py")
    (folder / "python").symlink_to("/usr/bin/python3")  # as builds leave them
    (folder / "dangling").symlink_to("../../../nowhere")
    (folder / "two\nlines").write_text("a name is a name")
    (folder / "hard").hardlink_to(folder / "bot.py")
    home.findings(job.id).mkdir()
    (home.findings(job.id) / "build.log").write_text("built\n")
    store.finish(job, state, "so", 3.0)
    return job.version


@pytest.fixture
def home(tmp_path: Path) -> HostHome:
    """A host with a ladder, a bot that plays, and one that was refused."""
    (tmp_path / "club.toml").write_text(LADDER)
    home = HostHome.beside(tmp_path / "club.toml")
    home.make()
    with HostStore.open(home.store) as store:
        hand_in(home, store, "plays")
        hand_in(home, store, "refused", VersionState.REFUSED)
    found_league(home.ladder, parse_definition(league_text(["a", "b"], seats=2)), ["a", "b"])
    return home


@pytest.fixture
def archive(home: HostHome, tmp_path: Path) -> Path:
    back_up(home, tmp_path / "club.tar.gz", 5.0)
    return tmp_path / "club.tar.gz"


def elsewhere(tmp_path: Path) -> HostHome:
    return HostHome.beside(tmp_path / "elsewhere" / "club.toml")


def facts(home: HostHome) -> tuple[object, ...]:
    with HostStore.read(home.store) as store, Store.read(home.ladder) as ladder:
        return store.owners(), store.versions(), store.jobs(), store.audit(), ladder.league(), ladder.sets()


def test_a_host_comes_back_elsewhere_as_it_was(home: HostHome, archive: Path, tmp_path: Path) -> None:
    again = elsewhere(tmp_path)
    backup = restore(archive, again)
    assert (backup.bots, backup.ladder) == (1, True)
    assert facts(again) == facts(home)
    assert again.definition.read_text() == LADDER
    bot = again.bot(1)
    assert (bot / "bot.py").read_text() == "# plays\n"
    assert (bot / "bot.py").stat().st_mode & 0o777 == 0o755
    assert str((bot / "lib" / "link.py").readlink()) == "../bot.py"
    assert [str((bot / name).readlink()) for name in ("python", "dangling")] == ["/usr/bin/python3", "../../../nowhere"]
    assert ((bot / "two\nlines").read_text(), (bot / "hard").read_text()) == ("a name is a name", "# plays\n")
    assert not again.bot(2).exists()  # refused: there is nothing to play
    assert (again.findings(2) / "build.log").read_text() == "built\n"
    assert len(list((again.folder / "uploads").iterdir())) == 2
    assert again.folder.stat().st_mode & 0o077 == 0
    there = {path.name for path in again.folder.iterdir() if not path.name.endswith(("-shm", "-wal"))}
    assert there == {"bots", "host.sqlite", "jobs", "ladder.sqlite", "logs", "records", "uploads"}
    with Store.write(again.ladder) as ladder:
        ladder.put(paused=True)  # it can be written


def test_the_board_of_remote_bots_comes_back_too(home: HostHome, tmp_path: Path) -> None:
    found_league(home.remote, parse_definition(league_text(["a", "b"], seats=2)), ["a", "b"])
    with HostStore.open(home.store) as store:
        store.connect(store.owners()[0], "far", "1", "session", 6.0, most_bots=1)
    back_up(home, tmp_path / "both.tar.gz", 7.0)
    again = elsewhere(tmp_path)
    restore(tmp_path / "both.tar.gz", again)
    with HostStore.read(again.store) as store, Store.read(again.remote) as there, Store.read(home.remote) as here:
        assert (there.league(), there.sets()) == (here.league(), here.sets())
        assert [(one.bot, one.declared) for one in store.connections()] == [("far", "1")]


def test_a_definition_that_is_there_stays(home: HostHome, archive: Path, tmp_path: Path) -> None:
    again = elsewhere(tmp_path)
    again.definition.parent.mkdir()
    again.definition.write_text(LADDER + "# mine\n")
    restore(archive, again)
    assert again.definition.read_text().endswith("# mine\n")


def test_a_host_before_its_first_round_has_a_backup_too(home: HostHome, tmp_path: Path) -> None:
    home.ladder.unlink()
    assert not back_up(home, tmp_path / "early.tar.gz", 5.0).ladder
    assert not restore(tmp_path / "early.tar.gz", elsewhere(tmp_path)).ladder


def test_it_is_made_while_others_write(home: HostHome, tmp_path: Path) -> None:
    """Every backup is a moment: whatever it knows of is in it."""
    over = threading.Event()
    home.findings(99).mkdir()

    def write() -> None:
        with HostStore.open(home.store) as store, Store.write(home.ladder) as ladder:
            number = 0
            while not over.is_set():
                number += 1
                hand_in(home, store, f"bot{number}")
                with (home.findings(99) / "check.log").open("a") as log:  # of a job that is under way
                    log.write("x" * 100_000)
                ladder.put(paused=bool(number % 2))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(3):
            back_up(home, tmp_path / f"{number}.tar.gz", 5.0)
    finally:
        over.set()
        writer.join()
    for number in range(3):
        again = HostHome.beside(tmp_path / f"{number}" / "club.toml")
        restore(tmp_path / f"{number}.tar.gz", again)
        with HostStore.read(again.store) as store:
            for one in store.versions():
                assert again.archive(one.archive).exists()
                if one.state is VersionState.ACCEPTED:
                    assert (again.bot(one.id) / "bot.py").exists()
        assert Store.read(again.ladder).league()["name"]


def test_an_archive_is_its_owners_alone_and_nothing_is_left(home: HostHome, archive: Path, tmp_path: Path) -> None:
    assert archive.stat().st_mode & 0o077 == 0
    assert not list(tmp_path.glob(".*"))
    assert not list(home.folder.glob(".*"))


def test_what_cannot_be_backed_up_or_restored_is_told(home: HostHome, archive: Path, tmp_path: Path) -> None:
    nothing = HostHome.beside(tmp_path / "none.toml")
    with pytest.raises(BackupError, match=r"is no host yet; start it once: referee host"):
        back_up(nothing, tmp_path / "x.tar.gz", 5.0)
    with pytest.raises(BackupError, match="exists already; move it away"):
        restore(archive, home)
    with pytest.raises(BackupError, match="is no backup of a host"):
        restore(tmp_path / "none.tar.gz", elsewhere(tmp_path))
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for target in (tmp_path / "file" / "x.tar.gz", tmp_path / "folder"):
        with pytest.raises(BackupError, match="cannot be written"):
            back_up(home, target, 5.0)
    assert not list(tmp_path.glob(".*"))


def rewritten(archive: Path, change: Callable[[dict[str, tuple[tarfile.TarInfo, bytes]]], None], target: Path) -> Path:
    """An archive with other content, by name."""
    with tarfile.open(archive) as tar:
        content = {one.name: (one, tar.extractfile(one).read() if one.isreg() else b"") for one in tar}  # type: ignore[union-attr]
    change(content)
    with tarfile.open(target, "w:gz") as tar:
        for about, data in content.values():
            about.size = len(data)
            tar.addfile(about, io.BytesIO(data))
    return target


def entry(
    name: str, data: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tuple[tarfile.TarInfo, bytes]:
    about = tarfile.TarInfo(name)
    about.type, about.linkname = kind, link
    return about, data if kind == tarfile.REGTYPE else b""


@pytest.mark.parametrize(
    ("name", "kind", "link"),
    [
        ("../out", tarfile.REGTYPE, ""),
        ("/tmp/out", tarfile.REGTYPE, ""),  # noqa: S108
        ("bots/1/../../../out", tarfile.REGTYPE, ""),
        ("bots/1/out", tarfile.SYMTYPE, "../../../../out"),
        ("bots/1/out", tarfile.SYMTYPE, "/etc/passwd"),
        ("bots/1/out", tarfile.LNKTYPE, "host.sqlite"),
        ("bots/1/out", tarfile.FIFOTYPE, ""),
        ("bots/1/out", tarfile.CHRTYPE, ""),
        ("host.sqlite-wal", tarfile.REGTYPE, ""),
        ("bots/x/out", tarfile.REGTYPE, ""),
        ("bots/1/more", tarfile.REGTYPE, ""),  # not in the manifest
    ],
)
def test_nothing_is_unpacked_that_no_backup_has(
    archive: Path, tmp_path: Path, name: str, kind: bytes, link: str
) -> None:
    forged = rewritten(
        archive,
        lambda content: content.update({"forged": entry(name, kind=kind, link=link)}),
        tmp_path / "forged.tar.gz",
    )
    with pytest.raises(BackupError):
        restore(forged, elsewhere(tmp_path))
    assert not elsewhere(tmp_path).folder.exists()
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "elsewhere" / "out").exists()


@pytest.mark.parametrize("name", ["host.sqlite", "ladder.toml", "manifest.json", "bots/1/bot.py"])
def test_an_archive_that_misses_something_or_has_it_otherwise_is_refused(
    archive: Path, tmp_path: Path, name: str
) -> None:
    for number, change in enumerate(
        (lambda content: content.pop(name), lambda content: content.update({name: entry(name)}))
    ):
        forged = rewritten(archive, change, tmp_path / f"{number}.tar.gz")
        with pytest.raises(BackupError):
            restore(forged, elsewhere(tmp_path))
        assert not elsewhere(tmp_path).folder.exists()


def test_a_manifest_of_another_version_says_so(archive: Path, tmp_path: Path) -> None:
    def change(content: dict[str, tuple[tarfile.TarInfo, bytes]]) -> None:
        about, data = content["manifest.json"]
        content["manifest.json"] = (about, json.dumps(json.loads(data) | {"format": "referee-host-9"}).encode())

    with pytest.raises(BackupError, match=r"is of another version of Referee \(referee-host-9\); use that one"):
        restore(rewritten(archive, change, tmp_path / "later.tar.gz"), elsewhere(tmp_path))


def content_of(home: HostHome) -> tuple[object, ...]:
    """What a host has that is played or looked at, byte for byte."""
    folders = [home.bot(1), home.findings(1), home.findings(2), home.folder / "uploads"]
    files = [path for folder in folders for path in sorted(folder.rglob("*"))]
    return facts(home), [
        (
            str(path.relative_to(home.folder)),
            str(path.readlink()) if path.is_symlink() else path.is_file() and path.read_bytes(),
        )
        for path in files
    ]


def test_an_archive_that_was_cut_off_or_garbled_anywhere_is_refused_or_whole(
    home: HostHome, archive: Path, tmp_path: Path
) -> None:
    whole = archive.read_bytes()
    plain = gzip.decompress(whole)

    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, len(whole) - 1), st.booleans(), st.integers(0, len(plain) - 1))
    def tried(place: int, cut: bool, inside: int) -> None:
        damaged = tmp_path / "damaged.tar.gz"
        if cut:
            damaged.write_bytes(whole[:place])
        else:
            changed = bytearray(plain)
            changed[inside] ^= 0x41
            damaged.write_bytes(gzip.compress(bytes(changed), 1))
        again = HostHome.beside(tmp_path / "damaged" / "club.toml")
        try:
            restore(damaged, again)
        except BackupError:
            assert not again.folder.exists()
            return
        # What was changed or cut off says nothing: padding, a time, the very end. All that a host has is there.
        try:
            assert content_of(again) == content_of(home)
        finally:
            shutil.rmtree(again.folder)

    tried()


# A ladder in mid-round, and the command line


def test_a_round_that_was_open_ends_elsewhere_as_it_would_have_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    hosted = Hosted(tmp_path / "here")
    hosted.hand_in("ann", "anns")
    games: list[GamePlan] = []

    def taken_in_mid_round(game: GamePlan, _stopping: threading.Event) -> None:
        games.append(game)
        if len(games) == 8:
            back_up(hosted.home, tmp_path / "mid.tar.gz", 1001.0)

    with engine_of(hosted, monkeypatch, taken_in_mid_round) as (engine, _):
        for _ in range(2):
            assert engine.step() is None
    hosted.store.close()
    restore(tmp_path / "mid.tar.gz", HostHome.beside(tmp_path / "there" / "small.toml"))
    again = Hosted(tmp_path / "there")
    played = len(games)
    with engine_of(again, monkeypatch, lambda game, _: games.append(game)) as (engine, _):
        for _ in range(2):
            assert engine.step() is None
    again.store.close()
    assert 0 < len(games) - played < played  # what was stored is not played again
    assert [one["result_root"] for one in again.rounds()] == [one["result_root"] for one in hosted.rounds()]
    with Store.read(again.home.ladder) as ladder:
        assert verify(ladder).ok


def test_the_command_line_backs_up_and_restores(home: HostHome, tmp_path: Path) -> None:
    written = referee(tmp_path, "host", "club.toml", "--backup", "a.tar.gz")
    assert (written.returncode, written.stderr) == (0, "")
    assert re.match(r"Wrote a\.tar\.gz: \d+ files, \d\.\d MiB, 1 bot\.\n", written.stdout)
    made = referee(tmp_path, "host", "new.toml", "--restore", "a.tar.gz")
    assert (made.returncode, made.stderr) == (0, "")
    assert "Start it with: referee host new.toml" in made.stdout
    assert facts(HostHome.beside(tmp_path / "new.toml")) == facts(home)
    for words, told in (
        (("new.toml", "--restore", "a.tar.gz"), "new.host exists already; move it away"),
        (("none.toml", "--backup", "b.tar.gz"), "is no host yet; start it once"),
        (("club.toml", "--backup", "b.tar.gz", "--restore", "a.tar.gz"), "--restore"),
        (("club.toml", "--backup", "b.tar.gz", "--workers", "2"), "--workers"),
    ):
        refused = referee(tmp_path, "host", *words)
        assert refused.returncode in (1, 2)
        assert told in refused.stderr
        assert "Traceback" not in refused.stderr

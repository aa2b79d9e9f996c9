"""Unpacking what strangers hand in: each trick is refused in one sentence, and nothing half-made is left."""

import io
import os
import stat
import struct
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.host.archive import FREE_OF_RATIO, MOST_BYTES, MOST_ENTRIES, ArchiveError, unpack

Put = Callable[[zipfile.ZipFile], object]

TOML = 'name = "mine"\nversion = "1"\nrun = ["python", "bot.py"]\n'


def made(*puts: Put) -> bytes:
    """A zip file with a sound bot, and whatever else was put into it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zipped:
        for put in (file("bot.toml", TOML), file("bot.py", "pass\n"), *puts):
            put(zipped)
    return out.getvalue()


def bare(*puts: Put) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zipped:
        for put in puts:
            put(zipped)
    return out.getvalue()


def file(name: str, content: str | bytes = "x", mode: int = stat.S_IFREG | 0o644, method: int | None = None) -> Put:
    def put(zipped: zipfile.ZipFile) -> None:
        entry = zipfile.ZipInfo(name)
        entry.filename = entry.orig_filename = name  # the library mends some names by itself
        entry.external_attr = mode << 16
        entry.create_system = 3
        zipped.writestr(entry, content, zipfile.ZIP_DEFLATED if method is None else method)

    return put


def both(*puts: Put) -> Put:
    return lambda zipped: [put(zipped) for put in puts]


def folder(name: str) -> Put:
    return file(f"{name}/", b"", stat.S_IFDIR | 0o755)


def unpacked(data: bytes, place: Path) -> Path:
    (place / "a.zip").write_bytes(data)
    unpack(place / "a.zip", place / "bot")
    return place / "bot"


def names(place: Path) -> set[str]:
    return {str(path.relative_to(place)) for path in place.rglob("*")}


def test_files_and_folders_come_out_as_they_went_in(tmp_path: Path) -> None:
    data = made(
        file("engine/deep/a.txt", "hello"),
        file("run.sh", "#!/bin/sh\n", stat.S_IFREG | 0o600),
        file("tool", "x", stat.S_IFREG | 0o700),
        folder("empty"),
        file("more.zip", made(file("inner", "y"))),
        file("Größe.txt", "x"),
    )
    place = unpacked(data, tmp_path)
    assert (place / "engine/deep/a.txt").read_text() == "hello"
    assert (place / "empty").is_dir()
    assert zipfile.is_zipfile(place / "more.zip")
    assert "Größe.txt" in names(place)
    modes = {name: stat.S_IMODE((place / name).stat().st_mode) for name in ("engine", "bot.py", "run.sh", "tool")}
    assert modes == {"engine": 0o755, "bot.py": 0o644, "run.sh": 0o755, "tool": 0o755}
    assert names(tmp_path) >= {"bot", "a.zip"}
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []


def test_a_folder_around_everything_is_taken_off_and_traces_of_tools_are_left_out(tmp_path: Path) -> None:
    data = bare(
        folder("mine"),
        file("mine/mine/bot.toml", TOML),
        file("mine/mine/bot.py"),
        file("__MACOSX/mine/._bot.py"),
        file("mine/mine/__pycache__/helper.cpython-311.pyc", b"hidden"),
        file("mine/.git/config"),
        file("mine/mine/.DS_Store"),
    )
    assert names(unpacked(data, tmp_path)) == {"bot.toml", "bot.py"}


def test_one_program_in_python_is_a_bot_too(tmp_path: Path) -> None:
    assert names(unpacked(bare(file("a b/mine.py"), file("a b/README.md")), tmp_path)) == {"mine.py", "README.md"}


def long_list() -> bytes:
    """An archive whose list alone would fill our memory."""
    return bare(*(file(f"{number:03}" + "x" * 60_000) for number in range(40)))


def lying_about_its_size() -> bytes:
    """An entry that says it is short, in both of its headers."""
    data = bytearray(made(file("long.txt", b"0123456789" * 10, method=zipfile.ZIP_STORED)))
    for sign, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", data, data.rindex(sign) + offset, 10)
    return bytes(data)


def garbled() -> bytes:
    data = made(file("text.txt", b"0123456789", method=zipfile.ZIP_STORED))
    return data.replace(b"0123456789", b"0123456780")


def encrypted() -> bytes:
    data = bytearray(made(file("secret.txt")))
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


HOSTILE: dict[str, tuple[Callable[[], bytes], Iterable[str]]] = {
    "no zip": (lambda: b"hello", ("no zip file",)),
    "empty": (lambda: b"", ("no zip file",)),
    "empty zip": (bare, ("neither a bot.toml",)),
    "half of it": (lambda: made()[:200], ("no zip file",)),
    "no bot": (lambda: bare(file("README.md")), ("neither a bot.toml",)),
    "an empty folder": (lambda: bare(folder("mine")), ('"mine"', "empty")),
    "a program without a name": (lambda: bare(file(".py")), ("neither a bot.toml",)),
    "two programs": (lambda: bare(file("a.py"), file("b.py")), ("2 .py files", '"a.py"')),
    "a bot further down": (lambda: bare(file("a/b/bot.toml"), file("c")), ('"a/b"', "zip that folder")),
    "a way out": (lambda: made(file("../evil")), ('"../evil"', "..")),
    "a way out further down": (lambda: made(file("a/../../evil")), ("..",)),
    "an absolute path": (lambda: made(file("/etc/passwd")), ('"/etc/passwd"', "outside")),
    "a drive": (lambda: made(file("C:evil")), ('"C:evil"', "outside")),
    "a backslash": (lambda: made(file("a\\evil")), ("backslash",)),
    "a dot": (lambda: made(file("./evil")), ("empty part",)),
    "two slashes": (lambda: made(file("a//evil")), ("empty part",)),
    "a line break": (lambda: made(file("a\nb")), ('"a\\nb"', "cannot be read")),
    "a direction mark": (lambda: made(file("a\u202egnp.exe")), ("\\u202e", "cannot be read")),
    "an escape": (lambda: made(file("\x1b[2J")), ("\\u001b", "cannot be read")),
    "a zero": (lambda: made(file("bot.pyx\0.txt")), ("\\u0000", "cannot be read")),
    "a long name": (lambda: made(file("x" * 256)), ("(256 characters)", "too long")),
    "a deep one": (lambda: made(file("a/" * 40 + "b")), ("too deeply",)),
    "a link": (lambda: made(file("key", "/etc/shadow", stat.S_IFLNK | 0o777)), ('"key"', "a link")),
    "a pipe": (lambda: made(file("pipe", "", stat.S_IFIFO | 0o644)), ('"pipe"', "device")),
    "a device": (lambda: made(file("disk", "", stat.S_IFBLK | 0o644)), ('"disk"', "device")),
    "its owner's rights": (lambda: made(file("su", "x", stat.S_IFREG | 0o4755)), ('"su"', "rights")),
    "a folder that is a file": (lambda: made(file("a", "", stat.S_IFDIR | 0o755)), ('"a"',)),
    "a folder with content": (lambda: made(file("a/", "evil", stat.S_IFDIR | 0o755)), ('"a/"', "content")),
    "twice": (lambda: made(file("a"), file("a")), ('"a" twice',)),
    "twice the program": (lambda: made(file("bot.py")), ('"bot.py" twice',)),
    "a file and a folder": (lambda: made(file("a"), file("a/b")), ('"a" twice',)),
    "a folder and a file": (lambda: made(file("a/b"), file("a")), ('"a" twice',)),
    "capitals": (lambda: made(file("Bot.PY")), ('"bot.py" and "Bot.PY"', "one name")),
    "capitals in a folder": (lambda: made(file("A/b"), file("a/c")), ('"A" and "a"',)),
    "letters put together": (lambda: made(file("\u00e9"), file("e\u0301")), ("one name",)),
    "another method": (lambda: made(file("a", method=zipfile.ZIP_LZMA)), ('"a"', "method 14", "Deflate")),
    "a password": (encrypted, ('"secret.txt"', "encrypted")),
    "a wrong sum": (garbled, ('"text.txt"', "damaged")),
    "a wrong length": (lying_about_its_size, ('"long.txt"', "damaged")),
    "too many": (
        lambda: made(both(*(file(str(number)) for number in range(MOST_ENTRIES - 1)))),
        ("2,001 files", "2,000 are allowed"),
    ),
    "a bomb": (lambda: made(file("zeros", bytes(FREE_OF_RATIO + 1))), ('"zeros"', "100 times")),
    "a long list": (long_list, ("longer than 2 MiB",)),
}


@pytest.mark.parametrize("trick", HOSTILE)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_each_trick_is_refused_in_one_harmless_sentence_and_nothing_is_left(trick: str, tmp_path: Path) -> None:
    make, told = HOSTILE[trick]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.zip").write_bytes(make())
    with pytest.raises(ArchiveError) as refused:
        unpack(tmp_path / "in" / "a.zip", tmp_path / "in" / "bot")
    sentence = str(refused.value)
    assert all(word in sentence for word in told), sentence
    assert sentence.isascii()
    assert sentence.isprintable()
    assert sentence.endswith(".")
    assert names(tmp_path) == {"in", "in/a.zip"}


def test_what_is_written_is_counted_over_all_files(tmp_path: Path) -> None:
    part = os.urandom(1 << 18) + bytes(15 << 20)
    data = made(*(file(str(number), part) for number in range(5)))
    with pytest.raises(ArchiveError, match=r'"4".*more than 64 MiB'):
        unpacked(data, tmp_path)
    assert names(tmp_path) == {"a.zip"}
    assert MOST_BYTES == 64 << 20


def test_an_earlier_half_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / ".bot.part" / "old").mkdir(parents=True)
    assert names(unpacked(made(), tmp_path)) == {"bot.toml", "bot.py"}
    assert not (tmp_path / ".bot.part").exists()


def test_errors_of_our_own_disk_are_not_the_archives(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        unpack(tmp_path / "none.zip", tmp_path / "bot")
    (tmp_path / "a.zip").write_bytes(made())
    with pytest.raises(FileNotFoundError):
        unpack(tmp_path / "a.zip", tmp_path / "no" / "bot")
    (tmp_path / "link.zip").symlink_to("a.zip")
    with pytest.raises(OSError, match="symbolic"):
        unpack(tmp_path / "link.zip", tmp_path / "bot")


SOUND = made(file("a/b", "hello" * 50), folder("c"), file("d", os.urandom(300)))

_PLACES = st.integers(0, len(SOUND) - 1)
_MUTATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), _PLACES, st.binary(min_size=1, max_size=8)),
        st.tuples(st.just("insert"), _PLACES, st.binary(min_size=1, max_size=40)),
        st.tuples(st.just("cut"), _PLACES, st.integers(1, 200).map(bytes)),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=300)
@given(mutations=_MUTATIONS)
def test_whatever_an_archive_is_made_into_it_is_unpacked_or_refused(
    tmp_path_factory: pytest.TempPathFactory, mutations: list[tuple[str, int, bytes]]
) -> None:
    data = SOUND
    for kind, place, piece in mutations:
        keep = {"set": len(piece), "insert": 0, "cut": len(piece)}[kind]
        data = data[:place] + (b"" if kind == "cut" else piece) + data[place + keep :]
    place = tmp_path_factory.mktemp("mutated")
    refused = refusal(data, place)
    if refused is None:
        assert names(place / "bot") & {"bot.toml", "bot.py"}
        assert {path.name for path in place.iterdir()} == {"a.zip", "bot"}
    else:
        assert refused.isprintable()
        assert names(place) == {"a.zip"}


def refusal(data: bytes, place: Path) -> str | None:
    try:
        unpacked(data, place)
    except ArchiveError as refused:
        return str(refused)
    return None

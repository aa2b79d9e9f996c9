"""What of a bot's folder is sent to a host."""

import os
import shutil
import socket
import stat
import subprocess
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.host.archive import MOST_BYTES, MOST_ENTRIES, unpack
from referee.host.packing import (
    DANGLING,
    IGNORED,
    PRODUCT,
    SECRET,
    TRACE,
    Packing,
    PackingError,
    packing_of,
    write_archive,
)
from referee.league.definition.shipped import shipped_folder
from referee.league.entrants.bot_source import find_bot

BOT = 'name = "mine"\nversion = "1"\nrun = ["python", "bot.py"]\n'
BUILT = BOT + 'build = "make"\n'


def laid(folder: Path, files: dict[str, str], manifest: str = BOT) -> Path:
    """A bot's folder with these files besides the two that it needs."""
    for name, text in {"bot.toml": manifest, "bot.py": "print()\n", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def packed(folder: Path) -> Packing:
    return packing_of(find_bot(str(folder), folder))


def names(packing: Packing) -> list[str]:
    return [file.name for file in packing.files]


def why(packing: Packing) -> dict[str, str]:
    return {one.name: one.why for one in packing.left_out}


def test_what_gitignore_leaves_is_sent(tmp_path: Path) -> None:
    files = {
        ".gitignore": "*.log\n!keep.log\n/data/\n",
        "a.log": "",
        "keep.log": "",
        "data/x": "",
        "deep/.gitignore": "*\n!.gitignore\n!here\n",
        "deep/here": "",
        "deep/there": "",
        "deep/data/y": "",
    }
    packing = packed(laid(tmp_path / "bot", files))
    assert names(packing) == [".gitignore", "bot.py", "bot.toml", "deep/.gitignore", "deep/here", "keep.log"]
    assert why(packing) == dict.fromkeys(("a.log", "data/", "deep/there", "deep/data/"), IGNORED)


def test_traces_products_and_secrets_are_never_sent(tmp_path: Path) -> None:
    left_out = {
        ".git/config": TRACE,
        "__pycache__/bot.pyc": TRACE,
        ".venv/x": TRACE,
        "my-env/pyvenv.cfg": TRACE,
        "failures/x": TRACE,
        "node_modules/x": PRODUCT,
        "target/x": PRODUCT,
        "engine/build/x": PRODUCT,
        ".env": SECRET,
        ".env.local": SECRET,
        "tls/Server.PEM": SECRET,
        ".ssh/config": SECRET,
    }
    folder = laid(tmp_path / "bot", dict.fromkeys([*left_out, ".env.example", "engine/x"], "x"), BUILT)
    packing = packed(folder)
    assert names(packing) == [".env.example", "bot.py", "bot.toml", "engine/x"]
    told = why(packing)
    for name, reason in left_out.items():
        kept = next(one for one in told if name == one or name.startswith(one))
        assert told[kept] == reason, name


def test_what_a_bot_without_a_build_brings_along_is_sent(tmp_path: Path) -> None:
    assert "bin/engine" in names(packed(laid(tmp_path / "bot", {"bin/engine": ""})))


def test_the_rules_of_the_repository_around_it_hold_unless_they_leave_the_whole_bot_out(tmp_path: Path) -> None:
    folder = laid(tmp_path / "bots" / "mine", {"x.tmp": "", "keep.tmp": "", ".gitignore": "!keep.tmp\n"})
    (tmp_path / ".gitignore").write_text("*.tmp\n")
    assert "x.tmp" in names(packed(folder))  # no repository
    (tmp_path / ".git").mkdir()
    assert "x.tmp" not in names(packed(folder))
    assert "keep.tmp" in names(packed(folder))
    (tmp_path / ".gitignore").write_text("*.tmp\n/bots/\n")
    assert "x.tmp" in names(packed(folder))


LINES = r"""
a b *.x !*.x /a a/ !a/ **/b a/** a/*.x !a/b.x /*/ !/a/ \!a #a \#a a?b [ab] [!a] [^a]* **/a/b.x !**/b.x a.x/ /a/b !c * !*/
a/**/c !a/**/b/ **/ ** a** **a a**b a/b/ / // /a/ !/a/b ! [ a[ [a [] []a] [!]a] [a-b] [b-a] [a\-z]* [[:alpha:]] ![[:upper:]]
[[:punct:]]a [[:none:]] a\ \a a\.x ?.x ??? !??x a/?/c a?b/c [a-]xb a[x/]b *b *b/ !*b/c *.[xy] #
"""
PATTERNS = st.lists(
    st.sampled_from([*LINES.split(), "a ", "c  ", "\\ ", "c\\ ", "!c ", " c", "c\t", "a\r", ""]), max_size=4
)
PLACES = ("", "a/", "b/", "a/b/", "a.x/")
FILES = [
    f"{place}{name}"
    for place in PLACES
    for name in ("a.x", "b.x", "c", "!a", "#a", "axb")
    if place != "a.x/" or name == "c"
]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree") / "bot"
    laid(folder, {name: "x" for name in FILES if name != "a.x"})
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


@settings(max_examples=40)
@given(rules=st.dictionaries(st.sampled_from(["", "a/", "a/b/"]), PATTERNS, min_size=1))
def test_ignored_is_what_git_ignores(tree: Path, rules: dict[str, list[str]]) -> None:
    for place in ("", "a/", "a/b/"):
        (tree / place / ".gitignore").unlink(missing_ok=True)
    for place, lines in rules.items():
        (tree / place / ".gitignore").write_text("".join(f"{line}\n" for line in lines))
    git = [
        "git",
        "-c",
        "core.excludesFile=/dev/null",
        "-C",
        str(tree),
        "ls-files",
        "--others",
        "--exclude-standard",
        "-z",
    ]
    listed = set(subprocess.run(git, capture_output=True, check=True, text=True).stdout.split("\0")) - {""}
    if {"bot.toml", "bot.py"} <= listed:
        assert set(names(packed(tree))) == listed
    else:
        with pytest.raises(PackingError, match=r"bot\.(toml|py)"):
            packed(tree)


def test_the_same_files_make_the_same_archive(tmp_path: Path) -> None:
    files = {"z": "1" * 100_000, "é/ü": "2", "a": "3"}
    one, other = laid(tmp_path / "one", files), laid(tmp_path / "other", dict(reversed(files.items())))
    for at, folder in enumerate((one, other)):
        (folder / "a").chmod(0o755 if at else 0o700)
        (folder / "z").chmod(0o640 if at else 0o666)
        os.utime(folder / "z", (at, at))
    made = [write_archive(packed(folder), tmp_path / f"{folder.name}.zip") for folder in (one, other)]
    assert made[0] == made[1]
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "other.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert archive.namelist() == ["a", "bot.py", "bot.toml", "z", "é/ü"]
        assert archive.testzip() is None
        assert {stat.filemode(told.external_attr >> 16) for told in archive.infolist()} == {"-rw-r--r--", "-rwxr-xr-x"}
    unpack(tmp_path / "one.zip", tmp_path / "there")
    assert (tmp_path / "there" / "z").read_text() == "1" * 100_000
    (other / "a").write_text("4")
    assert write_archive(packed(other), tmp_path / "other.zip") != made[0]


def test_a_file_gets_a_manifest_and_is_the_same_bot(tmp_path: Path) -> None:
    (tmp_path / "my bot.py").write_text("print()\n")
    (tmp_path / "other.txt").write_text("")
    source = find_bot("my bot.py", tmp_path)
    write_archive(packing_of(source), tmp_path / "sent.zip")
    unpack(tmp_path / "sent.zip", tmp_path / "there")
    there = find_bot("there", tmp_path)
    assert (there.name, there.version, there.argv) == (source.name, source.version, source.argv)
    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == ["bot.toml", "my bot.py"]


def test_a_sample_bot_is_sent_whole(tmp_path: Path) -> None:
    source = find_bot("careful", tmp_path)
    write_archive(packing_of(source), tmp_path / "sent.zip")
    unpack(tmp_path / "sent.zip", tmp_path / "there")
    assert find_bot("there", tmp_path).digest == source.digest


def test_a_sample_that_shares_files_with_others_is_not_sent_without_them(tmp_path: Path) -> None:
    with pytest.raises(PackingError, match="referee new go mybot"):
        packing_of(find_bot(str(shipped_folder("sample_bots") / "go" / "careful"), tmp_path))


def test_a_link_is_sent_as_what_it_leads_to_and_one_to_nothing_is_left_out(tmp_path: Path) -> None:
    folder = laid(tmp_path / "bot", {"real": "content", ".env": "secret"})
    (folder / "link").symlink_to("real")
    (folder / ".#bot.py").symlink_to("me@here.17")
    (folder / "settings").symlink_to(".env")
    for name in (".git", ".aws"):
        (folder / name).mkdir()
        (folder / name / "config").write_text("https://me:secret@example.org")
        (folder / f"to{name}").symlink_to(f"{name}/config")
    packing = packed(folder)
    left_out = {".#bot.py": DANGLING, ".aws/": SECRET, ".env": SECRET, ".git/": TRACE}
    assert why(packing) == left_out | dict.fromkeys(("settings", "to.aws", "to.git"), SECRET)
    write_archive(packing, tmp_path / "sent.zip")
    with zipfile.ZipFile(tmp_path / "sent.zip") as archive:
        assert archive.read("link") == b"content"


def outside(folder: Path) -> None:
    (folder.parent / "outside").write_text("")
    (folder / "odd").symlink_to(folder.parent / "outside")


def to_a_folder(folder: Path) -> None:
    (folder / "real").mkdir()
    (folder / "odd").symlink_to("real")


def pipe(folder: Path) -> None:
    os.mkfifo(folder / "odd")


def bound(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(folder / "odd"))


def backslash(folder: Path) -> None:
    (folder / "odd\\name").touch()


def control(folder: Path) -> None:
    (folder / "odd\x1b[2Jname").touch()


def no_text(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/odd\xff")).touch()


def colliding(folder: Path) -> None:
    (folder / "Odd").touch()
    (folder / "odd").touch()


def colliding_folders(folder: Path) -> None:
    for name in ("Odd", "odd"):
        (folder / name).mkdir()
        (folder / name / f"{name}.txt").touch()
        (folder / name / "a.txt" if name == "odd" else folder / name / "b.txt").touch()


ODD = {
    outside: "odd is a link that leads out",
    to_a_folder: "odd is a link to a folder",
    pipe: "odd is neither a file nor a folder",
    bound: "odd is neither a file nor a folder",
    backslash: r"odd\\name is no name",
    control: r"odd\\x1b\[2Jname is no name",
    no_text: r"odd\\udcff is no name",
    colliding: "Odd and odd are one name",
    colliding_folders: "Odd and odd are one name",
}


@pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)
def test_what_no_archive_may_hold_is_refused_by_name(
    tmp_path: Path, make: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = laid(tmp_path / "bot", {})
    monkeypatch.chdir(folder)
    make(folder)  # type: ignore[operator]
    with pytest.raises(PackingError, match=ODD[make]) as caught:  # type: ignore[index]
        packed(folder)
    assert str(caught.value).isprintable()
    (folder / ".gitignore").write_text("[Oo]dd*\n")
    assert names(packed(folder)) == [".gitignore", "bot.py", "bot.toml"]


def test_what_shrinks_to_nothing_is_no_bomb_to_the_host(tmp_path: Path) -> None:
    folder = laid(tmp_path / "bot", {"weights": "0" * (20 << 20)})
    write_archive(packed(folder), tmp_path / "sent.zip")
    unpack(tmp_path / "sent.zip", tmp_path / "there")
    assert find_bot("there", tmp_path).digest == find_bot("bot", tmp_path).digest


def test_too_much_is_refused_with_its_largest_file(tmp_path: Path) -> None:
    folder = laid(tmp_path / "bot", {"small": "x"})
    with (folder / "large").open("wb") as sparse:
        sparse.truncate(MOST_BYTES)
    with pytest.raises(PackingError, match=r"64 MiB.*the largest is large"):
        packed(folder)
    (folder / "large").unlink()
    for number in range(MOST_ENTRIES):
        (folder / str(number)).touch()
    with pytest.raises(PackingError, match=r"2,003 files"):
        packed(folder)


def test_a_program_that_would_not_be_sent_is_told_before(tmp_path: Path) -> None:
    folder = laid(
        tmp_path / "bot", {".gitignore": "bin/\n", "bin/mine": ""}, BOT.replace('"python", "bot.py"', '"bin/mine"')
    )
    with pytest.raises(PackingError, match=r"names bin/mine, which is not sent"):
        packed(folder)
    laid(folder, {}, BUILT.replace('"python", "bot.py"', '"bin/mine"'))
    assert "bin/" in why(packed(folder))
    (folder / ".gitignore").write_text("bot.toml\n")
    with pytest.raises(PackingError, match=r"bot\.toml would not be sent \(as \.gitignore says\)"):
        packed(folder)


def test_neither_the_token_nor_its_file_is_sent(tmp_path: Path) -> None:
    folder = laid(tmp_path / "bot", {"mine.token": "referee_abc"})
    source = find_bot(str(folder), folder)
    with pytest.raises(PackingError, match=r"mine\.token holds your token"):
        write_archive(packing_of(source), tmp_path / "sent.zip", secret="referee_abc")
    packing = packing_of(source, token_file=folder / "mine.token")
    assert why(packing) == {"mine.token": SECRET}
    write_archive(packing, tmp_path / "sent.zip", secret="referee_abc")


def test_a_file_that_goes_while_it_is_sent_is_told(tmp_path: Path) -> None:
    folder = laid(tmp_path / "bot", {"gone": "x"})
    packing = packed(folder)
    (folder / "gone").unlink()
    with pytest.raises(PackingError, match="gone cannot be read"):
        write_archive(packing, tmp_path / "sent.zip")
    shutil.rmtree(folder)

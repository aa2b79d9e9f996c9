"""Leagues and exports that wish us ill: every command ends with clear words, in bounded memory and time, and no traceback."""

import json
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.league.store.json_text import column as written
from referee.umpire.record import canonical
from tests.cli.confined import Confined
from tests.league.inprocess import at_random
from tests.league.ladders import Ladder
from tests.league.tampered import rows, sql

COMMANDS = {
    "standings": ["standings", "LEAGUE"],
    "report": ["report", "LEAGUE", "--format", "markdown"],
    "verify": ["verify", "LEAGUE"],
    "export": ["export", "LEAGUE", "--out", "made"],
    "show": ["show", "1", "--league", "LEAGUE"],
}


@pytest.fixture(scope="module")
def confined() -> Iterator[Confined]:
    with Confined() as made:
        yield made


def copied(sound: Path, folder: Path) -> Path:
    """A copy to spoil, alone in its folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if sound.is_dir():
        return Path(shutil.copytree(sound, folder / "ill"))
    return Path(shutil.copyfile(sound, folder / "ill"))


def check_end(confined: Confined, folder: Path, command: str, *, may_pass: bool = False) -> str:
    """Runs a command on the file; what it printed, which is fit for a person. ``may_pass``: it need not find anything."""
    code, told = confined.run(folder, ["ill" if word == "LEAGUE" else word for word in COMMANDS[command]])
    shutil.rmtree(folder / "made", ignore_errors=True)
    assert code in ((0, 1, 2, 3) if may_pass else (1, 2)), (code, told[-3000:])
    assert "Traceback" not in told, told[-3000:]
    assert "[Errno" not in told
    assert len(told) < 40_000
    if code in (1, 2):
        assert told.strip(), command
        assert "divergence" in told or len(told.splitlines()) <= 4, told[:3000]
    return told


DEEP = "[" * 100_000 + "]" * 100_000
MANY = "[" + "0," * 1_000_000 + "0]"
HUGE = "1" + "0" * 1_000_000
TEXTS = {
    "deep": DEEP,
    "deep objects": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "nested as deep as it is read": "[" * 900 + "]" * 900,
    "a number of a million digits": HUGE,
    "a number of 4,000 digits": "9" * 4000,
    "infinite": "1e999",
    "minus infinity": "-Infinity",
    "NaN": "NaN",
    "a lone surrogate": json.dumps("\ud800\udfff\udc00"),
    "control characters": json.dumps("\x1b[2J\x00\u202e:x: [bold]"),
    "nothing": "null",
    "a list": "[]",
    "an object": "{}",
    "a text": '"x"',
    "true": "true",
    "a fraction": "0.5",
    "below zero": "-1",
    "a million values": MANY,
    "a long text": json.dumps("x" * 20_000_000),
    "empty": "",
}
"""JSON, or what looks like it, that stands where something else should."""

FACTS = (
    "definition",
    "rules",
    "master",
    "code",
    "host",
    "standings",
    "notes",
    "earlier",
    "ended",
    "name",
    "seeded",
    "state",
)


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_json_in_a_store(sound: Path, tmp_path: Path, confined: Confined, text: str) -> None:
    """In columns of JSON, others for each text; a command in turn, and a verification."""
    places = [("league", "value", f"key = '{fact}'") for fact in FACTS]
    places += [
        ("entrant", "about", "1"),
        ("fixture", "seats", "1"),
        ("game", "summary", "1"),
        ("attempt", "processes", "1"),
    ]
    turn = list(TEXTS).index(text)
    for number, (table, column, where) in enumerate(places):
        if (number + turn) % 4:
            continue
        path = copied(sound, tmp_path / "there")
        sql(path, f"UPDATE {table} SET {column} = ? WHERE {where}", TEXTS[text])  # noqa: S608  # our own words
        for command in {"verify", list(COMMANDS)[(number + turn) // 4 % len(COMMANDS)]}:
            check_end(confined, path.parent, command, may_pass=True)


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_json_in_an_export(exported: Path, tmp_path: Path, confined: Confined, text: str) -> None:
    """In place of a value of a file, a whole line, a whole file."""
    names = ("export.json", "league.json", "games.jsonl", "records.jsonl", "entrants.jsonl")
    turn = list(TEXTS).index(text)
    for number, name in enumerate((names[turn % 5], names[(turn + 2) % 5])):
        for how in (("value", "all")[number],):
            path = copied(exported, tmp_path / "there")
            lines = (path / name).read_text("utf-8").splitlines()
            if how == "all":
                lines[0] = TEXTS[text]
            else:
                at = next(i for i, line in enumerate(lines) if ":" in line)
                lines[at] = lines[at].replace(":", f":{TEXTS[text]},", 1)
            (path / name).write_bytes("\n".join([*lines, ""]).encode())
            check_end(confined, path.parent, "verify")


def blob(data: bytes | Callable[[], bytes]) -> Callable[[Path], None]:
    """``data`` in place of every record; what takes long to make is made when it is wanted."""
    return lambda path: sql(path, "UPDATE game SET record = ?", data if isinstance(data, bytes) else data())


def schema(*statements: str) -> Callable[[Path], None]:
    """Changes what the file is made of."""

    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as db, db:
            for statement in statements:
                db.execute(statement)

    return change


def endless(table: str) -> Callable[[Path], None]:
    """A view without an end in place of a table."""

    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as db, db:
            names = [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
            db.execute("DROP INDEX IF EXISTS no_contest")
            db.execute(f"DROP TABLE {table}")
            columns = ", ".join(f"n AS {name}" for name in names)
            db.execute(
                f"CREATE VIEW {table} AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT {columns} FROM c"  # noqa: S608
            )

    return change


def rewritten(old: str, new: str) -> Callable[[Path], None]:
    """The statement of a table in the file, in other words, behind the back of SQLite."""

    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("PRAGMA writable_schema = ON")
            db.execute("UPDATE sqlite_master SET sql = replace(sql, ?, ?)", (old, new))
            db.execute("PRAGMA writable_schema = RESET")

    return change


def blobs_for_texts(path: Path) -> None:
    """Tables that take any type, with bytes in every column of text."""
    rewritten("STRICT, ", "")(path)
    rewritten(" STRICT", "")(path)
    with closing(sqlite3.connect(path)) as db, db:
        for table in ("league", "entrant", "game_set", "fixture", "ruling", "attempt", "fault"):
            for _, name, kind, *_ in db.execute(f"PRAGMA table_info({table})").fetchall():
                if kind == "TEXT":
                    db.execute(f"UPDATE OR IGNORE {table} SET {name} = x'ff00fe'")  # noqa: S608  # our own words


def not_utf_8(path: Path) -> None:
    sql(path, "UPDATE league SET value = CAST(x'22ff22' AS TEXT) WHERE key IN ('name', 'notes')")


def many_faults(path: Path) -> None:
    sql(
        path,
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 50000)"
        " INSERT INTO fault SELECT n, '', '', '', '', '' FROM c",
    )


def many_attempts(path: Path) -> None:
    sql(
        path,
        "WITH RECURSIVE c(n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM c WHERE n < 50000)"
        " INSERT INTO attempt SELECT n, f.id, 0, '', NULL, NULL, NULL, '[]' FROM c, (SELECT id FROM fixture LIMIT 1) f",
    )


def redealt_for_ever(path: Path) -> None:
    sql(path, "UPDATE game_set SET redeal = 9223372036854775807")


def numbers_of_64_bits(path: Path) -> None:
    sql(path, "UPDATE game SET number = 9223372036854775807 - number, redeal = -9223372036854775808")
    sql(path, "UPDATE game_set SET position = -9223372036854775808 + position, games = 9223372036854775807")


def far_too_many_sets(path: Path) -> None:
    """A definition whose schedule would fill the memory."""
    ((text,),) = rows(path, "SELECT value FROM league WHERE key = 'definition'")
    definition = json.loads(text)
    definition["schedule"] |= {"sets": 100_000, "max_tables": 1_000_000}
    sql(path, "UPDATE league SET value = ? WHERE key = 'definition'", json.dumps(definition))
    ((about,),) = rows(path, "SELECT about FROM entrant WHERE key = 'a'")
    for number in range(2, 400):
        twin = json.dumps({**json.loads(about), "copy_of": "a"})
        sql(path, "INSERT INTO entrant VALUES (?, ?, ?, NULL)", f"a#{number}", number, twin)


def many_resamples(path: Path) -> None:
    ((text,),) = rows(path, "SELECT value FROM league WHERE key = 'standings'")
    told = {**json.loads(text), "resamples": 10**15}
    sql(path, "UPDATE league SET value = ? WHERE key = 'standings'", json.dumps(told))


SPOILT: dict[str, Callable[[Path], Any]] = {
    "a bomb of zeros": blob(lambda: zlib.compress(bytes(2_000_000_000 >> 3), 9)),
    "a bomb of commas": blob(lambda: zlib.compress(b"[" + b"0," * 15_000_000 + b"0]", 9)),
    "a bomb of brackets": blob(zlib.compress(DEEP.encode(), 9)),
    "a record of a long text": blob(lambda: zlib.compress(canonical({"deals": "x" * 30_000_000}), 1)),
    "a record that is cut short": blob(zlib.compress(b"{}")[:-3]),
    "a record with something behind": blob(zlib.compress(b"{}") + b"x"),
    "noise for a record": blob(bytes(range(256)) * 100),
    "zeros for a record": schema("UPDATE game SET record = zeroblob(100000000)"),
    "a long text for a reason": schema("UPDATE game_set SET reason = hex(zeroblob(20000000)), state = 'VOID'"),
    "an endless view of facts": endless("league"),
    "an endless view of entrants": endless("entrant"),
    "an endless view of sets": endless("game_set"),
    "an endless view of fixtures": endless("fixture"),
    "an endless view of games": endless("game"),
    "an endless view of attempts": endless("attempt"),
    "an endless view of faults": endless("fault"),
    "an endless view of rulings": endless("ruling"),
    "a virtual table": schema("DROP TABLE league", "CREATE VIRTUAL TABLE league USING fts5(key, value)"),
    "a generated column": schema("ALTER TABLE fault ADD COLUMN more TEXT AS (hex(zeroblob(100000000)))"),
    "a trigger": schema("CREATE TRIGGER t AFTER UPDATE ON league BEGIN DELETE FROM game; END"),
    "a column more": schema("ALTER TABLE game ADD COLUMN more TEXT"),
    "a column under another name": schema("ALTER TABLE game RENAME COLUMN number TO numero"),
    "a table that says it is another": rewritten("summary TEXT", "summary BLOB"),
    "no schema at all": rewritten("CREATE TABLE", "CREATE TABEL"),
    "blobs where text is expected": blobs_for_texts,
    "text that is not UTF-8": not_utf_8,
    "50,000 faults": many_faults,
    "50,000 attempts": many_attempts,
    "redealt 2^63 times": redealt_for_ever,
    "numbers of 64 bits": numbers_of_64_bits,
    "far too many sets": far_too_many_sets,
    "many resamples": many_resamples,
}


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_hostile_store(sound: Path, tmp_path: Path, confined: Confined, spoil: str) -> None:
    path = copied(sound, tmp_path / "there")
    SPOILT[spoil](path)
    for command in COMMANDS:
        check_end(confined, path.parent, command, may_pass=command != "verify")


Rounds = list[dict[str, Any]]


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder of three rounds."""
    players = {"a": at_random, "b": at_random, "c": at_random}
    ladder = Ladder(tmp_path_factory.mktemp("rounds") / "ladder.sqlite", players, seats=2, sets=4)
    ladder.play(3)
    return ladder.path


def owned_by_one(rounds: Rounds) -> None:
    """Nearly all bots are of one owner, and so cannot fill the tables that the definition asks for."""
    for one in rounds[0]["entered"][1:]:
        one["owner"] = "ann"


MANY_TIMES = 200_000
OF_ROUNDS: dict[str, Callable[[Rounds], object]] = {
    "a million million sets": lambda rounds: rounds[1]["tables"][0].update(sets=10**12),
    "10^300 sets": lambda rounds: rounds[1]["tables"][0].update(sets=10**300),
    "sets below zero": lambda rounds: rounds[1]["tables"].append({"aimed": [], "sets": -(10**12)}),
    "sets that add up": lambda rounds: rounds[1]["tables"].extend(
        [{"aimed": [], "sets": 10**12}, {"aimed": [], "sets": -(10**12)}]
    ),
    "sets in words": lambda rounds: rounds[1]["tables"][0].update(sets="four"),
    "many tables": lambda rounds: rounds[1].update(tables=rounds[1]["tables"][:1] * MANY_TIMES),
    "aimed at many": lambda rounds: rounds[1]["tables"][0].update(aimed=["a"] * MANY_TIMES),
    "many pairs": lambda rounds: rounds[1].update(pairs=[["a", "b"]] * MANY_TIMES),
    "many bots": lambda rounds: rounds[1].update(bots=["a"] * MANY_TIMES),
    "many are placed": lambda rounds: rounds[1].update(placed=["a"] * MANY_TIMES),
    "many enter": lambda rounds: rounds[1].update(entered=rounds[0]["entered"] * 50_000),
    "many rounds": lambda rounds: rounds.extend([dict(rounds[1]) for _ in range(50_000)]),
    "rounds of nothing": lambda rounds: rounds.extend({} for _ in range(MANY_TIMES)),
    "a master of megabytes": lambda rounds: rounds[1].update(master="0" * 30_000_000),
    "a round that is none": lambda rounds: rounds.__setitem__(1, [1]),
    "a bot that is none": lambda rounds: rounds[1]["bots"].append({"key": "a"}),
    "who entered is unknown": lambda rounds: rounds[0]["entered"][0].update(key="nobody"),
    "nobody plays": lambda rounds: rounds[1].update(bots=[], tables=[]),
    "one owner": owned_by_one,
}


def with_rounds(path: Path, forge: Callable[[Rounds], object]) -> None:
    ((text,),) = rows(path, "SELECT value FROM league WHERE key = 'rounds'")
    found = json.loads(text)
    forge(found)
    sql(path, "UPDATE league SET value = ? WHERE key = 'rounds'", written(found))


@pytest.mark.parametrize("forge", OF_ROUNDS)
def test_hostile_rounds_of_a_ladder(rounds: Path, tmp_path: Path, confined: Confined, forge: str) -> None:
    path = copied(rounds, tmp_path / "there")
    with_rounds(path, OF_ROUNDS[forge])
    for command in ("verify", "standings"):
        told = check_end(confined, path.parent, command, may_pass=command != "verify")
        assert "memory" not in told  # nor was it filled before it was found


@pytest.mark.parametrize("schedule", [{"sets": 9_000}, {"extra": 10_000}, {"sets": 9_000, "extra": 10_000}])
@pytest.mark.parametrize("forge", ["", "one owner"])
def test_a_definition_with_more_tables_than_the_rounds_have(
    rounds: Path, tmp_path: Path, confined: Confined, schedule: dict[str, int], forge: str
) -> None:
    path = copied(rounds, tmp_path / "there")
    if forge:
        with_rounds(path, OF_ROUNDS[forge])
    ((text,),) = rows(path, "SELECT value FROM league WHERE key = 'definition'")
    definition = json.loads(text)
    definition["schedule"] |= schedule
    sql(path, "UPDATE league SET value = ? WHERE key = 'definition'", written(definition))
    assert "memory" not in check_end(confined, path.parent, "verify")


def linked(target: str) -> Callable[[Path, str], None]:
    def change(folder: Path, name: str) -> None:
        (folder / name).unlink()
        (folder / name).symlink_to(target)

    return change


def doubled(folder: Path, name: str) -> None:
    (folder / name).write_bytes((folder / name).read_bytes() * 500)


def one_long_line(folder: Path, name: str) -> None:
    with (folder / name).open("r+b") as file:
        file.truncate(3 << 30)  # a hole: it takes no place on the disk


@pytest.mark.parametrize(
    "name", ["export.json", "league.json", "games.jsonl", "records.jsonl", "faults.jsonl", "definition.toml"]
)
@pytest.mark.parametrize(
    "change",
    [linked("/dev/zero"), linked("/dev/stdin"), linked("nowhere"), linked("."), linked("export.json"), one_long_line],
    ids=["zeros", "input", "nowhere", "folder", "another", "3 GiB"],
)
def test_hostile_files_of_an_export(
    exported: Path, tmp_path: Path, confined: Confined, name: str, change: Callable[[Path, str], None]
) -> None:
    path = copied(exported, tmp_path / "there")
    change(path, name)
    check_end(confined, path.parent, "verify")


@pytest.mark.parametrize("name", ["games.jsonl", "attempts.jsonl", "entrants.jsonl"])
def test_an_export_of_very_many_lines(exported: Path, tmp_path: Path, confined: Confined, name: str) -> None:
    path = copied(exported, tmp_path / "there")
    doubled(path, name)
    check_end(confined, path.parent, "verify")


SLOWLY = settings(
    max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@SLOWLY
@given(data=st.data())
def test_any_bytes_in_the_file_of_a_league(
    sound: Path, tmp_path: Path, confined: Confined, data: st.DataObject
) -> None:
    """Random bytes written into it, and perhaps the rest cut off."""
    path = copied(sound, tmp_path / "there")
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        place = data.draw(st.one_of(st.integers(0, 200), st.integers(0, len(whole) - 1)))
        noise = data.draw(st.binary(min_size=1, max_size=200))
        whole[place : place + len(noise)] = noise
    end = data.draw(st.one_of(st.just(len(whole)), st.integers(0, len(whole))))
    path.write_bytes(whole[:end])
    check_end(confined, path.parent, data.draw(st.sampled_from(sorted(COMMANDS))), may_pass=True)


@SLOWLY
@given(data=st.data())
def test_any_bytes_in_the_files_of_an_export(
    exported: Path, tmp_path: Path, confined: Confined, data: st.DataObject
) -> None:
    """As above; what is changed is found."""
    path = copied(exported, tmp_path / "there")
    name = data.draw(st.sampled_from(sorted(one.name for one in path.iterdir() if one.stat().st_size)))
    old = (path / name).read_bytes()
    place = data.draw(st.integers(0, len(old) - 1))
    noise = data.draw(st.binary(min_size=1, max_size=60))
    new = old[:place] + noise + data.draw(st.sampled_from([old[place + len(noise) :], b"", old[place:]]))
    (path / name).write_bytes(new)
    check_end(confined, path.parent, "verify", may_pass=new == old)

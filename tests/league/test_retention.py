"""Records of old rounds in archives: nothing of the ladder changes, nothing is lost whenever it is killed, and all of it is verified."""

import errno
import gzip
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from referee.league.export import copy_closed_rounds, write_export
from referee.league.ladder import finish, history_in
from referee.league.ladder_history import rounds_of, sets_of_round
from referee.league.league import LeagueError, read_league
from referee.league.retention import archive_rounds, due_rounds, give_back, rewrite_if_room, rounds_archived
from referee.league.standings import standings_of
from referee.league.store import ArchivedError, Exported, Store, StoreError
from referee.league.store.archived_records import RecordArchive, write_records
from referee.league.store.root_digests import roots
from referee.report.featured_games import choose
from referee.report.report_data import collect
from referee.umpire.fallback_player import fallback_move
from referee.verification.result import VerificationResult
from referee.verification.verify import verify
from tests.league.inprocess import at_random, play_league
from tests.league.ladders import Ladder
from tests.program import referee

FILE = "rounds-1-2.jsonl.gz"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Ladder:
    """A ladder of four closed rounds and a part of a fifth, with rulings."""
    players = {"a": at_random, "b": fallback_move, "c": at_random, "d": at_random}
    ladder = Ladder(tmp_path_factory.mktemp("played") / "ladder.sqlite", players, seed=None)
    ladder.play(4)
    ladder.begin()
    ladder.go_on(most=3)
    return ladder


@pytest.fixture
def path(played: Ladder, tmp_path: Path) -> Path:
    return shutil.copyfile(played.path, tmp_path / "ladder.sqlite")


def archive(path: Path, before: int, name: str = FILE) -> Path:
    """Archives the rounds before one beside the ladder."""
    with Store.write(path) as store:
        archive_rounds(store, read_league(store), before, path.with_name(name))
        assert give_back(store)
    return path.with_name(name)


def verified(path: Path, *archives: Path) -> VerificationResult:
    with Store.read(path) as store:
        return verify(store, archives=archives)


def told(path: Path) -> list[Any]:
    """All that a ladder tells but its records: standings, evidence, roots, and every line that is exported."""
    with Store.read(path) as store:
        league = read_league(store)
        orders = history_in(store, league).orders
        keys = [entrant.key for entrant in league.entrants]
        pairs = [str(orders.finding(one, other)) for one in keys for other in keys if one < other]
        lines = [[name, *map(dict, rows)] for name, rows in store.parts()]
        return [json.dumps(standings_of(store, league).to_json()), pairs, roots(store), lines, league.facts["rounds"]]


def test_results_standings_evidence_and_roots_stay_to_the_byte_and_records_go(path: Path) -> None:
    before, size = told(path), path.stat().st_size
    with Store.read(path) as store:
        records = [(number, store.record(number)) for number in store.game_numbers()]
    file = archive(path, 3)
    assert told(path) == before
    assert path.stat().st_size <= size - file.stat().st_size // 2
    with Store.read(path) as store:
        last = store.archives()[0]["last_game"]
        assert 0 < last < len(records)
        assert list(store.oddities()) == []
        for number, record in records[last:]:
            assert store.record(number) == record
        with pytest.raises(
            ArchivedError, match=rf"game 1 any more: it lies in {FILE}, rounds 1 to 2, SHA-256 \w{{64}}; .* sed -n 1p"
        ):
            store.record(1)
    with RecordArchive(file) as kept:
        assert list(kept.lines()) == records[:last]
        assert kept.record(2) == records[1][1]
        assert kept.record(1) == records[0][1]  # backwards too
    lines = gzip.decompress(file.read_bytes()).splitlines()
    assert [json.loads(line)["number"] for line in lines] == list(range(1, last + 1))


def test_the_ladder_plays_on_and_ends_as_if_nothing_had_been_archived(played: Ladder, tmp_path: Path) -> None:
    roots_of = []
    for name in ("whole", "archived"):
        copy = Ladder.__new__(Ladder)
        copy.__dict__ |= {**vars(played), "path": tmp_path / name / "ladder.sqlite"}
        copy.path.parent.mkdir()
        shutil.copyfile(played.path, copy.path)
        if name == "archived":
            archive(copy.path, 3)
            archive(copy.path, 5, "rounds-3-4.jsonl.gz")
        copy.go_on()
        with Store.write(copy.path) as store:
            table = finish(store, read_league(store)).to_json()
            roots_of.append((store.league()["result_root"], json.dumps(table)))
    assert roots_of[0] == roots_of[1]
    path = tmp_path / "archived" / "ladder.sqlite"
    both = verified(path, path.with_name(FILE), path.with_name("rounds-3-4.jsonl.gz"))
    assert both.ok, str(both)
    assert both.archived == 0
    assert both.games == verified(tmp_path / "whole" / "ladder.sqlite").games


def test_ladder_and_archive_are_verified_together_and_the_ladder_alone_says_what_it_could_not(path: Path) -> None:
    whole = verified(path)
    file = archive(path, 3)
    both, alone = verified(path, file), verified(path)
    assert both.ok
    assert both == whole
    assert alone.ok
    assert (alone.archived, alone.games) == (whole.games - alone.games, whole.games - alone.archived)
    assert alone.to_json()["archived"] == alone.archived > 0
    assert "archived" not in both.to_json()
    text = str(alone)
    assert "everything that is here agrees" in text
    assert f"Not replayed, for their records lie elsewhere: {alone.archived} games." in text
    with Store.read(path) as store:
        digest = store.archives()[0]["digest"]
    assert f"The records of rounds 1 to 2 lie in {FILE}, SHA-256 {digest}: add it with --archive." in text


def test_an_export_tells_of_archives_and_is_verified_with_them(path: Path, tmp_path: Path) -> None:
    file = archive(path, 3)
    assert copy_closed_rounds(path, tmp_path / "copy.sqlite") == 4
    with Store.read(tmp_path / "copy.sqlite") as store:
        folder = write_export(store, read_league(store), tmp_path / "export", {})
    source = Exported(folder)
    assert [one["file"] for one in source.archives()] == [FILE]
    together, alone = verify(source, archives=[file]), verify(Exported(folder))
    assert together.ok, str(together)
    assert together.archived == 0
    assert alone.ok, str(alone)
    assert alone.archived == source.archives()[0]["last_game"]
    with pytest.raises(ArchivedError, match=FILE):
        source.record(1)


def test_a_flipped_byte_anywhere_in_an_archive_is_found(path: Path) -> None:
    file = archive(path, 3)
    data = file.read_bytes()
    for place in (0, 9, 10, len(data) // 2, len(data) - 5, len(data) - 1):
        file.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        verdict = verified(path, file)
        assert (verdict.ok, verdict.divergences) == (False, 1), place
        assert f"archive: SHA-256 of {FILE}" in str(verdict.findings[0])
    file.write_bytes(data[:-100])
    assert not verified(path, file).ok


def forge(path: Path, sql: str, *values: object) -> None:
    with sqlite3.connect(path) as db:
        db.execute(sql, values)
    db.close()


def test_an_archive_that_was_made_anew_with_other_records_is_found_by_the_record(path: Path) -> None:
    file = archive(path, 3)
    with RecordArchive(file) as kept:
        records = list(kept.lines())
    records[3][1]["deals"][0]["tricks"][0] = "AS KS"
    with file.open("wb") as out:
        write_records(out, records)
    with Store.read(path) as store:
        about = store.archives()[0]
    about["digest"] = hashlib.sha256(file.read_bytes()).hexdigest()
    forge(
        path,
        "UPDATE league SET value = ? WHERE key = 'archives'",
        json.dumps([about], sort_keys=True, separators=(",", ":")),
    )
    verdict = verified(path, file)
    assert not verdict.ok
    assert verdict.findings[0].game == records[3][0]
    for some in (records[1:], records[:-1], [*records, (10_000, records[0][1])]):
        with file.open("wb") as out:
            write_records(out, some)
        about["digest"] = hashlib.sha256(file.read_bytes()).hexdigest()
        forge(
            path,
            "UPDATE league SET value = ? WHERE key = 'archives'",
            json.dumps([about], sort_keys=True, separators=(",", ":")),
        )
        assert f"archive: games of {FILE}" in str(verified(path, file))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"first_game": 2}, "archives[0]"),
        ({"last_game": 3}, f"games of {FILE}"),
        ({"last_game": 10_000}, f"games of {FILE}"),
        ({"last_round": 9}, f"last round of {FILE}"),
        ({"last_round": 0}, "archives[0]"),
        ({"first_round": 2}, "archives[0]"),
        ({"more": 1}, "archives[0]"),
        ({"digest": "x"}, "archives[0]"),
    ],
)
def test_what_a_ladder_says_falsely_of_its_archives_is_found(path: Path, change: dict[str, Any], said: str) -> None:
    archive(path, 3)
    with Store.read(path) as store:
        about = {**store.archives()[0], **change}
    forge(
        path,
        "UPDATE league SET value = ? WHERE key = 'archives'",
        json.dumps([about], sort_keys=True, separators=(",", ":")),
    )
    verdict = verified(path)
    assert not verdict.ok
    assert f"archive: {said}" in str(verdict), str(verdict)


def test_records_cannot_be_hidden_by_saying_that_they_lie_elsewhere(path: Path, tmp_path: Path) -> None:
    whole = path.read_bytes()
    file = archive(path, 3)
    with Store.read(path) as store:
        value = json.dumps(store.archives(), sort_keys=True, separators=(",", ":"))
    path.write_bytes(whole)
    forge(path, "INSERT INTO league VALUES ('archives', ?)", value)
    for archives in ([], [file]):
        assert "archive: record of game 1: here too" in str(verified(path, *archives))
    forge(path, "DELETE FROM league WHERE key = 'archives'")
    forge(path, "UPDATE game SET record = x'' WHERE number = 2")
    assert not verified(path).ok
    league = play_league(
        tmp_path / "league.sqlite", {"a": fallback_move, "b": at_random}, seats=2, sets=1, length="deal"
    )
    forge(league, "INSERT INTO league VALUES ('archives', ?)", value)
    assert "archives of a league that is no ladder" in str(verified(league))


KILLED_AT = (
    "half the records are written",
    "the draft is written",
    "it was read back",
    "before it is put in place",
    "it is in place",
    "in the transaction",
    "the records are dropped",
    "half the room is given back",
)

KILLED = r"""
import os, shutil, sys
from pathlib import Path
from referee.league import retention
from referee.league.league import read_league
from referee.league.store import Store
from referee.league.store.store import Store as Written

def die(*_, **__):
    os._exit(9)

def then_die(function):
    def both(*given, **named):
        function(*given, **named)
        die()
    return both

def run(path, step):
    match step:
        case 0:
            write = retention.write_records
            def half(file, records):
                def some():
                    for at, one in enumerate(records):
                        if at == 4:
                            file.flush()
                            die()
                        yield one
                write(file, some())
            retention.write_records = half
        case 1:
            retention._read_back = die
        case 2:
            retention._read_back = then_die(retention._read_back)
        case 3:
            retention._put_in_place = die
        case 4:
            retention._put_in_place = then_die(retention._put_in_place)
        case 5:
            import referee.league.store.store as store_module
            store_module.column = die  # the records are dropped, the transaction is open
        case 6:
            Written.drop_records = then_die(Written.drop_records)
        case 7:
            retention.PAGES_A_STEP = 1
            Written.shrink = then_die(Written.shrink)
    with Store.write(path) as store:
        retention.archive_rounds(store, read_league(store), 3, path.with_name("rounds-1-2.jsonl.gz"))
        retention.give_back(store)

original = Path(sys.argv[1])
for step in range(8):
    folder = Path(sys.argv[2]) / str(step)
    folder.mkdir()
    path = Path(shutil.copyfile(original, folder / "ladder.sqlite"))
    child = os.fork()
    if not child:
        try:
            run(path, step)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 9, (step, status)
"""


def test_killed_at_any_step_nothing_is_lost_and_the_next_one_does_it(path: Path, tmp_path: Path) -> None:
    before, whole = told(path), verified(path)
    killed = tmp_path / "killed"
    killed.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    subprocess.run([sys.executable, "-c", KILLED, str(path), str(killed)], check=True, env=environment, timeout=300)
    for step, what in enumerate(KILLED_AT):
        left = killed / str(step) / "ladder.sqlite"
        with Store.write(left) as store:
            dropped = rounds_archived(store) == 2
            assert dropped is (step >= 6), what
            if not dropped:
                assert all(store.record(number) for number in store.game_numbers()), what
                archive_rounds(store, read_league(store), 3, left.with_name(FILE))
            assert give_back(store)
        assert told(left) == before, what
        assert verified(left, left.with_name(FILE)) == whole, what
        names = {one.name for one in left.parent.iterdir() if not one.name.startswith("ladder.sqlite")}
        assert names == {FILE}, what  # and no draft


def test_what_cannot_be_archived_is_refused_and_the_ladder_is_as_it_was(path: Path, tmp_path: Path) -> None:
    league = play_league(
        tmp_path / "league.sqlite", {"a": fallback_move, "b": at_random}, seats=2, sets=1, length="deal"
    )
    foreign = path.with_name("foreign.jsonl.gz")
    foreign.write_bytes(b"somebody else's")
    for of, before, to, said in (
        (path, 6, FILE, "has 4 closed rounds, so archive before round 5, or an earlier one"),
        (path, 1, FILE, "nothing to archive before round 1: there is no earlier round"),
        (path, 3, "rounds.zip", "the name of an archive ends in .jsonl.gz"),
        (path, 3, "foreign.jsonl.gz", "exists already; name another file with --to"),
        (path, 3, "ladder.sqlite/x.jsonl.gz", "cannot be written"),
        (league, 2, FILE, "is no ladder"),
    ):
        with Store.write(of) as store, pytest.raises((LeagueError, StoreError), match=said):
            archive_rounds(store, read_league(store), before, of.with_name("x").parent / to)
    assert foreign.read_bytes() == b"somebody else's"
    forge(path, "UPDATE game SET record = (SELECT record FROM game WHERE number = 2) WHERE number = 1")
    with Store.write(path) as store, pytest.raises(StoreError, match="game 1 is not the one that was played"):
        archive_rounds(store, read_league(store), 3, path.with_name(FILE))
    assert not path.with_name(FILE).exists()
    assert [one.name for one in path.parent.iterdir() if one.name.startswith(".")] == []


def test_which_rounds_are_due_keeps_as_many_as_asked_and_a_file_for_as_many(path: Path) -> None:
    with Store.write(path) as store:
        league = read_league(store)
        assert due_rounds(store, league, 0) == []
        assert due_rounds(store, league, 1) == [2, 3, 4]
        assert due_rounds(store, league, 2) == [3]
        assert due_rounds(store, league, 3) == []
        archive_rounds(store, league, 3, path.with_name(FILE))
        assert due_rounds(store, league, 2) == []
        assert due_rounds(store, league, 1) == [4]
        with pytest.raises(LeagueError, match="the records of rounds 1 to 2 are in archives already"):
            archive_rounds(store, league, 3, path.with_name("again.jsonl.gz"))


def test_rounds_in_which_nothing_was_played_go_with_the_next_ones(path: Path) -> None:
    with Store.read(path) as store:
        league = read_league(store)
    rounds = rounds_of(league)
    first = sum(map(sets_of_round, rounds[:1]))
    stub: Any = SimpleNamespace(archives=list, last_game_before=lambda place: 0 if place <= first else place)
    assert due_rounds(stub, league, 1) == [3, 4]
    stub.last_game_before = lambda place: 0
    assert due_rounds(stub, league, 1) == []


def test_a_file_system_without_hard_links_takes_an_archive_all_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    with Store.write(path) as store:
        archive_rounds(store, read_league(store), 3, path.with_name(FILE))
    assert path.with_name(FILE).is_file()
    path.with_name("again.jsonl.gz").write_bytes(b"somebody's")
    with Store.write(path) as store, pytest.raises(StoreError, match="exists already"):
        archive_rounds(store, read_league(store), 4, path.with_name("again.jsonl.gz"))
    assert path.with_name("again.jsonl.gz").read_bytes() == b"somebody's"


def test_a_ladder_that_cannot_shrink_in_steps_is_written_anew_once(path: Path) -> None:
    with sqlite3.connect(path, isolation_level=None) as db:
        db.execute("PRAGMA auto_vacuum = NONE")
        db.execute("VACUUM")
    db.close()
    size, before = path.stat().st_size, told(path)
    with Store.write(path) as store:
        archive_rounds(store, read_league(store), 3, path.with_name(FILE))
        assert not give_back(store)
        assert rewrite_if_room(store)
        assert give_back(store)
    assert path.stat().st_size < size
    assert told(path) == before
    archive(path, 5, "rounds-3-4.jsonl.gz")  # from now on in steps


def test_a_report_shows_no_game_whose_record_is_elsewhere(path: Path) -> None:
    archive(path, 5, "rounds-1-4.jsonl.gz")
    with Store.read(path) as store:
        league = read_league(store)
        facts = collect(store, league)
        last = store.archives()[-1]["last_game"]
        assert all(one.row.number > last for one in choose(store, facts))
        with pytest.raises(ArchivedError):
            choose(store, facts, [1])


def test_the_commands_archive_verify_and_say_where_a_game_lies(path: Path) -> None:
    made = referee(path.parent, "ladder", str(path), "--archive-before", "3")
    file = path.with_name(f"ladder-{FILE}")
    assert made.returncode == 0, made.stderr
    assert f"{file} has the records of rounds 1 to 2 (" in made.stdout
    assert f"referee verify {path} --archive {file}" in made.stdout
    for command in (("replay", "1", "--league", str(path)), ("show", "1", "--league", str(path))):
        said = referee(path.parent, *command)
        assert said.returncode == 1
        assert f"it lies in {file.name}, rounds 1 to 2, SHA-256" in said.stderr
    verdict = referee(path.parent, "verify", str(path), "--archive", str(file))
    assert verdict.returncode == 0, verdict.stdout
    assert "everything agrees" in verdict.stdout
    assert f"Records of rounds 1 to 2 lie in {file.name}, SHA-256" in referee(path.parent, "ladder", str(path)).stdout
    for wrong, said_ in (
        (("ladder", str(path), "--to", "x.jsonl.gz"), "without --archive-before"),
        (("ladder", str(path), "--archive-before", "4", "--freeze"), "exclude one another"),
        (("ladder", str(path), "--archive-before", "9"), "closed rounds"),
        (("verify", str(path), "--archive", str(path.with_name("none.jsonl.gz"))), "cannot be read"),
    ):
        refused = referee(path.parent, *wrong)
        assert refused.returncode in (1, 2), wrong
        assert said_ in " ".join(refused.stderr.split())

"""An export: complete, by its schema, and as hard to falsify as the store that it was made from."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

import jsonschema
import pytest

from referee.league.definition.definition import load_definition, parse_definition
from referee.league.export import write_export
from referee.league.league import LeagueError, read_league
from referee.league.store import Exported, Store, StoreError, chain_next, chain_start
from referee.league.store.export_format import FILES, FORMAT, LINES, dumped, export_schema
from referee.league.store.root_digests import record_root, result_root
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import canonical, record_digest, result_digest
from referee.verification.result import Check, Divergence, VerificationResult
from referee.verification.verify import verify
from tests.league.inprocess import at_random, found_league, go_on, league_text, play_league, reneges, stumbles

PLAYERS = {"careful": fallback_move, "reneger": reneges, "stumbler": stumbles, "random": at_random}
GAMES = 12
Line = dict[str, Any]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished league with secret packs and every kind of ruling."""
    return play_league(tmp_path_factory.mktemp("stored") / "league.sqlite", PLAYERS, seats=4, sets=3, seed=None)


@pytest.fixture(scope="module")
def exported(stored: Path) -> Path:
    """Its export."""
    with Store.read(stored) as store:
        return write_export(store, read_league(store), stored.with_name("export"), {"more.csv": "a,b\n"})


@pytest.fixture
def export(exported: Path, tmp_path: Path) -> Path:
    """A copy of it, to do as one likes with."""
    return Path(shutil.copytree(exported, tmp_path / "export"))


def verdict(folder: Path, **options: Any) -> VerificationResult:
    return verify(Exported(folder), **options)


def first(folder: Path) -> Divergence:
    found = verdict(folder)
    assert not found.ok
    return found.findings[0]


def lines(folder: Path, name: str) -> list[Line]:
    return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]


def write(folder: Path, name: str, those: list[Line]) -> None:
    (folder / name).write_bytes(b"".join(canonical(line) + b"\n" for line in those))


def edit(folder: Path, name: str, change: Callable[[list[Line]], object]) -> None:
    those = lines(folder, name)
    change(those)
    write(folder, name, those)


def edit_league(folder: Path, change: Callable[[Line], object]) -> None:
    league = json.loads((folder / "league.json").read_text("utf-8"))
    change(league)
    (folder / "league.json").write_bytes(dumped(league))


def cover_up(folder: Path) -> None:
    """Makes digests, chains and roots agree with the records as they stand now."""
    records = {line["number"]: line["record"] for line in lines(folder, "records.jsonl")}
    league = json.loads((folder / "league.json").read_text("utf-8"))
    sets = {
        line["id"]: line | {"chain": chain_start(league["name"], line["id"]), "games": 0}
        for line in lines(folder, "sets.jsonl")
    }
    games = lines(folder, "games.jsonl")
    for game in games:
        record = records[game["number"]]
        game |= {"record_digest": record_digest(record), "result_digest": result_digest(record)}
        row = sets[game["fixture_id"].rpartition("-")[0]]
        row |= {"chain": chain_next(row["chain"], game["record_digest"]), "games": row["games"] + 1}
    write(folder, "games.jsonl", games)
    write(folder, "sets.jsonl", list(sets.values()))
    source = Exported(folder)
    result = result_root(league["name"], source.sets(), source.every_game())
    edit_league(folder, lambda facts: facts.update(result_root=result))
    root = record_root(source.league(), source)
    edit_league(folder, lambda facts: facts.update(record_root=root))
    manifest = source.manifest
    rows = {name: len(lines(folder, name)) for name in manifest["rows"]}
    command = f"{manifest['verify'].rpartition(' ')[0]} {root}"
    (folder / "export.json").write_bytes(dumped(manifest | {"rows": rows, "verify": command}))


# A sound export.


def misfits(value: Any, kind: Any, place: str) -> list[str]:
    """Where a JSON value is not of a type of the package, all the way down."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Annotated, NotRequired):
        return misfits(value, arguments[0], place)
    if is_typeddict(kind):
        hints = get_type_hints(kind)
        odd = [f"{place}: lacks {name}" for name in kind.__required_keys__ - value.keys()]
        odd += [f"{place}: {name} is of no type" for name in value.keys() - hints.keys()]
        return odd + [one for name in value.keys() & hints.keys() for one in misfits(value[name], hints[name], name)]
    if origin is list:
        return [one for item in value for one in misfits(item, arguments[0], place)]
    if origin is tuple:
        return [f"{place}: {value!r}"] if not all(isinstance(item, str) for item in value) else []
    if origin is dict:
        return [one for item in value.values() for one in misfits(item, arguments[1], place)]
    allowed = arguments or (kind,)
    sound = Any in allowed or object in allowed or type(value) in allowed or (float in allowed and type(value) is int)
    return [] if sound else [f"{place}: {value!r} is no {kind}"]


def test_all_that_is_written_has_the_type_that_the_package_gives_it(exported: Path) -> None:
    manifest = json.loads((exported / "export.json").read_bytes())
    first = Path(__file__).parents[1] / "data" / "of_0_1_0" / "export"
    assert manifest["format"] == FORMAT
    seen = set()
    for folder in (exported, first):
        for name, kind in LINES.items():
            whole = [json.loads((folder / name).read_bytes())] if name.endswith(".json") else lines(folder, name)
            hints = get_type_hints(kind, include_extras=True)
            for line in whole:
                for field, value in line.items():
                    seen.add((name, field, type(value)))
                    assert misfits(value, hints[field], f"{folder.name}/{name}: {field}") == []
    assert ("records.jsonl", "record", dict) in seen
    assert ("entrants.jsonl", "withdrawn", NoneType) in seen


def test_an_export_is_verified_to_the_same_verdict_as_its_store(stored: Path, exported: Path) -> None:
    with Store.read(stored) as store:
        own = verify(store)
    found = verdict(exported, commitment=own.commitment, record_root=own.record_root)
    assert found.ok, str(found)
    assert found == own
    assert found.games == GAMES
    assert found.rulings > 0
    assert found.unprovable > 0


def test_every_line_is_as_the_schema_says(exported: Path) -> None:
    assert json.loads((exported / "schema.json").read_text("utf-8")) == export_schema()
    jsonschema.Draft202012Validator.check_schema(export_schema())
    for name, schema in FILES.items():
        judge = jsonschema.Draft202012Validator(schema)
        whole = (exported / name).read_text("utf-8")
        found = lines(exported, name) if name.endswith(".jsonl") else [json.loads(whole)]
        assert found or name == "faults.jsonl"
        for line in found:
            judge.validate(line)
    rows = json.loads((exported / "export.json").read_text("utf-8"))["rows"]
    assert rows == {name: len(lines(exported, name)) for name in FILES if name.endswith(".jsonl")}


def test_it_has_what_a_researcher_needs_and_nothing_that_is_private(stored: Path, exported: Path) -> None:
    league = json.loads((exported / "league.json").read_text("utf-8"))
    with Store.read(stored) as store:
        facts = store.league()
    for name in (
        "master",
        "commitment",
        "definition",
        "digest",
        "rules",
        "code",
        "standings",
        "result_root",
        "record_root",
    ):
        assert league[name] == facts[name]
    assert set(league["host"]) == {"system", "python", "processors"}
    assert not {"tokens", "folder", "file"} & set(league)
    manifest = json.loads((exported / "export.json").read_text("utf-8"))
    assert manifest["format"] == FORMAT
    assert manifest["rerun"] == "referee rerun export --bots FOLDER"
    assert league["commitment"] in manifest["verify"]
    assert (exported / "more.csv").read_text() == "a,b\n"
    assert str(stored.parent) not in "".join(path.read_text("utf-8") for path in exported.iterdir())


def test_the_definition_reads_back_as_the_one_that_was_frozen(exported: Path) -> None:
    league = read_league(Exported(exported))
    assert load_definition(exported / "definition.toml").digest() == league.facts["digest"]


def test_secret_packs_are_not_exported_before_the_end_and_public_ones_are(tmp_path: Path) -> None:
    for seed in (None, "public"):
        path = tmp_path / f"{seed}.sqlite"
        found_league(path, parse_definition(league_text(list(PLAYERS), seats=4, seed=seed)), list(PLAYERS))
        assert not go_on(path, PLAYERS, most=5).finished
    secret = pytest.raises(LeagueError, match="secret until then; finish it: referee resume")
    with Store.read(tmp_path / "None.sqlite") as store, secret:
        write_export(store, read_league(store), tmp_path / "no", {})
    assert not (tmp_path / "no").exists()
    with Store.read(tmp_path / "public.sqlite") as store:
        found = verdict(write_export(store, read_league(store), tmp_path / "yes", {}))
    assert found.ok
    assert found.games == 5


def test_a_folder_that_exists_is_left_alone_and_nothing_half_written_stays(stored: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with Store.read(stored) as store:
        league = read_league(store)
        with pytest.raises(StoreError, match="exists already"):
            write_export(store, league, tmp_path / "there", {})
        with pytest.raises(StoreError, match="cannot be written"):
            write_export(store, league, tmp_path / "new", {"no/such/folder.csv": ""})
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert list((tmp_path / "there").iterdir()) == []


# What is done to it is found.


def test_a_cut_tail_is_a_missing_game(export: Path) -> None:
    fixture = lines(export, "games.jsonl")[-1]["fixture_id"]
    edit(export, "games.jsonl", lambda those: those.pop())
    edit(export, "records.jsonl", lambda those: those.pop())
    cover_up(export)
    odd = first(export)
    assert (odd.check, odd.what, odd.fixture) == (Check.GAMES, "missing game", fixture)


@pytest.mark.parametrize("cover", [True, False])
def test_an_edited_card_is_named(export: Path, cover: bool) -> None:
    def change(those: list[Line]) -> None:
        deal = those[4]["record"]["deals"][0]
        cards = deal["pack"].split()
        cards[0], cards[20] = cards[20], cards[0]
        deal["pack"] = " ".join(cards)

    edit(export, "records.jsonl", change)
    if cover:
        cover_up(export)
    odd = first(export)
    assert (odd.check, odd.game, odd.deal, odd.what) == (Check.PACK, 5, 1, "card 1 from the top")


def test_a_swapped_result_is_named(export: Path) -> None:
    uneven = [
        line["number"]
        for line in lines(export, "records.jsonl")
        if line["record"]["result"]["places"] != line["record"]["result"]["places"][::-1]
    ]
    number = uneven[0]
    edit(export, "records.jsonl", lambda those: those[number - 1]["record"]["result"]["places"].reverse())
    cover_up(export)
    odd = first(export)
    assert (odd.check, odd.game) == (Check.REPLAY, number)
    assert "result.places" in odd.says


def test_a_moved_record_is_named_with_both_games(export: Path) -> None:
    def change(those: list[Line]) -> None:
        those[2]["record"], those[3]["record"] = those[3]["record"], those[2]["record"]

    edit(export, "records.jsonl", change)
    cover_up(export)
    found = verdict(export).findings
    assert [one.game for one in found if one.check is Check.RECORD] == [3, 4]


def test_a_changed_rating_is_named(export: Path) -> None:
    def change(facts: Line) -> None:
        facts["standings"]["rows"][1]["rating"]["value"] += 25

    edit_league(export, change)
    odd = first(export)
    assert (odd.check, odd.what) == (Check.STANDINGS, "rows[1].rating.value")


def test_that_other_code_played_is_said(export: Path) -> None:
    assert not [note for note in verdict(export).notes if "other files" in note]
    edit_league(export, lambda facts: facts["code"].update(source="0" * 64))
    cover_up(export)
    found = verdict(export)
    assert found.ok
    assert [note for note in found.notes if "Played with other files of referee" in note]


def test_another_master_and_another_root_are_named(export: Path) -> None:
    edit_league(export, lambda facts: facts.update(record_root="0" * 64))
    assert first(export).check is Check.ROOT
    edit_league(export, lambda facts: facts.update(master="0" * 64))
    assert first(export).check is Check.COMMITMENT


def test_a_seat_changed_about_and_a_ruling_taken_out_are_named(export: Path) -> None:
    edit(export, "fixtures.jsonl", lambda those: those[0]["seats"].reverse())
    assert first(export).check is Check.SCHEDULE
    number = lines(export, "rulings.jsonl")[0]["game"]
    edit(export, "fixtures.jsonl", lambda those: those[0]["seats"].reverse())
    edit(export, "rulings.jsonl", lambda those: those.pop(0))
    odd = first(export)
    assert (odd.check, odd.game) == (Check.RULING, number)


@pytest.mark.parametrize("name", sorted(set(FILES) - {"faults.jsonl", "attempts.jsonl"}))
@pytest.mark.parametrize("text", ["", "{", "[1]\n", "{}\n", "null\n", "\xff\xfe\n"])
def test_garbled_files_are_a_verdict_or_an_error_that_names_them(export: Path, name: str, text: str) -> None:
    (export / name).write_bytes(text.encode("latin-1"))
    if name == "export.json":
        with pytest.raises(StoreError, match=r"export\.json"):
            Exported(export)
    else:
        assert not verdict(export).ok


def test_a_field_of_the_wrong_type_is_named_with_file_and_line(export: Path) -> None:
    edit(export, "games.jsonl", lambda those: those[2].update(number="3"))
    with pytest.raises(StoreError, match=r"games\.jsonl, line 3: number: integer is needed"):
        Exported(export).every_game()
    edit(export, "games.jsonl", lambda those: those[2].update(number=True))
    with pytest.raises(StoreError, match="number: integer is needed"):
        Exported(export).every_game()


def test_another_version_of_the_form_is_refused(export: Path) -> None:
    manifest = json.loads((export / "export.json").read_text("utf-8"))
    (export / "export.json").write_bytes(dumped(manifest | {"format": "allfours-export/9"}))
    with pytest.raises(StoreError, match="allfours-export/9"):
        Exported(export)


def test_a_record_that_is_not_there_is_an_error(exported: Path) -> None:
    with pytest.raises(StoreError, match="no record of game 99"):
        Exported(exported).record(99)

"""A new season that keeps sets: only what changed is played, and everything is verified with the master it came from."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.league.definition.definition import parse_definition
from referee.league.entrants.roster import Roster
from referee.league.export import write_export
from referee.league.league import LeagueError, begin, read_league
from referee.league.season import kept_of
from referee.league.store import Exported, Store, StoreError
from referee.league.store.export_format import dumped
from referee.umpire.fallback_player import fallback_move
from referee.verification.result import Check
from referee.verification.verify import verify
from tests.league.inprocess import (
    Player,
    at_random,
    found_league,
    go_on,
    league_text,
    play_league,
    reneges,
    roster,
    stumbles,
)
from tests.league.tampered import edit_fact, rows

PLAYERS: Mapping[str, Player] = {"a": fallback_move, "b": reneges, "c": stumbles, "d": at_random}
SHAPE: dict[str, Any] = {"sets": 3, "seed": None}


def newer(*keys: str) -> Roster:
    """The same bots, some in version 2."""
    old = roster(list(PLAYERS))
    return Roster(tuple(replace(one, version="2", digest="2" * 64) if one.key in keys else one for one in old.entrants))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished season with secret packs: four tables of three, three sets each."""
    return play_league(tmp_path_factory.mktemp("first") / "league.sqlite", PLAYERS, **SHAPE)


def second(first: Path, path: Path, who: Roster, **shape: Any) -> Path:
    """A season after it, begun and not yet played."""
    definition = parse_definition(league_text(list(PLAYERS), **(SHAPE | shape)))
    kept = kept_of(first, definition, who)
    begin(definition, who, path, "none", {}, earlier=kept.earlier, kept=(kept.store, kept.sets))
    return path


def played(path: Path) -> dict[str, str]:
    with Store.read(path) as store:
        return {game.fixture_id: game.record_digest for game in store.every_game()}


def test_only_the_sets_of_the_new_version_are_played_and_all_is_verified(first: Path, tmp_path: Path) -> None:
    path = second(first, tmp_path / "second.sqlite", newer("d"))
    before = played(path)
    assert len(before) == 3 * 3  # the table without d
    assert before.items() <= played(first).items()
    assert go_on(path, PLAYERS).finished
    after = played(path)
    assert before.items() <= after.items()
    assert len(after) == 4 * 3 * 3
    with Store.read(path) as store:
        facts = store.league()
        found = verify(store, commitment=facts["commitment"])
    assert found.ok, str(found)
    with Store.read(first) as store:
        old = store.league()
    assert facts["master"] != old["master"]
    assert [entry["commitment"] for entry in facts["earlier"]] == [old["commitment"]]
    assert f"Sets kept from earlier seasons: 3, with packs that were committed to then: {old['commitment']}" in str(
        found
    )
    assert rows(path, "SELECT count(*) FROM ruling") > [(0,)]


def test_a_third_season_keeps_sets_of_both(first: Path, tmp_path: Path) -> None:
    middle = second(first, tmp_path / "second.sqlite", newer("d"))
    go_on(middle, PLAYERS)
    last = second(middle, tmp_path / "third.sqlite", newer("d"), sets=4)
    assert len(played(last)) == 4 * 3 * 3
    assert go_on(last, PLAYERS).finished
    with Store.read(last) as store:
        found = verify(store)
        assert [len(entry["sets"]) for entry in store.league()["earlier"]] == [3, 9]
    assert found.ok, str(found)
    assert found.games == 4 * 4 * 3


def test_its_export_is_verified_alone(first: Path, tmp_path: Path) -> None:
    path = second(first, tmp_path / "second.sqlite", newer("a"))
    go_on(path, PLAYERS)
    with Store.read(path) as store:
        folder = write_export(store, read_league(store), tmp_path / "export", {})
    assert verify(Exported(folder)).ok
    league = json.loads((folder / "league.json").read_text())
    league["earlier"][0]["master"] = "0" * 64
    (folder / "league.json").write_bytes(dumped(league))
    assert verify(Exported(folder)).findings[0].check is Check.COMMITMENT


def test_a_set_that_is_said_to_be_of_another_season_has_other_packs(first: Path, tmp_path: Path) -> None:
    path = second(first, tmp_path / "second.sqlite", newer("d"))
    go_on(path, PLAYERS)
    edit_fact(path, "earlier", lambda entries: [{**entries[0], "sets": entries[0]["sets"][1:]}])
    with Store.read(path) as store:
        assert verify(store).findings[0].check in (Check.PACK, Check.RECORD)


def test_what_cannot_be_kept_is_refused_with_the_remedy(first: Path, tmp_path: Path) -> None:
    same = parse_definition(league_text(list(PLAYERS), **SHAPE))
    with pytest.raises(LeagueError, match="no season at"):
        kept_of(tmp_path / "none.sqlite", same, newer("d"))
    with pytest.raises(LeagueError, match=r"no set of .* --new-season"):
        kept_of(first, same, newer("a", "b", "c"))
    with pytest.raises(LeagueError, match=r"another \[tournament\], \[rules\]"):
        kept_of(first, parse_definition(league_text(list(PLAYERS), variant="smudge", **SHAPE)), newer("d"))
    slower = league_text(list(PLAYERS), more="[limits]\nmove_ms = 9000", **SHAPE)
    with pytest.raises(LeagueError, match=r"another \[limits\]"):
        kept_of(first, parse_definition(slower), newer("d"))
    roomier = league_text(list(PLAYERS), more="[limits]\nmax_processes = 90", **SHAPE)
    assert len(kept_of(first, parse_definition(roomier), newer("d")).sets) == 3
    with pytest.raises(LeagueError, match=r"another \[schedule\]"):
        kept_of(first, parse_definition(league_text(list(PLAYERS), sets=3)), newer("d"))
    changed = Roster(tuple(replace(one, digest="other") for one in roster(list(PLAYERS)).entrants))
    with pytest.raises(LeagueError, match=r"a, b, c, d have changed, but not the version: raise it in bot\.toml"):
        kept_of(first, same, changed)
    open_ = tmp_path / "open.sqlite"
    found_league(open_, same, list(PLAYERS))
    with pytest.raises(LeagueError, match="not finished; finish it first"):
        kept_of(open_, same, newer("d"))


def test_sets_are_taken_over_whole_or_not_at_all(first: Path, tmp_path: Path) -> None:
    definition = parse_definition(league_text(list(PLAYERS), **SHAPE))
    kept = kept_of(first, definition, newer("d"))
    path = second(first, tmp_path / "second.sqlite", newer("d"))
    before = played(path)
    with Store.write(path) as store, pytest.raises(StoreError, match="doubled"):
        store.keep_sets(kept.store, kept.sets)
    assert played(path) == before
    with Store.write(path) as store:
        assert store.sets()

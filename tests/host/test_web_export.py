"""The closed rounds of a ladder that goes on, as its host gives them away: verified by whoever fetches them."""

import io
import zipfile
from pathlib import Path

import pytest

from referee.host.home import HostHome
from referee.host.web.aside import AsideError, aside
from referee.host.web.closed_rounds import FOLDER, ClosedRounds, make_archive
from referee.league.export import copy_closed_rounds, write_export
from referee.league.ladder import withdraw
from referee.league.league import LeagueError, read_league
from referee.league.store import Exported, Store
from referee.league.store.export_format import MANIFEST
from referee.umpire.fallback_player import fallback_move
from referee.verification.verify import verify
from tests.host.sites import made_site
from tests.league.inprocess import at_random
from tests.league.ladders import Ladder


def a_ladder(path: Path) -> Ladder:
    players = {"a": at_random, "b": fallback_move, "c": at_random, "d": at_random}
    return Ladder(path, players, owners={"a": "ann", "d": "dora"}, seed=None)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != MANIFEST}


def test_the_closed_rounds_are_the_same_whatever_is_played_after_them(tmp_path: Path) -> None:
    ladder = a_ladder(tmp_path / "ladder.sqlite")
    ladder.play(2)
    with Store.read(ladder.path) as store:
        write_export(store, read_league(store), tmp_path / "then", {})
    ladder.come("a", fallback_move)
    ladder.come("e", at_random)
    ladder.begin()
    ladder.go_on(most=5)
    assert copy_closed_rounds(ladder.path, tmp_path / "copy.sqlite") == 2
    with Store.read(tmp_path / "copy.sqlite") as store:
        assert list(store.oddities()) == []
        assert verify(store).ok
        write_export(store, read_league(store), tmp_path / "now", {})
    assert files(tmp_path / "now") == files(tmp_path / "then")
    verdict = verify(Exported(tmp_path / "now"))
    assert verdict.ok, str(verdict)
    ladder.go_on()
    assert copy_closed_rounds(ladder.path, tmp_path / "later.sqlite") == 3
    with Store.read(tmp_path / "later.sqlite") as store:
        assert verify(store).ok


def test_a_bot_that_is_withdrawn_in_the_open_round_leaves_the_closed_ones_sound(tmp_path: Path) -> None:
    ladder = a_ladder(tmp_path / "ladder.sqlite")
    ladder.play(1)
    for newcomer in "efg":  # so that it cannot sit at all tables
        ladder.come(newcomer, at_random)
    ladder.begin()
    with Store.write(ladder.path) as store:
        withdraw(store, read_league(store), "d", "it cheats")
    assert ladder.go_on(most=1).open
    assert copy_closed_rounds(ladder.path, tmp_path / "copy.sqlite") == 1
    with Store.read(tmp_path / "copy.sqlite") as store:
        verdict = verify(store)
        assert verdict.ok, str(verdict)


def test_without_a_closed_round_there_is_nothing_to_give_away(tmp_path: Path) -> None:
    ladder = a_ladder(tmp_path / "ladder.sqlite")
    ladder.begin()
    ladder.go_on(most=2)
    with pytest.raises(LeagueError, match="is closed yet"):
        make_archive(ladder.path, tmp_path / "x.zip")
    assert not [path.name for path in tmp_path.iterdir() if not path.name.startswith("ladder.sqlite")]


def test_a_host_gives_the_closed_rounds_to_whoever_asks_and_makes_them_once_a_round(tmp_path: Path) -> None:
    home = HostHome.beside(tmp_path / "ladder.toml")
    home.make()
    ladder = a_ladder(home.ladder)
    ladder.play(1)
    ladder.begin()
    ladder.go_on(most=3)
    with made_site(tmp_path) as at:
        at.site.ladder.settle(60)
        first = at.get("/export")
        assert first.status_code == 200
        assert first.headers["content-type"] == "application/zip"
        assert at.get("/export").content == first.content
        with zipfile.ZipFile(io.BytesIO(first.content)) as archive:
            archive.extractall(tmp_path / "fetched")
        assert verify(Exported(tmp_path / "fetched" / FOLDER)).ok
        ladder.go_on()
        at.site.ladder.settle(60)
        second = at.get("/export")
        assert second.content != first.content
        left = [path.name for path in home.folder.iterdir() if "export" in path.name]
        assert sorted(left) == ["export-1.zip", "export-2.zip"]


def test_the_newest_archive_is_given_away_while_a_newer_one_has_to_wait(tmp_path: Path) -> None:
    ladder = a_ladder(tmp_path / "ladder.sqlite")
    now = [0.0]

    def ticks() -> float:
        now[0] += 1
        return now[0]

    (tmp_path / ".export-left").mkdir()
    (tmp_path / "export-9.zip").write_bytes(b"of a ladder that was here before")
    kept = ClosedRounds(ladder.path, tmp_path, ticks, in_thread=True)
    try:
        assert kept.archive(1, 60) is None  # no round is closed
        now[0] += 100
        names = []
        for rounds in (1, 2, 3):
            ladder.play(1)
            found = kept.archive(rounds - 1, 60)  # what was asked for may be behind
            assert found is not None
            names.append(found.name)
            now[0] += 100 * (rounds == 2)
        assert names == ["export-1.zip", "export-1.zip", "export-3.zip"]
        assert {path.name for path in tmp_path.glob("*export*")} == {"export-1.zip", "export-3.zip"}
    finally:
        kept.close()


def fails(text: str) -> None:
    raise ValueError(text)


def test_work_aside_gives_what_it_gives_and_tells_what_went_wrong() -> None:
    assert aside(sorted, [3, 1, 2], is_over=lambda: False) == [1, 2, 3]
    with pytest.raises(AsideError, match="the reason"):
        aside(fails, "the reason", is_over=lambda: False)
    with pytest.raises(AsideError, match="has died"):
        aside(exit_now, is_over=lambda: False)


def exit_now() -> None:
    import os

    os._exit(1)

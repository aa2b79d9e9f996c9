"""What was played in closed rounds, for people and for programs: all of it, and nothing of a round that is open."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from referee.host.home import HostHome
from referee.host.web import played
from referee.host.web.openapi import SCHEMAS
from referee.league.league import read_league
from referee.league.retention import archive_rounds
from referee.league.store import Store
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import replay
from tests.host.sites import MadeSite, made_site
from tests.league.inprocess import at_random
from tests.league.ladders import Ladder


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A ladder with two closed rounds and one that is half played, of which a set is over."""
    path = tmp_path_factory.mktemp("played") / "ladder.sqlite"
    ladder = Ladder(path, {"random": at_random, "House": fallback_move, "anns-bot": at_random, "bobs": at_random})
    ladder.play(2)
    ladder.begin()
    assert ladder.go_on(most=8).open
    return path.read_bytes()


@pytest.fixture
def at(tmp_path: Path, file: bytes) -> Iterator[MadeSite]:
    home = HostHome.beside(tmp_path / "ladder.toml")
    home.make()
    home.ladder.write_bytes(file)
    with made_site(tmp_path) as made:
        made.site.ladder.settle(300)
        yield made


def lines(text: str) -> list[dict[str, Any]]:
    schema = {"$ref": "#/components/schemas/Game", "components": {"schemas": SCHEMAS}}
    found = [json.loads(line) for line in text.splitlines()]
    for one in found:
        jsonschema.Draft202012Validator(schema).validate(one)
    return found


def stored(at: MadeSite) -> dict[int, tuple[int, Any, str]]:
    """Round, record and state of each stored game, by number."""
    with Store.read(at.site.home.ladder) as store:
        sets = {row.id: row for row in store.sets()}
        size = len(sets) // 3
        return {
            game.number: (
                1 + sets[game.summary["set"]].position // size,
                store.record(game.number),
                sets[game.summary["set"]].state,
            )
            for game in store.games()
        }


def test_the_games_of_a_closed_round_are_given_as_they_were_played_with_their_packs(at: MadeSite) -> None:
    answer = at.get("/api/v1/games.ndjson?round=2")
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert "link" not in answer.headers
    found, known = lines(answer.text), stored(at)
    assert {one["game"]: one["record"] for one in found} == {n: one[1] for n, one in known.items() if one[0] == 2}
    assert {one["round"] for one in found} == {2}
    assert [one["game"] for one in found] == sorted(one["game"] for one in found)
    assert replay(found[0]["record"], fallback_move).result is not None
    assert at.ask("HEAD", "/api/v1/games.ndjson?round=2").content == b""


def test_games_of_an_open_round_are_not_given_even_of_sets_that_are_over(at: MadeSite) -> None:
    known = stored(at)
    assert {one[2] for one in known.values() if one[0] == 3} == {"SCORED", "OPEN"}
    every = lines(at.get("/api/v1/games.ndjson").text)
    assert [one["game"] for one in every] == [number for number, one in known.items() if one[0] < 3]
    answer = at.get("/api/v1/games.ndjson?round=3")
    assert (answer.status_code, "is being played" in answer.json()["error"]) == (409, True)


def test_so_many_games_are_given_at_once_and_the_next_ones_are_linked(
    at: MadeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(played, "MOST_GAMES", 7)
    monkeypatch.setattr(played, "_TOGETHER", 3)
    for asked, rounds in (("", {1, 2}), ("?round=2", {2})):
        path, found = f"/api/v1/games.ndjson{asked}", list[int]()
        while path:
            answer = at.get(path)
            some = [one["game"] for one in lines(answer.text)]
            assert 0 < len(some) <= 7
            found += some
            link = re.fullmatch(r'<http://pitch\.test(/\S+)>; rel="next"', answer.headers.get("link", ""))
            path = link[1] if link else ""
        assert found == [number for number, one in stored(at).items() if one[0] in rounds]
    assert at.get("/api/v1/games.ndjson?since=999999999999999").text == ""


@pytest.mark.parametrize(("asked", "status"), [("round=4", 404), ("round=0", 404), ("round=x", 400), ("since=-1", 400)])
def test_what_is_asked_wrongly_is_refused_with_the_remedy(at: MadeSite, asked: str, status: int) -> None:
    answer = at.get(f"/api/v1/games.ndjson?{asked}")
    assert answer.status_code == status
    assert answer.json()["error"]


def test_so_many_fetch_games_at_once_and_so_often(at: MadeSite) -> None:
    with at.site.limits.export_places.place("192.0.2.1"), at.site.limits.export_places.place("192.0.2.1"):
        assert at.get("/api/v1/games.ndjson").status_code == 429
    for _ in range(59):
        at.get("/api/v1/games.ndjson?since=999999")
    assert at.get("/api/v1/games.ndjson").status_code == 429
    assert at.site.limits.export_places.taken == 0


def test_a_round_has_a_page_with_every_table_and_a_replay_of_every_game(
    at: MadeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(played, "_SHOWN_TABLES", 3)
    path, found = "/rounds/1", set[str]()
    while path:
        page = at.get(path).text
        assert page.count('<th scope="row"') <= 3
        found |= set(re.findall(r'href="(/games/\d+)"', page))
        more = re.search(r'href="(/rounds/1\?from=\d+)"', page)
        path = more[1] if more else ""
    assert found == {f"/games/{number}" for number, one in stored(at).items() if one[0] == 1}
    assert {at.get(one).status_code for one in sorted(found)[:3]} == {200}
    page = at.get("/rounds/1?from=99999").text
    assert "/games/" not in page.replace("games.ndjson", "")


def test_a_round_that_is_played_shows_its_commitment_and_no_game(at: MadeSite) -> None:
    page = at.get("/rounds/3").text
    (told, *_) = at.get("/api/v1/rounds").json()["rounds"]
    assert told["commitment"] in page
    assert "/games/" not in page
    assert 'href="/tables"' in page
    assert at.get("/rounds/4").status_code == 404
    assert at.get("/rounds/x").status_code == 404
    assert 'href="/rounds/2"' in at.get("/rounds").text


def test_of_a_game_whose_record_lies_in_an_archive_it_is_said_where(at: MadeSite) -> None:
    path = at.site.home.ladder
    with Store.write(path) as store:
        archive_rounds(store, read_league(store), 2, path.with_name("rounds-1.jsonl.gz"))
    first, second = (lines(at.get(f"/api/v1/games.ndjson?round={number}").text) for number in (1, 2))
    assert first
    assert {(one["record"], one["archive"]) for one in first} == {(None, "/export/rounds-1.jsonl.gz")}
    assert all(one["record"] and one["archive"] is None for one in second)
    assert at.get(f"/games/{first[0]['game']}").status_code == 410
    assert at.get(f"/bots/{first[0]['entrants'][0]}/worst/{first[0]['game']}").status_code == 410

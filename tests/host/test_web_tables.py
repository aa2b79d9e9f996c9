"""The tables of the round under way: what spectators see of them, live and after a reconnect, and what they must not see."""

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from referee.host.home import HostHome
from referee.host.web import tables
from referee.host.web.routes import API, OTHERS, PAGES
from referee.league.plan import LeaguePlan
from referee.league.store import Store, store
from referee.umpire.fallback_player import fallback_move
from tests.host.sites import MadeSite, made_site
from tests.league.inprocess import at_random
from tests.league.ladders import Ladder

BOTS = {"random": at_random, "House": fallback_move, "anns-bot": at_random, "bobs-bot": at_random}
GAMES = 15
"""So many games of the second round are played: whole sets, and parts of others."""


@dataclass(frozen=True)
class Halfway:
    """A ladder in its second round. ``file``: its bytes; ``cut``: sets that have begun and are not over; ``games``: of those, by number."""

    file: bytes
    cut: frozenset[str]
    over: frozenset[str]
    games: dict[int, str]
    results: dict[int, Any]


@contextmanager
def a_clock() -> Iterator[None]:
    """Times in the store tell nothing of cards: they are counted."""
    ticks = count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "now", lambda: f"2026-01-01T{next(ticks) // 60 % 24:02}:00:00.000+00:00")
        yield


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Ladder]:
    """Makes copies of a ladder whose second round has begun."""
    folder = tmp_path_factory.mktemp("begun")
    number = count()
    with a_clock():
        ladder = Ladder(folder / "ladder.sqlite", BOTS, owners={"anns-bot": "ann"}, panel=("random",), sets=4)
        ladder.play(1)
        ladder.begin()
    file = ladder.path.read_bytes()

    def copy() -> Ladder:
        ladder.path = folder / f"{next(number)}.sqlite"
        ladder.path.write_bytes(file)
        return ladder

    return copy


def half_played(ladder: Ladder, turned: frozenset[str] = frozenset()) -> Halfway:
    """Plays a part of the open round. In these sets other packs are dealt than their master says."""
    dealt = LeaguePlan.pack
    with pytest.MonkeyPatch.context() as patch, a_clock():
        patch.setattr(
            LeaguePlan, "pack", lambda self, game, deal: dealt(self, game, deal)[:: -1 if game.set_id in turned else 1]
        )
        assert ladder.go_on(most=GAMES).open
    with Store.read(ladder.path) as found:
        (before,) = (sum(part["sets"] for part in one["tables"]) for one in ladder.rounds[:1])
        rows = found.tables(before)
        played = found.games_of(row.id for row in rows)
    cut = frozenset(row.id for row in rows if row.state == "OPEN" and row.games)
    over = frozenset(row.id for row in rows if row.state == "SCORED")
    games = {game.number: game.summary["set"] for game in played}
    results = {game.number: (game.result_digest, game.summary["points"]) for game in played}
    return Halfway(ladder.path.read_bytes(), cut, over, games, results)


@pytest.fixture(scope="module")
def half(begun: Callable[[], Ladder]) -> Halfway:
    return half_played(begun())


@contextmanager
def site_on(folder: Path, file: bytes) -> Iterator[MadeSite]:
    home = HostHome.beside(folder / "ladder.toml")
    home.make()
    home.ladder.write_bytes(file)
    with made_site(folder) as at:
        at.site.ladder.settle(300)
        yield at


def events_of(sent: bytes) -> list[dict[str, Any]]:
    """What the events of tables say, each with its id."""
    found = re.findall(rb"event: table\nid: (\d+)\ndata: (.*)\n", sent)
    told = [json.loads(data) for _, data in found]
    assert [int(number) for number, _ in found] == [one["game"] for one in told]
    return told


# Every route that anybody may look at, with what is asked of it here; a new one has to be put here.
LOOKED_AT = {
    "/": ["/"],
    "/bots/{name}": [f"/bots/{name}" for name in BOTS],
    "/bots/{name}/feed.atom": [f"/bots/{name}/feed.atom" for name in BOTS],
    "/feed.atom": ["/feed.atom"],
    "/games/{id}": [],  # and the next: asked by number
    "/bots/{name}/worst/{id}": [],
    "/tables": ["/tables"],
    "/rounds": ["/rounds"],
    "/rounds/{id}": ["/rounds/1", "/rounds/2"],
    "/api/v1/games.ndjson": ["/api/v1/games.ndjson", "/api/v1/games.ndjson?round=2"],
    "/api/v1/board": ["/api/v1/board"],
    "/api/v1/rounds": ["/api/v1/rounds"],
    "/metrics": ["/metrics"],
    "/healthz": ["/healthz"],
    "/events": ["/events"],
    "/tables/events": ["/tables/events?after=0", "/tables/events"],
}
NOTHING_OF_THE_LADDER = {
    *("/rules", "/enter", "/static/{name}", "/login", "/register", "/join/{secret}"),
    *("/bots/{name}/sources/{id}.zip", "/api/v1/entry", "/api/v1/openapi.json"),
}
FOR_SOMEBODY = {
    *("/me", "/submit", "/jobs/{id}", "/jobs/{id}/{page}", "/organiser"),
    *("/api/v1/me", "/api/v1/jobs/{id}", "/api/v1/jobs/{id}/events"),
}
TESTED_ALONE = {"/export", "/export/{name}"}
"""They have closed rounds and nothing else: tests/host/test_web_export.py, tests/host/test_retention.py."""

CHANCE = re.compile(
    rb'value="[0-9a-f]{64}"|<code>[0-9a-f]{16}</code>|referee_(?:request|disk)\S*( \S+)?|_created\S* \S+'
)
"""What is drawn by lot for each visitor, and what time a request took."""


def looked_at(at: MadeSite, games: range, secret: Iterable[int]) -> dict[str, bytes]:
    """All that a spectator gets. ``secret``: games of tables that still play."""
    paths = [path for paths in LOOKED_AT.values() for path in paths] + [f"/games/{number}" for number in games]
    paths += [f"/bots/{name}/worst/{number}" for name in BOTS for number in secret]
    found = {}
    for path in paths:
        if "events" in path:
            found[path] = at.stream(path, b"event: board" if path == "/events" else b"event: round")
        else:
            at.tick += 60
            answer = at.get(path)
            found[path] = CHANCE.sub(b"", b"%d " % answer.status_code + answer.content)
    return found


def test_no_byte_that_a_spectator_gets_depends_on_cards_still_in_play(
    begun: Callable[[], Ladder], half: Halfway, tmp_path: Path
) -> None:
    """Two ladders that are equal but for the packs of the sets that are under way: other rotations still play them."""
    other = half_played(begun(), turned=half.cut)
    assert half.cut
    assert half.over
    assert (other.cut, other.over, other.games) == (half.cut, half.over, half.games)
    differ = {number for number in half.games if half.results[number] != other.results[number]}
    assert differ == {number for number, its in half.games.items() if its in half.cut}
    seen = []
    for name, one in (("one", half), ("other", other)):
        (tmp_path / name).mkdir()
        with site_on(tmp_path / name, one.file) as at:
            secret = sorted(number for number, its in half.games.items() if its in half.cut)
            seen.append(looked_at(at, range(1, max(half.games) + 2), secret))
    for path in seen[0]:
        assert seen[0][path] == seen[1][path], path
    told = seen[0]["/tables"].decode()
    assert {f"/games/{number}" for number, its in half.games.items() if its in half.over} <= set(
        re.findall(r'href="(/games/\d+)"', told)
    )
    for number, its in half.games.items():
        assert seen[0][f"/games/{number}"].startswith(b"200 " if its in half.over else b"409 ")


def test_every_page_that_anybody_may_see_is_looked_at_for_cards_in_play() -> None:
    """The board of remote bots has the same pages, of another file."""
    routes = {route.path: route for route in (*API, *PAGES, *OTHERS) if "GET" in (route.methods or set())}
    remote = {path for path in routes if path.startswith("/remote")}
    for path in remote:
        assert routes[path].endpoint is routes[path.removeprefix("/remote") or "/"].endpoint
    public = routes.keys() - remote - {"/api/v1/remote/board", "/api/v1/remote/rounds", "/export/remote"}
    assert public == LOOKED_AT.keys() | NOTHING_OF_THE_LADDER | FOR_SOMEBODY | TESTED_ALONE


def test_what_came_of_a_table_is_told_with_its_last_game_and_shown_with_its_replays(
    half: Halfway, tmp_path: Path
) -> None:
    with site_on(tmp_path, half.file) as at:
        told = [one for one in events_of(at.stream("/tables/events?after=0", b"event: round")) if one["round"] == 2]
        page = at.get("/tables").text
    assert [one["game"] for one in told] == sorted(half.games)
    for one in told:
        its = half.games[one["game"]]
        is_last = its in half.over and one["over"] == one["games"]
        assert (one["got"] is not None) == is_last
        assert len(one["seats"]) == 3
        if is_last:
            assert {key for key, _ in one["got"]} == set(one["seats"])
            assert sum(float(got) for _, got in one["got"]) == pytest.approx(1.5, abs=0.01)
            assert one["played"] == sorted(number for number, of in half.games.items() if of == its)
            assert f'<li value="{one["table"]}">' in page
    assert sum(one["got"] is not None for one in told) == len(half.over)
    assert page.count("<tr data-table=") == len(half.cut)
    assert f"{len(half.over)} of 6 tables" in page
    assert "Round 2, being played" in page


def test_a_reconnect_gets_the_same_events_from_the_store_as_from_memory(
    half: Halfway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "memory").mkdir()
    with site_on(tmp_path / "memory", half.file) as at:
        whole = at.stream("/tables/events?after=0", b"event: round")
        later = at.stream("/tables/events?after=0", b"event: round", last=str(max(half.games) - 2))
        fresh = at.stream("/tables/events", b"event: round")
    monkeypatch.setattr(tables, "KEPT_EVENTS", 3)
    (tmp_path / "store").mkdir()
    with site_on(tmp_path / "store", half.file) as at:
        assert at.stream("/tables/events?after=0", b"event: round") == whole
        assert len(at.site.ladder.now.tables.events) == 3  # type: ignore[union-attr]
    assert [one["game"] for one in events_of(whole)] == list(range(1, max(half.games) + 1))
    assert events_of(later) == events_of(whole)[-2:]
    assert events_of(fresh) == []
    for asked in ("", "x", "-1", "9" * 30, "\u00b2"):
        with site_on(tmp_path / "store", half.file) as at:
            assert events_of(at.stream(f"/tables/events?after={asked}", b"event: round")) == []


def test_a_table_whose_last_game_is_not_counted_yet_is_told_of_later(half: Halfway, tmp_path: Path) -> None:
    path = tmp_path / "ladder.sqlite"
    path.write_bytes(half.file)
    last = max(number for number, its in half.games.items() if its in half.over)
    db = sqlite3.connect(path)
    db.execute("UPDATE game_set SET state = 'OPEN' WHERE id = ?", (half.games[last],))
    db.commit()
    db.close()
    with site_on(tmp_path, path.read_bytes()) as at:
        told = events_of(at.stream("/tables/events?after=0", b"event: round"))
        page = at.get("/tables").text
    assert told[-1]["game"] == last - 1
    assert "3 of 3" in page
    assert f'href="/games/{last}"' not in page


def test_a_stream_of_events_holds_no_transaction_open(half: Halfway, tmp_path: Path) -> None:
    """Else the file that is written ahead of the ladder grows without end while somebody watches."""
    with site_on(tmp_path, half.file) as at:
        busy: list[Any] = []

        def write() -> None:
            db = sqlite3.connect(at.site.home.ladder)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("INSERT INTO fault (at, entrant, fault, sentence, log) VALUES ('', '', '', '', '')")
            db.commit()
            busy.append(db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())
            db.close()

        at.stream("/tables/events?after=0", b"event: round", meanwhile=write)
        assert busy == [(0, 0, 0)]


def test_before_a_round_and_after_it_the_page_says_so(begun: Callable[[], Ladder], tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    with made_site(tmp_path / "none") as at:
        assert "Nobody has played yet." in at.get("/tables").text
        assert events_of(at.stream("/tables/events?after=5", b"event: round")) == []
    ladder = begun()
    ladder.play(1)
    (tmp_path / "over").mkdir()
    with site_on(tmp_path / "over", ladder.path.read_bytes()) as at:
        page = at.get("/tables").text
        assert "Round 2 is over." in page
        assert "The whole round" in page
        assert "data-playing" not in page

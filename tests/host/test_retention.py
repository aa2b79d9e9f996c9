"""A host that keeps the records of its last rounds: the engine moves older ones to files, the site gives both away, backups hold them."""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from referee.host.backup import back_up, restore
from referee.host.client import HostAddress, HostClient, HostRequestError
from referee.host.disk import DiskRoom
from referee.host.home import HostHome
from referee.host.published import fetched_export
from referee.league.league import read_league
from referee.league.standings import standings_of
from referee.league.store import Exported, Store
from referee.league.store.export_format import MANIFEST, dumped
from referee.league.store.root_digests import roots
from referee.verification.verify import verify
from tests.host.hosted import HOST, Hosted, engine_of
from tests.host.sites import MadeSite, made_site

KEPT = f"{HOST}keep_rounds = 2\n"


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[Hosted]:
    made = Hosted(tmp_path, host=KEPT)
    yield made
    made.store.close()


def archives(home: HostHome) -> list[tuple[str, int, int]]:
    with Store.read(home.ladder) as store:
        return [(one["file"], one["first_round"], one["last_round"]) for one in store.archives()]


def play(hosted: Hosted, monkeypatch: pytest.MonkeyPatch, rounds: int) -> None:
    with engine_of(hosted, monkeypatch) as (engine, _):
        for _ in range(rounds):
            assert engine.step() is None


def test_the_engine_moves_the_records_of_old_rounds_to_files_between_rounds(
    hosted: Hosted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").mkdir()
    plain = Hosted(tmp_path / "plain")
    play(plain, monkeypatch, 7)
    plain.store.close()
    left = hosted.home.records / "rounds-1-2.jsonl.gz"
    left.write_bytes(b"of an engine that was killed before the ladder knew of it")
    play(hosted, monkeypatch, 4)
    assert archives(hosted.home) == []
    play(hosted, monkeypatch, 3)
    assert archives(hosted.home) == [("records/rounds-1-2.jsonl.gz", 1, 2), ("records/rounds-3-4.jsonl.gz", 3, 4)]
    told = []
    for home in (plain.home, hosted.home):
        with Store.read(home.ladder) as store:
            league = read_league(store)
            told.append((standings_of(store, league).to_json()["rows"][0]["entrant"], len(league.facts["rounds"])))
            told[-1] += (roots(store)["result_root"],)
    assert told[0] == told[1]
    with Store.read(hosted.home.ladder) as store:
        assert verify(store, archives=sorted(hosted.home.records.iterdir())).ok
        assert store.free_pages() == 0


def test_nothing_is_archived_while_the_disk_is_nearly_full(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    play(hosted, monkeypatch, 4)
    with engine_of(hosted, monkeypatch) as (engine, _):
        engine._room = lambda _: DiskRoom(1 << 20)
        waiting = engine.step()
    assert waiting is not None
    assert "nearly full" in waiting.line
    assert list(hosted.home.records.iterdir()) == []


def moved(hosted: Hosted, folder: Path) -> HostHome:
    """The host where a site of the tests looks for it."""
    hosted.store.close()
    home = HostHome.beside(folder / "ladder.toml")
    hosted.home.folder.rename(home.folder)
    return home


def fetched_from(at: MadeSite) -> HostClient:
    def answer(request: httpx.Request) -> httpx.Response:
        found = at.get(request.url.path)
        return httpx.Response(
            found.status_code, content=found.content, headers={"Content-Type": found.headers["content-type"]}
        )

    return HostClient(
        HostAddress.parse("http://localhost:1"), transport=httpx.MockTransport(answer), wait=lambda _: None
    )


def test_the_site_gives_old_rounds_away_as_files_and_whoever_verifies_it_fetches_both(
    hosted: Hosted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(hosted, monkeypatch, 5)
    home = moved(hosted, tmp_path)
    with made_site(tmp_path) as at:
        at.site.ladder.settle(60)
        with fetched_export("http://localhost:1", client=fetched_from(at)) as found:
            assert [one.name for one in found.archives] == ["rounds-1-2.jsonl.gz"]
            verdict = verify(Exported(found.folder), archives=found.archives)
        assert verdict.ok, str(verdict)
        assert verdict.archived == 0
        answer = at.get("/games/1")
        assert answer.status_code == 410
        assert "line 1 of /export/rounds-1-2.jsonl.gz" in answer.text
        assert str(tmp_path) not in answer.text
        assert at.get("/games/30").status_code == 200
        assert '<a href="/export/rounds-1-2.jsonl.gz">' in at.get("/rounds").text
        assert at.get("/api/v1/rounds").json()["rounds"][-1]["records"] == "rounds-1-2.jsonl.gz"
        for name in ("rounds-9-9.jsonl.gz", "..%2Fladder.sqlite", "ladder.sqlite"):
            assert at.get(f"/export/{name}").status_code == 404
        (home.records / "more.jsonl.gz").write_bytes(b"not the ladder's")
        assert at.get("/export/more.jsonl.gz").status_code == 404
        (home.records / "rounds-1-2.jsonl.gz").rename(tmp_path / "elsewhere")
        with fetched_export("http://localhost:1", client=fetched_from(at)) as found:
            assert found.archives == ()
            verdict = verify(Exported(found.folder))
        assert verdict.ok
        assert verdict.archived > 0
        damaged = (tmp_path / "elsewhere").read_bytes()[:-1] + b"x"
        (home.records / "rounds-1-2.jsonl.gz").write_bytes(damaged)
        with fetched_export("http://localhost:1", client=fetched_from(at)) as found:
            verdict = verify(Exported(found.folder), archives=found.archives)
        assert "archive: SHA-256 of rounds-1-2.jsonl.gz" in str(verdict)


def renamed(export: bytes, names: list[str]) -> bytes:
    """The archive of an export that names its archives otherwise."""
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(export)) as made, zipfile.ZipFile(written, "w") as other:
        for entry in made.infolist():
            data = made.read(entry)
            if entry.filename.endswith(MANIFEST):
                manifest = json.loads(data)
                manifest["archives"] = [{**manifest["archives"][0], "file": name} for name in names]
                data = dumped(manifest)
            other.writestr(entry.filename, data)
    return written.getvalue()


def test_a_host_that_names_archives_as_no_host_does_is_refused(
    hosted: Hosted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(hosted, monkeypatch, 5)
    moved(hosted, tmp_path)
    with made_site(tmp_path) as at:
        at.site.ladder.settle(60)
        export = at.get("/export").content
    asked = []
    for names in (["../x.jsonl.gz"], ["x"], ["/x.jsonl.gz"], ["a b.jsonl.gz"], ["a.jsonl.gz", "a.jsonl.gz"]):
        sent = renamed(export, names)

        def answer(request: httpx.Request, sent: bytes = sent) -> httpx.Response:
            asked.append(request.url.path)
            return httpx.Response(200, content=sent, headers={"Content-Type": "application/zip"})

        client = HostClient(HostAddress.parse("http://localhost:1"), transport=httpx.MockTransport(answer))
        with (
            pytest.raises(HostRequestError, match="names archives of old rounds as no host does"),
            fetched_export("http://localhost:1", client=client),
        ):
            pass
    assert set(asked) == {"/export"}


def test_a_backup_holds_the_records_of_old_rounds(
    hosted: Hosted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(hosted, monkeypatch, 5)
    back_up(hosted.home, tmp_path / "all.tar.gz", 1000.0)
    elsewhere = HostHome.beside(tmp_path / "elsewhere" / "ladder.toml")
    restore(tmp_path / "all.tar.gz", elsewhere)
    assert archives(elsewhere) == archives(hosted.home)
    with Store.read(elsewhere.ladder) as store:
        verdict = verify(store, archives=[elsewhere.folder / one for one, _, _ in archives(elsewhere)])
    assert verdict.ok
    assert verdict.archived == 0

"""The closed rounds of a host, fetched to be verified: whatever the host sends, it is verified, or refused in a sentence."""

import io
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.host.client import TRIES, HostAddress, HostClient, HostRequestError
from referee.host.published import fetched_export
from referee.league.export import write_export
from referee.league.league import read_league
from referee.league.store import Exported, Store
from referee.umpire.fallback_player import fallback_move
from referee.verification.verify import verify
from tests.league.inprocess import at_random, play_league
from tests.program import referee

URL = "https://pitch.example.org"
Answer = Callable[[httpx.Request], httpx.Response]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The export of a small league as a host sends it."""
    folder = tmp_path_factory.mktemp("published")
    path = play_league(folder / "small.sqlite", {"a": fallback_move, "b": at_random}, seats=2, sets=1, length="deal")
    with Store.read(path) as store:
        out = write_export(store, read_league(store), folder / "ladder-export", {})
    return zipped([(f"ladder-export/{file.name}", file.read_bytes()) for file in sorted(out.iterdir())])


def zipped(files: Sequence[tuple[str, bytes]]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return written.getvalue()


def host(*answers: Answer | bytes) -> tuple[HostClient, list[httpx.Request], list[float]]:
    """A host that answers so, one after another, and the last one for ever; what it was asked; what was waited."""
    asked: list[httpx.Request] = []
    waited: list[float] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        now = answers[min(len(asked), len(answers)) - 1]
        if isinstance(now, bytes):
            return httpx.Response(200, content=now, headers={"Content-Type": "application/zip"})
        return now(request)

    client = HostClient(
        HostAddress.parse(URL), "referee_secret", transport=httpx.MockTransport(answer), wait=waited.append
    )
    return client, asked, waited


def refusal(*answers: Answer | bytes) -> str:
    with pytest.raises(HostRequestError) as caught, fetched_export(URL, client=host(*answers)[0]):
        pass
    return str(caught.value)


def test_what_a_host_publishes_is_verified_and_nothing_of_it_stays(archive: bytes) -> None:
    client, asked, _ = host(archive)
    told: list[tuple[int, int]] = []
    with fetched_export(URL, lambda done, total: told.append((done, total)), client) as found:
        assert verify(Exported(found.folder)).ok
    assert not found.folder.exists()
    assert told[-1] == (len(archive), len(archive))
    assert [(str(one.url), "Authorization" in one.headers) for one in asked] == [(f"{URL}/export", False)]


def test_a_host_that_is_still_writing_is_waited_for_and_not_for_ever(archive: bytes) -> None:
    def busy(_: httpx.Request) -> httpx.Response:
        return httpx.Response(503, json={"error": "It is being written out."}, headers={"Retry-After": "30"})

    client, _, waited = host(busy, busy, archive)
    with fetched_export(URL, client=client) as found:
        assert verify(Exported(found.folder)).ok
    assert waited == [30, 30]
    client, asked, _ = host(busy)
    with pytest.raises(HostRequestError, match="It is being written out"), fetched_export(URL, client=client):
        pass
    assert len(asked) == TRIES


def test_what_is_no_host_or_has_no_round_yet_is_told() -> None:
    assert (
        refusal(lambda _: httpx.Response(404, json={"error": "No round is closed yet."})) == "No round is closed yet."
    )
    assert "is not a host of referee" in refusal(lambda _: httpx.Response(200, text="<h1>Hello</h1>"))
    elsewhere = refusal(lambda _: httpx.Response(302, headers={"Location": "https://x.example"}))
    assert elsewhere == f"{URL} sends us on to https://x.example, and that was not asked for; give that address"

    def breaks(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    assert "cannot be reached" in refusal(breaks)


@pytest.mark.parametrize(
    "names",
    [
        ["../manifest.json"],
        ["/manifest.json"],
        ["a/b/manifest.json"],
        ["manifest.json", "x/manifest.json"],
        ["manifest.exe"],
        ["C:\\manifest.json"],
        [f"part{'x' * number}.json" for number in range(41)],
    ],
)
def test_nothing_is_unpacked_that_no_export_has(names: list[str]) -> None:
    assert f"{URL} sends an export that cannot be read" in refusal(zipped([(name, b"{}") for name in names]))


def test_a_redirect_of_the_same_host_is_followed(archive: bytes) -> None:
    moved: Answer = lambda _: httpx.Response(308, headers={"Location": "/pitch/export"})  # noqa: E731
    client, asked, _ = host(moved, archive)
    with fetched_export(URL, client=client) as found:
        assert verify(Exported(found.folder)).ok
    assert [one.url.path for one in asked] == ["/export", "/pitch/export"]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_nothing_is_unpacked_in_a_way_that_no_export_is(archive: bytes, method: int) -> None:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", method) as other:
        other.writestr("manifest.json", b"{}" * 100)
    sent = written.getvalue()
    for garbled in (sent, sent.replace(sent[50:60], b"0123456789")):
        assert "sends an export that cannot be read" in refusal(garbled)


def test_an_archive_that_lists_without_end_fills_no_memory() -> None:
    names = [(f"{number:06}.json", b"") for number in range(60_000)]
    assert "sends an export that cannot be read" in refusal(zipped(names))


def test_a_bomb_is_refused_before_it_fills_the_disk() -> None:
    assert "times as large as it comes" in refusal(zipped([("games.jsonl", bytes(40 << 20))]))


def test_a_garbled_archive_is_refused_or_verified_as_garbled(archive: bytes) -> None:
    @settings(max_examples=60, deadline=None)
    @given(st.integers(0, len(archive) - 1), st.integers(1, 255), st.booleans())
    def tried(place: int, change: int, cut: bool) -> None:
        sent = archive[:place] if cut else archive[:place] + bytes([archive[place] ^ change]) + archive[place + 1 :]
        try:
            with fetched_export(URL, client=host(sent)[0]) as found:
                assert (found.folder / "manifest.json").exists() or not cut
        except HostRequestError as error:
            assert str(error).isprintable()  # noqa: PT017  # either is right here

    tried()


def test_the_command_line_says_which_host_cannot_be_verified(tmp_path: Path) -> None:
    told = referee(tmp_path, "verify", "http://127.0.0.1:9")
    assert told.returncode == 1
    assert "http://127.0.0.1:9 cannot be reached" in told.stderr
    assert "Traceback" not in told.stderr
    told = referee(tmp_path, "verify", "https://")
    assert told.returncode == 2
    assert "no address of a host" in told.stderr

"""A host over many rounds: no descriptor stays open, no file is left behind, and what is held in memory is what is shown."""

import contextlib
import gc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.host.web.ladder_watch import LadderWatch
from referee.league.store import Store
from tests.host.hosted import HOST, Hosted, engine_of

ROUNDS = 30
FIRST = 12
"""By then all that is made once has been made."""

FOR_A_ROUND = 60
"""Objects that may be held of a round more: what the site shows of it. Some 24 are."""


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[Hosted]:
    made = Hosted(tmp_path, host=f"{HOST}keep_rounds = 4\n")
    yield made
    made.store.close()


def descriptors() -> list[str]:
    found = []
    for one in list(Path("/proc/self/fd").iterdir()):
        with contextlib.suppress(OSError):  # that of the list itself
            found.append(str(one.readlink()))
    return sorted(found)


def held() -> Counter[str]:
    gc.collect()
    return Counter(type(one).__name__ for one in gc.get_objects())


def test_over_thirty_rounds_engine_and_site_hold_no_more_than_what_is_shown(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = LadderWatch(hosted.home.ladder, lambda: 0.0, aside=False, kept=hosted.home.board)
    try:
        with engine_of(hosted, monkeypatch) as (engine, _):
            for number in range(1, ROUNDS + 1):
                assert engine.step() is None
                watch.settle(60)
                if number == FIRST:
                    open_then, then = descriptors(), held()
            now = held()
            more = now - then
            assert descriptors() == open_then
            assert more.total() <= FOR_A_ROUND * (ROUNDS - FIRST), more.most_common(10)
    finally:
        watch.close()
    with Store.read(hosted.home.ladder) as store:
        last = store.archives()[-1]
        assert ROUNDS - 8 < last["last_round"] <= ROUNDS - 4
        assert store.free_pages() == 0
    names = {path.name for path in hosted.home.records.iterdir()}
    assert len(names) == last["last_round"] // 4
    assert not [name for name in names if not name.startswith("rounds-")]
    assert len(hosted.rounds()) == ROUNDS

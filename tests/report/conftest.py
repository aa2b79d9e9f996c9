"""Leagues that several tests look at; each is played once a run of a worker."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.league.league import League
from referee.league.store import Store
from referee.report.report_data import ReportData, collect
from tests.report.made_leagues import PLAYERS, make_league, open_league


@pytest.fixture(scope="session")
def league_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished league of three in twelve sets: one sound, one by chance, one that slips."""
    return make_league(tmp_path_factory.mktemp("league") / "three.sqlite", PLAYERS)


@pytest.fixture
def opened(league_path: Path) -> Iterator[tuple[Store, League]]:
    """The store of that league, open for looking."""
    store, league = open_league(league_path)
    with store:
        yield store, league


@pytest.fixture
def facts(opened: tuple[Store, League]) -> ReportData:
    """All facts of that league."""
    return collect(*opened)

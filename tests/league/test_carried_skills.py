"""TrueSkill of a ladder goes on from where it was: the same digits as from scratch, whoever comes, goes, or meddles."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.league import standings as standings_module
from referee.league.ladder import finish
from referee.league.league import read_league
from referee.league.schedule.schedule import read_schedule
from referee.league.standings import standings_of, table_from
from referee.league.store import Store
from referee.statistics import trueskill_ratings
from referee.statistics.results import GameSet, Measures, PlayedGame, place_points
from referee.statistics.trueskill_ratings import SkillRater, SkillState, rate_skills, rate_skills_from
from referee.umpire.fallback_player import fallback_move
from referee.verification.verify import verify
from tests.league.inprocess import at_random
from tests.league.ladders import Ladder


def made_sets(number: int, bots: str = "abcdef", seed: int = 1) -> list[GameSet]:
    """Sets of three games at tables of three, with ties."""
    rng, made = random.Random(seed), []  # noqa: S311
    for at in range(number):
        table = rng.sample(bots, 3)
        games = []
        for rotation in range(3):
            seats = tuple(table[rotation:] + table[:rotation])
            places = tuple(rng.choice([(1, 2, 3), (2, 1, 3), (1, 1, 3), (3, 2, 1), (1, 2, 2)]))
            measures = Measures(place_points(places), (0.0,) * 3, (0.0,) * 3)
            games.append(PlayedGame(set_id=f"s{at}", entrants=seats, places=places, sides=0, measures=measures))
        made.append(games)
    return made


def through_json(states: list[SkillState]) -> list[SkillState]:
    """As a store keeps them."""
    kept: list[SkillState] = json.loads(json.dumps(states))
    return kept


@settings(max_examples=20)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=8), st.integers(0, 1 << 16))
def test_carried_on_in_any_steps_every_digit_is_the_same_as_from_scratch(steps: list[int], seed: int) -> None:
    sets = made_sets(sum(steps), seed=seed)
    states: list[SkillState] = []
    done = 0
    for step in steps:
        done += step
        table, states = rate_skills_from(through_json(states), sets[:done], "ax")
        assert table == rate_skills(sets[:done], "ax")
        assert states[-1]["sets"] == done
        assert len(states) <= 13


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sets that are rated from now on."""
    rated: list[str] = []
    add = SkillRater.add_set

    def noted(rater: SkillRater, games: GameSet) -> None:
        rated.append(games[0].set_id)
        add(rater, games)

    monkeypatch.setattr(SkillRater, "add_set", noted)
    return rated


def test_only_new_sets_are_rated_and_of_a_changed_past_what_follows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = made_sets(200)
    _, states = rate_skills_from([], sets)
    rated = counted(monkeypatch)
    rate_skills_from(states, [*sets, *made_sets(203)[200:]])
    assert rated == ["s200", "s201", "s202"]
    rated.clear()
    fewer = [*sets[:190], *sets[191:]]  # somebody who played late has gone
    assert rate_skills_from(states, fewer)[0] == rate_skills(fewer)
    assert len(rated) - len(fewer) <= 20
    rated.clear()
    other = [sets[0][::-1], *sets[1:]]  # other results from the first set on
    assert rate_skills_from(states, other)[0] == rate_skills(other)
    assert len(rated) == 2 * len(other)


def test_what_is_no_state_of_these_sets_is_not_gone_on_from() -> None:
    sets = made_sets(20)
    _, states = rate_skills_from([], sets[:10])
    good = states[-1]
    key = next(iter(good["ratings"]))
    wrong: list[Any] = [
        {**good, "digest": "0" * 64},
        {**good, "sets": 9},
        {**good, "ratings": {**good["ratings"], key: (float("nan"), 0.0, 1)}},
        {**good, "ratings": {**good["ratings"], key: (-1.0, 0.0, 1)}},
        {**good, "ratings": {**good["ratings"], key: ("x", 0.0, 1)}},
        {**good, "ratings": {**good["ratings"], key: (1.0, 0.0)}},
    ]
    for state in wrong:
        assert rate_skills_from([state], sets)[0] == rate_skills(sets)


def from_scratch(path: Path) -> str:
    with Store.read(path) as store:
        league = read_league(store)
        return json.dumps(table_from(league, read_schedule(store), store.sets(), store.games()).to_json())


def test_the_standings_of_a_ladder_are_the_same_to_the_last_digit_and_rate_no_old_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    players = {"a": at_random, "b": fallback_move, "c": at_random, "d": at_random}
    ladder = Ladder(tmp_path / "ladder.sqlite", players)
    rated = counted(monkeypatch)
    for change in ("none", "none", "comes", "new version", "goes", "none"):
        if change == "comes":
            ladder.come("e", at_random)
        elif change == "new version":
            ladder.come("a", fallback_move)
        elif change == "goes":
            ladder.go("c")
        ladder.begin()
        for most in (4, 1 << 30):  # in the round, and after it
            ladder.go_on(most)
            rated.clear()
            with Store.read(ladder.path) as store:
                table = json.dumps(standings_of(store, read_league(store)).to_json())
                closed = sum(row.state == "SCORED" for row in store.sets())
            assert len(rated) <= (2 if most == 4 else 0), (change, closed)
            assert table == from_scratch(ladder.path), change
    with Store.read(ladder.path) as store:
        assert store.skills()
        assert "skills" not in store.league()
        assert verify(store).ok
    with Store.write(ladder.path) as store:
        finish(store, read_league(store))
        verdict = verify(store)
        assert verdict.ok, str(verdict)


def test_notes_that_were_meddled_with_are_found(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder.sqlite", {"a": at_random, "b": fallback_move, "c": at_random, "d": at_random})
    ladder.play(2)
    with Store.read(ladder.path) as store:
        states = store.skills()
    precision, weighted, games = states[-1]["ratings"]["a"]
    states[-1]["ratings"]["a"] = (precision, weighted * 1.5, games)
    for value, said in ((states, "TrueSkill after"), ("no list", ""), ([{"sets": 1}], ""), ([7], "")):
        with Store.write(ladder.path) as store:
            store.put(skills=value)
        with Store.read(ladder.path) as store:
            verdict = verify(store)
            assert (said in str(verdict.findings)) if said else verdict.ok
            standings_of(store, read_league(store))
    assert from_scratch(ladder.path)


def test_another_version_of_the_package_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = made_sets(10)
    _, states = rate_skills_from([], sets)
    monkeypatch.setattr(trueskill_ratings, "version", lambda _: "99")
    trueskill_ratings._first_digest.cache_clear()
    try:
        rated = counted(monkeypatch)
        rate_skills_from(states, sets)
        assert len(rated) == 10
    finally:
        trueskill_ratings._first_digest.cache_clear()
    assert standings_module.rate_skills_from is rate_skills_from

"""What is asked of a bot: games, filters, editions."""

import pytest

from referee.check.requirements import AREAS, Selection, SelectionError, requirements
from referee.rules import variant, variant_names
from referee.rules.conduct_clauses import CONDUCT, EDITIONS, ROBUST, WHOLE_BOOK
from referee.rules.rulebook import CLAUSES, Level, clauses_of

PITCH = variant("auction-pitch")


def ids(*games: str, **selection: object) -> set[str]:
    return set(requirements([variant(name) for name in games], Selection(**selection)).of)


def test_ids_are_unique_and_well_formed() -> None:
    names = [entry.id for entry in WHOLE_BOOK]
    assert len(set(names)) == len(names)
    for name in names:
        prefix, area, number = name.split("-")
        assert prefix == "AF"
        assert area in AREAS
        assert len(number) == 3
        assert number.isdigit()


def test_no_clause_of_the_book_is_forgotten() -> None:
    assert [entry.id for entry in WHOLE_BOOK] == [entry.id for entry in (*CLAUSES, *CONDUCT, *ROBUST)]
    asked = {key.partition("/")[0] for key in ids(*variant_names(), long=True)}
    everywhere = {entry.id for rules in map(variant, variant_names()) for entry in clauses_of(rules)}
    assert asked == everywhere | {entry.id for entry in (*CONDUCT, *ROBUST)}


def test_clauses_of_games_are_asked_for_each_game_and_those_of_conduct_once() -> None:
    keys = ids("auction-pitch", "cinch")
    assert {"AF-PLAY-003/variant:auction-pitch", "AF-PLAY-003/variant:cinch", "AF-PROTO-001"} <= keys
    assert "AF-PROTO-001/variant:cinch" not in keys
    assert "AF-BID-004/variant:auction-pitch" not in keys


def test_where_nobody_may_steal_the_clause_about_it_is_not_asked() -> None:
    assert "AF-BID-003/variant:smudge" not in ids("smudge")
    assert "AF-BID-003/variant:auction-pitch" in ids("auction-pitch")


@pytest.mark.parametrize(
    ("selection", "told"),
    [
        ({"rules": ("AF-FOO-001",)}, "no such rule"),
        ({"rules": ("AF-PLAY-003", "play")}, "--rule play"),
        ({"areas": ("LUCK",)}, "the areas are"),
        ({"edition": "1999.1"}, "no such edition"),
    ],
)
def test_filters_that_match_nothing_are_refused(selection: dict[str, object], told: str) -> None:
    with pytest.raises(SelectionError, match=told):
        Selection(**selection).check()


def test_filters_that_leave_nothing_in_this_game_are_refused() -> None:
    with pytest.raises(SelectionError, match="no rule that binds a bot in auction-pitch"):
        requirements([PITCH], Selection(rules=("AF-BID-004",)))
    with pytest.raises(SelectionError, match="no rule that binds"):
        requirements([PITCH], Selection(areas=("SCORE",)))
    with pytest.raises(SelectionError, match="no rule that binds"):
        requirements([PITCH], Selection(rules=("AF-PLAY-003",), areas=("BID",)))


def test_filters_select_by_pattern_and_area_in_any_case() -> None:
    assert ids("auction-pitch", rules=("af-play-00[23]",)) == {
        "AF-PLAY-002/variant:auction-pitch",
        "AF-PLAY-003/variant:auction-pitch",
    }
    assert {key.split("-")[1] for key in ids("auction-pitch", areas=("proto", "CLOCK"))} == {"PROTO", "CLOCK"}


def test_an_edition_freezes_the_rule_book() -> None:
    older = Selection(edition="2025.9")
    assert not any(older.wants(entry) for entry in WHOLE_BOOK)
    newest = Selection(edition=EDITIONS[-1], long=True)
    assert all(newest.wants(entry) for entry in WHOLE_BOOK)


def test_sentences_carry_the_house_rules() -> None:
    asked = requirements([variant("pidro")], Selection()).of
    assert "from 6 to 14" in asked["AF-BID-001/variant:pidro"].sentence
    assert asked["AF-PROTO-001"].sentence == CONDUCT[0].sentence


def test_growth_is_asked_of_long_runs_alone() -> None:
    assert "AF-ROBUST-007" not in ids("auction-pitch")
    assert "AF-ROBUST-007" in ids("auction-pitch", long=True)


def test_what_binds_is_all_but_info() -> None:
    asked = requirements([PITCH], Selection())
    assert {one.clause.level for one in asked.binding()} == {Level.MUST, Level.SHOULD}
    assert {one.clause.level for one in asked.of.values()} == set(Level)

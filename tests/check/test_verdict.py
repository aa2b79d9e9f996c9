"""From counts to verdicts and exit codes, and where the blame goes."""

import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.cards import PACK
from referee.check.judge import AcceptedBreach, Baseline, BaselineError, CheckExit, Verdict, judge, read_baseline
from referee.check.position import Position
from referee.check.requirements import Requirement, Requirements, Selection, requirements
from referee.check.results import INDEX, KEPT, RANK_OFF, SENTENCES, STATED, Attribution, Breach, Coverage
from referee.check.shrink import Witnesses
from referee.rules import variant
from referee.umpire.faults import Fault

PITCH = variant("auction-pitch")
PLAY = "AF-PLAY-003/variant:auction-pitch"
DAY = dt.date(2026, 6, 1)


def tally(*rules: str) -> Coverage:
    return Coverage(requirements([PITCH], Selection(rules=rules)))


def breach(rule: str, **more: Any) -> Breach:
    game = rule.split("-")[1] in ("BID", "PLAY")
    usual = {"variant": "auction-pitch" if game else "", "fault": Fault.ILLEGAL_ACTION, "sentence": "So it was."}
    return Breach(rule=rule, **({"phase": "random"} | usual | more))


def verdict(counted: Coverage, key: str, **more: Any) -> Verdict:
    rows = judge(counted, Witnesses(), **more).rows
    return next(row.verdict for row in rows if row.requirement.key == key)


def code(counted: Coverage, **more: Any) -> CheckExit:
    return judge(counted, Witnesses(), **more).exit_code


@pytest.mark.parametrize(("times", "told"), [(0, Verdict.UNTESTED), (2, Verdict.UNTESTED), (3, Verdict.PASS)])
def test_three_opportunities_make_a_pass(times: int, told: Verdict) -> None:
    counted = tally("AF-PLAY-003")
    counted.chance("AF-PLAY-003", "random", "auction-pitch", times)
    assert verdict(counted, PLAY) is told
    assert code(counted) is (CheckExit.CONFORMS if told is Verdict.PASS else CheckExit.INCOMPLETE)


def test_a_run_in_which_nothing_came_up_is_incomplete() -> None:
    assert code(tally()) is CheckExit.INCOMPLETE
    assert code(Coverage(Requirements())) is CheckExit.INCOMPLETE


def test_why_it_never_came_up_is_told() -> None:
    counted = tally("AF-CLOCK-002")
    counted.excuse("AF-CLOCK-002", "no long game fitted in")
    (row,) = judge(counted, Witnesses(), stopped="It was lost.").rows
    assert row.reason == "It never came up. no long game fitted in"
    (row,) = judge(tally("AF-CLOCK-001"), Witnesses(), stopped="It was lost.").rows
    assert row.reason == "It never came up. It was lost."


def test_one_breach_fails_however_often_it_was_kept() -> None:
    counted = tally("AF-PLAY-003")
    counted.chance("AF-PLAY-003", "random", "auction-pitch", 5000)
    counted.breach(breach("AF-PLAY-003"))
    assert verdict(counted, PLAY) is Verdict.FAIL
    assert code(counted) is CheckExit.FAILS


def test_a_crash_is_an_error_and_a_disconnect_a_failure() -> None:
    for fault, told in ((Fault.CRASH, Verdict.ERROR), (Fault.DISCONNECT, Verdict.FAIL)):
        counted = tally("AF-LIFE-002")
        counted.breach(breach("AF-LIFE-002", fault=fault))
        assert verdict(counted, "AF-LIFE-002") is told
        assert code(counted) is CheckExit.FAILS


def test_a_broken_should_warns_and_fails_only_where_strict() -> None:
    counted = tally("AF-LIFE-003")
    counted.chance("AF-LIFE-003", "farewell", times=3)
    counted.breach(breach("AF-LIFE-003"))
    assert verdict(counted, "AF-LIFE-003") is Verdict.WARN
    assert code(counted) is CheckExit.CONFORMS
    assert code(counted, strict=True) is CheckExit.FAILS


def test_a_should_that_never_came_up_alone_tests_nothing() -> None:
    assert code(tally("AF-LIFE-003")) is CheckExit.INCOMPLETE


def test_rules_that_do_not_apply_are_no_green_light() -> None:
    counted = tally("AF-ROBUST-002")
    counted.waive("AF-ROBUST-002", "it says that it has a memory")
    assert verdict(counted, "AF-ROBUST-002") is Verdict.NOT_APPLICABLE
    assert code(counted) is CheckExit.INCOMPLETE


def test_flaky_is_not_green() -> None:
    counted = tally("AF-CLOCK-001")
    counted.chance("AF-CLOCK-001", "random", times=500)
    counted.flaky["AF-CLOCK-001"] = "late once, not again"
    assert verdict(counted, "AF-CLOCK-001") is Verdict.FLAKY
    assert code(counted) is CheckExit.FAILS


def test_info_tells_and_never_counts() -> None:
    rows = judge(Coverage(requirements([PITCH], Selection())), Witnesses()).rows
    info = [row for row in rows if row.verdict is Verdict.INFO]
    assert {row.requirement.id for row in info} >= {"AF-SCORE-001", "AF-TRUMP-001"}
    assert not any(row.exercised for row in info)


def test_exercised_counts_musts_that_apply() -> None:
    counted = tally("AF-PLAY-*", "AF-LIFE-*")
    for rule in ("AF-PLAY-001", "AF-PLAY-002"):
        counted.chance(rule, "random", "auction-pitch", 3)
    counted.waive("AF-LIFE-001", "its process is not ours")
    judged = judge(counted, Witnesses())
    assert (len(judged.exercised), len(judged.applicable)) == (2, 5)


def test_what_is_not_asked_for_is_remembered() -> None:
    counted = tally("AF-BID-*")
    counted.breach(breach("AF-PLAY-003"))
    assert dict(counted.others) == {PLAY: 1}


def test_only_so_many_breaches_are_kept_the_simplest_ones() -> None:
    counted = tally("AF-PLAY-003")
    position = Position(rules=PITCH, seats=4, dealer=3, pack=PACK, actions=(2,), scores=())
    for number in range(5 * KEPT):
        counted.breach(breach("AF-PLAY-003", position=replace(position, deal=number)))
    score = counted.scores[PLAY]
    assert score.breaches == 5 * KEPT
    assert len(score.kept) <= 2 * KEPT
    assert score.simplest()[0].position.deal == 0


# Where the blame goes.


def stated(breaches: int) -> Coverage:
    counted = tally("AF-PLAY-*", "AF-ROBUST-002", "AF-LIFE-002")
    for rule in ("AF-ROBUST-002", "AF-PLAY-001", "AF-PLAY-002", "AF-PLAY-003"):
        counted.chance(rule, STATED, "auction-pitch" if "PLAY" in rule else "", 100)
    for _ in range(breaches):
        counted.breach(breach("AF-PLAY-003", phase=STATED))
    return counted


def test_breaches_go_to_the_rule_that_was_found_to_blame() -> None:
    counted = stated(50)
    shown = breach("AF-ROBUST-002", phase=STATED, sentence="It was tried.")
    counted.blamed[PLAY] = Attribution("AF-ROBUST-002", shown)
    row = next(row for row in judge(counted, Witnesses()).rows if row.requirement.id == "AF-ROBUST-002")
    assert (row.verdict, row.breaches) == (Verdict.FAIL, 50)
    assert row.witness is not None
    assert row.witness.breach.sentence == "It was tried."
    assert verdict(counted, PLAY) is Verdict.PASS


def test_and_to_no_other_as_long_as_nothing_was_tried() -> None:
    counted = stated(50)
    assert verdict(counted, PLAY) is Verdict.FAIL
    assert verdict(counted, "AF-ROBUST-002") is Verdict.PASS


def test_a_rule_that_does_not_apply_is_not_to_blame() -> None:
    counted = stated(50)
    counted.blamed[PLAY] = Attribution("AF-ROBUST-002", breach("AF-ROBUST-002", phase=STATED))
    counted.waive("AF-ROBUST-002", "it says that it has a memory")
    assert verdict(counted, PLAY) is Verdict.FAIL


def test_one_mistake_that_explains_several_rules_is_held_against_one_of_them() -> None:
    counted = stated(0)
    for number in range(9):
        rule = "AF-PLAY-001" if number < 6 else "AF-PLAY-002"
        counted.breach(breach(rule, causes=frozenset({(RANK_OFF, number)})))
    assert [row.requirement.id for row in judge(counted, Witnesses()).rows if row.breaches] == ["AF-PLAY-001"]
    row = next(row for row in judge(counted, Witnesses()).rows if row.breaches)
    assert (row.breaches, row.hint) == (9, SENTENCES[RANK_OFF])


def test_a_cause_has_to_explain_every_breach_and_more_than_one_answer() -> None:
    counted = stated(0)
    for number in range(9):
        counted.breach(breach("AF-PLAY-001", causes=frozenset({(RANK_OFF, 4), (INDEX, number)} if number else ())))
    (row,) = (row for row in judge(counted, Witnesses()).rows if row.breaches)
    assert row.hint == ""


def test_what_was_asked_and_never_answered_readably_is_not_untested() -> None:
    counted = tally("AF-BID-001", "AF-PROTO-001")
    for _ in range(200):
        counted.unheard(["AF-BID-001"], "auction-pitch")
        counted.breach(breach("AF-PROTO-001", variant="auction-pitch"))
    row = next(row for row in judge(counted, Witnesses()).rows if row.requirement.id == "AF-BID-001")
    assert row.verdict is Verdict.NOT_APPLICABLE
    assert row.reason == "It was asked 200 times, and no answer to it could be read: see AF-PROTO-001."


@pytest.mark.parametrize("faults", [(Fault.CRASH, Fault.DISCONNECT), (Fault.DISCONNECT, Fault.CRASH)])
def test_one_crash_among_other_losses_is_an_error(faults: tuple[Fault, ...]) -> None:
    counted = tally("AF-LIFE-002")
    for fault in faults:
        counted.breach(breach("AF-LIFE-002", fault=fault))
    assert verdict(counted, "AF-LIFE-002") is Verdict.ERROR


def test_a_perturbation_is_not_blamed_for_what_happens_without_it() -> None:
    counted = tally("AF-BID-001", "AF-ROBUST-006")
    counted.chance("AF-ROBUST-006", "pokes", times=6)
    counted.breach(breach("AF-ROBUST-006", because="AF-BID-001", variant="auction-pitch", phase="pokes"))
    assert verdict(counted, "AF-ROBUST-006") is Verdict.FAIL
    counted.breach(breach("AF-BID-001"))
    assert verdict(counted, "AF-ROBUST-006") is Verdict.PASS


# The baseline.


def baseline(*excuses: AcceptedBreach) -> Baseline:
    return Baseline("baseline.toml", excuses, DAY)


def excuse(rule: str, game: str = "", expires: dt.date | None = None) -> AcceptedBreach:
    return AcceptedBreach(
        rule=rule, variant=game, reason="known", issue="https://example.org/7", expires=expires, line=3
    )


def failing() -> Coverage:
    counted = tally("AF-PLAY-003")
    counted.chance("AF-PLAY-003", "random", "auction-pitch", 10)
    counted.breach(breach("AF-PLAY-003"))
    return counted


def test_an_accepted_breach_is_xfail_and_green() -> None:
    known = baseline(excuse("AF-PLAY-003"))
    assert verdict(failing(), PLAY, baseline=known) is Verdict.XFAIL
    assert code(failing(), baseline=known) is CheckExit.CONFORMS


def test_an_excuse_for_another_game_does_not_help() -> None:
    counted = failing()
    assert code(counted, baseline=baseline(excuse("AF-PLAY-003", "cinch"))) is CheckExit.FAILS


def test_an_excuse_that_is_not_needed_fails_with_the_line_to_delete() -> None:
    counted = tally("AF-PLAY-003")
    counted.chance("AF-PLAY-003", "random", "auction-pitch", 10)
    judged = judge(counted, Witnesses(), baseline=baseline(excuse("AF-PLAY-003")))
    assert judged.rows[0].verdict is Verdict.XPASS
    assert judged.rows[0].reason == "baseline.toml:3: AF-PLAY-003 passes: delete this entry"
    assert judged.exit_code is CheckExit.FAILS


def test_an_expired_excuse_fails() -> None:
    known = baseline(excuse("AF-PLAY-003", expires=dt.date(2026, 5, 31)))
    judged = judge(failing(), Witnesses(), baseline=known)
    assert judged.rows[0].verdict is Verdict.FAIL
    assert judged.baseline == (
        "baseline.toml:3: AF-PLAY-003 was accepted until 2026-05-31: fix the bot, or delete this entry",
    )
    still = judge(failing(), Witnesses(), baseline=baseline(excuse("AF-PLAY-003", expires=DAY)))
    assert still.exit_code is CheckExit.CONFORMS


def test_an_excuse_for_no_rule_fails() -> None:
    judged = judge(failing(), Witnesses(), baseline=baseline(excuse("AF-PLAY-003"), excuse("AF-PLAY-999")))
    assert judged.exit_code is CheckExit.FAILS
    assert judged.baseline == ("baseline.toml:3: AF-PLAY-999 is not a rule: delete this entry",)


def test_a_baseline_cannot_excuse_what_never_ran() -> None:
    assert code(tally("AF-PLAY-003"), baseline=baseline(excuse("AF-PLAY-003"))) is CheckExit.INCOMPLETE


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "write format = 1"),
        ("format = 1\nrules = 3", "unknown field rules"),
        ("format = 1\n[[accepted]]\nrule = 'AF-PLAY-003'", "reason is missing"),
        ("format = 1\n[[accepted]]\nreason = 'x'", "rule is missing"),
        ("format = 1\n[[accepted]]\nrule = 'A'\nreason = 'x'\nexpires = 'soon'", "a day such as"),
        ("format = 1\n[[accepted]]\nrule = 'A'\nreason = 'x'\nexpires = 2026-01-01T00:00:00", "a day such as"),
        ("format = 1\n[[accepted]]\nrule = 'A'\nreason = 'x'\nuntil = 'y'", ":2: unknown field until"),
        ("format = 1\naccepted = [{rule = 'A', reason = 'x'}]", "as a section"),
        ("format = ", "baseline.toml"),
    ],
)
def test_a_garbled_baseline_names_the_place_and_the_remedy(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "baseline.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(BaselineError, match=r"baseline\.toml") as caught:
        read_baseline(path, DAY)
    assert told in str(caught.value)


def test_a_missing_baseline_is_an_error_and_no_empty_one(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="No such file"):
        read_baseline(tmp_path / "none.toml", DAY)


def test_a_sound_baseline_is_read_with_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "baseline.toml"
    path.write_text(
        "format = 1\n\n# why\n[[accepted]]\nrule = 'AF-PLAY-003'\nvariant = 'cinch'\nreason = 'later'\n"
        "expires = 2027-01-31\n\n[[accepted]]\nrule = 'AF-BID-001'\nreason = 'never'\nissue = 'u'\n",
        "utf-8",
    )
    first, second = read_baseline(path, DAY).excuses
    assert first == AcceptedBreach(
        rule="AF-PLAY-003", variant="cinch", reason="later", issue="", expires=dt.date(2027, 1, 31), line=4
    )
    assert (second.rule, second.issue, second.line) == ("AF-BID-001", "u", 10)
    assert first.covers(
        Requirement(requirements([variant("cinch")], Selection()).of["AF-PLAY-003/variant:cinch"].clause, "cinch")
    )

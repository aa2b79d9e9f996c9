"""Every bad bot gets the verdict that its first lines state, and nobody else feels it."""

import re
import tempfile
from pathlib import Path

import pytest

from referee.umpire.faults import Fault
from referee.rules.conduct_clauses import WHOLE_BOOK
from referee.sandbox.process_tree import marker_of, owner, processes
from tests.badbots.leagues import BOXED, GOOD, BadBot, Findings, bad_bots, leg_of, legs, play

BOTS = bad_bots()
LEGS = [pytest.param(leg, marks=pytest.mark.needs("bwrap") if "boxed" in leg else ()) for leg in legs()]
PLAIN = re.compile(r"[\x20-\x7e]{10,400}")


def forfeits_of(bot: BadBot, findings: Findings) -> list[bool]:
    """Whether it lost each of its two games by forfeit; fewer where a game has no result."""
    records = [findings.records[key] for rotation in (0, 1) if (key := f"{bot.name}-{rotation}") in findings.records]
    lost = [[record["names"][seat] for seat in record["result"]["forfeits"]] for record in records]
    return [f"{bot.name} 1" in names for names in lost]


def check(bot: BadBot, findings: Findings) -> None:
    seen = findings.verdicts.get(bot.name, set())
    assert seen >= bot.verdict, findings.logs[bot.name]
    assert seen <= bot.verdict | bot.perhaps, (findings.sentences[bot.name], findings.logs[bot.name])
    for sentence in findings.sentences.get(bot.name, ()):
        assert PLAIN.fullmatch(sentence), sentence
        assert "Traceback" not in sentence
        assert "0x" not in sentence
    if bot.says:
        assert any(bot.says in sentence for sentence in findings.sentences[bot.name]), findings.sentences[bot.name]
    lost = forfeits_of(bot, findings)
    match bot.games:
        case "lost":
            assert lost == [True, True]
        case "lost in seat 2":
            assert lost == [False, True]
        case "played":
            assert lost == [False, False]
        case "none":
            assert lost == []
            assert bot.name in findings.withdrawn
        case other:
            assert other == "any"
            assert len(lost) == 2


@pytest.mark.parametrize("name", BOTS)
def test_a_bad_bot_gets_the_verdict_that_it_states(name: str) -> None:
    check(BOTS[name], play(leg_of(name)))


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize("name", sorted(BOXED))
def test_shut_in_it_gets_the_same_verdict(name: str) -> None:
    check(BOTS[name], play("boxed auction-pitch 0"))


@pytest.mark.parametrize("leg", LEGS)
def test_the_good_bots_are_blamed_for_nothing_and_their_own_games_are_what_they_always_are(leg: str) -> None:
    findings = play(leg)
    assert not set(GOOD) & findings.verdicts.keys()
    assert not set(GOOD) & findings.withdrawn.keys()
    assert {key: findings.digests[key] for key in findings.expected} == findings.expected
    assert len(findings.expected) == 2


@pytest.mark.parametrize("leg", LEGS)
def test_every_game_ends_with_a_result_unless_its_bot_was_given_up(leg: str) -> None:
    findings = play(leg)
    assert not findings.no_contests
    assert not findings.stalled
    given_up = {bot.name for bot in legs()[leg] if bot.games == "none"}
    assert findings.withdrawn.keys() == given_up
    assert len(findings.records) == 2 + 2 * (len(legs()[leg]) - len(given_up))


@pytest.mark.parametrize("leg", LEGS)
def test_nothing_is_left_running_or_lying_about(leg: str) -> None:
    play(leg)
    assert [pid for pid in processes() if (marker_of(pid) or "").startswith(owner())] == []
    assert list(Path(tempfile.gettempdir()).glob(f"bot-{owner()}.*")) == []


@pytest.mark.needs("bwrap")
def test_who_snoops_finds_much_outside_of_a_sandbox_and_nothing_inside() -> None:
    assert "FOUND" in play(leg_of("snoops")).logs["snoops"]
    assert "FOUND" not in play("boxed auction-pitch 0").logs["snoops"]


def test_what_the_bots_state_is_stated_in_the_words_of_the_referee() -> None:
    rules = {clause.id for clause in WHOLE_BOOK}
    for bot in BOTS.values():
        for verdict in bot.verdict | bot.perhaps:
            fault, *rule = verdict.split()
            assert fault in set(Fault)
            assert set(rule) <= rules
    assert len([bot for bot in BOTS.values() if not bot.verdict]) >= 6  # odd but legal
    assert {verdict.split()[0] for bot in BOTS.values() for verdict in bot.verdict} == set(Fault) - {
        Fault.TIMEOUT_GAME,
        Fault.RESOURCE_CPU,
        Fault.NO_CONTEST,
    }

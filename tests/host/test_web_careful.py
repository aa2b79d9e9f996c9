"""What a bot did where it lost most, beside what ``careful`` does; and what a bot prints, for its owner alone."""

import re
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from referee.bot._turn import Turn as BotTurn
from referee.check.ask import moments
from referee.host.home import HostHome
from referee.host.web.careful import CarefulAnswers, DecisionSeen, compared, worst_deal
from referee.host.web.limits import NotYetError
from referee.host.web.pages import shown_game
from referee.league.definition.shipped import shipped_folder
from referee.league.plan import log_file
from referee.protocol.translate import rule_set_message, turn_message
from referee.rules import action_text
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import Record
from tests.host.sites import MadeSite, made_site
from tests.league.inprocess import at_random, record_of
from tests.league.ladders import Ladder
from tests.program import PATIENCE


@pytest.fixture(scope="module")
def record() -> Record:
    return record_of({"a": at_random, "b": fallback_move, "c": at_random})


@pytest.fixture(scope="module")
def careful() -> ModuleType:
    """The sample bot as a module: its moves without a process."""
    spec = spec_from_file_location("careful", shipped_folder("sample_bots") / "python" / "careful" / "bot.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_worst_deal_is_the_one_that_cost_a_seat_most(record: Record) -> None:
    for seat in range(3):
        found = worst_deal(record, seat)
        assert found is not None
        behind = [
            max(deal["deltas"][:seat] + deal["deltas"][seat + 1 :]) - deal["deltas"][seat] for deal in record["deals"]
        ]
        assert behind[found.deal] == max(behind) == found.others - found.change
        assert record["deals"][found.deal]["deltas"][seat] == found.change
    assert worst_deal({**record, "deals": []}, 0) is None


def test_careful_decides_as_it_does_at_a_table_from_what_the_seat_saw(record: Record, careful: ModuleType) -> None:
    worst = worst_deal(record, 0)
    assert worst is not None
    found, asked = compared(record, worst.deal, 0), moments(record, worst.deal, 0)
    assert len(found) == len(asked) > 2
    for seen, moment in zip(found, asked, strict=True):
        turn = moment.position.turn()
        did = careful.choose(BotTurn(turn_message(turn), rule_set_message(turn.chair.rules, 1)))
        assert seen.careful == action_text(turn.kind, int(did))
        assert seen.done == moment.done
        assert turn.chair.seat == 0
        assert len(turn.legal) > 1
    assert {one.same for one in found} == {True, False}


def test_a_deal_is_worked_out_once_and_too_many_are_told_to_wait(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    from threading import Event

    go, asked = Event(), list[int]()

    def slow(_work: object, _: Record, deal: int, seat: int, **__: object) -> tuple[DecisionSeen, ...]:
        assert go.wait(PATIENCE)
        asked.append(deal)
        if deal == 99:
            raise OSError("no process")
        return (DecisionSeen("play", "AS", "", f"deal {deal}", str(seat)),)

    monkeypatch.setattr("referee.host.web.careful.aside", slow)
    answers = CarefulAnswers()
    try:
        for deal in (1, 1, *range(2, 9)):
            assert answers.of(5, deal, 0, lambda: record, 0.0) is None
        with pytest.raises(NotYetError, match="Many ask"):
            answers.of(5, 9, 0, lambda: record, 0.0)
        go.set()
        assert answers.of(5, 8, 0, lambda: record, PATIENCE) == (DecisionSeen("play", "AS", "", "deal 8", "0"),)
        assert asked == list(range(1, 9))
        for _ in range(2):  # what failed is tried again
            assert answers.of(5, 99, 0, lambda: record, PATIENCE) is None
        assert asked[8:] == [99, 99]
    finally:
        answers.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("ladder") / "ladder.sqlite"
    players = {"random": at_random, "House": fallback_move, "anns bot": at_random, "bobs": at_random}
    ladder = Ladder(path, players, owners={"anns bot": "ann", "bobs": "bob"})
    ladder.play(1)
    ladder.begin()
    ladder.go_on(most=4)
    return path.read_bytes()


@pytest.fixture
def at(tmp_path: Path, file: bytes) -> Iterator[MadeSite]:
    home = HostHome.beside(tmp_path / "ladder.toml")
    home.make()
    home.ladder.write_bytes(file)
    with made_site(tmp_path) as made:
        made.site.ladder.settle(300)
        yield made


def test_the_page_of_a_bot_leads_to_its_worst_deal_and_what_careful_does_there(
    at: MadeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.host.web.played._CAREFUL_S", PATIENCE)
    (path, *_) = re.findall(r'href="(/bots/anns%20bot/worst/\d+)"', at.get("/bots/anns%20bot").text)
    page = at.get(path).text
    number = int(path.rpartition("/")[2])
    record, row = shown_game(at.site.home.ladder, number)
    seat = row.summary["entrants"].index("anns bot")
    worst = worst_deal(record, seat)
    assert worst is not None
    assert f'href="/games/{number}#game-{number}-d{worst.deal}"' in page
    assert f"{worst.change:+d}" in page or "brought <bdi>anns bot</bdi> nothing" in page
    decisions = compared(record, worst.deal, seat)
    assert page.count("<tr><td>") == len(decisions)
    assert page.count("the same</span>") == sum(one.same for one in decisions)
    for one in decisions:
        assert f"<td>{one.hand}</td>" in page
    assert at.get(path.replace("anns%20bot", "nobody")).status_code == 404
    assert at.get("/bots/anns%20bot/worst/999").status_code == 404


def test_while_careful_is_asked_the_page_says_so(at: MadeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    def not_yet(*_: Any, **__: Any) -> None:
        return None

    monkeypatch.setattr(CarefulAnswers, "of", not_yet)
    (path, *_) = re.findall(r'href="(/bots/House/worst/\d+)"', at.get("/bots/House").text)
    page = at.get(path).text
    assert "is being asked" in page
    assert '<noscript><meta http-equiv="refresh"' in page


def test_the_log_of_a_bot_is_for_its_owner_and_organisers_alone(at: MadeSite) -> None:
    logs = at.site.home.ladder_logs
    logs.mkdir()
    for key, said in (("anns bot", "SECRET of ann \x1b[31m<b>"), ("bobs", "SECRET of bob")):
        log_file(logs, key).write_text("x" * 20_000 + said)
    ann, bob, chief = at.owner("ann"), at.owner("bob"), at.owner("chief", organiser=True)

    def seen(look: Callable[[str], Any]) -> list[str]:
        return [re.findall(r"SECRET of \w+", look(f"/bots/{bot}").text)[0:] for bot in ("anns%20bot", "bobs", "House")]

    assert seen(at.browser().get) == [[], [], []]
    assert seen(at.browser(ann).get) == [["SECRET of ann"], [], []]
    assert seen(at.browser(bob).get) == [[], ["SECRET of bob"], []]
    assert seen(at.browser(chief).get) == [["SECRET of ann"], ["SECRET of bob"], []]
    page = at.browser(ann).get("/bots/anns%20bot").text
    assert "\x1b" not in page
    assert "&lt;b&gt;" in page
    assert len(page) < 30_000


def test_no_two_bots_share_the_file_of_a_log(tmp_path: Path) -> None:
    keys = ["a b", "a_b", "a#2", "a-2", "a%20b", "a", "A", "a.1", "a@2", "a+b"]
    files = [log_file(tmp_path, key, slot) for key in keys for slot in (0, 1, 2)]
    assert len(set(files)) == len(files)
    assert {path.parent for path in files} == {tmp_path}

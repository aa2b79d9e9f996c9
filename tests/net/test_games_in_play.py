"""The games in play: who is asked and told what, and that an error of the referee spoils one game and no other."""

import logging
from typing import Any

import pytest

from referee.net.games_in_play import InProcessPlayer
from referee.net.open_turns import PendingTurn, Timeout, TurnAnswer, TurnSession
from referee.protocol import wire
from referee.protocol.translate import Malformed
from referee.umpire.fallback_player import fallback_move
from referee.umpire.faults import Consequence, Fault
from referee.umpire.umpire import Umpire
from referee.umpire.view import Turn
from tests.umpires import MOVE_US, Book, answers_to, first_choice, new_umpire


def told(session: TurnSession) -> wire.PlayResponse:
    message = session.flush(0)
    assert message is not None
    return message


def play_out(book: Book, *sessions: TurnSession) -> None:
    """Bots that answer everything, until no game is left."""
    while book.games_in_play.seated:
        for session in sessions:
            book.games_in_play.answered(session.heard(answers_to(session.flush(0)), 0))


def test_players_in_process_play_a_game_to_its_end_at_once() -> None:
    book = Book()
    book.games_in_play.open(new_umpire(1), [InProcessPlayer(fallback_move), InProcessPlayer(fallback_move)])
    assert list(book.records) == ["game-1"]
    assert not book.games_in_play.seated
    assert not book.rulings


def test_a_session_is_asked_when_its_turn_comes_and_the_rest_is_played_without_it() -> None:
    book, session = Book(), TurnSession(MOVE_US)
    book.games_in_play.open(
        new_umpire(1, seats=3), [InProcessPlayer(fallback_move), session, InProcessPlayer(fallback_move)]
    )
    assert [turn.seat for turn in told(session).turns] == [1]
    session.lost_stream(cautious=False)
    play_out(book, session)
    assert list(book.records) == ["game-1"]


def test_who_wants_news_gets_each_game_from_its_start_to_its_end_in_order() -> None:
    book, curious, other = Book(), TurnSession(MOVE_US), TurnSession(MOVE_US)
    curious.wants_notices = True
    book.games_in_play.open(new_umpire(1), [curious, other])
    news = []
    while book.games_in_play.seated or curious.waiting:
        for session in (curious, other):
            message = session.flush(0)
            if session is curious and message:
                news += [notice.WhichOneof("news") for notice in message.notices]
                over = [notice.game_over for notice in message.notices if notice.HasField("game_over")]
            book.games_in_play.answered(session.heard(answers_to(message), 0))
    message = curious.flush(0)
    if message:
        news += [notice.WhichOneof("news") for notice in message.notices]
        over = [notice.game_over for notice in message.notices if notice.HasField("game_over")]
    assert news[0] == "game_started"
    assert set(news[1:-1]) == {"deal_over"}
    assert news[-1] == "game_over"
    assert list(over[0].places) == book.records["game-1"]["result"]["places"]
    assert not list((other.flush(0) or wire.PlayResponse()).notices)


def test_a_ruling_is_told_to_its_seat_alone_and_to_the_organiser() -> None:
    book, wrong, other = Book(), TurnSession(MOVE_US), TurnSession(MOVE_US)
    book.games_in_play.open(new_umpire(1, seats=3), [other, wrong, other])
    (turn,) = told(wrong).turns
    book.games_in_play.answered(wrong.heard([wire.Move(turn_id=turn.turn_id, bid=15)], 5))
    ((key, ruling),) = book.rulings
    assert (key, ruling.seat, ruling.fault, ruling.consequence) == (
        "game-1",
        1,
        Fault.ILLEGAL_ACTION,
        Consequence.SUBSTITUTED,
    )
    (message,) = told(wrong).rulings
    assert message.turn_id == turn.turn_id
    assert not told(other).rulings


def test_a_silence_is_ruled_as_a_time_out() -> None:
    book, session = Book(), TurnSession(MOVE_US)
    umpire = new_umpire(1)
    book.games_in_play.open(umpire, [session, session])
    assert umpire.open is not None
    book.games_in_play.silent(Timeout(PendingTurn(umpire, umpire.open), 4 * MOVE_US, hung=False))
    assert [ruling.rule for _, ruling in book.rulings] == ["AF-CLOCK-001"]


def test_a_lost_player_forfeits_its_game_and_the_others_play_on() -> None:
    book, lost, other = Book(), TurnSession(MOVE_US), TurnSession(MOVE_US)
    umpires = [new_umpire(1, seats=3), new_umpire(2, seats=3)]
    for umpire in umpires:
        book.games_in_play.open(umpire, [lost, other, other])
    assert book.games_in_play.umpires_of(lost) == umpires
    book.games_in_play.lose(umpires[0], lost, Fault.CRASH, "It crashed with SIGSEGV.")
    play_out(book, lost, other)
    first, second = (book.records[f"game-{number}"]["result"] for number in (1, 2))
    assert first["forfeits"] == [0]
    assert first["places"][0] == 3
    assert not second["forfeits"]


def test_partners_of_one_session_are_lost_together() -> None:
    book, lost, other = Book(), TurnSession(MOVE_US), TurnSession(MOVE_US)
    umpire = new_umpire(1, seats=4, game="partnership-pitch")
    book.games_in_play.open(umpire, [lost, other, lost, other])
    book.games_in_play.lose(umpire, lost, Fault.PROTOCOL, "It sent too much.")
    assert book.records["game-1"]["result"]["winner"] == 1
    assert not book.games_in_play.seated


def test_an_abandoned_game_has_no_record_and_its_reason() -> None:
    book, session = Book(), TurnSession(MOVE_US)
    umpire = new_umpire(1)
    book.games_in_play.open(umpire, [session, session])
    book.games_in_play.abandon(umpire, "the referee stalled")
    assert book.void == {"game-1": "the referee stalled"}
    assert session.seats == 0
    assert session.flush(0) is None


def test_answers_and_losses_that_come_after_the_end_change_nothing() -> None:
    book, session = Book(), TurnSession(MOVE_US)
    umpire = new_umpire(1)
    book.games_in_play.open(umpire, [session, session])
    (turn,) = told(session).turns
    book.games_in_play.abandon(umpire, "test")
    book.games_in_play.answered(session.heard([wire.Move(turn_id=turn.turn_id, bid=2)], 1))
    book.games_in_play.lose(umpire, session, Fault.CRASH, "late")
    book.games_in_play.abandon(umpire, "once more")
    assert book.void == {"game-1": "test"}
    assert not book.rulings


# Errors of our own


class Failing(Umpire):
    """An umpire that fails at a step, or with a method, that the test names."""

    fails_in = ""

    def answer(self, turn_id: int, action: int, charged_us: int) -> Any:
        self._perhaps("answer")
        return super().answer(turn_id, action, charged_us)

    def malformed(self, *said: Any) -> Any:
        self._perhaps("malformed")
        return super().malformed(*said)

    def late(self, turn_id: int, charged_us: int) -> Any:
        self._perhaps("late")
        return super().late(turn_id, charged_us)

    def lose(self, seat: int, fault: Fault, sentence: str) -> Any:
        self._perhaps("lose")
        return super().lose(seat, fault, sentence)

    def _perhaps(self, where: str) -> None:
        if where == self.fails_in:
            raise KeyError("CARD_QH")


def failing(where: str) -> Failing:
    umpire = new_umpire(1, seats=3)
    umpire.__class__ = Failing
    assert isinstance(umpire, Failing)
    umpire.fails_in = where
    return umpire


@pytest.mark.parametrize("where", ["answer", "malformed", "late", "lose"])
def test_an_error_of_the_umpire_makes_its_game_no_contest_and_no_other(
    where: str, caplog: pytest.LogCaptureFixture
) -> None:
    book, session = Book(), TurnSession(MOVE_US)
    bad, good = failing(where), new_umpire(2, seats=3)
    for umpire in (bad, good):
        book.games_in_play.open(umpire, [session] * 3)
    first, second = told(session).turns
    pending = session.open[first.turn_id]
    if where == "late":
        book.games_in_play.silent(Timeout(pending, 5, hung=False))
    elif where == "lose":
        book.games_in_play.lose(bad, session, Fault.CRASH, "test")
    else:
        action = Malformed("AF-PROTO-001", "wrong") if where == "malformed" else pending.turn.legal[0]
        fine = TurnAnswer(session.open[second.turn_id], session.open[second.turn_id].turn.legal[0], b"", 5)
        book.games_in_play.answered([TurnAnswer(pending, action, b"", 5), fine])
        assert good.steps == 1  # the other answer of the same message is judged
    assert book.void == {"game-1": "the referee failed in this game; its log says how"}
    assert not book.rulings  # nobody is blamed
    assert list(book.games_in_play.seated) == [good]
    assert "CARD_QH" in caplog.text  # for the operator
    session.open.clear()
    assert good.open is not None
    session.waiting.clear()
    session.offer(good, good.open)
    play_out(book, session)
    assert list(book.records) == ["game-2"]


def test_an_error_in_what_is_told_of_a_finished_game_spoils_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The umpire has closed the game already when a notice cannot be made: it must not stay open for ever."""
    book, session = Book(), TurnSession(MOVE_US)
    session.wants_notices = True
    monkeypatch.setattr("referee.net.games_in_play.deal_over", lambda *_: 1 / 0)
    book.games_in_play.open(new_umpire(1), [session, InProcessPlayer(fallback_move)])
    play_out(book, session)
    assert list(book.void) == ["game-1"]


def test_an_error_of_a_player_in_process_is_ours(caplog: pytest.LogCaptureFixture) -> None:
    def fails(turn: Turn) -> int:
        raise ZeroDivisionError

    book = Book()
    book.games_in_play.open(new_umpire(1), [InProcessPlayer(fails), InProcessPlayer(fallback_move)])
    assert list(book.void) == ["game-1"]
    assert caplog.records[0].levelno == logging.ERROR


def test_a_game_that_cannot_be_dealt_is_no_contest() -> None:
    book, session = Book(), TurnSession(MOVE_US)
    umpire = new_umpire(1)
    umpire._packs = lambda _deal: ()
    book.games_in_play.open(umpire, [session, session])
    assert list(book.void) == ["game-1"]
    assert session.seats == 0


def test_first_choice_is_legal() -> None:
    """The tool of these tests is right about every kind of turn that it meets."""
    book, session = Book(), TurnSession(MOVE_US)
    for number, game in enumerate(("auction-pitch", "cinch", "all-fours", "california-jack"), 1):
        seats = 4 if game == "cinch" else 2
        book.games_in_play.open(new_umpire(number, game=game, seats=seats), [session] * seats)
    while book.games_in_play.seated:
        session.flush(0)
        book.games_in_play.answered(session.heard([first_choice(one) for one in session.open.values()], 0))
    assert len(book.records) == 4
    assert not book.rulings

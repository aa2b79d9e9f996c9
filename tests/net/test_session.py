"""A bot's session on a clock of its own: what is sent when, what is charged, and what silence means."""

from referee.net.open_turns import PendingTurn, Timeout, TurnAnswer, TurnSession
from referee.protocol import wire
from referee.protocol.translate import Malformed
from referee.rules.conduct_clauses import STRAYS
from referee.umpire.faults import Fault
from tests.umpires import BANK_US, MOVE_US, Book, answers_to, first_choice, new_umpire

LIMIT = MOVE_US + BANK_US


def asked(number: int) -> PendingTurn:
    """A turn that is open in a game of its own."""
    umpire = new_umpire(number)
    umpire.start()
    assert umpire.open is not None
    return PendingTurn(umpire, umpire.open)


def session_with(turns: int, **terms: int) -> tuple[TurnSession, list[PendingTurn]]:
    """A session that turns are waiting for."""
    session = TurnSession(MOVE_US, **terms)
    waiting = [asked(number) for number in range(1, turns + 1)]
    for one in waiting:
        session.offer(one.umpire, one.turn)
    return session, waiting


def ids(message: wire.PlayResponse | None) -> list[int]:
    return [turn.turn_id for turn in message.turns] if message else []


def moves(*pending: PendingTurn) -> list[wire.Move]:
    return [first_choice(one) for one in pending]


def charged(answers: list[TurnAnswer]) -> list[int]:
    return [answer.charged_us for answer in answers]


# Batches


def test_all_that_waits_goes_in_one_message_and_nothing_more_until_it_is_answered() -> None:
    session, (a, b, c) = session_with(3)
    assert ids(session.flush(0)) == [a.turn.turn_id, b.turn.turn_id, c.turn.turn_id]
    late_comer = asked(9)
    session.offer(late_comer.umpire, late_comer.turn)
    assert session.flush(1) is None
    session.heard(moves(a, c), 2)
    assert session.flush(3) is None
    session.heard(moves(b), 4)
    assert ids(session.flush(5)) == [late_comer.turn.turn_id]


def test_a_message_holds_no_more_turns_than_are_allowed() -> None:
    session, waiting = session_with(5, max_in_flight=2)
    sent = []
    while message := session.flush(0):
        sent.append(ids(message))
        session.heard(answers_to(message), 0)
    assert sent == [[one.turn.turn_id for one in waiting[i : i + 2]] for i in (0, 2, 4)]


def test_news_and_rulings_wait_for_the_answers_too_and_go_without_turns() -> None:
    session, (a,) = session_with(1)
    session.wants_notices = True
    session.flush(0)
    session.tell(wire.Ruling(turn_id=1))
    session.news(wire.Notice())
    assert session.flush(1) is None
    session.heard(moves(a), 2)
    message = session.flush(3)
    assert message is not None
    assert (len(message.rulings), len(message.notices), len(message.turns)) == (1, 1, 0)
    assert session.flush(4) is None
    assert session.deadline() is None


def test_news_is_only_for_those_who_want_it() -> None:
    session = TurnSession(MOVE_US)
    session.news(wire.Notice())
    assert session.flush(0) is None


def test_a_turn_whose_game_has_ended_meanwhile_is_not_sent() -> None:
    session, (a, b) = session_with(2)
    a.umpire.abandon("test")
    assert ids(session.flush(0)) == [b.turn.turn_id]
    session, (a,) = session_with(1)
    a.umpire.abandon("test")
    assert session.flush(0) is None
    assert session.deadline() is None


def test_a_turn_of_a_seat_that_has_forfeited_is_not_sent() -> None:
    umpire = new_umpire(1, seats=3)
    umpire.start()
    assert umpire.open is not None
    session = TurnSession(MOVE_US)
    session.offer(umpire, umpire.open)
    umpire.lose(umpire.open.chair.seat, Fault.CRASH, "test")
    assert umpire.open is not None  # another seat is asked now
    assert session.flush(0) is None


# The clock of a serial server


def test_a_message_is_charged_its_time_in_equal_parts() -> None:
    session, (a, b, c) = session_with(3)
    session.flush(1_000)
    assert charged(session.heard(moves(a, b), 61_000)) == [30_000, 30_000]
    assert charged(session.heard(moves(c), 71_000)) == [10_000]


def test_every_message_restarts_the_clock_however_many_turns_are_open() -> None:
    session, waiting = session_with(40)
    session.flush(0)
    now = 0
    for one in waiting:
        assert session.deadline() == now + LIMIT
        now += LIMIT - 1  # 40 turns at the very last moment each: not one is late
        assert session.silent(now) is None
        assert charged(session.heard(moves(one), now)) == [LIMIT - 1]
    assert session.deadline() is None


def test_on_silence_the_oldest_turn_alone_is_late() -> None:
    session, (a, b, c) = session_with(3)
    session.flush(0)
    session.heard(moves(a), 10)
    assert session.silent(10 + LIMIT - 1) is None
    silence = session.silent(10 + LIMIT)
    assert silence == Timeout(b, LIMIT, hung=False)
    assert list(session.open.values()) == [c]
    assert session.deadline() == 10 + 2 * LIMIT


def test_two_silences_in_a_row_are_a_hung_bot() -> None:
    session, (a, b, _) = session_with(3)
    session.flush(0)
    first, second = session.silent(LIMIT), session.silent(2 * LIMIT)
    assert first is not None
    assert second is not None
    assert (first.pending, first.hung) == (a, False)
    assert (second.pending, second.hung) == (b, True)


def test_an_answer_in_between_makes_two_silences_no_row() -> None:
    session, (_, b, _) = session_with(3)
    session.flush(0)
    assert session.silent(LIMIT) is not None
    session.heard(moves(b), LIMIT + 1)
    again = session.silent(2 * LIMIT + 1)
    assert again is not None
    assert not again.hung


def test_two_silences_are_in_a_row_across_messages() -> None:
    session, (a,) = session_with(1)
    session.flush(0)
    session.silent(LIMIT)
    b = asked(2)
    session.offer(b.umpire, b.turn)
    session.flush(LIMIT + 5)
    silence = session.silent(2 * LIMIT + 5)
    assert silence is not None
    assert silence.hung
    assert a.turn.turn_id not in session.open


def test_the_deadline_is_that_of_the_oldest_turn_with_its_own_bank() -> None:
    session, (a, b) = session_with(2)
    a.turn.bank_us, b.turn.bank_us = 0, 7
    session.flush(100)
    assert session.deadline() == 100 + MOVE_US
    session.heard(moves(a), 200)
    assert session.deadline() == 200 + MOVE_US + 7


def test_time_on_the_way_is_granted_with_every_message_and_never_charged() -> None:
    session, (a, b) = session_with(2, latency_us=500)
    session.flush(0)
    assert session.deadline() == LIMIT + 500
    assert charged(session.heard(moves(a), 400)) == [0]
    assert charged(session.heard(moves(b), 400 + 700)) == [200]


def test_the_charge_of_a_late_turn_is_never_below_nothing() -> None:
    session, (a,) = session_with(1, latency_us=10 * LIMIT)
    a.turn.move_us = a.turn.bank_us = 0
    session.flush(0)
    silence = session.silent(10 * LIMIT)
    assert silence is not None
    assert silence.charged_us == 0


def test_a_stall_of_the_referee_is_taken_off_and_told() -> None:
    session, (a, b) = session_with(2)
    session.flush(0)
    session.excuse(300_000, 400_000)
    session.excuse(100_000, 600_000)
    assert session.deadline() == 400_000 + LIMIT
    silence = session.silent(400_000 + LIMIT)
    assert silence is not None
    assert (silence.pending, silence.charged_us, silence.stalled_us) == (a, LIMIT, 300_000)
    assert charged(session.heard(moves(b), 400_000 + LIMIT + 9)) == [9]


def test_a_stall_counts_only_inside_the_silence_in_which_it_fell() -> None:
    session, (a, b, c, d) = session_with(4)
    session.excuse(400_000, 0)  # before anything was asked
    session.flush(0)
    session.excuse(500_000, 500_000)
    session.heard(moves(a), 600_000)
    first = session.silent(600_000 + LIMIT)
    assert first is not None
    assert (first.pending, first.stalled_us) == (b, 0)
    session.excuse(600_000, 600_000 + LIMIT)
    second = session.silent(600_000 + 2 * LIMIT)
    assert second is not None
    assert (second.pending, second.stalled_us) == (c, 600_000)
    third = session.silent(600_000 + 3 * LIMIT)
    assert third is not None
    assert (third.pending, third.stalled_us) == (d, 0)


def test_a_stall_never_moves_the_clock_beyond_now() -> None:
    session, (a,) = session_with(1)
    session.flush(1_000)
    session.excuse(5_000_000, 1_500)
    assert charged(session.heard(moves(a), 1_600)) == [100]


# What answers nothing


def test_time_without_a_processor_is_taken_off_the_silence_and_no_stall() -> None:
    session, (a,) = session_with(1)
    session.flush(0)
    session.starved(5, 4)  # it cannot have waited for longer than it was silent
    assert session.deadline() == LIMIT + 4
    session.starved(6, 100)
    assert session.silent(LIMIT + 9) is None
    assert session.silent(LIMIT + 10) == Timeout(a, LIMIT, False, 0)


def test_a_bot_that_always_lacks_a_processor_is_late_after_four_times_its_time() -> None:
    session, (_, b) = session_with(2)
    session.flush(0)
    now = late = 0
    while late == 0:
        now += LIMIT // 10
        session.starved(LIMIT // 10, now)
        late = now if session.silent(now) else 0
    assert late == 4 * LIMIT
    session.starved(LIMIT, now)  # the next turn has its own time
    assert session.deadline() == now + LIMIT
    session.starved(LIMIT, now + LIMIT)
    assert session.deadline() == now + 2 * LIMIT
    session.heard(moves(b), now + LIMIT)
    session.starved(7, now + LIMIT + 7)  # nothing is open
    assert session.deadline() is None


def test_a_late_answer_is_free_and_shows_that_the_bot_lives() -> None:
    session, (a, b, c) = session_with(3)
    session.flush(0)
    session.silent(LIMIT)
    assert session.heard(moves(a), LIMIT + 500) == []
    assert session.strays == 0
    assert session.deadline() == LIMIT + 500 + LIMIT
    silence = session.silent(2 * LIMIT + 500)
    assert silence is not None
    assert (silence.pending, silence.hung) == (b, False)
    assert list(session.open.values()) == [c]


def test_a_late_answer_is_free_once() -> None:
    session, (a,) = session_with(1)
    session.flush(0)
    session.silent(LIMIT)
    session.heard(moves(a) * 3, LIMIT + 1)
    assert session.strays == 2


def test_the_first_answer_counts_and_a_second_is_a_stray() -> None:
    session, (a, b) = session_with(2)
    session.flush(0)
    answers = session.heard(moves(a, a), 10)
    assert [answer.pending for answer in answers] == [a]
    assert session.heard(moves(a), 20) == []
    assert session.strays == 2
    assert charged(session.heard(moves(b), 30)) == [20]  # the stray did not stop the clock


def test_invented_ids_are_strays_and_do_not_stop_the_clock() -> None:
    session, _ = session_with(1)
    session.flush(0)
    assert session.heard([wire.Move(turn_id=n) for n in range(5000, 5000 + STRAYS + 1)], LIMIT - 1) == []
    assert session.strays == STRAYS + 1
    assert session.silent(LIMIT) is not None


def test_a_malformed_move_is_an_answer_with_its_bytes() -> None:
    session, (a,) = session_with(1)
    session.flush(0)
    wrong = wire.Move(turn_id=a.turn.turn_id, suit=wire.SUIT_HEARTS)
    (answer,) = session.heard([wrong], 10)
    assert isinstance(answer.action, Malformed)
    assert answer.action.rule == "AF-PROTO-001"
    assert answer.raw == wire.Move(suit=wire.SUIT_HEARTS).SerializeToString()  # ids differ between two runs


# Streams that end


def test_a_new_stream_gets_the_same_turns_in_the_same_order_again() -> None:
    session, (a, b, c) = session_with(3, max_in_flight=2)
    before = session.flush(0)
    session.lost_stream(cautious=False)
    after = session.flush(50)
    assert before == after
    assert ids(after) == [a.turn.turn_id, b.turn.turn_id]
    assert [answer.pending for answer in session.heard(moves(b, a), 60)] == [b, a]
    assert ids(session.flush(70)) == [c.turn.turn_id]


def test_time_away_counts_for_the_same_process() -> None:
    session, (a,) = session_with(1)
    session.flush(0)
    session.lost_stream(cautious=False)
    assert session.deadline() is None  # nothing is judged while it is away
    session.flush(2_000_000)
    assert session.deadline() == LIMIT
    assert charged(session.heard(moves(a), 2_500_000)) == [2_500_000]


def test_who_is_away_for_too_long_finds_the_oldest_turn_late() -> None:
    session, (a, b) = session_with(2)
    session.flush(0)
    session.lost_stream(cautious=False)
    session.flush(2 * LIMIT)
    silence = session.silent(2 * LIMIT)
    assert silence is not None
    assert (silence.pending, silence.hung) == (a, False)
    assert session.deadline() == 3 * LIMIT
    assert charged(session.heard(moves(b), 2 * LIMIT + 5)) == [5]


def test_a_turn_that_came_up_while_away_has_its_full_time() -> None:
    session, (a, b) = session_with(2, max_in_flight=1)
    session.flush(0)
    session.lost_stream(cautious=False)
    a.umpire.abandon("test")
    assert ids(session.flush(LIMIT)) == [b.turn.turn_id]
    assert session.deadline() == 2 * LIMIT
    assert session.heard(moves(a), LIMIT + 1) == []
    assert session.strays == 0  # it was asked before the stream was lost


def test_a_new_process_has_its_full_time_and_gets_one_turn_a_message() -> None:
    session, (a, b, c) = session_with(3)
    session.flush(0)
    session.lost_stream(cautious=True)
    sent, now = [], 10 * LIMIT
    for one in (a, b, c):
        message = session.flush(now)
        sent.append(ids(message))
        assert session.lone() == one
        assert session.deadline() == now + LIMIT
        session.heard(answers_to(message), now)
    assert sent == [[one.turn.turn_id] for one in (a, b, c)]
    for one in (asked(7), asked(8)):
        session.offer(one.umpire, one.turn)
    assert len(ids(session.flush(now))) == 2  # the danger is over
    assert session.lone() is None


def test_a_lost_stream_begins_a_new_row_of_silences() -> None:
    session, (_, b) = session_with(2)
    session.flush(0)
    session.silent(LIMIT)
    session.lost_stream(cautious=True)
    session.flush(LIMIT)
    silence = session.silent(2 * LIMIT)
    assert silence == Timeout(b, LIMIT, hung=False)


def test_a_retry_has_a_new_id_and_the_rest_of_the_time() -> None:
    book, session = Book(), TurnSession(MOVE_US)
    umpire = new_umpire(1, profile="dev")
    book.games_in_play.open(umpire, [session, session])
    first = session.flush(0)
    assert first is not None
    wrong = [wire.Move(turn_id=turn.turn_id, bid=15) for turn in first.turns]
    book.games_in_play.answered(session.heard(wrong, 400_000))
    second = session.flush(500_000)
    assert second is not None
    (old,), (new,) = first.turns, second.turns
    assert new.turn_id != old.turn_id
    assert (old.retry, new.retry, new.decision) == (0, 1, old.decision)
    assert (old.move_ms, new.move_ms, new.bank_ms) == (1000, 600, 3000)
    assert session.deadline() == 500_000 + 600_000 + BANK_US
    assert [ruling.outcome for ruling in second.rulings] == [wire.RULING_OUTCOME_RETRY]


def test_receipts_come_again_on_the_next_stream_until_the_bot_has_answered_after_them() -> None:
    session, (a, b) = session_with(2, max_in_flight=1)
    session.receipt(wire.Receipt(bot_seed=1))
    session.wants_receipts = True
    session.receipt(wire.Receipt(bot_seed=2))
    first = session.flush(0)
    assert first is not None
    assert [one.bot_seed for one in first.receipts] == [2]
    session.lost_stream(cautious=False)
    again = session.flush(1)
    assert again is not None
    assert [one.bot_seed for one in again.receipts] == [2]
    session.heard(moves(a), 2)
    session.lost_stream(cautious=True)
    after = session.flush(3)
    assert after is not None
    assert not after.receipts
    session.heard(moves(b), 4)
    session.receipt(wire.Receipt(bot_seed=3))
    assert [one.bot_seed for one in session.take_receipts()] == [3]
    assert session.flush(5) is None


def test_an_answer_that_is_taken_is_never_charged_more_than_it_had() -> None:
    session, (a,) = session_with(1)
    session.flush(0)
    deadline = session.deadline()
    assert deadline is not None
    (answer,) = session.heard(moves(a), deadline + 12_345)
    assert answer.charged_us == deadline

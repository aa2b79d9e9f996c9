"""A connection: what is made of every message of a bot, whatever bytes they are."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.net.connection import (
    MAX_MESSAGE_BYTES,
    START_SECONDS,
    BotConnection,
    BotStream,
    ConnectionObserver,
    JoinTerms,
)
from referee.net.open_turns import TurnAnswer
from referee.protocol import wire
from referee.rules.conduct_clauses import STRAYS
from referee.umpire.faults import Fault
from tests.umpires import Book, new_umpire

JOIN = wire.Join(name="bot", max_in_flight=64)


class Stream(BotStream):
    """A stream that knows how often it was cut, and told to write."""

    def __init__(self) -> None:
        super().__init__()
        self.cuts = self.wakings = 0

    def wake(self) -> None:
        self.wakings += 1

    def cut(self) -> None:
        self.cuts += 1


class Desk(ConnectionObserver):
    """A connection, what it was judged for, and what its supervisor was told."""

    def __init__(self, variant: str = "auction-pitch", **terms: Any) -> None:
        self.book, self.now = Book(), 0
        self.judged: list[TurnAnswer] = []
        self.losses = self.refusals = self.renewals = 0
        self.faults: list[tuple[Fault, str]] = []
        told = JoinTerms(
            name="careful", slot=0, variants=(variant,), joined=wire.Joined(move_ms=1000), move_us=1_000_000, **terms
        )
        self.connection = BotConnection("a token", told, self.judge, lambda: self.now)
        self.connection.observe(self)

    def judge(self, answers: Sequence[TurnAnswer]) -> None:
        self.judged += answers
        self.book.games_in_play.answered(answers)

    def stream_lost(self) -> None:
        self.losses += 1

    def join_refused(self) -> None:
        self.refusals += 1

    def faulted(self, fault: Fault, sentence: str) -> None:
        self.faults.append((fault, sentence))

    def renewed(self) -> None:
        self.renewals += 1

    def connect(self, join: wire.Join | None = JOIN) -> Stream:
        stream = Stream()
        assert self.connection.connect(stream)
        if join is not None:
            self.say(stream, wire.PlayRequest(join=join))
        return stream

    def say(self, stream: BotStream, request: wire.PlayRequest) -> None:
        self.connection.receive(stream, request.SerializeToString())

    def deal(self, number: int = 1) -> None:
        """A game in which this connection holds both seats."""
        self.book.games_in_play.open(new_umpire(number), [self.connection.session] * 2)
        self.connection.begin_game()


def farewell(stream: BotStream) -> tuple[int, str]:
    assert stream.farewell is not None
    return stream.farewell.reason, stream.farewell.sentence


# Join


def test_a_join_makes_the_connection_ready_and_greets_it() -> None:
    desk = Desk()
    stream = desk.connect(
        wire.Join(name="x", version="1.2\x1b[31m", max_in_flight=9, stateful=True, wants_notices=True)
    )
    connection = desk.connection
    assert connection.ready.is_set()
    assert stream.wakings == 1
    assert (connection.stateful, connection.session.wants_notices, connection.version) == (True, True, "1.2[31m")
    greeting = connection.greeting()
    assert (greeting.name, greeting.slot, greeting.move_ms) == ("careful", 0, 1000)
    assert (greeting.max_in_flight, greeting.max_message_bytes) == (9, MAX_MESSAGE_BYTES)


@pytest.mark.parametrize(
    ("join", "in_flight"),
    [
        (wire.Join(), 1),
        (wire.Join(max_in_flight=0), 1),
        (wire.Join(max_in_flight=5), 5),
        (wire.Join(max_in_flight=2**32 - 1), 16),
    ],
)
def test_turns_in_flight_are_the_lower_of_what_both_sides_want(join: wire.Join, in_flight: int) -> None:
    desk = Desk(max_in_flight=16)
    desk.connect(join)
    assert desk.connection.session.max_in_flight == in_flight


@pytest.mark.parametrize("variants", [(), ("auction-pitch",), ("cinch", "auction-pitch")])
def test_a_bot_that_plays_the_variant_is_let_in(variants: tuple[str, ...]) -> None:
    desk = Desk()
    desk.connect(wire.Join(variants=variants))
    assert desk.connection.ready.is_set()


def test_a_bot_that_does_not_play_the_variant_is_refused_and_told() -> None:
    desk = Desk()
    stream = desk.connect(wire.Join(variants=["cinch", "pedro\x1b[2J<script>"]))
    assert not desk.connection.ready.is_set()
    assert desk.connection.refusal == "It plays cinch, pedro[2J<script>, not auction-pitch."
    assert farewell(stream) == (
        wire.FAREWELL_REASON_REFUSED,
        "This league plays auction-pitch, which your Join does not name.",
    )
    assert desk.refusals == 1


@pytest.mark.parametrize(
    "first", [wire.PlayRequest(), wire.PlayRequest(moves=[wire.Move(turn_id=1, bid=0)])], ids=["empty", "a move"]
)
def test_who_does_not_join_first_is_refused(first: wire.PlayRequest) -> None:
    desk = Desk()
    stream = desk.connect(join=None)
    desk.say(stream, first)
    assert desk.connection.refusal == "Its first message was no Join (AF-PROTO-005)."
    assert farewell(stream)[0] == wire.FAREWELL_REASON_REFUSED
    desk.say(stream, wire.PlayRequest(join=JOIN))  # too late
    assert not desk.connection.ready.is_set()


def test_who_opens_a_stream_and_does_not_join_is_refused_after_a_while() -> None:
    desk = Desk()
    desk.now = 5
    stream = desk.connect(join=None)
    desk.connection.check_join(5 + int(START_SECONDS * 1e6))
    assert stream.farewell is None
    desk.connection.check_join(6 + int(START_SECONDS * 1e6))
    assert farewell(stream)[0] == wire.FAREWELL_REASON_REFUSED
    assert desk.connection.refusal == "It did not join within 30 seconds of opening a stream."
    desk.connection.check_join(10**12)
    assert desk.refusals == 1


def test_who_opens_one_stream_after_another_and_never_joins_gains_no_time_by_it() -> None:
    desk = Desk()
    for second in range(0, 31, 10):
        desk.now = second * 1_000_000
        stream = desk.connect(join=None)
        desk.connection.check_join(desk.now + 1)
    assert farewell(stream)[0] == wire.FAREWELL_REASON_REFUSED


@pytest.mark.parametrize(("starved_s", "over_s"), [(0, 30), (20, 50), (500, 120)])
def test_a_stream_has_more_time_to_join_while_its_bot_has_no_processor(starved_s: int, over_s: int) -> None:
    desk = Desk()
    stream = desk.connect(join=None)
    desk.connection.starve(starved_s * 1_000_000, 0)
    desk.connection.check_join(over_s * 1_000_000)
    assert stream.farewell is None
    desk.connection.check_join(over_s * 1_000_000 + 1)
    assert farewell(stream)[0] == wire.FAREWELL_REASON_REFUSED


def test_a_join_and_a_move_may_share_a_message_after_the_first() -> None:
    """A second Join is a stray; the moves beside it count."""
    desk = Desk()
    stream = desk.connect()
    desk.deal()
    desk.connection.flush(0)
    (turn_id,) = desk.connection.session.open
    desk.say(stream, wire.PlayRequest(join=JOIN, moves=[wire.Move(turn_id=turn_id, bid=2)]))
    assert len(desk.judged) == 1
    assert desk.connection.session.strays == 1


# Messages


def test_strays_are_overlooked_up_to_a_number_and_then_end_the_session() -> None:
    desk = Desk()
    stream = desk.connect()
    for _ in range(STRAYS):
        desk.say(stream, wire.PlayRequest())
    assert not desk.faults
    desk.connection.receive(stream, b"\xff")
    ((fault, sentence),) = desk.faults
    assert fault is Fault.PROTOCOL
    assert sentence == f"AF-PROTO-004: it sent {STRAYS + 1} messages or moves that answer nothing."


def test_what_a_condemned_session_still_sends_is_not_read() -> None:
    desk = Desk()
    stream = desk.connect()
    desk.deal()
    desk.connection.flush(0)
    (turn_id,) = desk.connection.session.open
    desk.say(stream, wire.PlayRequest(moves=[wire.Move(turn_id=n, bid=0) for n in range(STRAYS + 1)]))
    for _ in range(100):
        desk.say(stream, wire.PlayRequest(moves=[wire.Move(turn_id=turn_id, bid=2)]))
    assert len(desk.faults) == 1
    assert not desk.judged
    assert not desk.connection.connect(BotStream())


def test_one_message_with_many_invented_ids_is_enough() -> None:
    desk = Desk()
    stream = desk.connect()
    desk.say(stream, wire.PlayRequest(moves=[wire.Move(turn_id=n) for n in range(STRAYS + 1)]))
    assert [fault for fault, _ in desk.faults] == [Fault.PROTOCOL]


@settings(max_examples=150)
@given(st.lists(st.one_of(st.binary(max_size=300), st.builds(lambda n: b"\x1b" * n, st.integers(0, 400))), max_size=80))
def test_any_bytes_end_in_a_verdict_and_never_in_an_error(messages: list[bytes]) -> None:
    desk = Desk()
    stream = desk.connect(join=None)
    for data in messages:
        desk.connection.receive(stream, data)
    joined = desk.connection.ready.is_set()
    assert joined or not messages or farewell(stream)[0] == wire.FAREWELL_REASON_REFUSED
    assert {fault for fault, _ in desk.faults} <= {Fault.PROTOCOL}


def move_messages() -> st.SearchStrategy[Callable[[int], wire.Move]]:
    """Moves with any fields at all, for a turn that the test fills in."""
    number = st.integers(-(2**31), 2**31 - 1)

    def build(card: int | None, bid: int | None, suit: int | None, call: int | None, kept: list[int]) -> Any:
        def move(turn_id: int) -> wire.Move:
            made: Any = wire.Move(turn_id=turn_id, kept=kept)  # type: ignore[arg-type]
            for name, value in (("card", card), ("bid", bid), ("suit", suit), ("call", call)):
                if value is not None:
                    setattr(made, name, value)
            return made

        return move

    few = st.none() | st.integers(-3, 70) | number
    return st.builds(build, few, few, few, few, st.lists(st.integers(-3, 70) | number, max_size=4))


@settings(max_examples=60)
@given(st.data())
def test_any_moves_on_a_joined_stream_end_in_a_verdict(data: st.DataObject) -> None:
    """Whole games of a bot that answers anything: each answer is played, refused with a rule, or overlooked."""
    desk = Desk()
    stream = desk.connect()
    for number in (1, 2, 3):
        desk.deal(number)
    session = desk.connection.session
    for _ in range(data.draw(st.integers(1, 25))):
        desk.connection.flush(0)
        ids = list(session.open) or [1]
        chosen = data.draw(st.lists(st.sampled_from([*ids, 7, 2**64 - 1]), max_size=4))
        moves = [data.draw(move_messages())(turn_id) for turn_id in chosen]
        raw = wire.PlayRequest(moves=moves).SerializeToString()
        noise = data.draw(st.just(b"") | st.binary(max_size=20))
        desk.connection.receive(stream, raw + noise)
    assert all(ruling.rule.startswith("AF-") and ruling.sentence for _, ruling in desk.book.rulings)
    assert not desk.book.void
    assert {fault for fault, _ in desk.faults} <= {Fault.PROTOCOL}


DEEP = b"\x0b" * 5000 + b"\x0c" * 5000  # groups nested 5,000 deep, in an unknown field
ANNOUNCES_MORE = b"\x12\xff\xff\xff\xff\x0f"  # a field that claims 4 GiB
BAD_UTF8 = b"\x0a\x04\x0a\x02\xc3\x28"  # Join.name that is no UTF-8


@pytest.mark.parametrize("data", [DEEP, ANNOUNCES_MORE, BAD_UTF8, b"\x00", b"GET / HTTP/1.1\r\n\r\n"])
def test_unreadable_messages_are_strays(data: bytes) -> None:
    desk = Desk()
    stream = desk.connect()
    desk.connection.receive(stream, data)
    assert desk.connection.session.strays == 1
    assert desk.connection.ready.is_set()
    assert not desk.faults


# Streams


def test_a_newer_stream_takes_over_and_the_older_is_told() -> None:
    desk = Desk()
    old = desk.connect()
    desk.deal()
    before = desk.connection.flush(0)
    new = desk.connect(join=None)
    assert farewell(old)[0] == wire.FAREWELL_REASON_SUPERSEDED
    assert not desk.connection.ready.is_set()
    assert desk.connection.session.deadline() is None
    desk.say(new, wire.PlayRequest(join=JOIN))
    assert desk.connection.flush(5) == before
    (turn_id,) = desk.connection.session.open
    desk.say(old, wire.PlayRequest(moves=[wire.Move(turn_id=turn_id, bid=2)]))
    assert not desk.judged  # the old one is not heard any more
    desk.connection.disconnect(old)
    assert desk.losses == 0
    desk.connection.disconnect(new)
    assert desk.losses == 1


def test_five_streams_a_game_are_enough() -> None:
    desk = Desk()
    for _ in range(5):
        desk.connect()
    assert not desk.connection.connect(BotStream())
    assert not desk.connection.connect(BotStream())
    assert [fault for fault, _ in desk.faults] == [Fault.PROTOCOL]
    assert desk.faults[0][1].startswith("It opened 6 streams")


def test_every_game_allows_five_streams_more() -> None:
    desk = Desk()
    desk.deal()
    for _ in range(10):
        desk.connect()
    assert not desk.connection.connect(BotStream())


def test_a_new_process_begins_with_a_clean_sheet() -> None:
    desk = Desk()
    for _ in range(5):
        old = desk.connect()
    desk.say(old, wire.PlayRequest(moves=[wire.Move(turn_id=n) for n in range(STRAYS)]))
    desk.connection.refusal = "something"
    desk.connection.renew()
    assert (old.cuts, desk.renewals) == (1, 1)
    assert not desk.connection.ready.is_set()
    desk.connection.disconnect(old)  # gRPC may notice late; it is no loss of the new process
    assert desk.losses == 0
    new = desk.connect()
    desk.say(new, wire.PlayRequest())
    assert (desk.connection.session.strays, desk.connection.streams, desk.connection.refusal, desk.faults) == (
        1,
        1,
        "",
        [],
    )


def test_after_farewell_the_end_of_a_stream_is_no_loss_and_nothing_is_read() -> None:
    desk = Desk()
    stream = desk.connect()
    desk.deal()
    desk.connection.flush(0)
    (turn_id,) = desk.connection.session.open
    desk.connection.leave(wire.FAREWELL_REASON_FINISHED, "All games are over.")
    assert farewell(stream) == (wire.FAREWELL_REASON_FINISHED, "All games are over.")
    desk.say(stream, wire.PlayRequest(moves=[wire.Move(turn_id=turn_id, bid=2)]))
    desk.connection.receive(stream, b"\xff" * 10)
    desk.connection.disconnect(stream)
    assert (desk.losses, desk.judged, desk.faults) == (0, [], [])


def test_who_dials_in_after_the_end_is_told_so_at_once() -> None:
    desk = Desk()
    desk.connection.leave(wire.FAREWELL_REASON_STOPPING, "The league goes on later.")
    stream = desk.connect(join=None)
    assert farewell(stream) == (wire.FAREWELL_REASON_STOPPING, "The league goes on later.")
    assert desk.connection.stream is None


def test_only_the_first_farewell_of_a_stream_counts() -> None:
    stream = BotStream()
    stream.dismiss(wire.FAREWELL_REASON_SUPERSEDED, "first")
    stream.dismiss(wire.FAREWELL_REASON_FINISHED, "second")
    assert farewell(stream) == (wire.FAREWELL_REASON_SUPERSEDED, "first")


def test_an_error_of_the_referee_is_told_as_such() -> None:
    desk = Desk()
    desk.connect()
    desk.connection.spoiled()
    assert [fault for fault, _ in desk.faults] == [Fault.NO_CONTEST]


def test_a_log_may_hold_a_digest_of_the_token_only() -> None:
    connection = Desk().connection
    assert len(connection.token_digest) == 8
    assert connection.token not in connection.token_digest

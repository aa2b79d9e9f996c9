"""The state machine of a connection: its table is whole, every state is reached, and nothing that a bot does breaks it."""

import random

import pytest

from referee.net.connection import (
    TRANSITIONS,
    BotConnection,
    BotStream,
    ConnectionObserver,
    ConnectionState,
    IllegalTransitionError,
    JoinTerms,
    Trigger,
)
from referee.protocol import wire
from referee.rules.conduct_clauses import STRAYS
from referee.umpire.faults import Fault
from tests.umpires import Book, answers_to, new_umpire

WITH_STREAM = {
    ConnectionState.JOINING,
    ConnectionState.REFUSED,
    ConnectionState.IDLE,
    ConnectionState.ASKED,
    ConnectionState.LEAVING,
}
JOINED = {ConnectionState.IDLE, ConnectionState.ASKED}
JOIN = wire.PlayRequest(join=wire.Join(max_in_flight=64))


def new_connection(book: Book) -> BotConnection:
    terms = JoinTerms(name="bot", slot=0, variants=("auction-pitch",), joined=wire.Joined(), move_us=1_000_000)
    return BotConnection("a token", terms, book.games_in_play.answered, lambda: 0)


def test_every_state_has_its_line_and_can_be_reached_and_left() -> None:
    assert TRANSITIONS.keys() == set(ConnectionState)
    reached = {ConnectionState.WAITING}
    while more := {state for one in reached for state in TRANSITIONS[one].values()} - reached:
        reached |= more
    assert reached == set(ConnectionState)
    assert all(set(line.values()) - {state} for state, line in TRANSITIONS.items())
    assert {trigger for line in TRANSITIONS.values() for trigger in line} == set(Trigger)


@pytest.mark.parametrize("state", ConnectionState)
@pytest.mark.parametrize("trigger", Trigger)
def test_a_trigger_that_the_table_does_not_have_raises_and_changes_nothing(
    state: ConnectionState, trigger: Trigger
) -> None:
    connection = new_connection(Book())
    connection.state = state
    if trigger in TRANSITIONS[state]:
        connection._move(trigger)
        assert connection.state is TRANSITIONS[state][trigger]
        return
    with pytest.raises(IllegalTransitionError, match=f"bot is {state.value}: {trigger.value} cannot be"):
        connection._move(trigger)
    assert connection.state is state


def test_farewell_is_only_taken_back_for_who_is_gone() -> None:
    connection, stream = new_connection(Book()), BotStream()
    connection.connect(stream)
    connection.leave(wire.FAREWELL_REASON_FINISHED, "That is all.")
    with pytest.raises(IllegalTransitionError):
        connection.forgive()
    connection.come_again()
    assert (connection.state, connection.stream) == (ConnectionState.WAITING, None)


class Life(ConnectionObserver):
    """Anything that a bot, the server or a supervisor can do to a connection, in any order that chance makes."""

    def __init__(self, chance: random.Random) -> None:
        self.chance, self.book = chance, Book()
        self.connection = new_connection(self.book)
        self.connection.observe(self)
        self.streams: list[BotStream] = []
        self.number = self.now = 0
        self.told: list[str] = []

    def stream_lost(self) -> None:
        assert not self.connection.leaving
        self.told.append("lost")

    def faulted(self, fault: Fault, sentence: str) -> None:
        assert sentence
        self.told.append(str(fault))

    # the bot

    def dials_in(self) -> None:
        stream, before = BotStream(), self.connection.state
        let_in = self.connection.connect(stream)
        assert let_in == (self.connection.state is not ConnectionState.CONDEMNED)
        assert let_in or before is ConnectionState.CONDEMNED or self.told[-1] == "PROTOCOL"
        self.streams.append(stream)

    def stream(self) -> BotStream:
        """Most often the newest."""
        return self.streams[-1] if self.chance.random() < 0.8 else self.chance.choice(self.streams)

    def says(self) -> None:
        ids = [*self.connection.session.open, 1 << 60]
        moves = [wire.Move(turn_id=one, bid=0) for one in self.chance.sample(ids, 1)]
        wrong = wire.PlayRequest(join=wire.Join(variants=["cinch"])).SerializeToString()
        known = [wire.PlayRequest(moves=moves).SerializeToString(), wrong, b"", b"\xff"]
        said = JOIN.SerializeToString() if self.chance.random() < 0.7 else self.chance.choice(known)
        if self.streams:
            self.connection.receive(self.stream(), said)

    def hangs_up(self) -> None:
        if self.streams:
            self.connection.disconnect(self.stream())

    def knocks(self) -> None:
        for _ in range(self.chance.choice([1, 1, 1, STRAYS + 1])):
            self.connection.knock("calls of methods that there are not")

    def floods(self) -> None:
        self.connection.flooded("frames")
        assert self.connection.state in {ConnectionState.CONDEMNED, ConnectionState.LEAVING, ConnectionState.GONE}

    # the server

    def is_asked(self) -> None:
        connection = self.connection
        if len(self.book.games_in_play.seated) < 3:
            self.number += 1
            self.book.games_in_play.open(new_umpire(self.number), [connection.session] * 2)
            connection.begin_game()
        if connection.state in JOINED:
            message = connection.flush(self.now)
            assert (connection.state is ConnectionState.ASKED) == bool(connection.session.open)
            if message is not None and message.turns and connection.stream and self.chance.random() < 0.5:
                request = wire.PlayRequest(moves=answers_to(message))
                connection.receive(connection.stream, request.SerializeToString())
                assert connection.state is ConnectionState.IDLE

    def time_passes(self) -> None:
        seconds = self.chance.choice([0, 1, 5, 40])
        self.now += seconds * 1_000_000
        self.connection.check_join(self.now)
        silence = self.connection.silent(self.now)
        if silence is not None:
            self.book.games_in_play.silent(silence)
        self.connection.check_reading(seconds * 1_000_000)

    def the_referee_fails(self) -> None:
        for pending in self.connection.give_up_turns():
            self.book.games_in_play.abandon(pending.umpire, "the referee failed")
        self.connection.spoiled()

    # its supervisor

    def is_ended(self) -> None:
        self.connection.hang_up()
        self.connection.session.lost_stream(cautious=self.chance.random() < 0.5)

    def is_started_again(self) -> None:
        self.connection.renew()
        assert self.connection.state in {ConnectionState.WAITING, ConnectionState.GONE}
        self.connection.session.lost_stream(cautious=True)

    def is_sent_off(self) -> None:
        self.connection.leave(wire.FAREWELL_REASON_FINISHED, "All games are over.")
        assert self.connection.leaving

    def comes_again(self) -> None:
        self.connection.come_again()
        assert not self.connection.leaving

    def agrees_with_itself(self) -> None:
        connection = self.connection
        state, stream = connection.state, connection.stream
        if state in WITH_STREAM:
            assert stream is not None
        elif state is not ConnectionState.CONDEMNED:
            assert stream is None
        assert stream is not None or not connection.ready.is_set()
        if state in JOINED:
            assert connection.ready.is_set()
            assert (state is ConnectionState.ASKED) == bool(connection.session.open)
        if state in {ConnectionState.JOINING, ConnectionState.REFUSED}:
            assert not connection.ready.is_set()
        if stream is not None and state is not ConnectionState.CONDEMNED:
            assert (stream.farewell is not None) == (state in {ConnectionState.REFUSED, ConnectionState.LEAVING})


def test_nothing_that_happens_in_any_order_is_an_illegal_transition(monkeypatch: pytest.MonkeyPatch) -> None:
    """And between them these lives take every transition of the table."""
    taken: set[tuple[ConnectionState, Trigger]] = set()
    move = BotConnection._move

    def noted(self: BotConnection, trigger: Trigger) -> None:
        taken.add((self.state, trigger))
        move(self, trigger)

    monkeypatch.setattr(BotConnection, "_move", noted)
    often = [Life.dials_in, Life.says, Life.says, Life.is_asked, Life.is_asked, Life.time_passes]
    seldom = [
        Life.hangs_up,
        Life.knocks,
        Life.floods,
        Life.the_referee_fails,
        Life.is_ended,
        Life.is_started_again,
        Life.is_sent_off,
        Life.comes_again,
    ]
    for seed in range(500):
        chance = random.Random(seed)  # noqa: S311
        life = Life(chance)
        for _ in range(80):
            chance.choice(often if chance.random() < 0.7 else seldom)(life)
            life.agrees_with_itself()
    assert taken == {(state, trigger) for state, line in TRANSITIONS.items() for trigger in line}

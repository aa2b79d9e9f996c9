"""A bot's session in whatever order things happen: no turn is lost, none is judged twice, every game ends."""

from collections import Counter
from itertools import count
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from referee.net.open_turns import TurnAnswer, TurnSession
from referee.protocol import wire
from referee.umpire.faults import Fault
from referee.umpire.umpire import Umpire
from tests.umpires import BANK_US, MOVE_US, Book, first_choice, new_umpire

LIMIT = MOVE_US + BANK_US


class Interleavings(RuleBasedStateMachine):
    """A games in play with one session that holds every seat of several games, and everything that can happen, in any order."""

    @initialize(in_flight=st.integers(1, 5), profile=st.sampled_from(["ranked", "dev"]))
    def begin(self, in_flight: int, profile: str) -> None:
        self.book, self.now, self.profile = Book(), 0, profile
        self.session = TurnSession(MOVE_US, in_flight)
        self.ids, self.numbers = count(1), count(1)
        self.sent: dict[int, wire.Turn] = {}
        self.judged: Counter[int] = Counter()
        self.umpires: list[Umpire] = []
        for _ in range(3):
            self.another_game()

    @rule()
    def another_game(self) -> None:
        if len(self.book.games_in_play.seated) < 8:
            number = next(self.numbers)
            umpire = new_umpire(number, ids=self.ids.__next__, seats=2 + number % 2, profile=self.profile)
            self.umpires.append(umpire)
            self.book.games_in_play.open(umpire, [self.session] * umpire.spec.seats)

    @rule(pause=st.integers(0, LIMIT))
    def flush(self, pause: int) -> None:
        self.now += pause
        busy = bool(self.session.open)
        message = self.session.flush(self.now)
        assert not (busy and message)  # at most one batch is out
        if message is not None:
            room = 1 if self.session.cautious else self.session.max_in_flight
            assert len(message.turns) <= room
            assert len({turn.game_id for turn in message.turns}) == len(message.turns)
            self.sent.update({turn.turn_id: turn for turn in message.turns})
            assert all(self.session.open[turn.turn_id].umpire.open is not None for turn in message.turns)

    @precondition(lambda self: self.session.open)
    @rule(data=st.data(), pause=st.integers(0, LIMIT), kind=st.sampled_from(["right", "wrong", "garbled", "strange"]))
    def answer(self, data: st.DataObject, pause: int, kind: str) -> None:
        """Some of the open turns are answered, in any order, some twice; old ids are among them."""
        self.now += pause
        chosen = data.draw(st.lists(st.sampled_from(sorted(self.session.open)), min_size=1))
        moves = [self.move(turn_id, kind) for turn_id in chosen]
        if kind == "strange":
            moves.append(wire.Move(turn_id=data.draw(st.integers(0, 10**6)), bid=0))
        self.take(self.session.heard(moves, self.now))

    def move(self, turn_id: int, kind: str) -> wire.Move:
        pending = self.session.open[turn_id]
        if kind == "wrong":
            return wire.Move(turn_id=turn_id, bid=15)
        return wire.Move(turn_id=turn_id) if kind == "garbled" else first_choice(pending)

    def take(self, answers: list[TurnAnswer]) -> None:
        assert all(answer.charged_us >= 0 for answer in answers)
        self.judged.update(answer.pending.turn.turn_id for answer in answers)
        self.book.games_in_play.answered(answers)

    @rule(pause=st.integers(0, 2 * LIMIT))
    def wait(self, pause: int) -> None:
        self.now += pause
        silence = self.session.silent(self.now)
        if silence is not None:
            self.judged[silence.pending.turn.turn_id] += 1
            self.book.games_in_play.silent(silence)

    @rule(cautious=st.booleans())
    def lose_the_stream(self, cautious: bool) -> None:
        self.session.lost_stream(cautious=cautious)

    @rule(stall=st.integers(0, MOVE_US))
    def stall(self, stall: int) -> None:
        self.now += stall
        self.session.excuse(stall, self.now)

    @precondition(lambda self: self.book.games_in_play.seated)
    @rule(data=st.data(), forfeit=st.booleans())
    def end_a_game(self, data: st.DataObject, forfeit: bool) -> None:
        umpire = data.draw(st.sampled_from(list(self.book.games_in_play.seated)))
        if forfeit:
            self.book.games_in_play.lose(umpire, self.session, Fault.CRASH, "test")
        else:
            self.book.games_in_play.abandon(umpire, "test")

    @invariant()
    def no_turn_is_lost_and_none_is_in_two_places(self) -> None:
        places = Counter(one.turn.turn_id for one in [*self.session.open.values(), *self.session.waiting])
        assert max(places.values(), default=1) == 1
        for umpire in self.book.games_in_play.seated:
            assert umpire.open is not None
            assert umpire.open.turn_id in places

    @invariant()
    def no_turn_is_judged_twice(self) -> None:
        assert max(self.judged.values(), default=0) <= 1
        assert not self.judged.keys() & self.session.open.keys()

    @invariant()
    def every_game_is_in_play_or_over(self) -> None:
        over = len(self.book.records) + len(self.book.void)
        assert over + len(self.book.games_in_play.seated) == len(self.umpires)
        assert self.session.seats == sum(umpire.spec.seats for umpire in self.book.games_in_play.seated)

    def teardown(self) -> None:
        """Whatever has happened: a bot that answers finishes all games."""
        if not hasattr(self, "book"):
            return
        for _ in range(20_000):
            if not self.book.games_in_play.seated:
                break
            self.now += 1
            self.take(self.session.heard([first_choice(one) for one in self.session.open.values()], self.now))
            self.session.flush(self.now)
        assert not self.book.games_in_play.seated
        assert not self.session.open or all(one.umpire.closed for one in self.session.open.values())


TestInterleavings: Any = Interleavings.TestCase
TestInterleavings.settings = settings(max_examples=60, stateful_step_count=40)

"""Who is sent its turns, and when: on a virtual clock, with referees and bots of every pace."""

import heapq
from collections import Counter
from itertools import count
from typing import Any, Final, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.net.open_turns import TurnSession
from referee.net.send_queue import AT_ONCE, LONGEST_US, PAUSE_US, QUICK_US, SendQueue, enough, quick
from referee.umpire.view import Turn
from tests.helpers import seeded
from tests.umpires import MOVE_US, Book, answers_to, new_umpire

UMPIRE: Final = new_umpire()


def session(games: int, waiting: int = 0, in_flight: int = 64) -> TurnSession:
    """A session in so many games, with turns in some of them."""
    one = TurnSession(MOVE_US, in_flight)
    for _ in range(games):
        one.enter_game()
    ask(one, waiting)
    return one


def ask(one: TurnSession, turns: int = 1) -> None:
    for _ in range(turns):
        one.offer(UMPIRE, cast("Turn", None))  # the queue counts turns, and reads none


@pytest.mark.parametrize(
    ("games", "in_flight", "most"),
    [(1, 64, 1), (2, 64, 1), (3, 64, 2), (4, 64, 2), (8, 64, 4), (40, 64, 12), (1000, 64, 32), (1000, 1, 1), (9, 4, 2)],
)
def test_enough_is_a_part_of_the_games_and_half_a_message_at_most(games: int, in_flight: int, most: int) -> None:
    queue, one = SendQueue(), session(games, in_flight=in_flight)
    for turns in range(1, most + 1):
        ask(one)
        assert queue.put(one, 0) == (turns == most)
    assert not queue


def test_turns_that_go_out_one_a_message_wait_for_no_others() -> None:
    one = session(64, 3)
    one.lost_stream(cautious=True)
    assert enough(one) == 1
    assert SendQueue().put(one, 0)


def test_what_holds_no_turn_does_not_wait() -> None:
    assert SendQueue().put(session(64), 0)


def test_a_bot_that_is_sent_no_turns_makes_nobody_wait() -> None:
    queue, one = SendQueue(), session(64, 1)
    queue.put(one, 0)
    assert queue.put(session(64), PAUSE_US)
    assert queue.idle(AT_ONCE, PAUSE_US) == [one]


def test_a_referee_without_work_keeps_two_bots_at_work_those_with_the_most_turns_first() -> None:
    queue = SendQueue()
    few, many, more, early = session(64, 1), session(64, 5), session(64, 7), session(64, 5)
    for one in (early, few, many, more):
        assert not queue.put(one, 10)
    assert queue.idle(AT_ONCE, 10 + PAUSE_US - 1) == [more]  # the first pause is over before anything was sent
    assert queue.idle(AT_ONCE, 10 + PAUSE_US) == []
    assert queue.idle(AT_ONCE - 1, 10 + PAUSE_US) == [early]
    assert queue.idle(0, 10 + PAUSE_US) == [many, few]
    assert not queue


def test_while_others_think_one_bot_more_is_asked_after_each_pause() -> None:
    queue, bots = SendQueue(), [session(64, 1) for _ in range(5)]
    for one in bots:
        queue.put(one, 0)
    asked = [queue.idle(AT_ONCE + number, number * PAUSE_US) for number in range(5)]
    assert asked == [[one] for one in bots]
    assert queue.idle(AT_ONCE, 9 * PAUSE_US) == []


def test_quick_bots_wait_for_company_while_two_of_them_are_at_work_and_slow_ones_do_not() -> None:
    queue, early, late, slow = SendQueue(), session(64, 2), session(64, 5), session(64, 1)
    for one in (early, late):
        one.answers_in_us = QUICK_US - 1
    slow.answers_in_us = QUICK_US
    assert [quick(one) for one in (early, late, slow)] == [True, True, False]
    for one in (early, late, slow, session(64, 1)):
        queue.put(one, 0)
    assert len(queue.idle(AT_ONCE - 1, 100)) == 1  # which is the first with five turns
    assert queue.idle(AT_ONCE, 100 + PAUSE_US) == [slow]
    assert len(queue.idle(AT_ONCE, 100 + 2 * PAUSE_US)) == 1  # of which nothing is known
    assert queue.idle(AT_ONCE, 100 + 2 * PAUSE_US + QUICK_US - 1) == []
    assert queue.idle(AT_ONCE, 100 + 2 * PAUSE_US + QUICK_US) == [early]


def test_the_shortest_of_its_last_times_tells_who_is_quick() -> None:
    one, now = TurnSession(MOVE_US), 0
    book = Book()
    book.games_in_play.open(new_umpire(1), [one, one])
    assert not quick(one)
    seen = []
    for time_us in (300_000, 900, 70_000, *[300_000] * 60):
        message = one.flush(now)
        now += time_us
        book.games_in_play.answered(one.heard(answers_to(message), now))
        seen.append(quick(one))
    assert seen[:3] == [False, True, True]
    assert seen[-1] is False
    assert sorted(seen[1:], reverse=True) == seen[1:]


def test_no_bot_waits_longer_than_the_longest_however_busy_the_referee_is() -> None:
    queue, early, late = SendQueue(), session(64, 1), session(64, 9)
    queue.put(early, 0)
    queue.put(late, 7)
    queue.put(early, 9)  # one turn more begins no new time
    assert queue.overdue(LONGEST_US - 1) == []
    assert queue.overdue(LONGEST_US) == [early]
    assert queue.overdue(LONGEST_US + 6) == []
    assert queue.overdue(LONGEST_US + 7) == [late]


def test_a_bot_that_is_lost_is_in_nobodys_way() -> None:
    queue, lost, other = SendQueue(), session(64, 9), session(64, 1)
    queue.put(lost, 0)
    queue.put(other, 0)
    queue.remove(lost)
    queue.remove(lost)
    assert queue.idle(AT_ONCE, PAUSE_US) == [other]
    assert not queue.put(lost, 5)  # it is back, and its time begins anew
    assert queue.overdue(LONGEST_US + 4) == []
    assert queue.overdue(LONGEST_US + 5) == [lost]


class League:
    """A referee that judges one message at a time, and bots of which each thinks for a while; only the queue decides.

    The referee asks the queue as the server does: after each message, when nothing is left to be read, and after a pause.
    """

    def __init__(self, games: int, think_us: list[int], judge_us: int, in_flight: int = 64, seed: int = 0) -> None:
        self.chance, self.judge_us, self.think_us = seeded(seed), judge_us, think_us
        self.queue, self.now, self.busy_until, self.order = SendQueue(), 0, 0, count()
        self.seats = [self.chance.sample(range(len(think_us)), 4) for _ in range(games)]
        sitting = Counter(bot for seats in self.seats for bot in seats)
        self.bots = [session(sitting[bot], in_flight=in_flight) for bot in range(len(think_us))]
        self.at: list[list[tuple[int, int]]] = [
            [] for _ in self.bots
        ]  # of each turn that waits: its game, and since when
        self.out: list[list[int]] = [[] for _ in self.bots]
        self.events: list[tuple[int, int, int]] = []  # when, in which order, which bot answers; -1 = look again
        self.longest_us = self.messages = self.turns = 0
        self.thinking_most = 0
        self.looking = False
        self.lost: set[int] = set()

    def ask(self, game: int) -> None:
        bot = self.chance.choice(self.seats[game])
        self.at[bot].append((game, self.now))
        ask(self.bots[bot])
        if not self.out[bot] and bot not in self.lost and self.queue.put(self.bots[bot], self.now):
            self.send(bot)

    def send(self, bot: int) -> None:
        one = self.bots[bot]
        room = one.max_in_flight
        batch, self.at[bot] = self.at[bot][:room], self.at[bot][room:]
        for _ in batch:
            one.waiting.popleft()
        self.queue.remove(one)
        self.longest_us = max(self.longest_us, *(self.now - since for _, since in batch[:1]))
        self.out[bot] = [game for game, _ in batch]
        self.messages += 1
        self.turns += len(batch)
        self.thinking_most = max(self.thinking_most, self.thinking)
        heapq.heappush(self.events, (self.now + self.think_us[bot] * len(batch), next(self.order), bot))

    @property
    def thinking(self) -> int:
        return sum(1 for out in self.out if out)

    def send_all(self, sessions: list[TurnSession]) -> None:
        for one in sessions:
            self.send(next(bot for bot, other in enumerate(self.bots) if other is one))

    def look(self, *, idle: bool) -> None:
        self.send_all(self.queue.overdue(self.now))
        if idle or not self.thinking:
            quick_ones = sum(1 for bot, out in enumerate(self.out) if out and quick(self.bots[bot]))
            self.send_all(self.queue.idle(quick_ones, self.now))
        if self.queue and not self.looking:
            self.looking = True
            heapq.heappush(self.events, (self.now + (PAUSE_US if idle else 0), next(self.order), -1))

    def answer(self, bot: int) -> None:
        games, self.out[bot] = self.out[bot], []
        self.bots[bot].answers_in_us = self.think_us[bot] * len(games)
        self.now += self.judge_us * len(games)
        for game in games:
            self.ask(game)
        if not self.out[bot] and self.at[bot] and self.queue.put(self.bots[bot], self.now):
            self.send(bot)
        self.look(idle=False)

    def play(self, turns: int) -> None:
        for game in range(len(self.seats)):
            self.ask(game)
        self.look(idle=False)
        while self.turns < turns:
            at, _, bot = heapq.heappop(self.events)  # raises IndexError if turns wait, and nothing will ever happen
            self.now = max(self.now, at)
            if bot >= 0:
                self.answer(bot)
                continue
            self.looking = False
            self.look(idle=not (self.events and self.events[0][0] <= self.now))


@settings(deadline=None)
@given(
    games=st.integers(1, 60),
    think_us=st.lists(st.sampled_from([5, 50, 2_000, 300_000]), min_size=4, max_size=12),
    judge_us=st.sampled_from([1, 40, 4_000]),
    in_flight=st.sampled_from([1, 5, 64]),
    seed=st.integers(0, 9),
)
def test_no_turn_waits_for_ever_whatever_the_others_do(**league: Any) -> None:
    """A bot that holds no turn gets those that wait for it: in the longest time, and what the referee is judging meanwhile."""
    one = League(**league)
    one.play(500)
    answers = 64 * len(one.bots)
    own = max(one.think_us) * 64 + 1  # its turn may have come while it was thinking of others
    assert one.longest_us <= own + LONGEST_US + answers * one.judge_us


def test_bots_that_think_do_so_all_at_once() -> None:
    league = League(games=64, think_us=[300_000] * 8, judge_us=40)
    league.play(600)
    assert league.thinking_most == 8
    # each of them could be asked about two turns a second if it had one whenever it is free
    assert league.now < 1.15 * 300_000 * 600 / 8


def test_one_slow_bot_holds_up_nobody_else() -> None:
    league = League(games=64, think_us=[30] * 7 + [2_000_000], judge_us=40)
    league.play(500)
    waiting_for_others = [bot for bot in range(7) if league.at[bot] and not league.out[bot]]
    assert all(league.now - league.at[bot][0][1] <= LONGEST_US for bot in waiting_for_others)


def test_a_game_alone_waits_for_nobody() -> None:
    league = League(games=1, think_us=[300] * 4, judge_us=40)
    league.play(1_000)
    assert league.longest_us == 0


@pytest.mark.parametrize(("bots", "games", "least"), [(4, 64, 15), (8, 64, 8), (8, 280, 25), (40, 64, 2), (40, 160, 4)])
def test_messages_of_fast_bots_are_full(bots: int, games: int, least: float) -> None:
    league = League(games=games, think_us=[30] * bots, judge_us=35)
    league.play(6_000)
    assert league.turns / league.messages >= least


def test_a_bot_that_is_lost_while_others_wait_stops_nothing() -> None:
    league = League(games=40, think_us=[30] * 6, judge_us=35)
    league.lost.add(3)
    league.play(300)
    assert not league.out[3]
    assert league.turns >= 300

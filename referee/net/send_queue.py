"""Who is sent its turns now: few full messages where everybody is busy, no waiting where nobody is.

A message costs both sides as much as ten decisions, whatever it holds. So a bot that holds no turn is sent those that wait for
it when they are many, or when the referee has nothing else to do; as long as others' answers are there to be judged, each
of them may bring it more. No I/O and no clock: time is an argument, in microseconds.
"""

from heapq import nsmallest
from typing import Final

from referee.net.open_turns import TurnSession

AT_ONCE: Final = 2
"""While the referee waits, so many quick bots are kept at work: the answers of one are judged while another computes."""

QUICK_US: Final = 20_000
"""A bot that answers a message within this time is quick. While ``AT_ONCE`` are at work, the next quick one waits so long."""

PAUSE_US: Final = 1_000
"""While the referee waits, one bot more of those that are not quick is asked after so long: they may as well think together."""

LONGEST_US: Final = 200_000
"""No bot that could be asked is left waiting for longer than that, however busy the referee is."""


def enough(session: TurnSession) -> int:
    """So many turns that wait are sent at once, however busy everybody is.

    One of every second game that the bot plays, of many games one of every fourth: each game waits for one of its players,
    so few bots have that many waiting at a time. Half of what a message may hold is enough always: fuller ones cost hardly
    less a turn, and while one is worked off the next can be judged. By any turn a bot with one or two games has enough, and
    so has one whose turns go out one a message.
    """
    if session.cautious:
        return 1
    return max(min(session.max_in_flight // 2, (session.seats + 1) // 2, session.seats // 4 + 2), 1)


class SendQueue:
    """Sessions that hold no turn, while some wait to be sent to them."""

    def __init__(self) -> None:
        self._since: dict[TurnSession, int] = {}
        self._sent_us = -QUICK_US

    def __len__(self) -> int:
        return len(self._since)

    def put(self, session: TurnSession, now_us: int) -> bool:
        """Whether a session is to be sent at once what it has; if not, it waits here."""
        if session.waiting and len(session.waiting) < enough(session):
            self._since.setdefault(session, now_us)
            return False
        self.remove(session)
        if session.waiting:
            self._sent_us = now_us
        return True

    def remove(self, session: TurnSession) -> None:
        """It was sent its turns, or has gone."""
        self._since.pop(session, None)

    def overdue(self, now_us: int) -> list[TurnSession]:
        """Takes out those that have waited for ``LONGEST_US``."""
        late = []
        for session, since_us in self._since.items():
            if now_us - since_us < LONGEST_US:
                break  # they stand in the order in which they came
            late.append(session)
        return self._taken(late, now_us)

    def idle(self, busy: int, now_us: int) -> list[TurnSession]:
        """Takes out those that are sent their turns while the referee has nothing to do, and ``busy`` quick bots hold turns.

        Those with the most turns come first, of equals the one that has waited longest: as many as make ``AT_ONCE`` busy,
        and else one that is not quick, ``PAUSE_US`` after the last, or a quick one, ``QUICK_US`` after it.
        """
        first = nsmallest(max(AT_ONCE - busy, 0), self._since, key=_order)
        if not first:
            since_us = now_us - self._sent_us
            able = [one for one in self._since if since_us >= (QUICK_US if quick(one) else PAUSE_US)]
            first = nsmallest(1, able, key=_order)
        return self._taken(first, now_us)

    def _taken(self, sessions: list[TurnSession], now_us: int) -> list[TurnSession]:
        for session in sessions:
            del self._since[session]
            self._sent_us = now_us
        return sessions


def quick(session: TurnSession) -> bool:
    """Whether a bot answers so soon that it is better asked much at a time than early."""
    return session.answers_in_us < QUICK_US


def _order(session: TurnSession) -> int:
    return -len(session.waiting)

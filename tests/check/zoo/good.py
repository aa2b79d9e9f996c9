"""Bots that break no rule, however odd they are: none of them may ever be flagged. ``python good.py NAME``."""

import asyncio
import atexit
import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from referee.bot import PACK, Bot, Call, EventKind, Kind, Turn, run

GOOD: dict[str, Callable[[], Any]] = {}


def good(make: Callable[[], Any]) -> Callable[[], Any]:
    """Enters a bot under the name of the function that makes it."""
    GOOD[make.__name__.replace("_", "-")] = make
    return make


def strangest(turn: Turn) -> Any:
    """The most useless thing that is legal: it throws aces away, bids four on nothing, trumps its partner."""
    if turn.kind is Kind.PLAY:
        return max(turn.legal, key=lambda card: (turn.suit_of(card) == turn.trump, card.rank))
    return turn.legal[-1]


@good
def any_legal() -> Any:
    return lambda turn: turn.rng.choice(turn.legal)


@good
def first_legal() -> Any:
    return lambda turn: turn.legal[0]


@good
def strangest_legal() -> Any:
    return strangest


@good
def always_bids_most() -> Any:
    return lambda turn: max(turn.legal) if turn.kind is Kind.BID else turn.rng.choice(turn.legal)


@good
def always_begs_and_runs() -> Any:
    def choose(turn: Turn) -> Any:
        for call in (Call.BEG, Call.RUN):
            if turn.kind in (Kind.STAND_OR_BEG, Kind.ANSWER_BEG) and call in turn.legal:
                return call
        return turn.legal[-1]

    return choose


@good
def follows_strictly() -> Any:
    """It never trumps where it can follow, as some books have it."""

    def choose(turn: Turn) -> Any:
        if turn.kind is Kind.PLAY and turn.trick:
            following = [card for card in turn.legal if turn.suit_of(card) == turn.suit_of(turn.trick[0])]
            return turn.rng.choice(following or turn.legal)
        return turn.rng.choice(turn.legal)

    return choose


@good
def one_at_a_time() -> Any:
    class Patient(Bot):
        max_in_flight = 1

        def choose(self, turn: Turn) -> Any:
            return turn.rng.choice(turn.legal)

    return Patient()


@good
def side_by_side() -> Any:
    """An asynchronous bot that answers in any order."""

    async def choose(turn: Turn) -> Any:
        await asyncio.sleep(turn.rng.random() * 0.002)
        return turn.rng.choice(turn.legal)

    return choose


@good
def wants_all_news() -> Any:
    class Curious(Bot):
        name = "Ünïcode ♠ " + "x" * 500
        version = "9.9-rc.1+build"

        def __init__(self) -> None:
            self.seen: set[int] = set()

        def choose(self, turn: Turn) -> Any:
            return turn.rng.choice(turn.legal)

        def game_started(self, started: Any) -> None:
            self.seen.add(started.game_id)

        def deal_over(self, over: Any) -> None:
            self.seen.discard(over.game_id)

        def game_over(self, over: Any) -> None:
            self.seen.discard(over.game_id)

    return Curious()


@good
def has_a_memory() -> Any:
    """It says that it is stateful, and it is: it plays from the cards that it remembers."""

    class Rememberer(Bot):
        stateful = True

        def __init__(self) -> None:
            self.hands: dict[tuple[int, int], set[int]] = {}

        def choose(self, turn: Turn) -> Any:
            key = (turn.message.game_id, turn.deal)
            if not any(event.seat == turn.seat and event.kind is EventKind.PLAY for event in turn.history):
                self.hands[key] = set(turn.hand)
            if turn.kind is Kind.PLAY:
                self.hands[key] |= set(turn.hand)
                card = turn.rng.choice([card for card in turn.legal if card in self.hands[key]])
                self.hands[key].discard(card)
                return card
            return turn.rng.choice(turn.legal)

    return Rememberer()


@good
def talks_a_lot() -> Any:
    def choose(turn: Turn) -> Any:
        print("\x1b[31m", turn.kind.name, "<script>", "ä" * 20, file=sys.stderr)
        return turn.rng.choice(turn.legal)

    return choose


@good
def takes_its_time() -> Any:
    """It uses half of the time that it is given for a move, each time."""

    class Slow(Bot):
        max_in_flight = 4
        seconds = 0.0

        def joined(self, joined: Any) -> None:
            self.seconds = joined.move_ms / 1000 * 0.5

        def choose(self, turn: Turn) -> Any:
            time.sleep(self.seconds)
            return turn.rng.choice(turn.legal)

    return Slow()


@good
def ponders_now_and_then() -> Any:
    """One turn in a hundred takes it a hundred times as long as the others."""

    def choose(turn: Turn) -> Any:
        if turn.rng.random() < 0.01:
            time.sleep(0.5)
        return turn.rng.choice(turn.legal)

    return choose


@good
def counts_cards() -> Any:
    """It works everything out from the history, and would notice if it did not add up."""

    def choose(turn: Turn) -> Any:
        seen = {event.value for event in turn.history if event.kind is EventKind.PLAY}
        if seen & set(turn.hand) or not set(turn.hand) <= set(PACK):
            raise AssertionError("the history does not add up")
        return turn.rng.choice(turn.legal)

    return choose


@good
def threads_of_its_own() -> Any:
    """Its chance is its own, and it takes a helper process for a moment."""
    chance = random.Random(os.getpid())
    os.system("true")
    return lambda turn: chance.choice(list(turn.legal)) if turn.kind is not Kind.DISCARD else turn.legal[0]


@good
def claims_one_game() -> Any:
    class Specialist(Bot):
        variants = ("auction-pitch",)

        def choose(self, turn: Turn) -> Any:
            return turn.rng.choice(turn.legal)

    return Specialist()


@good
def long_in_coming() -> Any:
    """It loads much before it joins."""
    import email.mime.multipart
    import http.server
    import sqlite3
    import unittest.mock
    import xmlrpc.client

    sizes = [len(dir(part)) for part in (email.mime.multipart, http.server, sqlite3, unittest.mock, xmlrpc.client)]
    time.sleep(0.5)
    return lambda turn: turn.legal[min(len(turn.legal) - 1, sizes[0] % 2)]


@good
def slow_on_one_turn() -> Any:
    """It thinks for two seconds about its fortieth turn, and about no other."""
    asked = count(1)

    def choose(turn: Turn) -> Any:
        if next(asked) == 40:
            time.sleep(2)
        return turn.rng.choice(turn.legal)

    return choose


@good
def under_another_name() -> Any:
    """It changes its title, its folder, its mask, its signals and its standard streams."""
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text("nothing to see", "utf-8")
    os.chdir("/")
    os.umask(0o077)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    return lambda turn: turn.rng.choice(turn.legal)


@good
def keeps_a_helper() -> Any:
    """It has a helper process draw for it as long as it lives."""
    code = "import sys\nfor line in sys.stdin: print(int(line) // 2, flush=True)"
    helper = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def choose(turn: Turn) -> Any:
        assert helper.stdin is not None
        assert helper.stdout is not None
        helper.stdin.write(f"{len(turn.legal)}\n")
        helper.stdin.flush()
        return turn.legal[int(helper.stdout.readline())]

    return choose


@good
def leaves_slowly() -> Any:
    """It has something to write down when it is sent off."""
    atexit.register(time.sleep, 0.9)
    return lambda turn: turn.rng.choice(turn.legal)


if __name__ == "__main__":
    run(GOOD[sys.argv[1]]())

"""The table in a terminal: what is written when, the words, narrow screens, and a game that is played by what is written alone."""

import io
import os
import pty
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from referee.rules import variant, variant_names
from referee.table.state import TableState
from referee.table.terminal import TerminalTable, read_cards
from tests.table.seated import Seated

WIDTH = 78


def seated_at(name: str = "auction-pitch", seats: int = 3, seed: int = 1, deals: int = 1) -> Seated:
    one = Seated(variant(name).with_rules({"max_deals": deals}), seats, seed)
    one.start()
    return one


class Screen:
    """A terminal at a table in this thread: ``say`` a line, and have what is written."""

    def __init__(self, one: Seated) -> None:
        self.seated, self.paper = one, io.StringIO()
        self.terminal = TerminalTable(one.table, io.StringIO(), self.paper)

    def read(self) -> str:
        text = self.paper.getvalue()
        self.paper.seek(0)
        self.paper.truncate()
        return text

    def look(self) -> str:
        self.terminal._show(self.seated.table.state())
        return self.read()

    def say(self, line: str) -> str:
        left = self.terminal._say(line)
        assert left == (line.strip().lower() in ("leave", "quit", "exit", "q"))
        return self.read()


def flat(text: str) -> str:
    return " ".join(text.split())


def asked(one: Seated) -> TableState:
    state = one.until_asked()
    assert state is not None
    return state


@pytest.mark.parametrize("name", variant_names())
def test_a_game_is_played_by_what_is_written_alone(name: str) -> None:
    """Whoever reads the lines, and nothing else, always finds something that is taken."""
    one = seated_at(name, variant(name).players[0], 3)
    screen = Screen(one)
    while (state := one.until_asked()) is not None:
        written = flat(screen.look())
        assert state.turn is not None
        assert state.turn.prompt in written
        if state.turn.choose is not None:
            must = re.findall(r"(\d+) [a-z]+ of [a-z]+ \(must be kept\)", written)
            may = [number for number in re.findall(r"(\d+) [a-z]+ of [a-z]+(?! \()", written) if number not in must]
            size = state.turn.choose[0]
            said = screen.say("keep " + " ".join([*must, *may][:size]))
        elif state.moves:
            told = re.search(r"You may say: (.*?)\.", written)
            assert told is not None
            said = screen.say(one.chance.choice(re.split(r", | or ", told[1])))
        else:
            free = re.findall(r"(\d+) [a-z]+ of [a-z]+(?=[,.])", written)
            said = screen.say(one.chance.choice(free))
        assert said == ""
        one.carry()
    assert one.umpire.irregularities == []
    assert one.umpire.result is not None


def test_what_is_not_allowed_is_explained_with_the_clause() -> None:
    one = seated_at(deals=6)
    screen = Screen(one)
    state = asked(one)
    screen.look()
    text = flat(screen.say("bid 9"))
    assert text.startswith("Not allowed. 9 is no bid: a bid is 2 to 4, a pass is 0. The rule, AF-BID-001: ")
    while state.turn is None or state.turn.kind != "play" or all(held.legal for held in state.hand):
        assert state.turn is not None
        legal = [move.move for move in state.moves if move.legal] + [held.card for held in state.hand if held.legal]
        one.table.move(state.turn.id, legal[-1])
        one.carry()
        state = asked(one)
    barred = next(number for number, held in enumerate(state.hand, 1) if not held.legal)
    text = flat(screen.say(str(barred)))
    held = state.hand[barred - 1]
    assert text.startswith(f"Not allowed. {held.why} The rule, {held.rule}: ")
    assert f"Not {held.name}: {held.why}" in flat(screen.say("why"))
    assert f"{barred} {held.name} (not now)" in flat(screen.say("hand"))


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("hand", r"Your hand: 1 \w+ of \w+, .*\."),
        ("trick", r"No card has been played to this trick\."),
        ("last", r"No trick has been taken in this deal\."),
        ("score", r"you 0, bot 1 0, bot 2 0\. The game goes to 7\."),
        ("table", r"Seat 1, bot 0 \(you\): 6 cards.* Trump is not fixed yet\."),
        ("why", r"(Not \w+: .*|Everything is allowed\.)"),
        ("log", r".* the cards of deal 1\..*"),
        ("rules", r"AF-.*"),
        ("help", r"Say a card to play it.*leave\."),
        ("HELP", r"Say a card to play it.*leave\."),
        ("?", r"Say a card to play it.*leave\."),
        ("", r"Your turn: .*"),
        ("pause", ""),
        ("take back", r"Moves are taken back in practice only: .*"),
        ("fly", r"'fly' is no answer here\..*"),
        ("\x1b[2J", r".* is no answer here\..*"),
        ("leave", ""),
    ],
)
def test_every_word_has_its_answer(word: str, told: str) -> None:
    one = seated_at()
    screen = Screen(one)
    asked(one)
    screen.look()
    text = screen.say(word)
    assert re.fullmatch(told, flat(text)), text
    assert "\x1b" not in text


def test_before_the_first_turn_nothing_is_taken() -> None:
    one = Seated(variant("auction-pitch"), 3, 1)
    screen = Screen(one)
    assert screen.look() == ""
    assert flat(screen.say("pass")) == "It is not your turn. Say help for what you may ask."
    assert flat(screen.say("hint")) == "There is no hint now: it is not your turn."
    assert flat(screen.say("")) == "It is not your turn yet."
    assert flat(screen.say("hand")) == "You hold no cards."


@pytest.mark.parametrize("columns", ["24", "40", "200"])
def test_lines_fit_a_narrow_screen(monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    one = seated_at()
    screen = Screen(one)
    asked(one)
    text = screen.look() + screen.say("help") + screen.say("table") + screen.say("rules")
    assert max(map(len, text.splitlines())) <= min(int(columns), WIDTH)


@pytest.mark.parametrize(
    ("text", "cards"),
    [
        ("QH", ["QH"]),
        ("10h", ["TH"]),
        ("td", ["TD"]),
        ("queen of hearts", ["QH"]),
        ("ten hearts", ["TH"]),
        ("Two of Clubs, as 10s", ["2C", "AS", "TS"]),
        ("1", ["#1"]),
        ("1 2", ["#1", "#2"]),
        ("99", []),
        ("queen", []),
        ("queen of cups", []),
        ("QH and 2S", []),
        ("", []),
    ],
)
def test_cards_are_read_as_people_say_them(text: str, cards: Sequence[str]) -> None:
    one = seated_at()
    state = asked(one)
    wanted = [state.hand[int(card[1:]) - 1].card if card.startswith("#") else card for card in cards]
    assert read_cards(state, text) == wanted


@contextmanager
def running(one: Seated, terminal: TerminalTable) -> Iterator[None]:
    thread = threading.Thread(target=terminal.run)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def test_input_that_ends_leaves_the_table() -> None:
    one = seated_at()
    asked(one)
    paper = io.StringIO()
    with running(one, TerminalTable(one.table, io.StringIO(""), paper)):
        pass
    assert paper.getvalue().endswith("Nothing more can be typed: the table is left.\n")


def test_lines_of_a_pipe_wait_until_something_is_asked() -> None:
    one = Seated(variant("auction-pitch").with_rules({"max_deals": 1}), 3, 1)
    paper = io.StringIO()
    with running(one, TerminalTable(one.table, io.StringIO("hand\nleave\n"), paper)):
        one.start()
        asked(one)
    assert "You hold no cards" not in paper.getvalue()
    assert "Your hand: 1" in paper.getvalue()


def test_ctrl_c_closes_it_while_it_waits_for_a_line() -> None:
    one = seated_at()
    asked(one)
    master, slave = pty.openpty()
    paper = io.StringIO()
    try:
        with os.fdopen(slave, "r") as typed:
            terminal = TerminalTable(one.table, typed, paper)
            with running(one, terminal):
                terminal.stop()
            os.write(master, b"\n")  # whoever still waits for a line has one
    finally:
        os.close(master)
    assert paper.getvalue().endswith("The table is closed.\n")

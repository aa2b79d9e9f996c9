"""The person's table in a terminal, by keyboard alone: plain lines that a screen reader reads well, and that a narrow screen holds.

Nothing is drawn and nothing moves: what has happened is written below what stands there, and what is asked ends with a prompt. The
words are those of the page: ``hand``, ``trick``, ``last``, ``score``, ``hint``, ``why``, ``help``.
"""

import codecs
import contextlib
import os
import re
import shutil
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import SimpleQueue
from typing import Final, TextIO

from referee.cards import SUIT_NAMES, SUITS
from referee.rules.rulebook import clause_text, clauses_of
from referee.table.hints import NoHintError
from referee.table.state import PossibleMove, TableState
from referee.table.table import IllegalMoveError, RefusedError, Table, UnreadableMoveError
from referee.table.words import RANK_NAMES, listed, signed

_WIDEST: Final = 78
_NARROWEST: Final = 20
_LAST_SENTENCES: Final = 5
_LONGEST_LINE: Final = 4096
_PATIENCE_S: Final = 30.0

HELP: Final = (
    "Say a card to play it: QH, or queen of hearts, or its number in your hand.",
    "Say a bid as its amount; or pass, stand, beg, give, run, or a suit.",
    "To keep cards, say keep and the cards: keep AS KS 10H.",
    "Ask: hand, trick, last, score, table, log, hint, why, rules, help.",
    "Also: go on (or just Enter), pause, take back (in practice), leave.",
)


class TerminalTable:
    """Plays a table by lines: what is written goes out, what is typed comes in.

    Lines of a pipe wait until something is asked; a person who types too early is told so, and no move is made unseen.
    """

    def __init__(self, table: Table, typed: TextIO, written: TextIO) -> None:
        self._table = table
        self._typed, self._written = typed, written
        self._news: SimpleQueue[TableState | str | None] = SimpleQueue()
        self._lines: deque[str | None] = deque()
        self._is_patient = not typed.isatty()
        self._stopped = threading.Event()
        self._heard = 0
        self._asked = self._hand_told = ""
        self._sheet = 0
        self._deal = 0
        self._is_paused = self._is_over = False

    def run(self) -> None:
        """Until the game is over, the person leaves, nothing more can be typed, or it is stopped."""
        with self._table.listening(self._news.put):
            threading.Thread(target=self._read, name="table-terminal", daemon=True).start()
            self._show(self._table.state())
            while not self._ended():
                self._take(self._news.get())
                while not self._news.empty():
                    self._take(self._news.get())
                if self._stopped.is_set():
                    self._write("The table is closed.")
                    return
                while not self._ended() and self._lines and self._may_be_said():
                    if self._say_next():
                        return
                    while not self._news.empty():
                        self._take(self._news.get())

    def _ended(self) -> bool:
        """Whether the end of the game has been told."""
        return self._is_over

    def _take(self, came: TableState | str | None) -> None:
        if isinstance(came, TableState):
            self._show(came)
        else:
            self._lines.append(came)

    def stop(self) -> None:
        """Ends it from elsewhere, as by Ctrl-C."""
        self._stopped.set()
        self._news.put(None)

    def _may_be_said(self) -> bool:
        """Whether the next line may be read: those of a pipe wait until something is asked."""
        state = self._table.state()
        is_asked = state.turn is not None or state.sheet is not None or state.paused
        return is_asked or not self._is_patient

    def _say_next(self) -> bool:
        """Does what the next line says; whether the person leaves."""
        line, turn = self._lines.popleft(), self._table.state().turn
        if line is None:
            self._write("Nothing more can be typed: the table is left.")
            return True
        if self._say(line):
            return True
        if self._is_patient and turn is not None:
            self._wait_for_the_move(turn.id)
        return False

    def _wait_for_the_move(self, turn_id: str) -> None:
        """What the next line of a pipe says is meant for what comes after the move."""
        if self._table.is_answered(turn_id):
            self._table.wait_for(lambda state: state.turn is None or state.turn.id != turn_id, _PATIENCE_S)

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in _lines_of(self._typed):
                self._news.put(line)
        self._news.put(None)

    # What is written.

    def _write(self, *lines: str) -> None:
        width = min(max(shutil.get_terminal_size((_WIDEST, 24)).columns, _NARROWEST), _WIDEST)
        for line in lines:
            self._written.write("\n".join(_broken(line, width)) + "\n")
        self._written.flush()

    def _tell_log(self, state: TableState) -> None:
        for line in state.log:
            if line.n > self._heard:
                self._heard = line.n
                self._write(line.text)

    def _show(self, state: TableState) -> None:
        """What is new."""
        if state.hand and state.game.deal != self._deal:
            self._deal = state.game.deal
            self._tell_log(state)
            self._hand_told = _hand(state)
            self._write(self._hand_told)
        self._tell_log(state)
        if state.paused != self._is_paused:
            self._is_paused = state.paused
            self._write("Paused. Say go on." if state.paused else "The game goes on.")
        if state.over is not None:
            self._is_over = True
            return
        if state.sheet is not None and state.sheet.deal != self._sheet:
            self._sheet = state.sheet.deal
            self._write("Press Enter for the next deal.")
        if state.turn is not None and state.turn.id != self._asked and not state.paused:
            self._asked = state.turn.id
            self._write(*(line for line in _asked(state) if not (state.moves and line == self._hand_told)))

    # What is typed.

    def _say(self, line: str) -> bool:
        """Does what was typed; whether the person leaves."""
        state = self._table.state()
        word = " ".join(line.split())[:200]
        if word.lower() in ("leave", "quit", "exit", "q"):
            return True
        try:
            self._do(state, word)
        except IllegalMoveError as error:
            ruling = error.ruling
            self._write(f"Not allowed. {ruling.sentence}")
            if ruling.clause:
                self._write(f"The rule, {ruling.rule}: {ruling.clause}")
        except (RefusedError, UnreadableMoveError, NoHintError) as error:
            self._write(str(error))
        return False

    def _do(self, state: TableState, word: str) -> None:
        lower = word.lower()
        answers: dict[str, Callable[[], Iterable[str]]] = {
            "hand": lambda: [_hand(state)],
            "trick": lambda: [_trick(state)],
            "last": lambda: [_last(state)],
            "score": lambda: _score(state),
            "table": lambda: _seats(state),
            "why": lambda: _why(state),
            "log": lambda: [one.text for one in state.log[-_LAST_SENTENCES:]],
            "rules": self._rules,
            "help": lambda: HELP,
            "?": lambda: HELP,
            "hint": self._hint,
        }
        if not lower or lower in ("go on", "next"):
            if lower or state.paused or state.sheet is not None:
                self._table.go_on()
            elif state.turn is not None:
                self._write(*_asked(state))
            else:
                self._write("It is not your turn yet.")
        elif lower in answers:
            self._write(*answers[lower]())
        elif lower == "pause":
            self._table.pause()
        elif lower in ("take back", "back", "undo"):
            self._table.take_back()
        else:
            self._answer(state, word)

    def _answer(self, state: TableState, word: str) -> None:
        """A move: a card, a number of the hand, the cards that are kept, or something that is said."""
        turn = state.turn
        if turn is None and state.sheet is not None:
            raise RefusedError("The deal has been counted: press Enter for the next one.")
        if turn is None:
            raise RefusedError("It is not your turn. Say help for what you may ask.")
        if turn.choose is not None:
            cards = read_cards(state, word.lower().removeprefix("keep"))
            if not cards and turn.choose != (0, 0) and word.lower() != "keep":
                raise UnreadableMoveError(f"Say keep and {turn.choose[0]} cards, such as: keep {_example(state)}")
            self._table.move(turn.id, cards=cards)
            return
        said = _said(state.moves, word)
        if said is not None:
            self._table.move(turn.id, said.move)
            return
        if turn.kind == "bid" and word.lower().removeprefix("bid ").isdecimal():
            self._table.move(turn.id, word.lower().removeprefix("bid "))
            return
        cards = read_cards(state, word)
        if len(cards) == 1 and turn.kind == "play":
            self._table.move(turn.id, cards[0])
            return
        if state.moves:
            raise UnreadableMoveError(f"{word!r} is no answer here. {_choices(state)}")
        raise UnreadableMoveError(f"{word!r} is no card. Say one such as {_example(state)}, or its number; or help.")

    def _hint(self) -> Sequence[str]:
        hint = self._table.hint()
        return [f"A careful player: {hint.label}. {hint.why}"]

    def _rules(self) -> Iterator[str]:
        """The rule book, as it is played."""
        for one in clauses_of(self._table.rules):
            yield f"{one.id} {one.title}: {clause_text(one, self._table.rules)}"


def _lines_of(typed: TextIO) -> Iterator[str]:
    """The lines of a stream as they come. A file is read without its buffer, which a thread that waits would hold at the end."""
    try:
        number = typed.fileno()
    except (OSError, ValueError):
        yield from typed
        return
    decoder, rest = codecs.getincrementaldecoder("utf-8")("replace"), ""
    while data := os.read(number, 4096):
        *lines, rest = (rest + decoder.decode(data)).split("\n")
        yield from lines
        rest = rest[-_LONGEST_LINE:]
    if rest:
        yield rest


def _broken(line: str, width: int) -> Iterator[str]:
    """A line in pieces of at most so many characters, broken at blanks."""
    piece = ""
    for word in line.split():
        if piece and len(piece) + 1 + len(word) > width:
            yield piece
            piece = word
        else:
            piece = f"{piece} {word}".lstrip()
    yield piece


def _asked(state: TableState) -> Iterator[str]:
    if state.turn is None:
        return
    clock = "" if state.turn.seconds is None else f" You have {state.turn.seconds:.0f} seconds."
    yield f"{state.turn.prompt}.{clock}"
    if state.moves:
        yield _choices(state)
        if state.phase in ("bid", "beg", "gift", "name"):
            yield _hand(state)
    else:
        if state.trick:
            yield _trick(state)
        yield _hand(state)


def _choices(state: TableState) -> str:
    return f"You may say: {listed([move.move for move in state.moves if move.legal], 'or')}."


def _hand(state: TableState) -> str:
    """The cards with their numbers; those that may not be played are marked by a word, not by a colour."""
    if not state.hand:
        return "You hold no cards."
    marks = state.turn is not None and (state.turn.kind == "play" or state.turn.choose is not None)
    told = [
        f"{number} {held.name}{'' if held.legal or not marks else ' (not now)'}{' (must be kept)' if held.must else ''}"
        for number, held in enumerate(state.hand, 1)
    ]
    return f"Your hand: {', '.join(told)}."


def _who(state: TableState, seat: int) -> str:
    return "you" if seat == state.you else state.seats[seat].name


def _trick(state: TableState) -> str:
    if not state.trick:
        return "No card has been played to this trick."
    return f"This trick: {', '.join(f'{played.name} by {_who(state, played.seat)}' for played in state.trick)}."


def _last(state: TableState) -> str:
    last = state.last_trick
    if last is None:
        return "No trick has been taken in this deal."
    cards = ", ".join(f"{played.name} by {_who(state, played.seat)}" for played in last.cards)
    return f"The last trick: {cards}. {_who(state, last.winner).capitalize() if last.winner == state.you else _who(state, last.winner)} took it."


def _score(state: TableState) -> Iterator[str]:
    yield f"{', '.join(f'{_who(state, seat.seat)} {signed(seat.score)}' for seat in state.seats)}. The game goes to {state.game.target}."
    if state.sheets:
        last = state.sheets[-1]
        for item in last.items:
            yield f"Deal {last.deal}: {item.item} {item.points} to {item.side}{f' by {item.why}' if item.why else ''}."
        if last.bid:
            yield f"Deal {last.deal}: {last.bid}"


def _seats(state: TableState) -> Iterator[str]:
    for seat in state.seats:
        said = [f"{seat.cards} cards", f"{seat.tricks} tricks", f"score {signed(seat.score)}"]
        said += ["deals"] if seat.dealer else []
        said += ["has the bid"] if seat.pitcher else []
        said += [f"said {seat.bid}"] if seat.bid else []
        said += ["your partner"] if state.seats[state.you].partner == seat.seat else []
        said += [f"out: {seat.out}"] if seat.out else []
        you = " (you)" if seat.seat == state.you else ""
        yield f"Seat {seat.seat + 1}, {seat.name}{you}: {', '.join(said)}."
    trump = "Trump is not fixed yet." if state.trump is None else f"Trump is {SUIT_NAMES[SUITS.index(state.trump)]}."
    yield trump if state.turn_up is None else f"{trump} {state.turn_up} is turned up."


def _why(state: TableState) -> Iterator[str]:
    """Why what may not be done now may not."""
    if state.turn is None:
        yield "It is not your turn."
        return
    barred = [(held.name, held.why) for held in state.hand if not held.legal and held.rule]
    barred += [(move.move, move.why) for move in state.moves if not move.legal]
    for name, why in barred:
        yield f"Not {name}: {why}"
    if not barred:
        yield "Everything is allowed."


def _said(moves: Sequence[PossibleMove], word: str) -> PossibleMove | None:
    lower = word.lower().removeprefix("bid ").removeprefix("name ")
    return next((one for one in moves if lower in (one.move.lower(), one.label.lower(), one.key)), None)


def _example(state: TableState) -> str:
    return next((held.card for held in state.hand if held.legal), "QH")


def read_cards(state: TableState, text: str) -> list[str]:
    """The cards that were named: ``QH``, ``10h``, ``queen of hearts``, or numbers of the hand. Empty if one of the words is no card.

    A card that is not in the hand is read too: the ruling says so.
    """
    rest = text.replace(",", " ").strip()
    ranks = (
        {name: rank for rank, name in RANK_NAMES.items()} | {rank.lower(): rank for rank in RANK_NAMES} | {"10": "T"}
    )
    suits = {name: name[0].upper() for name in SUIT_NAMES} | {name[:-1]: name[0].upper() for name in SUIT_NAMES}
    found: list[str] = []
    while rest:
        short = re.match(r"(10|[2-9TJQKA])([CDHS])(?=\s|$)", rest, re.IGNORECASE)
        long = re.match(r"(\w+)\s+(?:of\s+)?([a-z]+)(?=\s|$)", rest, re.IGNORECASE)
        number = re.match(r"(\d{1,2})(?=\s|$)", rest)
        if short:
            found.append(short[1].upper().replace("10", "T") + short[2].upper())
            rest = rest[short.end() :].lstrip()
        elif long and long[1].lower() in ranks and long[2].lower() in suits:
            found.append(ranks[long[1].lower()] + suits[long[2].lower()])
            rest = rest[long.end() :].lstrip()
        elif number and 1 <= int(number[1]) <= len(state.hand):
            found.append(state.hand[int(number[1]) - 1].card)
            rest = rest[number.end() :].lstrip()
        else:
            return []
    return found

"""One deal on paper, filled event by event: whatever the public history tells is written, in its order."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from referee.cards import SUIT_NAMES, Card, Mask, pips_in
from referee.rules import Action, Award, Deal, Ending, EventKind, Kind, Outcome, RuleSet
from referee.rules.actions import CARD_EVENTS, EVENT_WORDS, seat_text
from referee.rules.scoring import ITEMS
from referee.umpire.notation.style import WIDTH, Style, number, party, wrapped
from referee.umpire.record import IrregularRecord

_WORDS: Final[dict[int, str]] = {
    **{int(kind): words for kind, words in EVENT_WORDS.items()},
    EventKind.SHOW: "shows {}",
    EventKind.STOCK_TOP: "the stock shows {}",
}
_DONE: Final = {
    "RETRY": "it is asked again",
    "SUBSTITUTED": "the referee moves instead",
    "FORFEITED": "the game is forfeited",
}

Told = tuple[int, int, int]
"""An event that is told in words: seat, kind, value."""


class Page:
    """The text of one deal: ``begin``, ``follow`` after each action, ``rule`` before it, then ``end`` or ``break_off``."""

    def __init__(self, style: Style, rules: RuleSet, seats: int) -> None:
        self.lines: list[str] = []
        self._style, self._rules, self._seats = style, rules, seats
        self._bids: list[str] = []
        self._told: list[Told] = []
        self._notes: list[str] = []
        self._trick: dict[int, Card] = {}
        self._tricks = self._seen = self._high = 0
        self._held: list[Mask] = []
        self._taken: list[Mask] = []

    def begin(self, number: int, deal: Deal) -> None:
        """Head and hands; then what happens before anybody is asked."""
        self.lines += ["", f"Deal {number}, {seat_text(deal.dealer)} deals ".ljust(WIDTH, self._style.rule)]
        self._hands(deal.dealt)
        self._taken = deal.taken[:]
        self.follow(deal)

    def _hands(self, hands: Sequence[Mask]) -> None:
        rows = [self._style.cards(hand) for hand in hands]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for seat, row in enumerate(rows):
            self.lines.append(f"  {seat + 1}   " + "   ".join(t.ljust(w) for t, w in zip(row, widths, strict=True)))
        self._held = list(hands)

    def follow(self, deal: Deal) -> None:
        """Writes what happened since it was last called."""
        winner = next((s for s, (a, b) in enumerate(zip(self._taken, deal.taken, strict=True)) if a != b), None)
        self._taken = deal.taken[:]
        events, self._seen = deal.history[self._seen :], len(deal.history)
        for packed in events:
            kind, seat, value = packed >> 16, packed >> 8 & 0xFF, packed & 0xFF
            if kind == EventKind.PLAY:
                self._play(deal, seat, value, winner)
            elif kind == EventKind.BID:
                self._bid(deal, seat, value)
            else:
                self._told.append((seat, kind, value))
        if self._tricks and not self._trick:
            self.flush()

    def _bid(self, deal: Deal, seat: int, amount: int) -> None:
        steals = " steals" if amount and amount == self._high else ""
        self._high = max(self._high, amount)
        self._bids.append(f"{seat_text(seat)}: {amount or self._style.dash}{steals}")
        if deal.kind is not Kind.BID and deal.pitcher is not None:
            contract = f"at {deal.bid}" if deal.bid else "without obligation"
            self._bids.append(f"{seat_text(deal.pitcher)} is the pitcher {contract}")

    def _play(self, deal: Deal, seat: int, card: Card, winner: int | None) -> None:
        if not self._trick:
            self._open_trick(deal, card)
        self._trick[seat] = card
        if winner is not None:
            self._row(winner)

    def _open_trick(self, deal: Deal, card: Card) -> None:
        if self._tricks == 0:
            self.flush()
            held = [hand | played for hand, played in zip(deal.hands, deal.played, strict=True)]
            if held != self._held:
                self.lines += ["", "  Hands for the play"]
                self._hands(held)
            trump = deal.trump if deal.trump is not None else card >> 4
            seats = "".join(f"{s + 1:^7}" for s in range(self._seats))
            self.lines += ["", f"  {self._style.suit(trump)} trump {seats} pips"]
        self._tricks += 1

    def _row(self, winner: int | None) -> None:
        """One trick: ``>`` led, ``*`` won it."""
        leader = next(iter(self._trick))
        cells = []
        for seat in range(self._seats):
            card = self._trick.get(seat)
            text = self._style.dash if card is None else self._style.card(card)
            cells.append(f"{'>' if seat == leader else ' '}{text:<2}{'*' if seat == winner else ' '}".center(7))
        pips = pips_in(sum(1 << card for card in self._trick.values()))
        self.lines.append(f"  {self._tricks:>5}   {''.join(cells)} {pips:>4}")
        self._trick = {}
        self._note()

    def rule(self, entry: IrregularRecord, kind: Kind, action: Action | None) -> None:
        """A ruling, and what was done instead."""
        style, seat = self._style, seat_text(entry["seat"])
        what = f" with {style.action(kind, entry['action'])}" if isinstance(entry.get("action"), int) else ""
        done = _DONE.get(str(entry["consequence"]), str(entry["consequence"]).lower())
        if entry["consequence"] == "SUBSTITUTED" and action is not None:
            done = f"the referee's move for {seat} is {style.action(kind, action)}"
        rule = f" {style.plain(entry['rule'], 20)}" if entry["rule"] else ""
        sentence = style.cards_in_text(style.plain(entry["sentence"]))
        text = f"{seat[:1].upper()}{seat[1:]}{what}: {style.plain(entry['fault'], 30)}{rule}: {sentence}"
        self._notes += wrapped(f"{text} {style.plain(done[:1].upper() + done[1:])}.", "      ! ", "        ")

    def _note(self) -> None:
        self.lines += self._notes
        self._notes = []

    def flush(self) -> None:
        """Writes what has been gathered so far."""
        if self._bids:
            self.lines += ["", *wrapped("   ".join(self._bids), "  Bids    ", "          ")]
            self._bids = []
        if self._told:
            text = "; ".join(self._sentences())
            if self._tricks:
                self.lines += wrapped(text, "          ", "          ")
            else:
                self.lines += ["", *wrapped(f"{text}.", "  ", "  ")]
            self._told = []
        if self._trick:
            self._row(None)
        self._note()

    def _sentences(self) -> Iterator[str]:
        """What has been told, a clause for each seat in turn: ``seat 1 lays 3 away, draws 2``."""
        for seat, events in groupby(self._told, key=lambda told: told[0]):
            phrases = [
                self._words(kind, [e[2] for e in run]) for kind, run in groupby(events, key=lambda told: told[1])
            ]
            yield f"{seat_text(seat)} {', '.join(phrases)}"

    def _words(self, kind: int, values: list[int]) -> str:
        """Events of one kind in words; those that are not known yet, in numbers."""
        if kind in CARD_EVENTS:
            return _WORDS[kind].format(" ".join(map(self._style.card, values)))
        words = _WORDS.get(kind, f"event {kind} ({{}})")
        told = [SUIT_NAMES[value] if kind == EventKind.NAME_TRUMP else str(value) for value in values]
        return ", ".join(words.format(value) for value in told)

    # What it was worth.

    def break_off(self) -> None:
        """The game ends in the middle of the deal."""
        self.flush()
        self.lines += ["", "  The game ends here."]

    def end(self, outcome: Outcome, scores: Sequence[int]) -> None:
        """Items, pips, set-back, scores."""
        self.flush()
        sides = [f"{number(side, self._rules, self._seats)}:" for side in range(len(scores))]
        self.lines.append("")
        if outcome.ending is not Ending.PLAYED:
            self.lines.append(f"  Ending  {outcome.ending}")
        if outcome.awards or outcome.ending is Ending.PLAYED:
            self.lines += _row_of("Items", list(self._items(outcome)))
        if any(outcome.pips):
            self.lines += _figures("Pips", sides, list(map(str, outcome.pips)))
        self.lines += _figures("Points", sides, [f"{delta:+}" if delta else "0" for delta in outcome.deltas])
        if outcome.set_back is not None:
            made = f", made {outcome.made[outcome.set_back]}" if outcome.ending is Ending.PLAYED else ""
            bid = f": bid {outcome.bid}{made}" if outcome.bid else ""
            verb = "are" if self._rules.sides else "is"
            self.lines.append(f"          {party(outcome.set_back, self._rules, self._seats)} {verb} set back{bid}")
        self.lines += _figures("Scores", sides, list(map(str, scores)))

    def _items(self, outcome: Outcome) -> Iterator[str]:
        """What was scored at once, then High, Low, Jack and Game in this order, a dash for each that nobody owns."""
        played = self._rules.scoring == "items" and outcome.ending is Ending.PLAYED
        owned = {award.item: award for award in outcome.awards if played and award.item in ITEMS}
        yield from (self._item(award) for award in outcome.awards if award.item not in owned)
        for item in ITEMS if played else ():
            yield self._item(owned[item]) if item in owned else f"{item.capitalize()} {self._style.dash}"

    def _item(self, award: Award) -> str:
        card = f" {self._style.card(award.card)}" if award.card is not None else ""
        worth = f" ({award.points})" if award.points != 1 else ""
        owner = seat_text(award.seat)
        if award.item == "game" and award.card is None and self._rules.sides:
            owner = party(self._rules.side(award.seat), self._rules, self._seats)
        return f"{award.item.capitalize()}{card} {owner}{worth}"


_GAP = "\N{NO-BREAK SPACE}"


def _row_of(title: str, cells: Sequence[str]) -> list[str]:
    """A titled row; a cell is never broken in two."""
    text = "   ".join(cell.replace(" ", _GAP) for cell in cells)
    return [line.replace(_GAP, " ") for line in wrapped(text, f"  {title:<8}", "          ")]


def _figures(title: str, sides: Sequence[str], figures: Sequence[str]) -> list[str]:
    return _row_of(title, [f"{name} {figure:<4}" for name, figure in zip(sides, figures, strict=True)])

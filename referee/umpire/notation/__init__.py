"""A game as a person writes it down: players, hands, bids, tricks, items, scores, and every ruling where it was made.

Pure: a record in, lines of plain text out, at most 80 columns wide for the games of the family. Each deal is played again
by the rules to see who won what, so all that is needed is the record. Seats are numbered from 1, as everywhere in text.
Whatever stands in a record, the text is harmless in a terminal.
"""

from collections.abc import Collection, Iterator

from referee.cards import parse_cards
from referee.rules import Action, Deal, Game, Kind
from referee.umpire.notation.head import head
from referee.umpire.notation.page import Page
from referee.umpire.notation.style import Style, wrapped
from referee.umpire.record import Actions, DealRecord, Record, RecordError, spec_of

__all__ = ["write_down"]

_GARBLED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def write_down(record: Record, *, deals: Collection[int] | None = None, symbols: bool = True) -> str:
    """The game of a record as text. ``deals`` picks deals by number, from 1; all are written without it.

    ``symbols`` writes suits as symbols and dashes as dashes; else the text is ASCII alone. Where the rules do not confirm
    the record, the text says so and stops there. Raises ``RecordError`` for what is no record at all.
    """
    style = Style(symbols)
    try:
        lines = [*head(record, style), *_Walk(record, style).lines(deals)]
    except RecordError:
        raise
    except _GARBLED as error:
        raise RecordError(f"the record is garbled ({type(error).__name__}: {error})") from None
    return "\n".join(style.harmless(line).rstrip() for line in lines) + "\n"


class _Walk:
    """Goes through a game deal by deal, beside the rules."""

    def __init__(self, record: Record, style: Style) -> None:
        self._record, self._style = record, style
        spec = spec_of(record)
        self._rules, self._seats = spec.rules, spec.seats
        self._game = Game(spec.rules, spec.seats, spec.first_dealer)
        self._actions = Actions(record)
        self._rulings = list(record["irregular"])
        self._ruled = self._step = 0

    def lines(self, chosen: Collection[int] | None) -> Iterator[str]:
        """The lines of the chosen deals. The others are played too, for the scores."""
        for number, entry in enumerate(self._record["deals"], 1):
            page = Page(self._style, self._rules, self._seats)
            trouble = self._play(number, entry, page)
            if chosen is None or number in chosen:
                yield from page.lines
            if trouble:
                told = f"Deal {number}: here the record cannot be followed. {self._style.plain(trouble)}"
                yield from ("", *wrapped(told, "", "  "))
                return

    def _play(self, number: int, entry: DealRecord, page: Page) -> str:
        """Plays one deal onto a page; returns why it could not be played to its end."""
        try:
            deal = self._game.deal_pack(parse_cards(entry["pack"]))
            page.begin(number, deal)
            self._decide(number, deal, page)
            if deal.outcome is not None:
                self._game.close(deal.outcome)
                page.end(deal.outcome, self._game.scores)
        except _GARBLED as error:
            page.flush()
            return str(error)
        return ""

    def _decide(self, number: int, deal: Deal, page: Page) -> None:
        """Every decision of the deal, as far as the record has it: a game may be forfeited in its middle."""
        done: list[Kind] = []
        last = number == len(self._record["deals"])
        while deal.kind is not None:
            kind = deal.kind
            try:
                action = self._actions.next(number - 1, kind, done)
            except RecordError:
                if not last or self._record["result"]["reason"] != "forfeit":
                    raise
                self._rule(page, kind, None)
                page.break_off()
                return
            self._rule(page, kind, action)
            deal.act(action)
            page.follow(deal)
            done.append(kind)
            self._step += 1

    def _rule(self, page: Page, kind: Kind, action: Action | None) -> None:
        """The rulings before that action."""
        while self._ruled < len(self._rulings) and self._rulings[self._ruled]["step"] <= self._step:
            page.rule(self._rulings[self._ruled], kind, action)
            self._ruled += 1

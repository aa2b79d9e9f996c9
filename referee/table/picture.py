"""What the person may see of a deal: an explicit list, as ``umpire.view`` has one. The only place of the table that knows all hands."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from referee.cards import Mask, card_text, cards_in
from referee.report.clauses import clause
from referee.rules import (
    Action,
    Call,
    Deal,
    EventKind,
    Keeps,
    Kind,
    RuleSet,
    Violation,
    action_text,
    parse_action,
    unpack_event,
)
from referee.table.following import GameFollower
from referee.table.state import (
    AskedTurn,
    AwayCards,
    GameOnTable,
    HeldCard,
    MoveRuling,
    PossibleMove,
    SeatState,
    TableState,
)
from referee.table.words import card_name, kind_of, last_words, move_label, prompt, suit_letter

NOT_YOUR_TURN: Final = "It is not your turn."
START: Final = "start"
"""The phase before the first deal, while the bots are starting."""

_LONGEST_MOVE: Final = 40

RULES_PAGE: Final = "/rules"


def picture(
    follower: GameFollower, you: int, names: Sequence[str], asked: int | None, out: Mapping[int, str], turn_id: str
) -> TableState:
    """The table as the person sees it now. ``asked``: the seat that is to decide; ``out``: why seats have lost the game.

    Revision, log, and what else is not of the game is for the caller to fill in.
    """
    one = follower.current
    deal, rules = one.deal, one.deal.rules
    mine = asked == you and deal.kind is not None
    return TableState(
        revision=0,
        practice=False,
        paused=False,
        game=GameOnTable(rules.name, rules.title, rules.target, one.number, RULES_PAGE),
        you=you,
        seats=tuple(_seats(follower, you, names, asked, out)),
        phase=kind_of(deal),
        trump=suit_letter(deal.trump),
        turn_up=None if deal.turn_up is None else card_text(deal.turn_up),
        turn=AskedTurn(turn_id, kind_of(deal), prompt(deal), _choose(deal), None) if mine else None,
        hand=tuple(_hand(deal, you, mine=mine)),
        moves=tuple(_moves(deal)) if mine else (),
        trick=one.trick,
        leader=deal.leader if deal.kind is Kind.PLAY else None,
        last_trick=one.last_trick,
        laid_away=tuple(_laid_away(deal, you)),
        sheet=None,
        sheets=tuple(done.sheet for done in follower.deals if done.sheet is not None),
        log=(),
        over=None,
    )


def before_the_deal(rules: RuleSet, you: int, names: Sequence[str]) -> TableState:
    """The table while the bots are starting."""
    seats = tuple(
        SeatState(
            seat=seat,
            name=name,
            person=seat == you,
            partner=next(
                (one for one in range(len(names)) if one != seat and rules.side(one) == rules.side(seat)), None
            ),
            score=0,
            dealer=False,
            pitcher=False,
            bid="",
            cards=0,
            tricks=0,
            thinking=False,
            out="",
        )
        for seat, name in enumerate(names)
    )
    return TableState(
        revision=0,
        practice=False,
        paused=False,
        game=GameOnTable(rules.name, rules.title, rules.target, 1, RULES_PAGE),
        you=you,
        seats=seats,
        phase=START,
        trump=None,
        turn_up=None,
        turn=None,
        hand=(),
        moves=(),
        trick=(),
        leader=None,
        last_trick=None,
        laid_away=(),
        sheet=None,
        sheets=(),
        log=(),
        over=None,
    )


def _seats(
    follower: GameFollower, you: int, names: Sequence[str], asked: int | None, out: Mapping[int, str]
) -> Iterator[SeatState]:
    one = follower.current
    deal, rules, said = one.deal, one.deal.rules, last_words(one.deal)
    totals = one.sheet.totals if one.sheet is not None else [deal.scores[deal.side(seat)] for seat in range(deal.seats)]
    for seat in range(deal.seats):
        partners = [other for other in range(deal.seats) if other != seat and rules.side(other) == rules.side(seat)]
        yield SeatState(
            seat=seat,
            name=names[seat],
            person=seat == you,
            partner=partners[0] if partners else None,
            score=totals[seat],
            dealer=seat == deal.dealer,
            pitcher=deal.kind is not Kind.BID and deal.pitcher == seat,
            bid=said[seat],
            cards=deal.hands[seat].bit_count(),
            tricks=one.tricks[seat],
            thinking=asked == seat != you and deal.kind is not None,
            out=out.get(seat, ""),
        )


def _choose(deal: Deal) -> tuple[int, int] | None:
    legal = deal.legal()
    return (legal.size, legal.size) if isinstance(legal, Keeps) else None


def _hand(deal: Deal, you: int, *, mine: bool) -> Iterator[HeldCard]:
    for card in sorted(cards_in(deal.hands[you]), reverse=True):
        text, name = card_text(card), card_name(card)
        if not mine:
            yield HeldCard(text, name, False, "", NOT_YOUR_TURN)
            continue
        violation, must = _of_card(deal, card)
        if violation is None:
            yield HeldCard(text, name, True, "", "", must)
        else:
            yield HeldCard(text, name, False, violation.rule, violation.sentence)


def _of_card(deal: Deal, card: int) -> tuple[Violation | None, bool]:
    """What forbids a card of the hand, and whether it has to be kept."""
    legal = deal.legal()
    if deal.kind is Kind.PLAY:
        return deal.verify(card), False
    if isinstance(legal, Keeps):
        may = (legal.must | legal.may) >> card & 1
        return None if may else deal.verify(legal.must | 1 << card), bool(legal.must >> card & 1)
    return Violation("", "You are not asked for a card now.", legal), False


def _moves(deal: Deal) -> Iterator[PossibleMove]:
    for action in possible_moves(deal):
        violation = deal.verify(action)
        text = move_text(deal, action)
        rule, why = (violation.rule, violation.sentence) if violation else ("", "")
        key = "" if deal.kind is Kind.BID and action > 9 else text[0]
        kind = deal.kind
        if kind is not None:
            yield PossibleMove(text, move_label(kind, action), violation is None, rule, why, key)


def possible_moves(deal: Deal) -> tuple[Action, ...]:
    """All that can be said in this phase besides cards, legal now or not, in the order in which people expect it."""
    match deal.kind:
        case Kind.BID:
            return (0, *range(deal.rules.min_bid, deal.rules.max_bid + 1))
        case Kind.STAND_OR_BEG:
            return (Call.STAND, Call.BEG)
        case Kind.ANSWER_BEG:
            return (Call.GIVE, Call.RUN)
        case Kind.NAME_TRUMP:
            return (3, 2, 1, 0)
    return ()


def move_text(deal: Deal, action: Action) -> str:
    """An action as the State and the answers write it: ``pass``, ``3``, ``AS``, ``beg``, ``hearts``, ``keep AS KS``."""
    return "" if deal.kind is None else action_text(deal.kind, action)


def _laid_away(deal: Deal, you: int) -> Iterator[AwayCards]:
    """One's own cards; of others those that lie face up."""
    shown: dict[int, Mask] = {you: deal.laid_away[you]}
    for packed in deal.history:
        kind, seat, value = unpack_event(packed)
        if kind is EventKind.SHOW:
            shown[seat] = shown.get(seat, 0) | 1 << value
    for seat, cards in sorted(shown.items()):
        if cards:
            yield AwayCards(seat, tuple(card_text(card) for card in sorted(cards_in(cards), reverse=True)))


# What the person says.


def read_answer(deal: Deal, move: str, cards: Sequence[str] | None) -> Action:
    """The action that was said: a move, or the cards that are kept. Raises ``ValueError`` with what was expected."""
    if deal.kind is None:
        raise ValueError("nothing is asked now")
    if cards is not None:
        if deal.kind is not Kind.DISCARD:
            raise ValueError("you are not asked which cards you keep")
        return parse_action(Kind.DISCARD, " ".join(cards))
    try:
        if len(move) > _LONGEST_MOVE:
            raise ValueError("that is too long for a move")  # noqa: TRY301  # told as any other
        return parse_action(deal.kind, move)
    except ValueError as error:
        if deal.kind is Kind.BID:
            raise ValueError(f"{move[:20]!r} is no bid: say an amount, or pass") from None
        raise ValueError(str(error)) from None


def ruling_of(violation: Violation, rules: RuleSet) -> MoveRuling:
    """A violation as the person is told it: with the clause in words."""
    text = clause(violation.rule, rules)
    return MoveRuling(violation.rule, violation.sentence, text, f"{RULES_PAGE}#{violation.rule}")

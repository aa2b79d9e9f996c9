"""What the person is shown: every game, every phase; legal is what the umpire takes, illegal what it refuses, and nothing leaks."""

import random
from collections.abc import Iterator

import pytest

from referee.cards import card_text, cards_in, parse_hand
from referee.rules import Action, Deal, Keeps, RuleSet, parse_action, variant, variant_names
from referee.table.picture import picture
from referee.table.state import TableState
from referee.table.table import IllegalMoveError
from tests.table.seated import Seated, answer_by_chance

TABLES = [(name, seats) for name in variant_names() for seats in sorted({*variant(name).players})]


def phases_of(rules: RuleSet) -> set[str]:
    """What a person is asked in a game of these rules, sooner or later."""
    asked = {"play"}
    asked |= {"bid"} if rules.has_auction else set()
    asked |= {"beg", "gift"} if rules.trump_by == "turn_up" else set()
    asked |= {"name"} if rules.trump_by == "name" else set()
    asked |= {"discard"} if rules.lays_away else set()
    asked |= {"rob"} if rules.rob == "dealer" else set()
    return asked


def small(rules: RuleSet) -> RuleSet:
    """A game of a few deals."""
    return rules.with_rules({"max_deals": 5})


def said(state: TableState) -> Iterator[tuple[str, str, str, bool]]:
    """Every move and card of a State: what it is, rule, sentence, and whether it is legal."""
    for move in state.moves:
        yield move.move, move.rule, move.why, move.legal
    if state.turn is not None and state.turn.kind == "play":
        for held in state.hand:
            yield held.card, held.rule, held.why, held.legal


def check_turn(seated: Seated, state: TableState) -> None:
    deal, turn = seated.deal, state.turn
    assert turn is not None
    assert deal.kind is not None
    assert deal.seat == seated.you
    legal: set[Action] = set()
    for text, rule, why, is_legal in said(state):
        action = parse_action(deal.kind, text)
        violation = deal.verify(action)
        assert is_legal == (violation is None)
        if violation is None:
            legal.add(action)
            assert (rule, why) == ("", "")
            continue
        assert (rule, why) == (violation.rule, violation.sentence)
        with pytest.raises(IllegalMoveError) as refused:
            seated.table.move(turn.id, text)
        ruling = refused.value.ruling
        assert (ruling.rule, ruling.sentence) == (violation.rule, violation.sentence)
        assert ruling.clause
        assert ruling.link == f"/rules#{violation.rule}"
    if turn.choose is None:
        assert legal == set(deal.legal())
    else:
        check_cards_to_keep(seated, state, deal)


def check_cards_to_keep(seated: Seated, state: TableState, deal: Deal) -> None:
    keeps, turn = deal.legal(), state.turn
    assert turn is not None
    assert isinstance(keeps, Keeps)
    assert turn.choose == (keeps.size, keeps.size)
    may = {held.card for held in state.hand if held.legal}
    assert may == {card_text(card) for card in cards_in(keeps.must | keeps.may)}
    assert {held.card for held in state.hand if held.must} == {card_text(card) for card in cards_in(keeps.must)}
    for held in state.hand:
        if not held.legal:
            violation = deal.verify(keeps.must | parse_hand(held.card))
            assert violation is not None
            assert (held.rule, held.why) == (violation.rule, violation.sentence)
    if keeps.size:
        kept = [card_text(card) for card in cards_in(keeps[0])][1:]
        violation = deal.verify(parse_hand(" ".join(kept)))
        assert violation is not None
        with pytest.raises(IllegalMoveError) as refused:
            seated.table.move(turn.id, cards=kept)
        assert refused.value.ruling.sentence == violation.sentence


def check_nothing_leaks(seated: Seated, state: TableState) -> None:
    """Cards that the person has not seen change about, and the State stays as it is."""
    follower = seated.table._follower
    assert follower is not None
    one = follower.current
    honest, deal = one.deal, one.deal.copy()
    others = [seat for seat in range(deal.seats) if seat != seated.you]
    stock = list(deal.stock)
    face_up = [stock.pop(0)] if deal.turn_up is not None and stock and stock[0] == deal.turn_up else []
    hidden = [card for seat in others for card in cards_in(deal.hands[seat])] + stock
    shown = parse_hand(" ".join(away for laid in state.laid_away for away in laid.cards))
    for seat in others:
        hidden += cards_in(deal.laid_away[seat] & ~shown)
    seated.chance.shuffle(hidden)
    cards = iter(hidden)
    for seat in others:
        deal.hands[seat] = sum(1 << next(cards) for _ in cards_in(deal.hands[seat]))
    deal.stock = (*face_up, *(next(cards) for _ in stock))
    for seat in others:
        known = deal.laid_away[seat] & shown
        deal.laid_away[seat] = known | sum(1 << next(cards) for _ in cards_in(deal.laid_away[seat] & ~known))
    one.deal = deal
    try:
        names = seated.table.names
        asked = state.turn.id if state.turn is not None else ""
        again = picture(follower, seated.you, names, deal.seat, {}, asked)
    finally:
        one.deal = honest
    for name in (
        "seats",
        "phase",
        "trump",
        "turn_up",
        "hand",
        "moves",
        "trick",
        "leader",
        "last_trick",
        "laid_away",
        "game",
    ):
        assert getattr(again, name) == getattr(state, name), name


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_a_person_plays_every_game_by_what_the_state_says(name: str, seats: int) -> None:
    """And what it calls illegal is refused by the umpire's own verify, with the same rule and sentence."""
    rules, asked = small(variant(name)), set()
    for seed in range(2):
        you = random.Random(seed).randrange(seats)  # noqa: S311
        seated = Seated(rules, seats, seed, you)
        for state in seated.turns(answer_by_chance(seated)):
            assert state.turn is not None
            asked.add(state.turn.kind)
            check_turn(seated, state)
            check_nothing_leaks(seated, state)
        assert seated.umpire.result is not None
        assert not seated.umpire.irregularities
        log = seated.table.state().log
        assert [line.n for line in log] == list(range(log[0].n, log[0].n + len(log)))
    assert asked == phases_of(rules)

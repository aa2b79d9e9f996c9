"""The same replay in the terminal: frame by frame, with what was legal in brackets."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.cards import card_text
from referee.cli.replay import KEYS, move
from referee.league.league import League
from referee.league.store import Store
from referee.report.game_replay import GameReplay, game_replay
from referee.report.terminal_replay import Frame, frames
from referee.rules import Kind, variant_names
from referee.umpire.record import Record
from tests.report.made_leagues import open_league
from tests.report.test_game_replay import a_league


@pytest.fixture(params=variant_names())
def record(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Record]:
    store, _ = open_league(a_league(tmp_path, request.param))
    with store:
        yield store.record(1)


@pytest.fixture
def ruled(opened: tuple[Store, League]) -> GameReplay:
    """A replay with a ruling about a card."""
    store, _ = opened
    number = next(ruling["game"] for ruling in store.rulings() if ruling["rule"].startswith("AF-PLAY"))
    return game_replay(store.record(number), number)


def test_a_frame_for_every_position_and_every_ruling(record: Record) -> None:
    found = game_replay(record, 1)
    made = frames(found, symbols=False)
    assert len(made) == sum(len(deal.steps) + 1 for deal in found.deals) + len(found.rulings)
    assert sum(frame.ruling for frame in made) == len(found.rulings)
    text = "\n".join(line for frame in made for line in frame.lines)
    assert text.isascii()
    assert "{" not in text
    winner = "Nobody wins" if found.winner is None else f"{found.side_name(found.winner)} wins"
    assert any(line.startswith(winner) for line in made[-1].lines) or made[-1].ruling


def test_legal_cards_stand_in_brackets(ruled: GameReplay) -> None:
    made = frames(ruled, symbols=False)
    first = next(i for i, step in enumerate(ruled.deals[0].steps) if step.kind is Kind.PLAY)
    rulings = sum(one.place.deal == 0 and one.place.step <= first for one in ruled.rulings)
    step, frame = ruled.deals[0].steps[first], made[first + rulings]
    line = next(line for line in frame.lines if line.startswith(">"))
    for card in step.legal:
        assert f"[{card_text(card)}]" in line
    assert line.count("[") == len(step.legal)


def test_a_ruling_names_rule_sentence_and_what_was_legal(ruled: GameReplay) -> None:
    frame = next(frame for frame in frames(ruled, symbols=False) if frame.ruling and "AF-PLAY" in "".join(frame.lines))
    ruling = next(one for one in ruled.rulings if one.item.rule.startswith("AF-PLAY"))
    text = "\n".join(frame.lines)
    assert f"Ruling against {ruled.names[ruling.item.seat]}: {ruling.item.rule}" in text
    assert f"The referee: {ruling.item.sentence}" in text
    assert ruling.item.action is not None
    assert f"It answered: {card_text(ruling.item.action)}" in text
    assert "Legal was: " in text


def test_another_seat_sees_neither_hand_nor_ruling(ruled: GameReplay) -> None:
    ruling = ruled.rulings[0]
    other = (ruling.item.seat + 1) % ruled.seats
    made = frames(ruled, other, symbols=False)
    text = "\n".join(line for frame in made for line in frame.lines)
    assert ruling.item.sentence not in text
    assert "Only the seat itself is told what was ruled." in text
    assert text.count(" cards") >= (ruled.seats - 1) * len(made)
    hand = next(line for line in made[0].lines if ruled.names[ruling.item.seat] in line and " cards" in line)
    assert "6 cards" in hand


def test_scores_are_told_at_the_end_of_each_deal(ruled: GameReplay) -> None:
    text = "\n".join(line for frame in frames(ruled, symbols=False) for line in frame.lines)
    for deal in ruled.deals:
        if deal.outcome is not None:
            for side, after in enumerate(deal.after):
                told = f"{ruled.side_name(side)}: {deal.scores[side]} {deal.outcome.deltas[side]:+d} = {after}"
                assert told in text


def steps(pattern: str) -> list[Frame]:
    """Frames by a letter each: ``s`` a stop, ``r`` a ruling, ``.`` neither."""
    return [Frame((), sign == "r", sign == "s") for sign in pattern]


@pytest.mark.parametrize(
    ("key", "at", "then"),
    [
        ("\x1b[C", 0, 1),
        (" ", 9, 9),
        ("\x1b[D", 0, 0),
        ("b", 5, 4),
        ("t", 0, 4),
        ("\x1b[B", 4, 9),
        ("T", 5, 4),
        ("\x1b[A", 4, 0),
        ("r", 0, 2),
        ("r", 2, 6),
        ("r", 6, 2),
        ("g", 7, 0),
        ("G", 0, 9),
        ("?", 3, 3),
    ],
)
def test_keys_lead_to_frames(key: str, at: int, then: int) -> None:
    assert move(steps("s.r.s.r..s"), at, KEYS.get(key)) == then


def test_without_a_ruling_the_key_does_nothing() -> None:
    assert move(steps("s.s"), 1, "ruling") == 1


def test_ends_of_the_input_quit() -> None:
    assert {KEYS[key] for key in ("", "q", "\x1b", "\x04")} == {"quit"}

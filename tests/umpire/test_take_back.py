"""Practice: the same packs once more, up to a decision."""

import random

import pytest

from referee.net.games_in_play import GamesInPlay, InProcessPlayer
from referee.rules import variant, variant_names
from referee.umpire.events import Ask
from referee.umpire.faults import Fault
from referee.umpire.umpire import Umpire
from referee.umpire.view import Turn
from tests.umpires import new_umpire


def seen(turn: Turn) -> list[object]:
    """A turn without its id."""
    lists = ("history", "trick", "scores", "set_backs")
    plain = [getattr(turn, name) for name in Turn.__slots__ if name not in ("turn_id", "legal", *lists)]
    return [*plain, list(turn.legal[:50]), *(list(getattr(turn, name)) for name in lists)]


def played(game: str, count: int) -> tuple[Umpire, list[list[object]]]:
    """A game after so many moves by chance, and what was asked before each."""
    chance, asked = random.Random(count), []  # noqa: S311
    umpire = new_umpire(seats=variant(game).players[0], game=game)
    umpire.start()
    for _ in range(count):
        if umpire.open is None:
            break
        asked.append(seen(umpire.open))
        legal = umpire.open.legal
        umpire.answer(umpire.open.turn_id, legal[chance.randrange(len(legal))], 0)
    return umpire, asked


@pytest.mark.parametrize("game", variant_names())
def test_every_decision_is_asked_again_as_it_was(game: str) -> None:
    umpire, asked = played(game, 40)
    for step in (len(asked) - 1, len(asked) // 2, 1, 0):
        if umpire.closed:
            return
        before = umpire.open
        (ask,) = umpire.take_back(step)
        assert isinstance(ask, Ask)
        assert seen(ask.turn) == asked[step]
        assert umpire.open is ask.turn
        assert before is not None
        assert ask.turn.turn_id != before.turn_id
        assert umpire.steps == step
        assert umpire.answer(before.turn_id, before.legal[0], 0) == []  # whoever thinks of the old turn is not heard


def test_what_is_not_there_is_not_gone_back_to() -> None:
    umpire, _ = played("auction-pitch", 5)
    for step in (-1, 6, 100):
        with pytest.raises(ValueError, match="cannot go back"):
            umpire.take_back(step)
    umpire.lose(0, Fault.CRASH, "It crashed.")
    with pytest.raises(ValueError, match="cannot go back"):
        umpire.take_back(0)


def test_players_are_asked_again_and_whoever_looks_on_is_told() -> None:
    watched: list[int] = []
    answers: list[Turn] = []

    def choose(turn: Turn) -> int:
        answers.append(turn)
        if len(answers) == 4:
            games.seated[umpire] = [InProcessPlayer(choose)] * 2
            games.take_back(umpire, 1)
        if len(answers) > 8:
            raise RuntimeError("enough")
        return turn.legal[0]

    games = GamesInPlay(watch=lambda _, one: watched.append(one.steps))
    umpire = new_umpire()
    games.open(umpire, [InProcessPlayer(choose)] * 2)
    assert watched[:5] == [0, 1, 2, 3, 1]
    assert seen(answers[4]) == seen(answers[1])

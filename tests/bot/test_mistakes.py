"""The SDK of a bot: what it does about mistakes of the bot, and bots that wait for something else."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from referee.bot import Bot, Card, Kind, Turn, wire
from tests.sdk import Scripted, one_batch, play, play_turn

# The bot's own mistakes


def test_an_exception_shows_the_turn_and_the_line_and_keeps_earlier_answers(capsys: pytest.CaptureFixture[str]) -> None:
    def choose(turn: Turn) -> Any:
        if turn.message.turn_id == 3:
            raise KeyError("my mistake")
        return turn.legal[0]

    code, scripted = play(one_batch(*(play_turn(number) for number in range(1, 6)), answers=5), choose=choose)
    assert code == 1
    assert [move.turn_id for move in scripted.answers] == [1, 2]  # type: ignore[attr-defined]
    assert scripted.half_closed
    err = capsys.readouterr().err
    assert "choose() at turn 3: PLAY" in err
    assert 'raise KeyError("my mistake")' in err
    assert "session.py" not in err


@pytest.mark.parametrize(
    ("kind", "answer", "sentence"),
    [
        (Kind.PLAY, None, "choose returned None (is a return missing?)"),
        (Kind.PLAY, "QH", "choose returned 'QH', a str; a turn of kind PLAY is answered with one of turn.legal"),
        (Kind.PLAY, 3.5, "choose returned 3.5, a float"),
        (Kind.BID, True, "choose returned True, a bool"),
        (Kind.BID, 2**40, "choose returned 1099511627776, a int"),
        (Kind.NAME_TRUMP, None, "choose returned None"),
        (Kind.DISCARD, 5, "is answered with a list of the cards to keep"),
        (Kind.DISCARD, [Card("QH"), None], "is answered with a list of the cards to keep"),
        (Kind.ANSWER_BEG, "give", "choose returned 'give', a str"),
    ],
)
def test_what_is_no_answer_is_never_sent(
    kind: Kind, answer: Any, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, scripted = play(one_batch(wire.Turn(turn_id=8, kind=wire.TurnKind.ValueType(kind))), choose=lambda _: answer)
    assert code == 1
    assert not scripted.messages
    err = capsys.readouterr().err
    assert f"choose() at turn 8: {kind.name}" in err
    assert sentence in err
    assert "Traceback" not in err


def test_an_exception_in_a_hook_names_the_hook(capsys: pytest.CaptureFixture[str]) -> None:
    class Broken(Bot):
        def game_over(self, over: wire.GameOver) -> None:
            raise ZeroDivisionError

    def script(referee: Scripted) -> Iterator[wire.PlayResponse]:
        yield wire.PlayResponse(notices=[wire.Notice(game_over=wire.GameOver(game_id=12))])
        referee.moves(1)

    code, _ = play(script, Broken())
    err = capsys.readouterr().err
    assert code == 1
    assert "game_over() with\ngame_id: 12" in err
    assert "ZeroDivisionError" in err


def test_a_bot_without_choose_is_told_what_to_write(capsys: pytest.CaptureFixture[str]) -> None:
    class Idle(Bot):
        pass

    code, _ = play(one_batch(play_turn()), Idle())
    assert code == 1
    assert "Idle has no choose: write def choose(self, turn)" in capsys.readouterr().err


# async def


def test_turns_of_an_async_bot_run_side_by_side() -> None:
    class Patient(Bot):
        def __init__(self) -> None:
            self.waiting = 0
            self.all_here = asyncio.Event()

        async def choose(self, turn: Turn) -> Any:
            self.waiting += 1
            if self.waiting == 3:
                self.all_here.set()
            await self.all_here.wait()
            return turn.legal[0]

    code, scripted = play(one_batch(*(play_turn(number) for number in range(1, 4))), Patient())
    assert code == 0
    assert {move.turn_id for move in scripted.answers} == {1, 2, 3}  # type: ignore[attr-defined]


def test_an_async_bot_that_raises_ends_as_any_other(capsys: pytest.CaptureFixture[str]) -> None:
    cancelled: list[int] = []

    async def choose(turn: Turn) -> Any:
        if turn.message.turn_id == 2:
            raise RuntimeError("no idea")
        if turn.message.turn_id == 3:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(3)
                raise
        return turn.legal[0]

    code, scripted = play(one_batch(*(play_turn(number) for number in range(1, 4)), answers=3), choose=choose)
    err = capsys.readouterr().err
    assert code == 1
    assert cancelled == [3]
    assert {move.turn_id for move in scripted.answers} <= {1}  # type: ignore[attr-defined]
    assert "choose() at turn 2: PLAY" in err
    assert "RuntimeError: no idea" in err
    assert "session.py" not in err

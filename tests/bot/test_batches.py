"""The SDK of a bot: many turns at once, and farewell."""

from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

import grpc
import pytest

from referee.bot import Bot, Call, Card, EventKind, Kind, Objective, Suit, Turn, events, parse_cards, wire
from referee.bot import _session as session
from referee.rules.actions import pack_event
from tests.sdk import FAREWELL, Scripted, one_batch, play, play_turn

# Batches


def test_a_batch_of_64_is_answered_turn_by_turn_after_one_join() -> None:
    turns = [play_turn(1000 + number, bot_seed=number) for number in range(64)]
    code, scripted = play(one_batch(*turns), choose=lambda turn: turn.rng.choice(turn.legal))
    assert code == 0
    answers = scripted.answers  # type: ignore[attr-defined]
    assert [move.turn_id for move in answers] == [turn.turn_id for turn in turns]
    assert len({move.card for move in answers}) == 3
    assert scripted.tokens == ["Bearer a-token"]
    (join,) = scripted.joins
    assert (join.max_in_flight, join.language, join.wants_notices, join.stateful) == (64, "python", False, False)
    assert join.sdk.startswith("referee.bot ")


@pytest.mark.parametrize(
    ("kind", "answer", "field", "sent"),
    [
        (Kind.BID, 0, "bid", 0),
        (Kind.PLAY, Card("QH"), "card", wire.CARD_QH),
        (Kind.PLAY, 63, "card", 63),
        (Kind.NAME_TRUMP, Suit.CLUBS, "suit", wire.SUIT_CLUBS),
        (Kind.STAND_OR_BEG, Call.BEG, "call", wire.CALL_BEG),
        (Kind.ANSWER_BEG, Call.RUN, "call", wire.CALL_RUN),
        (Kind.DISCARD, parse_cards("2C AS"), "kept", [wire.CARD_2C, wire.CARD_AS]),
    ],
)
def test_an_answer_goes_into_the_field_of_its_kind(kind: Kind, answer: Any, field: str, sent: Any) -> None:
    turn = wire.Turn(turn_id=3, kind=wire.TurnKind.ValueType(kind))
    code, scripted = play(one_batch(turn), choose=lambda _: answer)
    assert code == 0
    (move,) = scripted.answers  # type: ignore[attr-defined]
    assert {found.name for found, _ in move.ListFields()} == {"turn_id", field}
    assert getattr(move, field) == sent


def test_keeping_nothing_is_an_answer_too() -> None:
    code, scripted = play(one_batch(wire.Turn(turn_id=3, kind=wire.TURN_KIND_DISCARD)), choose=lambda _: ())
    assert code == 0
    assert scripted.answers == [wire.Move(turn_id=3)]  # type: ignore[attr-defined]


def test_answers_wait_no_longer_than_ten_milliseconds_for_company(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(session.time, "monotonic", lambda: now[0])
    out: SimpleQueue[wire.PlayRequest | None] = SimpleQueue()
    batch = session.Batch(out.put)
    for number in range(7):
        now[0] += 0.004
        batch.add(Turn(play_turn(number)), Card("QH"))
    batch.flush()
    batch.flush()
    out.put(None)
    assert [[move.turn_id for move in request.moves] for request in iter(out.get, None)] == [[0, 1, 2], [3, 4, 5], [6]]


def test_a_message_never_holds_more_than_500_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session.time, "monotonic", lambda: 0.0)
    out: SimpleQueue[wire.PlayRequest | None] = SimpleQueue()
    batch = session.Batch(out.put)
    for number in range(1001):
        batch.add(Turn(play_turn(2**53 - 1 - number)), Card("QH"))
    batch.flush()
    out.put(None)
    requests = list(iter(out.get, None))
    assert [len(request.moves) for request in requests] == [500, 500, 1]
    assert max(request.ByteSize() for request in requests) < 64 * 1024


def test_an_illegal_action_is_sent_and_its_ruling_printed_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.bot._said", set())
    ruling = wire.Ruling(
        turn_id=1, rule_id="AF-PLAY-001", sentence="You do not hold 3D.", outcome=wire.RULING_OUTCOME_RETRY
    )

    def script(referee: Scripted) -> Iterator[wire.PlayResponse]:
        yield wire.PlayResponse(turns=[play_turn(1)])
        assert referee.moves(1)[0].card == wire.CARD_3D
        yield wire.PlayResponse(rulings=[ruling, ruling], turns=[play_turn(2, retry=1)])
        assert referee.moves(1)[0] == wire.Move(turn_id=2, card=wire.CARD_2C)
        yield FAREWELL

    code, _ = play(script, choose=lambda turn: turn.legal[0] if turn.retry else Card("3D"))
    assert code == 0
    assert capsys.readouterr().err.count("AF-PLAY-001: You do not hold 3D. [retry]") == 1


def test_a_bot_says_what_it_is_and_hears_what_it_has_hooks_for() -> None:
    heard: list[Any] = []

    class Curious(Bot):
        name, version, variants, max_in_flight, stateful = "Curious", "3", ("auction-pitch",), 8, True

        def choose(self, turn: Turn) -> Any:
            heard.append((turn.rules.title, turn.objective))
            return turn.legal[0]

        def joined(self, joined: wire.Joined) -> None:
            heard.append(joined.move_ms)

        def game_over(self, over: wire.GameOver) -> None:
            heard.append(tuple(over.places))

        def deal_over(self, over: wire.DealOver) -> None:
            heard.append(events(over.history))

        def ruling(self, ruling: wire.Ruling) -> None:
            heard.append(ruling.sentence)

    house = [wire.RuleSet(rule_set_id=number, title=f"Game {number}") for number in (1, 2)]
    joined = wire.Joined(move_ms=5000, rule_sets=house[:1], objective=wire.OBJECTIVE_PLACE)
    news = [
        wire.Notice(game_started=wire.GameStarted(rule_set=house[1])),
        wire.Notice(deal_over=wire.DealOver(history=[pack_event(2, 1)])),
        wire.Notice(game_over=wire.GameOver(places=[1, 2])),
        wire.Notice(),
    ]

    def script(referee: Scripted) -> Iterator[wire.PlayResponse]:
        yield wire.PlayResponse(
            joined=joined,
            rulings=[wire.Ruling(sentence="No.")],
            notices=news,
            turns=[play_turn(1, rule_set_id=1), play_turn(2, rule_set_id=2)],
        )
        referee.moves(2)
        yield FAREWELL

    code, scripted = play(script, Curious())
    assert code == 0
    assert heard == [
        5000,
        "No.",
        ((EventKind.STAND, 1, 0),),
        (1, 2),
        ("Game 1", Objective.PLACE),
        ("Game 2", Objective.PLACE),
    ]
    (join,) = scripted.joins
    assert (join.name, join.version, list(join.variants)) == ("Curious", "3", ["auction-pitch"])
    assert (join.max_in_flight, join.stateful, join.wants_notices) == (8, True, True)


def test_what_later_versions_may_send_is_ignored() -> None:
    unknown = b"\xba\x3e\x03abc"  # field 999, three bytes
    turn = wire.Turn.FromString(play_turn(5).SerializeToString() + unknown)
    turn.history.extend([pack_event(77, 3, 1), pack_event(1, 0, 2), 2**32 - 1])
    turn.hand.extend([wire.Card.ValueType(number) for number in (15, 44, 200, 100_000)])
    turn.turn_up = wire.Card.ValueType(31)
    turn.trump = wire.Suit.ValueType(9)
    response = wire.PlayResponse(
        joined=wire.Joined(objective=wire.Objective.ValueType(44)),
        notices=[wire.Notice.FromString(unknown)],
        rulings=[wire.Ruling(sentence="Something new.", outcome=wire.RulingOutcome.ValueType(99))],
        turns=[turn],
    )
    seen: list[Any] = []

    def choose(turn: Turn) -> Any:
        seen.append((turn.history, turn.trump, turn.objective, Card("QH") in turn.hand, str(turn)))
        return turn.legal[1]

    def script(referee: Scripted) -> Iterator[wire.PlayResponse]:
        yield wire.PlayResponse.FromString(response.SerializeToString() + unknown)
        assert referee.moves(1) == [wire.Move(turn_id=5, card=wire.CARD_QH)]
        yield FAREWELL

    code, _ = play(script, choose=choose)
    assert code == 0
    assert seen[0][:4] == (((EventKind.BID, 0, 2),), None, Objective.UNSPECIFIED, True)


# Farewell


def test_after_the_farewell_the_bot_closes_its_side_and_reads_to_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    def script(referee: Scripted) -> Iterator[wire.PlayResponse]:
        yield wire.PlayResponse(
            farewell=wire.Farewell(reason=wire.FAREWELL_REASON_REFUSED, sentence="Nobody plays that here.")
        )
        referee.moves(1)
        yield wire.PlayResponse(turns=[play_turn()])

    code, scripted = play(script)
    assert code == 0
    assert scripted.half_closed
    assert not scripted.messages
    assert "the referee says farewell: Nobody plays that here." in capsys.readouterr().err


def test_however_the_stream_ends_after_the_farewell_all_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    def script(referee: Scripted) -> Iterator[wire.PlayResponse]:
        yield FAREWELL
        referee.context.abort(grpc.StatusCode.UNAVAILABLE, "shutting down")

    code, _ = play(script)
    assert (code, capsys.readouterr().err) == (0, "")

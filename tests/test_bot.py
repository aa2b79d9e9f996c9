"""The Python SDK against a small referee of the test's own: turns, batches, news, farewells, and every way to fail."""

import asyncio
import doctest
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Event as Flag
from typing import Any, Final

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee import _bot_cards as bot_cards
from referee import _bot_chance as chance
from referee import _bot_session as session
from referee import _bot_turn as bot_turn
from referee import cards, rules
from referee._bot_dial import Address, AddressError, Patience, read_address, serve
from referee.bot import Bot, Call, Card, EventKind, Keeps, Kind, Objective, Suit, Turn, events, parse_cards, wire
from referee.protocol.allfours.v1 import service_pb2_grpc
from referee.rules.actions import pack_event

ROOT: Final = Path(__file__).resolve().parents[1]
SHORT: Final = Patience(grace_s=5, first_s=0.01, most_s=0.05)
FAREWELL: Final = wire.PlayResponse(farewell=wire.Farewell(reason=wire.FAREWELL_REASON_FINISHED))

# A key and a certificate for localhost, of no use but here.
KEY: Final = b"""-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgn/8sJRihrfOjZAO3
tFrdMbY5iuJwBXWGaU9tJuoW3fShRANCAATp1FimCKe0oHsUBed3m5sFX+5OWEq8
UFKv7Um4tFsW138P8YUsCZMOTqb/yMr5uozoBwreueHUh0f6Ci4vC0tf
-----END PRIVATE KEY-----
"""
CERTIFICATE: Final = b"""-----BEGIN CERTIFICATE-----
MIIBZzCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOnUWKYIp7SgexQF
53ebmwVf7k5YSrxQUq/tSbi0WxbXfw/xhSwJkw5Opv/Iyvm6jOgHCt654dSHR/oK
Li8LS1+jTjBMMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAPBgNVHRMBAf8E
BTADAQH/MB0GA1UdDgQWBBSvYp9MX/QchUx+8YwVCV/aukV0LjAKBggqhkjOPQQD
AgNIADBFAiBacBljFvGLBKC5nxIdRk+STBni/EcuG/LgMQ0gYQhqigIhAKb0Xfi1
/29YqdmIiDCBRb/BPMop+XoXCyA8RmEtQ5xH
-----END CERTIFICATE-----
"""

Script = Callable[["Scripted"], Iterator[wire.PlayResponse]]


class Scripted(service_pb2_grpc.RefereeServiceServicer):
    """A referee that follows a script: one generator a connection, which asks with ``yield`` and reads with ``moves``."""

    def __init__(self, *scripts: Script) -> None:
        self._scripts = iter(scripts)
        self.joins: list[wire.Join] = []
        self.tokens: list[str] = []
        self.messages: list[wire.PlayRequest] = []
        self.half_closed = False
        self.gone = Flag()

    def Play(self, request_iterator: Any, context: Any) -> Iterator[wire.PlayResponse]:  # noqa: N802
        context.add_callback(self.gone.set)
        self.context, self._requests = context, request_iterator
        self.tokens += [value for key, value in context.invocation_metadata() if key == "authorization"]
        self.joins.append(next(request_iterator).join)
        yield from next(self._scripts)(self)

    def moves(self, count: int) -> list[wire.Move]:
        """Reads messages until they hold this many moves, or the bot has closed its side."""
        found: list[wire.Move] = []
        while len(found) < count:
            request = next(self._requests, None)
            if request is None:
                self.half_closed = True
                break
            self.messages.append(request)
            found += request.moves
        return found


@contextmanager
def referee(*scripts: Script, scheme: str = "unix") -> Iterator[tuple[Scripted, dict[str, str]]]:
    """A scripted referee and the environment in which a bot finds it."""
    server = grpc.server(ThreadPoolExecutor(4), options=[("grpc.so_reuseport", 0)])
    servicer = Scripted(*scripts)
    service_pb2_grpc.add_RefereeServiceServicer_to_server(servicer, server)
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are too deep for the name of a socket
        if scheme == "unix":
            address = f"unix:{folder}/socket"
            server.add_insecure_port(address)
        elif scheme == "tcp":
            address = f"tcp:127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        else:
            credentials = grpc.ssl_server_credentials([(KEY, CERTIFICATE)])
            address = f"tls:localhost:{server.add_secure_port('127.0.0.1:0', credentials)}"
        server.start()
        try:
            yield servicer, {"REFEREE_ADDRESS": address, "REFEREE_TOKEN": "a-token"}
        finally:
            server.stop(None).wait()


def play_turn(turn_id: int = 1, **fields: Any) -> wire.Turn:
    """A turn to play a card, of three that are legal."""
    options = wire.Options(cards=parse_cards("2C QH AS"))
    return wire.Turn(**{"turn_id": turn_id, "kind": wire.TURN_KIND_PLAY, "seats": 4, "options": options, **fields})


def one_batch(*turns: wire.Turn, answers: int | None = None) -> Script:
    """Asks these turns at once, reads the answers, says farewell."""

    def script(referee: Scripted) -> Iterator[wire.PlayResponse]:
        yield wire.PlayResponse(turns=turns)
        referee.answers = referee.moves(len(turns) if answers is None else answers)  # type: ignore[attr-defined]
        yield FAREWELL

    return script


def lowest(turn: Turn) -> Any:
    return turn.legal[0]


def play(script: Script, bot: Bot | None = None, choose: Any = lowest) -> tuple[int, Scripted]:
    """Runs a bot against a scripted referee on a unix socket; the exit code, and the referee."""
    with referee(script) as (scripted, environ):
        code = serve(bot or Bot(), bot.choose if bot else choose, environ, SHORT)
    return code, scripted


# Cards, suits, chance


def test_numbers_are_those_of_the_domain_and_of_the_wire() -> None:
    assert tuple(map(int, bot_cards.PACK)) == cards.PACK
    assert [card.pips for card in bot_cards.PACK] == [cards.PIPS[card] for card in cards.PACK]
    for ours, theirs in ((Kind, rules.Kind), (Call, rules.Call), (EventKind, rules.EventKind)):
        assert {item.name: int(item) for item in ours} == {item.name: int(item) for item in theirs}
    assert [suit.name.lower() for suit in Suit] == list(cards.SUIT_NAMES)
    assert {objective.name: int(objective) for objective in Objective} == {
        name.removeprefix("OBJECTIVE_"): number for name, number in wire.Objective.items()
    }


@pytest.mark.parametrize("card", cards.PACK)
def test_a_card_reads_as_its_text_and_counts_as_its_number(card: int) -> None:
    ours = Card(card)
    assert str(ours) == repr(ours) == f"{ours}" == cards.card_text(card)
    assert Card(str(ours).lower()) is ours
    assert (ours, ours.rank, ours.suit) == (card, cards.rank_of(card), cards.suit_of(card))


@pytest.mark.parametrize("what", ["1H", "H", "", "QHH", 0, 15, 64, -1])
def test_what_is_no_card_is_refused(what: Any) -> None:
    with pytest.raises(ValueError, match="is not a card: write rank then suit"):
        Card(what)


def test_words_print_as_words() -> None:
    assert f"{Suit.HEARTS:>7} {Call.BEG} {Kind.PLAY}" == " hearts beg play"
    assert Suit.SPADES.letter == "S"


@given(st.integers(0, 2**53 - 1), st.integers(1, 2**40))
def test_chance_stays_below_and_repeats_itself(seed: int, below: int) -> None:
    one, other = chance.Chance(seed), chance.Chance(seed)
    numbers = [one.randrange(below) for _ in range(5)]
    assert numbers == [other.randrange(below) for _ in range(5)]
    assert all(0 <= number < below for number in numbers)


def test_chance_is_even_and_has_every_method_of_random() -> None:
    rng = chance.Chance(5)
    counts = [0] * 6
    for _ in range(6000):
        counts[rng.randrange(6)] += 1
    assert all(850 < count < 1150 for count in counts)
    assert sorted(rng.sample(range(52), 52)) == list(range(52))
    assert 0.45 < sum(rng.random() for _ in range(2000)) / 2000 < 0.55
    assert {rng.getrandbits(3) for _ in range(200)} == set(range(8))
    assert rng.getrandbits(130).bit_length() > 64
    assert rng.getrandbits(0) == 0
    state = rng.getstate()
    again = rng.gauss(0, 1)
    rng.setstate(state)
    assert rng.gauss(0, 1) == again
    with pytest.raises(ValueError, match="0 or more"):
        rng.getrandbits(-1)
    with pytest.raises(TypeError, match="a seed is a number"):
        rng.seed("seven")
    with pytest.raises(IndexError):
        rng.choice([])


# Turns


def test_a_turn_reads_well() -> None:
    turn = Turn(
        play_turn(
            game_id=9,
            seat=2,
            seats=4,
            sides=2,
            dealer=3,
            hand=parse_cards("2C QH AS"),
            trick=parse_cards("3C TC"),
            trick_leader=0,
            trump=wire.SUIT_SPADES,
            pitcher=0,
            bid=2,
            scores=[3, -2, 3, -2],
            set_backs=[0, 1, 0, 1],
            target=11,
            stock_count=28,
            deal=4,
            decision=17,
            retry=1,
            turn_up=wire.CARD_JD,
            discards=parse_cards("4D"),
            move_ms=5000,
            bank_ms=30000,
            history=[pack_event(1, 0, 2), pack_event(13, 0, Card("3C")), pack_event(7, 1, 2), pack_event(99, 1, 1)],
        )
    )
    assert (turn.kind, turn.seat, turn.seats, turn.game, turn.dealer, turn.eldest) == (Kind.PLAY, 2, 4, 9, 3, 0)
    assert turn.legal == turn.hand == parse_cards("2C QH AS")
    assert (turn.trick, turn.leader, turn.trump, turn.pitcher, turn.bid) == (parse_cards("3C TC"), 0, Suit.SPADES, 0, 2)
    assert (turn.partners, turn.opponents) == ((0,), (1, 3))
    assert (turn.scores, turn.set_backs, turn.target) == ((3, -2, 3, -2), (0, 1, 0, 1), 11)
    assert (turn.deal, turn.decision, turn.retry, turn.stock_count) == (4, 17, 1, 28)
    assert (turn.turn_up, turn.discards) == (Card("JD"), parse_cards("4D"))
    assert (turn.move_ms, turn.bank_ms) == (5000, 30000)
    assert turn.high_bid == 2
    assert [str(event.value) for event in turn.history] == ["2", "3C", "hearts"]
    for word in ("turn 1: PLAY", "hand    AS QH 2C", "trick   3C TC", "spades", "0 BID 2, 0 PLAY 3C", "2C, QH, AS"):
        assert word in str(turn)


def test_an_empty_turn_has_nothing_settled() -> None:
    turn = Turn(wire.Turn(kind=wire.TURN_KIND_BID, seats=3, options=wire.Options(bids=[0, 2, 3, 4])))
    assert (turn.trump, turn.leader, turn.pitcher, turn.turn_up, turn.winning) == (None,) * 5
    assert (turn.partners, turn.opponents, turn.high_bid, turn.trick) == ((), (1, 2), 0, ())
    assert turn.legal == (0, 2, 3, 4)
    with pytest.raises(LookupError, match="has not told the rule set 0"):
        _ = turn.rules


def test_what_is_legal_comes_as_what_it_is() -> None:
    suits = Turn(wire.Turn(kind=wire.TURN_KIND_NAME_TRUMP, options=wire.Options(suits=[1, 4])))
    assert suits.legal == (Suit.CLUBS, Suit.SPADES)
    assert isinstance(suits.legal[0], Suit)
    calls = Turn(wire.Turn(kind=wire.TURN_KIND_ANSWER_BEG, options=wire.Options(calls=[3, 4])))
    assert calls.legal == (Call.GIVE, Call.RUN)


def test_a_kind_of_later_versions_is_named_in_the_error() -> None:
    turn = Turn(wire.Turn(kind=wire.TurnKind.ValueType(77)))
    with pytest.raises(LookupError, match="kind 77: install a newer Referee"):
        _ = turn.kind
    assert "77" in str(turn)


def test_a_cinch_dealer_never_lists_all_his_ways() -> None:
    keep = wire.Keep(may_keep=bot_cards.PACK[:25], count=6)
    turn = Turn(wire.Turn(kind=wire.TURN_KIND_DISCARD, options=wire.Options(keep=keep)))
    assert len(turn.legal) == 177_100
    assert turn.keeps is turn.legal
    kept = turn.rng.choice(turn.legal)
    assert kept in turn.legal
    assert list(kept) == sorted(kept)
    assert len(set(kept)) == 6


@given(st.sets(st.sampled_from(cards.PACK), max_size=9), st.integers(0, 9), st.integers(0, 9))
def test_ways_to_keep_are_those_of_the_domain_in_the_same_order(held: set[int], musts: int, size: int) -> None:
    held_cards = sorted(map(Card, held))
    must, may = tuple(held_cards[:musts]), tuple(held_cards[musts:])
    ours = Keeps(must, may, size)
    theirs = rules.Keeps(cards.mask_of(must), cards.mask_of(may), size)
    assert [cards.mask_of(kept) for kept in ours] == list(theirs)
    assert all(kept in ours for kept in ours)
    assert ours[1:3] == [ours[i] for i in range(len(ours))][1:3]


def test_only_ways_to_keep_are_in_keeps() -> None:
    ways = Keeps(parse_cards("AS"), parse_cards("2C 3C 4C"), 2)
    assert list(parse_cards("AS 2C")) in ways
    assert set(parse_cards("AS 2C")) in ways
    for wrong in ("AS", "2C 3C", "AS 2C 3C", "AS KS", "AS AS"):
        assert parse_cards(wrong) not in ways
    assert 7 not in ways
    with pytest.raises(IndexError):
        _ = ways[3]
    assert len(Keeps(parse_cards("AS KS"), (), 1)) == 0


def test_chance_depends_on_the_decision_alone() -> None:
    def numbers(**fields: int) -> list[int]:
        return Turn(wire.Turn(**{"bot_seed": 5, "deal": 1, "decision": 2, **fields})).rng.sample(range(100), 5)  # type: ignore[arg-type]

    assert numbers() == numbers(turn_id=77, move_ms=3)
    different = [numbers(), numbers(bot_seed=6), numbers(deal=2), numbers(decision=3), numbers(retry=1)]
    assert len({tuple(row) for row in different}) == len(different)
    turn = Turn(wire.Turn())
    assert turn.rng is turn.rng
    assert isinstance(turn.rng, random.Random)


def test_the_winning_card_of_a_trick() -> None:
    def winning(trick: str, trump: wire.Suit.ValueType, leader: int = 2) -> int | None:
        return Turn(wire.Turn(trick=parse_cards(trick), trump=trump, trick_leader=leader, seats=4)).winning

    assert winning("TH AH 9S", wire.SUIT_CLUBS) == 3
    assert winning("TH AS 9H", wire.SUIT_CLUBS) == 2
    assert winning("TH AH 2C", wire.SUIT_CLUBS) == 0
    assert winning("TH 9H", wire.SUIT_UNSPECIFIED) == 2


def test_the_left_pedro_is_a_trump_below_the_five() -> None:
    house = wire.RuleSet(left_pedro=True)
    message = wire.Turn(trick=parse_cards("4S"), trump=wire.SUIT_SPADES, seats=4)
    cinch, pitch = Turn(message, house), Turn(message, wire.RuleSet())
    assert cinch.suit_of(Card("5C")) is Suit.SPADES
    assert pitch.suit_of(Card("5C")) is Suit.CLUBS
    assert cinch.beats(Card("5C"))
    assert not pitch.beats(Card("5C"))
    assert not Turn(wire.Turn(trick=parse_cards("5S"), trump=wire.SUIT_SPADES), house).beats(Card("5C"))
    assert Turn(wire.Turn(trick=parse_cards("5C"), trump=wire.SUIT_SPADES), house).beats(Card("5S"))


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
    batch = session.Batch(out)
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
    batch = session.Batch(out)
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


# The connection


def break_off(referee: Scripted) -> Iterator[wire.PlayResponse]:
    """Asks one turn, and breaks the stream before it is answered."""
    yield wire.PlayResponse(turns=[play_turn(7)])
    referee.context.abort(grpc.StatusCode.UNAVAILABLE, "the cable was cut")


def end_without_farewell(referee: Scripted) -> Iterator[wire.PlayResponse]:
    yield wire.PlayResponse(joined=wire.Joined())


def test_a_local_bot_ends_when_its_referee_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    code, scripted = play(break_off)
    assert (code, len(scripted.joins)) == (1, 1)
    assert "is gone: the cable was cut" in capsys.readouterr().err


def test_a_stream_that_ends_without_farewell_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = play(end_without_farewell)
    assert code == 1
    assert "has ended the stream without a farewell" in capsys.readouterr().err


@pytest.mark.parametrize("first", [break_off, end_without_farewell])
def test_a_remote_bot_dials_again_and_answers_the_same_turn(first: Script, capsys: pytest.CaptureFixture[str]) -> None:
    with referee(first, one_batch(play_turn(7)), scheme="tcp") as (scripted, environ):
        code = serve(Bot(), lowest, environ, SHORT)
    assert code == 0
    assert len(scripted.joins) == 2
    assert scripted.answers == [wire.Move(turn_id=7, card=wire.CARD_2C)]  # type: ignore[attr-defined]
    assert "is lost; dialling again in 0.01 s" in capsys.readouterr().err


def test_a_remote_bot_gives_up_in_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    def close(scripted: Scripted) -> Iterator[wire.PlayResponse]:
        yield wire.PlayResponse(joined=wire.Joined())
        stopped.put(None)
        scripted.gone.wait(10)

    stopped: SimpleQueue[None] = SimpleQueue()
    with ThreadPoolExecutor(1) as pool:
        with referee(close, scheme="tcp") as (_, environ):
            bot = pool.submit(serve, Bot(), lowest, environ, Patience(grace_s=0.3, first_s=0.05, most_s=0.1))
            stopped.get()
        assert bot.result() == 1
    err = capsys.readouterr().err
    assert "dialling again in 0.05 s" in err
    assert "dialling again in 0.1 s" in err
    assert "is gone:" in err.splitlines()[-1]


def test_answers_are_not_worked_out_for_a_referee_that_is_gone() -> None:
    asked: list[int] = []

    def choose(turn: Turn) -> Any:
        asked.append(turn.message.turn_id)
        if len(asked) == 2:
            scripted.context.cancel()
            assert scripted.gone.wait(10)
            for _ in range(1000):  # the bot's side hears of it a little later
                if not streams[0].is_active():
                    break
                Flag().wait(0.01)
        return turn.legal[0]

    class Watched(session.Session):
        def _answer(self, turns: Any, batch: Any, stream: Any) -> None:
            streams.append(stream)
            super()._answer(turns, batch, stream)

    streams: list[Any] = []
    with (
        referee(one_batch(*(play_turn(number) for number in range(1, 9)))) as (scripted, environ),
        grpc.insecure_channel(environ["REFEREE_ADDRESS"]) as channel,
        pytest.raises(grpc.RpcError),
    ):
        Watched(Bot(), choose).play(channel, ())
    assert asked == [1, 2]


def test_a_wrong_token_is_not_tried_again(capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(referee: Scripted) -> Iterator[wire.PlayResponse]:
        referee.context.abort(grpc.StatusCode.UNAUTHENTICATED, "no such token")
        yield FAREWELL

    with referee(end_without_farewell, refuse, scheme="tcp") as (scripted, environ):
        assert serve(Bot(), lowest, environ, SHORT) == 1
    assert len(scripted.joins) == 2
    assert "does not know this token: look at REFEREE_TOKEN" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["unix:/nowhere/at/all", "tcp:127.0.0.1:1"])
def test_a_referee_that_cannot_be_reached_is_told_of_once(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert serve(Bot(), lowest, {"REFEREE_ADDRESS": address}, SHORT) == 1
    err = capsys.readouterr().err
    assert f"cannot reach a referee at {address}" in err
    assert "dialling again" not in err


def test_tls_trusts_the_certificate_that_referee_ca_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    authority = tmp_path / "ca.pem"
    authority.write_bytes(CERTIFICATE)
    with referee(one_batch(play_turn(7)), scheme="tls") as (scripted, environ):
        assert serve(Bot(), lowest, environ, SHORT) == 1
        assert not scripted.joins
        assert serve(Bot(), lowest, environ | {"REFEREE_CA": str(authority)}, SHORT) == 0
    assert scripted.tokens == ["Bearer a-token"]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("unix:/a/b", Address("unix:/a/b", "unix:/a/b", remote=False, tls=False)),
        ("tcp:[::1]:80", Address("tcp:[::1]:80", "dns:///[::1]:80", remote=True, tls=False)),
        ("tls:example.org:7777", Address("tls:example.org:7777", "dns:///example.org:7777", remote=True, tls=True)),
    ],
)
def test_addresses(text: str, address: Address) -> None:
    assert read_address(text) == address


@pytest.mark.parametrize("text", ["localhost:80", "tcp:localhost", "tcp::80", "unix:", "http://x:80", "tls:x:y"])
def test_what_is_no_address_is_refused_with_the_remedy(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(AddressError, match="write unix:/path/to/socket, tcp:host:port or tls:host:port"):
        read_address(text)
    assert serve(Bot(), lowest, {"REFEREE_ADDRESS": text}) == 2
    assert "is no address" in capsys.readouterr().err


def test_a_certificate_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    environ = {"REFEREE_ADDRESS": "tls:localhost:1", "REFEREE_CA": "nowhere.pem"}
    assert serve(Bot(), lowest, environ) == 2
    assert "REFEREE_CA: nowhere.pem: No such file or directory" in capsys.readouterr().err


# Whole processes

HELLO: Final = """
from referee.bot import Bot, run

class RandomBot(Bot):
    def choose(self, turn):
        return turn.rng.choice(turn.legal)

run(RandomBot())
"""

BLOCKED: Final = """
import sys

ALLOWED = {"referee", "grpc", "google", "typing_extensions", *sys.stdlib_module_names}
PARTS = ("referee.bot", "referee._bot_", "referee.protocol")

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in ALLOWED or name.startswith("referee.") and not name.startswith(PARTS):
            raise ImportError(f"{name} is not for bots")

sys.meta_path.insert(0, Block())
"""


@contextmanager
def process(code: str, environ: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A bot of this text in a process of its own."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith("REFEREE_")}
    command = [sys.executable, "-W", "error", "-c", code]
    with subprocess.Popen(command, cwd=ROOT, env=plain | environ, text=True, stderr=subprocess.PIPE) as bot:
        try:
            yield bot
        finally:
            if bot.poll() is None:
                bot.kill()


def test_the_ten_line_bot_plays_and_exits_with_0_with_nothing_else_to_import() -> None:
    turns = [play_turn(number, bot_seed=number) for number in range(1, 9)]
    with (
        referee(one_batch(*turns)) as (scripted, environ),
        process(BLOCKED + HELLO, environ) as bot,
    ):
        _, err = bot.communicate()
        assert (bot.returncode, err) == (0, "")
    assert [move.turn_id for move in scripted.answers] == list(range(1, 9))  # type: ignore[attr-defined]


def test_a_plain_function_is_a_bot_too() -> None:
    code = "from referee.bot import run\nrun(lambda turn: turn.legal[-1])"
    with referee(one_batch(play_turn(4))) as (scripted, environ), process(code, environ) as bot:
        bot.communicate()
        assert bot.returncode == 0
    assert scripted.answers == [wire.Move(turn_id=4, card=wire.CARD_AS)]  # type: ignore[attr-defined]


def test_ctrl_c_ends_a_bot_without_a_traceback() -> None:
    def wait(scripted: Scripted) -> Iterator[wire.PlayResponse]:
        yield wire.PlayResponse(joined=wire.Joined())
        here.put(None)
        scripted.gone.wait(30)

    here: SimpleQueue[None] = SimpleQueue()
    with referee(wait) as (_, environ), process(HELLO, environ) as bot:
        here.get()
        bot.send_signal(signal.SIGINT)
        _, err = bot.communicate()
        assert (bot.returncode, err) == (130, "")


def test_without_a_referee_a_bot_says_how_to_start_one() -> None:
    with process(HELLO, {}) as bot:
        _, err = bot.communicate()
        assert bot.returncode == 2
    assert "This is a bot" in err
    assert "referee play" in err


def test_importing_the_sdk_does_not_load_grpc() -> None:
    with process("import referee.bot, sys\nsys.exit('grpc' in sys.modules)", {}) as bot:
        _, err = bot.communicate()
        assert (bot.returncode, err) == (0, "")


@pytest.mark.parametrize("module", [bot_cards, bot_turn, chance], ids=lambda module: module.__name__)
def test_the_examples_of_the_docstrings_hold(module: Any) -> None:
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed

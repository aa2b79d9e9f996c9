"""The Python sample bots: legal in every turn of every variant, the same answer to the same turn, sound in plain cases."""

import ast
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.strength import contest, load, seated
from referee import cards
from referee.bot import Card, Keeps, Kind, Turn, parse_cards, wire
from referee.league.entrants.bot_source import find_bot
from referee.protocol.translate import rule_set_message, turn_message
from referee.rules import Deal, Game, RuleSet, variant, variant_names
from referee.statistics.paired import estimate
from referee.umpire.view import Chair, see
from tests.helpers import call, pitch, start

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / "sample_bots" / "python"
NAMES: Final = ("random", "careful", "montecarlo")
CHOOSE: Final = {name: load(name) for name in NAMES}


@pytest.fixture(autouse=True)
def little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The imagination of montecarlo cut down: these tests are about sense, not about strength."""
    monkeypatch.setattr(sys.modules["sample_montecarlo"], "CARDS_A_DECISION", 300)


def turn_of(deal: Deal, game: Game | None = None, **changes: Any) -> Turn:
    """What the seat to decide is asked, as its bot sees it."""
    game = game or Game(deal.rules, deal.seats, deal.dealer)
    chair = Chair(game_id=1, seat=deal.seat, seats=deal.seats, rules=deal.rules, bot_seed=77)
    told = see(deal, game, chair, turn_id=1, decision=3, retry=0, move_us=5_000_000, bank_us=0)
    message = turn_message(told)
    message.MergeFrom(wire.Turn(**changes))
    return Turn(message, rule_set_message(deal.rules, 1))


def decisions(rules: RuleSet, seats: int, seed: int) -> Iterator[Turn]:
    """Every turn of one deal that is played at random."""
    rng = random.Random(seed)  # noqa: S311  # a test
    pack = list(cards.PACK)
    rng.shuffle(pack)
    game = Game(rules, seats, rng.randrange(seats))
    deal = game.deal_pack(pack)
    while deal.kind is not None:
        yield turn_of(deal, game)
        deal.act(rng.choice(deal.legal()))


def seats_of(rules: RuleSet) -> list[int]:
    low, high = rules.players
    return [seats for seats in range(low, high + 1) if not rules.sides or seats % rules.sides == 0]


def is_legal(turn: Turn, answer: Any) -> bool:
    if isinstance(turn.legal, Keeps):
        return answer in turn.legal
    return answer in turn.legal and type(answer) in {type(choice) for choice in turn.legal} | {int}


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_bot_is_found_by_its_name(name: str) -> None:
    source = find_bot(name, ROOT)
    assert (source.name, source.folder) == (name, FOLDER / name)
    assert source.argv[0] == sys.executable
    assert len(source.description) > 20


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_bot_started_by_hand_says_what_to_do(name: str) -> None:
    bot = subprocess.run(
        [sys.executable, "bot.py"], cwd=FOLDER / name, env={}, capture_output=True, text=True, check=False
    )
    assert bot.returncode == 2
    assert "referee play bot.py careful" in bot.stderr
    assert "Traceback" not in bot.stderr


@pytest.mark.parametrize("name", ["random", "careful"])
def test_the_bots_to_start_from_use_the_sdk_alone(name: str) -> None:
    tree = ast.parse((FOLDER / name / "bot.py").read_text("utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert {module for module in modules if str(module).split(".")[0] not in sys.stdlib_module_names} == {"referee.bot"}


def test_careful_reads_in_one_sitting() -> None:
    assert len((FOLDER / "careful" / "bot.py").read_text("utf-8").splitlines()) < 200


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("game", variant_names())
def test_every_answer_in_every_variant_is_legal(name: str, game: str) -> None:
    rules = variant(game)
    kinds = set()
    for number, seats in enumerate(seats_of(rules) * 3):
        for turn in decisions(rules, seats, seed=number):
            kinds.add(turn.kind)
            assert is_legal(turn, CHOOSE[name](turn)), str(turn)
    assert Kind.PLAY in kinds


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 10**6), seats=st.integers(2, 7))
@settings(max_examples=5)
def test_the_same_position_gets_the_same_answer(name: str, seed: int, seats: int) -> None:
    for turn in decisions(variant("auction-pitch"), seats, seed):
        again = Turn(wire.Turn.FromString(turn.message.SerializeToString()), turn.rules)
        again.message.turn_id, again.message.game_id, again.message.bank_ms = 2**52, 99, 1
        assert CHOOSE[name](turn) == CHOOSE[name](again)


def test_careful_beats_random_beyond_chance_within_ten_sets() -> None:
    rows = contest(seated(["careful", "random", "random"]), variant("auction-pitch"), 10, "test")
    for rival in (1, 2):
        low = estimate([row[0] - row[rival] for row in rows]).low
        assert low is not None
        assert low > 0


def bid_of(name: str, hand: str, before: tuple[int, ...] = ()) -> Any:
    """What a bot bids first (eldest of four), or after these calls."""
    rest = [card for card in cards.PACK if cards.card_text(card) not in hand.split()]
    hands = [cards.cards_text(rest[6 * seat : 6 * seat + 6]) for seat in range(3)]
    hands.insert(len(before), hand)
    return CHOOSE[name](turn_of(call(start(hands), before)))


@pytest.mark.parametrize("name", ["careful", "montecarlo"])
@pytest.mark.parametrize(
    ("hand", "before", "bids"),
    [
        ("AS KS JS 2S AH TD", (), {2, 3, 4}),
        ("AS KS JS 2S AH TD", (2,), {3, 4}),
        ("7S 8H 6D 9C 4D 5H", (), {0}),
        ("8S QH 6D 9C 4D 5H", (2,), {0}),
    ],
)
def test_strong_hands_bid_and_weak_ones_pass(name: str, hand: str, before: tuple[int, ...], bids: set[int]) -> None:
    assert bid_of(name, hand, before) in bids


@pytest.mark.parametrize("name", ["careful", "montecarlo"])
def test_the_last_to_play_takes_a_ten_that_he_can_have(name: str) -> None:
    deal = pitch(start(["AH 3C", "TH 4C", "KS AD"], rules={"hand_size": 2, "packet": 1}), 0, 2)
    for card in parse_cards("3C 4C"):
        deal.act(card)
    assert CHOOSE[name](turn_of(deal)) in parse_cards("KS AD")
    deal = pitch(start(["3C AH", "TH 4C", "2H KH"], rules={"hand_size": 2, "packet": 1}), 1, 2)
    deal.act(Card("TH"))
    assert CHOOSE[name](turn_of(deal)) == Card("KH")


@pytest.mark.parametrize("name", ["careful", "montecarlo"])
def test_a_ten_is_not_thrown_under_an_ace(name: str) -> None:
    deal = pitch(start(["AS 3C 4C", "TS 2S QD", "2H KH 5S"], rules={"hand_size": 3, "packet": 3}), 0, 2)
    deal.act(Card("AS"))
    assert CHOOSE[name](turn_of(deal)) == Card("2S")

"""The vectors under ``tests/vectors``: each file against its schema, each case through the engine."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from referee.cards import SUITS, card_text, cards_text, hand_text, parse_card, parse_cards, parse_hand
from referee.rules import Deal, EventKind, Game, Keeps, Kind, RuleSet, unpack_event
from referee.rules.actions import action_text, parse_action
from referee.rules.game import finishing_places, settlement
from referee.rules.rulebook import CLAUSES, Level
from tests.helpers import call, legal_cards, pitch, play, rules_of, start, taker_of, to_play
from tests.vectors import write_rule_sets

FOLDER: Final = Path(write_rule_sets.__file__).parent
FILES: Final = sorted(path.stem for path in FOLDER.glob("*.json"))
SCHEMAS: Final = {path.name: json.loads(path.read_text("utf-8")) for path in (FOLDER / "schema").glob("*.json")}
REGISTRY: Final[Registry[Any]] = Registry().with_resources(
    (name, Resource.from_contents(schema)) for name, schema in SCHEMAS.items()
)

Case = dict[str, Any]


def document(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return found


def cases(name: str) -> pytest.MarkDecorator:
    """Runs a test once for each case of a file."""
    return pytest.mark.parametrize("case", document(name)["cases"], ids=lambda case: case["id"])


# The files


@pytest.mark.parametrize("name", FILES)
def test_every_file_keeps_to_its_schema(name: str) -> None:
    vectors = document(name)
    assert vectors["$schema"] == f"schema/{name}.schema.json"
    schema = SCHEMAS[f"{name}.schema.json"]
    Draft202012Validator.check_schema(schema)
    problems = [
        f"{'/'.join(map(str, error.path))}: {error.message}"
        for error in Draft202012Validator(schema, registry=REGISTRY).iter_errors(vectors)
    ]
    assert problems == []


def test_there_is_a_file_for_each_schema() -> None:
    assert {f"{name}.schema.json" for name in FILES} | {"common.schema.json"} == set(SCHEMAS)


def test_ids_are_unique() -> None:
    ids = [case["id"] for name in FILES for case in document(name)["cases"]]
    assert len(set(ids)) == len(ids)


def test_a_schema_refuses_what_it_should() -> None:
    """The validator really looks into the cases: one spoilt field each is found."""
    spoilt: list[tuple[str, Case]] = [
        ("legal", {"hand": "AS 10H"}),
        ("legal", {"more": 1}),
        ("tricks", {"taker": "A"}),
        ("auctions", {"pitched": {"pitcher": 0, "bid": 2}}),
        ("counting", {"reason": "LUCK"}),
        ("deals", {"pack": "AS"}),
    ]
    for name, change in spoilt:
        vectors = document(name)
        vectors["cases"][0] |= change
        assert not Draft202012Validator(SCHEMAS[f"{name}.schema.json"], registry=REGISTRY).is_valid(vectors), change


def test_clauses_are_those_of_the_book_and_all_that_bind_are_shown() -> None:
    shown = {clause for name in FILES for case in document(name)["cases"] for clause in case["clause"]}
    assert shown <= {entry.id for entry in CLAUSES}
    assert {entry.id for entry in CLAUSES if entry.level is Level.MUST} <= shown


def test_the_rule_sets_are_those_of_the_registry() -> None:
    assert write_rule_sets.FILE.read_text("utf-8") == write_rule_sets.text(), (
        "the registry has changed: run python -m tests.vectors.write_rule_sets"
    )
    for case in document("rule_sets")["cases"]:
        assert rules_of(case["rule_set"]["name"]) == RuleSet.from_dict(case["rule_set"])


# The cases


@cases("legal")
def test_legal(case: Case) -> None:
    deal = to_play(case["hand"], case["table"], case["trump"], case["rules"])
    assert set(legal_cards(deal).split()) == set(case["legal"].split())
    for card, clause in case["refused"].items():
        violation = deal.verify(parse_card(card))
        assert violation is not None
        assert violation.rule == clause
    assert set(case["hand"].split()) == set(case["legal"].split()) | set(case["refused"]) & set(case["hand"].split())


@cases("tricks")
def test_tricks(case: Case) -> None:
    assert taker_of(case["cards"], case["trump"], case["rules"]) == (case["taker"], case["pips"])


@cases("auctions")
def test_auctions(case: Case) -> None:
    game = Game(rules_of(case["rules"]), case["seats"], case["dealer"])
    deal = call(game.deal_pack(parse_cards(document("dealing")["cases"][0]["pack"])), case["calls"])
    if "next" in case:
        assert (deal.kind, deal.seat, list(deal.legal())) == (Kind.BID, case["next"]["seat"], case["next"]["legal"])
        for bid, clause in case["next"]["refused"].items():
            violation = deal.verify(int(bid))
            assert violation is not None
            assert violation.rule == clause
    elif "pitched" in case:
        pitcher, bid = case["pitched"]["pitcher"], case["pitched"]["bid"]
        assert (deal.kind, deal.pitcher, deal.bid, deal.seat) == (Kind.PLAY, pitcher, bid, pitcher)
    else:
        assert deal.outcome is not None
        game.close(deal.outcome)
        assert deal.outcome.ending.name == case["unplayed"]["ending"]
        assert list(deal.outcome.deltas) == game.scores == case["unplayed"]["deltas"]
        assert game.dealer == case["unplayed"]["next_dealer"]


def count_auctions(deal: Deal) -> int:
    if deal.kind is not Kind.BID:
        return 1
    return sum(count_auctions(call(deal.copy(), [bid])) for bid in deal.legal())


@cases("auction_counts")
def test_auction_counts(case: Case) -> None:
    pack = parse_cards(document("dealing")["cases"][0]["pack"])
    rules = rules_of(case["rules"])
    assert {seats: count_auctions(Deal(rules, int(seats), 0, pack)) for seats in case["counts"]} == case["counts"]


@cases("choices")
def test_choices(case: Case) -> None:
    game = Game(rules_of(case["rules"]), case["seats"], case["dealer"], case["before"])
    deal = game.deal_pack(parse_cards(case["pack"]))
    for word in case["actions"]:
        assert deal.kind is not None
        deal.act(parse_action(deal.kind, word))
    kind, legal, expected = deal.kind, deal.legal(), case["legal"]
    assert kind is not None
    assert {"seat": deal.seat, "kind": kind.name} == case["asked"]
    if isinstance(legal, Keeps):
        must, may = parse_hand(expected["must"]), parse_hand(expected["may"])
        assert (legal.must, legal.may, legal.size) == (must, may, expected["count"])
    else:
        assert [action_text(kind, action) for action in legal] == expected
    for word, clause in case["refused"].items():
        violation = deal.verify(int(word) if word.isdigit() else parse_action(kind, word))
        assert violation is not None
        assert violation.rule == clause


@cases("items")
def test_items(case: Case) -> None:
    hands: list[list[str]] = [[] for _ in range(case["seats"])]
    for trick in case["tricks"]:
        for place, card in enumerate(trick["cards"].split()):
            hands[(trick["leader"] + place) % case["seats"]].append(card)
    deal = start([" ".join(hand) for hand in hands], dealer=case["dealer"], rules=case["rules"])
    pitch(deal, case["pitcher"], case["bid"])
    for trick in case["tricks"]:
        assert deal.seat == trick["leader"]
        play(deal, trick["cards"])
    outcome = deal.outcome
    assert outcome is not None
    found = [
        {"item": award.item, "seat": award.seat, "points": award.points, "card": award.card and card_text(award.card)}
        for award in outcome.awards
    ]
    assert (found, list(outcome.pips)) == (case["awards"], case["pips"])
    assert outcome.trump == SUITS.index(case["trump"])


def played_out(case: Case) -> tuple[Deal, Game]:
    """The whole deal of a case, and its game before the deal is booked."""
    game = Game(rules_of(case["rules"]), case["seats"], case["dealer"], case["before"])
    deal = game.deal_pack(parse_cards(case["pack"]))
    for word in case["actions"].split():
        assert deal.kind is not None
        deal.act(parse_action(deal.kind, word))
    return deal, game


def check_result(case: Case, deal: Deal, game: Game) -> None:
    """What both files of whole deals say: owners of the items, contract, scores, the end of the game."""
    outcome = deal.outcome
    assert outcome is not None
    owners = {award.item: deal.side(award.seat) for award in outcome.awards}
    assert {item: owners.get(item) for item in case["items"]} == case["items"]
    assert (list(outcome.deltas), outcome.set_back) == (case["deltas"], case["set_back"])
    result = game.close(outcome)
    assert game.scores == case["after"]
    won = result is not None and result.winner is not None
    assert (result.winner if result and won else None) == case["winner"]
    assert (result.reason.name if result and won else None) == case["reason"]


@cases("counting")
def test_counting(case: Case) -> None:
    deal, game = played_out(case)
    assert [hand_text(hand) for hand in deal.dealt] == case["hands"]
    assert {"pitcher": deal.pitcher, "bid": deal.bid} == case["contract"]
    check_result(case, deal, game)


@cases("deal_scores")
def test_deal_scores(case: Case) -> None:
    deal, game = played_out(case)
    outcome = deal.outcome
    assert outcome is not None
    assert outcome.ending.name == case["ending"]
    assert (None if outcome.trump is None else SUITS[outcome.trump]) == case["trump"]
    assert (list(outcome.pips), list(outcome.made)) == (case["pips"], case["made"])
    assert takers(deal) == case["takers"]
    check_result(case, deal, game)


def takers(deal: Deal) -> list[int]:
    """Who won each trick, read from the public history: the seat that led the next one, and whose pile the last is."""
    plays = [event for event in map(unpack_event, deal.history) if event.kind is EventKind.PLAY]
    tricks = [plays[at : at + deal.seats] for at in range(0, len(plays), deal.seats)]
    leaders = [trick[0].seat for trick in tricks[1:]]
    last = [next(seat for seat, pile in enumerate(deal.taken) if pile >> trick[0].value & 1) for trick in tricks[-1:]]
    return leaders + last


@cases("settlement")
def test_settlement(case: Case) -> None:
    stakes = settlement(rules_of(case["rules"]), case["winner"], case["scores"], case["set_backs"])
    assert list(stakes) == case["stakes"]
    assert sum(stakes) == 0
    assert list(finishing_places(case["winner"], case["scores"])) == case["places"]


@cases("dealing")
def test_dealing(case: Case) -> None:
    deal = Deal(rules_of(case["rules"]), case["seats"], case["dealer"], parse_cards(case["pack"]))
    assert [set(hand_text(hand).split()) for hand in deal.dealt] == [set(hand.split()) for hand in case["hands"]]
    assert cards_text(deal.stock) == case["stock"]

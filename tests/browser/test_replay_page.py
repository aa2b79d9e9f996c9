"""A replay in a browser: every frame is what the rules say, and two clicks lead to a ruling."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.cards import RANKS, SUIT_NAMES, cards_in, cards_text
from referee.league.store import Store
from referee.report.game_replay import GameReplay, game_replay
from referee.report.html_report import write_replay
from referee.rules import variant_names
from tests.report.made_leagues import PLAYERS, make_league, open_league
from tests.report.test_game_replay import a_league

pytestmark = pytest.mark.needs("chromium")

Look = Callable[..., Any]

HANDS = """games.map(game => buildFrames(game).map(({deal, step, state, ruling, scoring}) =>
    [deal, step, state.hands.map(hand => [...hand].map(cardText).sort().join(" ")), state.trump, Boolean(ruling), Boolean(scoring)]))"""
RANK_NAMES = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace"]


def told(card: int) -> str:
    """A card as a screen reader says it."""
    return f"{RANK_NAMES[(card & 15) - 2]} of {SUIT_NAMES[card >> 4]}"


def frames_of(found: GameReplay) -> list[list[Any]]:
    """What the frames of a replay must be."""
    made = []
    for number, deal in enumerate(found.deals):
        for count in range(len(deal.steps) + 1):
            step = deal.steps[count - 1] if count else None
            hands = deal.hands if step is None else step.hands
            texts = [" ".join(sorted(cards_text(cards_in(hand)).split())) for hand in hands]
            trump = deal.trump if step is None else step.trump
            scored = count == len(deal.steps) and deal.outcome is not None
            made.append([number, count, texts, trump, False, scored])
            rulings = [one for one in found.rulings if (one.place.deal, one.place.step) == (number, count)]
            made += [[number, count, texts, trump, True, False] for _ in rulings]
    return made


@pytest.mark.parametrize("name", variant_names())
def test_every_frame_of_every_variant_is_what_the_rules_say(look: Look, tmp_path: Path, name: str) -> None:
    store, _ = open_league(a_league(tmp_path, name))
    with store:
        record = store.record(1)
    found = game_replay(record, 1)
    page_file = write_replay(record, 1, tmp_path / "replay.html")
    with look(page_file) as page:
        assert page.evaluate(HANDS) == [frames_of(found)]
        for _ in range(len(found.deals[0].steps) + 3):
            page.keyboard.press("ArrowRight")
            assert page.locator("#now").inner_text().strip()
        page.keyboard.press("End")
        assert (
            page.locator(".result")
            .inner_text()
            .startswith("Nobody wins" if found.winner is None else f"{found.side_name(found.winner)} wins")
        )
        assert "undefined" not in page.locator("#replay").inner_text()


def test_two_clicks_from_the_report_to_rule_and_legal_cards(
    look: Look, report: Path, card_ruling: tuple[int, int], opened: Store
) -> None:
    game, number = card_ruling
    ruling = game_replay(opened.record(game), game).rulings[number]
    with look(report) as page:
        page.click("nav.jump a[href='#faults']")
        page.click(f"a[href='#game-{game}-r{number}']")
        panel = page.locator("#panel").inner_text()
        assert ruling.item.rule in panel
        assert ruling.item.sentence in panel
        assert "The rule" in panel
        labels = "all => all.map(one => one.getAttribute('aria-label'))"
        marked = page.locator(".hand li.legal svg").evaluate_all(labels)
        assert sorted(marked) == sorted(f"{told(card)}, legal" for card in ruling.legal)
        assert ruling.item.action is not None
        tried = page.locator(".seat.asked .hand li.tried svg").evaluate_all(labels)
        assert tried == [f"{told(ruling.item.action)}, tried, not legal"]


def test_from_the_first_step_to_the_last_by_keyboard(look: Look, replay: Path, ruled: int, opened: Store) -> None:
    found = game_replay(opened.record(ruled), ruled)
    count = len(frames_of(found))
    with look(replay) as page:
        assert page.locator("#count").inner_text() == f"1 / {count}"
        for _ in range(count - 1):
            page.keyboard.press("ArrowRight")
        assert page.locator("#count").inner_text() == f"{count} / {count}"
        assert page.locator(".result").inner_text().startswith(f"{found.side_name(found.winner or 0)} wins")
        page.keyboard.press("ArrowRight")
        assert page.locator("#count").inner_text() == f"{count} / {count}"
        page.keyboard.press("r")
        assert page.locator("#panel").inner_text().startswith("Ruling against")
        page.keyboard.press("Home")
        assert page.locator("#count").inner_text() == f"1 / {count}"


def test_jumps_go_from_trick_to_trick(look: Look, replay: Path) -> None:
    with look(replay) as page:
        seen = set()
        for _ in range(6):
            page.keyboard.press("ArrowDown")
            seen.add(page.locator("#now").inner_text())
        assert len(seen) == 6
        assert all("takes the trick" in text or "scored" in text or "deals" in text for text in seen)
        page.locator("#sheet button", has_text=re.compile(r"^2\. ")).first.click()
        assert "Trick 2" in page.locator("#line").inner_text()
        assert page.locator("#sheet [aria-current=step]").count() == 1


def test_a_seat_sees_its_own_hand_only(look: Look, replay: Path, ruled: int, opened: Store) -> None:
    found = game_replay(opened.record(ruled), ruled)
    hands = found.deals[0].hands
    with look(replay) as page:
        assert page.locator(".hand use:not([href='#card-back'])").count() == sum(hand.bit_count() for hand in hands)
        page.select_option("#view", "1")
        shown = page.locator(".hand use:not([href='#card-back'])").evaluate_all(
            "all => all.map(one => one.getAttribute('href'))"
        )
        assert sorted(shown) == sorted(f"#card-{text}" for text in cards_text(cards_in(hands[1])).split())
        backs = page.locator(".hand use[href='#card-back']").count()
        assert backs == sum(hand.bit_count() for seat, hand in enumerate(hands) if seat != 1)


def test_a_ruling_is_told_to_its_seat_alone(look: Look, replay: Path, ruled: int, opened: Store) -> None:
    ruling = game_replay(opened.record(ruled), ruled).rulings[0]
    other = (ruling.item.seat + 1) % 3
    with look(replay, f"#game-{ruled}-r0") as page:
        assert ruling.item.sentence in page.locator("#panel").inner_text()
        page.select_option("#view", str(other))
        assert ruling.item.sentence not in page.locator("#panel").inner_text()
        assert page.locator(".hand li.legal, .hand li.tried").count() == 0


def test_it_plays_by_itself_and_stops_at_the_end(look: Look, replay: Path) -> None:
    with look(replay) as page:
        page.clock.install()
        page.goto(replay.as_uri() + "?again")
        page.click("#play")
        assert page.locator("#play").inner_text() == "Pause"
        page.clock.run_for(5_600)
        assert page.locator("#count").inner_text().startswith("6 / ")
        page.click("#play")
        page.clock.run_for(5_600)
        assert page.locator("#count").inner_text().startswith("6 / ")
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        page.click("#play")
        page.clock.run_for(5_600)
        now, _, count = page.locator("#count").inner_text().partition(" / ")
        assert now == count
        assert page.locator("#play").inner_text() == "Play"


def test_back_to_the_report(look: Look, report: Path, ruled: int) -> None:
    with look(report, f"#game-{ruled}") as page:
        assert not page.locator("header h1").is_visible()
        page.click("text=Back to the report")
        assert page.locator("header h1").is_visible()
        assert not page.locator("#replay").is_visible()
        assert page.evaluate("document.activeElement.getAttribute('href')") == f"#game-{ruled}"
        page.go_back()
        assert page.locator("#replay").is_visible()


def test_an_unknown_game_leaves_the_report_as_it_is(look: Look, report: Path) -> None:
    with look(report, "#game-99999") as page:
        assert page.locator("header h1").is_visible()


@pytest.mark.parametrize("seats", [2, 5, 7])
def test_cards_of_the_trick_lie_apart(look: Look, tmp_path: Path, seats: int) -> None:
    entrants = {f"{name} {number}": player for number in range(3) for name, player in PLAYERS.items()}
    path = make_league(tmp_path / "many.sqlite", dict(list(entrants.items())[:seats]), sets=1)
    store, _ = open_league(path)
    with store:
        page_file = write_replay(store.record(1), 1, tmp_path / "many.html")
    with look(page_file) as page:
        page.keyboard.press("ArrowDown")
        while page.locator(".played").count() < seats:
            page.keyboard.press("ArrowDown")
        corners = [(box["x"], box["y"]) for box in (one.bounding_box() for one in page.locator(".played").all())]
        for i, (x, y) in enumerate(corners):
            for other_x, other_y in corners[:i]:
                assert max(abs(x - other_x), abs(y - other_y)) > 24  # each rank can be read
        felt = page.locator("#felt").bounding_box()
        for box in (one.bounding_box() for one in page.locator(".seat .hand").all()):
            assert felt["x"] <= box["x"] + 1
            assert box["x"] + box["width"] <= felt["x"] + felt["width"] + 1


def test_a_card_is_drawn_for_every_card_of_the_pack(look: Look, replay: Path) -> None:
    with look(replay) as page:
        ids = page.locator("symbol[id^='card-']").evaluate_all("all => all.map(one => one.id)")
    assert len(ids) == len(set(ids)) == 53
    assert {text[5] for text in ids if text != "card-back"} == set(RANKS)

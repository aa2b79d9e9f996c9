"""The page at which a person plays, given States: what it shows, says and sends, by mouse, by keyboard, on every screen, for every ear."""

import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.browser.table_states import (
    BEG,
    BID,
    DISCARD,
    HINT,
    NAME,
    OVER,
    PAGE_FILES,
    PAUSED,
    PHASES,
    PLAY,
    ROB,
    RULING,
    RUN,
    SHEET,
    WAIT,
    GivenTable,
    State,
    asked,
    called,
    hand,
    laid,
    log,
    rendered,
    seated,
    seats,
    state,
)

pytestmark = pytest.mark.needs("chromium")

TRANSCRIPT: Final = Path(__file__).parent / "table_transcript.txt"
REFUSED: Final = {"/move": (409, {"ruling": RULING})}
NEXT: Final = state(PLAY, turn=asked("play", "lead", id_="t2"), trick=[], hand=hand("AS KS 9S JH", "AS KS 9S JH"))


@pytest.fixture
def sit(browser: Browser) -> Any:
    return partial(seated, browser)


def shown(given: GivenTable) -> list[str]:
    """The cards of the trick that are on the screen."""
    found: list[str] = given.page.locator("#trick li use").evaluate_all(
        "all => all.map(one => one.getAttribute('href').slice(6))"
    )
    return found


def stop_the_clock(given: GivenTable) -> None:
    """From the next load, or now, time passes on the page only by ``clock.run_for``."""
    given.page.clock.install(time=0)
    given.page.clock.pause_at(1)


# On every screen, for everybody


DIALOGS: Final = ("settings", "help", "leave")
IN_ALL_COLOURS: Final = ("bid", "discard", "sheet", "over")
"""Phases that have every colour between them: these are looked at in the dark too."""


@pytest.mark.parametrize(
    ("size", "scheme", "looked_at"),
    [
        ((1200, 900), "light", (*PHASES, *DIALOGS)),
        ((320, 640), "dark", (*IN_ALL_COLOURS, "settings")),
        ((640, 450), "light", ()),  # a desk at 200 %
    ],
    ids=["desk", "phone", "zoom"],
)
def test_no_phase_has_a_barrier_or_is_wider_than_the_screen(
    sit: Any, size: tuple[int, int], scheme: str, looked_at: tuple[str, ...]
) -> None:
    with sit(PLAY, size=size, color_scheme=scheme) as given:
        given.answers.update(REFUSED)
        given.page.locator("[data-card=KS]").click(position={"x": 8, "y": 30})
        given.page.locator("#ruling").wait_for()
        _look(given, "ruling", axe=bool(looked_at))
        for name in PHASES:
            given.give({**PHASES[name], "turn": PHASES[name]["turn"] and {**PHASES[name]["turn"], "id": name}})
            given.page.evaluate("settle()")
            _look(given, name, axe=name in looked_at)
        for name in DIALOGS:
            given.page.click(f"#open-{name}")
            _look(given, name, axe=name in looked_at)
            given.page.keyboard.press("Escape")


def _look(given: GivenTable, name: str, *, axe: bool) -> None:
    if axe:
        found = Axe().run(given.page, options={"resultTypes": ["violations"]})
        assert found.violations_count == 0, f"{name}: {found.generate_report()}"
    assert given.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    assert "undefined" not in given.page.locator("body").inner_text()


def test_a_screen_reader_meets_what_the_transcript_has(sit: Any) -> None:
    told = []
    for name in ("bid", "play", "discard", "sheet"):
        with sit(PHASES[name]) as given:
            given.answers.update(REFUSED)
            if name == "play":
                given.page.locator("[data-card=KS]").click()
                given.page.locator("#ruling").wait_for()
            told.append(f"== {name} ==\n{given.page.locator('body').aria_snapshot()}\n")
    text = re.sub(r"Referee \d[\w.+]*", "Referee VERSION", "\n".join(told))
    if os.environ.get("WRITE_TRANSCRIPT"):  # then look at what `git diff` shows
        TRANSCRIPT.write_text(text, "utf-8")
    assert text == TRANSCRIPT.read_text("utf-8")


def test_names_and_sentences_of_strangers_stay_text(sit: Any) -> None:
    name = "<img src=x onerror=alert(1)>" + "W" * 60 + "\u202e"
    changed = {f"s{seat}": {"name": name} for seat in (1, 2, 3)}
    hostile = state(
        SHEET,
        seats=seats(**changed),
        log=log(f"{name} plays KD.", "</script><script>document.title = 'taken'</script>"),
        over={"sentence": f"{name} wins.", "record": "javascript:alert(1)", "command": name},
        game={**PLAY["game"], "title": name, "rules_page": "javascript:alert(1)"},
    )
    with sit(hostile, size=(320, 640)) as given:
        assert given.page.locator("img, #log script, #over a").count() == 0
        assert given.page.locator("#rules-link").get_attribute("href") == "/rules"
        assert given.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert given.page.title().startswith("Game over")
        assert given.said()[0] == f"{name} plays king of diamonds."


def test_what_a_later_server_adds_is_no_matter(sit: Any) -> None:
    with sit({**BID, "news": {"odd": True}, "turn": {**BID["turn"], "mood": 3}}) as given:
        assert given.page.locator("#moves button").count() == 4


def test_the_page_is_light_and_shows_its_cards_after_two_round_trips(sit: Any) -> None:
    """On a slow phone each round trip and each kilobyte counts: the page, then its style and scripts side by side; the cards need no more."""
    with sit(PLAY) as given:
        given.page.locator("#hand button").first.wait_for()
        first, *files = given.asked
        assert first == "/"
        loaded = [path for path in files if path.startswith("/static/")]
        assert sorted(loaded) == [
            "/static/table.css",
            "/static/table.js",
            "/static/table_model.js",
            "/static/table_view.js",
        ]
        weight = len(rendered(ROB).encode()) + sum((PAGE_FILES / path[8:]).stat().st_size for path in loaded)
        assert weight < 150_000
        assert not re.search(r"@import|url\(", (PAGE_FILES / "table.css").read_text())


def test_nothing_moves_for_those_who_want_no_motion(sit: Any) -> None:
    with sit(PLAY, reduced_motion="reduce") as given:
        lengths = given.page.evaluate(
            "[...document.querySelectorAll('*')].map(one => getComputedStyle(one)).flatMap(one => [one.transitionDuration, one.animationDuration])"
        )
        assert set(lengths) <= {"0s"}


# What is shown


def test_legal_cards_are_raised_and_others_say_that_they_may_not_be_played(sit: Any) -> None:
    with sit(PLAY) as given:
        names = given.page.locator("#hand button").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
        not_now = [f"{called(card)}, not allowed now" for card in ("AS", "KS", "9S", "JH")]
        assert names == [*not_now, "four of diamonds"]
        tops = {one: given.page.locator(f"[data-card='{one}']").bounding_box()["y"] for one in ("AS", "4D")}
        assert tops["4D"] < tops["AS"]
        given.give(WAIT)
        assert given.page.locator("#hand .legal, #hand .barred").count() == 0


def test_cards_of_others_come_one_by_one_and_a_full_trick_rests(sit: Any) -> None:
    with sit(NEXT) as given:
        stop_the_clock(given)
        given.page.reload()
        given.page.locator("#hand button").first.wait_for()
        trick = laid((0, "9S"), (1, "2S"), (2, "QS"), (3, "TS"))
        after = state(
            NEXT,
            hand=hand("AS KS JH", "AS KS JH"),
            last_trick={"winner": 2, "cards": trick},
            trick=laid((2, "3H"), (3, "4H")),
            turn=asked("play", "hearts are led", id_="t3"),
        )
        given.give(after)
        assert shown(given) == ["9S"]
        assert given.page.locator("[data-card='9S']").count() == 0
        for count in (2, 3, 4):
            given.page.clock.run_for(550)
            assert len(shown(given)) == count
        assert given.page.locator("#trick .won use").get_attribute("href") == "#card-QS"
        given.page.clock.run_for(550)
        assert len(shown(given)) == 4  # it rests
        given.page.clock.run_for(1000)
        assert shown(given) == ["3H"]
        assert "careful" in given.page.locator("#last").inner_text()
        given.page.clock.run_for(600)
        assert shown(given) == ["3H", "4H"]
        assert given.page.locator("#prompt").inner_text() == "Your turn: hearts are led"


def test_whoever_acts_does_not_wait_for_cards_to_be_laid(sit: Any) -> None:
    with sit(state(WAIT, trick=laid((2, "KD")))) as given:
        stop_the_clock(given)
        given.page.reload()
        given.page.locator("#hand button").first.wait_for()
        given.give(state(NEXT, trick=laid((2, "KD"), (3, "TD"), (1, "2D")), turn=asked("play", "follow", id_="t5")))
        assert shown(given) == ["KD", "TD"]
        given.page.keyboard.press("1")
        assert shown(given) == ["KD", "TD", "2D"]
        assert given.sent() == [("/move", {"turn": "t5", "move": "AS"})]


def test_the_clock_of_a_turn_counts_down_and_warns_once(sit: Any) -> None:
    with sit(state(PLAY, turn=asked("play", "follow", seconds=30.0))) as given:
        stop_the_clock(given)
        given.page.reload()
        expect(given.page.locator("#seconds")).to_have_text("30 s")
        given.page.clock.run_for(21_000)
        assert given.page.locator("#seconds").inner_text() == "9 s"
        given.page.clock.run_for(3_000)
        assert sum("seconds left" in text for text in given.said()) == 1
        given.give(state(PLAY, turn=asked("play", "follow", seconds=6.0)))  # the same turn is told again
        assert given.page.locator("#sand").evaluate("sand => sand.style.getPropertyValue('--part')") == "20%"
        given.give(NEXT)
        assert not given.page.locator("#clock").is_visible()


def test_a_deal_is_scored_item_by_item_and_enter_goes_on(sit: Any) -> None:
    with sit(SHEET) as given:
        sheet = given.page.locator("#sheet").inner_text()
        for text in ("Deal 3 is scored", "set back 3", "High", "ace of diamonds", "careful", "31 pips"):
            assert text in sheet
        given.page.get_by_text("Deal by deal").click()
        rows = given.page.locator("#score details tbody tr").all_inner_texts()
        assert [row.split() for row in rows] == [
            ["1", "1", "2", "3", "0"],
            ["2", "3", "\u22121", "5", "4"],
            ["3", "4", "0", "2", "4"],
        ]
        given.page.evaluate("document.activeElement.blur()")
        given.page.keyboard.press("Enter")
        assert given.sent() == [("/go-on", {})]
        given.give(OVER)
        assert given.page.locator("#over a").get_attribute("href") == "/replay"
        assert not given.page.locator("#go-on").count()


def test_sides_share_a_line_of_the_score(sit: Any) -> None:
    with sit(NAME) as given:
        assert given.page.locator("#score tbody th").all_inner_texts() == ["You and montecarlo", "careful and random"]
        assert "your partner" in given.page.locator("#seats").inner_text()


# What is said and done


@pytest.fixture
def at_play(sit: Any) -> Iterator[GivenTable]:
    with sit(PLAY) as given:
        yield given


def test_an_illegal_card_is_ruled_upon_near_it_and_aloud_and_changes_nothing(at_play: GivenTable) -> None:
    at_play.answers.update(REFUSED)
    page = at_play.page
    page.locator("[data-card=KS]").click()
    ruling = page.locator("#ruling")
    ruling.wait_for()
    text = ruling.inner_text()
    for part in ("Not the king of spades just now", RULING["clause"], "You may play: 4"):
        assert part in text
    assert page.locator("#ruling-link").get_attribute("href") == "/rules#AF-PLAY-002"
    said = at_play.said()[-1]
    assert said.startswith(
        "Not the king of spades. Trump king of diamonds was led and you hold four of diamonds: play a trump."
    )
    assert said.endswith("(AF-PLAY-002)")
    card, box = page.locator("[data-card=KS]").bounding_box(), ruling.bounding_box()
    assert card
    assert box
    assert 0 < box["y"] - (card["y"] + card["height"]) < 60
    assert "tried" in (page.locator("[data-card=KS]").get_attribute("class") or "")
    page.locator("[data-card=KS]").click()  # again: it is said again, in other words
    at_play.hears(f"Once more: {said}")
    page.keyboard.press("Escape")
    assert not ruling.is_visible()
    assert at_play.focus() == "king of spades, not allowed now"
    assert at_play.sent() == [("/move", {"turn": "t1", "move": "KS"})] * 2


def test_a_barred_bid_is_ruled_upon_too(sit: Any) -> None:
    with sit(BID) as given:
        told = {**RULING, "rule": "AF-BID-002", "sentence": "A bid must be higher than 2."}
        given.answers["/move"] = (409, {"ruling": told})
        given.page.keyboard.press("2")
        given.page.locator("#ruling").wait_for()
        assert "Not the bid of 2 just now" in given.page.locator("#ruling").inner_text()
        given.give({**NEXT, "seats": seats(s0={"bid": "3"})})
        assert not given.page.locator("#ruling").is_visible()


def test_a_card_is_sent_once_however_often_it_is_clicked_and_again_where_nobody_answered(at_play: GivenTable) -> None:
    page = at_play.page
    page.locator("[data-card='4D']").dblclick()
    page.locator("[data-card='4D']").click()
    assert at_play.sent() == [("/move", {"turn": "t1", "move": "4D"})]
    at_play.give(NEXT)
    at_play.answers["/move"] = None
    stop_the_clock(at_play)
    page.locator("[data-card=AS]").click()
    expect(page.locator("#lost")).to_be_visible()
    at_play.answers["/move"] = (200, {"accepted": True})
    page.clock.run_for(1_000)
    expect(page.locator("#lost")).to_be_hidden()
    assert at_play.sent()[1:] == [("/move", {"turn": "t2", "move": "AS"})] * 2


def test_a_turn_that_is_over_is_said_and_the_table_read_anew(at_play: GivenTable) -> None:
    at_play.answers["/move"] = (410, {"sentence": "Your time was up; the referee has played for you."})
    at_play.answers["/state"] = (200, {**NEXT, "revision": 9})
    at_play.page.locator("[data-card='4D']").click()
    expect(at_play.page.locator("#prompt")).to_have_text("Your turn: lead")
    assert "Your time was up; the referee has played for you." in at_play.said()


def test_a_lost_connection_is_said_and_comes_back(at_play: GivenTable) -> None:
    page = at_play.page
    at_play.answers["/state"] = (200, {**NEXT, "revision": 9})
    page.evaluate("sources.at(-1).heard.error()")
    expect(page.locator("#lost")).to_be_visible()
    assert "The connection to the table is lost. Trying again." in at_play.said()
    page.evaluate("sources.at(-1).heard.open()")
    expect(page.locator("#lost")).to_be_hidden()
    expect(page.locator("#prompt")).to_have_text("Your turn: lead")
    assert "The connection is back." in at_play.said()


def test_a_connection_that_the_browser_gave_up_is_opened_again(at_play: GivenTable) -> None:
    page = at_play.page
    stop_the_clock(at_play)
    page.evaluate("sources.at(-1).close(), sources.at(-1).heard.error()")
    page.clock.run_for(1_500)
    assert page.evaluate("sources.length") == 2
    page.evaluate("sources.at(-1).close(), sources.at(-1).heard.error()")
    page.clock.run_for(1_500)
    assert page.evaluate("sources.length") == 2  # it waits longer each time
    page.clock.run_for(1_000)
    assert page.evaluate("sources.length") == 3


def test_a_browser_without_a_seat_is_told_where_the_link_is(at_play: GivenTable) -> None:
    at_play.answers["/move"] = (403, {})
    at_play.page.locator("[data-card='4D']").click()
    expect(at_play.page.locator("#lost-words")).to_contain_text("Open the link that the command shows")


def test_what_has_the_focus_is_never_drawn_anew(at_play: GivenTable) -> None:
    page = at_play.page
    page.locator("[data-card=KS]").focus()
    page.evaluate("window.held = document.activeElement")
    at_play.give(WAIT)
    at_play.give(NEXT)
    assert page.evaluate("document.activeElement === window.held && window.held.isConnected")
    at_play.give(state(NEXT, hand=hand("AS 9S JH", "AS 9S JH")))  # the card has gone: its neighbour has the focus
    assert at_play.focus() == "nine of spades"
    at_play.give(SHEET)  # no card is left
    page.evaluate("settle()")
    assert at_play.focus() == "sheet-title"


def test_the_focus_goes_from_a_bid_that_was_said_to_what_is_asked(sit: Any) -> None:
    with sit(BID) as given:
        given.page.get_by_role("button", name="Bid 3").focus()
        given.give(WAIT)
        assert given.focus() == "prompt"


def test_only_what_is_new_is_said_and_no_sentence_twice_in_a_row(at_play: GivenTable) -> None:
    before = at_play.said()
    assert before[:2] == ["montecarlo bids 3.", "You pass."]
    lines = [*PLAY["log"], {"n": 5, "text": "You play 4D."}, {"n": 6, "text": "careful passes."}]
    at_play.give(state(WAIT, log=lines))
    at_play.give(state(WAIT, log=[*lines, {"n": 7, "text": "careful passes."}]))
    assert at_play.said() == [*before, "You play four of diamonds.", "careful passes.", "Once more: careful passes."]


def test_trumps_are_chosen_already_and_the_cards_that_are_kept_are_sent(sit: Any) -> None:
    with sit(DISCARD) as given:
        assert given.page.locator("#chosen").inner_text() == "You keep 5 and lay 4 cards away."
        given.page.locator("[data-card='2C']").click()  # must go: said here, nothing is sent
        assert "Plain cards are laid away before the draw." in given.page.locator("#ruling").inner_text()
        given.page.get_by_role("button", name="Keep these 5").click()
        assert given.sent() == [("/move", {"turn": "t1", "cards": ["AS", "KS", "9S", "5S", "5C"]})]


def test_cards_are_chosen_by_keys_and_too_few_are_counted(sit: Any) -> None:
    with sit(RUN) as given:
        for key in "12345":
            given.page.keyboard.press(key)
        given.page.keyboard.press("Enter")
        assert given.sent() == []
        assert given.said()[-1] == "Keep 6 of your 9 cards: choose 1 more."
        given.page.keyboard.press("9")
        given.page.keyboard.press("Enter")
        assert given.sent() == [("/move", {"turn": "t1", "cards": ["AS", "KS", "9S", "JH", "TH", "2C"]})]


def test_bids_calls_and_suits_have_their_keys(sit: Any) -> None:
    for asked_for, key, sent in ((BID, "p", "pass"), (BID, "4", "4"), (BEG, "b", "beg"), (NAME, "h", "hearts")):
        with sit(asked_for) as given:
            given.page.keyboard.press(key)
            assert given.sent() == [("/move", {"turn": "t1", "move": sent})]


def test_letters_and_arrows_go_from_card_to_card(at_play: GivenTable) -> None:
    page = at_play.page
    page.keyboard.press("k")
    assert at_play.focus() == "king of spades, not allowed now"
    page.keyboard.press("ArrowRight")
    assert at_play.focus() == "nine of spades, not allowed now"
    page.keyboard.press("s")
    assert at_play.focus() == "ace of spades, not allowed now"
    page.keyboard.press("d")
    page.keyboard.press("Enter")
    assert at_play.sent() == [("/move", {"turn": "t1", "move": "4D"})]


def test_single_keys_can_be_put_off_and_settings_are_kept_in_the_browser(at_play: GivenTable) -> None:
    page = at_play.page
    page.click("#open-settings")
    page.get_by_label("do nothing").check()
    page.get_by_label("left hand").check()
    page.get_by_label("four", exact=True).check()
    page.keyboard.press("Escape")
    page.reload()
    page.locator("#hand button").first.wait_for()
    page.keyboard.press("5")
    assert at_play.sent() == []
    felt, beside = page.locator(".felt").bounding_box(), page.locator(".beside").bounding_box()
    assert felt
    assert beside
    assert beside["x"] < felt["x"]
    colours = {
        suit: page.locator(f"symbol[id='card-4{suit}'] g").first.evaluate("one => getComputedStyle(one).fill")
        for suit in "CDHS"
    }
    assert len(set(colours.values())) == 4


ASKED: Final = {
    "hand": "You hold ace of spades, king of spades, nine of spades, jack of hearts and four of diamonds.",
    "trick": "To this trick: king of diamonds by montecarlo and ten of diamonds by random.",
    "last": "Last trick: three of clubs by montecarlo, queen of clubs by random, ace of clubs by you and five of hearts by careful. You took it.",
    "score": "You 3, careful minus 1, montecarlo 5 and random 4. The game goes to 7.",
    "why": "Not ace of spades, king of spades, nine of spades or jack of hearts: "
    "Trump king of diamonds was led and you hold four of diamonds: play a trump. That is rule AF-PLAY-002.",
    "hint": "Hint: Four of diamonds. It is your only trump.",
}


def test_the_box_answers_what_is_asked(at_play: GivenTable) -> None:
    at_play.answers["/hint"] = (200, HINT)
    for question, answer in ASKED.items():
        _say(at_play, question)
        at_play.hears(answer)
    _say(at_play, "abracadabra")
    assert at_play.said()[-1].startswith("The table does not know “abracadabra”.")
    assert at_play.focus() == "command"
    assert at_play.sent() == []


@pytest.mark.parametrize(
    ("where", "typed", "sent"),
    [
        (PLAY, "4d", {"move": "4D"}),
        (PLAY, "Play the four of Diamonds!", {"move": "4D"}),
        (BID, "bid 4", {"move": "4"}),
        (BID, "PASS", {"move": "pass"}),
        (NAME, "hearts", {"move": "hearts"}),
        (RUN, "keep AS, KS 9s jh 10h 2c", {"cards": ["AS", "KS", "9S", "JH", "TH", "2C"]}),
    ],
)
def test_the_box_takes_moves(sit: Any, where: State, typed: str, sent: State) -> None:
    with sit(where) as given:
        _say(given, typed)
        assert given.sent() == [("/move", {"turn": "t1", **sent})]


def _say(given: GivenTable, text: str) -> None:
    if given.focus() != "command":
        given.page.keyboard.press("/")
    given.page.keyboard.type(text)
    given.page.keyboard.press("Enter")


def test_a_hint_marks_its_card_and_says_why(at_play: GivenTable) -> None:
    at_play.answers["/hint"] = (200, HINT)
    at_play.page.get_by_role("button", name="Hint").click()
    expect(at_play.page.locator("#hint-panel")).to_contain_text("It is your only trump.")
    assert at_play.page.get_by_role("button", name="four of diamonds, advised").is_visible()


def test_pause_take_back_and_leave(sit: Any) -> None:
    with sit(PAUSED) as given:
        page = given.page
        page.locator("[data-card='4D']").click()
        assert given.said()[-1] == "The table is paused. Say go on first."
        page.locator("#pause").click()
        given.give({**PLAY, "practice": True})
        page.locator("#pause").click()
        with page.expect_response("**/take-back"):  # what is answered from here on is for the next one alone
            page.locator("#take-back").click()
        given.answers["/take-back"] = (409, {"sentence": "There is nothing to take back."})
        page.locator("#take-back").click()
        given.hears("There is nothing to take back.")
        page.click("#open-leave")
        page.get_by_role("button", name="Stay").click()
        page.click("#open-leave")
        page.locator("#really-leave").click()
        expect(page.locator("#prompt")).to_have_text("You have left the table.")
        assert [path for path, _ in given.sent()] == ["/go-on", "/pause", "/take-back", "/take-back", "/leave"]
        given.give(PLAY)
        assert not page.locator("#lost").is_visible()

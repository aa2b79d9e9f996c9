"""Scripted seats: the worked deals of the vectors under the umpire, wrong words, and scripts that are wrong themselves."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from referee.cards import SUITS, parse_cards
from referee.check.script import Played, Script, ScriptedDeal, ScriptError, play_script, read_script
from referee.cli import app, register
from tests.helpers import rules_of
from tests.rules.test_vectors import Case, cases

register("play")
RULES_PAGE = Path(__file__).resolve().parents[2] / "docs" / "rules.md"

A_STEAL = """
seats = 4
dealer = 3
scores = [6, 0, -2, 0]

[[deal]]
hands = ["AS 3S JS", "AH 5H", "", "QH 3H 2S"]
said = ["3 pass pass", "3 QH"]
"""


def played(text: str) -> Played:
    return play_script(read_script(text, "a.toml"))


def script_of(case: Case, words: list[str]) -> Script:
    deal = ScriptedDeal(parse_cards(case["pack"]), (), (), tuple(words))
    return Script(
        rules=rules_of(case["rules"]),
        seats=case["seats"],
        dealer=case["dealer"],
        deals=(deal,),
        scores=tuple(case["before"]),
    )


@cases("family_deals")
def test_every_whole_deal_of_the_vectors_comes_out_as_it_says(case: Case) -> None:
    told = play_script(script_of(case, case["actions"])).to_json()
    (deal,) = told["deals"]
    assert told["rulings"] == []
    assert deal["trump"] == (None if case["trump"] is None else SUITS.index(case["trump"]))
    found: dict[str, Any] = {"after": deal["scores"], **{name: deal[name] for name in ("pips", "deltas", "set_back")}}
    assert found == {name: case[name] for name in found}
    assert [(award["item"], award["points"]) for award in deal["items"]] == [
        (award["item"], award["points"]) for award in case["awards"]
    ]
    result = told["result"]
    assert (result["winner"] if result else None) == case["winner"]


@cases("deal_scores")
def test_every_scored_deal_of_the_vectors_comes_out_as_it_says(case: Case) -> None:
    if case["rules"].get("max_deals") == 1:
        return
    told = play_script(script_of(case, case["actions"].split())).to_json()
    (deal,) = told["deals"]
    found: dict[str, Any] = {"after": deal["scores"], **{name: deal[name] for name in ("pips", "made", "deltas")}}
    assert found == {name: case[name] for name in found}


def test_where_the_words_end_it_is_told_who_is_asked_what() -> None:
    told = played(A_STEAL)
    assert told.to_json()["asked"]["seat"] == 0
    text = told.text(symbols=False)
    assert "seat 4: 3 steals" in text
    assert text.splitlines()[-1].startswith("  The words end here. Seat 1 is asked for a card. Legal: ")


def test_a_wrong_word_is_ruled_upon_and_the_next_one_is_the_answer_to_that() -> None:
    told = played(A_STEAL.replace("3 pass pass", "3 3 pass pass").replace("3 QH", "2 3 QH"))
    assert [(one.ruling.seat, one.ruling.rule, one.step) for one in told.wrong] == [
        (1, "AF-BID-003", 1),
        (3, "AF-BID-002", 3),
    ]
    assert played(A_STEAL).to_json()["asked"] == told.to_json()["asked"]
    text = " ".join(told.text().split())
    assert "Seat 2 with 3: ILLEGAL_ACTION AF-BID-003: Only the dealer may take a bid of 3 at the same amount." in text


def test_deals_follow_one_another_and_the_deal_passes_on() -> None:
    thrown_in = "[[deal]]\nsaid = 'pass pass pass pass'\n"
    told = played("seats = 4\ndealer = 3\n" + 2 * thrown_in + "[[deal]]\nhands = ['', '', '', 'AS']\nsaid = 'pass'\n")
    assert [(deal["dealer"], deal["ending"]) for deal in told.to_json()["deals"]] == [
        (3, "thrown in"),
        (0, "thrown in"),
    ]
    assert told.to_json()["asked"]["seat"] == 3
    assert "Deal 3, seat 2 deals" in told.text()


def test_where_the_same_dealer_deals_again_the_hands_still_go_to_their_seats() -> None:
    text = """
    seats = 3
    dealer = 1
    rules = {all_pass = "thrown_in_same_dealer"}
    [[deal]]
    said = "pass pass pass"
    [[deal]]
    hands = ["AS", "AH", "AD"]
    """
    told = played(text)
    assert told.umpire.deal is not None
    for seat, ace in enumerate(parse_cards("AS AH AD")):
        assert told.umpire.deal.dealt[seat] >> ace & 1
    assert "Seat 3 is asked for a bid" in told.text()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("seats = 4", r"there is no deal: write \[\[deal\]\]"),
        ("variant = 'whist'\n[[deal]]", "whist"),
        ("seatz = 4\n[[deal]]", "the file has a field 'seatz'; there are deal, dealer"),
        ("[[deal]]\nsayd = ''", "deal 1: it has a field 'sayd'"),
        ("seats = 4\n[[deal]]\nhands = ['AS']", "deal 1: hands has 1 entries: write one for each of the 4 seats"),
        ("[[deal]]\nhands = ['AS', 'AS', '']", "deal 1: a card is in two places"),
        ("[[deal]]\nhands = ['1S', '', '']", "deal 1: '1S' is not a card"),
        ("[[deal]]\npack = 'AS'", "deal 1: "),
        ("[[deal]]\npack = 'AS'\nstock = 'KS'", "pack says all of it"),
        ("seats = 4\nscores = [1]\n[[deal]]", "scores"),
        ("seats = 9\n[[deal]]", "9"),
        ("[[deal]]\nsaid = '2 hello'", r"deal 1: word 2 \(hello\): seat 2 is asked for a bid"),
        ("[[deal]]\nsaid = 'pass pass pass pass AS'", r"deal 1: word 5 \(AS\): the deal is over before it"),
        ("[[deal]]\nsaid = '2'\n[[deal]]\n", "deal 2: the words of deal 1 end before it does"),
        ("nonsense", "a.toml: "),
    ],
)
def test_a_wrong_script_is_refused_with_the_place_and_the_remedy(text: str, told: str) -> None:
    with pytest.raises(ScriptError, match=told) as caught:
        played(text)
    assert str(caught.value).startswith("a.toml: ")


def test_no_deal_follows_the_end_of_the_game() -> None:
    rules = "rules = {smudge = 'none', target = 1}\nvariant = 'all-fours'\nseats = 2\nscores = [6, 6]\n"
    turned_jack = "[[deal]]\nstock = 'JD'\n"
    with pytest.raises(ScriptError, match="deal 2: the game is over before it"):
        played(rules.replace("rules = {smudge = 'none', target = 1}\n", "") + 2 * turned_jack)


def test_the_command_plays_the_example_of_the_docs(tmp_path: Path) -> None:
    page = RULES_PAGE.read_text("utf-8")
    example = re.search(r"```toml\n(# argument\.toml.*?)```", page, re.DOTALL)
    shown = re.search(r"\$ referee play --script argument\.toml -o plain\n(.*?)```", page, re.DOTALL)
    assert example is not None
    assert shown is not None
    file = tmp_path / "argument.toml"
    file.write_text(example[1], "utf-8")
    done = CliRunner().invoke(app, ["play", "--script", str(file), "-o", "plain"])
    assert (done.exit_code, done.output) == (0, shown[1])
    as_json = json.loads(CliRunner().invoke(app, ["play", "--script", str(file), "-o", "json"]).output)
    assert as_json["rulings"][0]["rule"] == "AF-PLAY-003"


def test_bots_and_a_script_are_not_named_together() -> None:
    done = CliRunner().invoke(app, ["play", "careful", "--script", "x.toml"])
    assert done.exit_code == 2
    assert CliRunner().invoke(app, ["play"]).exit_code == 2

"""Every form of a report against its schema; what a bot says can do no harm in any of them."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import xmlschema

from referee.check.formats import as_badge, as_json, as_junit, as_markdown, renderers
from referee.check.html import as_html, picture_of
from referee.check.run import Outputs, Report, document
from referee.check.terminal import report
from referee.rules import variant
from tests.check.helpers import ANY_LEGAL, SCHEMAS, bot, check_events, examined, plan_of, schema, zoo_plan

BOTS: dict[str, tuple[str, str, str]] = {
    "reneges": ("mutants.py", "renege", "auction-pitch"),
    "bids": ("mutants.py", "bid-one", "auction-pitch"),
    "keeps": ("mutants.py", "keeps-a-plain-card", "cinch"),
    "gives": ("mutants.py", "eldest-gives", "all-fours"),
    "crashes": ("mutants.py", "raises-when-void", "auction-pitch"),
    "strays": ("wires.py", "invents-turns", "auction-pitch"),
    "lacks": ("mutants.py", "plays-what-it-lacks", "auction-pitch"),
    "good": ("good.py", "first-legal", "auction-pitch"),
}


@cache
def checked(name: str, folder: Path) -> Report:
    file, bot_name, game = BOTS[name]
    plan = zoo_plan(file, bot_name, folder, games=(variant(game),), deals=10)
    return examined(plan, outputs=Outputs(folder / "failures", command=bot_name))


def xml(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314  # what we have just written ourselves


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("formats")


@pytest.mark.parametrize("name", BOTS)
def test_every_line_of_the_event_stream_fits_its_schema(name: str, folder: Path) -> None:
    events = checked(name, folder).events
    check_events(checked(name, folder))
    assert [events[0]["event"], events[-1]["event"]] == ["started", "finished"]


@pytest.mark.parametrize("name", BOTS)
def test_the_json_report_fits_its_schema(name: str, folder: Path) -> None:
    text = as_json(document([checked(name, folder).events]))
    schema("report").validate(json.loads(text))


@pytest.mark.parametrize("name", BOTS)
def test_every_witness_fits_its_schema(name: str, folder: Path) -> None:
    run = checked(name, folder).run
    files = [entry["witness"]["file"] for entry in run["verdicts"] if entry["witness"]]
    assert bool(files) is (name != "good")
    for file in files:
        schema("witness").validate(json.loads(Path(file).read_text("utf-8")))


@pytest.mark.parametrize("name", BOTS)
def test_junit_fits_its_schema_and_counts_right(name: str, folder: Path) -> None:
    text = as_junit(document([checked(name, folder).events]))
    xmlschema.XMLSchema(str(SCHEMAS / "junit.xsd")).validate(text)
    (suite,) = xml(text)
    for tag, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert int(suite.get(attribute, "")) == len(suite.findall(f"testcase/{tag}"))
    assert int(suite.get("tests", "")) == len(suite)
    bad = int(suite.get("failures", "")) + int(suite.get("errors", ""))
    assert bool(bad) is (name != "good")


def test_in_junit_a_crash_is_an_error_and_an_untested_rule_is_skipped(folder: Path) -> None:
    (suite,) = xml(as_junit(document([checked("crashes", folder).events])))
    kinds = {case.get("name", "").split()[0]: [child.tag for child in case] for case in suite}
    assert kinds["AF-LIFE-002"] == ["error"]
    assert kinds["AF-LIFE-003"] == ["skipped"]
    (suite,) = xml(as_junit(document([checked("reneges", folder).events])))
    kinds = {case.get("name", "").split()[0]: [child.tag for child in case] for case in suite}
    assert kinds["AF-PLAY-003"] == ["failure"]
    assert kinds["AF-PLAY-001"] == []


def test_a_bot_that_never_joined_is_an_error_in_junit(tmp_path: Path) -> None:
    never = examined(plan_of(bot(tmp_path, "raise SystemExit(7)\n"), tmp_path))
    text = as_junit(document([never.events]))
    xmlschema.XMLSchema(str(SCHEMAS / "junit.xsd")).validate(text)
    (suite,) = xml(text)
    assert [child.tag for case in suite for child in case] == ["error"]
    schema("report").validate(json.loads(as_json(document([never.events]))))
    assert "exit code 7" in as_markdown(document([never.events]))
    assert "exit code 7" in as_html(document([never.events]))


@pytest.mark.parametrize("name", [name for name in BOTS if name != "good"])
def test_the_page_draws_every_position(name: str, folder: Path) -> None:
    outcome = checked(name, folder)
    page = as_html(document([outcome.events]))
    drawn = page.count('<svg class="table"')
    scenes = [entry for entry in outcome.run["verdicts"] if entry["witness"] and entry["witness"]["scene"]]
    assert drawn == len(scenes)
    for entry in scenes:
        assert entry["witness"]["scene"]["did"].replace("'", "&#39;") in page
        assert entry["sentence"] in page
    assert not re.search(r"""(?:src|href)=["'](?!#)""", page), "the page needs nothing from elsewhere"


def test_the_picture_shows_who_sits_where(folder: Path) -> None:
    run = checked("reneges", folder).run
    scene = next(entry["witness"]["scene"] for entry in run["verdicts"] if entry["rule"] == "AF-PLAY-003")
    picture = picture_of(scene)
    own = next(seat for seat in picture.seats if seat.number == scene["seat"])
    assert own.label.startswith("the bot")
    assert all(seat.y <= own.y for seat in picture.seats), "the bot sits at the bottom"
    assert {card.text for card in picture.hand if card.mark == "legal"} == set(scene["legal_cards"])
    assert [card.text for card in picture.hand if card.mark == "wrong"] == [scene["card"]]
    assert [card.text for card in picture.trick] == [card for _, card in scene["trick"]]


def test_a_card_that_is_not_in_the_hand_lies_beside_it(folder: Path) -> None:
    run = checked("lacks", folder).run
    scene = next(entry["witness"]["scene"] for entry in run["verdicts"] if entry["rule"] == "AF-PLAY-001")
    picture = picture_of(scene)
    assert picture.stranger is not None
    assert picture.stranger.text == scene["card"]
    assert picture.stranger.name.split(" of ")[1] in ("clubs", "diamonds", "hearts", "spades")


def test_several_bots_stand_side_by_side(folder: Path) -> None:
    whole = document([checked(name, folder).events for name in ("good", "reneges")])
    schema("report").validate(json.loads(as_json(whole)))
    page = as_html(whole)
    assert '<th scope="col">first-legal</th><th scope="col">renege</th>' in page
    assert len(xml(as_junit(whole))) == 2


def test_the_summary_names_rule_reason_and_replay(folder: Path) -> None:
    text = as_markdown(document([checked("reneges", folder).events]))
    assert "| FAIL | AF-PLAY-003/variant:auction-pitch Plain suit led: follow or trump |" in text
    assert "--replay" in text
    assert "rules exercised" in text


@pytest.mark.parametrize(("name", "told"), [("good", "incomplete"), ("reneges", "does not conform")])
def test_the_badge_says_what_was_found(name: str, told: str, folder: Path) -> None:
    badge = as_badge(document([checked(name, folder).events]))
    assert xml(badge).tag.endswith("svg")
    assert told in badge


def test_the_screen_shows_rule_hand_deed_legal_and_replay_in_a_few_lines(folder: Path) -> None:
    lines = [text for text, _ in report(checked("reneges", folder).run)]
    assert len(lines) <= 40
    text = "\n".join(lines)
    for word in ("AF-PLAY-003", "held  ", "did  ", "legal  ", "why  ", "replay  ", "table  "):
        assert word in text
    assert re.fullmatch(r"rules exercised \d+/\d+", lines[-1])


EVIL = """
import sys
from referee.bot import Bot, run
class Evil(Bot):
    version = "<script>alert(1)</script>"
    def choose(self, turn):
        sys.stderr.write("\\x1b[2J\\x1b]0;owned\\x07 <img src=x onerror=alert(1)> `|` ]]> \\x00\\n")
        raise RuntimeError("</pre><script>alert(2)</script>\\x1b[31m")
run(Evil())
"""


def test_what_a_bot_prints_does_no_harm_in_any_report(tmp_path: Path) -> None:
    outcome = examined(plan_of(bot(tmp_path, EVIL), tmp_path), outputs=Outputs(tmp_path / "failures", command="evil"))
    whole: dict[str, Any] = document([outcome.events])
    for name, render in renderers().items():
        text = render(whole)
        assert "\x1b" not in text, name
        assert "\x00" not in text, name
        if name in ("html", "md"):
            assert "<script>alert" not in text
            assert "<img src=x" not in text
    xmlschema.XMLSchema(str(SCHEMAS / "junit.xsd")).validate(as_junit(whole))
    assert not any("\x1b" in text for text, _ in report(outcome.run, verbose=True))


def test_a_good_bot_needs_no_words(folder: Path) -> None:
    plan = plan_of(bot(folder, ANY_LEGAL, "quiet"), folder, deals=0, lives=3)
    lines = [text for text, _ in report(examined(plan).run)]
    assert lines[0].endswith("in auction-pitch: conforms")
    assert lines[-1] == "rules exercised 22/22"
    assert len(lines) <= 5

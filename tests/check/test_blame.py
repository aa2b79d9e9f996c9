"""Who is to blame, what shows it again, and what may be behind it."""

import json
import random
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from typer.testing import CliRunner, Result

from referee.check.judge import CheckExit, Verdict
from referee.check.plan import clock
from referee.check.position import GamePrefix, Position, PositionError, Setting
from referee.check.results import about_bytes
from referee.cli import app, check
from referee.protocol import wire
from referee.rules import variant, variant_names
from referee.umpire.events import TimeLimits
from tests.check.helpers import ANY_LEGAL, broken, examined, zoo_plan
from tests.helpers import chances, seeded, shuffled

assert check  # it registers its command
BARE = ("--sandbox", "none")
QUICK = ("--deals", "20", *BARE)
CRASHES_ONCE = """
from pathlib import Path
from referee.bot import run
seen = Path("{folder}") / "seen"
asked = []
def choose(turn):
    asked.append(turn)
    if len(asked) == 30 and not seen.exists():
        seen.touch()
        raise RuntimeError("once in a lifetime")
    return turn.rng.choice(turn.legal)
run(choose)
"""
STRANGER = 'import os\nos.environ["REFEREE_TOKEN"] = {token!r}\n' + ANY_LEGAL
SPEAKS_JSON = """
import os, grpc
target = os.environ["REFEREE_ADDRESS"].removeprefix("tcp:")
with grpc.insecure_channel(target) as channel:
    play = channel.stream_stream("/allfours.v1.RefereeService/Play")
    for _ in play(iter([b'{"join": {}}']), metadata=[("authorization", "Bearer " + os.environ["REFEREE_TOKEN"])]):
        pass
"""


def referee(*words: str) -> Result:
    return CliRunner().invoke(app, ["check", *words])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# What was never seen again.


def test_a_loss_that_is_never_seen_again_cannot_be_replayed(here: Path) -> None:
    (here / "once.py").write_text(CRASHES_ONCE.format(folder=here), "utf-8")
    assert referee("once.py", *QUICK).exit_code == CheckExit.FAILS
    (path,) = (here / "failures").glob("AF-*.json")
    witness = json.loads(path.read_text("utf-8"))
    assert (witness["rule"], witness["shown_by"]) == ("AF-LIFE-002", "")
    done = referee("once.py", *BARE, "--replay", "failures")
    assert done.exit_code == CheckExit.CANNOT_REPLAY
    assert "CANNOT REPLAY AF-LIFE-002" in done.output


def test_a_malformed_answer_that_follows_from_the_turn_alone_is_no_matter_of_history(tmp_path: Path) -> None:
    games = (variant("cinch"),)
    report = examined(zoo_plan("wires.py", "counts-suits-from-zero", tmp_path, games=games, lives=3))
    assert broken(report) == {"AF-PROTO-003"}
    rows = {row.requirement.id: row for row in report.judgement.rows}
    assert "counted from 1 (clubs)" in rows["AF-PROTO-003"].hint
    assert rows["AF-TRUMP-002"].verdict is Verdict.NOT_APPLICABLE
    assert "no answer to it could be read: see AF-PROTO-003" in rows["AF-TRUMP-002"].reason


def test_batches_are_said_to_be_cut_only_where_fewer_turns_are_answered_whole(tmp_path: Path) -> None:
    told = {}
    for name in ("cuts-batches", "loses-the-last-of-a-mixture"):
        report = examined(zoo_plan("wires.py", name, tmp_path, limits=clock(1_000), lives=3))
        assert broken(report) == {"AF-ROBUST-003"}
        told[name] = next(row.hint for row in report.judgement.rows if row.requirement.id == "AF-ROBUST-003")
    assert told["cuts-batches"].startswith("Batches over 8 are cut")
    assert told["loses-the-last-of-a-mixture"] == ""


# The first line.


@pytest.mark.parametrize(("token", "told"), [("yesterday", "Wrong token"), ("", "No token")])
@pytest.mark.parametrize("doctor", [("--doctor",), ()])
def test_a_wrong_token_is_named_in_the_first_line(here: Path, token: str, told: str, doctor: tuple[str, ...]) -> None:
    (here / "stranger.py").write_text(STRANGER.format(token=token), "utf-8")
    done = referee("stranger.py", *(BARE if doctor else QUICK), *doctor)
    assert done.exit_code == CheckExit.NOT_READY
    assert told in done.output.splitlines()[0]
    assert "REFEREE_TOKEN" in done.output.splitlines()[0]


def test_json_instead_of_protobuf_is_named_in_the_first_line(here: Path) -> None:
    (here / "speaks.py").write_text(SPEAKS_JSON, "utf-8")
    done = referee("speaks.py", *BARE, "--doctor")
    assert done.exit_code == CheckExit.NOT_READY
    assert "JSON" in done.output.splitlines()[0]


JOIN = wire.PlayRequest(join=wire.Join(name="x")).SerializeToString()


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'{"join": {}}', "JSON"),
        (b" [1, 2]", "JSON"),
        (b"\0" + len(JOIN).to_bytes(4, "big") + JOIN, "gRPC frame"),
        (b"\x1f\x8b\x08\0rest", "gzip"),
        (wire.Join(name="somebody", version="1").SerializeToString(), "a Join by itself"),
        (wire.Move(turn_id=2**40, bid=3).SerializeToString(), "a Move by itself"),
        (b"hello, referee", "text"),
        (b"\xff\xfe\0junk", ""),
        (b"", ""),
    ],
)
def test_bytes_that_are_no_message_are_told_apart(data: bytes, told: str) -> None:
    assert told in about_bytes(data)
    assert told or not about_bytes(data)


# The course of a game.


def reached(chance: random.Random) -> Position:
    rules = variant(chance.choice(variant_names()))
    seats = rules.players[1]
    start = Position(rules=rules, seats=seats, dealer=chance.randrange(seats), pack=shuffled(chance), bot_seed=7)
    try:
        deal = start.reached()
    except PositionError:
        return reached(chance)
    actions: list[int] = []
    for _ in range(chance.randrange(12)):
        legal = deal.legal()
        action = legal[chance.randrange(len(legal))]
        deal.apply(action)
        if deal.kind is None:
            break
        actions.append(action)
    return Position(rules=rules, seats=seats, dealer=start.dealer, pack=start.pack, actions=tuple(actions), bot_seed=7)


@given(chances())
def test_a_bot_that_is_led_comes_to_the_same_turn_whatever_it_answers(chance: random.Random) -> None:
    position = reached(chance)
    course = GamePrefix.to(position)
    assert GamePrefix.from_json(json.loads(json.dumps(course.to_json()))) == course
    umpire, _ = course.lay(Setting(count(1).__next__, lambda _rules: 1, TimeLimits()))
    for _ in position.actions:
        turn = umpire.open
        assert turn is not None
        then = course.next(umpire, turn)
        assert then is not None
        umpire.answer(turn.turn_id, then, 0)
    turn, wanted = umpire.open, position.turn()
    assert turn is not None
    assert course.next(umpire, turn) is None
    seen = ("kind", "legal", "hand", "history", "trick", "trump", "bid", "scores", "decision", "deal")
    assert {name: getattr(turn, name) for name in seen if name != "legal"} == {
        name: getattr(wanted, name) for name in seen if name != "legal"
    }
    assert turn.chair.seat == wanted.chair.seat == course.seat


@pytest.mark.parametrize(
    "change", [{"seats": 9}, {"deals": []}, {"deals": [{"pack": "AS", "actions": []}]}, {"seat": "x"}]
)
def test_a_garbled_course_is_refused(change: dict[str, object]) -> None:
    course = GamePrefix.to(Position(rules=variant("auction-pitch"), seats=4, dealer=3, pack=shuffled(seeded(1))))
    with pytest.raises(PositionError, match="course of the game"):
        GamePrefix.from_json(course.to_json() | change)

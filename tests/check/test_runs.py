"""Whole checks of small bots: what is reused, what is left behind, remote bots, slow ones, growing ones."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from referee.check.judge import CheckExit, Verdict
from referee.check.plan import clock
from referee.check.requirements import Selection, SelectionError
from referee.check.restarts import Size, size_of
from referee.check.run import Outputs, Report
from referee.rules import variant
from tests.check.helpers import ANY_LEGAL, bot, broken, check_events, examined, plan_of, zoo_plan
from tests.program import PATIENCE


def starts(report: Any) -> int:
    return sum(event["event"] == "launched" for event in report.events)


def test_a_check_starts_a_good_bot_three_times_and_leaves_nothing(tmp_path: Path) -> None:
    report = examined(plan_of(bot(tmp_path, ANY_LEGAL), tmp_path, lives=3))
    assert starts(report) == 3
    for event in report.events:
        if event["event"] == "launched":
            assert not Path(f"/proc/{event['pid']}").exists()


def test_the_same_seed_asks_the_same_positions_and_deals(tmp_path: Path) -> None:
    first, again = (examined(plan_of(bot(tmp_path, ANY_LEGAL), tmp_path, deals=0)) for _ in range(2))

    def asked(report: Any) -> dict[str, int]:
        return {score.requirement.key: score.opportunities["directed"] for score in report.result.tally}

    assert asked(first) == asked(again)


def test_events_are_written_while_the_check_runs(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    report = examined(plan_of(bot(tmp_path, ANY_LEGAL), tmp_path, deals=0), outputs=Outputs(events=path))
    lines = path.read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == report.events


@pytest.mark.needs("bwrap")
def test_a_sandboxed_bot_is_checked_like_any_other(tmp_path: Path) -> None:
    report = examined(plan_of(bot(tmp_path, ANY_LEGAL), tmp_path, sandbox="bubblewrap", lives=3))
    assert report.exit_code is CheckExit.CONFORMS
    assert {event["sandbox"] for event in report.events if event["event"] == "launched"} == {"bubblewrap"}


def dial_in(address: str, token: str, folder: Path, text: str) -> subprocess.Popen[bytes]:
    (folder / "far.py").write_text(text, "utf-8")
    environment = os.environ | {"REFEREE_ADDRESS": address, "REFEREE_TOKEN": token, "PYTHONPATH": str(Path.cwd())}
    return subprocess.Popen([sys.executable, "far.py"], cwd=folder, env=environment)


def remote(folder: Path, port: int, text: str, code: int = 0, **more: Any) -> Any:
    plan = plan_of(None, folder, listen=f"127.0.0.1:{port}", token="t", wait_seconds=30.0, lives=3, **more)
    far: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        far.append(dial_in(f"tcp:127.0.0.1:{port}", "t", folder, text))

    later = threading.Timer(0.3, start)
    later.start()
    try:
        report = examined(plan)
        assert broken(report) or far[0].wait(PATIENCE) == code
        return report
    finally:
        later.join()
        for one in far:
            one.kill()
            one.wait()


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_bot_that_dials_in_is_checked_as_far_as_one_can_from_here(tmp_path: Path) -> None:
    report = remote(tmp_path, free_port(), ANY_LEGAL)
    assert broken(report) == set()
    assert report.exit_code is CheckExit.CONFORMS
    apart = {row.requirement.id for row in report.judgement.rows if row.verdict is Verdict.NOT_APPLICABLE}
    assert apart == {"AF-LIFE-001", "AF-LIFE-003", "AF-LIFE-004"}
    assert "AF-ROBUST-005" in {row.requirement.id for row in report.judgement.rows if row.verdict is Verdict.PASS}


def test_a_remote_bot_that_reneges_is_found_out(tmp_path: Path) -> None:
    text = (
        "from referee.bot import Kind, run\n"
        "def choose(turn):\n"
        "    wrong = [c for c in turn.hand if c not in turn.legal] if turn.kind is Kind.PLAY else []\n"
        "    return wrong[0] if wrong else turn.rng.choice(turn.legal)\n"
        "run(choose)\n"
    )
    assert broken(remote(tmp_path, free_port(), text)) == {"AF-PLAY-002", "AF-PLAY-003"}


NOT_TWICE = """
import os
from referee.bot import Bot, run
class Once(Bot):
    seen = 0
    def joined(self, joined):
        self.seen += 1
        if self.seen > 1:
            {does}
    def choose(self, turn):
        if self.seen > 1:
            {thinks}
        return turn.legal[0]
run(Once())
"""


@pytest.mark.parametrize(
    ("does", "thinks", "told"),
    [
        ("raise RuntimeError('joined twice')", "pass", "was gone"),
        ("os._exit(1)", "pass", "was gone"),
        ("pass", "import time; time.sleep(4)", "did not answer"),
    ],
    ids=["raises", "exits", "hangs"],
)
def test_a_bot_that_cannot_join_twice_in_one_process_is_found_out(
    tmp_path: Path, does: str, thinks: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.check.bot_under_test.GRACE_SECONDS", 2.0)  # for its third Join, which never comes
    report = remote(tmp_path, free_port(), NOT_TWICE.format(does=does, thinks=thinks), limits=clock(1_500))
    assert broken(report) == {"AF-ROBUST-005"}
    (row,) = [row for row in report.judgement.rows if row.requirement.id == "AF-ROBUST-005"]
    assert row.witness is not None
    assert told in row.witness.breach.sentence


def test_a_bot_that_does_not_dial_again_is_blamed_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.check.restarts.GRACE_SECONDS", 2.0)
    text = (
        "from referee.bot import _dial as _bot_dial\n_bot_dial.Patience.__new__.__defaults__ = (-1.0, 0.25, 4.0, 30.0)\n"
        + ANY_LEGAL
    )
    report = remote(tmp_path, free_port(), text, code=1)
    assert broken(report) == set()
    (row,) = [row for row in report.judgement.rows if row.requirement.id == "AF-ROBUST-005"]
    assert row.verdict is Verdict.NOT_APPLICABLE
    assert row.reason == "it does not dial again when its line is lost"


def test_nobody_dials_in(tmp_path: Path) -> None:
    plan = plan_of(None, tmp_path, listen=f"127.0.0.1:{free_port()}", token="t", wait_seconds=1.0)
    assert examined(plan).exit_code is CheckExit.NOT_READY


def test_a_bot_that_is_late_once_is_flaky_with_both_results(tmp_path: Path) -> None:
    text = (
        "import time\nfrom pathlib import Path\nfrom referee.bot import run\n"
        "def choose(turn):\n"
        f"    lock = Path({str(tmp_path / 'late')!r})\n"
        "    if turn.deal == 0 and turn.hand and not lock.exists():\n"
        "        lock.touch()\n        time.sleep(60)\n"
        "    return turn.rng.choice(turn.legal)\n"
        "run(choose)\n"
    )
    report = examined(plan_of(bot(tmp_path, text), tmp_path, limits=clock(1_500), lives=3))
    flaky = [row for row in report.judgement.rows if row.verdict is Verdict.FLAKY]
    assert [row.requirement.id for row in flaky] == ["AF-CLOCK-001"]
    assert "asked again it answered" in flaky[0].reason
    check_events(report)
    assert report.exit_code is CheckExit.FAILS


def test_a_slow_bot_is_asked_what_is_needed_and_no_more(tmp_path: Path) -> None:
    text = "import time\nfrom referee.bot import run\ndef choose(turn):\n    time.sleep(0.25)\n    return turn.legal[0]\nrun(choose)\n"
    selection = Selection(areas=("BID", "PLAY"))
    started = time.monotonic()
    report = examined(plan_of(bot(tmp_path, text), tmp_path, deals=0, selection=selection))
    assert report.exit_code is CheckExit.CONFORMS
    assert report.result.tally.answers < 300
    assert time.monotonic() - started < 100, "sixteen positions and four seconds of others take no minutes"


# Growth.


@pytest.mark.parametrize(
    ("late", "told"),
    [
        (Size(100 << 20, 20, 2), ""),
        (Size(110 << 20, 25, 4), ""),
        (Size(140 << 20, 20, 2), "memory from 100 to 140 MiB"),
        (Size(100 << 20, 40, 2), "open descriptors from 20 to 40"),
        (Size(100 << 20, 20, 9), "processes from 2 to 9"),
    ],
)
def test_growth_is_told_beyond_what_is_usual(late: Size, told: str) -> None:
    assert Size(100 << 20, 20, 2).growth_to(late) == told


def test_a_little_memory_may_grow_much() -> None:
    assert Size(10 << 20, 5, 1).growth_to(Size(25 << 20, 5, 1)) == ""


def test_the_size_of_a_process_counts_its_children() -> None:
    with subprocess.Popen([sys.executable, "-c", "import os; os.fork(); input()"], stdin=subprocess.PIPE) as child:
        for _ in range(200):
            size = size_of(child.pid)
            if size is not None and size.processes == 2 and size.resident > 1 << 20:
                break
            time.sleep(0.02)
        assert size is not None
        assert size.processes == 2
        assert size.descriptors >= 6
        child.communicate(b"\n")
    assert size_of(child.pid) is None


LEAK = "from referee.bot import run\nhoard = []\ndef choose(turn):\n    hoard.append(b'x' * {size})\n    return turn.legal[0]\nrun(choose)\n"


@pytest.mark.parametrize(("size", "verdict"), [(200_000, Verdict.WARN), (1, Verdict.PASS)])
def test_a_bot_that_hoards_is_warned_in_a_long_run(tmp_path: Path, size: int, verdict: Verdict) -> None:
    selection = Selection(rules=("AF-ROBUST-007", "AF-PROTO-001"), long=True)
    plan = plan_of(bot(tmp_path, LEAK.format(size=size)), tmp_path, deals=0, long_deals=200, selection=selection)
    report = examined(plan)
    (row,) = [row for row in report.judgement.rows if row.requirement.id == "AF-ROBUST-007"]
    assert row.verdict is verdict
    check_events(report)


FILLS_UP = """
from referee.bot import run
hoard = []
def choose(turn):
    if len(hoard) < 500:
        hoard.append(b"x" * 100_000)
    return turn.legal[0]
run(choose)
"""


def test_a_bot_that_takes_what_it_needs_and_then_grows_no_more_is_not_warned(tmp_path: Path) -> None:
    """A cache of 50 MB that is full after some seventy deals."""
    selection = Selection(rules=("AF-ROBUST-007", "AF-PROTO-001"), long=True)
    plan = plan_of(bot(tmp_path, FILLS_UP), tmp_path, deals=0, long_deals=200, selection=selection)
    report = examined(plan)
    (row,) = [row for row in report.judgement.rows if row.requirement.id == "AF-ROBUST-007"]
    assert row.verdict is Verdict.PASS
    assert sum(event["event"] == "size" for event in report.events) == 2


# Once may be the machine's doing.


ONCE = """
import os, sys, time
from pathlib import Path
from referee.bot import run
mark = Path("once.mark")
first = not mark.exists()
mark.touch()
{at_start}
try:
    run(lambda turn: turn.rng.choice(turn.legal))
finally:
    {at_end}
"""


def once(folder: Path, at_start: str = "", at_end: str = "pass", **more: Any) -> Report:
    selection = Selection(areas=("LIFE",))
    text = ONCE.format(at_start=at_start, at_end=at_end)
    return examined(plan_of(bot(folder, text), folder, deals=0, selection=selection, **more))


def test_a_bot_that_once_did_not_join_in_time_is_started_once_more(tmp_path: Path) -> None:
    report = once(tmp_path, at_start="if first: time.sleep(3600)", start_seconds=15.0)
    assert broken(report) == set()
    assert starts(report) == 2


def test_a_bot_that_once_ended_before_it_joined_is_flaky(tmp_path: Path) -> None:
    report = once(tmp_path, at_start="if first: sys.exit('no')")
    assert broken(report) == {"AF-LIFE-001"}
    (row,) = [row for row in report.judgement.rows if row.requirement.id == "AF-LIFE-001"]
    assert row.verdict is Verdict.FLAKY
    assert row.reason.startswith("It ended before it joined.")
    assert row.reason.endswith("Started once more it joined.")


@pytest.mark.parametrize(
    ("lingers", "told"), [("if first: time.sleep(3600)", set()), ("time.sleep(3600)", {"AF-LIFE-003"})]
)
def test_a_bot_that_does_not_leave_is_sent_off_again(tmp_path: Path, lingers: str, told: set[str]) -> None:
    report = once(tmp_path, at_end=lingers)
    assert broken(report) == told
    assert starts(report) == 2


def test_a_bot_that_is_lost_too_often_is_given_up_and_the_rest_is_untested_with_the_reason(tmp_path: Path) -> None:
    report = examined(zoo_plan("mutants.py", "raises-when-void", tmp_path, lives=3))
    assert starts(report) <= 12  # six lives, and a few to show the loss again and to find its cause
    untested = [row for row in report.judgement.rows if row.verdict is Verdict.UNTESTED]
    assert untested
    assert all("It was lost" in row.reason for row in untested if "decisions fitted" not in row.reason)


def test_games_that_a_bot_does_not_claim_do_not_apply(tmp_path: Path) -> None:
    text = ANY_LEGAL.replace("import run\n", "import Bot, run\nBot.variants = ('smudge',)\n")
    games = (variant("smudge"), variant("cinch"))
    report = examined(plan_of(bot(tmp_path, text), tmp_path, games=games, deals=0, lives=3))
    rows = {row.requirement.key: row for row in report.judgement.rows}
    assert rows["AF-PLAY-003/variant:cinch"].verdict is Verdict.NOT_APPLICABLE
    assert rows["AF-PLAY-003/variant:cinch"].reason == "it does not claim this game"
    assert rows["AF-PLAY-003/variant:smudge"].verdict is Verdict.PASS
    assert report.exit_code is CheckExit.CONFORMS


def test_of_all_games_only_those_for_so_many_seats_are_checked(tmp_path: Path) -> None:
    games = tuple(map(variant, ("auction-pitch", "cinch", "smudge")))
    plan = plan_of(bot(tmp_path, ANY_LEGAL), tmp_path, games=games, by_name=False, seats=(5,), deals=0)
    report = examined(plan)
    assert report.run["checked"] == ["auction-pitch", "smudge"]
    with pytest.raises(SelectionError, match="Cinch is for 4 players"):
        examined(plan_of(bot(tmp_path, ANY_LEGAL), tmp_path, games=games, seats=(5,), deals=0))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_check_ends_its_bot_and_says_so(tmp_path: Path, number: signal.Signals) -> None:
    text = f"import os\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n" + ANY_LEGAL
    bot(tmp_path, text)
    code = "import sys; from referee.cli import main; sys.argv[0] = 'referee'; main()"
    words = ["check", "bot.py", "--seconds", "60", "--sandbox", "none"]
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
    with subprocess.Popen(
        [sys.executable, "-c", code, *words], cwd=tmp_path, env=environment, stderr=subprocess.PIPE
    ) as run:
        for _ in range(600):
            if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text("utf-8"):
                break
            time.sleep(0.05)
        time.sleep(0.5)
        run.send_signal(number)
        _, told = run.communicate(timeout=PATIENCE)
    assert run.returncode == CheckExit.INTERRUPTED
    assert b"nothing is concluded" in told
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text('utf-8')}").exists()

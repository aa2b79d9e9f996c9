"""One job: what is handed in is unpacked, built, checked, and let in or refused with what its owner needs to know."""

import fcntl
import os
import stat
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from referee.check.judge import CheckExit
from referee.check.plan import Plan
from referee.host import job as job_module
from referee.host.job import JobExit, JobLostError, JobOutcome, JobWork, hand_over, main, settle
from referee.host.rows import JobState, VersionState
from referee.host.store import MOST_ATTEMPTS
from referee.league.definition.definition import load_definition
from referee.league.entrants.roster import handed_in
from referee.sandbox.isolation import SandboxError, own_user_id
from tests.host.gates import BUILDS, GOOD, MAKES, RENEGES, Host, open_host

MINE = 'name = "mine"\nversion = "1"\nrun = ["python", "bot.py"]\n'


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    made = open_host(tmp_path)
    with made.store:
        yield made


def changed(host: Host, line: str) -> None:
    """Adds a line to [host] of the definition."""
    with host.home.definition.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def conforms(plan: Plan, outputs: Any) -> Any:
    """A check that finds nothing, for tests of all but the check."""
    assert plan.command is not None
    return SimpleNamespace(run={"verdicts": []}, exit_code=CheckExit.CONFORMS)


def done(host: Host, **more: Any) -> JobOutcome:
    """Does the next job."""
    return JobWork(host.home, host.store, host.lease(), seconds=0, **more).do()


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_bot_that_is_built_and_keeps_the_rules_plays_from_what_its_build_has_made(host: Host) -> None:
    """What it brings along for the place of the build's products is thrown away: nothing of that is in its digest."""
    builds = 'printf "made \\033[31min red\\n"\n' + MAKES
    files = {"bot.toml": BUILDS, "bot.py": GOOD, "make.sh": builds, "build/bot.py": RENEGES, "build/more.py": "evil"}
    handed = host.hand_in({f"mine/{name}": text for name, text in files.items()})
    outcome = done(host)
    assert outcome.state is VersionState.ACCEPTED, outcome
    version, job = host.store.version(handed.version), host.store.job(handed.id)
    assert (job.state, job.sentence) == (JobState.DONE, "It keeps the rules, and plays from the next round on.")
    assert not job.findings
    folder = host.home.bot(version.id)
    assert files_in(folder) == {name: files[name].encode() for name in ("bot.toml", "bot.py", "make.sh")} | {
        "build/bot.py": GOOD.encode()
    }
    entrant = handed_in(load_definition(host.home.definition), folder, "mine")
    assert (version.state, version.name, version.digest) == (VersionState.ACCEPTED, "mine", entrant.digest)
    assert [one.version for one in host.store.entered()] == [version.id]
    assert all(path.lstat().st_uid == os.geteuid() for path in folder.rglob("*"))
    assert [path.name for path in folder.parent.iterdir()] == [str(version.id)]


def test_a_bot_that_breaks_a_rule_is_refused_with_the_rule_and_a_page_that_shows_it(host: Host) -> None:
    handed = host.hand_in({"bot.toml": MINE, "bot.py": RENEGES})
    assert done(host).state is VersionState.REFUSED
    job = host.store.job(handed.id)
    assert job.sentence == "It breaks 2 rules: AF-PLAY-002, AF-PLAY-003."
    assert [one["rule"] for one in job.findings] == ["AF-PLAY-002", "AF-PLAY-003"]
    first, place = job.findings[0], host.home.findings(job.id)
    assert first.keys() == {"rule", "sentence", "times", "witness", "page", "hint"}
    assert first["sentence"].startswith("When trump is led, a seat that holds a trump plays a trump. Trump ")
    assert first["times"] > 10
    page, witness = (place / first["page"]).read_text("utf-8"), (place / first["witness"]).read_text("utf-8")
    assert "AF-PLAY-002" in page
    assert "AF-PLAY-003" not in page
    assert "<script" not in page
    assert f"referee check . --variant auction-pitch --seats 3 --replay {first['witness']}" in page
    assert not [text for text in (page, witness, str(job)) if str(host.home.folder) in text]
    assert host.store.version(job.version).reason == job.sentence
    assert host.store.entered() == []
    assert not host.home.bot(job.version).exists()


def test_a_build_that_fails_shows_the_end_of_its_output(host: Host) -> None:
    fails = 'printf "first\\n\\033[2Jsecond \\007\\n"; pwd; seq 100000; echo last >&2; exit 3\n'
    handed = host.hand_in({"bot.toml": BUILDS, "bot.py": GOOD, "make.sh": fails})
    assert done(host).state is VersionState.REFUSED
    job = host.store.job(handed.id)
    assert "It could not be built: its build step ended with exit code 3" in job.sentence
    assert "--network" not in job.sentence
    assert job.log.endswith("100000\nlast")
    assert all(sign.isprintable() or sign == "\n" for sign in job.log)
    handed = host.hand_in({"bot.toml": BUILDS, "bot.py": GOOD, "make.sh": 'printf "\\033[2J\\007"; pwd; exit 1\n'})
    done(host)
    log = host.store.job(handed.id).log
    assert log.startswith("\\x1b[2J\\x07")
    assert str(host.home.folder) not in log


FETCHED = f"""\
{MAKES}cat ~/packages/one > build/one
echo changed > ~/packages/one
"""


def test_a_build_finds_the_packages_of_the_programs_that_it_calls_in_a_home_of_its_own(host: Host) -> None:
    for program in ("sh", "go"):
        (host.home.cache(program) / "packages").mkdir(parents=True)
        (host.home.cache(program) / "packages" / "one").write_text(f"of {program}")
        (host.home.cache(program) / "packages" / f"only {program}").touch()
    links = f"{FETCHED}ls ~/packages > build/list; ln -s ../.build-home/packages/one build/link\n"
    for makes, kept in ((FETCHED, False), (links, True)):
        handed = host.hand_in({"bot.toml": BUILDS, "bot.py": GOOD, "make.sh": makes})
        assert done(host, run_check=conforms).state is VersionState.ACCEPTED
        folder = host.home.bot(handed.version)
        assert (folder / "build" / "one").read_text() == "of sh"
        assert (folder / ".build-home").exists() == kept
    assert (folder / "build" / "list").read_text() == "one\nonly sh\n"
    assert (host.home.cache("sh") / "packages" / "one").read_text() == "of sh"


def test_a_bot_that_never_joins_is_refused_with_what_it_said(host: Host) -> None:
    handed = host.hand_in({"bot.toml": MINE, "bot.py": "import nothing_of_that_name\n"})
    assert done(host).state is VersionState.REFUSED
    job = host.store.job(handed.id)
    assert job.sentence.startswith("It never became ready: ")
    assert "ModuleNotFoundError: No module named 'nothing_of_that_name'" in job.log
    assert str(host.home.folder) not in job.log + job.sentence


MAKES_A_LINK = {"bot.toml": BUILDS, "bot.py": GOOD, "make.sh": f"{MAKES}ln -s ../../host.sqlite key\n"}
REFUSED: dict[str, tuple[dict[str, str] | bytes, str]] = {
    "a program in no encoding": ({"mine.py": "# coding: hex\n"}, "bytes that are no text"),
    "a file in place of the build's home": (
        {"bot.toml": BUILDS, "bot.py": GOOD, "make.sh": "true\n", ".build-home": "x"},
        "It holds a file called .build-home, which is the home of its build: leave it out.",
    ),
    "no archive": (b"hello", "This is no zip file: "),
    "no program": ({"bot.toml": MINE.replace("1", "a b")}, "bot.toml, line 2, version: found "),
    "a program for another game": (
        {"bot.toml": f'{MINE}variants = ["pedro"]\n', "bot.py": GOOD},
        "found a bot for",
    ),
    "an empty program": ({"mine.py": " \n"}, "the bot: found an empty file; "),
    "no compiler": (
        {"bot.toml": 'name = "a"\nversion = "1"\nrun = ["bin/a"]\nbuild = ["no-such-compiler"]\n'},
        "Its build needs what this host has not: no-such-compiler: ask the organiser.",
    ),
    "nothing built": ({"bot.toml": BUILDS, "bot.py": GOOD, "make.sh": "true\n"}, "brought no build/bot.py"),
    "a link to our store": (MAKES_A_LINK, 'found "key", a link that leads out of it'),
    "a pipe": ({"bot.toml": BUILDS, "bot.py": GOOD, "make.sh": f"{MAKES}mkfifo x\n"}, "has made x, a pipe"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_what_cannot_even_be_checked_is_refused_in_a_sentence(fault: str, host: Host) -> None:
    files, told = REFUSED[fault]
    handed = host.hand_in(files)
    assert done(host, run_check=conforms).state is VersionState.REFUSED
    job = host.store.job(handed.id)
    assert told in job.sentence
    assert job.sentence.isprintable()
    assert str(host.home.folder) not in job.sentence
    assert not host.home.bot(job.version).exists()
    assert [path.name for path in host.home.bot(0).parent.iterdir()] == []


def test_one_program_in_python_plays_as_a_folder(host: Host) -> None:
    handed = host.hand_in({"my bot-1.py": GOOD, "README.md": "hello"})
    assert done(host, run_check=conforms).state is VersionState.ACCEPTED
    entrant = handed_in(load_definition(host.home.definition), host.home.bot(handed.version), "mine")
    assert entrant.argv == (sys.executable, "my bot-1.py")
    version = host.store.version(handed.version)
    assert (version.name, version.digest) == ("my bot-1", entrant.digest)


def test_what_conforms_waits_for_approval_where_the_organiser_wants_that(host: Host) -> None:
    changed(host, 'enter = "approval"')
    handed = host.hand_in({"bot.toml": MINE, "bot.py": GOOD})
    assert done(host, run_check=conforms).state is VersionState.APPROVAL
    assert host.store.entered() == []
    host.store.decide(handed.version, VersionState.ACCEPTED, "", 1, by="organiser")
    assert [one.version for one in host.store.entered()] == [handed.version]


def test_what_comes_after_the_deadline_does_not_enter_and_what_came_before_does_however_late_its_job(
    host: Host,
) -> None:
    closes = datetime(2026, 5, 1, 12, tzinfo=UTC).timestamp()
    changed(host, "closes = 2026-05-01T14:00:00+02:00")
    host.hand_in({"bot.toml": MINE, "bot.py": GOOD}, now=closes)
    late = host.hand_in({"bot.toml": MINE, "bot.py": GOOD}, "late", now=closes + 1)
    assert done(host, run_check=conforms).state is VersionState.ACCEPTED
    assert done(host, run_check=conforms).state is VersionState.REFUSED
    assert "after the deadline of this ladder, 2026-05-01 14:00 (UTC+0200)" in host.store.job(late.id).sentence
    assert not host.home.bot(late.version).exists()


def test_a_job_that_is_done_again_begins_with_nothing(host: Host) -> None:
    handed = host.hand_in({"bot.toml": MINE, "bot.py": GOOD})
    folder, found = host.home.bot(handed.version), host.home.findings(handed.id)
    for place in (folder, folder.with_name(f".{folder.name}.part"), found):
        place.mkdir()
        (place / "left").write_text("of an attempt that was killed")
    assert done(host, run_check=conforms).state is VersionState.ACCEPTED
    assert files_in(folder).keys() == {"bot.toml", "bot.py"}
    assert not files_in(found)
    host.store.decide(handed.version, VersionState.WITHDRAWN, "", 1, by="organiser")
    host.home.archive(host.store.version(handed.version).archive).unlink()
    host.hand_in({"bot.toml": MINE, "bot.py": GOOD})
    host.home.archive(host.store.version(handed.version).archive).unlink()
    assert done(host).sentence == "What was handed in is not kept any more: hand it in again."


@pytest.mark.parametrize(
    ("verdicts", "times"),
    [
        ([("PASS", ""), ("FLAKY", "")], 2),
        ([("FLAKY", ""), ("FAIL", "TIMEOUT_MOVE")], 2),
        ([("FLAKY", ""), ("FAIL", "ILLEGAL_ACTION")], 1),
        ([("ERROR", "CRASH")], 1),
    ],
)
def test_what_may_be_chance_or_a_busy_machine_is_checked_with_other_deals(
    verdicts: list[tuple[str, str]], times: int, host: Host
) -> None:
    asked: list[str] = []
    facts = {"rule": "AF-TIME-001", "sentence": "", "reason": "", "hint": "", "breaches": 1, "level": "MUST"}
    entries = [{**facts, "verdict": verdict, "witness": {"fault": fault, "file": ""}} for verdict, fault in verdicts]

    def twice(plan: Plan, outputs: Any) -> Any:
        asked.append(plan.seed)
        if len(asked) == 1:
            run = {"verdicts": entries, "stopped": "", "answers": 9, "log": ""}
            return SimpleNamespace(run=run, exit_code=CheckExit.FAILS)
        return conforms(plan, outputs)

    host.hand_in({"bot.toml": MINE, "bot.py": GOOD})
    assert done(host, run_check=twice).state is (VersionState.ACCEPTED if times == 2 else VersionState.REFUSED)
    assert asked == ["1", "2"][:times]


def test_what_goes_wrong_on_our_side_says_nothing_of_the_bot(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """No sandbox, a damaged definition: the job is done again, and given up in the end."""

    def none(policy: str) -> None:
        raise SandboxError("bwrap not found")

    monkeypatch.setattr(os, "nice", lambda by: 0)
    monkeypatch.setattr(job_module, "end_with_parent", lambda parent: None)
    monkeypatch.setattr(job_module, "choose_sandbox", none)
    handed = host.hand_in({"bot.toml": MINE, "bot.py": GOOD})
    for attempt in range(1, MOST_ATTEMPTS + 1):
        if attempt == MOST_ATTEMPTS:
            host.home.definition.write_text("broken")
        job = host.lease()
        place = (str(host.home.definition), str(host.home.folder))
        words = (*place, str(job.id), str(job.attempt), str(os.getppid()), "0", "600", "-1")
        assert main(words) is JobExit.FAILED
    assert main(words) is JobExit.LOST
    job = host.store.job(handed.id)
    assert job.state is JobState.FAILED
    assert "says nothing of the bot" in job.sentence
    assert host.store.version(handed.version).state is VersionState.WAITING
    told = [row.about for row in host.store.audit() if row.what == "could not do"]
    assert f"{host.home.definition}:1" in told[0]
    assert told[-1] == f"job {job.id}, attempt 1: SandboxError: bwrap not found"


def test_a_worker_whose_job_was_given_to_another_one_writes_nothing(host: Host) -> None:
    handed = host.hand_in({"bot.toml": MINE, "bot.py": GOOD})
    slow = host.store.lease(0, 1)
    assert slow is not None
    host.lease()
    with pytest.raises(JobLostError):
        JobWork(host.home, host.store, slow, run_check=conforms).do()
    assert not host.home.bot(handed.version).exists()
    assert host.store.job(handed.id).attempt == 2


def test_a_job_waits_until_an_earlier_process_of_it_is_gone(host: Host) -> None:
    handed = host.hand_in({"bot.toml": MINE, "bot.py": GOOD})
    host.home.findings(handed.id).mkdir()
    handle = os.open(host.home.findings(handed.id), os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    entered = threading.Event()

    def wait() -> None:
        with job_module._alone_in(host.home.findings(handed.id)):
            entered.set()

    waits = threading.Thread(target=wait)
    waits.start()
    assert not entered.wait(0.1)
    os.close(handle)
    waits.join()
    assert entered.is_set()


def test_what_a_build_has_made_is_ours_again_and_readable_for_all(tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    (folder / "closed").mkdir(parents=True)
    (folder / "closed" / "file").write_text("x")
    (folder / "closed" / "file").chmod(0o200)
    (folder / "closed").chmod(0o000)
    (folder / "tool").write_text("x")
    (folder / "tool").chmod(0o4711)
    (folder / "outside").symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_text("x")
    (tmp_path / "secret").chmod(0o600)
    if os.geteuid() == 0:
        hand_over(folder, own_user_id())
        assert (folder / "tool").stat().st_uid != 0
        assert (tmp_path / "secret").stat().st_uid == 0
    settle(folder)
    modes = {name: stat.S_IMODE((folder / name).stat().st_mode) for name in ("closed", "closed/file", "tool")}
    assert modes == {"closed": 0o755, "closed/file": 0o644, "tool": 0o755}
    assert {path.lstat().st_uid for path in folder.rglob("*")} == {os.geteuid()}
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_what_it_takes_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_module, "MOST_BUILT", 3)
    for number in range(4):
        (tmp_path / str(number)).touch()
    with pytest.raises(job_module.Refusal, match="more than 3 files and 2 GiB of it"):
        settle(tmp_path)


def test_the_clock_of_a_job_is_that_of_its_host(host: Host) -> None:
    handed = host.hand_in({"bot.toml": MINE, "bot.py": GOOD})
    done(host, run_check=conforms, clock=lambda: 1_900_000_000.0)
    assert host.store.job(handed.id).ended == 1_900_000_000.0
    assert time.time() < 1_900_000_000.0

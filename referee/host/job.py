"""One job in a process of its own: a version is unpacked, built, checked, and let in or refused.

Only a bot that conforms under the ladder's rules enters. Whatever else is the bot's own doing is a refusal, in a sentence with
the remedy: an archive that is none, a build that fails, a bot that never joins, breaks a rule, or leaves rules untested.
What goes wrong on our side is raised, and says nothing of the bot. A job may be killed at any moment and done again: it
begins with an empty folder, and its verdict is one transaction.

    python -m referee.host.job DEFINITION FOLDER JOB ATTEMPT PARENT SECONDS LEASE PAUSE
"""

import ctypes
import fcntl
import os
import shutil
import stat
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

import tomlkit

from referee.check.html import as_html
from referee.check.judge import CheckExit, Verdict
from referee.check.plan import Plan
from referee.check.run import Outputs, Report, check, document
from referee.check.terminal import FLAKY_MEANS, last_words
from referee.check.tournament_plan import tournament_options, tournament_plan
from referee.host.archive import ArchiveError
from referee.host.home import HostHome
from referee.host.rows import Job, JobState, VersionState
from referee.host.store import LOG_BYTES, HostStore
from referee.host.unpacking import unpack_in_sandbox
from referee.league.definition.definition import Definition, load_definition
from referee.league.definition.fields import HostSection
from referee.league.definition.problems import Problem, ProblemsError, counted, plain
from referee.league.definition.toml_file import write_text
from referee.league.entrants.bot_build import BuildRemedies, build, missing_tools, programs_of
from referee.league.entrants.bot_digest import PRODUCTS
from referee.league.entrants.bot_source import BotSource, BotSourceError, find_bot
from referee.league.entrants.build_process import HOME as BUILD_HOME
from referee.league.entrants.roster import handed_in
from referee.sandbox.isolation import SandboxKind, choose_sandbox, own_user_id
from referee.sandbox.output import harmless
from referee.sandbox.parent import end_with_parent
from referee.sandbox.temporary_folder import remove_folder
from referee.umpire.faults import Fault

CHECK_SECONDS: Final = 4.0
"""Time of a check for more than the least that is asked, in seconds."""

LEASE_SECONDS: Final = 60.0
PAUSE_SECONDS: Final = 10.0
"""After a failure of ours, before a job is done again."""

REMOVAL_SECONDS: Final = 600.0
"""What builds leave may be ten thousands of files, and the disk may be busy."""

SEEDS: Final = ("1", "2")
"""A bot that failed only now and then, or was late, is checked once more with other deals: what comes back is the bot's."""

MOST_FINDINGS: Final = 40
"""Broken rules that are told, the gravest first."""

MOST_TEXT: Final = 2000
"""Characters of a sentence: a bot may have put words of its own into it."""

MOST_BUILT: Final = 200_000
"""Files and folders of a bot with all that its build has made."""

MOST_BUILT_BYTES: Final = 2 << 30

_ORDER: Final = (Verdict.ERROR, Verdict.FAIL, Verdict.FLAKY, Verdict.UNTESTED, Verdict.WARN)

_LATE: Final = frozenset({Fault.TIMEOUT_MOVE, Fault.TIMEOUT_GAME})

_REMEDIES: Final = BuildRemedies(
    seconds="make it shorter",
    memory="Make it smaller",
    fetches="builds have no network here: put what it needs into the zip file, or ask the organiser",
    network="put what it needs into the zip file, or ask the organiser",
)


class JobExit(IntEnum):
    """Exit codes of the process of a job."""

    DONE = 0
    """There is a verdict."""
    FAILED = 5
    """It went wrong on our side; the store knows why."""
    LOST = 6
    """The job is another worker's by now, or over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutcome:
    """What came of a version. ``name`` and ``digest``: as its files have them, if they could be read."""

    state: VersionState
    sentence: str
    name: str = ""
    digest: str = ""
    findings: Sequence[dict[str, Any]] = ()
    log: str = ""


class Refusal(Exception):
    """A version that does not enter, through its own fault: one sentence with the remedy.

    ``findings``: the rules that it broke; ``log``: the end of what its build or the bot itself said.
    """

    def __init__(self, sentence: str, *, findings: Sequence[dict[str, Any]] = (), log: str = "") -> None:
        super().__init__(sentence)
        self.findings = findings
        self.log = log


class JobLostError(Exception):
    """The job is another worker's by now."""


class JobWork:
    """The work on one job, as it was leased. Use it in the main thread, which starts the bot."""

    def __init__(
        self,
        home: HostHome,
        store: HostStore,
        job: Job,
        *,
        seconds: float = CHECK_SECONDS,
        lease: float = LEASE_SECONDS,
        clock: Callable[[], float] = time.time,
        run_check: Callable[[Plan, Outputs], Report] = check,
    ) -> None:
        """``seconds`` as those of ``referee check``; ``lease``: how long each stage keeps the job; ``clock``: seconds since 1970."""
        self._home, self._store, self._job = home, store, job
        self._seconds, self._lease, self._clock, self._check = seconds, lease, clock, run_check
        self._folder, self._findings = home.bot(job.version).absolute(), home.findings(job.id).absolute()
        self._name = self._digest = self._log = ""

    def do(self) -> JobOutcome:
        """Does the job, and writes the verdict into the store.

        Raises ``JobLostError`` if somebody else has it by now; whatever else it raises is our fault, and says nothing of the bot.
        """
        with _alone_in(self._findings):
            try:
                outcome = self._outcome()
            except Refusal as refusal:
                remove(self._folder)
                log = refusal.log or self._log
                outcome = self._of(VersionState.REFUSED, str(refusal), findings=refusal.findings, log=log)
            self._end(outcome)
        return outcome

    def _end(self, outcome: JobOutcome) -> None:
        ended = self._store.finish(
            self._job,
            outcome.state,
            outcome.sentence,
            self._clock(),
            name=outcome.name,
            digest=outcome.digest,
            findings=outcome.findings,
            log=outcome.log,
        )
        if not ended:
            raise JobLostError

    def _of(self, state: VersionState, sentence: str, **more: Any) -> JobOutcome:
        return JobOutcome(
            state=state, sentence=self._without_place(sentence), name=self._name, digest=self._digest, **more
        )

    def _stage(self, stage: str) -> None:
        if not self._store.go_on(self._job, stage, self._log, self._clock(), self._lease):
            raise JobLostError

    def _outcome(self) -> JobOutcome:
        definition = load_definition(self._home.definition)
        host = definition.host_section
        self._refuse_late(host)
        sandbox = self._sandbox()
        self._stage("unpack")
        self._unpack(sandbox)
        source = self._found()
        self._name = source.name
        if source.build:
            self._stage("build")
            self._build(source, host, sandbox)
            source = self._found()
        try:
            self._digest = handed_in(definition, self._folder, self._job.bot).digest
        except BotSourceError as error:
            raise Refusal(self._told(error.problems)) from None
        self._stage("check")
        self._examine(definition, source, sandbox)
        _flush(self._folder)
        return self._passed(host)

    def _passed(self, host: HostSection) -> JobOutcome:
        if host.enter == "approval":
            sentence = "It keeps the rules, and plays as soon as the organiser lets it in."
            return self._of(VersionState.APPROVAL, sentence, log=self._log)
        return self._of(VersionState.ACCEPTED, "It keeps the rules, and plays from the next round on.", log=self._log)

    def _refuse_late(self, host: HostSection) -> None:
        created = self._store.version(self._job.version).created
        if host.closes is not None and created > host.closes.timestamp():
            closed = f"{host.closes:%Y-%m-%d %H:%M} (UTC{host.closes:%z})"
            raise Refusal(f"It was handed in after the deadline of this ladder, {closed}: it does not enter.")

    def _sandbox(self) -> SandboxKind:
        """The sandbox of builds and bots. Without one nothing of a stranger runs, unless the host was started like that."""
        return choose_sandbox("none" if self._store.setting("sandbox") == "none" else "bubblewrap").kind

    def _unpack(self, sandbox: SandboxKind) -> None:
        """The folder, from the archive alone. Raises ``Refusal``."""
        archive = self._home.archive(self._store.version(self._job.version).archive)
        remove(self._folder)
        if self._folder.exists():
            raise OSError(f"{self._folder} cannot be removed")
        if not archive.exists():
            raise Refusal("What was handed in is not kept any more: hand it in again.")
        try:
            unpack_in_sandbox(archive, self._folder, sandbox)
        except ArchiveError as error:
            raise Refusal(str(error)) from None
        if not (self._folder / "bot.toml").exists():
            self._add_manifest()

    def _add_manifest(self) -> None:
        """A bot of one file gets the bot.toml that it would have: a host knows folders alone."""
        (script,) = [path.name for path in self._folder.iterdir() if path.suffix == ".py" and path.is_file()]
        try:
            alone = find_bot(str(self._folder / script), self._folder)
        except BotSourceError as error:
            raise Refusal(self._told(error.problems)) from None
        made = {"name": alone.name, "version": alone.version, "run": ["python", alone.argv[-1]]}
        write_text(self._folder / "bot.toml", tomlkit.dumps(made))
        (self._folder / "bot.toml").chmod(0o644)

    def _found(self) -> BotSource:
        """The bot in the folder. Raises ``Refusal``."""
        try:
            return find_bot(str(self._folder), self._folder)
        except BotSourceError as error:
            raise Refusal(self._told(error.problems)) from None

    def _build(self, source: BotSource, host: HostSection, sandbox: SandboxKind) -> None:
        """Runs the build step, which finds nothing in the folders that it writes to: they are no part of the digest."""
        if missing := missing_tools(source.build):
            raise Refusal(
                f"Its build needs what this host has not: {', '.join(map(plain, missing))}: ask the organiser."
            )
        remove_products(self._folder)
        if (self._folder / BUILD_HOME).exists():
            raise Refusal(f"It holds a file called {BUILD_HOME}, which is the home of its build: leave it out.")
        for program in sorted(programs_of(source.build)):
            if (cache := self._home.cache(program)).is_dir():
                shutil.copytree(cache, self._folder / BUILD_HOME, symlinks=True, dirs_exist_ok=True)
        if sandbox != "none" and os.geteuid() == 0:
            hand_over(self._folder, own_user_id())
        outcome = build(
            source,
            seconds=host.build_s,
            live=False,
            sandbox=sandbox,
            network=host.build_network,
            remedies=_REMEDIES,
        )
        self._log = self._without_place(outcome.words)
        if outcome.failure:
            raise Refusal(f"It could not be built: {harmless(outcome.failure).strip().rstrip('.')}.")
        settle(self._folder)
        if not uses_build_home(self._folder, source):
            remove(self._folder / BUILD_HOME)

    def _examine(self, definition: Definition, source: BotSource, sandbox: SandboxKind) -> None:
        """Checks the bot under the ladder's rules. Raises ``Refusal`` with the findings if it does not conform."""
        source = replace(source, name=self._job.bot)
        plan = tournament_plan(definition, source, self._findings)
        self._judge(definition, replace(plan, seconds=self._seconds, sandbox=sandbox))

    def _judge(self, definition: Definition, plan: Plan) -> None:
        """Carries a check out. Raises ``Refusal`` with the findings if the bot does not conform."""
        options = tournament_options(definition)
        report = None
        for seed in SEEDS:
            if report is not None:
                self._stage("check again")
            report = self._check(
                self._ready(replace(plan, seed=seed)), Outputs(self._findings, command=".", options=options)
            )
            if not may_be_chance(report.run):
                break
        if report is None or report.exit_code is CheckExit.CONFORMS:
            return
        run = self._portable(report.run, f"referee check .{options} --replay")
        if report.exit_code is CheckExit.NOT_READY:
            said = _end_of(plan.log_path)
            raise Refusal(f"It never became ready: {harmless(run['not_ready'])}", log=self._without_place(said))
        if report.exit_code not in (CheckExit.FAILS, CheckExit.INCOMPLETE):
            raise RuntimeError(f"the check ended with {report.exit_code!r}")
        findings = self._write_findings(run)
        raise Refusal(_verdict(report.exit_code, run, findings), findings=findings)

    def _ready(self, plan: Plan) -> Plan:
        """The plan of one check, a moment before it begins."""
        return plan

    def _portable(self, run: dict[str, Any], replay: str) -> dict[str, Any]:
        """The part of a report on one bot without places of this machine: files by their names, the bot's folder as ``bot``."""
        for entry in run["verdicts"]:
            witness = entry["witness"]
            if witness is not None and witness["file"]:
                name = Path(witness["file"]).name
                witness["file"], witness["replay"] = name, f"{replay} {name}"
                path = self._findings / name
                write_text(path, self._without_place(path.read_text("utf-8")))
        run["log"] = Path(run["log"]).name
        cleaned: dict[str, Any] = _mapped(run, self._without_place)
        return cleaned

    def _write_findings(self, run: dict[str, Any]) -> list[dict[str, Any]]:
        """The findings of a report, with a page for each that has something to show."""
        told = [entry for entry in run["verdicts"] if entry["verdict"] in _ORDER]
        told = [entry for entry in told if entry["verdict"] != Verdict.UNTESTED or entry["level"] == "MUST"]
        told.sort(key=lambda entry: _ORDER.index(Verdict(entry["verdict"])))
        findings = []
        for entry in told[:MOST_FINDINGS]:
            finding = finding_of(entry)
            if finding["witness"]:
                finding["page"] = f"{Path(finding['witness']).stem}.html"
                page = as_html(document([]) | {"runs": [{**run, "verdicts": [entry]}]})
                write_text(self._findings / finding["page"], page)
            findings.append(finding)
        return findings

    def _told(self, problems: Sequence[Problem]) -> str:
        """The problems of a bot's files in sentences."""
        told = []
        for one in dict.fromkeys(problems):
            where = f"bot.toml, line {one.line}, {one.field}" if one.line else one.field
            told.append(f"{where}: found {one.found}; allowed: {one.allowed}; remedy: {one.remedy}.")
        return self._without_place(" ".join(told[:3]))

    def _without_place(self, text: str) -> str:
        """A text without the place of the bot's folder, which is nobody's business."""
        return text.replace(f"{self._folder}/", "").replace(str(self._folder), "the bot's folder")


def finding_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The finding of a verdict: the rule, its sentence and what the bot did, how often, and what may help. It has no page yet."""
    witness = entry["witness"] or {}
    what = witness.get("what") or entry["reason"]
    hint = entry["hint"]
    if not hint and entry["verdict"] == Verdict.FLAKY:
        hint = FLAKY_MEANS
    if not hint and (said := last_words(witness.get("log_tail", ""))):
        hint = f"It said: {said}"
    return {
        "rule": entry["rule"],
        "sentence": harmless(f"{entry['sentence']} {what}".strip())[:MOST_TEXT],
        "times": entry["breaches"],
        "witness": witness.get("file", ""),
        "page": "",
        "hint": harmless(hint)[:MOST_TEXT],
    }


def may_be_chance(run: Mapping[str, Any]) -> bool:
    """Whether all that keeps a bot from conforming is that it failed once, and not when it was asked again, or that it was late.

    Both may be a busy machine's doing: a job has what the games leave of the processors.
    """
    broken = [entry for entry in run["verdicts"] if entry["verdict"] in (Verdict.FLAKY, Verdict.FAIL, Verdict.ERROR)]
    return bool(broken) and all(
        entry["verdict"] == Verdict.FLAKY or (entry["witness"] or {}).get("fault") in _LATE for entry in broken
    )


def _verdict(code: CheckExit, run: Mapping[str, Any], findings: Sequence[Mapping[str, Any]]) -> str:
    """Why a bot was refused, in a sentence."""
    rules = list(dict.fromkeys(one["rule"] for one in findings if one["times"]))
    ended = f" The check ended early: {harmless(run['stopped'])}" if run["stopped"] else ""
    if rules:
        shown = ", ".join(rules[:3]) + (f" and {len(rules) - 3} more" if len(rules) > 3 else "")
        return f"It breaks {counted(len(rules), 'rule')}: {shown}.{ended}"
    if code is CheckExit.FAILS:
        return f"It failed now and then, and not when it was asked again.{ended}"
    if not run["answers"]:
        return f"It answered nothing, so that no rule could be checked.{ended}"
    return f"{counted(len(findings), 'rule')} could not be put to it: what is listed says why.{ended}"


def settle(folder: Path) -> None:
    """Makes a folder ours again after a build, readable for everybody, and sees that there is nothing special in it.

    Links stay as they are. Raises ``Refusal`` for pipes, sockets and devices, for too much, and for what cannot be read.
    """
    count = size = 0
    root = os.geteuid() == 0
    try:
        for path, state in _all_in(folder):
            count, size = count + 1, size + state.st_size
            if count > MOST_BUILT or size > MOST_BUILT_BYTES:
                most = f"{MOST_BUILT:,} files and {MOST_BUILT_BYTES >> 30} GiB"
                raise Refusal(f"With what its build has made there is more than {most} of it: build less.")
            if root:
                os.chown(path, 0, 0, follow_symlinks=False)
            if stat.S_ISLNK(state.st_mode):
                continue
            if not stat.S_ISREG(state.st_mode) and not stat.S_ISDIR(state.st_mode):
                raise Refusal(f"Its build has made {plain(path.name)}, a pipe, a socket or a device: leave that out.")
            runs = stat.S_ISDIR(state.st_mode) or state.st_mode & 0o111
            path.chmod(0o755 if runs else 0o644)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise Refusal(f"What its build has made cannot be read: {reason}: make it simpler.") from None


def hand_over(folder: Path, user: int) -> None:
    """Gives a folder with all that is in it to a user: a build runs as whoever owns its folder."""
    for path, _ in _all_in(folder):
        os.chown(path, user, user, follow_symlinks=False)


def remove_products(folder: Path) -> None:
    """Removes the folders that builds write to: they are no part of a bot's digest, so they come from its build alone."""
    found = [path for path, state in _all_in(folder) if stat.S_ISDIR(state.st_mode) and path.name in PRODUCTS]
    for path in found:
        remove(path)


def uses_build_home(folder: Path, source: BotSource) -> bool:
    """Whether a bot runs with anything in the home of its build, such as an interpreter that was fetched; else that is large, and of no use."""
    home = os.path.realpath(folder / BUILD_HOME)
    if any(BUILD_HOME in word for word in (*source.argv, *source.environment.values())):
        return True
    links = (path for path, state in _all_in(folder, passed_over=BUILD_HOME) if stat.S_ISLNK(state.st_mode))
    return any(f"{os.path.realpath(link)}/".startswith(f"{home}/") for link in links)


def remove(place: Path) -> None:
    """Removes a folder or a file, whatever a build has put there; no link is followed. What cannot be removed is left for the sweep."""
    remove_folder(place, REMOVAL_SECONDS)


def is_too_large(folder: Path, most: int) -> bool:
    """Whether a folder takes more than so many bytes of the disk, or holds more files than a bot may. What cannot be seen does not count."""
    count = size = 0
    with suppress(OSError):
        for _, state in _all_in(folder):
            count, size = count + 1, size + state.st_blocks * 512
            if count > MOST_BUILT or size > most:
                return True
    return False


def _all_in(folder: Path, passed_over: str = "") -> Iterator[tuple[Path, os.stat_result]]:
    """A folder and everything in it, no link followed. Folders may be changed before they are entered.

    ``passed_over``: the name of folders that are left out with all that is in them.
    """
    waiting = [folder]
    yield folder, folder.lstat()
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                state = entry.stat(follow_symlinks=False)
                path = Path(entry.path)
                if entry.name == passed_over and stat.S_ISDIR(state.st_mode):
                    continue
                yield path, state
                if stat.S_ISDIR(state.st_mode):
                    waiting.append(path)


def _flush(folder: Path) -> None:
    """Has the disk keep what was written: a verdict must not outlive its files in a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        ctypes.CDLL(None).syncfs(handle)
    except AttributeError:
        os.sync()
    finally:
        os.close(handle)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """The folder of a job's findings, empty. Waits until an earlier process of the same job, which was killed, is gone."""
    folder.mkdir(mode=0o700, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        for entry in list(folder.iterdir()):
            remove(entry)
        yield
    finally:
        os.close(handle)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """JSON values with every text changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _mapped(one, change) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(one, change) for one in value]
    return value


def _end_of(path: Path) -> str:
    """The end of a log, harmless to show; empty if there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - LOG_BYTES, 0))
            return harmless(file.read().decode("utf-8", "replace"))
    except OSError:
        return ""


def main(words: Sequence[str], work: type[JobWork] = JobWork) -> JobExit:
    """The process of a job: as polite to the games as can be, and gone with whoever started it. ``work``: what is done there."""
    definition, folder, number, attempt, parent, *times = words
    seconds, lease, pause = map(float, times)
    end_with_parent(int(parent))
    os.nice(19)
    home = HostHome(Path(definition), Path(folder))
    with HostStore.open(home.store) as store:
        job = store.job(int(number))
        if job.state is not JobState.RUNNING or job.attempt != int(attempt):
            return JobExit.LOST
        try:
            work(home, store, job, seconds=seconds, lease=lease).do()
        except JobLostError:
            return JobExit.LOST
        except Exception as error:  # noqa: BLE001  # whatever it is, it must never pass for a verdict
            traceback.print_exc()
            why = str(error) if isinstance(error, ProblemsError) else f"{type(error).__name__}: {error}"
            store.failed(job, plain(why), time.time(), pause)
            return JobExit.FAILED
    return JobExit.DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""``push``: hands a bot in at a host, from wherever it is, and follows what becomes of it."""

import json
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from referee import __version__
from referee.check.judge import CheckExit
from referee.cli import app
from referee.cli.exits import DONE, FAILED, INTERRUPTED, NO_VERDICT, USAGE
from referee.cli.lines import Lines, messages, plain_text
from referee.cli.options import OutputFormat, OutputOption, refuse_idle
from referee.host.client import FollowedJob, HostAddress, HostClient, HostedLadder, HostRequestError, JobFinding
from referee.host.packing import SECRET, Packing, PackingError, packing_of, write_archive
from referee.host.rows import JobState, VersionState
from referee.league.definition.definition import Definition, restore_definition
from referee.league.definition.problems import ProblemsError
from referee.league.entrants.bot_source import BotSource, find_bot
from referee.rules.conduct_clauses import WHOLE_BOOK

VARIABLE: Final = "REFEREE_TOKEN"
"""Where the token is found."""

TITLES: Final = {clause.id: clause.title for clause in WHOLE_BOOK}
"""What each rule is called."""

_TOKEN_BYTES: Final = 1024
_URL: Final = 2000
_LOG_LINES: Final = 40
_SHOWN_RULES: Final = 10
_MOST_RULES: Final = 60
_NAMED: Final = 8
_FAILURES: Final = Path("failures")
_REPLAY: Final = "  replay  "
_COPIED: Final = (_REPLAY, "follow ")
_STAGES: Final = {"begins": "begins    it is its turn", "unpack": "unpack", "build": "build", "check": "check"}

FolderArgument = Annotated[
    str, typer.Argument(metavar="FOLDER", help="A folder with bot.toml, a .py file, or a sample bot.")
]
ToOption = Annotated[str, typer.Option("--to", metavar="URL", help="The host: the address of its first page.")]
NameOption = Annotated[str | None, typer.Option("--name", help="Name on the ladder instead of the bot's own.")]
CheckOption = Annotated[
    bool,
    typer.Option("--check", help="Check the rules here first, as the ladder plays them; send only what keeps them."),
]
DryOption = Annotated[
    bool, typer.Option("--dry-run", help="List what would be sent, and send nothing; needs no network and no token.")
]
TokenOption = Annotated[
    Path | None, typer.Option("--token-file", help=f"A file with the token, instead of the variable {VARIABLE}.")
]
NoFollowOption = Annotated[bool, typer.Option("--no-follow", help="End as soon as the bot is handed in.")]
InsecureOption = Annotated[
    bool, typer.Option("--insecure", help="Also over http:// to another machine: token and bot travel in the open.")
]


@app.command(
    epilog="Example: referee push bots/mybot --to https://pitch.example.org\n\nor:      referee push mybot.py --dry-run"
)
def push(
    folder: FolderArgument,
    to: ToOption = "",
    name: NameOption = None,
    check: CheckOption = False,
    dry_run: DryOption = False,
    token_file: TokenOption = None,
    output: OutputOption = OutputFormat.RICH,
    no_follow: NoFollowOption = False,
    insecure: InsecureOption = False,
) -> None:
    """Hand a bot in at a host, and follow its job: unpacked, built, checked, accepted or refused.

    The token is in the variable REFEREE_TOKEN or in a file (--token-file). No option takes it: whoever is on the machine can read the
    command lines of all, and shells keep them. What is sent is what .gitignore leaves.

    Exit codes: 0 accepted, or waiting for approval; 1 refused; 2 wrong usage, or something that the host does not take in (address,
    token, name, size); 5 no verdict: the network or the host failed; 130 interrupted: the job goes on. With --check those of referee check too.
    """
    if dry_run:
        refuse_idle("with --dry-run, which sends nothing", "--check", "--no-follow", "--token-file", "--insecure")
    elif not to:
        raise typer.BadParameter("say which host, as in --to https://pitch.example.org", param_hint="--to")
    source = find_bot(folder, Path.cwd(), name=name)
    screen = Screen(output)
    try:
        if dry_run:
            code = _list(packing_of(source), screen)
        else:
            code = _push(source, to, token_file, screen, check=check, follow=not no_follow, insecure=insecure)
    except PackingError as error:
        screen.trouble(str(error))
        code = USAGE
    except HostRequestError as error:
        screen.trouble(str(error))
        code = USAGE if error.ours else NO_VERDICT
    except KeyboardInterrupt:
        screen.trouble("interrupted; push it again at any time: a host knows identical files, and does nothing twice")
        code = INTERRUPTED
    raise typer.Exit(code)


class Screen:
    """Where a push is told of: lines on the output, or with JSON on the error stream; a bar where somebody looks."""

    def __init__(self, output: OutputFormat) -> None:
        self.as_json = output is OutputFormat.JSON
        self._errors = messages()
        plain = output is OutputFormat.PLAIN
        self._lines = (
            self._errors if self.as_json else Lines(markup=False, emoji=False, highlight=False, no_color=plain or None)
        )
        self._has_bar = output is OutputFormat.RICH and self._errors.is_terminal

    def line(self, text: str, style: str = "", *, whole: bool = False) -> None:
        """A line; ``whole``: never broken, as an address to be copied."""
        self._lines.print(Text(text, style=style), soft_wrap=whole)

    def labelled(self, label: str, text: str, style: str = "", *, whole: bool = False) -> None:
        """A line with a word before it that says what it is about."""
        self.line(f"{label:9} {text}", style, whole=whole)

    def trouble(self, text: str) -> None:
        """What went wrong."""
        self._errors.print(f"referee: {text}")

    def document(self, value: dict[str, Any]) -> None:
        """The result for programs."""
        if self.as_json:
            typer.echo(json.dumps(value, indent=2))

    @contextmanager
    def reports(self) -> Iterator[None]:
        """Has what others print on the output go where lines go."""
        with redirect_stdout(sys.stderr) if self.as_json else nullcontext():
            yield

    @contextmanager
    def upload(self, size: int) -> Iterator[Callable[[int], None]]:
        """Shows how much of so many bytes is sent, for somebody who looks."""
        if not self._has_bar:
            yield lambda _: None
            return
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

        columns = (TextColumn("sending  "), BarColumn(), DownloadColumn(binary_units=True), TransferSpeedColumn())
        with Progress(*columns, console=self._errors, transient=True) as progress:
            task = progress.add_task("sending", total=size)
            yield lambda sent: progress.update(task, completed=sent)


def _list(packing: Packing, screen: Screen) -> int:
    """Lists what would be sent, and what not."""
    with tempfile.TemporaryDirectory(prefix="referee-push-") as folder:
        archive = Path(folder) / "bot.zip"
        digest = write_archive(packing, archive)
        sent = _sent(packing, archive, digest)
    screen.document(
        {"bot": packing.bot, **sent, "files": _files(packing), "left_out": list(map(asdict, packing.left_out))}
    )
    if screen.as_json:
        return DONE
    for file in packing.files:
        screen.line(f"{_size(file.size):>10}  {file.name}", whole=True)
    for one in packing.left_out:
        screen.labelled("not sent", f"{plain_text(one.name)}: {one.why}")
    screen.labelled(
        "total", f"{packing.bot}: {_amount(packing)}; {_size(sent['archive_bytes'])} as an archive, SHA-256 {digest}"
    )
    return DONE


def _files(packing: Packing) -> list[dict[str, Any]]:
    return [{"name": file.name, "bytes": file.size} for file in packing.files]


def _sent(packing: Packing, archive: Path, digest: str) -> dict[str, Any]:
    return {"bytes": packing.size, "archive_bytes": archive.stat().st_size, "sha256": digest}


def _push(
    source: BotSource, to: str, token_file: Path | None, screen: Screen, *, check: bool, follow: bool, insecure: bool
) -> int:
    address = HostAddress.parse(to)
    token = read_token(token_file, address.url, screen)
    packing = packing_of(source, token_file=token_file)
    secrets = [plain_text(one.name) for one in packing.left_out if one.why == SECRET]
    if secrets:
        named = ", ".join(secrets[:_NAMED]) + (f" and {len(secrets) - _NAMED} more" if len(secrets) > _NAMED else "")
        screen.labelled("not sent", f"{named}: it looks like a secret; what the bot needs gets another name")
    with HostClient(address, token, insecure=insecure) as client:
        ladder = client.ladder()
        if ladder.referee != __version__:
            here = f"this is {__version__}: where the two differ, the host decides"
            screen.labelled("note", f"The host runs referee {plain_text(ladder.referee, 40)}, {here}.")
        if ladder.public:
            screen.labelled("public", "Everybody can download what you send, as it is, once it is accepted.", "bold")
        if check:
            code, found = _check(source, ladder, screen)
            if code != DONE:
                screen.line(f"Not sent. {_checked_remedy(code)}", "bold red")
                screen.document({**_about(client, ladder), "sent": False, "check": found, "exit_code": code})
                return code
        job, new, sent = _hand_in(client, packing, ladder, screen, token)
        if not follow:
            screen.document({**_about(client, ladder), **sent, "new": new, "job": asdict(job)})
            return DONE
        job = _follow(client, job, screen)
    code = exit_code(job)
    screen.document({**_about(client, ladder), **sent, "new": new, "job": asdict(job), "exit_code": code})
    return code


def _about(client: HostClient, ladder: HostedLadder) -> dict[str, Any]:
    return {"host": client.address.url, "ladder": ladder.name}


def read_token(file: Path | None, url: str, screen: Screen) -> str:
    """The token, from a file or from the environment, where nobody who is started from here finds it any more.

    Raises ``HostRequestError`` if there is none, ``OSError`` if the file cannot be read.
    """
    text, place = os.environ.pop(VARIABLE, ""), VARIABLE
    if file is not None:
        place = str(file)
        with file.open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            text = stream.read(_TOKEN_BYTES + 1).decode("utf-8", "replace")
        if stat.S_ISREG(mode) and mode & (stat.S_IRWXG | stat.S_IRWXO):
            screen.labelled(
                "note", f"Others can read {plain_text(place)}, and act for you then: chmod 600 {plain_text(place)}"
            )
    elif not text.strip():
        remedy = f"set {VARIABLE}, or name a file that holds it with --token-file; you get one on your page, {url}/me"
        raise HostRequestError(f"no token: {remedy}", ours=True)
    token = text.strip()
    if not token or len(token) > _TOKEN_BYTES or not (token.isascii() and token.isprintable()) or " " in token:
        raise HostRequestError(
            f"{plain_text(place)} holds no token: it is one word, such as referee_..., and nothing else", ours=True
        )
    return token


def _check(source: BotSource, ladder: HostedLadder, screen: Screen) -> tuple[int, dict[str, Any] | None]:
    """Checks the bot here, under the rules of the ladder: the exit code, and what ``referee check`` tells programs of the bot."""
    from referee.check.run import Outputs, check
    from referee.check.tournament_plan import tournament_options, tournament_plan
    from referee.cli.check import guarded, named, print_report
    from referee.league.entrants.bot_build import require_built
    from referee.sandbox.isolation import choose_sandbox

    require_built([source])
    definition = definition_of(ladder)

    found: dict[str, Any] | None = None

    def run() -> CheckExit:
        nonlocal found
        choice = choose_sandbox("auto")
        if choice.line:
            screen.trouble(choice.line)
        plan = replace(tournament_plan(definition, source, _FAILURES), sandbox=choice.kind)
        outcome = check(plan, Outputs(_FAILURES, command=named(plan), options=tournament_options(definition)))
        found = outcome.run
        print_report(found)
        return outcome.exit_code

    with screen.reports():
        return int(guarded(run)), found


def definition_of(ladder: HostedLadder) -> Definition:
    """What a ladder asks of those who enter, as a definition. Raises ``HostRequestError``."""
    try:
        return restore_definition({**ladder.definition, "schedule": {"format": "ladder"}}, Path.cwd())
    except ProblemsError as error:
        told = f"this version ({__version__}) does not know what the host plays ({plain_text(str(error))}); install that of the host"
        raise HostRequestError(
            f"{told}, {plain_text(ladder.referee, 40)}, or push without --check", ours=True
        ) from None


def _checked_remedy(code: int) -> str:
    if code == FAILED:
        return "Fix what is broken and push it again; referee explain RULE says what a rule means."
    return "The check came to no end that the ladder would accept; see above."


def _hand_in(
    client: HostClient, packing: Packing, ladder: HostedLadder, screen: Screen, token: str
) -> tuple[FollowedJob, bool, dict[str, Any]]:
    """Sends the archive: the job, whether it is new, and what was sent."""
    with tempfile.TemporaryDirectory(prefix="referee-push-") as folder:
        archive = Path(folder) / "bot.zip"
        digest = write_archive(packing, archive, secret=token)
        sent = _sent(packing, archive, digest)
        size = sent["archive_bytes"]
        if size > ladder.upload_mib << 20:
            largest = max(packing.files, key=lambda file: file.size)
            raise PackingError(
                f"the archive has {_size(size)}, and this host takes {ladder.upload_mib} MiB (the largest file is {largest.name}, "
                f"{_size(largest.size)}); name in .gitignore what the bot does not need"
            )
        place = f"{plain_text(ladder.name, 80)}, {client.address.url}"
        screen.labelled("sending", f"{packing.bot}: {_amount(packing)}, {_size(size)} packed, to {place}")
        with screen.upload(size) as progress:
            job, new = client.hand_in(packing.bot, archive, progress, public=ladder.public)
    if not new and job.state is JobState.FAILED:  # that was the host's fault, and it tries again when it is asked
        job, new = client.again(job.id), True
    screen.labelled(
        "handed in", f"as version {job.version}, job {job.id}" + ("" if new else ": the same files as before")
    )
    screen.labelled("follow", page_of(job, client), whole=True)
    return job, new, sent


def page_of(job: FollowedJob, client: HostClient) -> str:
    """Where a job can be seen: as the host says, for it may be known by another address."""
    return plain_text(job.page, _URL) or f"{client.address.url}/jobs/{job.id}"


def _follow(client: HostClient, job: FollowedJob, screen: Screen) -> FollowedJob:
    """Tells of a job until it is over."""
    try:
        now, shown = job, _progress(job, "", screen)
        for now in client.follow(job):
            shown = _progress(now, shown, screen)
    except KeyboardInterrupt:
        screen.trouble(
            f"interrupted. The job goes on; follow it at {page_of(job, client)}, or push the same files again."
        )
        raise typer.Exit(INTERRUPTED) from None
    except HostRequestError as error:
        told = f"{str(error).removesuffix('.')}. The job goes on; follow it at {page_of(job, client)}"
        raise HostRequestError(told, status=error.status, ours=error.ours) from None
    for text, style in verdict_lines(now):
        screen.line(text, style, whole=text.startswith(_COPIED))
    return now


def _progress(job: FollowedJob, shown: str, screen: Screen) -> str:
    """Prints how far a job is, if that is news."""
    told = progress_line(job)
    if told and told != shown:
        screen.line(told)
    return told or shown


def progress_line(job: FollowedJob) -> str:
    """How far a job is, in a line; empty for one that is over."""
    if job.over:
        return ""
    if job.state is JobState.WAITING:
        return f"waiting   {_jobs_before(job.before)}"
    again = f"  (try {job.attempt}: the one before died of a fault of the host)" if job.attempt > 1 else ""
    return f"{_STAGES.get(job.stage, plain_text(job.stage, 40) or 'begins')}{again}"


def _jobs_before(number: int) -> str:
    return {0: "it is next", 1: "1 job before it"}.get(number, f"{number} jobs before it")


def verdict_lines(job: FollowedJob) -> Iterator[tuple[str, str]]:
    """What became of a job, in lines with their styles: each broken rule as ``referee check`` tells of it."""
    if job.state is JobState.FAILED:
        yield f"no verdict  {plain_text(job.sentence, 600)}", "bold yellow"
        yield "            That says nothing of the bot: push it again, or tell the organiser.", ""
        return
    for number, finding in enumerate(job.findings[:_MOST_RULES]):
        yield from _finding_lines(finding, short=number >= _SHOWN_RULES)
    if len(job.findings) > _MOST_RULES:
        yield f"and {len(job.findings) - _MOST_RULES} more", "bold red"
    if job.verdict is VersionState.REFUSED and not job.findings and job.log.strip():
        yield "", ""
        yield "The end of what it printed:", "bold"
        for line in job.log.rstrip().splitlines()[-_LOG_LINES:]:
            yield f"  {plain_text(line, 400)}", "dim"
    yield "", ""
    told = plain_text(job.sentence, 600)
    match job.verdict:
        case VersionState.ACCEPTED:
            yield f"accepted  {told} {_plays(job.plays_in_s)}".rstrip(), "bold green"
        case VersionState.APPROVAL:
            yield f"approval  {told}", "bold green"
        case VersionState.REFUSED:
            yield f"refused   {told}", "bold red"
        case VersionState.WITHDRAWN:
            yield f"withdrawn {told}", "bold red"
        case VersionState.WAITING:
            yield f"no verdict  {told}", "bold yellow"


def _finding_lines(finding: JobFinding, *, short: bool) -> Iterator[tuple[str, str]]:
    rule = plain_text(finding.rule, 60)
    times = {0: "", 1: "  broken once"}.get(finding.times, f"  broken {finding.times} times")
    label, style = ("FAIL", "bold red") if finding.times else ("UNTESTED", "yellow")
    head = f"{label} {rule}  {TITLES.get(rule, '')}".rstrip() + times
    if short:
        yield f"{head}  {plain_text(finding.page, _URL)}".rstrip(), style
        return
    yield "", ""
    yield head, style
    yield f"  {plain_text(finding.sentence, 600)}", ""
    if finding.hint:
        yield f"  hint    {plain_text(finding.hint, 600)}", "bold"
    if finding.page:
        yield f"{_REPLAY}{plain_text(finding.page, _URL)}", "cyan"


def _plays(seconds: float | None) -> str:
    """When it plays, as far as can be told; empty where the host's own sentence has to do."""
    if seconds is None or seconds < 1:
        return ""
    if seconds < 90:
        return "That is in about a minute."
    if seconds < 5400:
        return f"That is in about {round(seconds / 60)} minutes."
    return f"That is in about {round(seconds / 3600)} hours."


def exit_code(job: FollowedJob) -> int:
    """What a program is told of a job that is over."""
    if job.state is JobState.FAILED or job.verdict is VersionState.WAITING:
        return NO_VERDICT
    return DONE if job.verdict in (VersionState.ACCEPTED, VersionState.APPROVAL) else FAILED


def _amount(packing: Packing) -> str:
    number = len(packing.files)
    return f"{number} {'file' if number == 1 else 'files'}, {_size(packing.size)}"


def _size(size: int) -> str:
    if size < 1024:
        return f"{size} B"
    return f"{size / 1024:.1f} KiB" if size < 1 << 20 else f"{size / (1 << 20):.1f} MiB"

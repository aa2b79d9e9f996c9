"""``check``: does a bot keep the rules?"""

import asyncio
import datetime as dt
import secrets
import shlex
import signal
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from referee.check.judge import Baseline, BaselineError, CheckExit, read_baseline
from referee.check.plan import MOVE_MS, Plan, clock
from referee.check.replay import ReplayOutcome, replay
from referee.check.requirements import Selection, SelectionError
from referee.check.results import EventLog, line_of
from referee.check.run import Outputs, Report, check, document
from referee.check.terminal import REPLAY, report
from referee.check.tournament_plan import plan_for
from referee.check.witness import WitnessError, read_witnesses
from referee.cli import app
from referee.cli.lines import results
from referee.cli.options import SandboxMode, given, refuse_idle
from referee.league.definition.names import is_name
from referee.league.definition.toml_file import write_text
from referee.league.entrants.bot_build import require_built
from referee.league.entrants.bot_source import BotSource, BotSourceError, command_bot, find_bot
from referee.net.connection import START_SECONDS
from referee.net.listening import ListenError, check_address
from referee.rules import RuleSet, RuleSetError, variant, variant_names
from referee.rules.conduct_clauses import EDITIONS
from referee.sandbox.command import LaunchError
from referee.sandbox.isolation import choose_sandbox

LONG_DEALS = 5000
FORMATS = ("json", "junit", "html", "md", "badge", "events")
USAGE = (SelectionError, BaselineError, WitnessError, BotSourceError, RuleSetError, LaunchError, ListenError)
"""What may be wrong with a bot's path, an option or a file."""

BotArguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="BOT...", help="A .py file, a folder with bot.toml, a sample, or a command in quotes."),
]
VariantOption = Annotated[
    list[str] | None,
    typer.Option("--variant", help="Which game; may be repeated; all = every one that the bot claims."),
]
SeatsOption = Annotated[list[int] | None, typer.Option("--seats", min=2, max=7, help="Only with so many seats.")]
RuleOption = Annotated[list[str] | None, typer.Option("--rule", help="Only these rules: AF-PLAY-003, AF-BID-*.")]
AreaOption = Annotated[list[str] | None, typer.Option("--area", help="Only rules of this area, such as PLAY.")]
StrictOption = Annotated[bool, typer.Option("--strict", help="A broken SHOULD fails too.")]
LongOption = Annotated[bool, typer.Option("--long", help=f"Endurance: {LONG_DEALS:,} deals more, and no growth.")]
DoctorOption = Annotated[bool, typer.Option("--doctor", help="Start, join, one deal; print the talk.")]
SeedOption = Annotated[str, typer.Option("--seed", help="Another seed meets other deals.")]
SecondsOption = Annotated[
    float, typer.Option("--seconds", min=0, max=86_400, help="Time for more than the least that is asked.")
]
DealsOption = Annotated[int | None, typer.Option("--deals", min=0, help="Exactly so many deals, instead of a time.")]
BaselineOption = Annotated[Path | None, typer.Option("--baseline", help="Breaches accepted for now (baseline.toml).")]
RulesetOption = Annotated[str, typer.Option("--ruleset", help="The edition of the rule book.")]
ReplayOption = Annotated[Path | None, typer.Option("--replay", help="A witness, or a folder of them, to show again.")]
ReportOption = Annotated[
    list[str] | None, typer.Option("--report", metavar="FORMAT=FILE", help=f"{', '.join(FORMATS)}; may be repeated.")
]
FailuresOption = Annotated[Path, typer.Option("--failures", help="Folder for witnesses and the bot's output.")]
ListenOption = Annotated[
    str, typer.Option("--listen", help="HOST:PORT where a running bot dials in; name no BOT then.")
]
WaitOption = Annotated[float, typer.Option("--wait", min=1, help="Seconds to wait for a bot that dials in.")]
MoveOption = Annotated[int, typer.Option("--move-ms", min=10, max=3_600_000, help="Milliseconds for a move.")]
StartOption = Annotated[
    float, typer.Option("--start-s", min=1, max=3600, help="Seconds for the bot to start and join.")
]
SandboxOption = Annotated[
    SandboxMode, typer.Option("--sandbox", help="Run the bot in a sandbox: where one works, always, or never.")
]
VerboseOption = Annotated[bool, typer.Option("--verbose", "-v", help="Every rule, every breach in full.")]


@app.command(name="check", epilog="Example: referee check mybot.py --report html=check.html")
def check_command(
    bots: BotArguments = None,
    variants: VariantOption = None,
    seats: SeatsOption = None,
    rule: RuleOption = None,
    area: AreaOption = None,
    strict: StrictOption = False,
    long: LongOption = False,
    doctor: DoctorOption = False,
    seed: SeedOption = "1",
    seconds: SecondsOption = 4.0,
    deals: DealsOption = None,
    baseline: BaselineOption = None,
    ruleset: RulesetOption = EDITIONS[-1],
    replay_file: ReplayOption = None,
    reports: ReportOption = None,
    failures: FailuresOption = Path("failures"),
    listen: ListenOption = "",
    wait: WaitOption = 120.0,
    move_ms: MoveOption = MOVE_MS,
    start_s: StartOption = START_SECONDS,
    sandbox: SandboxOption = SandboxMode.AUTO,
    verbose: VerboseOption = False,
) -> None:
    """Check whether a bot keeps the rules: which one it breaks, what it held and saw, and how to show it again.

    Exit codes: 0 conforms, 1 a rule is broken, 2 wrong usage, 3 incomplete, 4 the bot never became ready, 5 the
    harness failed, 6 a witness could not be replayed, 130 interrupted.
    """
    _refuse_idle()

    def run() -> CheckExit:
        choice = choose_sandbox(sandbox.value)
        if choice.line and sandbox is SandboxMode.AUTO and not listen:
            typer.echo(choice.line, err=True)
        frame = _frame(variants, seats, Selection(tuple(rule or ()), tuple(area or ()), ruleset, long))
        frame = replace(frame, seed=seed, seconds=seconds, deals=deals, only_doctor=doctor, limits=clock(move_ms))
        frame = replace(frame, sandbox=choice.kind, wait_seconds=wait, listen=listen)
        frame = replace(frame, start_seconds=start_s)
        options = CheckOptions(
            frame=frame,
            reports=_reports(reports or ()),
            baseline=_baseline(baseline),
            failures=failures,
            strict=strict,
            verbose=verbose,
        )
        return _run(options, bots or (), replay_file)

    raise typer.Exit(int(guarded(run)))


def _refuse_idle() -> None:
    """Refuses options that have no effect beside others."""
    if given("--listen"):
        refuse_idle("with --listen: the bot runs elsewhere, as it was started", "--sandbox")
    else:
        refuse_idle("without --listen: no bot dials in", "--wait")
    if given("--deals"):
        refuse_idle("with --deals, which counts deals instead of time", "--seconds")
    questions = ("--seconds", "--deals", "--long", "--rule", "--area", "--strict", "--baseline", "--report")
    if given("--replay"):
        refuse_idle(
            "with --replay, which shows witnesses again", *questions, "--doctor", "--variant", "--seats", "--seed"
        )
    if given("--doctor"):
        refuse_idle("with --doctor, which plays one deal", *questions)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """What was asked for besides the bots; ``frame`` is the plan without one."""

    frame: Plan
    reports: dict[str, Path]
    baseline: Baseline | None
    failures: Path
    strict: bool
    verbose: bool


def guarded(run: Callable[[], CheckExit]) -> CheckExit:
    """Runs a check; whatever goes wrong on our side is told apart from a verdict on the bot."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the bot is ended with us
    try:
        return run()
    except USAGE as error:
        typer.echo(f"referee: {error}", err=True)
        return CheckExit.USAGE
    except KeyboardInterrupt:
        typer.echo("referee: interrupted; nothing is concluded", err=True)
        return CheckExit.INTERRUPTED
    except Exception as error:  # noqa: BLE001  # exit code 5 must never pass for a verdict
        traceback.print_exc()
        typer.echo(f"referee: the harness failed, which says nothing about the bot: {error}", err=True)
        return CheckExit.HARNESS
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(options: CheckOptions, bots: Sequence[str], replay_file: Path | None) -> CheckExit:
    options.frame.selection.check()
    plans = [_remote(options.frame)] if options.frame.listen else [_local(text, options) for text in bots]
    if options.frame.listen and bots:
        raise SelectionError("--listen waits for a bot that is running: name no BOT beside it")
    if not plans:
        raise SelectionError("name a bot: a .py file, a folder with bot.toml, a sample, or a command in quotes")
    if replay_file is not None:
        return _replay(plans[0], replay_file)
    return _check(plans, options)


def _frame(variants: list[str] | None, seats: list[int] | None, selection: Selection) -> Plan:
    long_deals = LONG_DEALS if selection.long else 0
    games, by_name = _games(variants), bool(variants) and "all" not in (variants or ())
    return Plan(
        name="",
        command=None,
        games=games,
        by_name=by_name,
        seats=tuple(seats or ()),
        selection=selection,
        long_deals=long_deals,
    )


def _games(names: list[str] | None) -> tuple[RuleSet, ...]:
    if not names:
        return (variant("auction-pitch"),)
    if "all" in names:
        return tuple(map(variant, variant_names()))
    return tuple(dict.fromkeys(map(variant, names)))


def _reports(texts: Sequence[str]) -> dict[str, Path]:
    found = {}
    for text in texts:
        name, sign, file = text.partition("=")
        if name not in FORMATS or not sign or not file:
            raise SelectionError(f"--report {text}: write FORMAT=FILE, FORMAT being one of {', '.join(FORMATS)}")
        found[name] = Path(file)
    return found


def _baseline(path: Path | None) -> Baseline | None:
    return None if path is None else read_baseline(path, dt.date.today())  # noqa: DTZ011  # the author's own day


def _remote(frame: Plan) -> Plan:
    """The plan for a bot that dials in; its address and token are printed."""
    check_address(frame.listen)
    token = secrets.token_urlsafe(24)
    typer.echo(f"waiting: REFEREE_ADDRESS=tcp:{frame.listen} REFEREE_TOKEN={token}", err=True)
    return replace(frame, name="the bot that dials in", token=token)


def _local(text: str, options: CheckOptions) -> Plan:
    source = find(text)
    require_built([source])
    return plan_for(source, options.frame, options.failures)


def find(text: str) -> BotSource:
    """The bot that a word of the command line means: what a definition would find, or a command; raises ``BotSourceError``."""
    try:
        return find_bot(text, Path.cwd())
    except BotSourceError:
        try:
            words = shlex.split(text)
        except ValueError as wrong:
            raise SelectionError(f"{text}: a quotation mark in this command has no partner ({wrong})") from None
        if len(words) < 2:
            raise
    name = Path(words[-1]).stem
    return command_bot(words, Path.cwd(), name=name if is_name(name) else "bot")


def _check(plans: Sequence[Plan], options: CheckOptions) -> CheckExit:
    done: list[Report] = []
    for plan in plans:
        outputs = Outputs(options.failures, command=named(plan))
        outcome = check(plan, outputs, baseline=options.baseline, strict=options.strict)
        print_report(outcome.run, verbose=options.verbose)
        done.append(outcome)
    write_reports(done, options.reports)
    return max((outcome.exit_code for outcome in done), key=_gravity)


def print_report(run: Mapping[str, Any], *, verbose: bool = False) -> None:
    """The report of one run, on the screen; a command to type again is never broken into lines."""
    console = results()
    for text, style in report(run, verbose=verbose):
        console.print(text, style=style, **({"soft_wrap": True} if text.startswith(REPLAY) else {}))


def named(plan: Plan) -> str:
    """The bot as it can be named again from here."""
    command = plan.command
    if command is None:
        return f"--listen {plan.listen}"
    lone_script = command.argv[0] == sys.executable and len(command.argv) == 2 and command.argv[1].endswith(".py")
    if not command.whole and not lone_script:
        return shlex.quote(shlex.join(command.argv))
    path = command.folder if command.whole else command.folder / command.argv[1]
    return shlex.quote(str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path))


def _gravity(code: CheckExit) -> int:
    """The worst outcome of several bots is that of all."""
    return (CheckExit.CONFORMS, CheckExit.INCOMPLETE, CheckExit.FAILS, CheckExit.NOT_READY).index(code)


def write_reports(done: Sequence[Report], wanted: dict[str, Path]) -> None:
    """Writes the reports asked for, all bots in each."""
    if not wanted:
        return
    from referee.check.formats import renderers

    whole: dict[str, Any] = document([outcome.events for outcome in done])
    for name, path in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if name == "events":
            write_text(path, "".join(line_of(event) for outcome in done for event in outcome.events))
        else:
            write_text(path, renderers()[name](whole))


def _replay(plan: Plan, path: Path) -> CheckExit:
    shown = asyncio.run(replay(plan, read_witnesses(path), EventLog()))
    console = results()
    styles = {
        ReplayOutcome.FIXED: "green",
        ReplayOutcome.STILL_FAILS: "bold red",
        ReplayOutcome.CANNOT_REPLAY: "yellow",
    }
    for one in shown:
        told = f"{one.answer} {one.witness.key}  {one.sentence}  ({one.witness.path})"
        console.print(told, style=styles[one.answer])
    answers = {one.answer for one in shown}
    if ReplayOutcome.STILL_FAILS in answers:
        return CheckExit.FAILS
    return CheckExit.CANNOT_REPLAY if ReplayOutcome.CANNOT_REPLAY in answers else CheckExit.CONFORMS

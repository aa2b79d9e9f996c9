"""``check``: does a bot keep the rules?"""

import asyncio
import datetime
import secrets
import shlex
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from referee.check.baseline import Baseline, BaselineError, read_baseline
from referee.check.cases import CaseError
from referee.check.clauses import EDITIONS
from referee.check.conclude import document
from referee.check.events import EventLog, line_of
from referee.check.plan import MOVE_MS, Plan, clock
from referee.check.replay import Answer, replay
from referee.check.requirements import Selection, SelectionError
from referee.check.runs import Outputs, Report, check
from referee.check.terminal import report
from referee.check.verdict import Exit
from referee.check.witness import WitnessError, read_witnesses
from referee.cli import app
from referee.cli.run import Sandbox
from referee.rules import RuleSet, RuleSetError, variant, variant_names
from referee.seats.program import Command
from referee.seats.sandbox import choose_sandbox
from referee.tournament.bot_source import BotError, BotSource, command_bot, find_bot
from referee.tournament.names import is_name

LONG_DEALS = 5000
_USAGE = (SelectionError, BaselineError, WitnessError, BotError, RuleSetError)


@app.command(name="check", epilog="Example: referee check mybot.py --variant auction-pitch --report html=check.html")
def check_command(
    bots: Annotated[
        list[str] | None,
        typer.Argument(metavar="BOT...", help="A .py file, a folder with bot.toml, a sample, or a command in quotes."),
    ] = None,
    variant_: Annotated[
        list[str] | None, typer.Option("--variant", help="Which game; may be repeated; all = every one that the bot claims.")
    ] = None,
    seats: Annotated[list[int] | None, typer.Option("--seats", min=2, max=7, help="Only with so many seats.")] = None,
    rule: Annotated[list[str] | None, typer.Option("--rule", help="Only these rules, such as AF-PLAY-003 or AF-BID-*.")] = None,
    area: Annotated[list[str] | None, typer.Option("--area", help="Only rules of this area, such as PLAY.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="A broken SHOULD fails too.")] = False,
    long: Annotated[bool, typer.Option("--long", help=f"Endurance: {LONG_DEALS:,} deals more, and no growth.")] = False,
    doctor: Annotated[bool, typer.Option("--doctor", help="Start, join, one deal; print the talk.")] = False,
    seed: Annotated[str, typer.Option(help="Another seed meets other deals.")] = "1",
    seconds: Annotated[float, typer.Option(min=0, max=86400, help="How long the random phase lasts.")] = 4.0,
    deals: Annotated[int | None, typer.Option(min=0, help="Deals of the random phase, instead of a time.")] = None,
    baseline: Annotated[Path | None, typer.Option(help="Breaches accepted for now (baseline.toml).")] = None,
    ruleset: Annotated[str, typer.Option(help="The edition of the rule book.")] = EDITIONS[-1],
    replay_: Annotated[Path | None, typer.Option("--replay", help="A witness, or a folder of them, to show again.")] = None,
    reports: Annotated[
        list[str] | None, typer.Option("--report", metavar="FORMAT=FILE", help="json, junit, html, md, badge or events.")
    ] = None,
    failures: Annotated[Path, typer.Option(help="Folder for witnesses.")] = Path("failures"),
    listen: Annotated[str, typer.Option(help="HOST:PORT where a running bot dials in; then no BOT is named.")] = "",
    wait: Annotated[float, typer.Option(min=1, help="Seconds to wait for a bot that dials in.")] = 120.0,
    move_ms: Annotated[int, typer.Option(min=10, max=3_600_000, help="Time for a move, in milliseconds.")] = MOVE_MS,
    sandbox: Annotated[Sandbox, typer.Option("--sandbox", help="Shut the bot in: where it works, always, or never.")] = Sandbox.AUTO,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Every rule, every breach.")] = False,
) -> None:
    """Check whether a bot keeps the rules: which one it breaks, what it held and saw, and how to show it again.

    Exit codes: 0 conforms, 1 a rule is broken, 2 asked wrongly, 3 incomplete, 4 the bot never became ready, 5 the
    harness failed, 130 interrupted.
    """
    console = Console(stderr=True)
    try:
        wishes = Wishes(
            games=_games(variant_),
            by_name=bool(variant_),
            selection=Selection(tuple(rule or ()), tuple(area or ()), ruleset, long),
            reports=_reports(reports or []),
            baseline=read_baseline(baseline, datetime.date.today()) if baseline else None,  # noqa: DTZ011  # the author's own day
        )
        wishes.selection.check()
        plans = _plans(bots or [], listen, wishes, console)
        plans = [
            replace(
                one,
                seats=tuple(seats or ()),
                seed=seed,
                seconds=seconds,
                deals=deals,
                long_deals=LONG_DEALS if long else 0,
                only_doctor=doctor,
                limits=clock(move_ms),
                sandbox=choose_sandbox(sandbox.value).kind,
                wait_seconds=wait,
            )
            for one in plans
        ]
        code = _replay(plans[0], replay_) if replay_ else _check(plans, wishes, failures, strict, verbose)
    except _USAGE as error:
        typer.echo(f"referee: {error}", err=True)
        code = Exit.USAGE
    except KeyboardInterrupt:
        typer.echo("referee: interrupted; nothing is concluded", err=True)
        code = Exit.INTERRUPTED
    except (CaseError, OSError, RuntimeError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        traceback.print_exc()
        typer.echo(f"referee: the harness failed, which says nothing about the bot: {error}", err=True)
        code = Exit.HARNESS
    raise typer.Exit(int(code))


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked for, besides the bots."""

    games: tuple[RuleSet, ...]
    by_name: bool
    selection: Selection
    reports: dict[str, Path]
    baseline: Baseline | None


def _games(names: list[str] | None) -> tuple[RuleSet, ...]:
    if not names:
        return (variant("auction-pitch"),)
    if "all" in names:
        return tuple(map(variant, variant_names()))
    return tuple(dict.fromkeys(map(variant, names)))


FORMATS = ("json", "junit", "html", "md", "badge", "events")


def _reports(texts: Sequence[str]) -> dict[str, Path]:
    found = {}
    for text in texts:
        name, sign, file = text.partition("=")
        if name not in FORMATS or not sign or not file:
            raise SelectionError(f"--report {text}: write FORMAT=FILE, FORMAT being one of {', '.join(FORMATS)}")
        found[name] = Path(file)
    return found


def _plans(bots: Sequence[str], listen: str, wishes: Wishes, console: Console) -> list[Plan]:
    if listen:
        if bots:
            raise SelectionError("--listen waits for a bot that is running: name no BOT beside it")
        token = secrets.token_urlsafe(24)
        host, _, port = listen.rpartition(":")
        if not host or not port.isdigit():
            raise SelectionError(f"--listen {listen}: write HOST:PORT, such as 127.0.0.1:7400")
        console.print(f"waiting: REFEREE_ADDRESS=tcp:{listen} REFEREE_TOKEN={token}", markup=False)
        plan = Plan("the bot that dials in", None, wishes.games, by_name=wishes.by_name, selection=wishes.selection)
        return [replace(plan, listen=listen, token=token)]
    if not bots:
        raise SelectionError("name a bot: a .py file, a folder with bot.toml, a sample, or a command in quotes")
    return [_plan(text, wishes) for text in bots]


def _plan(text: str, wishes: Wishes) -> Plan:
    source = find(text)
    command = Command(source.argv, source.folder, source.name, only=source.only)
    log = Path("failures") / f"{source.name}.log".replace(" ", "_")
    return Plan(
        source.name,
        command,
        wishes.games,
        version=source.version,
        digest=source.digest,
        by_name=wishes.by_name,
        claims=source.variants,
        selection=wishes.selection,
        log_path=log,
    )


def find(text: str) -> BotSource:
    """The bot that a word of the command line means: what a definition would find, or a command; raises ``BotError``."""
    try:
        return find_bot(text, Path.cwd())
    except BotError as error:
        if " " not in text.strip():
            raise
        words = shlex.split(text)
        name = Path(words[-1] if len(words) > 1 else words[0]).stem
        try:
            return command_bot(words, Path.cwd(), name=name if is_name(name) else "bot")
        except BotError as second:
            raise second from error


def _check(plans: Sequence[Plan], wishes: Wishes, failures: Path, strict: bool, verbose: bool) -> Exit:
    console = Console(highlight=False, soft_wrap=True)
    done: list[Report] = []
    for plan in plans:
        told = shlex.quote(_named(plan))
        outputs = Outputs(failures, None, told if plan.command else f"--listen {plan.listen}")
        outcome = check(plan, outputs, baseline=wishes.baseline, strict=strict)
        for text, style in report(outcome.run, verbose=verbose):
            console.print(text, style=style, markup=False)
        if plan.only_doctor:
            _print_talk(outcome, console)
        done.append(outcome)
    _write_reports(done, wishes.reports)
    return max((outcome.exit_code for outcome in done), key=_gravity)


def _named(plan: Plan) -> str:
    """The bot as it can be named again from here."""
    command = plan.command
    if command is None:
        return ""
    path = command.folder / command.only[0] if command.only else command.folder
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _gravity(code: Exit) -> int:
    """The worst outcome of several bots is that of all."""
    return (Exit.CONFORMS, Exit.INCOMPLETE, Exit.FAILS, Exit.NOT_READY, Exit.HARNESS).index(code)


def _print_talk(outcome: Report, console: Console) -> None:
    import json

    for entry in outcome.result.scribe.talk:
        console.print(f"{entry['ms']:6} ms {entry['from']:8} {json.dumps(entry.get('message', entry))}", markup=False)


def _write_reports(done: Sequence[Report], wanted: dict[str, Path]) -> None:
    if not wanted:
        return
    from referee.check.formats import renderers

    whole: dict[str, Any] = document([outcome.events for outcome in done])
    for name, path in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if name == "events":
            path.write_text("".join(line_of(event) for outcome in done for event in outcome.events), "utf-8")
        else:
            path.write_text(renderers()[name](whole), "utf-8")


def _replay(plan: Plan, path: Path) -> Exit:
    witnesses = read_witnesses(path)
    results = asyncio.run(replay(plan, witnesses, EventLog()))
    console = Console(highlight=False, soft_wrap=True)
    styles = {Answer.FIXED: "green", Answer.STILL_FAILS: "bold red", Answer.CANNOT_REPLAY: "yellow"}
    for one in results:
        console.print(
            f"{one.answer} {one.witness.key}  {one.sentence}  ({one.witness.path})", style=styles[one.answer], markup=False
        )
    answers = {one.answer for one in results}
    if Answer.STILL_FAILS in answers:
        return Exit.FAILS
    return Exit.INCOMPLETE if Answer.CANNOT_REPLAY in answers else Exit.CONFORMS


__all__ = ["check_command", "find"]

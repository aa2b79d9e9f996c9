"""``submit`` and ``withdraw``: who takes part in a tournament, gated by the rules check."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from referee.check.judge import CheckExit
from referee.check.run import Outputs, Report, check
from referee.check.tournament_plan import tournament_options, tournament_plan
from referee.cli import app
from referee.cli.check import FailuresOption, SandboxOption, SecondsOption, guarded, named, print_report
from referee.cli.lines import plain_text
from referee.cli.options import SandboxMode
from referee.league.definition.definition import Definition, load_definition
from referee.league.entrants.bot_build import require_built
from referee.league.entrants.bot_source import BotSource, find_bot
from referee.league.entrants.check_certificates import add_receipt, has_receipt, receipt, receipts_path
from referee.league.entrants.submission import Submission, add_bot, entry_for, remove_bot
from referee.league.schedule.formats import format_of
from referee.sandbox.isolation import choose_sandbox

BotArgument = Annotated[str, typer.Argument(metavar="BOT", help="A folder with bot.toml, a .py file, or a sample bot.")]
DefinitionArgument = Annotated[Path, typer.Argument(metavar="TOURNAMENT.toml", help="The tournament's definition.")]
NameOption = Annotated[str | None, typer.Option("--name", help="Name in this tournament instead of the bot's own.")]
StrictOption = Annotated[bool, typer.Option("--strict", help="A broken SHOULD keeps it out too.")]


@app.command(epilog="Example: referee submit bots/mybot tournaments/kitchen.toml")
def submit(
    bot: BotArgument,
    definition_file: DefinitionArgument,
    name: NameOption = None,
    strict: StrictOption = False,
    seconds: SecondsOption = 4.0,
    failures: FailuresOption = Path("failures"),
    sandbox: SandboxOption = SandboxMode.AUTO,
) -> None:
    """Check a bot under a tournament's rules and, only if it conforms, enter it in the definition.

    Comments and layout of the file are kept. A new version of a bot is a new player; on a ladder the one before retires.
    Exit codes as of referee check.
    """
    definition = load_definition(definition_file)
    source = find_bot(bot, Path.cwd())
    require_built([source])
    entry = entry_for(definition, source, name)
    if entry.known:
        typer.echo(f"{entry.name} {source.version} is in {definition_file} already, file by file as it is here.")
        if not definition.policy.checked or has_receipt(receipts_path(definition_file), source.digest, definition):
            typer.echo("Nothing differs, so there is nothing to do.")
            return
        typer.echo("That it keeps the rules is not on record, so it is checked now.")
    elif entry.beside:
        comes = (
            "It will take the place of that" if entry.replaces else f"It will be entered as {entry.name}, a new player"
        )
        typer.echo(f"{plain_text(entry.beside)}. {comes}.")

    def run() -> CheckExit:
        choice = choose_sandbox(sandbox.value)
        if choice.line:
            typer.echo(choice.line, err=True)
        plan = replace(tournament_plan(definition, source, failures), seconds=seconds, sandbox=choice.kind)
        outcome = check(
            plan, Outputs(failures, command=named(plan), options=tournament_options(definition)), strict=strict
        )
        print_report(outcome.run)
        if outcome.exit_code is CheckExit.CONFORMS:
            _enter(definition_file, bot, source, entry, definition, outcome)
        else:
            typer.echo(f"Not entered. {_remedy(outcome)}")
        return outcome.exit_code

    raise typer.Exit(int(guarded(run)))


def _enter(
    file: Path, text: str, source: BotSource, entry: Submission, definition: Definition, outcome: Report
) -> None:
    exercised, edition = len(outcome.judgement.exercised), outcome.result.plan.selection.edition
    proof = receipt(source.digest, entry.name, source.version, definition, exercised, edition)
    add_receipt(receipts_path(file), proof)
    if entry.known:
        typer.echo(f"{entry.name} {source.version} keeps the rules; {file} stays as it is.")
    else:
        add_bot(file, text, source, entry)
        told = "where the version before stood: that retires" if entry.replaces else ""
        typer.echo(f"Entered {entry.name} {source.version} in {file}{told and f', {told}'}.")
        if entry.name != source.name and not entry.replaces:
            typer.echo(f"It plays as {entry.name}: a new version is a new player, and the earlier one stays.")
    if format_of(definition.shape()).endless:
        typer.echo(f"It plays from the next round of the ladder on: referee run {file}")
        return
    typer.echo(f"A league that has begun goes on as it was; to play with the new list: referee run {file} --new-season")


def _remedy(outcome: Report) -> str:
    broken: Sequence[str] = [row.requirement.id for row in outcome.judgement.rows if row.breaches]
    if broken:
        return (
            f"Fix {', '.join(dict.fromkeys(broken))} and submit it again; referee explain RULE says what a rule means."
        )
    if outcome.exit_code is CheckExit.INCOMPLETE:
        return "Some rules could not be put to it; what is UNTESTED above says why."
    return "Fix what is listed above and submit it again."


@app.command(epilog="Example: referee withdraw mybot tournaments/kitchen.toml")
def withdraw(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The bot's name in the tournament.")],
    definition_file: DefinitionArgument,
) -> None:
    """Take a bot out of a definition. A league that has begun goes on with it."""
    told = remove_bot(definition_file, name)
    typer.echo(f"Took {name} ({told}) out of {definition_file}. A league that has begun goes on as it was.")

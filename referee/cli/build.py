"""``build`` and ``new``: bots that are compiled, and bots that do not exist yet."""

import os
import shlex
import signal
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Annotated

import typer

from referee.cli import app
from referee.cli.lines import plain_text
from referee.cli.options import SandboxMode
from referee.league.entrants.bot_build import BuildOutcome, build, missing_tools
from referee.league.entrants.bot_source import BotSource, find_bot
from referee.league.entrants.build_process import MEMORY_MIB
from referee.league.entrants.new_bot import TITLES, build_step, new_bot
from referee.sandbox.isolation import choose_sandbox


class BuildExit(IntEnum):
    """Exit codes of ``referee build``, the gravest last."""

    BUILT = 0
    NO_TOOLS = 3
    FAILED = 1
    INTERRUPTED = 130


@app.command(
    name="build",
    epilog="Example: referee build mybot --network\n\nor:      referee build sample_bots/go/random --network --skip-missing",
)
def build_command(
    bots: Annotated[
        list[str] | None, typer.Argument(metavar="BOT...", help="Folders with bot.toml. Default: .")
    ] = None,
    network: Annotated[
        bool,
        typer.Option("--network", help="Let the build fetch packages: a first build of most languages needs that."),
    ] = False,
    seconds: Annotated[float, typer.Option(min=1, max=86_400, help="How long a build step may take.")] = 900.0,
    memory_mib: Annotated[
        int, typer.Option(min=64, max=1_048_576, help="Memory of a build with all that it starts, in MiB.")
    ] = MEMORY_MIB,
    sandbox: Annotated[
        SandboxMode, typer.Option("--sandbox", help="Run builds in a sandbox: where one works, always, or never.")
    ] = SandboxMode.AUTO,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show a build's output only if it fails.")] = False,
    skip_missing: Annotated[
        bool,
        typer.Option(
            "--skip-missing",
            help="Leave out bots whose compiler or libraries are not here, with a line for each; not where CI=true.",
        ),
    ] = False,
) -> None:
    """Run the build step of bots, as their bot.toml says, each in its own folder.

    A build runs in the sandbox, as bots do: it may write to the bot's folder alone, where it has a home of its own (.build-home), and
    has no network unless you add --network. What it leaves running is ended.

    Exit codes: 0 all are built, 1 a build failed, 2 wrong usage, 3 a compiler or a library is missing, 130 interrupted.
    """
    sources = [find_bot(text, Path.cwd()) for text in bots or ["."]]
    skips = skip_missing and os.environ.get("CI", "").lower() != "true"
    choice = choose_sandbox(sandbox.value)
    if choice.kind == "none" and any(source.build for source in sources):
        typer.echo(choice.line.replace("Bots run", "Builds run", 1), err=True)

    def run(source: BotSource) -> BuildOutcome:
        return build(
            source, seconds=seconds, live=not quiet, sandbox=choice.kind, network=network, memory_mib=memory_mib
        )

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        codes = [_build(source, run, skips) for source in sources]
    except KeyboardInterrupt:
        typer.echo("referee: interrupted; what was being built is not built", err=True)
        codes = [BuildExit.INTERRUPTED]
    finally:
        signal.signal(signal.SIGTERM, before)
    raise typer.Exit(int(max(codes, key=list(BuildExit).index)))


def _build(source: BotSource, run: Callable[[BotSource], BuildOutcome], skips: bool) -> BuildExit:
    """Builds one bot and tells how it went."""
    if not source.build:
        typer.echo(f"{source.name}: nothing to build")
        return BuildExit.BUILT
    remedy = "left out" if skips else "install it"
    missing = missing_tools(source.build)
    if missing:
        typer.echo(f"{source.name}: not on the PATH: {', '.join(missing)}; {remedy}", err=True)
        return BuildExit.BUILT if skips else BuildExit.NO_TOOLS
    line = source.build[2] if source.build[:2] == ("sh", "-c") else shlex.join(source.build)
    typer.echo(f"{source.name}: {plain_text(line)}")
    outcome = run(source)
    if outcome.lacks:
        typer.echo(f"{source.name}: {plain_text(outcome.failure)}; {remedy}", err=True)
        return BuildExit.BUILT if skips else BuildExit.NO_TOOLS
    if outcome.failure:
        if outcome.words:
            typer.echo(outcome.words, err=True)
        typer.echo(f"{source.name}: {plain_text(outcome.failure)}", err=True)
        return BuildExit.FAILED
    typer.echo(f"{source.name}: built in {outcome.seconds:.1f} s")
    return BuildExit.BUILT


@app.command(epilog="Example: referee new go mybot\n\nor:      referee new rust mybot --from careful")
def new(
    language: Annotated[str, typer.Argument(metavar="LANGUAGE", help=f"One of {', '.join(TITLES)}.")],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the bot, and of the folder that is made for it.")
    ],
    sample: Annotated[str, typer.Option("--from", metavar="SAMPLE", help="The sample bot to begin with.")] = "random",
    home: Annotated[
        str | None, typer.Option(metavar="OWNER/REPO", help="Referee on GitHub, for the workflow that checks the bot.")
    ] = None,
) -> None:
    """Write a new bot project: the sources of a sample bot, the wire contract, a workflow that checks it at every push.

    Nothing that is there already is touched.
    """
    project = new_bot(language, name, Path.cwd(), sample=sample, home=home)
    typer.echo(f"{name}/ is a bot in {TITLES[language]} that plays as {sample} does. Go on with:")
    steps = [f"cd {name}", *[build_step(language)] * project.built, "referee play . careful", "referee check ."]
    for step in steps:
        typer.echo(f"    {step}")
    if project.home is None:
        typer.echo("In .github/workflows/rules.yml put whoever owns Referee on GitHub in place of OWNER.")

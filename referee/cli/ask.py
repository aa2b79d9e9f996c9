"""``ask``: what would this bot do here?"""

import asyncio
import json
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from referee.check.ask import Moment, Reply, ask, legal_words, moment
from referee.check.plan import Plan
from referee.check.results import Breach
from referee.check.scene import lines_of, scene_of
from referee.check.tournament_plan import plan_for
from referee.cli import app
from referee.cli.check import find
from referee.cli.lines import plain_text
from referee.cli.options import OutputFormat, OutputOption, SandboxMode, SandboxOption, newest_league
from referee.league.entrants.bot_build import require_built
from referee.league.league import plan_of, read_league
from referee.league.plan import GamePlan
from referee.league.store import Exported, Store
from referee.sandbox.isolation import choose_sandbox
from referee.sandbox.temporary_folder import private_folder
from referee.umpire.faults import Fault
from referee.umpire.record import Record


@app.command(name="ask", epilog="Example: referee ask 17 --turn 9 careful")
def ask_command(
    game: Annotated[int, typer.Argument(min=1, help="The number of the game.")],
    bot: Annotated[str, typer.Argument(metavar="BOT", help="A .py file, a folder with bot.toml, or a sample.")],
    turn: Annotated[int, typer.Option(min=1, help="Which decision of the game, counted from 1.")],
    league: Annotated[
        Path | None, typer.Option(help="The league's file or export. Default: the newest in leagues/.")
    ] = None,
    output: OutputOption = OutputFormat.RICH,
    sandbox: SandboxOption = SandboxMode.AUTO,
) -> None:
    """Put a decision of a stored game to a bot: print the position, what was done then, and what this bot does.

    Exit codes: 0 a legal answer, 1 an illegal one or none, 2 wrong usage.
    """
    record, seeds = _stored(league or newest_league(), game)
    asked = moment(record, turn, seeds)
    source = find(bot)
    require_built([source])
    with private_folder() as folder:
        frame = Plan(name="", command=None, games=(asked.position.rules,), by_name=True, seats=(asked.position.seats,))
        plan = replace(plan_for(source, frame, folder), sandbox=choose_sandbox(sandbox.value).kind)
        reply = asyncio.run(ask(plan, asked.position))
    name = plain_text(str(record["names"][asked.seat]), 60)
    if output is OutputFormat.JSON:
        typer.echo(json.dumps(_to_json(asked, reply, game, turn, name), indent=1))
    else:
        typer.echo("\n".join(_lines(asked, reply, name, source.name)))
    if reply.failure or reply.broke:
        raise typer.Exit(1)


def _stored(path: Path, number: int) -> tuple[Record, tuple[int, ...]]:
    """The record of a game, and the seeds that its seats drew from."""
    opened: AbstractContextManager[Exported | Store] = (
        nullcontext(Exported(path)) if path.is_dir() else Store.read(path)
    )
    with opened as source:
        record, found = source.record(number), read_league(source)
        row = next(row for row in source.every_game() if row.number == number)
    plan = plan_of(found, Path(), "none")
    set_id, _, rotation = row.fixture_id.rpartition("-")
    game = GamePlan(
        fixture_id=row.fixture_id,
        set_id=set_id,
        rotation=int(rotation),
        seats=tuple(row.summary["entrants"]),
        slots=(),
        redeal=row.redeal,
    )
    return record, tuple(chair.bot_seed for chair in plan.spec(game, 1).chairs)


def _scene(asked: Moment, did: str) -> dict[str, Any]:
    rules = asked.position.rules
    shown = Breach(
        rule="",
        variant=rules.name,
        fault=Fault.ILLEGAL_ACTION,
        sentence="",
        phase="ask",
        origin="",
        position=asked.position,
        did=did,
    )
    return scene_of(shown)


def _lines(asked: Moment, reply: Reply, name: str, bot: str) -> list[str]:
    lines = [line for line in lines_of(_scene(asked, "")) if not line.startswith(("did ", "legal "))]
    lines.append(f"legal   {legal_words(asked.position)}")
    lines.append(f"then    {name}: {asked.done}")
    lines.append(f"now     {plain_text(bot, 60)}: {reply.did or reply.failure}")
    return [*lines, *([f"which breaks {reply.broke}"] if reply.broke else [])]


def _to_json(asked: Moment, reply: Reply, game: int, turn: int, name: str) -> dict[str, Any]:
    return {
        "game": game,
        "turn": turn,
        "seat": asked.seat,
        "then": {"bot": name, "did": asked.done},
        "now": {"did": reply.did, "broke": reply.broke, "failure": reply.failure},
        "position": asked.position.to_json(),
    }

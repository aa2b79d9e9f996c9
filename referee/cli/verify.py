"""``verify``: a whole league dealt, replayed, judged and rated again."""

import json
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from referee.cli import app
from referee.cli.lines import messages
from referee.cli.options import OutputFormat, OutputOption
from referee.league.store import Exported, Source, Store
from referee.verification.verify import verify as verify_league


@app.command(epilog="Example: referee verify leagues/kitchen.sqlite\n\nor:      referee verify kitchen-export")
def verify(
    store: Annotated[Path, typer.Argument(metavar="LEAGUE", help="The league's file, or the folder of its export.")],
    output: OutputOption = OutputFormat.RICH,
    commitment: Annotated[str | None, typer.Option(help="The commitment as it was published before play.")] = None,
    record_root: Annotated[str | None, typer.Option(help="The record root as it was published after play.")] = None,
    receipts: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Receipts that a bot has kept; may be given several times."),
    ] = None,
) -> None:
    """Deal, replay, judge and rate a whole league again; print the first divergence. Exit 1 if there is any.

    With --receipts, it also checks that each game of that bot is there as its receipts have it, and no other.
    """
    console = messages()
    with _source(store) as source, Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("games", total=None)
        verdict = verify_league(
            source,
            lambda done, total: bar.update(task, completed=done, total=total),
            commitment=commitment,
            record_root=record_root,
            receipts=receipts or (),
        )
    typer.echo(json.dumps(verdict.to_json(), indent=2) if output is OutputFormat.JSON else str(verdict))
    if not verdict.ok:
        raise typer.Exit(1)


def _source(path: Path) -> AbstractContextManager[Source]:
    return nullcontext(Exported(path)) if path.is_dir() else Store.read(path)

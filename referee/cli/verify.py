"""``verify``: a whole league dealt, replayed, judged and rated again."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from referee.cli import app
from referee.cli.lines import messages
from referee.cli.options import OutputFormat, OutputOption
from referee.league.store import Exported, NoLeagueError, Source, Store, StoreError
from referee.verification.verify import verify as verify_league


@app.command(
    epilog="Example: referee verify leagues/kitchen.sqlite\n\nor:      referee verify kitchen-export\n\n"
    "or:      referee verify leagues/ladder.sqlite --archive rounds-1-12.jsonl.gz\n\n"
    "or:      referee verify https://pitch.example.org"
)
def verify(
    store: Annotated[
        str,
        typer.Argument(
            metavar="LEAGUE",
            help="The league's file, the folder of its export, or the URL of a host: its closed rounds.",
        ),
    ],
    output: OutputOption = OutputFormat.RICH,
    commitment: Annotated[str | None, typer.Option(help="The commitment as it was published before play.")] = None,
    record_root: Annotated[str | None, typer.Option(help="The record root as it was published after play.")] = None,
    receipts: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Receipts that a bot has kept; may be given several times."),
    ] = None,
    archive: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="A file with the records of old rounds of a ladder; may be given several times."
        ),
    ] = None,
) -> None:
    """Deal, replay, judge and rate a whole league again; print the first divergence. Exit 1 if there is any.

    Of a ladder whose old records lie in archives, give these with --archive; the verdict says what could not be replayed without them.
    A host's are fetched with its export.

    With --receipts, it also checks that each game of that bot is there as its receipts have it, and no other.
    """
    console = messages()
    with (
        Progress(console=console, transient=True, disable=not console.is_terminal) as bar,
        _source(store, bar) as (source, fetched),
    ):
        task = bar.add_task("games", total=None)
        verdict = verify_league(
            source,
            lambda done, total: bar.update(task, completed=done, total=total),
            commitment=commitment,
            record_root=record_root,
            receipts=receipts or (),
            archives=[*fetched, *(archive or ())],
        )
    typer.echo(json.dumps(verdict.to_json(), indent=2) if output is OutputFormat.JSON else str(verdict))
    if not verdict.ok:
        raise typer.Exit(1)


@contextmanager
def _source(named: str, bar: Progress) -> Iterator[tuple[Source, list[Path]]]:
    """The league that was named, wherever it is, and the archives that were fetched with it."""
    if re.match(r"https?://", named, re.IGNORECASE):
        with _published(named, bar) as (folder, archives):
            yield Exported(folder), archives
    elif Path(named).is_dir():
        yield Exported(Path(named)), []
    else:
        with Store.read(Path(named)) as store:
            yield store, []


@contextmanager
def _published(url: str, bar: Progress) -> Iterator[tuple[Path, list[Path]]]:
    """The export of a host's closed rounds and its archives, as long as they are needed."""
    from referee.host.client import HostRequestError
    from referee.host.published import fetched_export

    task = bar.add_task("bytes", total=None)
    try:
        with fetched_export(url, lambda done, total: bar.update(task, completed=done, total=total or None)) as found:
            bar.remove_task(task)
            yield found, []
    except HostRequestError as error:
        raise (NoLeagueError if error.ours else StoreError)(str(error)) from None

"""``verify``: a whole league dealt, replayed, judged and rated again."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from referee.cli import app
from referee.cli.lines import messages
from referee.cli.options import OutputFormat, OutputOption, refuse_idle
from referee.league.store import Exported, NoLeagueError, Source, Store, StoreError
from referee.verification.verify import verify as verify_league


class LadderBoard(StrEnum):
    """Which of a host's ladders is meant."""

    LADDER = "ladder"
    REMOTE = "remote"


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
    board: Annotated[
        LadderBoard,
        typer.Option("--board", help="Of a host: its ladder, or its board of remote bots."),
    ] = LadderBoard.LADDER,
) -> None:
    """Deal, replay, judge and rate a whole league again; print the first divergence. Exit 1 if there is any.

    Of a ladder whose old records lie in archives, give these with --archive; the verdict says what could not be replayed without them.
    A host's are fetched with its export.

    With --receipts, it also checks that each game of that bot is there as its receipts have it, and no other.
    """
    if not _is_url(store):
        refuse_idle("without the URL of a host", "--board")
    console = messages()
    with (
        Progress(console=console, transient=True, disable=not console.is_terminal) as bar,
        _source(store, bar, remote=board is LadderBoard.REMOTE) as (source, fetched),
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


def _is_url(named: str) -> bool:
    return re.match(r"https?://", named, re.IGNORECASE) is not None


@contextmanager
def _source(named: str, bar: Progress, *, remote: bool) -> Iterator[tuple[Source, list[Path]]]:
    """The league that was named, wherever it is, and the archives that were fetched with it."""
    if _is_url(named):
        with _published(named, bar, remote=remote) as (folder, archives):
            yield Exported(folder), archives
    elif Path(named).is_dir():
        yield Exported(Path(named)), []
    else:
        with Store.read(Path(named)) as store:
            yield store, []


@contextmanager
def _published(url: str, bar: Progress, *, remote: bool) -> Iterator[tuple[Path, list[Path]]]:
    """The export of a host's closed rounds and its archives, as long as they are needed."""
    from referee.host.client import HostRequestError
    from referee.host.published import fetched_export

    task = bar.add_task("bytes", total=None)
    try:

        def got(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total or None)

        with fetched_export(url, got, remote=remote) as found:
            bar.remove_task(task)
            yield found.folder, list(found.archives)
    except HostRequestError as error:
        raise (NoLeagueError if error.ours else StoreError)(str(error)) from None

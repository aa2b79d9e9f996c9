"""``ladder``: how a ladder stands with its rounds; withdraw a bot, pause, freeze, end."""

from pathlib import Path
from typing import Annotated

import typer

from referee.cli import app
from referee.cli.ladder_rounds import status_lines
from referee.cli.lines import plain_text
from referee.cli.options import refuse_idle, refuse_together
from referee.league.ladder import finish, withdraw
from referee.league.ladder_history import is_ladder
from referee.league.league import League, LeagueError, read_league
from referee.league.store import Store

_ACTIONS = ("--withdraw", "--pause", "--go-on", "--freeze", "--finish")


@app.command(
    epilog="Example: referee ladder leagues/ladder.sqlite\n\nor:      referee ladder leagues/ladder.sqlite --withdraw mybot"
)
def ladder(
    store: Annotated[Path, typer.Argument(metavar="LADDER.sqlite", help="The ladder's file.")],
    withdraw_: Annotated[
        str, typer.Option("--withdraw", metavar="BOT", help="Take a bot out at once: its open sets are void.")
    ] = "",
    reason: Annotated[str, typer.Option(help="Why it is withdrawn.")] = "by its owner",
    pause: Annotated[bool, typer.Option("--pause", help="No round begins any more.")] = False,
    go_on: Annotated[bool, typer.Option("--go-on", help="Rounds may begin again.")] = False,
    freeze: Annotated[bool, typer.Option("--freeze", help="No bot and no version enters any more.")] = False,
    finish_: Annotated[bool, typer.Option("--finish", help="End the ladder between two rounds, as it stands.")] = False,
) -> None:
    """Print who plays on a ladder and its rounds with their commitments; or withdraw a bot, pause, freeze or end it."""
    refuse_together("one after the other", *_ACTIONS)
    if not withdraw_:
        refuse_idle("without --withdraw", "--reason")
    if not (withdraw_ or pause or go_on or freeze or finish_):
        with Store.read(store) as reader:
            typer.echo("\n".join(map(plain_text, status_lines(reader, _ladder_in(reader)))))
        return
    with Store.write(store) as writer:
        league = _ladder_in(writer)
        if league.facts["state"] == "finished":
            raise LeagueError(f"{store} is finished: nothing of it changes any more")
        if withdraw_:
            key = withdraw(writer, league, withdraw_, reason)
            told = f"{key} is withdrawn: {reason}. What it has played stays; its open sets are void when the round goes on."
        elif freeze:
            told = _freeze(writer, league)
        elif finish_:
            from referee.report.html_report import write_report

            table = finish(writer, league)
            page = write_report(writer, league, store.with_suffix(".html"), table)
            told = f"The ladder is finished. Record root: {writer.league()['record_root']}\nReport: {page}"
        else:
            writer.put(paused=pause)
            told = (
                "Paused: no round begins; one that is open may be played to its end." if pause else "Rounds may begin."
            )
    typer.echo(plain_text(told) if withdraw_ else told)


def _ladder_in(store: Store) -> League:
    league = read_league(store)
    if not is_ladder(league):
        raise LeagueError(f'{store.path} is no ladder: its definition does not say format = "ladder"')
    return league


def _freeze(store: Store, league: League) -> str:
    rounds = league.facts.get("rounds", [])
    if not rounds:
        raise LeagueError(f"{store.path} has no round yet: nobody has entered")
    if "frozen" not in league.facts:
        store.put(frozen=len(rounds))
    return (
        f"Frozen after round {store.league()['frozen']}: nobody enters any more. Play it out with: referee run --finals"
    )

"""``ladder``: how a ladder stands with its rounds; withdraw a bot, pause, freeze, end."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from referee.cli import app
from referee.cli.lines import plain_text
from referee.cli.options import refuse_idle, refuse_together
from referee.league.definition.problems import counted
from referee.league.ladder import finish, freeze, history_in, withdraw
from referee.league.ladder_history import definition_file, is_ladder, sets_of_round
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
    pause: Annotated[bool, typer.Option("--pause", help="Begin no more rounds until --go-on.")] = False,
    go_on: Annotated[bool, typer.Option("--go-on", help="Let rounds begin again.")] = False,
    freeze_: Annotated[
        bool, typer.Option("--freeze", help="Let no new bot or version enter from now on; this cannot be undone.")
    ] = False,
    finish_: Annotated[bool, typer.Option("--finish", help="End the ladder between two rounds, as it stands.")] = False,
) -> None:
    """Print who plays on a ladder and its rounds with their commitments; or withdraw a bot, pause, freeze or end it."""
    refuse_together("one after the other", *_ACTIONS)
    if not withdraw_:
        refuse_idle("without --withdraw", "--reason")
    if not (withdraw_ or pause or go_on or freeze_ or finish_):
        with Store.read(store) as reader:
            typer.echo("\n".join(_status_lines(reader, _ladder_in(reader))))
        return
    with Store.write(store) as writer:
        league = _ladder_in(writer)
        if league.facts["state"] == "finished":
            raise LeagueError(f"{store} is finished: nothing of it changes any more")
        if withdraw_:
            key = withdraw(writer, league, withdraw_, reason)
            told = f"{key} is withdrawn: {plain_text(reason)}. What it has played stays; its open sets are void when the round goes on."
        elif freeze_:
            since = freeze(writer, league)
            told = (
                f"Frozen after round {since}: nobody enters any more. Play it out with: "
                f"referee run {definition_file(league)} --finals"
            )
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
    typer.echo(told)


def _ladder_in(store: Store) -> League:
    league = read_league(store)
    if not is_ladder(league):
        raise LeagueError(f'{store.path} is no ladder: its definition does not say format = "ladder"')
    return league


def _status_lines(store: Store, league: League) -> Iterator[str]:
    """A ladder in lines: who plays, its last rounds with their commitments, and whether it is paused or frozen."""
    facts, withdrawn = league.facts, store.entrants()
    rounds = facts.get("rounds", [])
    yield f"{plain_text(league.name)}: {counted(len(rounds), 'round')}"
    if not rounds:
        return
    history = history_in(store, league)
    versions = {entrant.key: plain_text(entrant.version) for entrant in league.entrants}
    for key in rounds[-1]["bots"]:
        own = history.entered[key]
        parts = [f"  {plain_text(key)} {versions[key]}", counted(history.orders.sets(key), "closed set")]
        parts += [f"owner {plain_text(own['owner'])}"] if own["owner"] else []
        parts += ["of the panel"] if own["panel"] else []
        parts += [f"withdrawn: {plain_text(str(withdrawn[key]['withdrawn']))}"] if withdrawn[key]["withdrawn"] else []
        yield ", ".join(parts)
    gone = [key for key in history.entered if key not in rounds[-1]["bots"]]
    for key in gone:
        yield f"  {plain_text(key)} {versions[key]}, {counted(history.orders.sets(key), 'closed set')}, retired after round {history.last_round[key]}"
    for round_ in rounds:
        state = "closed" if "result_root" in round_ else "open"
        revealed = f", master {plain_text(round_['master'])}" if state == "closed" else ""
        yield f"Round {round_['number']}, {state}: {counted(sets_of_round(round_), 'set')}, commitment {plain_text(round_['commitment'])}{revealed}"
    if "frozen" in facts:
        yield f"Frozen after round {facts['frozen']}: nobody enters any more."
    if facts.get("paused"):
        yield f"Paused; let it go on with: referee ladder {store.path} --go-on"

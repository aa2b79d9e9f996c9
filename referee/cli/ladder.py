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
from referee.league.ladder_history import definition_file, is_ladder, rounds_of, sets_of_round
from referee.league.league import League, LeagueError, read_league
from referee.league.retention import archive_name, archive_rounds, give_back, rewrite_if_room, rounds_archived
from referee.league.store import Store
from referee.league.store.archived_records import told_rounds

_ACTIONS = ("--withdraw", "--pause", "--go-on", "--freeze", "--finish", "--archive-before")


@app.command(
    epilog="Example: referee ladder leagues/ladder.sqlite\n\nor:      referee ladder leagues/ladder.sqlite --withdraw mybot\n\n"
    "or:      referee ladder pitch.sqlite --archive-before 13 --to old.jsonl.gz"
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
    archive_before: Annotated[
        int | None,
        typer.Option(min=2, metavar="ROUND", help="Move the records of all earlier rounds to a file; results stay."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE.jsonl.gz", help="The file for --archive-before.")
    ] = None,
) -> None:
    """Print who plays on a ladder and its rounds with their commitments; or withdraw a bot, pause, freeze or end it, or archive its old rounds."""
    refuse_together("one after the other", *_ACTIONS)
    if not withdraw_:
        refuse_idle("without --withdraw", "--reason")
    if archive_before is not None:
        typer.echo(_archived(store, archive_before, to))
        return
    refuse_idle("without --archive-before", "--to")
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


def _archived(path: Path, before: int, to: Path | None) -> str:
    """Moves the records of rounds before one to a file; returns what is to be said."""
    with Store.write(path) as store:
        league = _ladder_in(store)
        first = rounds_archived(store) + 1
        target = to or path.with_name(f"{path.stem}-{archive_name(first, before - 1)}")
        about = archive_rounds(store, league, before, target)
        smaller = give_back(store) or rewrite_if_room(store)
    games = about["last_game"] - about["first_game"] + 1
    told = (
        ""
        if smaller
        else "\nThe ladder's file keeps its size, for want of disk space to write it anew; its room is used for games to come."
    )
    return (
        f"{target} has the records of {told_rounds(about)} ({counted(games, 'game')}), SHA-256 {about['digest']}. Results stay in the ladder. "
        f"Verify both: referee verify {path} --archive {target}{told}"
    )


def _ladder_in(store: Store) -> League:
    league = read_league(store)
    if not is_ladder(league):
        raise LeagueError(f'{store.path} is no ladder: its definition does not say format = "ladder"')
    return league


def _status_lines(store: Store, league: League) -> Iterator[str]:
    """A ladder in lines: who plays, its last rounds with their commitments, and whether it is paused or frozen."""
    facts, withdrawn = league.facts, store.entrants()
    rounds = rounds_of(league)
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
    for archive in store.archives():
        yield f"Records of {told_rounds(archive)} lie in {plain_text(archive['file'])}, SHA-256 {plain_text(archive['digest'])}"
    if "frozen" in facts:
        yield f"Frozen after round {facts['frozen']}: nobody enters any more."
    if facts.get("paused"):
        yield f"Paused; let it go on with: referee ladder {store.path} --go-on"

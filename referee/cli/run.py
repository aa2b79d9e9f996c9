"""``run``, ``resume`` and ``play``: everything that plays games."""

import json
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from referee.cli import app
from referee.cli.adhoc_league import adhoc_definition, distinct_names
from referee.cli.dry_run import dry_lines, seconds_of
from referee.cli.exits import DONE, INCOMPLETE, INTERRUPTED
from referee.cli.ladder_rounds import LadderRun, Look, play_rounds
from referee.cli.lines import columns_of, messages
from referee.cli.live_screen import LineObserver, LiveObserver
from referee.cli.new_league import MANY_GAMES, begin_league, fit_to_time, load_league, season_files
from referee.cli.options import (
    LEAGUES,
    OutputFormat,
    OutputOption,
    SandboxMode,
    SandboxOption,
    TrustOption,
    WorkersOption,
    given,
    refuse_idle,
    refuse_together,
)
from referee.cli.standings_text import json_table, notes, play_lines, standings_lines, wrapped
from referee.league.balance import told_of
from referee.league.definition.changes import told_changes
from referee.league.definition.definition import Definition
from referee.league.definition.problems import counted
from referee.league.definition.shipped import sample_bots
from referee.league.definition.toml_file import read_text
from referee.league.definition.toml_values import toml_text
from referee.league.entrants.bot_build import require_built
from referee.league.entrants.roster import Entrant, Roster
from referee.league.ladder import check_same_ladder
from referee.league.ladder_history import definition_file, is_ladder
from referee.league.league import (
    League,
    LeagueError,
    begin,
    check_unchanged,
    free_season,
    plan_of,
    read_league,
    remove_league,
    same_machine,
    store_path,
)
from referee.league.play.ladder_rounds import plan_of_round
from referee.league.play.open_files import room_for
from referee.league.play.runner import Runner, RunOutcome
from referee.league.play.stop_signals import on_stop_signals
from referee.league.schedule.format import ScheduleError
from referee.league.schedule.formats import format_of
from referee.league.schedule.formats import plan as plan_schedule
from referee.league.season import kept_of
from referee.league.standings import figures_so_far, standings_of
from referee.league.store import Store, StoreError
from referee.net.listening import check_address, check_certificate
from referee.report.endings import ending_lines, open_line
from referee.report.headline import judge
from referee.report.report_data import copies_of, names_of
from referee.report.standings_columns import void_lines
from referee.sandbox.isolation import SandboxChoice, choose_sandbox
from referee.statistics.standings import Standings

ClusterOption = Annotated[
    str, typer.Option("--cluster", metavar="ADDRESS", help="Play on a Dask cluster: its scheduler, tcp://host:8786.")
]
ListenOption = Annotated[
    str, typer.Option("--listen", help="HOST:PORT where remote bots dial in, such as 0.0.0.0:7400.")
]
InsecureOption = Annotated[
    bool, typer.Option("--insecure", help="Let remote bots connect without TLS. Tokens and hands travel in the open.")
]
CertOption = Annotated[Path | None, typer.Option("--tls-cert", help="Certificate for remote bots (PEM).")]
KeyOption = Annotated[Path | None, typer.Option("--tls-key", help="Its private key (PEM).")]
UntilOption = Annotated[
    float | None,
    typer.Option(min=0.5, max=0.9999, help="Stop when all ranks are resolved with this certainty, such as 0.95."),
]
NewVersionOption = Annotated[
    bool, typer.Option("--new-version", help="As --new-season, but keep the sets in which no bot has changed.")
]
DryOption = Annotated[
    bool, typer.Option("--dry-run", help="Show tables, games, time and processes; play no more than a short trial.")
]
_MOST_ROUNDS: Final = 10_000
RoundsOption = Annotated[
    int | None,
    typer.Option(
        "--rounds",
        min=1,
        max=_MOST_ROUNDS,
        help="On a ladder: how many rounds to play. Without it one, or with --finals as many as it takes.",
    ),
]
FinalsOption = Annotated[
    bool,
    typer.Option("--finals", help="On a ladder: freeze it, and play rounds until all are told apart; that ends it."),
]
TimeOption = Annotated[
    str | None, typer.Option("--time", help="Play as many sets as fit into this time: 45m, 2h. It replaces sets.")
]


VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", help="Say at the end what playing took: messages, starts, processor time.")
]


@app.command(epilog="Example: referee run tournaments/kitchen.toml --workers 2")
def run(
    definition_file: Annotated[Path, typer.Argument(metavar="TOURNAMENT.toml", help="The tournament's definition.")],
    workers: WorkersOption = 1,
    cluster: ClusterOption = "",
    output: OutputOption = OutputFormat.RICH,
    store: Annotated[Path | None, typer.Option(help="The league's file. Default: leagues/NAME.sqlite.")] = None,
    new_season: Annotated[bool, typer.Option("--new-season", help="Begin again in a new file.")] = False,
    new_version: NewVersionOption = False,
    dry_run: DryOption = False,
    time: TimeOption = None,
    rounds: RoundsOption = None,
    finals: FinalsOption = False,
    until_resolved: UntilOption = None,
    sandbox: SandboxOption = SandboxMode.AUTO,
    trust_bots: TrustOption = False,
    listen: ListenOption = "",
    insecure: InsecureOption = False,
    tls_cert: CertOption = None,
    tls_key: KeyOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Play a league from its definition, or go on with it, and print the standings."""
    refuse_together("--new-version is --new-season with sets kept", "--new-season", "--new-version")
    if dry_run:
        refuse_idle("with --dry-run, which plays and keeps nothing", "--output", "--cluster", *_AT_THE_ENDPOINT)
    console = messages()
    definition, roster = load_league(definition_file, until_resolved, console)
    _refuse_for(definition)
    ladder = format_of(definition.shape()).endless
    if ladder:
        refuse_idle("on a ladder, which is played by rounds", "--time", "--new-version")
    else:
        refuse_idle('without a ladder: format is not "ladder"', "--rounds", "--finals")
    require_built(roster.bots)
    path, earlier = season_files(store, store_path(str(definition_file), LEAGUES), fresh=new_season or new_version)
    choice = cache(partial(shut_in, sandbox, roster, trust_bots, console))
    if not dry_run and not path.exists():  # before a trial of the time begins
        _endpoint(definition, listen, insecure, tls_cert, tls_key)
    if time is not None:
        definition = fit_to_time(definition, roster, seconds_of(time), choice, path, earlier, workers, console)
    room_for(definition, roster.entrants)
    if dry_run:
        for line in dry_lines(definition, roster, choice, earlier, workers):
            typer.echo(line)
        return
    if ladder:

        def look() -> tuple[Definition, Roster]:
            now, bots = load_league(definition_file, None, console)
            require_built(bots.bots)
            room_for(now, bots.entrants)
            shut_in(sandbox, bots, trust_bots, None)
            return now, bots

        played = _run_ladder(
            path,
            (definition, roster),
            look,
            rounds or (_MOST_ROUNDS if finals else 1),
            workers,
            output,
            choice,
            console,
            cluster=cluster,
            finals=finals,
            verbose=verbose,
        )
        end(played)
        return
    if path.exists() and _is_finished(path, definition, roster):
        console.print(f"{path} is finished; to play again: --new-season", markup=False)
        end(_show_finished(path, output))
        return
    endpoint = _endpoint(definition, listen, insecure, tls_cert, tls_key)
    if path.exists():
        console.print(f"Going on with {path}", markup=False)
        end(go_on(path, workers, output, choice(), endpoint, console, cluster=cluster, verbose=verbose))
        return
    begin_league(definition, roster, path, choice(), earlier if new_version else None, console)
    with gone_if_nothing_is_played(path):
        code = go_on(path, workers, output, choice(), endpoint, console, cluster=cluster, verbose=verbose)
    end(code)


def _run_ladder(
    path: Path,
    first: tuple[Definition, Roster],
    look: Look,
    rounds: int,
    workers: int,
    output: OutputFormat,
    choice: Callable[[], SandboxChoice],
    console: Console,
    *,
    cluster: str,
    finals: bool,
    verbose: bool,
) -> int:
    """Plays rounds of a ladder, prints how it stands, and returns the exit code. ``first``: definition and bots as they are now."""
    fresh = not path.exists()
    if fresh:
        begin_league(*first, path, choice(), None, console)
    else:
        with Store.read(path) as reader:
            league = read_league(reader)
        if league.facts["state"] == "finished":
            check_same_ladder(path, league, first[0])
            console.print(f"{path} is finished; for another ladder: --new-season", markup=False)
            return _show_finished(path, output)

    def play_round(store: Store, league: League) -> RunOutcome:
        plan, playing = plan_of_round(store, league, path.with_suffix(".logs"), choice().kind)
        ids = {one.id for one in playing.sets}
        done = sum(row.games for row in store.sets() if row.id in ids)
        with _observer(output, console, len(playing.fixtures), done, store, league) as observer:
            runner = Runner(store, league, plan, observer, workers, cluster)
            with stopping(runner.stop, console):
                return runner.run()

    with gone_if_nothing_is_played(path) if fresh else nullcontext():
        ran = play_rounds(path, rounds, first, look, play_round, console, finals=finals)
    with Store.read(path) as reader:
        league = read_league(reader)
        if ran.table is not None:
            from referee.report.html_report import write_report

            outcome = replace(_outcome_of_finished(reader, ran.table), figures=ran.figures)
            report = str(write_report(reader, league, path.with_suffix(".html"), ran.table))
            _print_end(reader, league, outcome, output, path, report, verbose=verbose)
            code = _code_of_finished(reader, outcome.scored)
        else:
            _print_ladder(reader, league, output, ran, finals=finals, verbose=verbose)
            code = INTERRUPTED if ran.stopped else DONE
    if verbose and output is not OutputFormat.JSON:
        console.print(ran.figures.sentence)
    return code


def _print_ladder(
    store: Store, league: League, output: OutputFormat, ran: LadderRun, *, finals: bool, verbose: bool
) -> None:
    """How a ladder stands that is not finished, after a run of rounds."""
    width, table = columns_of(sys.stdout), standings_of(store, league)
    if output is OutputFormat.JSON:
        typer.echo(json_table(table, ran.figures if verbose else None))
        return
    typer.echo(wrapped(league.name, width))
    typer.echo("\n".join(standings_lines(table, width)))
    typer.echo()
    for line in notes(table):
        typer.echo(wrapped(line, width))
    if ran.stopped:
        typer.echo(wrapped(f"Stopped in a round, with {open_line(store)}.", width))
    typer.echo(f"Go on with: referee run {definition_file(league)}{' --finals' if finals else ''}")
    typer.echo(f"Check everything with: referee verify {store.path}")


@contextmanager
def gone_if_nothing_is_played(path: Path) -> Iterator[None]:
    """Removes a league that was begun a moment ago if it fails before its first game: nothing is left behind."""
    try:
        yield
    except BaseException:
        with suppress(StoreError, OSError):
            with Store.read(path) as store:
                begun_only = not store.count_games()
            if begun_only:
                remove_league(path)
        raise


@app.command(epilog="Example: referee resume leagues/kitchen.sqlite")
def resume(
    store: Annotated[Path, typer.Argument(metavar="LEAGUE.sqlite", help="The league's file.")],
    workers: WorkersOption = 1,
    cluster: ClusterOption = "",
    output: OutputOption = OutputFormat.RICH,
    sandbox: SandboxOption = SandboxMode.AUTO,
    trust_bots: TrustOption = False,
    listen: ListenOption = "",
    insecure: InsecureOption = False,
    tls_cert: CertOption = None,
    tls_key: KeyOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Go on with a league that was stopped or killed: nothing is lost, nothing counts twice."""
    console = messages()
    with Store.read(store) as reader:
        league = read_league(reader)
    _refuse_for(league.definition)
    if is_ladder(league):
        again = f"referee run {definition_file(league)}"
        raise LeagueError(f"{store} is a ladder, and goes on with the bots of its definition: {again}")
    if league.facts["state"] == "finished":
        console.print(f"{store} is finished already", markup=False)
        end(_show_finished(store, output))
        return
    foreign = "" if same_machine(league.facts["host"]) else "This league was begun on another machine"
    choice = shut_in(sandbox, Roster(league.entrants), trust_bots, console, foreign)
    endpoint = _endpoint(league.definition, listen, insecure, tls_cert, tls_key)
    room_for(league.definition, league.entrants)
    end(go_on(store, workers, output, choice, endpoint, console, cluster=cluster, verbose=verbose))


def _is_finished(path: Path, definition: Definition, roster: Roster) -> bool:
    """Whether the league there is finished; raises ``LeagueError`` if it is not of this definition."""
    with Store.read(path) as reader:
        facts = read_league(reader).facts
    if facts["digest"] != definition.digest():
        differ = told_changes(facts["definition"], definition.canonical())
        raise LeagueError(
            f"{path} was begun with another definition: {differ}. Put that back to go on; or begin anew with --new-season, "
            f"which plays every set again. {_what_is_kept(path, definition, roster)}"
        )
    return bool(facts["state"] == "finished")


def end(code: int) -> None:
    """Ends the command with an exit code, unless all is well."""
    if code:
        raise typer.Exit(code)


def _show_finished(path: Path, output: OutputFormat) -> int:
    """Prints how a finished league ended, as its last run did; returns the exit code of that."""
    with Store.read(path) as store:
        league = read_league(store)
        outcome = _outcome_of_finished(store, standings_of(store, league))
        report = path.with_suffix(".html")
        told = str(report) if report.exists() else f"none yet; write it with referee report {path}"
        _print_end(store, league, outcome, output, path, told)
        return _code_of_finished(store, outcome.scored)


def _outcome_of_finished(store: Store, table: Standings) -> RunOutcome:
    counts = Counter(row.state for row in store.sets())
    return RunOutcome(True, counts["SCORED"], counts["VOID"], 0, table)


def _code_of_finished(store: Store, scored: int) -> int:
    """The exit code of a finished league: not all is well where nothing was scored or a bot was withdrawn."""
    gone = any(about["withdrawn"] for about in store.entrants().values())
    return INCOMPLETE if gone or not scored else DONE


def _what_is_kept(path: Path, definition: Definition, roster: Roster) -> str:
    """Whether ``--new-version`` is of use with a changed definition, and how much."""
    try:
        kept = kept_of(path, definition, roster)
    except (LeagueError, ScheduleError) as error:
        return f"--new-version keeps nothing: {error}"
    total = len(plan_schedule(definition.shape(), roster.entrants).sets)
    return f"--new-version keeps {len(kept.sets)} of {counted(total, 'set')}."


def is_sample(entrant: Entrant) -> bool:
    """Whether an entrant is one of the sample bots that came with this referee."""
    return entrant.folder is not None and entrant.folder.resolve() in {
        path.resolve() for path in sample_bots().values()
    }


def shut_in(
    wanted: SandboxMode, roster: Roster, trusted: bool, console: Console | None, foreign: str = ""
) -> SandboxChoice:
    """The sandbox to use, with a line on ``console`` if there is none; raises ``LeagueError`` where strangers' bots would run without.

    Those are submitted bots; and all but the sample bots where ``foreign`` says in a sentence why.
    """
    choice = choose_sandbox(wanted.value)
    local = any(not entrant.remote for entrant in roster.entrants)
    if choice.kind == "none" and local:
        if any(entrant.submitted for entrant in roster.bots) and not trusted:
            raise LeagueError(f"{choice.line} Submitted bots are not run like that; add --trust-bots if you trust them")
        strangers = [one.key for one in roster.bots if not one.remote and not is_sample(one)] if foreign else []
        if strangers and not trusted:
            names = ", ".join(strangers[:5]) + (" and others" if len(strangers) > 5 else "")
            raise LeagueError(
                f"{choice.line} {foreign}: {names} are not run like that; add --trust-bots if you trust them"
            )
        if console is not None:
            console.print(choice.line, style="yellow", markup=False)
    return choice


_AT_THE_ENDPOINT: Final = ("--listen", "--insecure", "--tls-cert", "--tls-key")


def _refuse_for(definition: Definition) -> None:
    """Refuses options that have no effect on a league of these bots."""
    if any(bot.remote for bot in definition.bots):
        refuse_idle("with remote bots, which dial in to this one process", "--cluster", "--workers")
    else:
        refuse_idle('without remote bots: no [[bots]] entry says "remote = true"', *_AT_THE_ENDPOINT)
    if given("--tls-cert"):
        refuse_idle("beside --tls-cert, which encrypts", "--insecure")
    if given("--cluster"):
        refuse_idle("with --cluster, whose workers play", "--workers")


def _endpoint(
    definition: Definition, listen: str, insecure: bool, cert: Path | None, key: Path | None
) -> tuple[str, tuple[str, str] | None]:
    """The address for remote bots and the files of its certificate; ``LeagueError`` or ``ListenError`` with the remedy."""
    if not any(bot.remote for bot in definition.bots):
        return "", None
    if not listen:
        raise LeagueError("this tournament has remote bots: say where they dial in, such as --listen 127.0.0.1:7400")
    if (cert is None) != (key is None):
        raise LeagueError("--tls-cert and --tls-key go together")
    host, _ = check_address(listen)
    if cert is None and not insecure and host not in ("127.0.0.1", "localhost", "::1"):
        raise LeagueError(f"{host} is not this machine alone: give --tls-cert and --tls-key, or --insecure")
    tls = (str(cert), str(key)) if cert and key else None
    if tls is not None:
        check_certificate(*tls)
    return f"{'tls' if tls else 'tcp'}:{listen}", tls


def go_on(
    path: Path,
    workers: int,
    output: OutputFormat,
    choice: SandboxChoice,
    endpoint: tuple[str, tuple[str, str] | None],
    console: Console,
    terminal: bool = False,
    cluster: str = "",
    brief: bool = False,
    verbose: bool = False,
) -> int:
    """Plays what is left of the league at that path, prints how it stands (``brief``: in three lines), and returns the exit code.

    ``verbose``: also what playing took; in JSON as ``run``, else as a line of the error stream.
    """
    with Store.write(path) as store:
        league = read_league(store)
        check_unchanged(league)
        plan = replace(plan_of(league, path.with_suffix(".logs"), choice.kind, *endpoint), terminal=terminal)
        console.print(f"Commitment to all deals: {league.commitment}", markup=False)
        if choice.kind == "none" and league.seeded and any(not entrant.remote for entrant in league.entrants):
            line = "The seed of this league stands in files that bots can read: whoever looks there knows every card."
            console.print(line, style="yellow", markup=False)
        total, done = store.count_fixtures(), store.count_games()
        if total - done >= MANY_GAMES and not (console.is_terminal and output is OutputFormat.RICH):
            told = f"{total:,} games are to be played; how they stand meanwhile: referee standings {path}"
            console.print(told, markup=False)
        with _observer(OutputFormat.PLAIN if terminal else output, console, total, done, store, league) as observer:
            runner = Runner(store, league, plan, observer, workers, cluster)
            with stopping(runner.stop, console):
                outcome = runner.run()
        if outcome.finished:
            from referee.report.html_report import write_report

            report = str(write_report(store, league, path.with_suffix(".html"), outcome.table))
        else:
            report = f"none yet; write one with: referee report {path}"
            outcome = replace(outcome, table=_table_of_stopped(store, league, output, console))
        _print_end(store, league, outcome, output, path, report, brief=brief, verbose=verbose)
        if verbose and (output is not OutputFormat.JSON or outcome.table is None):
            console.print(outcome.figures.sentence)
        shown = outcome.table is not None and output is not OutputFormat.JSON and not brief
        if shown and (early := told_of(store, league, runner.schedule)):
            typer.echo(wrapped(early, columns_of(sys.stdout)))
        return _code_of_finished(store, outcome.scored) if outcome.finished else INTERRUPTED


_QUICK_RESAMPLES: Final = 20
"""Of the bootstrap, where a table is shown in passing."""
_QUICK_GAMES: Final = 500
"""The standings of more games take longer than one waits without a word."""
_STOPPED_GAMES: Final = 2_000
_STOPPED_BOTS: Final = 40
"""Of more games or bots than these, a stopped league prints no standings but the command that does: nobody wants to wait."""


def _table_of_stopped(store: Store, league: League, output: OutputFormat, console: Console) -> Standings | None:
    """How a stopped league stands; None where that takes longer than its user wants to wait: much to work out, or Ctrl-C.

    With JSON a program waits, which asked for it.
    """
    games = store.count_games()
    if output is not OutputFormat.JSON and (games > _STOPPED_GAMES or len(league.entrants) > _STOPPED_BOTS):
        return None
    if games > _QUICK_GAMES:
        console.print("Working out the standings; Ctrl-C once more leaves them out.")
    try:
        return standings_of(store, league, _QUICK_RESAMPLES)
    except KeyboardInterrupt:
        return None


def live_lines(store: Store, league: League, width: int, rows: int) -> list[str]:
    """The standings while a league is played, in lines of so many cells and so many of them at most.

    Sets count when they are whole, which those that are played together become together: until the first are, the games so far
    are shown, without ranks.
    """
    sets = store.sets()
    open_ = [row for row in sets if row.state == "OPEN" and row.games]
    whole = any(row.state == "SCORED" for row in sets)
    make = standings_of if whole or not open_ else figures_so_far
    lines = standings_lines(make(store, league, _QUICK_RESAMPLES), width, max(rows - bool(open_), 1))
    if open_:
        games = sum(row.games for row in open_)
        told = "will count when the sets are whole" if whole else "ranks and intervals come with whole sets"
        lines.append(f"{counted(games, 'game')} of {counted(len(open_), 'set')} under way: {told}"[:width])
    return lines


@contextmanager
def _observer(
    output: OutputFormat, console: Console, total: int, done: int, store: Store, league: League
) -> Iterator[LineObserver]:
    """The live screen where there is a terminal, else lines. ``done`` of ``total`` games have been played."""
    if output is OutputFormat.RICH and console.is_terminal:
        with LiveObserver(console, total, done, partial(live_lines, store, league), league.name) as screen:
            yield screen
    else:
        yield LineObserver(console)


@contextmanager
def stopping(stop: Callable[[], None], console: Console) -> Iterator[None]:
    """The first Ctrl-C stops cleanly, the second at once. The end of the terminal counts as one, unless it is ignored."""
    asked = 0

    def on_signal() -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            with suppress(OSError, RuntimeError):  # the terminal may be gone, or a line is being written at this moment
                console.print("Stopping; games under way are played again on resume. Ctrl-C once more stops at once.")
        stop()

    with on_stop_signals(on_signal):
        yield


def _print_end(
    store: Store,
    league: League,
    outcome: RunOutcome,
    output: OutputFormat,
    path: Path,
    report: str,
    *,
    brief: bool = False,
    verbose: bool = False,
) -> None:
    """The standings, and what can be done with the league now; an outcome without a table has only the latter."""
    table, width = outcome.table, columns_of(sys.stdout)
    # A command stands in a line that is not broken: it can be copied.
    stopped = wrapped(f"Stopped with {open_line(store)}.", width) + f"\nGo on with: referee resume {path}"
    if table is None:
        typer.echo(f"{stopped}\nHow it stands: referee standings {path}", err=output is OutputFormat.JSON)
        return
    if output is OutputFormat.JSON:
        typer.echo(json_table(table, outcome.figures if verbose else None))
        return
    if brief:
        names, copies = names_of([row.entrant for row in table.rows]), copies_of(league)
        for line in play_lines(table, judge(table, names, copies, finished=outcome.finished)):
            typer.echo(wrapped(line, width))
        if table.void:
            typer.echo("\n".join(wrapped(line, width) for line in void_lines(table)))
        if not outcome.finished:
            typer.echo(stopped)
        where = "" if path.parent == LEAGUES else f" --league {path}"
        replay = f"Replay: referee replay 1{where}   " if store.count_games() else ""
        kept = f"Record and report: {path}, {Path(report).suffix}" if outcome.finished else f"Record: {path}"
        typer.echo(f"{replay}{kept}")
        return
    typer.echo(wrapped(league.name, width))
    typer.echo("\n".join(standings_lines(table, width)))
    typer.echo()
    for line in (*notes(table), *ending_lines(store, league)):
        typer.echo(wrapped(line, width))
    facts = store.league()
    if outcome.finished:
        typer.echo(f"Result root: {facts['result_root']}\nRecord root: {facts['record_root']}")
        typer.echo(
            "The seed was public: reproducible, not secret." if league.seeded else f"Master: {league.master.hex()}"
        )
        typer.echo(f"Check everything with: referee verify {path}")
    else:
        typer.echo(stopped)
    typer.echo(f"Report: {report}")


@app.command(
    epilog="Example: referee play mybot.py careful random --games 50\n\nor:      referee play --script deal.toml"
)
def play(
    bots: Annotated[
        list[str] | None, typer.Argument(metavar="[BOT...]", help="A .py file, a folder with bot.toml, or a sample.")
    ] = None,
    games: Annotated[int, typer.Option("--games", "-n", min=1, max=100_000, help="About how many games.")] = 12,
    variant: Annotated[str, typer.Option(help="Which game.")] = "auction-pitch",
    seed: Annotated[str | None, typer.Option(help="Makes the deals reproducible.")] = None,
    output: OutputOption = OutputFormat.RICH,
    no_clock: Annotated[
        bool, typer.Option("--no-clock", help="No time limits, and the bots share this terminal: for a debugger.")
    ] = False,
    keep: Annotated[Path | None, typer.Option(help="Keep the games in this file.")] = None,
    sandbox: SandboxOption = SandboxMode.NONE,
    script: Annotated[
        Path | None, typer.Option(help="Instead of bots: every seat says what stands in this TOML file.")
    ] = None,
) -> None:
    """Let bots play some quick games against one another, all at one table, and print who did how well.

    With --script, deals are stacked and played as the file says, and every wrong word is ruled upon.
    """
    if script is not None:
        if bots:
            raise typer.BadParameter("name either bots or a --script: in a script every seat is scripted")
        idle = ("--games", "--variant", "--seed", "--no-clock", "--keep", "--sandbox")
        refuse_idle("with --script, which says what is played", *idle)
        _play_script(script, output)
        return
    if not bots:
        raise typer.BadParameter("name at least one bot, for example: referee play careful random")
    text = _quick_definition(bots, games, variant, seed, no_clock)
    definition, roster = adhoc_definition(text, list(dict.fromkeys(bots)), _PLAY_WORDS)
    require_built(roster.bots)
    console = messages()
    choice = choose_sandbox(sandbox.value)
    if choice.line:
        console.print(choice.line, style="dim", markup=False)
    if len(bots) == 1:
        told = f"{roster.entrants[0].name} plays against itself; for a comparison add another bot: referee play {shlex.quote(bots[0])} careful"
        console.print(told, markup=False)
    path = keep or free_season(LEAGUES / "play.sqlite")
    begin(definition, roster, path, choice.kind, {})
    end(go_on(path, 1, output, choice, ("", None), console, terminal=no_clock, brief=True))


_LARGEST_SCRIPT: Final = 4 << 20
"""Bytes; a whole game has some thousand words."""


def _play_script(file: Path, output: OutputFormat) -> None:
    from referee.check.script import play_script, read_script

    played = play_script(read_script(read_text(file, _LARGEST_SCRIPT, "check the path"), str(file)))
    text = (
        json.dumps(played.to_json(), indent=2)
        if output is OutputFormat.JSON
        else played.text(symbols=output is OutputFormat.RICH)
    )
    typer.echo(text)


_PLAY_WORDS: Final = {
    "seats": ("the number of bots", "name {} bots"),
    "variant": ("--variant", "give --variant {}"),
    "seed": ("--seed", "give --seed {}"),
    "sets": ("--games", "give another --games"),
}
"""What the fields of its definition are on the command line of ``play``."""


def _quick_definition(bots: list[str], games: int, variant: str, seed: str | None, no_clock: bool) -> str:
    """The definition of a quick league, as TOML."""
    seats = max(len(bots), 2)
    counted = {bot: bots.count(bot) for bot in bots}
    lines = [
        '[tournament]\nname = "Quick games"',
        f"variant = {toml_text(variant)}",
        f"seats = {seats if len(bots) > 1 else 2}",
        f"[schedule]\nsets = {max(1, -(-games // seats))}",
        f"seed = {toml_text(seed)}" if seed is not None else "",
        '[policy]\nprofile = "dev"',
        "[limits]\nmove_ms = 3600000\ngame_s = 86400\nstart_s = 3600" if no_clock else "",
    ]
    names = distinct_names(bots)
    for bot, count in counted.items():
        name = f"\nname = {toml_text(names[bot])}" if bot in names else ""
        copies = max(count, 2 if len(bots) == 1 else 1)
        lines.append(f"[[bots]]\npath = {toml_text(bot)}{name}" + (f"\ncopies = {copies}" if copies > 1 else ""))
    return "\n".join(lines) + "\n"

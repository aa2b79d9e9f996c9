"""``connect``: a bot that runs here plays on a host's board of remote bots."""

import sys
from pathlib import Path

import typer

from referee import __version__
from referee.cli import app
from referee.cli.exits import DONE, FAILED, INTERRUPTED, NO_VERDICT, USAGE
from referee.cli.lines import plain_text
from referee.cli.options import OutputFormat
from referee.cli.push import (
    FolderArgument,
    InsecureOption,
    NameOption,
    Screen,
    TokenOption,
    ToOption,
    progress_line,
    read_token,
    verdict_lines,
)
from referee.host.client import FollowedJob, HeardOfRemote, HostAddress, HostClient, HostRequestError
from referee.host.connecting import BotRuns, Connected, HostLink
from referee.host.rows import JobState, VersionState
from referee.league.entrants.bot_build import require_built
from referee.league.entrants.bot_source import BotSource, find_bot
from referee.league.play.stop_signals import on_stop_signals


@app.command(
    epilog="Example: referee connect bots/mybot --to https://pitch.example.org\n\n"
    "or:      referee connect mybot.py --to https://pitch.example.org --name giant"
)
def connect(
    folder: FolderArgument,
    to: ToOption = "",
    name: NameOption = None,
    token_file: TokenOption = None,
    insecure: InsecureOption = False,
) -> None:
    """Let a bot that runs here play on a host's board of remote bots, until Ctrl-C. Nothing of it is sent.

    It is checked first, as what is handed in, and then called for each round: only while it is called it runs, with your rights and your
    environment, and without the host's token. Its version is the one that bot.toml says: give it another one when you change it.
    Ctrl-C lets it play the round to its end; once more ends it at once, and costs it the games under way.

    The token is in the variable REFEREE_TOKEN or in a file (--token-file).

    Exit codes: 1 refused, or withdrawn; 2 wrong usage, or something that the host does not take (address, token, name); 5 no verdict:
    the host failed; 130 stopped.
    """
    if not to:
        raise typer.BadParameter("say which host, as in --to https://pitch.example.org", param_hint="--to")
    source = find_bot(folder, Path.cwd(), name=name)
    require_built([source])
    screen = Screen(OutputFormat.PLAIN if not sys.stdout.isatty() else OutputFormat.RICH)
    try:
        code = _connect(source, to, token_file, screen, insecure=insecure)
    except HostRequestError as error:
        screen.trouble(str(error))
        code = USAGE if error.ours else NO_VERDICT
    except KeyboardInterrupt:
        screen.trouble("interrupted")
        code = INTERRUPTED
    raise typer.Exit(code)


def _connect(source: BotSource, to: str, token_file: Path | None, screen: Screen, *, insecure: bool) -> int:
    address = HostAddress.parse(to)
    token = read_token(token_file, address.url, screen)
    runs = BotRuns(source.command(), screen.labelled)
    with (
        HostClient(address, token, insecure=insecure) as waiting,
        HostClient(address, token, insecure=insecure) as client,
    ):
        ladder = client.ladder()
        if not ladder.remote:
            raise HostRequestError(
                f"{address.url} has no board of remote bots; hand your bot in with: referee push {plain_text(source.name)}",
                ours=True,
            )
        if ladder.referee != __version__:
            here = f"this is {__version__}: where the two differ, the host decides"
            screen.labelled("note", f"The host runs referee {plain_text(ladder.referee, 40)}, {here}.")
        place = f"{plain_text(ladder.name, 80)}, {address.url}"
        screen.labelled("connects", f"{source.name} {source.version} to the remote bots of {place}")
        news = _News(screen)
        connected = Connected(
            HostLink(waiting, source.name, source.version),
            runs,
            lambda word, text: screen.labelled(word, plain_text(text, 600)),
            goodbye=lambda said: client.remote(source.name, said),
            is_end=news.is_end,
        )
        with on_stop_signals(connected.stop):
            last = connected.run()
    if last is None:
        screen.labelled("stopped", f"{source.name} is connected no more")
        return INTERRUPTED
    return news.code


class _News:
    """What the host says of a version, in lines. ``code``: the exit code, where that is the end."""

    def __init__(self, screen: Screen) -> None:
        self._screen, self._shown, self._state = screen, "", VersionState.REFUSED
        self.code = DONE

    def is_end(self, heard: HeardOfRemote) -> bool:
        """Shows what is new; whether the bot plays no more."""
        job = heard.job
        if job is not None and not job.over:
            line = progress_line(job)
            if line and line != self._shown:
                self._screen.line(line)
            self._shown = line or self._shown
        elif job is not None and job.state is JobState.FAILED and heard.state is VersionState.WAITING:
            self._verdict(job)
            self.code = NO_VERDICT
            return True
        if heard.state in (VersionState.REFUSED, VersionState.WITHDRAWN):
            if heard.state is VersionState.REFUSED and job is not None:
                self._verdict(job)
            if heard.state is VersionState.WITHDRAWN or job is None or heard.reason != job.sentence:
                self._screen.line(f"{heard.state:9} {plain_text(heard.reason, 600)}", "bold red")
            self.code = FAILED
            return True
        if heard.state is not self._state and heard.state is VersionState.ACCEPTED:
            self._screen.line("accepted  It plays whenever it is connected; Ctrl-C ends it.", "bold green")
        elif heard.state is not self._state and heard.state is VersionState.APPROVAL:
            self._screen.line(
                "approval  It keeps the rules, and plays as soon as the organiser lets it in.", "bold green"
            )
        self._state = heard.state
        return False

    def _verdict(self, job: FollowedJob) -> None:
        for text, style in verdict_lines(job):
            self._screen.line(text, style)

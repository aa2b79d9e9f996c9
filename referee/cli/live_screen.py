"""What is seen while games are played: a progress bar with rate and time left, rulings, and live standings."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Self

from rich.console import Console, Group
from rich.constrain import Constrain
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from referee.cli.lines import plain_text
from referee.league.plan import GamePlan
from referee.league.play.event_sink import LeagueObserver
from referee.report.sanitize import sanitize

_SHOWN_RULINGS = 3
_REFRESH_SECONDS = 2.0
_REST = 30  # the table may take a thirtieth of the time


class LineObserver(LeagueObserver):
    """Says nothing but rulings, faults and withdrawals, a line each on the error stream: for pipes and logs."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._told: dict[tuple[str, str], int] = {}

    def ruling(self, game: GamePlan, entrant: str, sentence: str) -> None:
        """The first rulings of a kind against an entrant; the rest are counted in the standings."""
        key = (entrant, sentence.partition(":")[0])
        count = self._told[key] = self._told.get(key, 0) + 1
        if count <= _SHOWN_RULINGS:
            more = "" if count < _SHOWN_RULINGS else "  (more of the same are counted, not shown)"
            self._line(f"ruling   {sanitize(entrant, 40)}: {sentence}{more}", "yellow")

    def fault(self, entrant: str, fault: str, sentence: str, log: str) -> None:
        """A fault outside any single decision, with the bot's log."""
        self._line(f"fault    {sanitize(entrant, 40)}: {fault}: {sentence}  Its log: {log}", "red")

    def withdrawn(self, entrant: str, reason: str) -> None:
        """An entrant is out."""
        self._line(f"withdrawn {sanitize(entrant, 40)}: {reason}", "bold red")

    def no_contest(self, game: GamePlan, reason: str) -> None:
        """A game that is played again."""
        self._line(f"no contest {game.fixture_id}: {reason}; it is played again", "magenta")

    def remote(self, entrant: str, address: str, token: str) -> None:
        """Where a remote bot dials in, and with what; in full, whatever its length."""
        self._console.print(
            f"remote bot {plain_text(entrant)}: REFEREE_ADDRESS={address} REFEREE_TOKEN={token}",
            markup=False,
            emoji=False,
            soft_wrap=True,
        )

    def wrong_tokens(self, sentence: str) -> None:
        """Streams with a token that no bot has: how many, and from where."""
        self._line(f"refused  {sentence}", "yellow")

    def _line(self, text: str, style: str) -> None:
        self._console.print(Text(plain_text(text, 600), style=style))


class LiveObserver(LineObserver):
    """The same, with a live progress bar and standings. A context manager."""

    def __init__(
        self, console: Console, total: int, done: int, table: Callable[[int, int], list[str]], title: str = ""
    ) -> None:
        """``table`` makes the standings as of now, in lines of so many columns and so many of them at the most.

        It is called every few seconds at the most, and when the terminal changes its size.
        """
        super().__init__(console)
        self._progress = Progress(
            TextColumn("games"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(elapsed_when_finished=False),
            console=console,
            expand=True,
        )
        self._task: TaskID = self._progress.add_task("games", total=total, completed=done, rate="")
        self._table, self._title = table, sanitize(title, 200)
        self._shown = self._lines()
        self._started, self._games, self._last = time.monotonic(), 0, time.monotonic()
        self._pause = _REFRESH_SECONDS
        self._live = Live(self._picture(), console=console, refresh_per_second=4, transient=True)

    def _lines(self) -> Group:
        width, height = self._console.size
        head = [self._title] if self._title else []
        lines = self._table(width, max(height - len(head) - 3, 1))
        return Group(*(Text(line, no_wrap=True, overflow="crop") for line in (*head, *lines)))

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def scheduled(self, games: int) -> None:
        """The bar has become longer."""
        self._progress.update(self._task, total=games)

    def game(self, game: GamePlan, summary: Mapping[str, Any]) -> None:
        """Moves the bar; now and then, the standings too."""
        self._games += 1
        now = time.monotonic()
        rate = 60 * self._games / max(now - self._started, 0.001)
        self._progress.update(self._task, advance=1, rate=f"{rate:,.0f} games/min")
        if now - self._last > self._pause:
            self._shown = self._lines()
            self._last = time.monotonic()
            self._pause = max(_REFRESH_SECONDS, _REST * (self._last - now))
            self._live.update(self._picture())

    def _picture(self) -> Group:
        # The terminal writes ^C behind what is there: without room for it the line would go on in the next one.
        return Group(self._shown, Constrain(self._progress, self._console.width - 4))

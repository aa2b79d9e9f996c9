"""A table set up and played: a league of one game, whose person dials in as a remote bot does.

Practice is played in a folder that is removed; everything else is kept as ``referee play`` keeps it.
"""

import contextlib
import logging
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from referee.bot import Bot
from referee.bot._dial import open_stream, read_address
from referee.bot._session import BotClient, BotError
from referee.bot._stream import StreamError
from referee.league.definition.definition import Definition
from referee.league.entrants.roster import Roster
from referee.league.league import KnownMaster, League, begin, check_unchanged, plan_of, read_league
from referee.league.plan import GamePlan
from referee.league.play.event_sink import LeagueObserver
from referee.league.play.runner import Runner
from referee.league.store import GameSummary, Store
from referee.protocol import wire
from referee.sandbox.isolation import Policy
from referee.sandbox.temporary_folder import discard_folder, new_folder
from referee.table.state import GameOver
from referee.table.table import LeftTableError, Table
from referee.umpire.record import Record

_LOG: Final = logging.getLogger(__name__)
_PATIENCE_S: Final = 100 * 365 * 86_400.0
"""How long a person may think: the table itself keeps the clock, if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePlan:
    """What is played. ``you``: the person's seat, counted from 0, of the definition's bots in their order; ``path``: where the game is kept.

    ``person`` is what the person is called at the table, where any letters will do; absent, as in the record.
    ``seconds`` for a decision, none for ever. ``known``: the master of packs that are known beforehand, as those of a day.
    """

    definition: Definition
    roster: Roster
    you: int
    path: Path
    sandbox: Policy = "none"
    practice: bool = False
    seconds: float | None = None
    known: KnownMaster | None = None
    person: str = ""


class TableGame(LeagueObserver):
    """The one game of a table. ``table`` is what the person sees of it; ``failure``: what has kept it from coming to its end."""

    def __init__(self, plan: TablePlan) -> None:
        """Nothing is written before it is begun."""
        entrants = plan.roster.entrants
        self._plan = plan
        self.table = Table(
            plan.definition.rule_set(),
            [plan.person or one.name if seat == plan.you else one.name for seat, one in enumerate(entrants)],
            plan.you,
            practice=plan.practice,
            seconds=plan.seconds,
        )
        self._runner: Runner | None = None
        self._is_stopped = False
        self._threads: list[threading.Thread] = []
        self._reasons: list[str] = []
        self._sockets = Path()
        self.path = plan.path
        self.failure: Exception | None = None

    # Its life.

    @contextlib.contextmanager
    def begun(self) -> Iterator["TableGame"]:
        """Begins the game, which the body plays; afterwards all that was started has ended.

        Raises what keeps it from being begun: ``StoreError``, ``LeagueError``, ``ScheduleError``.
        """
        with contextlib.ExitStack() as premises:
            if self._plan.practice:
                folder = premises.enter_context(tempfile.TemporaryDirectory(prefix="referee-practice-"))
                self.path = Path(folder) / "practice.sqlite"
            self._sockets = new_folder()
            premises.callback(discard_folder, self._sockets)
            premises.callback(self.table.close)
            plan = self._plan
            begin(plan.definition, plan.roster, self.path, plan.sandbox, {}, plan.known)
            yield self

    def play(self) -> None:
        """Plays it, in the main thread: bots end with the thread that has started them. Returns when it is over, or soon after ``stop``.

        Whatever fails is told at the table, where the person is.
        """
        try:
            with Store.write(self.path) as store:
                league = read_league(store)
                check_unchanged(league)
                listen = f"unix:{self._sockets / 'person.sock'}"
                runner = Runner(store, league, self._league_plan(league, listen), self, watch=self.table.moved)
                self._runner = runner
                if self._is_stopped:
                    return
                outcome = runner.run()
            if not outcome.scored and not self._is_stopped:
                self._end_without_result("; ".join(self._reasons) or "it came to no result")
        except Exception as error:  # noqa: BLE001  # told at the table, and raised by the command
            self.failure = error
            _LOG.debug("the game of the table failed", exc_info=True)
            self._end_without_result(str(error) or type(error).__name__)
        finally:
            self.table.close()  # however it ended: the seat would look for its referee for ever
            for thread in self._threads:
                thread.join()

    def stop(self, *, at_once: bool = False) -> None:
        """Ends what is under way; may be called from any thread and from a signal handler, also before it is played.

        Bots are sent off and waited for, unless it is called again with ``at_once``: then ``play`` raises ``KeyboardInterrupt``.
        """
        if self._is_stopped and not at_once:
            return
        self._is_stopped = True
        runner = self._runner
        if runner is not None:
            runner.stop()

    def _league_plan(self, league: League, listen: str) -> Any:
        plan = plan_of(league, self.path.with_suffix(".logs"), self._plan.sandbox, listen)
        key = self._plan.roster.entrants[self._plan.you].key
        person = replace(plan.bots[key], patience_seconds=_PATIENCE_S)
        return replace(plan, bots={**plan.bots, key: person})

    def _end_without_result(self, why: str) -> None:
        self.table.end(GameOver(f"The game cannot go on: {why.rstrip('.')}.", "", ""))

    # What the league tells.

    def game(self, game: GamePlan, summary: GameSummary) -> None:
        """It is over, and stored."""
        del game, summary
        result = self.table.result
        sentence = "The game is over." if result is None else self.table.result_sentence(result)
        if self._plan.practice:
            self.table.end(GameOver(sentence, "", ""))
        else:
            self.table.end(GameOver(sentence, "/replay", f"referee replay 1 --league {self.path}"))

    def no_contest(self, game: GamePlan, reason: str) -> None:
        """It is played again."""
        del game
        self._reasons.append(reason)
        self.table.tell(f"This game does not count: {reason.rstrip('.')}. It begins anew, with other cards.")

    def fault(self, entrant: str, fault: str, sentence: str, log: str) -> None:
        """A bot has crashed, or hangs."""
        del fault
        told = f" Its output is in {log}." if log != "-" else ""
        self.table.tell(f"{entrant} has failed: {sentence.rstrip('.')}.{told}")

    def withdrawn(self, entrant: str, reason: str) -> None:
        """A bot is given up."""
        self._reasons.append(f"{entrant} cannot play: {reason}")
        self.table.tell(f"{entrant} cannot play: {reason.rstrip('.')}.")

    def remote(self, entrant: str, address: str, token: str) -> None:
        """The person's seat may dial in."""
        del entrant
        thread = threading.Thread(target=self._sit, args=(address, token), name="table-person", daemon=True)
        self._threads.append(thread)
        thread.start()

    # The person's seat.

    def _sit(self, address: str, token: str) -> None:
        """Plays the person's seat over the wire, as any bot does."""
        client = BotClient(_PersonBot(), self.table.choose)
        metadata = (("authorization", f"Bearer {token}"),)
        while not self.table.is_closed:
            try:
                with open_stream(read_address(address), None, metadata) as stream:
                    client.play(stream)
            except BotError as error:
                if not isinstance(error.__cause__, LeftTableError):
                    _LOG.exception("the seat of the person failed")
            except StreamError:
                self.table.wait_until_closed(1.0)
                continue
            return

    # What is kept.

    def record(self) -> Record:
        """The record of the game; raises ``StoreError`` if it is not stored."""
        with Store.read(self.path) as store:
            return store.record(1)


class _PersonBot(Bot):
    """How the person's seat joins: rulings are said at the table, so it prints none."""

    version = "1"

    def ruling(self, ruling: wire.Ruling) -> None:
        """Nothing: the table has it from the umpire."""

"""Has a bot answer turns that were recorded: its real process, started by the league's own supervisor, at a real endpoint.

Nothing is judged; the moves are handed back as they came.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from referee.check.bot_under_test import BotObserver, LocalCheckSupervisor
from referee.league.entrants.bot_source import BotSource
from referee.net.connection import BotConnection, JoinTerms
from referee.net.games_in_play import GamesInPlay
from referee.net.open_turns import Timeout, TurnAnswer, TurnSession
from referee.net.server import GameServer, monotonic_us
from referee.net.supervisor import Loss
from referee.protocol import wire
from referee.rules import variant_names
from referee.sandbox.exit_status import ExitStatus
from referee.sandbox.launch import BotProcess, Policy, launch

PATIENCE_S: Final = 600.0
"""How long a bot may be silent."""


@dataclass(slots=True)
class Outcome:
    """What came of it: moves by turn id, how many messages brought them, what went wrong, how the process ended.

    ``seconds`` is the time from the first turn to the last move.
    """

    moves: dict[int, wire.Move] = field(default_factory=dict)
    messages: int = 0
    failure: str = ""
    exit: ExitStatus | None = None
    seconds: float = 0.0
    words: str = ""


class Recital(TurnSession, BotObserver):
    """A session that sends recorded turns in batches, and keeps what comes back."""

    def __init__(self, turns: Sequence[wire.Turn], batch: int) -> None:
        super().__init__(int(PATIENCE_S * 1e6), batch)
        self._turns, self._sent = turns, 0
        self.unanswered: set[int] = set()
        self.outcome = Outcome()
        self.over = asyncio.Event()
        self.heard_of = asyncio.Event()

    def flush(self, now_us: int) -> wire.PlayResponse | None:
        """The next batch, once the last one is answered."""
        if self.unanswered or self._sent == len(self._turns):
            return None
        if not self._sent:
            self.outcome.seconds = time.monotonic()
        batch = self._turns[self._sent : self._sent + self.max_in_flight]
        self._sent += len(batch)
        self.unanswered = {turn.turn_id for turn in batch}
        return wire.PlayResponse(turns=batch)

    def heard(self, moves: Sequence[wire.Move], now_us: int) -> list[TurnAnswer]:
        """Keeps the moves."""
        self.outcome.messages += 1
        self.heard_of.set()
        for move in moves:
            if move.turn_id not in self.unanswered:
                self.fail(f"It answered turn {move.turn_id}, which was not open.")
            self.unanswered.discard(move.turn_id)
            self.outcome.moves[move.turn_id] = move
        if not self.unanswered and self._sent == len(self._turns) and not self.over.is_set():
            self.outcome.seconds = time.monotonic() - self.outcome.seconds
            self.over.set()
        return []

    def silent(self, now_us: int) -> Timeout | None:
        """The clock is kept by ``recite``."""
        return None

    def lost(self, loss: Loss) -> None:
        """The bot was lost before it had answered everything."""
        self.fail(f"{loss.fault.name}: {loss.sentence} {loss.words}".strip())

    def fail(self, why: str) -> None:
        """Ends the recital."""
        self.outcome.failure = self.outcome.failure or why
        self.over.set()


async def recite(
    bot: BotSource,
    joined: wire.Joined,
    turns: Sequence[wire.Turn],
    folder: Path,
    *,
    batch: int = 64,
    sandbox: Policy = "none",
) -> Outcome:
    """Starts the bot, has it answer the turns, sees it off. ``folder`` takes the socket and its log."""
    games_in_play = GamesInPlay()
    host = GameServer(games_in_play)
    connection = BotConnection(
        "",
        JoinTerms(
            name=bot.name,
            slot=0,
            variants=variant_names(),
            joined=joined,
            move_us=int(PATIENCE_S * 1e6),
            max_in_flight=batch,
        ),
        lambda _: None,
        monotonic_us,
    )
    recital = Recital(turns, batch)
    connection.session = recital
    host.admit(connection)
    log = folder / "bot.log"
    async with host.serve(f"unix:{folder}/door.sock", connection) as endpoint:

        def start() -> BotProcess:
            return launch(
                bot.command(),
                address=endpoint.address,
                token=connection.token,
                work_dir=folder,
                log_path=log,
                sandbox=sandbox,
            )

        supervisor = LocalCheckSupervisor(connection, games_in_play, recital, start, PATIENCE_S)
        try:
            failure = await supervisor.begin()
            if failure:
                recital.fail(failure)
            await _until_over(recital)
            recital.outcome.exit = await supervisor.see_off(wire.FAREWELL_REASON_FINISHED, "That is all.", 10.0)
        finally:
            await supervisor.close()
    recital.outcome.words = log.read_text(errors="replace")[-4000:] if log.exists() else ""
    return recital.outcome


async def _until_over(recital: Recital) -> None:
    """Waits for the end, and gives up on a bot that says nothing any more."""
    while not recital.over.is_set():
        recital.heard_of.clear()
        said = asyncio.ensure_future(recital.heard_of.wait())
        over = asyncio.ensure_future(recital.over.wait())
        done, _ = await asyncio.wait({said, over}, timeout=PATIENCE_S, return_when=asyncio.FIRST_COMPLETED)
        said.cancel()
        over.cancel()
        if not done:
            recital.fail(f"It was silent for {PATIENCE_S:.0f} seconds with {len(recital.unanswered)} turns open.")

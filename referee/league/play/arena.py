"""Where games are played: the games in play, the endpoints, and the remote bots, who stay from leg to leg.

Local bots come and go with every leg. A remote bot dials in once, and is sent off when the league is over or stops.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Collection
from typing import Any

from referee.league.plan import LeaguePlan
from referee.league.play.event_sink import EventSink
from referee.league.play.run_figures import RunFigures
from referee.net.connection import REMOTE_LATENCY_US, BotConnection, JoinTerms
from referee.net.games_in_play import GamesInPlay, Watch
from referee.net.listening import server_credentials
from referee.net.server import Endpoint, GameServer, ServerObserver, monotonic_us
from referee.net.supervisor import RemoteSupervisor, Supervisor, SupervisorObserver
from referee.protocol import wire
from referee.protocol.translate import rule_set_message
from referee.sandbox.processor_time import UsageMeter
from referee.umpire.faults import Fault
from referee.umpire.umpire import Umpire

Slot = tuple[str, int]
"""An entrant and which of its sessions."""

OBJECTIVES = {
    "place": wire.OBJECTIVE_PLACE,
    "stakes": wire.OBJECTIVE_STAKES,
    "points": wire.OBJECTIVE_POINTS,
}


class ArenaObserver:
    """Is told what happens in an arena: a leg that is being played there."""

    def plays(self, umpire: Umpire) -> bool:  # noqa: ARG002
        """Whether the game of this umpire is its own."""
        return False

    def changed(self) -> None:
        """A bot is there, has lost games, or was given up."""

    def failed(self, error: BaseException) -> None:
        """An error of the referee has ended what keeps the clocks or the bots."""

    def may_replay(self, connection: BotConnection, umpire: Umpire) -> bool:  # noqa: ARG002
        """Whether a game may be played again because this bot was late in it while the referee stood still."""
        return True


class Arena(ServerObserver, SupervisorObserver):
    """The games in play and the endpoints of one event loop. ``open`` it, play legs, then ``close`` it.

    It outlives its legs, so it is what server and supervisors report to, and it passes on what belongs to a
    leg that is being played, from its ``begin`` to its ``end``. Several may be at a time.
    """

    def __init__(self, plan: LeaguePlan, event_sink: EventSink, watch: Watch | None = None) -> None:
        """``event_sink`` is told of faults of remote entrants, of where they are expected, and of wrong tokens; ``watch`` looks on."""
        self.plan, self._event_sink = plan, event_sink
        self.games_in_play = GamesInPlay(watch=watch)
        share = -(-plan.asked_at_once // plan.sharers)
        self.server = GameServer(self.games_in_play, share, self, sharers=plan.sharers)
        self.remote: dict[Slot, RemoteSupervisor] = {}
        self._supervisors: dict[Supervisor, None] = {}
        self._legs: list[ArenaObserver] = []
        self._failure: BaseException | None = None
        self._told = RunFigures()
        self._endpoints = contextlib.AsyncExitStack()
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, remote: Collection[Slot] = ()) -> None:
        """Starts the clocks and lets in these remote bots; the event sink is told where, and each one's token.

        Raises ``OSError`` if the address cannot be had, or a file of the certificate cannot be read.
        """
        self.attend(self.server.watch())
        if remote:
            address, credentials = self.plan.listen, server_credentials(self.plan.tls)
            endpoint = await self._endpoints.enter_async_context(self.server.serve(address, credentials=credentials))
            for key, slot in sorted(remote):
                self._expect(key, slot, endpoint)

    def _expect(self, key: str, slot: int, endpoint: Endpoint) -> None:
        connection = new_connection(self.plan, self.games_in_play, key, slot)
        supervisor = RemoteSupervisor(connection, self.games_in_play, self, self.plan.bots[key].wait_seconds)
        self.remote[key, slot] = supervisor
        self.admit(supervisor)
        self.attend(supervisor.run())
        self._event_sink.expected(key, endpoint.address, connection.token)

    def begin(self, leg: ArenaObserver) -> None:
        """From now on this leg is being played."""
        self._legs.append(leg)
        if self._failure is not None:
            leg.failed(self._failure)

    def end(self, leg: ArenaObserver) -> None:
        """From now on this leg is not played any more."""
        self._legs.remove(leg)

    def sent(self) -> RunFigures:
        """The messages with turns that were sent since the last time."""
        before, self._told = self._told, RunFigures(messages=self.server.messages, turns=self.server.turns)
        return RunFigures(messages=self._told.messages - before.messages, turns=self._told.turns - before.turns)

    def meters(self) -> list[UsageMeter]:
        """What is known of the use of the bots that are here."""
        connections = (supervisor.connection for supervisor in self._supervisors)
        return [connection.meter for connection in connections if connection.meter is not None]

    def admit(self, supervisor: Supervisor) -> None:
        """Who keeps a bot that may dial in."""
        self._supervisors[supervisor] = None
        self.server.admit(supervisor.connection)

    def dismiss(self, supervisor: Supervisor) -> None:
        """A local bot has left."""
        del self._supervisors[supervisor]
        self.server.dismiss(supervisor.connection)

    # What server and supervisors tell.

    def may_replay(self, connection: BotConnection, umpire: Umpire) -> bool:
        """The leg of the game knows; a game that is over is not played again."""
        return any(leg.plays(umpire) and leg.may_replay(connection, umpire) for leg in self._legs)

    def wrong_tokens(self, sentence: str) -> None:
        """No leg's business."""
        self._event_sink.wrong_tokens(sentence)

    def faulted(self, connection: BotConnection, fault: Fault, sentence: str) -> None:
        """A remote bot's fault; its log is elsewhere."""
        self._event_sink.remote_fault(connection.terms.name, fault, sentence)

    def changed(self) -> None:
        """The legs look."""
        for leg in self._legs:
            leg.changed()

    # Its tasks.

    def attend(self, work: Any) -> asyncio.Task[None]:
        """Runs what keeps clocks or bots; an error in it is the failure of all legs."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._failure = self._failure or error
            for leg in self._legs:
                leg.failed(error)

    async def close(self, *, stopped: bool) -> None:
        """Sends the remote bots off, closes the endpoints and stops the clocks."""
        self.server.wrong_tokens.close()
        for supervisor in self._supervisors:
            send_off(supervisor.connection, stopped=stopped)
        try:
            await self._endpoints.aclose()
        finally:
            tasks = list(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def send_off(connection: BotConnection, *, stopped: bool) -> None:
    """Says farewell to a connection: the league goes on later, or all games are over."""
    if stopped:
        connection.leave(wire.FAREWELL_REASON_STOPPING, "The league goes on later.")
    else:
        connection.leave(wire.FAREWELL_REASON_FINISHED, "All games are over.")


def new_connection(plan: LeaguePlan, games_in_play: GamesInPlay, key: str, slot: int) -> BotConnection:
    """The connection for one session of an entrant."""
    bot = plan.bots[key]
    joined = wire.Joined(
        move_ms=plan.limits.move_us // 1000,
        bank_ms=plan.limits.bank_us // 1000,
        game_ms=plan.limits.game_us // 1000,
        objective=OBJECTIVES[plan.objective],
        rule_sets=[rule_set_message(plan.rules, 1)],
        commitment=plan.commitment or None,
        retries=plan.profile.retries,
        forfeit_after=plan.profile.forfeit_after,
    )
    latency = REMOTE_LATENCY_US if bot.command is None else 0
    if bot.patience_seconds:
        latency = int(bot.patience_seconds * 1e6)
    terms = JoinTerms(
        name=key,
        slot=slot,
        variants=(plan.rules.name,),
        joined=joined,
        move_us=plan.limits.move_us,
        max_in_flight=plan.max_in_flight,
        latency_us=latency,
        start_us=int(plan.start_seconds * 1e6),
    )
    return BotConnection(session_token(bot.token, slot), terms, games_in_play.answered, monotonic_us)


def session_token(token: str, slot: int) -> str:
    """The token of one session of a remote entrant: partners need two. A new one where none is given."""
    if not token:
        return secrets.token_urlsafe(24)
    return f"{token}.{slot}" if slot else token

"""Where games are played: the dispatcher, the endpoints, and the remote bots, who stay from leg to leg.

Local bots come and go with every leg. A remote bot dials in once, and is sent off when the league is over or stops.
"""

import asyncio
import contextlib
import secrets
import ssl
from collections.abc import Callable, Mapping
from typing import Any

from referee.league.plan import LeaguePlan
from referee.net.connection import BotConnection, JoinTerms
from referee.net.dispatcher import Dispatcher
from referee.net.listening import check_certificate
from referee.net.server import Endpoint, GameServer, monotonic_us
from referee.net.supervisor import RemoteSupervisor, Supervisor
from referee.protocol import wire
from referee.protocol.translate import rule_set_message
from referee.umpire.faults import Fault
from referee.umpire.record import Record
from referee.umpire.table import Table

Slot = tuple[str, int]
"""An entrant and which of its sessions."""

OBJECTIVES = {
    "place": wire.OBJECTIVE_PLACE,
    "stakes": wire.OBJECTIVE_STAKES,
    "points": wire.OBJECTIVE_POINTS,
}
REMOTE_LATENCY_US = 500_000


class Arena:
    """The dispatcher and the endpoints of one event loop. ``open`` it, play legs, then ``close`` it.

    ``on_change`` and ``on_failure`` belong to the leg that is being played: something has changed for it, or an error of
    the referee has ended what keeps the clocks or the bots.
    """

    def __init__(
        self,
        plan: LeaguePlan,
        note: Callable[[str, Fault, str], None],
        wrong_tokens: Callable[[str], None] = lambda _sentence: None,
    ) -> None:
        """``note`` is told of every fault of a remote entrant outside a single decision, ``wrong_tokens`` of strangers."""
        self.plan, self._note = plan, note
        self.dispatcher = Dispatcher(_nobody_plays)
        self.host = GameServer(self.dispatcher, plan.asked_at_once)
        self.supervisors: dict[Slot, Supervisor] = {}
        self.on_change: Callable[[], None] = lambda: None
        self.on_failure: Callable[[BaseException], None] = lambda _error: None
        self._endpoints = contextlib.AsyncExitStack()
        self._tasks: set[asyncio.Task[None]] = set()
        self.host.on_hung = self._hung
        self.host.wrong_tokens.tell = wrong_tokens
        self.host.on_starving = self._starves

    async def open(self, remote: Mapping[Slot, Callable[[str, str], None]]) -> None:
        """Starts the clocks and lets in these remote bots, each told its address and token by its function.

        Raises ``OSError`` if the address cannot be had, or a file of the certificate cannot be read.
        """
        self.attend(self.host.watch())
        if remote:
            address, credentials = self.plan.listen, server_credentials(self.plan.tls)
            endpoint = await self._endpoints.enter_async_context(self.host.serve(address, credentials=credentials))
            for (key, slot), tell in sorted(remote.items()):
                self._expect(key, slot, endpoint, tell)

    def _expect(self, key: str, slot: int, endpoint: Endpoint, tell: Callable[[str, str], None]) -> None:
        connection = new_connection(self.plan, self.dispatcher, key, slot)
        supervisor = RemoteSupervisor(
            connection,
            self.dispatcher,
            lambda fault, text: self._note(key, fault, text),
            self.plan.bots[key].wait_seconds,
        )
        self.keep((key, slot), supervisor)
        self.host.admit(connection)
        self.attend(supervisor.run())
        tell(endpoint.address, connection.token)

    def keep(self, slot: Slot, supervisor: Supervisor) -> None:
        """A supervisor that reports here."""
        self.supervisors[slot] = supervisor
        supervisor.on_change = self._changed

    def _changed(self) -> None:
        self.on_change()  # whatever leg that is now

    def attend(self, work: Any) -> asyncio.Task[None]:
        """Runs what keeps clocks or bots; an error in it is the leg's failure."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self.on_failure(error)

    def dismiss(self, slot: Slot) -> None:
        """A local bot has left."""
        self.host.dismiss(self.supervisors.pop(slot).connection)

    def _hung(self, connection: BotConnection) -> None:
        for supervisor in self.supervisors.values():
            if supervisor.connection is connection:
                supervisor.hung()

    def _starves(self, connection: BotConnection, fault: Fault, sentence: str) -> None:
        for supervisor in self.supervisors.values():
            if supervisor.connection is connection:
                supervisor.starves(fault, sentence)

    async def close(self, *, stopped: bool) -> None:
        """Sends the remote bots off, closes the endpoints and stops the clocks."""
        self.host.wrong_tokens.close()
        for supervisor in self.supervisors.values():
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


def new_connection(plan: LeaguePlan, dispatcher: Dispatcher, key: str, slot: int) -> BotConnection:
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
    terms = JoinTerms(
        key,
        slot,
        (plan.rules.name,),
        joined,
        plan.limits.move_us,
        plan.max_in_flight,
        latency,
        int(plan.start_seconds * 1e6),
    )
    return BotConnection(session_token(bot.token, slot), terms, dispatcher.answered, monotonic_us)


def session_token(token: str, slot: int) -> str:
    """The token of one session of a remote entrant: partners need two. A new one where none is given."""
    if not token:
        return secrets.token_urlsafe(24)
    return f"{token}.{slot}" if slot else token


def server_credentials(tls: tuple[str, str] | None) -> ssl.SSLContext | None:
    """What a server needs for TLS, from the files of its certificate and key; raises ``ListenError`` naming the file."""
    if tls is None:
        return None
    check_certificate(*tls)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["h2"])
    context.load_cert_chain(*tls)
    return context


def _nobody_plays(table: Table) -> Record | None:
    del table
    return None

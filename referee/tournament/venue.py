"""Where games are played: the hall, the doors, and the remote bots, who stay from lap to lap.

Local bots come and go with every lap. A remote bot dials in once, and is sent off when the league is over or stops.
"""

import asyncio
import contextlib
import secrets
import ssl
from collections.abc import Callable, Mapping
from typing import Any

from referee.faults import Fault
from referee.hall import Hall
from referee.protocol import wire
from referee.protocol.translate import rule_set_message
from referee.record import Record
from referee.seats.guest import Guest, Terms
from referee.seats.keeper import Keeper, RemoteKeeper
from referee.server import Door, Host, monotonic_us
from referee.table import Table
from referee.tournament.listening import check_certificate
from referee.tournament.plan import LeaguePlan

Slot = tuple[str, int]
"""An entrant and which of its sessions."""

OBJECTIVES = {
    "place": wire.OBJECTIVE_PLACE,
    "stakes": wire.OBJECTIVE_STAKES,
    "points": wire.OBJECTIVE_POINTS,
}
REMOTE_LATENCY_US = 500_000


class Venue:
    """The hall and the doors of one event loop. ``open`` it, play laps, then ``close`` it.

    ``on_change`` and ``on_failure`` belong to the lap that is being played: something has changed for it, or an error of
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
        self.hall = Hall(_nobody_plays)
        self.host = Host(self.hall, plan.asked_at_once)
        self.keepers: dict[Slot, Keeper] = {}
        self.on_change: Callable[[], None] = lambda: None
        self.on_failure: Callable[[BaseException], None] = lambda _error: None
        self._doors = contextlib.AsyncExitStack()
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
            door = await self._doors.enter_async_context(self.host.serve(address, credentials=credentials))
            for (key, slot), tell in sorted(remote.items()):
                self._expect(key, slot, door, tell)

    def _expect(self, key: str, slot: int, door: Door, tell: Callable[[str, str], None]) -> None:
        guest = new_guest(self.plan, self.hall, key, slot)
        keeper = RemoteKeeper(
            guest, self.hall, lambda fault, text: self._note(key, fault, text), self.plan.bots[key].wait_seconds
        )
        self.keep((key, slot), keeper)
        self.host.admit(guest)
        self.attend(keeper.run())
        tell(door.address, guest.token)

    def keep(self, slot: Slot, keeper: Keeper) -> None:
        """A keeper that reports here."""
        self.keepers[slot] = keeper
        keeper.on_change = self._changed

    def _changed(self) -> None:
        self.on_change()  # whatever lap that is now

    def attend(self, work: Any) -> asyncio.Task[None]:
        """Runs what keeps clocks or bots; an error in it is the lap's failure."""
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
        self.host.dismiss(self.keepers.pop(slot).guest)

    def _hung(self, guest: Guest) -> None:
        for keeper in self.keepers.values():
            if keeper.guest is guest:
                keeper.hung()

    def _starves(self, guest: Guest, fault: Fault, sentence: str) -> None:
        for keeper in self.keepers.values():
            if keeper.guest is guest:
                keeper.starves(fault, sentence)

    async def close(self, *, stopped: bool) -> None:
        """Sends the remote bots off, closes the doors and stops the clocks."""
        self.host.wrong_tokens.close()
        for keeper in self.keepers.values():
            send_off(keeper.guest, stopped=stopped)
        try:
            await self._doors.aclose()
        finally:
            tasks = list(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def send_off(guest: Guest, *, stopped: bool) -> None:
    """Says farewell to a guest: the league goes on later, or all games are over."""
    if stopped:
        guest.leave(wire.FAREWELL_REASON_STOPPING, "The league goes on later.")
    else:
        guest.leave(wire.FAREWELL_REASON_FINISHED, "All games are over.")


def new_guest(plan: LeaguePlan, hall: Hall, key: str, slot: int) -> Guest:
    """The guest for one session of an entrant."""
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
    terms = Terms(
        key,
        slot,
        (plan.rules.name,),
        joined,
        plan.limits.move_us,
        plan.max_in_flight,
        latency,
        int(plan.start_seconds * 1e6),
    )
    return Guest(session_token(bot.token, slot), terms, hall.answered, monotonic_us)


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

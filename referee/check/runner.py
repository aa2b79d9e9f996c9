"""Where a bot is put to the test: its process, its stream, its games, and what is to be done when it is
lost. ``ask`` and ``play`` open games, ``settle`` waits until they are done.
"""

import asyncio
import contextlib
import random
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Self

from referee.check.bot_under_test import (
    NO_ANSWER,
    PARTING_SECONDS,
    BotObserver,
    CheckedConnection,
    CheckServer,
    CheckSupervisor,
    LocalCheckSupervisor,
    RemoteCheckSupervisor,
)
from referee.check.games import CheckGame, CheckGames, CheckObserver, Probe, ProbeAnswer, ProbeTimeout
from referee.check.perturbations import Perturbation
from referee.check.plan import Plan
from referee.check.position import GamePrefix, Position, PositionError, Setting
from referee.check.recorder import NOT_COUNTED, Recorder, RecorderObserver
from referee.check.sampling import seats_of
from referee.net.connection import REMOTE_LATENCY_US, JoinTerms
from referee.net.listening import server_credentials
from referee.net.open_turns import TurnSession
from referee.net.server import local_address
from referee.net.supervisor import Loss
from referee.protocol import wire
from referee.protocol.translate import rule_set_message
from referee.rules import RuleSet
from referee.sandbox.exit_status import ExitStatus
from referee.sandbox.launch import BotProcess, launch
from referee.sandbox.temporary_folder import discard_folder, new_folder
from referee.umpire.faults import Fault

MOST_LOSSES = 5
MOST_SILENCES = 2
_TICK_S = 0.01


class BrokenAgainError(Exception):
    """The rule is broken after which nothing more is to be asked."""


class CheckRunner(CheckObserver, BotObserver, RecorderObserver):
    """One bot on the test runner. ``over`` says why no more can be asked; empty while all is well.

    ``starts`` counts how often it has joined, ``silences`` holds every decision that it was late for, ``late`` the last
    of them, also one that does not count. ``distrust`` is set when it was lost in a deal it had not played itself.
    ``pace`` is how many seconds it takes for a decision, as far as that is known; ``further_seconds``, how long it was
    asked for more than the least.
    """

    def __init__(self, plan: Plan, recorder: Recorder, until: str = "") -> None:
        """``until`` is the key of a rule: once that is broken, ``settle`` raises ``BrokenAgainError``."""
        self.plan, self.recorder, self._until = plan, recorder, until
        recorder.observe(self)
        self.games: tuple[RuleSet, ...] = plan.games
        self.over = ""
        self.distrust = False
        self.starts = self.losses = 0
        self.last_loss: Loss | None = None
        self.pace = self.further_seconds = 0.0
        self.silences: list[ProbeTimeout] = []
        self.late: ProbeTimeout | None = None
        self._chance = random.Random(f"ids {plan.seed}")  # noqa: S311  # the ids of a check need not be secret
        self._losses: list[Loss] = []
        self._ending = False
        self._error: BaseException | None = None
        self._changed = asyncio.Event()
        self.setting = Setting(lambda: self._chance.getrandbits(53) or 1, self._number, plan.limits)
        self.games_in_play = CheckGames(lambda: self.session, self.setting, self)
        token = plan.token or secrets.token_urlsafe(24)
        self.subject = CheckedConnection(token, self._terms(), self.games_in_play.answered, self)
        self.server = CheckServer(self.games_in_play, self.subject, self)
        self.supervisor: CheckSupervisor

    @property
    def session(self) -> TurnSession:
        """The bot's session."""
        return self.subject.session

    @property
    def told(self) -> tuple[RuleSet, ...]:
        """The rule sets of the session: the games checked, and the first of them with a target that is far away."""
        return (*self.games, far_target(self.games[0]))

    def _number(self, rules: RuleSet) -> int:
        return self.told.index(rules) + 1

    def _terms(self) -> JoinTerms:
        plan, limits = self.plan, self.plan.limits
        joined = wire.Joined(
            move_ms=limits.move_us // 1000,
            bank_ms=limits.bank_us // 1000,
            game_ms=limits.game_us // 1000,
            rule_sets=[rule_set_message(rules, number) for number, rules in enumerate(self.told, 1)],
        )
        names = tuple(rules.name for rules in self.games)
        latency = 0 if plan.command else REMOTE_LATENCY_US
        start_us = int(plan.start_seconds * 1e6)
        return JoinTerms(
            name=plan.name,
            slot=0,
            variants=names,
            joined=joined,
            move_us=limits.move_us,
            max_in_flight=plan.max_in_flight,
            latency_us=latency,
            start_us=start_us,
        )

    def joining(self, join: wire.Join) -> JoinTerms:
        """Settles, at the first Join, which games are checked."""
        if not self.starts:
            games = self.plan.for_join(tuple(join.variants)) or self.plan.games
            self.games = tuple(rules for rules in games if seats_of(rules, self.plan.seats)) or games
        return self._terms()

    # Coming and going.

    @classmethod
    @contextlib.asynccontextmanager
    async def set_up(cls, plan: Plan, recorder: Recorder, until: str = "") -> AsyncIterator[Self]:
        """A runner with its endpoint open. At the end nothing of the bot is left. Raises ``OSError`` if the endpoint cannot be had."""
        folder = new_folder()
        try:
            runner = cls(plan, recorder, until)
            wanted = (
                f"{'tls' if plan.tls else 'tcp'}:{plan.listen}"
                if plan.command is None
                else local_address(folder / "bot.sock")
            )
            owner = None if plan.command is None else runner.subject
            credentials = server_credentials(plan.tls) if plan.command is None else None
            async with runner.server.serve(wanted, owner=owner, credentials=credentials) as endpoint:
                runner.server.admit(runner.subject)
                runner._attend(endpoint.address, folder)
                watch = asyncio.create_task(runner.server.watch())
                try:
                    yield runner
                finally:
                    await runner.supervisor.close()
                    watch.cancel()
                    await asyncio.gather(watch, return_exceptions=True)
        finally:
            await asyncio.to_thread(discard_folder, folder)

    def _attend(self, address: str, folder: Path) -> None:
        plan, command = self.plan, self.plan.command
        if command is None:
            self.supervisor = RemoteCheckSupervisor(self.subject, self.games_in_play, self, plan.wait_seconds)
        else:

            def start() -> BotProcess:
                process = launch(
                    command,
                    address=address,
                    token=self.subject.token,
                    work_dir=folder,
                    log_path=plan.log_path,
                    limits=plan.bot_limits,
                    sandbox=plan.sandbox,
                )
                self.recorder.launched(process)
                return process

            self.supervisor = LocalCheckSupervisor(self.subject, self.games_in_play, self, start, plan.start_seconds)

    async def start(self) -> str:
        """Has the bot join; what went wrong, or an empty text."""
        self.subject.fresh()
        self.server.wrong_token, self._ending = "", False
        failure = await self.supervisor.begin()
        if failure:
            failure = f"{self.server.wrong_token} {failure}".strip()
            self.over = failure
        else:
            self.starts += 1
            self.recorder.stumbled(self.supervisor.stumble)
            self.recorder.joined(self.subject, self.games)
        return failure

    async def see_off(
        self, reason: wire.FarewellReason.ValueType, sentence: str, *, in_mid_game: bool = False
    ) -> ExitStatus | None:
        """Says farewell, once the bot has nothing to think about any more, unless it is to be ``in_mid_game``.

        Turns that are open then stay so, to be asked again after the next start, one a message. However many are open,
        the bot has its full time for each: the clock of the session closes those for which it takes longer.
        """
        while (self._ending or (self.session.open and not in_mid_game)) and not self._losses:  # noqa: ASYNC110  # untold
            await asyncio.sleep(_TICK_S)
        if self._losses:  # it was ended for another reason, which is judged elsewhere
            self._losses.clear()
            self.session.lost_stream(cautious=True)
            return None
        if in_mid_game:
            self.subject.leave(reason, sentence)  # at once, before any answer to a turn that has just gone out
        thinking = len(self.session.open) * self.plan.limits.move_us / 1e6
        end = await self.supervisor.see_off(reason, sentence, PARTING_SECONDS + thinking)
        self.session.lost_stream(cautious=True)
        self.recorder.left(end, local=self.supervisor.local)
        return end

    # Asking.

    async def ask(
        self,
        positions: Iterable[Position],
        phase: str,
        perturbation: Perturbation | None = None,
        *,
        stated: bool = False,
        until_late: bool = False,
    ) -> list[Probe]:
        """Puts these positions to the bot, as many at once as it takes, and waits for the answers.

        A bot with a memory plays each deal from its start; with ``stated`` only one that says so. With ``until_late``
        nothing is asked any more once it was late for one.
        """
        if self.over:
            return []
        probes = []
        for position in positions:
            follows = self.subject.stateful if stated else self.plays_all
            games = self.games_in_play
            probe = games.follow(position, phase) if follows else games.ask(position, phase, perturbation)
            if perturbation is not None and probe.umpire.open is not None:
                self.server.perturbations[probe.umpire.open.turn_id] = perturbation
            probes.append(probe)

        def look() -> None:
            if any(probe.silent for probe in probes):
                self.games_in_play.clear()

        await self.settle(refill=look if until_late else None)
        return probes

    @property
    def plays_all(self) -> bool:
        """Whether the bot must have played what it is asked about: it says so, or it was lost where it had not."""
        return self.subject.stateful or self.distrust

    async def lead(self, course: GamePrefix, phase: str = "retest") -> Probe:
        """Leads the bot through a game by itself, to one turn behind its end, and sees whether it is still there."""
        losses = self.losses
        probe = self.games_in_play.retrace(course, phase)
        await self.settle()
        if not self.over and self.losses == losses:  # the last news may have come without a turn
            try:
                self.games_in_play.ask(course.begin(), phase)
            except PositionError:
                return probe  # its first deal ended before anybody was asked
            await self.settle()
        probe.lost = probe.lost or (self.losses > losses and not probe.silent)
        return probe

    def play(self, matches: Iterable[CheckGame], phase: str) -> list[Probe]:
        """Opens whole games; ``settle`` waits for them."""
        return [] if self.over else [self.games_in_play.play(match, phase) for match in matches]

    @contextlib.contextmanager
    def further(self) -> Iterator[None]:
        """What is asked in here is more than the least: it finds faults, and decides nothing else."""
        loop = asyncio.get_running_loop()
        started, self.recorder.further = loop.time(), True
        try:
            yield
        finally:
            self.recorder.further = False
            self.further_seconds += loop.time() - started

    async def settle(self, until: float | None = None, refill: Callable[[], None] | None = None) -> None:
        """Waits until all games are over, the bot is given up, or the loop's time is ``until``.

        A bot that is being ended because it was late is started again before that.

        ``refill`` is called now and then, and may open more games. Raises whatever went wrong on our side.
        """
        loop = asyncio.get_running_loop()
        while not self.over:
            if self._error is not None:
                raise self._error
            if self._losses:
                await self._recover(self._losses.pop(0))
                continue
            if refill is not None:
                refill()
            if not self.games_in_play.probes and not self._ending:
                return
            left = None if until is None else until - loop.time()
            if left is not None and left <= 0:
                return
            self._changed.clear()
            self.server.pump()
            pause = left if refill is None else min(_TICK_S, left or _TICK_S)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), pause)

    # Losses.

    def _mistrust(self) -> None:
        """From now on the bot plays every deal itself, those that wait to be asked included."""
        self.distrust = True
        for probe in [one for one in self.games_in_play.probes.values() if one.stated and one.perturbation is None]:
            self.games_in_play.close(probe)
            if probe.position is not None:
                self.games_in_play.follow(probe.position, probe.phase)

    # What the games tell, and what is told of the bot.

    def heard(self, answer: ProbeAnswer) -> None:
        """The recorder judges it."""
        self.recorder.heard(answer)

    def dealt(self) -> None:
        """The recorder counts it."""
        self.recorder.dealt()

    def closed(self, probe: Probe) -> None:  # noqa: ARG002
        """``settle`` looks whether that was the last."""
        self._changed.set()

    def message(self, faults: list[tuple[str, str]]) -> None:
        """The recorder judges it."""
        self.recorder.message(faults)

    def sent(self, turns: int) -> None:
        """What the bot holds is kept, for when it is late."""
        self.games_in_play.note_sent()
        self.recorder.batch(turns, self.session.max_in_flight)

    def silent(self, probe: Probe, late: ProbeTimeout) -> None:
        """The bot was late: it is ended, for what it says from now on could mean anything."""
        self.late = late
        if probe.perturbation is None and probe.phase not in NOT_COUNTED:
            self.silences.append(late)
            self.recorder.late(probe, late.position)
        self._ending = True
        self.supervisor.lost(NO_ANSWER)

    def broken(self, error: BaseException) -> None:
        """Ends the check: that is no verdict on the bot."""
        self.stop(error)

    def rule_broken(self, key: str) -> None:
        """Ends the check, if this is the rule that it waits for."""
        if key == self._until:
            self.stop(BrokenAgainError(key))

    def stop(self, error: BaseException) -> None:
        """Has ``settle`` raise this as soon as it can."""
        self._error = self._error or error
        self._changed.set()

    @property
    def gone(self) -> bool:
        """Whether the bot was lost and has not been started again yet."""
        return bool(self._losses)

    def lost(self, loss: Loss) -> None:
        """``settle`` starts it again."""
        self._ending = False
        self._losses.append(loss)
        for probe in self.games_in_play.probes.values():
            if probe.gone_at is None:
                probe.gone_at = probe.answers
        self._changed.set()

    async def _recover(self, loss: Loss) -> None:
        """Blames the loss on the turn that was open alone, if there was one, and starts the bot again."""
        self.losses += 1
        self.last_loss = loss
        session = self.session
        timed_out = loss.fault is Fault.TIMEOUT_MOVE
        if not timed_out:
            lone = session.lone()
            found = self.games_in_play.where(lone) if lone is not None else None
            if found is not None:
                found[0].lost, found[0].last = True, found[1]
                self.games_in_play.close(found[0])
                if found[0].stated and found[0].perturbation is None:
                    self._mistrust()
            self.recorder.lost(loss, found, self.games_in_play)
        session.lost_stream(cautious=not timed_out)
        if self.losses > MOST_LOSSES or len(self.silences) >= MOST_SILENCES:
            self.over = f"It was lost {self.losses} times." if not timed_out else "It did not answer, more than once."
        elif await self.start():
            self.recorder.failed_again(self.over)
        if self.over:
            self.games_in_play.clear()


@cache
def far_target(rules: RuleSet) -> RuleSet:
    """The same game to ten times its target, so that a game takes more decisions than its time allows at full length.

    A smudge, which ends a game at once, is left out.
    """
    return rules.with_rules(
        {"target": min(10 * rules.target, 1000), "smudge": "none", "max_deals": max(rules.max_deals, 100)}
    )

"""Keepers: who is started again, which game a loss costs, and when a bot is given up. Processes here are made up."""

import asyncio
import errno
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

import pytest

from referee.faults import Fault
from referee.protocol import wire
from referee.seats import keeper
from referee.seats.exits import Exit
from referee.seats.guest import Guest, Stream, Terms
from referee.seats.keeper import FAILED_STARTS, RESTARTS_A_LAP, LocalKeeper, RemoteKeeper
from referee.seats.launch import LaunchError, SandboxError
from referee.session import Session
from referee.table import Table
from tests.umpires import BANK_US, MOVE_US, Book, answers_to, new_table

SEGV: Final = Exit(Fault.CRASH, "It crashed with SIGSEGV.", signal=11)
LEFT: Final = Exit(None, "It ended with exit code 0.", code=0)
ENDED_BY_US: Final = Exit(None, "The referee ended it.", signal=9)
OUT_OF_MEMORY: Final = Exit(Fault.RESOURCE_MEM, "It used 600 MiB of memory; its limit is 512 MiB.", signal=9)


class Process:
    """A bot process that ends when the test says so."""

    pid, sandbox = 1, "none"

    def __init__(self, words: str = "") -> None:
        self.end: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()
        self.words = words

    def ends(self, exit_: Exit) -> None:
        self.end.set_result(exit_)

    async def exited(self) -> Exit:
        return await asyncio.shield(self.end)

    async def kill(self) -> Exit:
        if not self.end.done():
            self.end.set_result(ENDED_BY_US)
        return self.end.result()

    def tail(self) -> str:
        return self.words


class Lodge:
    """A guest with its keeper; the test plays the bot."""

    def __init__(self, *, remote: bool = False) -> None:
        self.book, self.other = Book(), Session(MOVE_US)
        terms = Terms("bad", 0, ("auction-pitch",), wire.Joined(), MOVE_US)
        self.guest = Guest("token", terms, self.book.hall.answered, lambda: 0)
        self.noted: list[tuple[Fault, str]] = []
        self.started: list[Process] = []
        self.next_start: Callable[[], Any] = Process
        self.stream = Stream()
        note = lambda fault, sentence: self.noted.append((fault, sentence))  # noqa: E731
        if remote:
            self.keeper: Any = RemoteKeeper(self.guest, self.book.hall, note, 600)
        else:
            self.keeper = LocalKeeper(self.guest, self.book.hall, note, self._start)
            self.keeper.on_start = self.started.append

    def _start(self) -> Any:
        return self.next_start()

    def join(self) -> None:
        self.stream = Stream()
        assert self.guest.connect(self.stream)
        self.guest.receive(self.stream, wire.PlayRequest(join=wire.Join(max_in_flight=64)).SerializeToString())

    async def started_again(self, times: int) -> Process:
        """Waits for the start of that number, joins, and waits until the keeper has noticed."""
        await until(lambda: len(self.started) == times)
        self.join()
        await settle()
        return self.started[-1]

    def deal(self, number: int) -> Table:
        """A game of this guest against two others, in which it is its turn at once."""
        table = new_table(number, seats=3)
        self.book.hall.open(table, [self.other, self.guest.session, self.other])
        self.guest.games += 1
        return table

    def ask(self) -> list[int]:
        """Sends what waits; the games that were asked about."""
        message = self.guest.session.flush(0)
        return [turn.game_id for turn in message.turns] if message else []

    def answer_all(self) -> None:
        self.book.hall.answered(self.guest.session.heard(answers_of(self.guest.session), 0))

    def forfeited(self) -> list[str]:
        return [key for key, ruling in self.book.rulings if ruling.consequence == "FORFEITED"]


def answers_of(session: Session) -> list[wire.Move]:
    return answers_to(wire.PlayResponse(turns=[_message(one.turn) for one in session.open.values()]))


def _message(turn: Any) -> wire.Turn:
    from referee.protocol.translate import turn_message

    return turn_message(turn)


async def settle() -> None:
    """Lets everything happen that is going to happen without time passing."""
    for _ in range(30):
        await asyncio.sleep(0)


async def until(look: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not look():  # noqa: ASYNC110 - what is looked for tells nobody
            await asyncio.sleep(0.001)


def tell(story: Callable[[Lodge], Awaitable[None]], *, remote: bool = False) -> Lodge:
    """Runs a story with its keeper, and ends the keeper."""

    async def told() -> Lodge:
        lodge = Lodge(remote=remote)
        work = asyncio.ensure_future(lodge.keeper.run())
        try:
            await story(lodge)
        finally:
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work
        return lodge

    return asyncio.run(told())


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits are short, where the story is about what comes after them; where it is not, it does not come to them."""
    monkeypatch.setattr(keeper, "_VERDICT_SECONDS", 0.05)
    monkeypatch.setattr(keeper, "_PARTING_SECONDS", 0.05)


# The start


def test_a_bot_is_settled_when_it_has_joined() -> None:
    async def story(lodge: Lodge) -> None:
        await until(lambda: bool(lodge.started))
        assert not lodge.keeper.settled.is_set()
        lodge.join()
        await settle()
        assert lodge.keeper.settled.is_set()
        assert not lodge.keeper.withdrawn

    assert not tell(story).noted


def test_who_ends_before_joining_three_times_in_a_row_is_given_up() -> None:
    async def story(lodge: Lodge) -> None:
        for number in range(1, FAILED_STARTS + 1):
            await until(lambda number=number: len(lodge.started) == number)  # type: ignore[misc]
            lodge.started[-1].words = "Traceback\nValueError: no \x1b[31mcards\n"
            lodge.started[-1].ends(Exit(Fault.CRASH, "It ended with exit code 1.", code=1))
        await lodge.keeper.settled.wait()

    lodge = tell(story)
    said = "It ended before it joined. It ended with exit code 1. Its last words: ValueError: no \x1b[31mcards"
    assert lodge.noted == [(Fault.START_FAILED, said)] * FAILED_STARTS
    assert lodge.keeper.withdrawn == f"It failed to start 3 times in a row: {said}"


def test_a_program_that_cannot_be_started_is_given_up_with_the_reason() -> None:
    def refuses() -> Any:
        raise LaunchError("bot bad: program ./bot is not executable: chmod +x ./bot")

    async def story(lodge: Lodge) -> None:
        lodge.next_start = refuses
        await lodge.keeper.settled.wait()

    lodge = tell(story)
    assert [fault for fault, _ in lodge.noted] == [Fault.START_FAILED] * FAILED_STARTS
    assert lodge.keeper.withdrawn.endswith("program ./bot is not executable: chmod +x ./bot")


@pytest.mark.parametrize(
    "error",
    [
        SandboxError("sandbox bubblewrap: it is not installed: apt install bubblewrap"),
        LaunchError("bot bad: log /logs/bad.log cannot be written: No space left on device"),
    ],
)
def test_what_the_machine_lacks_is_no_fault_of_a_bot(error: LaunchError) -> None:
    if not isinstance(error, SandboxError):
        error.__cause__ = OSError(errno.ENOSPC, "No space left on device")

    def fails() -> Any:
        raise error

    async def told() -> Lodge:
        lodge = Lodge()
        lodge.next_start = fails
        with pytest.raises(type(error)):
            await lodge.keeper.run()
        return lodge

    assert not asyncio.run(told()).noted


def test_who_joins_in_between_has_three_starts_again() -> None:
    async def story(lodge: Lodge) -> None:
        for number in (1, 2):
            await until(lambda number=number: len(lodge.started) == number)  # type: ignore[misc]
            lodge.started[-1].ends(LEFT)
        process = await lodge.started_again(3)
        process.ends(SEGV)
        for number in (4, 5):
            await until(lambda number=number: len(lodge.started) == number)  # type: ignore[misc]
            lodge.started[-1].ends(LEFT)
        await lodge.started_again(6)
        assert not lodge.keeper.withdrawn

    tell(story)


def test_who_does_not_join_in_time_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "JOIN_SECONDS", 0.01)

    async def story(lodge: Lodge) -> None:
        await lodge.keeper.settled.wait()
        assert all(process.end.done() for process in lodge.started)

    lodge = tell(story)
    assert lodge.noted == [(Fault.START_FAILED, "It did not join within 0.01 seconds.")] * FAILED_STARTS


def test_who_is_refused_is_ended_at_once_with_the_reason_of_the_refusal() -> None:
    async def story(lodge: Lodge) -> None:
        for number in range(1, FAILED_STARTS + 1):
            await until(lambda number=number: len(lodge.started) == number)  # type: ignore[misc]
            lodge.guest.connect(Stream())
            assert lodge.guest.stream is not None
            join = wire.PlayRequest(join=wire.Join(variants=["cinch"]))
            lodge.guest.receive(lodge.guest.stream, join.SerializeToString())
        await lodge.keeper.settled.wait()

    lodge = tell(story)
    assert lodge.noted == [(Fault.START_FAILED, "It plays cinch, not auction-pitch.")] * FAILED_STARTS


# Losses of a local bot


@pytest.mark.parametrize(
    ("exit_", "fault", "sentence"),
    [
        (SEGV, Fault.CRASH, "It crashed with SIGSEGV."),
        (LEFT, Fault.DISCONNECT, "It left before Farewell. It ended with exit code 0."),
        (OUT_OF_MEMORY, Fault.RESOURCE_MEM, OUT_OF_MEMORY.sentence),
    ],
)
def test_the_end_of_the_process_tells_the_fault(exit_: Exit, fault: Fault, sentence: str) -> None:
    async def story(lodge: Lodge) -> None:
        process = await lodge.started_again(1)
        lodge.guest.disconnect(lodge.stream)  # a dying process closes its stream first
        process.ends(exit_)
        await lodge.started_again(2)

    assert tell(story).noted == [(fault, sentence)]


def test_who_ends_its_stream_and_lives_on_is_disconnected() -> None:
    async def story(lodge: Lodge) -> None:
        await lodge.started_again(1)
        lodge.guest.disconnect(lodge.stream)
        await lodge.started_again(2)

    said = "It ended its stream before Farewell, though its process went on."
    assert tell(story).noted == [(Fault.DISCONNECT, said)]


def test_the_last_words_of_a_crashed_bot_are_noted_but_not_part_of_a_ruling() -> None:
    async def story(lodge: Lodge) -> None:
        lodge.deal(1)
        for number in (1, 2):
            process = await lodge.started_again(number)
            assert lodge.ask() == [1]
            process.words = "ValueError: no cards\n"
            process.ends(SEGV)
        await lodge.started_again(3)

    lodge = tell(story)
    assert lodge.noted[0] == (Fault.CRASH, "It crashed with SIGSEGV. Its last words: ValueError: no cards")
    assert [ruling.sentence for _, ruling in lodge.book.rulings] == ["It crashed with SIGSEGV."]


def test_one_poison_turn_costs_one_game() -> None:
    """After a crash with many turns out, they are asked one a message; the one that crashes again is lost."""

    async def story(lodge: Lodge) -> None:
        for number in range(1, 6):
            lodge.deal(number)
        process = await lodge.started_again(1)
        assert lodge.ask() == [1, 2, 3, 4, 5]
        process.ends(SEGV)
        process = await lodge.started_again(2)
        assert not lodge.forfeited()
        for number in (1, 2):
            assert lodge.ask() == [number]
            lodge.answer_all()
        assert lodge.ask() == [3]
        process.ends(SEGV)
        await lodge.started_again(3)
        assert lodge.forfeited() == ["game-3"]
        assert lodge.ask() == [4]
        lodge.answer_all()
        assert lodge.ask() == [5]

    tell(story)


def test_a_lone_turn_is_asked_again_once() -> None:
    async def story(lodge: Lodge) -> None:
        lodge.deal(1)
        for number, lost in ((1, False), (2, False), (3, True)):
            process = await lodge.started_again(number)
            assert bool(lodge.forfeited()) is lost
            if not lost:
                assert lodge.ask() == [1]
                process.ends(SEGV)

    tell(story)


def test_a_game_that_saw_a_crash_is_lost_by_the_next_one_also_at_another_turn() -> None:
    async def story(lodge: Lodge) -> None:
        lodge.deal(1)
        process = await lodge.started_again(1)
        lodge.ask()
        process.ends(SEGV)
        process = await lodge.started_again(2)
        table = next(iter(lodge.book.hall.seated))
        lodge.ask()
        lodge.answer_all()
        while table.open is not None and table.open.chair.seat != 1:
            lodge.book.hall.answered(lodge.other.heard(answers_of(lodge.other), 0))
            lodge.other.flush(0)
        assert lodge.ask() == [1]
        process.ends(SEGV)
        await lodge.started_again(3)
        assert lodge.forfeited() == ["game-1"]

    tell(story)


def test_a_limit_that_was_hit_costs_the_game_at_once() -> None:
    async def story(lodge: Lodge) -> None:
        lodge.deal(1)
        process = await lodge.started_again(1)
        lodge.ask()
        process.ends(OUT_OF_MEMORY)
        await lodge.started_again(2)
        assert lodge.forfeited() == ["game-1"]

    tell(story)


@pytest.mark.parametrize("fault", [Fault.PROTOCOL, Fault.POLICY])
def test_a_breach_of_protocol_or_policy_costs_every_game_under_way_and_ends_the_process(fault: Fault) -> None:
    async def story(lodge: Lodge) -> None:
        for number in (1, 2):
            lodge.deal(number)
        process = await lodge.started_again(1)
        lodge.guest.on_fault(fault, "It did what must not be done.")
        await settle()
        assert process.end.result() is ENDED_BY_US
        assert lodge.forfeited() == ["game-1", "game-2"]
        await lodge.started_again(2)
        assert lodge.noted == [(fault, "It did what must not be done.")]

    tell(story)


def test_a_hung_bot_is_ended_and_started_again() -> None:
    async def story(lodge: Lodge) -> None:
        process = await lodge.started_again(1)
        lodge.keeper.hung()
        await lodge.started_again(2)
        assert process.end.result() is ENDED_BY_US
        assert lodge.noted == [(Fault.CRASH, "It did not answer twice in a row and was ended.")]

    tell(story)


def test_who_is_lost_too_often_in_one_lap_is_given_up() -> None:
    async def story(lodge: Lodge) -> None:
        for number in range(1, RESTARTS_A_LAP + 2):
            (await lodge.started_again(number)).ends(SEGV)
        await until(lambda: bool(lodge.keeper.withdrawn))

    lodge = tell(story)
    assert lodge.keeper.withdrawn == "It was lost 11 times in one lap."
    assert len(lodge.started) == RESTARTS_A_LAP + 1


def test_an_error_of_the_referee_is_no_loss_of_the_bot() -> None:
    """However often it happens, it costs the bot neither a game nor one of its restarts."""

    async def story(lodge: Lodge) -> None:
        lodge.deal(1)
        for number in range(1, RESTARTS_A_LAP + 5):
            await lodge.started_again(number)
            lodge.ask()
            lodge.guest.spoiled()
        await lodge.started_again(RESTARTS_A_LAP + 5)
        assert not lodge.forfeited()
        assert not lodge.keeper.withdrawn

    tell(story)


def test_turns_go_to_the_new_process_though_the_end_of_the_old_stream_is_noticed_late() -> None:
    async def story(lodge: Lodge) -> None:
        lodge.deal(1)
        process = await lodge.started_again(1)
        old, cut = lodge.stream, []
        old.cut = lambda: cut.append(True)
        lodge.ask()
        process.ends(SEGV)
        await until(lambda: len(lodge.started) == 2)
        assert cut == [True]
        lodge.guest.disconnect(old)
        lodge.join()
        await settle()
        assert lodge.ask() == [1]
        assert [fault for fault, _ in lodge.noted] == [Fault.CRASH]
        assert not lodge.started[-1].end.done()

    tell(story)


def test_after_farewell_nothing_is_started_and_nothing_noted() -> None:
    async def story(lodge: Lodge) -> None:
        process = await lodge.started_again(1)
        lodge.guest.leave(wire.FAREWELL_REASON_FINISHED, "All games are over.")
        process.ends(LEFT)
        await lodge.keeper.part()
        await settle()
        assert len(lodge.started) == 1

    assert not tell(story).noted


def test_the_end_while_a_bot_is_starting_is_no_failed_start() -> None:
    async def story(lodge: Lodge) -> None:
        await until(lambda: len(lodge.started) == 1)
        lodge.guest.leave(wire.FAREWELL_REASON_STOPPING, "The league goes on later.")
        await lodge.keeper.part()
        await settle()
        assert lodge.started[0].end.result() is ENDED_BY_US
        assert len(lodge.started) == 1

    assert not tell(story).noted


def test_processes_that_cannot_be_ended_are_kept_in_mind() -> None:
    async def story(lodge: Lodge) -> None:
        process = await lodge.started_again(1)
        process.ends(Exit(Fault.CRASH, "Could not be ended, look at them by hand: 4711.", survivors=(4711,)))
        await lodge.started_again(2)

    assert tell(story).keeper.survivors == {4711}


def test_who_stays_after_farewell_is_ended() -> None:
    async def story(lodge: Lodge) -> None:
        process = await lodge.started_again(1)
        lodge.guest.leave(wire.FAREWELL_REASON_FINISHED, "All games are over.")
        await lodge.keeper.part()
        assert process.end.result() is ENDED_BY_US

    assert not tell(story).noted


# Remote bots


def test_a_remote_bot_that_never_dials_in_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(lodge: Lodge) -> None:
        await lodge.keeper.settled.wait()

    monkeypatch.setattr(Lodge, "__init__", impatient(Lodge.__init__))
    lodge = tell(story, remote=True)
    assert lodge.keeper.withdrawn == "It did not dial in within 0 seconds."


def impatient(init: Any) -> Any:
    def changed(self: Any, **words: Any) -> None:
        init(self, **words)
        self.keeper._wait = 0.01

    return changed


def test_why_a_remote_bot_was_refused_is_part_of_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(lodge: Lodge) -> None:
        stream = Stream()
        lodge.guest.connect(stream)
        join = wire.PlayRequest(join=wire.Join(variants=["cinch"]))
        lodge.guest.receive(stream, join.SerializeToString())
        lodge.guest.disconnect(stream)
        await lodge.keeper.settled.wait()

    monkeypatch.setattr(Lodge, "__init__", impatient(Lodge.__init__))
    lodge = tell(story, remote=True)
    assert lodge.keeper.withdrawn == "It did not dial in within 0 seconds. It plays cinch, not auction-pitch."


def test_a_remote_bot_that_comes_back_loses_nothing_but_time() -> None:
    async def story(lodge: Lodge) -> None:
        lodge.join()
        await settle()
        lodge.deal(1)
        assert lodge.ask() == [1]
        lodge.guest.disconnect(lodge.stream)
        await settle()
        assert lodge.guest.session.deadline() is None
        lodge.join()
        await settle()
        message = lodge.guest.session.flush(700_000)
        assert message is not None
        assert len(message.turns) == 1
        assert lodge.guest.session.deadline() == MOVE_US + BANK_US  # counted from when it was first asked
        lodge.guest.disconnect(lodge.stream)
        lodge.join()
        await settle()
        assert not lodge.keeper.withdrawn

    lodge = tell(story, remote=True)
    assert [fault for fault, _ in lodge.noted] == [Fault.DISCONNECT] * 2
    assert not lodge.forfeited()


def test_a_remote_bot_that_stays_away_loses_its_games_and_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "GRACE_SECONDS", 0.02)

    async def story(lodge: Lodge) -> None:
        lodge.join()
        await settle()
        lodge.deal(1)
        lodge.deal(2)
        lodge.ask()
        lodge.guest.disconnect(lodge.stream)
        await until(lambda: bool(lodge.keeper.withdrawn))

    lodge = tell(story, remote=True)
    assert lodge.forfeited() == ["game-1", "game-2"]
    assert lodge.keeper.withdrawn.startswith("It was away for more than")


def test_grace_is_counted_a_game_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Away twice: the second time nothing is left of the grace of that game."""

    async def story(lodge: Lodge) -> None:
        lodge.join()
        await settle()
        lodge.deal(1)
        lodge.guest.disconnect(lodge.stream)
        await asyncio.sleep(0.02)
        lodge.join()
        await settle()
        assert not lodge.keeper.withdrawn
        monkeypatch.setattr(keeper, "GRACE_SECONDS", 0.01)
        lodge.guest.disconnect(lodge.stream)
        await settle()
        assert lodge.keeper.withdrawn

    tell(story, remote=True)


def test_a_stream_that_comes_and_goes_while_the_keeper_waits_does_not_use_up_the_patience() -> None:
    async def story(lodge: Lodge) -> None:
        lodge.join()
        await settle()
        lodge.deal(1)
        lodge.guest.disconnect(lodge.stream)
        await settle()
        lodge.join()
        lodge.guest.disconnect(lodge.stream)  # before the keeper could look
        await settle()
        assert not lodge.keeper.withdrawn
        lodge.join()
        await settle()
        assert lodge.ask() == [1]
        lodge.guest.disconnect(lodge.stream)  # and it is still noticed
        await settle()
        assert len(lodge.noted) == 2

    tell(story, remote=True)


def test_a_hung_remote_bot_has_its_stream_cut_and_may_dial_in_again() -> None:
    async def story(lodge: Lodge) -> None:
        lodge.join()
        await settle()
        lodge.deal(1)
        assert lodge.ask() == [1]
        cut = []
        lodge.stream.cut = lambda: cut.append(True)
        lodge.keeper.hung()
        await settle()
        assert cut == [True]
        lodge.join()
        await settle()
        assert lodge.ask() == [1]
        assert not lodge.keeper.withdrawn

    lodge = tell(story, remote=True)
    assert [fault for fault, _ in lodge.noted] == [Fault.CRASH]


def test_a_remote_bot_that_breaks_the_protocol_is_sent_away_for_good() -> None:
    async def story(lodge: Lodge) -> None:
        lodge.join()
        await settle()
        lodge.deal(1)
        lodge.guest.on_fault(Fault.PROTOCOL, "It sent too much.")
        await settle()
        assert lodge.stream.farewell is not None
        assert lodge.stream.farewell.reason == wire.FAREWELL_REASON_WITHDRAWN

    lodge = tell(story, remote=True)
    assert lodge.forfeited() == ["game-1"]
    assert lodge.keeper.withdrawn == "It sent too much."

"""Supervisors: who is started again before it has joined, and when a bot is given up. Processes here are made up."""

import asyncio
import errno
from typing import Any

import pytest

from referee.net.connection import START_SECONDS, BotStream
from referee.net.supervisor import FAILED_STARTS
from referee.protocol import wire
from referee.sandbox.exit_status import ExitStatus
from referee.sandbox.launch import LaunchError, SandboxError
from referee.umpire.faults import Fault
from tests.net.supervised import LEFT, SEGV, SupervisedBot, settle, tell, until

pytestmark = pytest.mark.usefixtures("short_waits")


def test_a_bot_is_settled_when_it_has_joined() -> None:
    async def story(supervised: SupervisedBot) -> None:
        await until(lambda: bool(supervised.started_processes))
        assert not supervised.supervisor.settled.is_set()
        supervised.join()
        await settle()
        assert supervised.supervisor.settled.is_set()
        assert not supervised.supervisor.withdrawn

    assert not tell(story).noted


def test_who_ends_before_joining_three_times_in_a_row_is_given_up() -> None:
    async def story(supervised: SupervisedBot) -> None:
        for number in range(1, FAILED_STARTS + 1):
            await until(lambda number=number: len(supervised.started_processes) == number)  # type: ignore[misc]
            supervised.started_processes[-1].words = "Traceback\nValueError: no \x1b[31mcards\n"
            supervised.started_processes[-1].ends(
                ExitStatus(fault=Fault.CRASH, sentence="It ended with exit code 1.", code=1)
            )
        await supervised.supervisor.settled.wait()

    supervised = tell(story)
    said = "It ended before it joined. It ended with exit code 1. Its last words: ValueError: no \x1b[31mcards"
    assert supervised.noted == [(Fault.START_FAILED, said)] * FAILED_STARTS
    assert supervised.supervisor.withdrawn == f"It failed to start 3 times in a row: {said}"


def test_a_program_that_cannot_be_started_is_given_up_with_the_reason() -> None:
    def refuses() -> Any:
        raise LaunchError("bot bad: program ./bot is not executable: chmod +x ./bot")

    async def story(supervised: SupervisedBot) -> None:
        supervised.next_start = refuses
        await supervised.supervisor.settled.wait()

    supervised = tell(story)
    assert [fault for fault, _ in supervised.noted] == [Fault.START_FAILED] * FAILED_STARTS
    assert supervised.supervisor.withdrawn.endswith("program ./bot is not executable: chmod +x ./bot")


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

    async def told() -> SupervisedBot:
        supervised = SupervisedBot()
        supervised.next_start = fails
        with pytest.raises(type(error)):
            await supervised.supervisor.run()
        return supervised

    assert not asyncio.run(told()).noted


def test_who_joins_in_between_has_three_starts_again() -> None:
    async def story(supervised: SupervisedBot) -> None:
        for number in (1, 2):
            await until(lambda number=number: len(supervised.started_processes) == number)  # type: ignore[misc]
            supervised.started_processes[-1].ends(LEFT)
        process = await supervised.started_again(3)
        process.ends(SEGV)
        for number in (4, 5):
            await until(lambda number=number: len(supervised.started_processes) == number)  # type: ignore[misc]
            supervised.started_processes[-1].ends(LEFT)
        await supervised.started_again(6)
        assert not supervised.supervisor.withdrawn

    tell(story)


def test_who_does_not_join_in_time_is_ended() -> None:
    async def story(supervised: SupervisedBot) -> None:
        await supervised.supervisor.settled.wait()
        assert all(process.end.done() for process in supervised.started_processes)
        assert START_SECONDS * FAILED_STARTS <= asyncio.get_running_loop().time() < START_SECONDS * FAILED_STARTS + 2

    supervised = tell(story)
    assert supervised.noted == [(Fault.START_FAILED, "It did not join within 30 seconds.")] * FAILED_STARTS


@pytest.mark.parametrize(
    ("share", "seconds", "said"),
    [
        (0.0, 30, "It did not join within 30 seconds."),
        (0.5, 60, "It did not join within 30 seconds."),
        (1.0, 120, "It did not join within 120 seconds; for 120 of them it had no processor."),
    ],
)
def test_time_without_a_processor_does_not_count_for_a_start_but_not_for_ever(
    share: float, seconds: int, said: str
) -> None:
    """A bot that sleeps waits for no processor; one that is never late by that count ends after four times the time."""

    async def story(supervised: SupervisedBot) -> None:
        async def starve() -> None:
            while True:
                await asyncio.sleep(0.05)
                supervised.connection.starve(int(share * 50_000), 0)

        beside = asyncio.ensure_future(starve())
        while not supervised.noted:  # noqa: ASYNC110 - virtual time
            await asyncio.sleep(0.25)
        beside.cancel()
        assert seconds <= asyncio.get_running_loop().time() <= seconds + 1

    assert tell(story).noted[0] == (Fault.START_FAILED, said)


def test_a_stall_of_the_referee_does_not_count_for_a_start_however_long_it_is() -> None:
    async def story(supervised: SupervisedBot) -> None:
        await until(lambda: bool(supervised.started_processes))
        await asyncio.sleep(10)
        supervised.connection.excuse(600_000_000, 0)
        await asyncio.sleep(600)  # as after Ctrl-Z and fg
        await asyncio.sleep(19)
        supervised.join()
        await settle()
        assert len(supervised.started_processes) == 1
        assert supervised.supervisor.settled.is_set()

    assert not tell(story).noted


def test_who_is_refused_is_ended_at_once_with_the_reason_of_the_refusal() -> None:
    async def story(supervised: SupervisedBot) -> None:
        for number in range(1, FAILED_STARTS + 1):
            await until(lambda number=number: len(supervised.started_processes) == number)  # type: ignore[misc]
            supervised.connection.connect(BotStream())
            assert supervised.connection.stream is not None
            join = wire.PlayRequest(join=wire.Join(variants=["cinch"]))
            supervised.connection.receive(supervised.connection.stream, join.SerializeToString())
        await supervised.supervisor.settled.wait()

    supervised = tell(story)
    assert supervised.noted == [(Fault.START_FAILED, "It plays cinch, not auction-pitch.")] * FAILED_STARTS

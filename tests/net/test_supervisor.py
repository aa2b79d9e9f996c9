"""Supervisors: which game the loss of a local bot costs, and who is started again. Processes here are made up."""

import pytest

from referee.bot._output import MARK
from referee.net.supervisor import LOSSES_A_LEG
from referee.protocol import wire
from referee.sandbox.exit_status import ExitStatus
from referee.umpire.faults import Fault
from tests.net.supervised import ENDED_BY_US, LEFT, OUT_OF_MEMORY, SEGV, SupervisedBot, answers_of, settle, tell, until

pytestmark = pytest.mark.usefixtures("short_waits")


@pytest.mark.parametrize(
    ("exit_", "fault", "sentence"),
    [
        (SEGV, Fault.CRASH, "It crashed with SIGSEGV."),
        (LEFT, Fault.DISCONNECT, "It left before Farewell. It ended with exit code 0."),
        (OUT_OF_MEMORY, Fault.RESOURCE_MEM, OUT_OF_MEMORY.sentence),
    ],
)
def test_the_end_of_the_process_tells_the_fault(exit_: ExitStatus, fault: Fault, sentence: str) -> None:
    async def story(supervised: SupervisedBot) -> None:
        process = await supervised.started_again(1)
        supervised.connection.disconnect(supervised.stream)  # a dying process closes its stream first
        process.ends(exit_)
        await supervised.started_again(2)

    assert tell(story).noted == [(fault, sentence)]


def test_who_ends_its_stream_and_lives_on_is_disconnected() -> None:
    async def story(supervised: SupervisedBot) -> None:
        await supervised.started_again(1)
        supervised.connection.disconnect(supervised.stream)
        await supervised.started_again(2)

    said = "It ended its stream before Farewell, though its process went on."
    assert tell(story).noted == [(Fault.DISCONNECT, said)]


def test_the_last_words_of_a_crashed_bot_are_noted_but_not_part_of_a_ruling() -> None:
    async def story(supervised: SupervisedBot) -> None:
        supervised.deal(1)
        for number in (1, 2):
            process = await supervised.started_again(number)
            assert supervised.ask() == [1]
            process.words = "ValueError: no cards\n"
            process.ends(SEGV)
        await supervised.started_again(3)

    supervised = tell(story)
    assert supervised.noted[0] == (Fault.CRASH, "It crashed with SIGSEGV. Its last words: ValueError: no cards")
    assert [ruling.sentence for _, ruling in supervised.book.rulings] == ["It crashed with SIGSEGV."]


@pytest.mark.parametrize(
    ("written", "noted"),
    [
        (
            f"ValueError: no cards\n{MARK}ruling on turn 7: AF-BID-003: Bid more.\n",
            " Its last words: ValueError: no cards",
        ),
        (f"out of cards\n{MARK}the connection to unix:/x is lost\n\n", " Its last words: out of cards"),
        (f"{MARK}receipts cannot be kept in x\n{MARK}the referee says farewell: Away.\n", ""),
    ],
)
def test_the_last_words_of_a_bot_are_its_own_and_not_those_of_its_library(written: str, noted: str) -> None:
    async def story(supervised: SupervisedBot) -> None:
        process = await supervised.started_again(1)
        process.words = written
        process.ends(SEGV)
        await supervised.started_again(2)

    assert tell(story).noted == [(Fault.CRASH, f"It crashed with SIGSEGV.{noted}")]


def test_one_poison_turn_costs_one_game() -> None:
    """After a crash with many turns out, they are asked one a message; the one that crashes again is lost."""

    async def story(supervised: SupervisedBot) -> None:
        for number in range(1, 6):
            supervised.deal(number)
        process = await supervised.started_again(1)
        assert supervised.ask() == [1, 2, 3, 4, 5]
        process.ends(SEGV)
        process = await supervised.started_again(2)
        assert not supervised.forfeited()
        for number in (1, 2):
            assert supervised.ask() == [number]
            supervised.answer_all()
        assert supervised.ask() == [3]
        process.ends(SEGV)
        await supervised.started_again(3)
        assert supervised.forfeited() == ["game-3"]
        assert supervised.ask() == [4]
        supervised.answer_all()
        assert supervised.ask() == [5]

    tell(story)


def test_a_lone_turn_is_asked_again_once() -> None:
    async def story(supervised: SupervisedBot) -> None:
        supervised.deal(1)
        for number, lost in ((1, False), (2, False), (3, True)):
            process = await supervised.started_again(number)
            assert bool(supervised.forfeited()) is lost
            if not lost:
                assert supervised.ask() == [1]
                process.ends(SEGV)

    tell(story)


def test_a_game_that_saw_a_crash_is_lost_by_the_next_one_also_at_another_turn() -> None:
    async def story(supervised: SupervisedBot) -> None:
        supervised.deal(1)
        process = await supervised.started_again(1)
        supervised.ask()
        process.ends(SEGV)
        process = await supervised.started_again(2)
        umpire = next(iter(supervised.book.games_in_play.seated))
        supervised.ask()
        supervised.answer_all()
        while umpire.open is not None and umpire.open.chair.seat != 1:
            supervised.book.games_in_play.answered(supervised.other.heard(answers_of(supervised.other), 0))
            supervised.other.flush(0)
        assert supervised.ask() == [1]
        process.ends(SEGV)
        await supervised.started_again(3)
        assert supervised.forfeited() == ["game-1"]

    tell(story)


def test_a_limit_that_was_hit_costs_the_game_at_once() -> None:
    async def story(supervised: SupervisedBot) -> None:
        supervised.deal(1)
        process = await supervised.started_again(1)
        supervised.ask()
        process.ends(OUT_OF_MEMORY)
        await supervised.started_again(2)
        assert supervised.forfeited() == ["game-1"]

    tell(story)


@pytest.mark.parametrize("fault", [Fault.PROTOCOL, Fault.POLICY])
def test_a_breach_of_protocol_or_policy_costs_every_game_under_way_and_ends_the_process(fault: Fault) -> None:
    async def story(supervised: SupervisedBot) -> None:
        for number in (1, 2):
            supervised.deal(number)
        process = await supervised.started_again(1)
        supervised.connection.fault(fault, "It did what must not be done.")
        await settle()
        assert process.end.result() is ENDED_BY_US
        assert supervised.forfeited() == ["game-1", "game-2"]
        await supervised.started_again(2)
        assert supervised.noted == [(fault, "It did what must not be done.")]

    tell(story)


def test_a_hung_bot_is_ended_and_started_again() -> None:
    async def story(supervised: SupervisedBot) -> None:
        process = await supervised.started_again(1)
        supervised.connection.hung()
        await supervised.started_again(2)
        assert process.end.result() is ENDED_BY_US
        assert supervised.noted == [(Fault.CRASH, "It did not answer twice in a row and was ended.")]

    tell(story)


def test_who_is_lost_too_often_in_one_leg_is_given_up() -> None:
    async def story(supervised: SupervisedBot) -> None:
        for number in range(1, LOSSES_A_LEG + 2):
            (await supervised.started_again(number)).ends(SEGV)
        await until(lambda: bool(supervised.supervisor.withdrawn))

    supervised = tell(story)
    assert supervised.supervisor.withdrawn == "It was lost 11 times in one leg."
    assert len(supervised.started_processes) == LOSSES_A_LEG + 1


def test_an_error_of_the_referee_is_no_loss_of_the_bot() -> None:
    """However often it happens, it costs the bot neither a game nor one of its restarts."""

    async def story(supervised: SupervisedBot) -> None:
        supervised.deal(1)
        for number in range(1, LOSSES_A_LEG + 5):
            await supervised.started_again(number)
            supervised.ask()
            supervised.connection.spoiled()
        await supervised.started_again(LOSSES_A_LEG + 5)
        assert not supervised.forfeited()
        assert not supervised.supervisor.withdrawn

    tell(story)


def test_turns_go_to_the_new_process_though_the_end_of_the_old_stream_is_noticed_late() -> None:
    async def story(supervised: SupervisedBot) -> None:
        supervised.deal(1)
        process = await supervised.started_again(1)
        old = supervised.stream
        supervised.ask()
        process.ends(SEGV)
        await until(lambda: len(supervised.started_processes) == 2)
        assert old.cuts == 1
        supervised.connection.disconnect(old)
        supervised.join()
        await settle()
        assert supervised.ask() == [1]
        assert [fault for fault, _ in supervised.noted] == [Fault.CRASH]
        assert not supervised.started_processes[-1].end.done()

    tell(story)


def test_after_farewell_nothing_is_started_and_nothing_noted() -> None:
    async def story(supervised: SupervisedBot) -> None:
        process = await supervised.started_again(1)
        supervised.connection.leave(wire.FAREWELL_REASON_FINISHED, "All games are over.")
        process.ends(LEFT)
        await supervised.supervisor.part()
        await settle()
        assert len(supervised.started_processes) == 1

    assert not tell(story).noted


def test_the_end_while_a_bot_is_starting_is_no_failed_start() -> None:
    async def story(supervised: SupervisedBot) -> None:
        await until(lambda: len(supervised.started_processes) == 1)
        supervised.connection.leave(wire.FAREWELL_REASON_STOPPING, "The league goes on later.")
        await supervised.supervisor.part()
        await settle()
        assert supervised.started_processes[0].end.result() is ENDED_BY_US
        assert len(supervised.started_processes) == 1

    assert not tell(story).noted


def test_processes_that_cannot_be_ended_are_kept_in_mind() -> None:
    async def story(supervised: SupervisedBot) -> None:
        process = await supervised.started_again(1)
        process.ends(
            ExitStatus(fault=Fault.CRASH, sentence="Could not be ended, look at them by hand: 4711.", survivors=(4711,))
        )
        await supervised.started_again(2)

    assert tell(story).supervisor.survivors == {4711}


def test_who_stays_after_farewell_is_ended() -> None:
    async def story(supervised: SupervisedBot) -> None:
        process = await supervised.started_again(1)
        supervised.connection.leave(wire.FAREWELL_REASON_FINISHED, "All games are over.")
        await supervised.supervisor.part()
        assert process.end.result() is ENDED_BY_US

    assert not tell(story).noted

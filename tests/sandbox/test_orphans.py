"""A later run ends what a killed one left behind."""

import signal
import sys

import pytest

from referee.sandbox.orphans import end_orphans
from tests.net.bot_processes import HOLD, BotProcesses, run_referee, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="leftovers are looked for in /proc: Linux only")


def test_the_bots_of_a_killed_referee_are_found_later(bots_here: BotProcesses) -> None:
    async def story() -> None:
        ours = await bots_here.ready(HOLD, "none")
        left = set(bots_here.processes()) - {ours.pid}
        assert left
        assert set(end_orphans(bots_here.work)) >= left
        await until(lambda: bots_here.processes() == [ours.pid])
        assert ours.pid not in end_orphans(bots_here.work)
        assert bots_here.processes() == [ours.pid]

    assert run_referee(bots_here, "none", "os.kill(os.getpid(), signal.SIGKILL)") == -signal.SIGKILL
    bots_here.run(story)

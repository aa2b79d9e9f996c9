"""A later run ends what a killed one left behind."""

import signal
import sys

import pytest

from referee.sandbox.orphans import end_orphans
from tests.net.bot_processes import HOLD, Camp, run_referee, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="leftovers are looked for in /proc: Linux only")


def test_the_bots_of_a_killed_referee_are_found_later(camp: Camp) -> None:
    async def story() -> None:
        ours = await camp.ready(HOLD, "none")
        left = set(camp.processes()) - {ours.pid}
        assert left
        assert set(end_orphans(camp.work)) >= left
        await until(lambda: camp.processes() == [ours.pid])
        assert ours.pid not in end_orphans(camp.work)
        assert camp.processes() == [ours.pid]

    assert run_referee(camp, "none", "os.kill(os.getpid(), signal.SIGKILL)") == -signal.SIGKILL
    camp.run(story)

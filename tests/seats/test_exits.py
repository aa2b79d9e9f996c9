"""From a wait status to a verdict and a sentence."""

import signal

import pytest

from referee.faults import Fault
from referee.seats.exits import Evidence, Exit, Order, judge, signal_name
from referee.seats.limits import Limits

LIMITS = Limits(memory_mib=100, cpu_seconds=5)
KILLED = int(signal.SIGKILL)
OUR_ORDER = Order(None, "The referee ended it.")
OVER = Order(Fault.RESOURCE_PIDS, "It ran 65 processes at once; its limit is 64.")


def exited(code: int) -> int:
    """The wait status of a process that ended with an exit code."""
    return code << 8


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [
        (Evidence(exited(0), None, LIMITS), Exit(None, "It ended with exit code 0.", 0)),
        (Evidence(exited(4), None, LIMITS), Exit(Fault.CRASH, "It ended with exit code 4.", 4)),
        (Evidence(6, None, LIMITS), Exit(Fault.CRASH, "It crashed with SIGABRT.", None, 6)),
        (Evidence(6 | 0x80, None, LIMITS), Exit(Fault.CRASH, "It crashed with SIGABRT.", None, 6)),
        (Evidence(exited(139), None, LIMITS), Exit(Fault.CRASH, "It ended with exit code 139.", 139)),
        (Evidence(exited(139), None, LIMITS, shelled=True), Exit(Fault.CRASH, "It crashed with SIGSEGV.", None, 11)),
        (Evidence(exited(255), None, LIMITS, shelled=True), Exit(Fault.CRASH, "It ended with exit code 255.", 255)),
        (
            Evidence(exited(0), None, LIMITS, swept=2),
            Exit(None, "It ended with exit code 0. It left 2 processes running, which the referee ended.", 0, None, 2),
        ),
        (
            Evidence(exited(1), None, LIMITS, peak_bytes=95 * 2**20),
            Exit(Fault.RESOURCE_MEM, "It ran out of memory (its limit is 100 MiB) and ended with exit code 1.", 1),
        ),
        (
            Evidence(6, None, LIMITS, output="terminate called after throwing an instance of 'std::bad_alloc'\n"),
            Exit(Fault.RESOURCE_MEM, "It ran out of memory (its limit is 100 MiB) and ended with SIGABRT.", None, 6),
        ),
        (
            Evidence(exited(1), None, LIMITS, output="MemoryError\n" + 2000 * "later "),
            Exit(Fault.CRASH, "It ended with exit code 1.", 1),
        ),
        (Evidence(exited(0), None, LIMITS, output="MemoryError"), Exit(None, "It ended with exit code 0.", 0)),
        (
            Evidence(int(signal.SIGXCPU), None, LIMITS),
            Exit(Fault.RESOURCE_CPU, "It used 5 s of processor time, which is its limit.", None, int(signal.SIGXCPU)),
        ),
        (
            Evidence(KILLED, None, LIMITS, cpu_seconds=7.0),
            Exit(Fault.RESOURCE_CPU, "It used 5 s of processor time, which is its limit.", None, 9),
        ),
        (
            Evidence(KILLED, None, LIMITS, cpu_seconds=1.0),
            Exit(
                Fault.CRASH,
                "It was ended by SIGKILL, which the referee did not send: perhaps the machine ran out of memory.",
                None,
                9,
            ),
        ),
        (Evidence(KILLED, OUR_ORDER, LIMITS), Exit(None, "The referee ended it.", None, 9)),
        (Evidence(exited(3), OUR_ORDER, LIMITS), Exit(Fault.CRASH, "It ended with exit code 3.", 3)),
        (Evidence(exited(0), OUR_ORDER, LIMITS), Exit(None, "It ended with exit code 0.", 0)),
        (Evidence(exited(3), OVER, LIMITS), Exit(Fault.RESOURCE_PIDS, OVER.sentence, 3)),
        (
            Evidence(None, OUR_ORDER, LIMITS, survivors=(71, 72)),
            Exit(
                None,
                "It did not end in time. Could not be ended, look at it by hand: process 71, 72.",
                None,
                None,
                0,
                (71, 72),
            ),
        ),
    ],
)
def test_verdicts(evidence: Evidence, verdict: Exit) -> None:
    assert judge(evidence) == verdict


def test_signals_have_names() -> None:
    assert signal_name(signal.SIGTERM) == "SIGTERM"
    assert signal_name(200) == "signal 200"

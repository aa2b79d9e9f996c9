"""From a wait status to a verdict and a sentence."""

import signal

import pytest

from referee.sandbox.exit_status import ExitEvidence, ExitStatus, KillReason, judge, signal_name
from referee.sandbox.limits import ResourceLimits
from referee.umpire.faults import Fault

LIMITS = ResourceLimits(memory_mib=100, cpu_seconds=5)
KILLED = int(signal.SIGKILL)
OUR_ORDER = KillReason(None, "The referee ended it.")
OVER = KillReason(Fault.RESOURCE_PIDS, "It ran 65 processes at once; its limit is 64.")


def exited(code: int) -> int:
    """The wait status of a process that ended with an exit code."""
    return code << 8


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [
        (ExitEvidence(exited(0), None, LIMITS), ExitStatus(None, "It ended with exit code 0.", 0)),
        (ExitEvidence(exited(4), None, LIMITS), ExitStatus(Fault.CRASH, "It ended with exit code 4.", 4)),
        (ExitEvidence(6, None, LIMITS), ExitStatus(Fault.CRASH, "It crashed with SIGABRT.", None, 6)),
        (ExitEvidence(6 | 0x80, None, LIMITS), ExitStatus(Fault.CRASH, "It crashed with SIGABRT.", None, 6)),
        (ExitEvidence(exited(139), None, LIMITS), ExitStatus(Fault.CRASH, "It ended with exit code 139.", 139)),
        (
            ExitEvidence(exited(139), None, LIMITS, shelled=True),
            ExitStatus(Fault.CRASH, "It crashed with SIGSEGV.", None, 11),
        ),
        (
            ExitEvidence(exited(255), None, LIMITS, shelled=True),
            ExitStatus(Fault.CRASH, "It ended with exit code 255.", 255),
        ),
        (
            ExitEvidence(exited(0), None, LIMITS, swept=2),
            ExitStatus(
                None, "It ended with exit code 0. It left 2 processes running, which the referee ended.", 0, None, 2
            ),
        ),
        (
            ExitEvidence(exited(1), None, LIMITS, peak_bytes=95 * 2**20),
            ExitStatus(
                Fault.RESOURCE_MEM, "It ran out of memory (its limit is 100 MiB) and ended with exit code 1.", 1
            ),
        ),
        (
            ExitEvidence(6, None, LIMITS, output="terminate called after throwing an instance of 'std::bad_alloc'\n"),
            ExitStatus(
                Fault.RESOURCE_MEM, "It ran out of memory (its limit is 100 MiB) and ended with SIGABRT.", None, 6
            ),
        ),
        (
            ExitEvidence(exited(1), None, LIMITS, output="MemoryError\n" + 2000 * "later "),
            ExitStatus(Fault.CRASH, "It ended with exit code 1.", 1),
        ),
        (
            ExitEvidence(exited(0), None, LIMITS, output="MemoryError"),
            ExitStatus(None, "It ended with exit code 0.", 0),
        ),
        (
            ExitEvidence(int(signal.SIGXCPU), None, LIMITS),
            ExitStatus(
                Fault.RESOURCE_CPU, "It used 5 s of processor time, which is its limit.", None, int(signal.SIGXCPU)
            ),
        ),
        (
            ExitEvidence(KILLED, None, LIMITS, cpu_seconds=7.0),
            ExitStatus(Fault.RESOURCE_CPU, "It used 5 s of processor time, which is its limit.", None, 9),
        ),
        (
            ExitEvidence(KILLED, None, LIMITS, cpu_seconds=1.0),
            ExitStatus(
                Fault.CRASH,
                "It was ended by SIGKILL, which the referee did not send: perhaps the machine ran out of memory.",
                None,
                9,
            ),
        ),
        (ExitEvidence(KILLED, OUR_ORDER, LIMITS), ExitStatus(None, "The referee ended it.", None, 9)),
        (ExitEvidence(exited(3), OUR_ORDER, LIMITS), ExitStatus(Fault.CRASH, "It ended with exit code 3.", 3)),
        (ExitEvidence(exited(0), OUR_ORDER, LIMITS), ExitStatus(None, "It ended with exit code 0.", 0)),
        (ExitEvidence(exited(3), OVER, LIMITS), ExitStatus(Fault.RESOURCE_PIDS, OVER.sentence, 3)),
        (
            ExitEvidence(None, OUR_ORDER, LIMITS, survivors=(71, 72)),
            ExitStatus(
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
def test_verdicts(evidence: ExitEvidence, verdict: ExitStatus) -> None:
    assert judge(evidence) == verdict


def test_signals_have_names() -> None:
    assert signal_name(signal.SIGTERM) == "SIGTERM"
    assert signal_name(200) == "signal 200"

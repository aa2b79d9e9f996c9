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
        (
            ExitEvidence(status=exited(0), order=None, limits=LIMITS),
            ExitStatus(fault=None, sentence="It ended with exit code 0.", code=0),
        ),
        (
            ExitEvidence(status=exited(4), order=None, limits=LIMITS),
            ExitStatus(fault=Fault.CRASH, sentence="It ended with exit code 4.", code=4),
        ),
        (
            ExitEvidence(status=6, order=None, limits=LIMITS),
            ExitStatus(fault=Fault.CRASH, sentence="It crashed with SIGABRT.", code=None, signal=6),
        ),
        (
            ExitEvidence(status=6 | 0x80, order=None, limits=LIMITS),
            ExitStatus(fault=Fault.CRASH, sentence="It crashed with SIGABRT.", code=None, signal=6),
        ),
        (
            ExitEvidence(status=exited(139), order=None, limits=LIMITS),
            ExitStatus(fault=Fault.CRASH, sentence="It ended with exit code 139.", code=139),
        ),
        (
            ExitEvidence(status=exited(139), order=None, limits=LIMITS, shelled=True),
            ExitStatus(fault=Fault.CRASH, sentence="It crashed with SIGSEGV.", code=None, signal=11),
        ),
        (
            ExitEvidence(status=exited(255), order=None, limits=LIMITS, shelled=True),
            ExitStatus(fault=Fault.CRASH, sentence="It ended with exit code 255.", code=255),
        ),
        (
            ExitEvidence(status=exited(0), order=None, limits=LIMITS, swept=2),
            ExitStatus(
                fault=None,
                sentence="It ended with exit code 0. It left 2 processes running, which the referee ended.",
                code=0,
                signal=None,
                swept=2,
            ),
        ),
        (
            ExitEvidence(status=exited(1), order=None, limits=LIMITS, peak_bytes=95 * 2**20),
            ExitStatus(
                fault=Fault.RESOURCE_MEM,
                sentence="It ran out of memory (its limit is 100 MiB) and ended with exit code 1.",
                code=1,
            ),
        ),
        (
            ExitEvidence(
                status=6,
                order=None,
                limits=LIMITS,
                output="terminate called after throwing an instance of 'std::bad_alloc'\n",
            ),
            ExitStatus(
                fault=Fault.RESOURCE_MEM,
                sentence="It ran out of memory (its limit is 100 MiB) and ended with SIGABRT.",
                code=None,
                signal=6,
            ),
        ),
        (
            ExitEvidence(status=exited(1), order=None, limits=LIMITS, output="MemoryError\n" + 2000 * "later "),
            ExitStatus(fault=Fault.CRASH, sentence="It ended with exit code 1.", code=1),
        ),
        (
            ExitEvidence(status=exited(0), order=None, limits=LIMITS, output="MemoryError"),
            ExitStatus(fault=None, sentence="It ended with exit code 0.", code=0),
        ),
        (
            ExitEvidence(status=int(signal.SIGXCPU), order=None, limits=LIMITS),
            ExitStatus(
                fault=Fault.RESOURCE_CPU,
                sentence="It used 5 s of processor time, which is its limit.",
                code=None,
                signal=int(signal.SIGXCPU),
            ),
        ),
        (
            ExitEvidence(status=KILLED, order=None, limits=LIMITS, cpu_seconds=7.0),
            ExitStatus(
                fault=Fault.RESOURCE_CPU,
                sentence="It used 5 s of processor time, which is its limit.",
                code=None,
                signal=9,
            ),
        ),
        (
            ExitEvidence(status=KILLED, order=None, limits=LIMITS, cpu_seconds=1.0),
            ExitStatus(
                fault=Fault.CRASH,
                sentence="It was ended by SIGKILL, which the referee did not send: perhaps the machine ran out of memory.",
                code=None,
                signal=9,
            ),
        ),
        (
            ExitEvidence(status=KILLED, order=OUR_ORDER, limits=LIMITS),
            ExitStatus(fault=None, sentence="The referee ended it.", code=None, signal=9),
        ),
        (
            ExitEvidence(status=exited(3), order=OUR_ORDER, limits=LIMITS),
            ExitStatus(fault=Fault.CRASH, sentence="It ended with exit code 3.", code=3),
        ),
        (
            ExitEvidence(status=exited(0), order=OUR_ORDER, limits=LIMITS),
            ExitStatus(fault=None, sentence="It ended with exit code 0.", code=0),
        ),
        (
            ExitEvidence(status=exited(3), order=OVER, limits=LIMITS),
            ExitStatus(fault=Fault.RESOURCE_PIDS, sentence=OVER.sentence, code=3),
        ),
        (
            ExitEvidence(status=None, order=OUR_ORDER, limits=LIMITS, survivors=(71, 72)),
            ExitStatus(
                fault=None,
                sentence="It did not end in time. Could not be ended, look at it by hand: process 71, 72.",
                code=None,
                signal=None,
                swept=0,
                survivors=(71, 72),
            ),
        ),
    ],
)
def test_verdicts(evidence: ExitEvidence, verdict: ExitStatus) -> None:
    assert judge(evidence) == verdict


def test_signals_have_names() -> None:
    assert signal_name(signal.SIGTERM) == "SIGTERM"
    assert signal_name(200) == "signal 200"

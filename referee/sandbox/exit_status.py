"""How a bot process ended, in a form for programs and in one sentence for people."""

import os
import signal
from dataclasses import dataclass

from referee.sandbox.limits import ResourceLimits
from referee.umpire.faults import Fault

OUT_OF_MEMORY_LINES = ("MemoryError", "std::bad_alloc", "JavaScript heap out of memory", "java.lang.OutOfMemoryError")
"""What runtimes print last when they get no more memory."""

LAST_CHARACTERS = 2000
"""How far from the end of the output such a line is looked for (characters)."""

NEAR_LIMIT = 0.9
"""A bot that failed with this share of its memory limit in use is taken to have failed for want of memory."""

HIGHEST_SIGNAL = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitStatus:
    """The end of a bot process.

    `fault`     CRASH or one of the RESOURCE faults; None where the end alone is no fault (exit code 0, or an order of
                the referee): whether it was time to go, only the session knows.
    `sentence`  what happened, for people.
    `code`, `signal`  how the first process ended; both None if it could not be made to end.
    `swept`     how many processes it left running, which were then ended.
    `survivors` ids of processes that could not be ended within a few seconds; empty on any healthy machine.
    """

    fault: Fault | None
    sentence: str
    code: int | None = None
    signal: int | None = None
    swept: int = 0
    survivors: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class KillReason:
    """The referee ended the bot: for which fault (None: the order itself is no fault), and why, in one sentence."""

    fault: Fault | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitEvidence:
    """What is known when a process is gone. `status` is that of `os.waitpid`, None if the process would not die.

    `peak_bytes` and `cpu_seconds` are the most that was seen, 0 if unknown. `output` is the end of what it wrote.
    `starved`: the kernel has ended a process of the bot because its memory was at its end. `shelled`: codes above 128 stand for signals, as a shell or bubblewrap hands them on.
    """

    status: int | None
    order: KillReason | None
    limits: ResourceLimits
    peak_bytes: int = 0
    cpu_seconds: float = 0.0
    output: str = ""
    starved: bool = False
    shelled: bool = False
    swept: int = 0
    survivors: tuple[int, ...] = ()


def judge(evidence: ExitEvidence) -> ExitStatus:
    """The verdict on the end of a process. An order of the referee comes first, then limits, then code and signal."""
    code, number = split_status(evidence.status, shelled=evidence.shelled)
    order = evidence.order
    if order is None or _came_first(order, number):
        order = _unordered(evidence, code, number)
    sentence = order.sentence
    if evidence.swept:
        left = "1 process" if evidence.swept == 1 else f"{evidence.swept} processes"
        sentence += f" It left {left} running, which the referee ended."
    if evidence.survivors:
        pids = ", ".join(map(str, evidence.survivors))
        sentence += f" Could not be ended, look at it by hand: process {pids}."
    return ExitStatus(
        fault=order.fault,
        sentence=sentence,
        code=code,
        signal=number,
        swept=evidence.swept,
        survivors=evidence.survivors,
    )


def _came_first(order: KillReason, number: int | None) -> bool:
    """Whether a mere order to end is not what ended the bot: a crash must not pass for our doing.

    A dying process closes its stream before its end is seen, so the order often follows at once.
    """
    return order.fault is None and number != signal.SIGKILL


def split_status(status: int | None, *, shelled: bool) -> tuple[int | None, int | None]:
    """(exit code, None) or (None, signal number) from a wait status; (None, None) if there is none."""
    if status is None:
        return None, None
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        return None, -code
    if shelled and 128 < code <= 128 + HIGHEST_SIGNAL:
        return None, code - 128
    return code, None


def signal_name(number: int) -> str:
    """The name of a signal, as SIGSEGV; its number where it has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _unordered(evidence: ExitEvidence, code: int | None, number: int | None) -> KillReason:
    """The verdict where the referee gave no order: the bot ended by itself, or the kernel ended it."""
    limits = evidence.limits
    if evidence.status is None:
        return KillReason(None, "It did not end in time.")
    if number == signal.SIGXFSZ:
        return KillReason(
            Fault.RESOURCE_OUTPUT, f"It wrote a file of more than {limits.disk_mib} MiB, which is its limit."
        )
    if _used_up_cpu(evidence, number):
        return KillReason(Fault.RESOURCE_CPU, f"It used {limits.cpu_seconds} s of processor time, which is its limit.")
    if code == 0:
        return KillReason(None, "It ended with exit code 0.")
    end = f"exit code {code}" if number is None else signal_name(number)
    if _starved(evidence):
        sentence = f"It ran out of memory (its limit is {limits.memory_mib} MiB) and ended with {end}."
        return KillReason(Fault.RESOURCE_MEM, sentence)
    if number == signal.SIGKILL:
        sentence = "It was ended by SIGKILL, which the referee did not send: perhaps the machine ran out of memory."
        return KillReason(Fault.CRASH, sentence)
    return KillReason(Fault.CRASH, f"It ended with {end}." if number is None else f"It crashed with {end}.")


def _used_up_cpu(evidence: ExitEvidence, number: int | None) -> bool:
    limit = evidence.limits.cpu_seconds
    if limit is None:
        return False
    return number == signal.SIGXCPU or (number == signal.SIGKILL and evidence.cpu_seconds >= limit)


def _starved(evidence: ExitEvidence) -> bool:
    if evidence.starved or evidence.peak_bytes >= NEAR_LIMIT * evidence.limits.memory_bytes:
        return True
    return any(line in evidence.output[-LAST_CHARACTERS:] for line in OUT_OF_MEMORY_LINES)

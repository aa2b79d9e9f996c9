"""Long work in a process of its own, so that the site goes on answering meanwhile."""

import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Final

_LOOK_S: Final = 0.2
_NICE: Final = 10
"""Games go first; but a host that plays all the time has to show a board too."""


class AsideError(Exception):
    """Work in another process that came to nothing: the process died, was ended, or its work failed, as the text says."""


def aside(work: Callable[..., Any], *values: Any, is_over: Callable[[], bool]) -> Any:
    """What ``work`` of a module gives for these values, done in another process; games go first.

    It is ended when ``is_over`` says so. Raises ``AsideError``.
    """
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_work_into, args=(sending, work, *values), daemon=True)
    with receiving:
        with sending:
            process.start()
        try:
            while not receiving.poll(_LOOK_S):
                if is_over():
                    raise AsideError("the site ends")
            done, value = receiving.recv()
        except EOFError:
            raise AsideError("the process that did it has died") from None
        finally:
            if is_over():
                process.kill()
            process.join()
            process.close()
    if not done:
        raise AsideError(value)
    return value


def _work_into(sending: Connection, work: Callable[..., Any], *values: Any) -> None:
    """What that process does: it sends whether it is done, and what came of it, or what went wrong in words."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever has started it ends it
    os.nice(_NICE)
    with sending:
        try:
            told = (True, work(*values))
        except Exception:  # noqa: BLE001  # whatever it is, the log of the site has it
            told = (False, traceback.format_exc())
        sending.send(told)

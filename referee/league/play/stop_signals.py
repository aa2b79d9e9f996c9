"""Ctrl-C, the end of the terminal and SIGTERM, while something runs that ends in its own way."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def on_stop_signals(stop: Callable[[], None]) -> Iterator[None]:
    """While the body runs, each of these signals calls ``stop`` and nothing else. One that is ignored stays so: ``nohup``, ``&`` in a script."""
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    for number in STOP_SIGNALS:
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, lambda _number, _frame: stop())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

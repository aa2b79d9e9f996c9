"""The ``referee`` command, also as ``python -m referee``."""

import _signal as signal  # type: ignore[import-not-found]  # the C module alone: nothing else is loaded before Ctrl-C is taken care of
import os
import sys

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


def main() -> None:
    """Loads the command line and runs it; Ctrl-C while it loads ends the program without a word."""
    _open_what_is_closed()
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # it may be ignored, in the background
    if ours:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    from referee.cli import main as run

    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _open_what_is_closed() -> None:
    """A standard stream that is closed (``>&-``) leads nowhere; else a file that is opened, a league's too, takes its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: PTH123, SIM115


if __name__ == "__main__":
    main()

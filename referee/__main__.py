"""The ``referee`` command, also as ``python -m referee``."""

import _signal as signal  # type: ignore[import-not-found]  # the C module alone: nothing else is loaded before Ctrl-C is taken care of
import os

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


def main() -> None:
    """Loads the command line and runs it; Ctrl-C while it loads ends the program without a word."""
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # it may be ignored, in the background
    if ours:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    from referee.cli import main as run

    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()

"""The exit codes of all commands, in one list. What a program reads of a command, it reads here first."""

from typing import Final

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
INCOMPLETE: Final = 3
NO_VERDICT: Final = 5
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141

EXIT_CODES: Final = (
    ("0", "all", "Done. A league: finished, and everyone who entered took part to its end."),
    ("1", "all", "Failed: the message says why."),
    ("1", "check, submit", "A rule is broken."),
    ("1", "push, connect", "The host has refused the bot; connect: or the organiser has withdrawn it."),
    ("1", "verify, rerun", "There is a divergence; the results differ."),
    ("1", "schedule", "A check of the schedule fails."),
    ("1", "ask", "An illegal answer, or none."),
    ("2", "all", "Wrong usage: an option, a definition, or a file, game or turn that is not there."),
    ("2", "push, connect", "The host does not take that in: the address, the token, the name or the size is wrong."),
    ("3", "run, resume, play, rerun", "The league is finished, but nothing was scored or a bot was withdrawn."),
    ("3", "check, submit, push --check", "Incomplete: a rule is untested."),
    ("3", "build", "A compiler or a library is missing."),
    ("3", "compare", "The new version is worse."),
    ("4", "check, submit, push --check", "The bot never became ready."),
    ("4", "compare", "Not decided."),
    ("5", "check, submit", "The referee itself failed: no verdict."),
    ("5", "push, connect", "No verdict: the network or the host failed. Push or connect it again."),
    ("6", "check --replay", "The witness was never reproduced: it cannot be replayed."),
    (
        "130",
        "all",
        "Stopped by Ctrl-C. A league goes on with referee resume, a ladder with referee run, a job at a host by itself.",
    ),
    ("141", "all", "Nobody reads the output any more (a closed pipe)."),
)
"""Code, commands, meaning."""

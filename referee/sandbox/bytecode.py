"""The modules of the SDK, compiled once where Python looks for them, so that no bot has to do it at its start.

Bots write no bytecode, and in a sandbox they cannot. What pip has installed it has compiled; a checkout has not, and its bots
would spend a third of their start on the same work each time.
"""

import compileall
import sys
from functools import cache
from pathlib import Path

from referee.sandbox.command import PACKAGE

_PARTS = ("bot", "protocol")


@cache
def compile_sdk(package: Path = PACKAGE) -> None:
    """Compiles what is not compiled, or has changed since, unless Python was told to write no bytecode. Once a process.

    Only the referee writes there. What cannot be written or compiled is left as it is: then bots do it, as ever.
    """
    if sys.dont_write_bytecode:
        return
    for folder, depth in ((package, 0), *((package / part, 9) for part in _PARTS)):
        compileall.compile_dir(folder, maxlevels=depth, quiet=2)

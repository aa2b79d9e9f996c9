"""Raises an exception before it has joined.

Lap: start
Verdict: START_FAILED
Games: none
Says: Its last words: ModuleNotFoundError
"""

import a_module_that_nobody_has  # noqa: F401

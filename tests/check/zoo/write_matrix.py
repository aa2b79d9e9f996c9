"""Writes the zoo into docs/testing.md: ``python -m tests.check.zoo.write_matrix``."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.check.zoo.good import GOOD
from tests.check.zoo.mutants import MUTANTS
from tests.check.zoo.wires import ODD, WIRE_MUTANTS

PAGE: Final = Path(__file__).resolve().parents[3] / "docs" / "testing.md"
BEGIN: Final = "<!-- zoo:begin -->\n"
END: Final = "<!-- zoo:end -->\n"
HEAD: Final = """\
The zoo holds {bad} faulty bots, each a correct bot with one decision changed, and {good} that are odd but
correct. Every faulty one has to fail its own rule **and no other**; no good one may ever be flagged. `tests/check/test_kill_matrix.py`
holds that in continuous integration, and that every witness fails again with the bot as it is and not with a fixed one; `python -m tests.check.zoo.write_matrix` writes this part of the page.

There is a faulty bot for every rule that binds a bot, but for one: a fifth suit cannot be said on the wire, so who names one breaks
AF-PROTO-003 and not AF-TRUMP-002.

| bot | what is wrong with it | game | its rule |
|---|---|---|---|
"""


def entries() -> Iterator[tuple[str, str, str, str, str]]:
    """Every faulty bot: file, name, what is wrong with it, game, rule."""
    for one in MUTANTS.values():
        yield "mutants.py", one.name, one.about, one.game, one.rule
    for other in WIRE_MUTANTS.values():
        yield "wires.py", other.name, other.about, other.game, other.rule


def row(name: str, about: str, game: str, rule: str) -> str:
    """One line of the page."""
    return f"| {name} | {about} | {game} | {rule} |\n"


def tail() -> str:
    """The good bots."""
    names = ", ".join(f"`{name}`" for name in (*GOOD, *ODD))
    return f"\nOdd but correct, and never flagged: {names}.\n"


def part() -> str:
    """This part of the page."""
    head = HEAD.format(bad=len(MUTANTS) + len(WIRE_MUTANTS), good=len(GOOD) + len(ODD))
    rows = [row(name, about, game, rule) for _, name, about, game, rule in entries()]
    return "".join([BEGIN, head, *rows, tail(), END])


def main() -> None:
    """Writes the page."""
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    PAGE.write_text(before + part() + rest.partition(END)[2], "utf-8")


if __name__ == "__main__":
    main()

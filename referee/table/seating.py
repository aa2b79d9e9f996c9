"""Who sits where at a person's table, before anything is played."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from referee.league.definition.toml_values import toml_text, toml_value
from referee.rules import RuleSet, RuleSetError

USUAL_BOTS: Final = ("careful", "montecarlo", "random")
"""Who plays where nobody is named."""

_USUAL_SEATS: Final = 4


class SeatingError(RuleSetError):
    """Nobody can sit like that; the message says what to do."""

    def __init__(self, sentence: str) -> None:
        super().__init__("seats", sentence)


@dataclass(frozen=True, slots=True)
class TableSeating:
    """``bots`` by seat, with an empty word where the person sits."""

    bots: tuple[str, ...]
    you: int


def seat_all(rules: RuleSet, bots: Sequence[str], seats: int | None, seat: int) -> TableSeating:
    """The bots from the person's left on, again from the first until the table is full. ``seat`` counts from 1.

    Without ``seats`` there are as many as the bots and the person need, or the fewest more that the game allows. Raises ``SeatingError``.
    """
    low, high = rules.players
    usual = len(bots) + 1 if bots else _USUAL_SEATS
    number = min(max(usual, low), high) if seats is None else seats
    if not low <= number <= high:
        allowed = f"{low}" if low == high else f"{low} to {high}"
        raise SeatingError(f"{rules.title} is for {allowed} players, not {number}; give another --seats")
    if len(bots) > number - 1:
        raise SeatingError(
            f"{len(bots)} bots and you are {len(bots) + 1}, and the table has {number} seats; name {number - 1} bots or fewer"
        )
    if not 1 <= seat <= number:
        raise SeatingError(f"the table has the seats 1 to {number}, and no {seat}; give another --seat")
    rules.check_seats(number)
    named = bots or USUAL_BOTS
    seated = [""] * number
    for place in range(number - 1):
        seated[(seat + place) % number] = named[place % len(named)]
    return TableSeating(tuple(seated), seat - 1)


def names_of_copies(seating: TableSeating, names: Mapping[str, str]) -> dict[int, str]:
    """Names by seat where a bot sits there that has another name than its own: ``names`` of bots, numbered where one sits twice."""
    given: dict[int, str] = {}
    seen: dict[str, int] = {}
    for place in range(1, len(seating.bots)):
        seat = (seating.you + place) % len(seating.bots)
        name = names[seating.bots[seat]]
        seen[name] = seen.get(name, 0) + 1
        given[seat] = name if seen[name] == 1 else f"{name[:36]}-{seen[name]}"
    return given


def table_definition(
    title: str,
    rules: RuleSet,
    changes: Mapping[str, Any],
    seating: TableSeating,
    names: Mapping[int, str],
    person: str,
    seconds: float | None,
) -> str:
    """The definition of a table as TOML. ``changes`` are the house rules beside those of the variant; ``names``: by seat, of the bots."""
    lines = [
        f"[tournament]\nname = {toml_text(title)}",
        f"variant = {toml_text(rules.name)}",
        f"seats = {len(seating.bots)}",
        '[schedule]\nformat = "one-table"\nduplicate = false\nsets = 1',
        '[policy]\nprofile = "dev"',
        "[limits]\nmax_in_flight = 1\ngame_s = 86400",
        "" if seconds is None else f"move_ms = {round(seconds * 1000)}\nbank_ms = 0",
    ]
    if changes:
        lines += ["[rules]", *(f"{name} = {toml_value(value)}" for name, value in changes.items())]
    for seat, bot in enumerate(seating.bots):
        source = "remote = true" if seat == seating.you else f"path = {toml_text(bot)}"
        name = person if seat == seating.you else names[seat]
        lines.append(f"[[bots]]\n{source}\nname = {toml_text(name)}")
    return "\n".join(lines) + "\n"

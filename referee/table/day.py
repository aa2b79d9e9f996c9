"""The packs of a day: the same for everybody who plays the same game at the same table."""

from datetime import date
from typing import Final

from referee import deals
from referee.league.league import KnownMaster

NOTE: Final = "The packs of a day follow from its date: whoever looks knows every card. So this is practice, and there is no table of players."


def master_of_the_day(day: date, variant: str) -> KnownMaster:
    """The master of all packs of a day in that game."""
    return KnownMaster(deals.seeded_master(f"daily {day.isoformat()} {variant}"), NOTE)


def title_of_the_day(day: date) -> str:
    """What the league of a day is called; it is part of what the packs follow from."""
    return f"Daily {day.isoformat()}"

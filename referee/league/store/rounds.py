"""The fact ``rounds`` of a ladder as it may stand in a store that anybody has written, and how many rounds it has room for."""

from collections.abc import Collection, Sequence
from typing import Final

from referee.league.store.export_format import dumped, inner_misfit
from referee.league.store.json_text import MOST_BYTES, MOST_VALUES, values_at_most
from referee.league.store.league_facts import RoundFacts

_ROOM: Final = 2
"""All rounds take at most one part in so many of what can be read: the standings of the end have to fit in beside them."""


def round_misfit(rounds: Sequence[object], entrants: Collection[str], sets: int) -> str:
    """What no rounds of a ladder with these entrants and so many stored sets can hold; empty if all is in bounds.

    Whoever goes through rounds that pass needs memory for as much as the store has rows of, and no more.
    """
    left, known = sets, set(entrants)
    for place, one in enumerate(rounds):
        if told := inner_misfit(RoundFacts, one):
            return f"rounds[{place}]{told}"
        round_: RoundFacts = one  # type: ignore[assignment]  # which has been looked at
        named = {
            "entered": [new["key"] for new in round_["entered"]],
            "bots": round_["bots"],
            "placed": round_["placed"],
        }
        for name, keys in named.items():
            if len(set(keys)) < len(keys) or not known.issuperset(keys):
                return f"rounds[{place}].{name}: a bot twice, or one that is no entrant"
        own = sum(part["sets"] for part in round_["tables"])
        left -= own
        if left < 0:
            return f"rounds[{place}].tables: more sets than the {sets:,} that are stored"
        if len(round_["pairs"]) > own:
            return f"rounds[{place}].pairs: more than the round has sets"
    return ""


def has_room(rounds: Sequence[RoundFacts]) -> bool:
    """Whether these rounds can be stored and exported, and read again."""
    text = dumped(list(rounds))
    return len(text) <= MOST_BYTES // _ROOM and values_at_most(text) <= MOST_VALUES // _ROOM

"""The variants by name: what each game changes against the shared core."""

import difflib
from functools import cache

from referee.rules.ruleset import RuleSet, RuleSetError

ALIASES = {
    "pitch": "auction-pitch",
    "auction-pitch-stick-the-dealer": "auction-pitch-forced",
    "pitch-smudge": "smudge",
    "setback": "partnership-pitch",
    "set-back": "partnership-pitch",
}
"""Other names of a variant."""


@cache
def _registry() -> dict[str, RuleSet]:
    pitch = RuleSet(name="auction-pitch", title="Auction Pitch", players=(2, 7))
    variants = (
        pitch,
        pitch.with_rules(
            {"name": "auction-pitch-forced", "title": "Auction Pitch, dealer forced", "all_pass": "dealer_forced"}
        ),
        pitch.with_rules(
            {
                "name": "smudge",
                "title": "Pitch (Smudge)",
                "players": (3, 5),
                "steal": (),
                "low_to": "taker",
                "smudge": "any",
            }
        ),
        pitch.with_rules(
            {
                "name": "partnership-pitch",
                "title": "Partnership Pitch",
                "players": (4, 6),
                "sides": 2,
                "target": 11,
                "settlement": "none",
            }
        ),
    )
    return {rules.name: rules for rules in variants}


def variant(name: str) -> RuleSet:
    """The rule set of a variant, by its name or an alias; raises ``RuleSetError`` with the nearest names."""
    key = ALIASES.get(name, name)
    found = _registry().get(key)
    if found is None:
        near = difflib.get_close_matches(key, [*_registry(), *ALIASES], n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"the variants are {', '.join(_registry())}"
        raise RuleSetError("variant", f"{name!r} is no variant; {hint}")
    return found


def variant_names() -> tuple[str, ...]:
    """The names of all variants, the primary game first."""
    return tuple(_registry())

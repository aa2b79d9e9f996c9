"""The published counts of legal action lists, as far as they go quickly; in full by ``python -m tests.rules.perft``."""

import json
from typing import Any, Final

import pytest

from referee.rules import variant_names
from tests.rules.perft import END, VECTORS, depth_within, differences, perft, positions_of

pytestmark = pytest.mark.search

CASES: Final[list[dict[str, Any]]] = json.loads(VECTORS.read_text("utf-8"))["cases"]
MOST: Final = 500
"""Lists of one length that are still followed here, in both engines."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_both_engines_come_to_the_published_counts(case: dict[str, Any]) -> None:
    assert differences(case, MOST) == []


def test_every_variant_is_counted_and_cut_down_wholly() -> None:
    assert {case["rules"]["variant"] for case in CASES} == set(variant_names())
    whole = {case["rules"]["variant"] for case in CASES if case["complete"] is not None}
    assert whole == set(variant_names())


def test_some_are_enumerated_wholly_here() -> None:
    assert sum(depth_within(case, MOST) == END for case in CASES) >= 5


def test_the_first_lengths_can_be_counted_by_hand() -> None:
    two = next(case for case in CASES if case["rules"] == {"variant": "auction-pitch"} and case["seats"] == 2)
    # Eldest: pass 2 3 4. After pass: pass 2 3 4; after 2: pass 2 3 4; after 3: pass 3 4; after 4 he leads, six cards.
    assert two["counts"][:2] == [4, 4 + 4 + 3 + 6]


def test_one_wrong_rule_changes_the_counts() -> None:
    case = next(case for case in CASES if case["rules"] == {"variant": "auction-pitch"} and case["seats"] == 2)
    spoilt = {**case, "rules": {"variant": "auction-pitch", "steal": [2]}}
    assert differences(spoilt, MOST)
    counts, _ = perft(positions_of(spoilt)[0], 2)
    assert counts == [4, 16]

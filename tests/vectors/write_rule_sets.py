"""Writes ``rule_sets.json``: every variant of the registry in full. Run it after a change of house rules or variants.

python -m tests.vectors.write_rule_sets
"""

import json
from pathlib import Path
from typing import Any, Final

from referee.rules import variant, variant_names
from referee.rules.conduct_clauses import EDITIONS

FILE: Final = Path(__file__).with_name("rule_sets.json")


def document() -> dict[str, Any]:
    """The contents of the file."""
    return {
        "$schema": "schema/rule_sets.schema.json",
        "format": 1,
        "rules_version": EDITIONS[-1],
        "title": "Every variant in full",
        "about": "The house rules that a case of the other files names by its variant.",
        "cases": [
            {"id": f"rule-sets-{name}", "clause": [], "note": variant(name).title, "rule_set": variant(name).as_dict()}
            for name in variant_names()
        ],
    }


def text() -> str:
    """The file as it is written: one line a field, so that a change shows."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")

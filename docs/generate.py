"""Writes the parts of the documentation that follow from the code, so that they cannot drift from it.

    python docs/generate.py            write them
    python docs/generate.py --check    only say which pages are out of date; exit 1 if any is

A page holds such a part between ``<!-- generated: NAME -->`` and ``<!-- end of generated: NAME -->``; the pages under
``docs/variants`` and the plot of ``performance.md`` are written as a whole. ``tests/test_docs.py`` checks every one.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

DOCS: Final = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS))

from _commands import commands  # noqa: E402  # beside this file
from _host_figures import host_soak  # noqa: E402
from _performance import PLOT, decision_fit, decision_plot, decision_time  # noqa: E402
from _protos import messages  # noqa: E402

from referee.cli.exits import EXIT_CODES  # noqa: E402
from referee.league.definition.definition import definition_schema  # noqa: E402
from referee.league.entrants.bot_source import Manifest  # noqa: E402
from referee.league.store import GameSummary  # noqa: E402
from referee.league.store.export_format import FILES, schema_of  # noqa: E402
from referee.rules import RuleSet, variant, variant_names  # noqa: E402
from referee.rules.conduct_clauses import CONDUCT, ROBUST  # noqa: E402
from referee.rules.registry import ALIASES  # noqa: E402
from referee.rules.rulebook import CLAUSES, Clause, clause_text, clauses_of  # noqa: E402
from referee.rules.ruleset import allowed_values, meanings  # noqa: E402
from referee.sandbox.limits import ResourceLimits  # noqa: E402
from referee.umpire.faults import FAULTS, PROFILES  # noqa: E402
from referee.umpire.record import DealRecord, IrregularRecord, Record, ResultRecord  # noqa: E402
from referee.verification.unverifiable import UNPROVEN  # noqa: E402

AREAS: Final = {
    "BID": "The auction",
    "TRUMP": "Trump",
    "DRAW": "Laying away and drawing",
    "PLAY": "Play",
    "SCORE": "Scoring",
    "PROTO": "Messages",
    "CLOCK": "Time",
    "LIFE": "From start to end",
    "ROBUST": "Robustness",
}
"""The areas of the rule book, as they stand in the ids, with their titles."""

PART: Final = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end of generated: \2 -->)", re.DOTALL)

NAMES_ONLY: Final = ("name", "title", "players")
"""House rules that name a game and do not change how it is played."""

LIMITS: Final = {
    "memory_mib": "MiB of memory, with all that the bot has started and all that the kernel holds for it (`memory_mib` of the definition)",
    "processes": "processes at one time, and eight times as many threads in all",
    "descriptors": "open files of one process",
    "disk_mib": "MiB of private storage",
    "cpu_seconds": "seconds of processor time",
    "output_kept": "bytes of output at either end of the log",
    "output_total": "bytes of output in all",
}
"""What each limit of a bot process counts."""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown; bars inside of cells are escaped."""
    lines = [list(head)]
    lines += [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def code(text: object) -> str:
    """A value as code."""
    return f"`{text}`"


def slug(heading: str) -> str:
    """The anchor of a heading, as code hosts and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


# Definitions and manifests


def definition_fields() -> str:
    """Every field of a tournament definition, section by section."""
    schema = definition_schema()
    sections = []
    for name, told in schema["properties"].items():
        entry = next((kind for kind in told.get("anyOf", [told]) if kind.get("type") != "null"), told)
        model = schema["$defs"].get(_reference(entry))
        if model is not None:
            title = f"[[{name}]]" if entry.get("type") == "array" else f"[{name}]"
            sections.append(f"### `{title}`\n\n{_fields(model)}")
        else:
            where = "[The rule book](rules.md#house-rules) lists them."
            sections.append(f"### `[{name}]`\n\n{entry['description']} {where}\n")
    return "\n".join(sections)


def host_fields() -> str:
    """Every field of a definition's [host]."""
    return _fields(definition_schema()["$defs"]["HostSection"])


def manifest_fields() -> str:
    """Every field of a bot.toml."""
    return _fields(Manifest.model_json_schema())


def unproven() -> str:
    """What a verification cannot prove, and what closes each gap."""
    lines = ["| what | fields | why | closed by |", "| --- | --- | --- | --- |"]
    for one in UNPROVEN:
        fields = ", ".join(f"`{field}`" for field in one.fields)
        lines.append(f"| {one.what} | {fields} | {one.why} | {one.closed_by} |")
    return "\n".join(lines)


def export_files() -> str:
    """Every file of an export, and what its lines hold."""
    parts = [f"### `{name}`\n\n{schema['description']}\n\n{_schema_fields(schema)}" for name, schema in FILES.items()]
    return "\n".join(parts)


def record_fields() -> str:
    """Every field of a record, of its deals, its rulings and its result."""
    parts = {"The record": Record, "A deal": DealRecord, "A ruling": IrregularRecord, "The result": ResultRecord}
    return "\n".join(f"### {title}\n\n{_schema_fields(schema_of(kind))}" for title, kind in parts.items())


def summary_fields() -> str:
    """Every field of a game's summary."""
    return _schema_fields(schema_of(GameSummary))


def _schema_fields(schema: dict[str, Any]) -> str:
    rows = [
        (
            code(field) if field in schema["required"] else f"{code(field)}, not always",
            " or ".join([kind] if isinstance(kind := entry["type"], str) else kind),
            entry["description"],
        )
        for field, entry in schema["properties"].items()
    ]
    return table(("field", "type", "meaning"), rows)


def _reference(entry: dict[str, Any]) -> str:
    place = entry.get("$ref") or entry.get("items", {}).get("$ref", "")
    return str(place).rpartition("/")[2]


def _fields(model: dict[str, Any]) -> str:
    needed = model.get("required", ())
    rows = [
        (code(name), _values(name, field), _default(field.get("default"), needed=name in needed), field["description"])
        for name, field in model["properties"].items()
    ]
    return table(("field", "values", "default", "meaning"), rows)


def _values(name: str, field: dict[str, Any]) -> str:
    if name == "variant":
        return "the name of [a game](rules.md#games)"
    kinds = [kind for kind in field.get("anyOf", [field]) if kind.get("type") != "null"]
    return ", or ".join(_kind(kind, field.get("x-allowed")) for kind in kinds)


def _kind(kind: dict[str, Any], allowed: str | None) -> str:
    allowed = kind.get("x-allowed") or allowed
    if "enum" in kind:
        return ", ".join(code(f'"{value}"') for value in kind["enum"])
    if kind["type"] == "boolean":
        return "`true`, `false`"
    if kind["type"] in ("integer", "number"):
        return f"{kind['minimum']:,} to {kind['maximum']:,}"
    if kind["type"] == "array":
        return "a list of texts"
    if "maxLength" in kind and allowed is None:
        return f"text of at most {kind['maxLength']} characters"
    return allowed or "text"


def _default(value: Any, *, needed: bool) -> str:
    if needed:
        return "needed"
    if value is None or value in ("", []):
        return "none"
    return code(f'"{value}"' if isinstance(value, str) else str(value).lower())


# The rule book


def house_rules() -> str:
    """Every house rule with its values, its value in Auction Pitch, and its meaning."""
    pitch = variant("auction-pitch")
    rows = [
        (code(name), _house_values(name), _house_value(getattr(pitch, name)), meaning)
        for name, meaning in meanings().items()
        if name not in NAMES_ONLY
    ]
    return table(("house rule", "values", "in Auction Pitch", "meaning"), rows)


def _house_values(name: str) -> str:
    values = allowed_values(name)
    if values is None:
        kind = getattr(variant("auction-pitch"), name)
        return "a number" if isinstance(kind, int) else "a list"
    return ", ".join(map(_house_value, values))


def _house_value(value: object) -> str:
    if isinstance(value, tuple):
        items = [" ".join(map(str, item)) if isinstance(item, tuple) else str(item) for item in value]
        return code(", ".join(items)) if items else "none"
    return code(str(value).lower())


def variants() -> str:
    """The table of all variants."""
    rows = []
    for name in variant_names():
        rules = variant(name)
        others = ", ".join(code(alias) for alias, meant in ALIASES.items() if meant == name)
        rows.append((f"[{rules.title}](variants/{name}.md)", code(name), _players(rules), _sides(rules), others))
    return table(("game", "name", "players", "sides", "other names"), rows)


def _players(rules: RuleSet) -> str:
    low, high = rules.players
    return str(low) if low == high else f"{low} to {high}"


def _sides(rules: RuleSet) -> str:
    return f"{rules.sides} sides" if rules.sides else "each for self"


def book() -> str:
    """Every clause once, with its source, where sources differ, and the games that have it."""
    games = {name: {entry.id for entry in clauses_of(variant(name))} for name in variant_names()}
    return "\n".join(_areas(CLAUSES, games))


def conduct() -> str:
    """Every clause about conduct."""
    return "\n".join(_areas((*CONDUCT, *ROBUST), {}))


def _areas(clauses: Iterable[Clause], games: dict[str, set[str]]) -> Iterator[str]:
    area = ""
    for entry in clauses:
        if entry.id.split("-")[1] != area:
            area = entry.id.split("-")[1]
            yield f"### {AREAS[area]}\n"
        sentence = re.sub(r"\{(\w+)\}", r"`\1`", entry.sentence)
        yield f"#### {heading(entry)}\n"
        yield f"{sentence}\n"
        yield f"*{entry.level}.* Source: {_sources(entry.source)}.{_differs(entry)}{_holds(entry, games)}\n"


def heading(entry: Clause) -> str:
    """The heading of a clause in the rule book."""
    return f"{entry.id} {entry.title}"


def _sources(text: str) -> str:
    return re.sub(r"DP-\d\d", lambda match: f"[{match[0]}](decisions.md#{match[0].lower()})", text)


def _differs(entry: Clause) -> str:
    return f" Where sources differ: {entry.differs}" if entry.differs else ""


def _holds(entry: Clause, games: dict[str, set[str]]) -> str:
    if not games:
        return ""
    those = [variant(name).title for name, ids in games.items() if entry.id in ids]
    if len(those) == len(games):
        return " In every game."
    return f" In: {'; '.join(those)}." if those else " In no game by itself; a house rule switches it on."


def variant_page(name: str) -> str:
    """The whole page of a variant: what it changes, and its clauses with its own values in them."""
    rules, pitch = variant(name), variant("auction-pitch")
    lines = [
        "<!-- Written by docs/generate.py: change the rules, not this page. -->",
        f"# {rules.title}\n",
        f"`{name}`, {_players(rules)} players, {_sides(rules)}.\n",
    ]
    changed = [
        (code(rule), _house_value(getattr(rules, rule)), _house_value(getattr(pitch, rule)), meaning)
        for rule, meaning in meanings().items()
        if rule not in NAMES_ONLY and getattr(rules, rule) != getattr(pitch, rule)
    ]
    if changed:
        lines += ["## House rules", "", "Where it is not Auction Pitch:\n"]
        lines += [table(("house rule", "here", "in Auction Pitch", "meaning"), changed)]
    lines += ["## Clauses\n"]
    rows = [
        (
            f"[{entry.id}](../rules.md#{slug(heading(entry))})",
            f"{clause_text(entry, rules)}{f' *Sources differ: {entry.differs}*' if entry.differs else ''}",
            entry.source,
        )
        for entry in clauses_of(rules)
    ]
    lines += [table(("clause", "what it says", "source"), rows).rstrip()]
    return "\n".join(lines) + "\n"


# Faults


def fault_table() -> str:
    """The fault table."""
    rows = [(code(entry.fault), entry.meaning, entry.in_game, entry.in_check) for entry in FAULTS]
    return table(("fault", "meaning", "in a game", "in a check"), rows)


def profile_table() -> str:
    """What each profile does."""
    rows = [
        (code(one.name), str(one.retries), f"the {_ordinal(one.forfeit_after)} fault" if one.forfeit_after else "never")
        for one in PROFILES.values()
    ]
    return table(("profile", "second tries for a decision", "a game is forfeited by"), rows)


def _ordinal(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")


def limit_table() -> str:
    """The limits of a bot process."""
    limits = ResourceLimits()
    values = {name: getattr(limits, name) for name in ResourceLimits.__dataclass_fields__}
    rows = [("none" if value is None else f"{value:,}", LIMITS[name]) for name, value in values.items()]
    return table(("limit", "of"), rows)


def exit_codes() -> str:
    """The exit codes of all commands."""
    return table(("code", "commands", "meaning"), EXIT_CODES)


PARTS: Final = {
    "definition": definition_fields,
    "host": host_fields,
    "export": export_files,
    "record": record_fields,
    "summary": summary_fields,
    "unproven": unproven,
    "manifest": manifest_fields,
    "house-rules": house_rules,
    "variants": variants,
    "book": book,
    "conduct": conduct,
    "faults": fault_table,
    "profiles": profile_table,
    "limits": limit_table,
    "messages": messages,
    "commands": commands,
    "exit-codes": exit_codes,
    "decision-time": decision_time,
    "decision-fit": decision_fit,
    "host-soak": host_soak,
}
"""What can stand between two markers, by name."""


def pages() -> dict[Path, str]:
    """Every page that is written wholly or in part, with the text that it should have."""
    found = {DOCS / "variants" / f"{name}.md": variant_page(name) for name in variant_names()}
    found[PLOT] = decision_plot()
    for path in sorted(DOCS.glob("*.md")):
        text = path.read_text("utf-8")
        if PART.search(text):
            found[path] = PART.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]()}\n{part[3]}", text)
    return found


def outdated() -> list[Path]:
    """The pages that are not what the code says."""
    return [path for path, text in pages().items() if not path.is_file() or path.read_text("utf-8") != text]


def main() -> int:
    """Writes what is out of date, or only names it."""
    late = outdated()
    for path in late:
        sys.stdout.write(f"{path.relative_to(DOCS.parent)}\n")
        if "--check" not in sys.argv:
            path.write_text(pages()[path], "utf-8")
    return int(bool(late) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())

"""``rules``, ``explain``, ``vectors``, ``protos``: the rule book and the wire contract, for people and for programs."""

import textwrap
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from referee.cli import app
from referee.cli.options import refuse_idle
from referee.league.definition.shipped import copy_protos, copy_shipped, shipped_folder
from referee.rules import RuleSet, variant, variant_names
from referee.rules.conduct_clauses import WHOLE_BOOK
from referee.rules.registry import ALIASES
from referee.rules.rulebook import Clause, Level, clause_text, clauses_of
from referee.rules.ruleset import allowed_values, meanings
from referee.umpire.faults import FAULTS

_WIDTH = 100


@app.command(epilog="Example: referee rules cinch --set low_to=holder\n\nor:      referee rules --list")
def rules(
    name: Annotated[str, typer.Argument(metavar="VARIANT", help="The game.")] = "auction-pitch",
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="HOUSE_RULE=VALUE", help="Change a house rule; repeatable.")
    ] = None,
    every: Annotated[bool, typer.Option("--list", help="List the games, and their other names.")] = False,
) -> None:
    """Print the rule book of a game: each clause with its id, sentence, source, and where sources differ."""
    if every:
        refuse_idle("with --list, which prints names alone", "--set")
        _list_variants()
        return
    chosen = variant(name)
    changed = chosen.with_rules(dict(read_change(text) for text in changes or ()))
    low, high = changed.players
    seats = f"{low} players" if low == high else f"{low} to {high} players"
    typer.echo(f"{changed.title} ({changed.name}), {seats}\n")
    for clause in clauses_of(changed):
        typer.echo(clause_lines(clause, changed) + "\n")
    typer.echo("House rules (change one with --set NAME=VALUE, or in [rules] of a definition)")
    for field, meaning in meanings().items():
        _print_house_rule(field, meaning, chosen, changed)


def _list_variants() -> None:
    for name in variant_names():
        others = sorted(alias for alias, target in ALIASES.items() if target == name)
        typer.echo(f"{name:24} {variant(name).title}" + (f"   (also: {', '.join(others)})" if others else ""))


def read_change(text: str) -> tuple[str, Any]:
    """A house rule and its value, written as in TOML; a bare word is a text."""
    field, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r}: write HOUSE_RULE=VALUE, such as low_to=taker")
    try:
        return field.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return field.strip(), value.strip()


def clause_lines(clause: Clause, rules_: RuleSet) -> str:
    """A clause as it is printed: id, title, level, sentence, source."""
    level = "" if clause.level is Level.INFO else f"  [{clause.level}]"
    lines = [f"{clause.id}  {clause.title}{level}"]
    lines += textwrap.wrap(clause_text(clause, rules_), _WIDTH, initial_indent="    ", subsequent_indent="    ")
    lines.append(f"    Source: {clause.source}.")
    if clause.differs:
        told = f"Sources differ: {clause.differs}"
        lines += textwrap.wrap(told, _WIDTH, initial_indent="    ", subsequent_indent="      ")
    return "\n".join(lines)


def _print_house_rule(field: str, meaning: str, chosen: RuleSet, changed: RuleSet) -> None:
    value, usual = changed.as_dict()[field], chosen.as_dict()[field]
    allowed = allowed_values(field)
    choice = f"  (one of {', '.join(str(one).lower() for one in allowed)})" if allowed else ""
    mark = "" if value == usual else f"   <- changed, was {_value(usual)}"
    typer.echo(f"  {field} = {_value(value)}{mark}")
    for line in textwrap.wrap(meaning + choice, _WIDTH, initial_indent="      ", subsequent_indent="      "):
        typer.echo(line)


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@app.command(epilog="Example: referee vectors --out vectors")
def vectors(out: Annotated[Path, typer.Option(help="Folder to write to; made if missing.")]) -> None:
    """Write the test vectors: the rules as JSON cases, for an engine or a bot in any language."""
    source = shipped_folder("tests/vectors")
    for file in sorted([*source.glob("*.json"), *source.glob("schema/*.json"), source / "README.md"]):
        target = out / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        copy_shipped(file, target)
        typer.echo(target)


@app.command(epilog="Example: referee explain AF-PLAY-003\n\nor:      referee explain faults")
def explain(
    topic: Annotated[str, typer.Argument(help="A rule id such as AF-PLAY-003, or: faults.")],
    game: Annotated[str, typer.Option("--variant", help="Whose house rules fill the sentence.")] = "auction-pitch",
) -> None:
    """Explain a clause of the rule book, or the fault table."""
    if topic.lower() == "faults":
        refuse_idle("on the fault table, which is that of every game", "--variant")
        for entry in FAULTS:
            typer.echo(f"{entry.fault}\n  {entry.meaning}\n  in check: {entry.in_check}\n  in a game: {entry.in_game}")
        return
    found = [clause for clause in WHOLE_BOOK if clause.id.startswith(topic.upper())]
    if not found:
        raise typer.BadParameter(f"{topic!r} is not a rule id; they look like AF-PLAY-003. Try: referee explain AF")
    for clause in found:
        typer.echo(clause_lines(clause, variant(game)) + "\n")


@app.command(epilog="Example: referee protos --out protos")
def protos(out: Annotated[Path, typer.Option(help="Folder to write to; made if missing.")]) -> None:
    """Write the .proto files of the wire contract, for a bot in any language."""
    for file in copy_protos(out):
        typer.echo(file)

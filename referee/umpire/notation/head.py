"""The head of a written game: what was played, by whom, by which house rules, and how it ended."""

from collections.abc import Iterator
from typing import Any

from referee.rules import RuleSet, RuleSetError, variant
from referee.umpire.notation.style import Style, party, width, wrapped
from referee.umpire.record import Record, spec_of


def head(record: Record, style: Style) -> Iterator[str]:
    """The lines before the first deal."""
    spec, result = spec_of(record), record["result"]
    rules, seats = spec.rules, spec.seats
    yield f"{style.plain(rules.title, 50)}, game {style.plain(spec.key, 24)}"
    about = [f"{key} {style.plain(record[key], 60)}" for key in ("league", "set", "rotation") if key in record]
    about += [f"redeal {style.plain(record['redeal'], 60)}"] if record.get("redeal") else []
    yield from wrapped(", ".join(about), "", "  ")
    yield ""
    names = [style.plain(name, 36) for name in record.get("names", [])] + [style.dash] * seats
    room = max(width("player"), *map(width, names[:seats]))
    yield f"   {'player':<{room}}  score  place" + ("  stakes" if any(result["stakes"]) else "")
    for seat in range(seats):
        yield _player(seat, names[seat] + " " * (room - width(names[seat])), record, rules)
    yield ""
    yield from _house_rules(rules, style)
    yield from wrapped(_result(record, rules, seats, style), "", "  ")


def _player(seat: int, name: str, record: Record, rules: RuleSet) -> str:
    result = record["result"]
    score = result["scores"][rules.side(seat)]
    line = f"{seat + 1}  {name}  {score:>5d}  {result['places'][seat]:>5d}"
    if any(result["stakes"]):
        line += f"  {result['stakes'][seat]:>+6d}"
    return line + ("  forfeited" if seat in result["forfeits"] else "")


def _house_rules(rules: RuleSet, style: Style) -> list[str]:
    """What is played otherwise than the variant of that name."""
    try:
        usual = variant(rules.name).as_dict()
    except RuleSetError:
        return wrapped(f"House rules: {style.plain(rules.name, 60)} is no variant that is known here.", "", "  ")
    changed = [
        f"{name} = {_value(value)} (usually {_value(usual[name])})"
        for name, value in rules.as_dict().items()
        if value != usual[name] and name != "title"
    ]
    return wrapped(f"House rules: {style.plain('; '.join(changed), 2000)}.", "", "  ") if changed else []


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(" ".join(map(str, one)) if isinstance(one, list) else str(one) for one in value) or "none"
    return str(value)


def _result(record: Record, rules: RuleSet, seats: int, style: Style) -> str:
    result, number = record["result"], len(record["deals"])
    winner = result["winner"]
    who = "Nobody" if winner is None else party(winner, rules, seats)
    verb = "win" if winner is not None and rules.sides else "wins"
    return f"{who[:1].upper()}{who[1:]} {verb} ({style.plain(result['reason'])}) after {number} deal{'' if number == 1 else 's'}."

"""Values as TOML writes them, for definitions that a command makes."""

from typing import Any


def toml_text(text: str) -> str:
    """A text as a basic string of TOML."""
    return '"' + "".join(f"\\u{ord(c):04x}" if c in '"\\' or not c.isprintable() else c for c in text) + '"'


def toml_value(value: Any) -> str:
    """A value of a house rule: a text, a truth value, a number, or a list of such."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return toml_text(value) if isinstance(value, str) else str(value)

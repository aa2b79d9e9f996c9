"""The reference of all messages and enums, from the .proto files and the comments in them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

PROTOS: Final = Path(__file__).resolve().parent.parent / "protos" / "allfours" / "v1"

ORDER: Final = ("service", "session", "turn", "move", "ruling", "notice", "events", "cards", "rule_set")
"""The files in the order in which a reader meets them."""

_START: Final = re.compile(r"(message|enum|service) (\w+) \{")
_ENTRY: Final = re.compile(r"(?:(optional|repeated) )?(?:([\w.]+) )?(\w+) = (\d+);")
_CALL: Final = re.compile(r"rpc (.+);")


@dataclass(slots=True)
class Block:
    """A message, an enum or the service: its comment and its rows (number, type and name, comment)."""

    kind: str
    name: str
    about: str
    rows: list[tuple[str, str, str]] = field(default_factory=list)


def messages() -> str:
    """Every file of the wire contract, as chapters."""
    present = {path.stem for path in PROTOS.glob("*.proto")}
    chapters = [_chapter(name) for name in (*ORDER, *sorted(present - set(ORDER)))]
    return "\n".join(chapters)


def _chapter(name: str) -> str:
    text = (PROTOS / f"{name}.proto").read_text("utf-8")
    about = " ".join(line[2:].strip() for line in text.partition("\nsyntax")[0].splitlines() if line[2:].strip())
    return f"## {name}.proto\n\n{about}\n\n" + "\n".join(map(_shown, list(_blocks(text))))


def _shown(block: Block) -> str:
    rows = [f"| {number} | {name} | {about} |" for number, name, about in block.rows]
    head = {"message": "field", "enum": "value", "service": "call"}[block.kind]
    title = block.name if block.kind == "message" else f"{block.name} ({block.kind})"
    head_row = [f"| number | {head} | meaning |", "| --- | --- | --- |"]
    return "\n".join([f"### {title}\n", f"{block.about}\n", *head_row, *rows, ""])


def _blocks(text: str) -> Iterator[Block]:
    """The top-level blocks of a file; what a ``oneof`` holds counts as fields of its message."""
    block: Block | None = None
    said: list[str] = []
    for written in text.splitlines():
        line = written.strip()
        if written.startswith("}"):
            block = None
        elif line.startswith("//"):
            said.append(line[2:].strip())
            continue
        about, said = _paragraphs(said, inline=block is not None), []
        if start := _START.match(line):
            block = Block(start[1], start[2], about)
            yield block
        elif block and (entry := _ENTRY.match(line)):
            label, kind, name, number = entry.groups()
            typed = " ".join(word for word in (label, kind, name) if word)
            block.rows.append((number, f"`{typed}`", about))
        elif block and (call := _CALL.match(line)):
            block.rows.append(("", f"`{call[1]}`", about))


def _paragraphs(lines: list[str], *, inline: bool) -> str:
    paragraphs = " ".join(line or "\n\n" for line in lines).split(" \n\n ")
    text = (" " if inline else "\n\n").join(paragraphs)
    return text.replace("|", "\\|") if inline else text

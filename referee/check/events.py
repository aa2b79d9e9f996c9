"""The event stream of a check: one JSON object a line, versioned; every report is made from it."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

FORMAT = "allfours-check-events/1"

Event = dict[str, Any]


class EventLog:
    """The events of a check in order. With a file, each is written to it at once."""

    def __init__(self, path: Path | None = None) -> None:
        """Raises ``OSError`` if the file cannot be written."""
        self.events: list[Event] = []
        self._file: IO[str] | None = path.open("w", encoding="utf-8") if path else None
        self._started = time.monotonic()

    def emit(self, event: str, **facts: Any) -> None:
        """Notes one event. ``ms`` counts from the start of the log."""
        entry = {"event": event, "ms": int((time.monotonic() - self._started) * 1000), **facts}
        self.events.append(entry)
        if self._file is not None:
            self._file.write(line_of(entry))
            self._file.flush()

    def of(self, event: str) -> Iterator[Event]:
        """The events of one kind."""
        return (entry for entry in self.events if entry["event"] == event)

    def close(self) -> None:
        """Closes the file. May be called again."""
        if self._file is not None:
            self._file.close()
            self._file = None


def line_of(event: Event) -> str:
    """An event as one line."""
    return json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"

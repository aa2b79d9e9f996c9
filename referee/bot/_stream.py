"""The stream between a bot and the referee, however it is carried; and how it ends badly."""

from collections.abc import Iterator
from typing import Final, Protocol

from referee.protocol import wire

METHOD: Final = "/allfours.v1.RefereeService/Play"

# Status codes of gRPC that a bot makes something of.
CANCELLED: Final = 1
UNKNOWN: Final = 2
INVALID_ARGUMENT: Final = 3
PERMISSION_DENIED: Final = 7
RESOURCE_EXHAUSTED: Final = 8
UNIMPLEMENTED: Final = 12
INTERNAL: Final = 13
UNAVAILABLE: Final = 14
UNAUTHENTICATED: Final = 16


class StreamError(Exception):
    """The stream has ended without a farewell. ``code`` is gRPC's status, ``details`` what it was told, in words.

    ``code`` 0 = the referee has ended it in peace, and just said no farewell.
    """

    def __init__(self, code: int, details: str = "") -> None:
        super().__init__(details)
        self.code, self.details = code, details


class RefereeStream(Protocol):
    """An open call, as far as a session uses it."""

    def __iter__(self) -> Iterator[wire.PlayResponse]:
        """The messages of the referee, until it ends the stream in peace; raises ``StreamError`` if it breaks."""
        ...

    def send(self, request: wire.PlayRequest) -> None:
        """Sends a message. If the referee has gone, that is told to whoever reads."""
        ...

    def half_close(self) -> None:
        """Nothing more is sent."""
        ...

    def drain(self) -> None:
        """Reads on until the referee ends the stream, however it does."""
        ...

    def cancel(self) -> object:
        """Ends the call at once; may be called from another thread."""
        ...

    def is_active(self) -> bool:
        """Whether the referee is still there, as far as is known within milliseconds."""
        ...

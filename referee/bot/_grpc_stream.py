"""A stream over a network, by grpcio: TLS, names, proxies, and a sign of life while the bot thinks, in threads of its own."""

import contextlib
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any, Self

import grpc

from referee.bot._stream import StreamError
from referee.protocol import wire
from referee.protocol.allfours.v1 import service_pb2_grpc


class GrpcStream:
    """One call on a channel of its own."""

    def __init__(self, channel: grpc.Channel, metadata: tuple[tuple[str, str], ...]) -> None:
        self._channel = channel
        self._out: SimpleQueue[wire.PlayRequest | None] = SimpleQueue()
        stub: Any = service_pb2_grpc.RefereeServiceStub(channel)
        self._call: Any = stub.Play(iter(self._out.get, None), metadata=metadata)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._out.put(None)
        self._call.cancel()
        self._channel.close()

    def __iter__(self) -> Iterator[wire.PlayResponse]:
        """The messages of the referee, until it ends the stream in peace; raises ``StreamError`` if it breaks."""
        try:
            yield from self._call
        except grpc.RpcError:
            raise StreamError(self._call.code().value[0], self._call.details()) from None

    def send(self, request: wire.PlayRequest) -> None:
        """Sends a message, as soon as the network takes it."""
        self._out.put(request)

    def half_close(self) -> None:
        """Nothing more is sent."""
        self._out.put(None)

    def drain(self) -> None:
        """Reads on until the referee ends the stream, however it does."""
        with contextlib.suppress(grpc.RpcError):
            for _ in self._call:
                pass

    def cancel(self) -> None:
        """Ends the call at once."""
        self._call.cancel()

    def is_active(self) -> bool:
        """Whether the referee is still there."""
        return bool(self._call.is_active())


def open_grpc_stream(
    target: str, metadata: tuple[tuple[str, str], ...], *, remote: bool, proxy: bool, tls: bool, authority: bytes | None
) -> GrpcStream:
    """A stream that fails at once when nobody answers, and notices within a minute when the network has gone.

    ``target`` is the address as gRPC writes it, ``proxy`` whether the proxy of the environment may be used, ``authority`` the
    certificates to trust with ``tls``; None = the usual ones.
    """
    options: list[tuple[str, int]] = [
        ("grpc.enable_retries", 0),
        ("grpc.max_receive_message_length", -1),
        ("grpc.use_local_subchannel_pool", 1),
    ]
    if remote:
        options += [("grpc.keepalive_time_ms", 30_000), ("grpc.keepalive_timeout_ms", 20_000)]
    if not proxy:
        options += [("grpc.enable_http_proxy", 0)]
    if tls:
        channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(authority), options)
    else:
        channel = grpc.insecure_channel(target, options)
    return GrpcStream(channel, metadata)

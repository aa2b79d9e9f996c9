"""The wire contract in Python: generated from ``protos/allfours/v1`` and checked in.

``wire`` holds every message, enum and enum value under one name:

>>> from referee.protocol import wire
>>> move = wire.Move(turn_id=7, card=wire.CARD_QH)
>>> wire.Card.Name(move.card), move.HasField("bid")
('CARD_QH', False)

The stub and the servicer of the service are in ``referee.protocol.allfours.v1.service_pb2_grpc``. They are not loaded
here, for a process that has loaded gRPC must never fork.
"""

from referee.protocol.allfours import v1 as wire

__all__ = ["wire"]

"""Calls methods that do not exist, looks at the health of the referee, then plays. That is allowed.

Verdict: none
Games: played
"""

import grpc
import raw

with raw.channel() as channel:
    for method in ("/allfours.v1.RefereeService/Peek", "/evil.v1.Cards/Show"):
        try:
            channel.unary_unary(method)(b"", timeout=5)
        except grpc.RpcError as error:
            print(error.code())
    print(channel.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=5))
raw.play()

"""What grpcurl does, done by hand: a client that has no protos asks for them, and holds a stream by what it is told."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

import grpc
import pytest
from google.protobuf import descriptor_pool, json_format
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from referee.net.connection import BotConnection, JoinTerms
from referee.net.games_in_play import GamesInPlay
from referee.net.open_turns import TurnAnswer
from referee.net.server import SERVICE, GameServer, monotonic_us
from referee.protocol import wire
from tests.program import PATIENCE
from tests.umpires import new_umpire

TOKEN: Final = "by-hand"


def at_a_endpoint(folder: Path, client: Any) -> Any:
    """What the client makes of a referee that waits for one bot; the client is blocking code in a thread."""

    async def run() -> Any:
        games_in_play = GamesInPlay()
        host = GameServer(games_in_play)
        answered = asyncio.Event()

        def judge(answers: Sequence[TurnAnswer]) -> None:
            games_in_play.answered(answers)
            answered.set()

        connection = BotConnection(
            TOKEN,
            JoinTerms(name="hand", slot=0, variants=(), joined=wire.Joined(), move_us=60_000_000),
            judge,
            monotonic_us,
        )
        host.admit(connection)
        async with host.serve(f"unix:{folder}/door") as endpoint:

            async def deal() -> None:
                await connection.ready.wait()
                games_in_play.open(new_umpire(1, seats=2), [connection.session, connection.session])
                host.pump()
                await asyncio.wait_for(answered.wait(), PATIENCE)
                connection.leave(wire.FAREWELL_REASON_FINISHED, "That is all.")

            dealing = asyncio.create_task(deal())
            try:
                return await asyncio.to_thread(client, endpoint.address)
            finally:
                dealing.cancel()

    return asyncio.run(run())


def test_the_services_are_listed_and_described(tmp_path: Path) -> None:
    def client(address: str) -> tuple[list[str], Any]:
        with grpc.insecure_channel(address) as channel:
            database = ProtoReflectionDescriptorDatabase(channel)
            pool = descriptor_pool.DescriptorPool(database)
            return list(database.get_services()), pool.FindServiceByName(SERVICE).methods_by_name["Play"]

    services, play = at_a_endpoint(tmp_path, client)
    assert {SERVICE, "grpc.health.v1.Health"} <= set(services)
    assert (play.client_streaming, play.server_streaming) == (True, True)
    assert play.input_type.full_name == "allfours.v1.PlayRequest"
    fields = {field.name for field in play.output_type.fields_by_name["turns"].message_type.fields}
    assert fields == {field.name for field in wire.Turn.DESCRIPTOR.fields}


def test_a_stream_is_held_in_json_by_what_reflection_tells(tmp_path: Path) -> None:
    def client(address: str) -> list[dict[str, Any]]:
        with grpc.insecure_channel(address) as channel:
            pool = descriptor_pool.DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
            play = pool.FindServiceByName(SERVICE).methods_by_name["Play"]
            request, response = GetMessageClass(play.input_type), GetMessageClass(play.output_type)
            typed: SimpleQueue[Any] = SimpleQueue()
            typed.put({"join": {"name": "by hand"}})
            call = channel.stream_stream(
                f"/{SERVICE}/Play", lambda said: json_format.ParseDict(said, request()).SerializeToString()
            )(iter(typed.get, None), metadata=[("authorization", f"Bearer {TOKEN}")])
            return list(_talk(call, response, typed, pool))

    first, second, *_, last = at_a_endpoint(tmp_path, client)
    assert "joined" in first
    (turn,) = second["turns"]
    assert (turn["kind"], turn["options"]["bids"]) == ("TURN_KIND_BID", [0, 2, 3, 4])
    assert all(card.startswith("CARD_") for card in turn["hand"])
    assert last["farewell"]["sentence"] == "That is all."


def _talk(call: Any, response: Any, typed: Any, pool: Any) -> Iterator[dict[str, Any]]:
    for data in call:
        said = json_format.MessageToDict(response.FromString(data), descriptor_pool=pool)
        yield said
        for turn in said.get("turns", ()):
            typed.put({"moves": [{"turnId": turn["turnId"], "bid": turn["options"].get("bids", [0])[0]}]})
        if "farewell" in said:
            typed.put(None)


def test_the_health_of_the_service_is_told(tmp_path: Path) -> None:
    def client(address: str) -> Any:
        with grpc.insecure_channel(address) as channel:
            return health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=PATIENCE).status

    assert at_a_endpoint(tmp_path, client) == health_pb2.HealthCheckResponse.SERVING


@pytest.mark.parametrize("metadata", [None, [("authorization", "Bearer wrong")]])
def test_who_only_looks_needs_no_token_and_who_plays_does(metadata: Any, tmp_path: Path) -> None:
    def client(address: str) -> Any:
        with grpc.insecure_channel(address) as channel:
            play = channel.stream_stream(f"/{SERVICE}/Play")
            with pytest.raises(grpc.RpcError) as caught:
                list(play(iter([]), metadata=metadata, timeout=PATIENCE))
            return caught.value.code()

    assert at_a_endpoint(tmp_path, client) is grpc.StatusCode.UNAUTHENTICATED

"""What a host may say to the program of a remote bot: no more than where to dial in, and that within bounds."""

import json
from typing import Any

import httpx
import pytest

from referee.host.rows import VersionState
from tests.host.test_host_client import TOKEN, Host, job, said


def heard(*sessions: tuple[str, str], **more: Any) -> httpx.Response:
    call = {"what": "round 1", "sessions": [{"address": address, "token": token} for address, token in sessions]}
    return httpx.Response(
        200,
        json={
            "bot": "far",
            "version": 3,
            "declared": "1.2",
            "state": "accepted",
            "reason": "",
            "job": job(state="done", verdict="accepted"),
            "call": call if sessions else None,
            "line": "",
            "rests_until": 0.0,
            "mark": "m",
            **more,
        },
    )


def test_a_call_is_read_as_it_is_and_what_is_said_goes_once_with_the_token() -> None:
    host = Host(heard(("tls:pitch.test:7401", "token-of-the-call")))
    told = host.client.remote("my bot", {"session": "s", "begin": True})
    assert (told.declared, told.state, told.called) == ("1.2", VersionState.ACCEPTED, "round 1")
    assert told.sessions == (("tls:pitch.test:7401", "token-of-the-call"),)
    assert told.job is not None
    (request,) = host.asked
    assert request.url.raw_path == b"/api/v1/remote/my%20bot"
    assert json.loads(request.content) == {"session": "s", "begin": True}
    assert request.headers["Authorization"] == f"Bearer {TOKEN}"
    assert Host(heard()).client.remote("far", {}).sessions == ()


@pytest.mark.parametrize("address", ["tcp:127.0.0.1:1", "tcp:[::1]:1", "tcp:localhost:1", "tls:10.0.0.1:1"])
def test_over_the_network_it_is_called_over_tls(address: str) -> None:
    assert Host(heard((address, "token-of-the-call"))).client.remote("far", {}).sessions[0][0] == address


@pytest.mark.parametrize(
    "sessions",
    [
        [("unix:/run/docker.sock", "token-of-the-call")],
        [("tls:a b:1", "token-of-the-call")],
        [("tls:pitch.test", "token-of-the-call")],
        [("tls:pitch.test:1\nLD_PRELOAD=x", "token-of-the-call")],
        [("tls:pitch.test:1", "")],
        [("tls:pitch.test:1", "with\0nothing")],
        [("tls:pitch.test:1", f"token-{number:04}") for number in range(9)],
    ],
    ids=lambda value: value[0][0][:16],
)
def test_no_other_place_and_nothing_odd_reaches_a_program(sessions: list[tuple[str, str]]) -> None:
    error = Host(heard(*sessions)).refused(lambda client: client.remote("far", {}))
    assert "in a way that referee" in str(error)
    assert not error.passing


def test_hands_do_not_travel_in_the_open() -> None:
    error = Host(heard(("tcp:pitch.test:7401", "token-of-the-call"))).refused(lambda client: client.remote("far", {}))
    assert "in the open" in str(error)
    assert error.ours


@pytest.mark.parametrize("more", [{"state": "odd"}, {"call": 7}, {"call": {"what": 1}}, {"mark": []}, {"job": {}}])
def test_what_makes_no_sense_is_told(more: dict[str, Any]) -> None:
    error = Host(heard(**more)).refused(lambda client: client.remote("far", {}))
    assert not error.passing


def test_what_may_pass_is_asked_again_by_whoever_asks_and_the_rest_is_not() -> None:
    for answer, passing, after in (
        (httpx.ConnectError("refused"), True, None),
        (httpx.ReadTimeout("silent"), True, None),
        (httpx.Response(502, text="Bad Gateway"), True, None),
        (said(429, "Too many.", Retry_After="30"), True, 30.0),
        (said(409, "It was connected from elsewhere."), False, None),
        (said(401), False, None),
    ):
        host = Host(answer)
        error = host.refused(lambda client: client.remote("far", {}))
        assert (error.passing, error.after, len(host.asked)) == (passing, after, 1)

"""Streams with a token that nobody has: counted by address, told in a line a minute."""

import asyncio

import pytest

from referee.net.server import MOST_REFUSALS, REFUSAL_SECONDS, WRONG_TOKENS_US, WrongTokens, host_of
from tests.virtual import run


def told() -> tuple[WrongTokens, list[str]]:
    lines = list[str]()
    return WrongTokens(lines.append), lines


def test_the_first_is_told_at_once_and_the_rest_by_their_number() -> None:
    tokens, lines = told()
    for number in range(1000):
        tokens.came(f"ipv4:203.0.113.{9 if number % 4 else 7}:{number}", number)
    first = "A stream with a token that no bot of this league has, from 203.0.113.7: refused."
    assert lines == [f"{first} If it is one of yours, compare its REFEREE_TOKEN; more are counted."]
    tokens.look(WRONG_TOKENS_US - 1)
    assert len(lines) == 1
    tokens.look(WRONG_TOKENS_US)
    said = (
        "999 streams with a token that no bot of this league has, from 203.0.113.9 (750), 203.0.113.7 (249): refused."
    )
    assert lines[1:] == [said]
    tokens.look(10 * WRONG_TOKENS_US)
    tokens.close()
    assert len(lines) == 2
    assert tokens.total == 1000


def test_what_came_last_is_told_at_the_end() -> None:
    tokens, lines = told()
    tokens.came("127.0.0.1:1", 0)
    tokens.came("127.0.0.1:2", 1)
    tokens.close()
    assert lines[-1] == "A stream with a token that no bot of this league has, from 127.0.0.1: refused."


def test_a_million_addresses_take_a_line_and_no_memory() -> None:
    tokens, lines = told()
    for number in range(100_000):
        tokens.came(f"[2001:db8::{number:x}]:4711", 0)
    assert len(tokens._untold) <= 33
    tokens.close()
    assert len(lines) == 2
    assert all(len(line) < 300 for line in lines)


@pytest.mark.parametrize(
    ("peer", "host"),
    [
        ("ipv4:127.0.0.1:4711", "127.0.0.1"),
        ("127.0.0.1:4711", "127.0.0.1"),
        ("ipv6:%5B::1%5D:4711", "::1"),
        ("[2001:db8::1]:80", "2001:db8::1"),
        ("::1", "::1"),
        ("unix:/tmp/a.sock", "this machine"),
        ("unix:", "this machine"),
        ("", "somewhere"),
        ("\x1b\x07red:80", "red"),
    ],
)
def test_a_peer_is_named_by_its_host(peer: str, host: str) -> None:
    assert host_of(peer) == host


def test_a_refusal_waits_a_second_but_not_for_any_number() -> None:
    async def story() -> None:
        tokens, _ = told()
        loop = asyncio.get_running_loop()
        waiting = [asyncio.ensure_future(tokens.slow()) for _ in range(MOST_REFUSALS)]
        await asyncio.sleep(0)
        await tokens.slow()  # one too many
        assert loop.time() == 0
        await asyncio.gather(*waiting)
        assert loop.time() == REFUSAL_SECONDS
        await tokens.slow()
        assert loop.time() == 2 * REFUSAL_SECONDS

    run(story())

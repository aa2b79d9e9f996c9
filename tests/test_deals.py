"""Committed shuffles: the derivation against one written from its description, and what it promises."""

import hashlib
import hmac
import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.cards import PACK, cards_text
from referee.deals import (
    bot_seed,
    commitment,
    deal_key,
    encode,
    secret_master,
    seeded_master,
    shuffle,
)

VECTORS: Final[list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "vectors" / "deals.json").read_text("utf-8")
)["cases"]

MASTERS: Final = st.binary(min_size=32, max_size=32)
NAMES: Final = st.text(max_size=20)
NUMBERS: Final = st.integers(0, 10**6)


# A second derivation, from the description alone: no generator, no helper of the code under test


def described_parts(*parts: str | int) -> bytes:
    """Each part as UTF-8, numbers in decimal, preceded by its length in four bytes, big-endian."""
    out = bytearray()
    for part in parts:
        text = (part if isinstance(part, str) else "%d" % part).encode("utf-8")  # noqa: UP031  # decimal, plainly
        out += bytes([len(text) >> 24 & 255, len(text) >> 16 & 255, len(text) >> 8 & 255, len(text) & 255])
        out += text
    return bytes(out)


def described_key(master: bytes, league: str, set_id: str, deal: int, redeal: int) -> bytes:
    message = described_parts("af-deal-v1", league, set_id, deal, redeal)
    return hmac.new(master, message, hashlib.sha256).digest()


def described_pack(key: bytes) -> str:
    """The pack of a key as text: Fisher-Yates from the last card down, bytes of the stream taken one at a time."""
    stream = b"".join(hmac.new(key, b"\0" * 7 + bytes([block]), hashlib.sha256).digest() for block in range(20))
    cards = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]
    at = 0
    for i in range(51, 0, -1):
        below = i + 1
        while stream[at] >= 256 - 256 % below:
            at += 1
        j = stream[at] % below
        at += 1
        cards[i], cards[j] = cards[j], cards[i]
    return " ".join(cards)


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["id"])
def test_the_published_vectors_follow_the_description(case: dict[str, Any]) -> None:
    master = bytes.fromhex(case["master"])
    key = described_key(master, case["league"], case["set"], case["deal"], case["redeal"])
    assert (key.hex(), described_pack(key)) == (case["key"], case["pack"])


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["id"])
def test_the_published_vectors_are_ours(case: dict[str, Any]) -> None:
    key = deal_key(bytes.fromhex(case["master"]), case["league"], case["set"], case["deal"], case["redeal"])
    assert key.hex() == case["key"]
    assert cards_text(shuffle(key)) == case["pack"]


@given(MASTERS, NAMES, NAMES, NUMBERS, NUMBERS)
def test_every_pack_follows_the_description(master: bytes, league: str, set_id: str, deal: int, redeal: int) -> None:
    key = deal_key(master, league, set_id, deal, redeal)
    assert key == described_key(master, league, set_id, deal, redeal)
    assert cards_text(shuffle(key)) == described_pack(key)


# Promises


@given(MASTERS)
def test_a_pack_is_the_52_cards(key: bytes) -> None:
    pack = shuffle(key)
    assert sorted(pack) == list(PACK)
    assert shuffle(key) == pack


@given(st.lists(st.one_of(NAMES, NUMBERS), max_size=5), st.lists(st.one_of(NAMES, NUMBERS), max_size=5))
def test_different_parts_never_give_the_same_bytes(some: list[str | int], others: list[str | int]) -> None:
    same = [str(part) for part in some] == [str(part) for part in others]
    assert (encode(*some) == encode(*others)) is same


def test_the_bounds_of_the_parts_count() -> None:
    assert encode("a", "bc") != encode("ab", "c")
    assert encode(1, 23) != encode(12, 3)
    assert encode("a", "") != encode("a")
    assert encode("é") == b"\0\0\0\x02\xc3\xa9"


def test_every_input_changes_the_pack() -> None:
    base: dict[str, Any] = {"master": bytes(32), "league": "l", "set_id": "s", "deal": 0, "redeal": 0}
    changes: list[dict[str, Any]] = [
        {},
        {"master": bytes([*bytes(31), 1])},
        {"league": "m"},
        {"set_id": "t"},
        {"deal": 1},
        {"redeal": 1},
    ]
    assert len({shuffle(deal_key(**(base | change))) for change in changes}) == len(changes)


def test_the_first_dealing_is_redeal_zero() -> None:
    assert deal_key(bytes(32), "l", "s", 3) == deal_key(bytes(32), "l", "s", 3, 0)


def test_every_card_comes_to_every_place() -> None:
    """3,000 packs: a place that a card never reaches, or a bias of a third, would show at once."""
    seen: Counter[tuple[int, int]] = Counter()
    for number in range(3000):
        seen.update(enumerate(shuffle(deal_key(bytes(32), "even", "", number))))
    expected = 3000 / 52
    assert len(seen) == 52 * 52
    square = sum((count - expected) ** 2 / expected for count in seen.values())
    assert 51 * 51 - 6 * 72 < square < 51 * 51 + 6 * 72  # chi-square: 2601 degrees, sigma 72; fixed keys, so no chance


def test_a_secret_master_is_fresh() -> None:
    assert len(secret_master()) == 32
    assert secret_master() != secret_master()


def test_a_seeded_master_is_everybodys() -> None:
    assert seeded_master("kitchen") == hashlib.sha256(described_parts("af-seed-v1", "kitchen")).digest()
    assert seeded_master("kitchen") != seeded_master("cellar")


def test_a_commitment_binds_master_and_definition() -> None:
    master = seeded_master("kitchen")
    digest = "ab" * 32
    assert commitment(master, digest) == hashlib.sha256(master + digest.encode()).hexdigest()
    assert commitment(master, digest) != commitment(master, "ac" * 32)
    assert commitment(master, digest) != commitment(seeded_master("cellar"), digest)


@given(MASTERS, NAMES, NAMES, st.integers(0, 6), st.integers(0, 6))
def test_a_bots_seed_is_small_and_says_nothing_of_the_cards(
    master: bytes, league: str, set_id: str, rotation: int, seat: int
) -> None:
    seed = bot_seed(master, league, set_id, rotation, seat)
    message = described_parts("af-bot-v1", league, set_id, rotation, seat)
    digest = hmac.new(master, message, hashlib.sha256).digest()
    assert seed == int(digest.hex()[:16], 16) // 2048
    assert 0 <= seed < 1 << 53
    assert digest != deal_key(master, league, set_id, rotation, seat)


def test_every_seat_has_its_own_seed() -> None:
    seeds = {bot_seed(bytes(32), "l", "s", rotation, seat) for rotation in range(7) for seat in range(7)}
    assert len(seeds) == 49

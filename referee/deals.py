"""Committed, verifiable shuffles.

Every pack of a league follows from one secret of 32 bytes, the *master*. Its digest is published before the first deal
(``commitment``) and the master after the last, so that everybody can deal every pack again. Nothing here draws on
``random``.

The derivation, normative, with vectors in ``tests/vectors/deals.json``:

* ``encode(parts)``: each part as UTF-8 (numbers in decimal), preceded by its length in four bytes, big-endian.
* ``key = HMAC-SHA256(master, encode("af-deal-v1", league, set, deal, redeal))``.
* stream: ``HMAC-SHA256(key, counter)`` for counter 0, 1, 2 ... in eight bytes, big-endian, one block after another.
* a number below n: bytes of the stream in turn, a byte of ``256 - 256 % n`` or more being skipped; the byte modulo n.
* Fisher-Yates: for i = 51 down to 1, swap card i with card j, j being a number below i + 1; at the start the cards
  stand in ascending order of their number. Card 0 is the top of the pack.
"""

import hashlib
import hmac
import secrets
from typing import Final

from referee.cards import PACK, Card

DEAL_LABEL = "af-deal-v1"
BOT_LABEL = "af-bot-v1"
SEED_LABEL = "af-seed-v1"

_LIMITS: Final = tuple(256 - 256 % (i + 1) for i in range(len(PACK)))
"""By card to be swapped: bytes of the stream from here on are skipped, so that all others are equally likely."""


def encode(*parts: str | int) -> bytes:
    """Parts joined so that no two different lists give the same bytes."""
    coded = [str(part).encode() for part in parts]
    return b"".join(len(part).to_bytes(4, "big") + part for part in coded)


def secret_master() -> bytes:
    """A fresh master, from the system's source of chance."""
    return secrets.token_bytes(32)


def seeded_master(seed: str) -> bytes:
    """The master of a reproducible league: anybody who knows the seed knows every card."""
    return hashlib.sha256(encode(SEED_LABEL, seed)).digest()


def commitment(master: bytes, config_digest: str) -> str:
    """What is published before the first deal: SHA-256 over the master and the digest of the definition, in hexadecimal."""
    return hashlib.sha256(master + config_digest.encode()).hexdigest()


def deal_key(master: bytes, league: str, set_id: str, deal: int, redeal: int = 0) -> bytes:
    """The key of one pack. The rotation of the seats is no part of it: a duplicate set plays the same packs."""
    return hmac.digest(master, encode(DEAL_LABEL, league, set_id, deal, redeal), "sha256")


def bot_seed(master: bytes, league: str, set_id: str, rotation: int, seat: int) -> int:
    """The seed that a seat is told for its own chance, 0..2^53-1; it says nothing about the cards."""
    digest = hmac.digest(master, encode(BOT_LABEL, league, set_id, rotation, seat), "sha256")
    return int.from_bytes(digest[:8], "big") >> 11


def shuffle(key: bytes) -> tuple[Card, ...]:
    """The pack that belongs to a key, top card first."""
    pack, i, counter = list(PACK), len(PACK) - 1, 0
    while i:
        for byte in hmac.digest(key, counter.to_bytes(8, "big"), "sha256"):
            if byte < _LIMITS[i]:
                j = byte % (i + 1)
                pack[i], pack[j] = pack[j], pack[i]
                i -= 1
                if not i:
                    break
        counter += 1
    return tuple(pack)

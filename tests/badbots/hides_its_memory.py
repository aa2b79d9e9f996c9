"""Has the kernel hold its memory: page tables of a space that it only reads, and children that take much at once.

Lap: limits
Verdict: RESOURCE_MEM
Games: lost
Says: MiB
"""

import ctypes
import os
import time

from referee.bot import run

SIZE = 120 << 30
LIBC = ctypes.CDLL(None)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]


def choose(turn):
    if turn.rng.random() < 0.5:
        for _ in range(6):
            if os.fork() == 0:
                held = bytearray(60 << 20)
                time.sleep(60)
                os._exit(held[0])
    else:
        start = LIBC.mmap(None, SIZE, 1, 0x2 | 0x20 | 0x4000, -1, 0)
        LIBC.madvise(ctypes.c_void_p(start), ctypes.c_size_t(SIZE), 15)
        for at in range(0, SIZE, 2 << 20):
            ctypes.c_char.from_address(start + at).value  # noqa: B018 - to look at it is enough
    time.sleep(2)
    return turn.rng.choice(turn.legal)


run(choose)

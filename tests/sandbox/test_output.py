"""What bots print is read at once, kept within bounds, and made harmless."""

import sys
from pathlib import Path

import pytest

from referee.sandbox.launch import Policy
from referee.sandbox.output import BoundedLog, harmless
from tests.net.bot_processes import BotProcesses

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="leftovers are looked for in /proc: Linux only")


@needs_linux
def test_output_within_the_limit_slows_nobody(bots_here: BotProcesses, sandbox: Policy) -> None:
    """A megabyte is more than any pipe holds: a bot that nobody read would never come to its end."""

    async def story() -> None:
        end, output = await bots_here.end_of("for n in range(80_000): print('line', n)\nprint('the end')", sandbox)
        assert end.code == 0
        assert output.endswith("line 79999\nthe end\n")

    bots_here.run(story)
    log = (bots_here.logs / "bot.log").read_text()
    assert log.startswith("line 0\nline 1\n")
    assert log.endswith("line 79999\nthe end\n")
    assert "bytes left out" in log


@needs_linux
def test_control_characters_are_made_harmless(bots_here: BotProcesses, sandbox: Policy) -> None:
    said = b"\x1b[2Jclear \x07bell \xe2\x80\xaereversed \xff\xfe \x9b31m \xc3\xbcber \r\nnext\rover"

    async def story() -> None:
        end, output = await bots_here.end_of(f"import os\nos.write(1, {said!r})\nos.write(2, b'!')", sandbox)
        assert end.code == 0
        assert output == "\\x1b[2Jclear \\x07bell \\u202ereversed \\xff\\xfe \\x9b31m über \nnext\nover!"

    bots_here.run(story)
    assert b"\x1b" not in (bots_here.logs / "bot.log").read_bytes()


@needs_linux
def test_the_log_of_an_earlier_life_is_kept(bots_here: BotProcesses, sandbox: Policy) -> None:
    async def story() -> None:
        for word in ("first", "second"):
            await bots_here.end_of(f"print('{word} life')", sandbox)

    bots_here.run(story)
    assert (bots_here.logs / "bot.log").read_text() == "first life\nsecond life\n"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("plain, Grüße, привет, 漢字, ♠♥♦♣ 😀\tand a tab\n", "plain, Grüße, привет, 漢字, ♠♥♦♣ 😀\tand a tab\n"),
        ("\x00\x1b]0;title\x07", "\\x00\\x1b]0;title\\x07"),
        ("\u202egnp.exe\u2066", "\\u202egnp.exe\\u2066"),
        ("\u2028\u00ad\ufeff\ue000\U000e0001", "\\u2028\\xad\\ufeff\\ue000\\U000e0001"),
        ("10 %\r20 %\r\n", "10 %\n20 %\n"),
    ],
    ids=["letters", "controls", "directions", "invisible", "carriage returns"],
)
def test_what_is_harmless_and_what_is_made_so(said: str, shown: str) -> None:
    assert harmless(said) == shown


@pytest.mark.parametrize(
    "pieces", [[b"a" * 10], [b"a" * 10] * 3, [bytes([n]) * 7 for n in range(65, 91)], [b"x" * 999]]
)
def test_a_log_keeps_both_ends(tmp_path: Path, pieces: list[bytes]) -> None:
    log = BoundedLog(tmp_path / "new" / "bot.log", kept=20)
    for piece in pieces:
        log.write(piece)
        assert log.path.stat().st_size < 60 + 20 + len("[... 999 bytes left out ...]")
    log.close()
    said, kept = b"".join(pieces), log.path.read_bytes()
    assert kept[:20] == said[:20]
    assert kept[-20:] == said[-20:]
    start, mark, rest = kept.partition(b"\n[... ")
    if mark:
        count, _, end = rest.partition(b" bytes left out ...]\n")
        assert len(start) + int(count) + len(end) == len(said)
    else:
        assert kept == said


@needs_linux
def test_a_log_that_cannot_be_written_stops_nobody() -> None:
    log = BoundedLog(Path("/dev/full"), kept=20)
    log.write(b"lost")
    log.write(b"lost as well")
    assert log.trouble.startswith("the log ends early: ")
    log.close()

"""``referee connect`` as a user types it: what it says, and with which code it ends, where nothing comes of it."""

from pathlib import Path

import pytest

from tests.host.test_web_robust import served
from tests.program import FIRST, referee, run


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "mine.py").write_text(FIRST)
    return tmp_path / "bot"


def test_what_is_wrong_here_is_told_before_the_host_is_asked(bot: Path) -> None:
    for words, told in (
        (["connect", "mine.py"], "say which host"),
        (["connect", "nobody.py", "--to", "http://127.0.0.1:1"], "nobody.py"),
        (["connect", "mine.py", "--to", "pitch.example.org"], "no address of a host"),
        (["connect", "mine.py", "--to", "http://127.0.0.1:1"], "no token: set REFEREE_TOKEN"),
        (["verify", "league.sqlite", "--board", "remote"], "it has no effect without the URL of a host"),
    ):
        done = referee(bot, *words)
        assert done.returncode == 2, done.stderr
        assert told in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr
    in_the_open = run(bot, ["connect", "mine.py", "--to", "http://pitch.example.org"], REFEREE_TOKEN="referee_x")
    assert in_the_open.returncode == 2
    assert "is not encrypted" in in_the_open.stderr
    nobody = run(bot, ["connect", "mine.py", "--to", "http://127.0.0.1:1"], REFEREE_TOKEN="referee_x")
    assert nobody.returncode == 5
    assert "cannot be reached" in nobody.stderr


def test_a_host_says_what_it_does_not_take(bot: Path, tmp_path: Path) -> None:
    for host, told in (
        ("", "has no board of remote bots; hand your bot in with: referee push mine"),
        ('remote = "127.0.0.1:7401"\n', "This token is not known here"),
    ):
        folder = tmp_path / f"host-{bool(host)}"
        folder.mkdir()
        with served(folder, host) as (url, _):
            done = run(bot, ["connect", "mine.py", "--to", url], REFEREE_TOKEN="referee_unknown")
        assert done.returncode == 2, done.stdout + done.stderr
        assert told in " ".join(done.stderr.split())
        assert "referee_unknown" not in done.stdout + done.stderr

"""Remote bots of a real host, as their authors connect them: checked at the door, called for rounds, seen on a board, verified."""

import json
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from referee.host.home import HostHome
from referee.host.store import HostStore
from referee.league.ladder_history import closed_rounds
from referee.league.league import read_league
from referee.league.store import Store
from tests.host.test_host_command import parts_of
from tests.host.test_host_end_to_end import BAD, GOOD, MANIFEST, joined, started
from tests.program import FIRST, PATIENCE, Started, referee, run

LADDER = """
[tournament]
name = "Small host"
variant = "auction-pitch"
seats = 2
length = "deal"

[schedule]
format = "ladder"
sets = 6

[[bots]]
path = "house.py"
panel = true

[host]
address = "127.0.0.1:0"
remote = "127.0.0.1:0"
"""


def until(look: Callable[[], Any]) -> Any:
    end = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def rounds_of_board(home: HostHome) -> tuple[int, int, list[str]]:
    """How many rounds are closed, how many games were played, and the roots."""
    if not home.remote.exists():
        return 0, 0, []
    with Store.read(home.remote) as store:
        league = read_league(store)
        roots = [one["result_root"] for one in league.facts.get("rounds", []) if "result_root" in one]
        return closed_rounds(league), store.count_games(), roots


def test_remote_bots_are_checked_called_and_play_rounds_that_verify_though_parts_are_killed(tmp_path: Path) -> None:
    there = tmp_path / "host"
    for name, text in (("ann", GOOD), ("bob", BAD)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_text(MANIFEST.format(name=f"{name}s-bot"))
        (tmp_path / name / "bot.py").write_text(text)
    there.mkdir()
    (there / "small.toml").write_text(LADDER)
    (there / "house.py").write_text(FIRST)
    home = HostHome.beside(there / "small.toml")

    with started(there, "--sandbox", "none") as host:
        url = host.wait_for_site()
        tokens = {}
        for name in ("ann", "bob"):
            tokens[name] = joined(referee(there, "host", "small.toml", "--invite", name).stdout.strip(), name)

        # One that breaks rules is refused as one that was handed in.
        refused = run(tmp_path / "bob", ["connect", ".", "--to", url], REFEREE_TOKEN=tokens["bob"])
        assert refused.returncode == 1, refused.stdout + refused.stderr
        assert re.search(r"FAIL AF-PLAY-00[23]", refused.stdout), refused.stdout
        assert "refused   It breaks" in refused.stdout
        assert tokens["bob"] not in refused.stdout + refused.stderr

        # A good one plays, though the process of the board is killed in mid-round.
        connect = Started(tmp_path / "ann", ["connect", ".", "--to", url], REFEREE_TOKEN=tokens["ann"])
        try:
            until(lambda: rounds_of_board(home)[0] >= 1)
            before = rounds_of_board(home)
            until(lambda: rounds_of_board(home)[1] > before[1])
            os.kill(parts_of(there)["remote"], signal.SIGKILL)
            closed, _, roots = rounds_of_board(home)
            until(lambda: rounds_of_board(home)[0] > closed)
            assert rounds_of_board(home)[2][: len(roots)] == roots

            until(lambda: "version <bdi>1.0</bdi>, as declared" in httpx.get(f"{url}/remote", timeout=PATIENCE).text)
            for page in ("/remote/rounds", "/remote/bots/anns-bot", "/remote/games/1", "/"):
                assert httpx.get(f"{url}{page}", timeout=PATIENCE).status_code == 200, page
            rows = httpx.get(f"{url}/api/v1/remote/board", timeout=PATIENCE).json()["rows"]
            assert {row["entrant"] for row in rows} == {"house", "anns-bot"}
            verified = referee(there, "verify", url, "--board", "remote")
            assert verified.returncode == 0, verified.stdout + verified.stderr
            assert "remote bots" in verified.stdout
        finally:
            connect.send_signal(signal.SIGINT)
            printed, told = connect.communicate()
    assert connect.returncode == 130, printed + told
    assert "accepted  It plays whenever it is connected" in printed
    assert "called    for round 1: the bot starts" in printed
    assert "stopped   anns-bot is connected no more" in printed
    assert tokens["ann"] not in printed + told
    assert "Traceback" not in told
    with HostStore.open(home.store) as store:
        assert store.connection("anns-bot").seen == 0
        assert [one.what for one in store.audit() if one.who == "ann"][:2] == ["connected", "made a token"]
    assert (
        not home.ladder.exists()
        or json.loads(referee(there, "standings", str(home.ladder), "--output", "json").stdout)["rows"] == []
    )
    assert referee(there, "verify", str(home.remote)).returncode == 0

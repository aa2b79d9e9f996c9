"""A host from its first start to a round that verifies, as strangers use it: from other folders, with the address and a token alone."""

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from referee.host.home import HostHome
from referee.host.store import HostStore
from tests.program import FIRST, PATIENCE, REFEREE, referee, run

LADDER = """
[tournament]
name = "Small host"
variant = "auction-pitch"
seats = 2
length = "deal"

[schedule]
format = "ladder"
sets = 1

[[bots]]
path = "house.py"
panel = true

[[bots]]
path = "lodger.py"

[host]
address = "127.0.0.1:0"
"""
GOOD = "from referee.bot import run\nrun(lambda turn: turn.legal[-1])\n"
BAD = """
from referee.bot import Kind, run
run(lambda turn: max(turn.hand, key=lambda card: card.rank) if turn.kind is Kind.PLAY else turn.legal[0])
"""
MANIFEST = 'name = "{name}"\nversion = "1.0"\nrun = ["python", "bot.py"]\n'


class Running:
    """A host that runs, its terminal's lines, and where its site is."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process, self.lines, self.url = process, list[str](), ""
        self._is_there = threading.Event()
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            if found := re.fullmatch(r"The site is at (\S+)", line.rstrip()):
                self.url = found[1]
                self._is_there.set()
        self._is_there.set()

    def wait_for_site(self) -> str:
        assert self._is_there.wait(PATIENCE)
        assert self.url, self.lines
        return self.url

    def end(self) -> int:
        """Waits until it has ended; returns its exit code."""
        code = self.process.wait(PATIENCE)
        self._reading.join()
        return code


@contextmanager
def started(folder: Path, *words: str) -> Iterator[Running]:
    """A host that is started there, and ended whatever happens."""
    with subprocess.Popen(
        [*REFEREE, "host", "small.toml", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "COLUMNS": "300"},
    ) as process:
        running = Running(process)
        try:
            yield running
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            running.end()


def joined(link: str, name: str) -> str:
    """The token that somebody sees who opens a link in a browser, and says who they are."""
    with httpx.Client(timeout=PATIENCE) as browser:
        form = re.search(r'name="form_token" value="([0-9a-f]+)"', browser.get(link).text)
        assert form
        welcome = browser.post(link, data={"form_token": form[1], "name": name})
        assert welcome.status_code == 200, welcome.text
    token = re.search(r"\breferee_[\w-]{20,}", welcome.text)
    assert token
    return token[0]


def pushed(folder: Path, url: str, token: str) -> tuple[int, dict[str, Any], str]:
    """Pushes the bot in a folder, from there: the exit code, the document, and what a person is told."""
    done = run(folder, ["push", ".", "--to", url, "--output", "json"], REFEREE_TOKEN=token)
    assert token not in done.stdout + done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


@pytest.mark.needs("bwrap")
def test_bots_come_in_from_other_folders_are_judged_and_play_a_round_that_verifies(tmp_path: Path) -> None:
    there = tmp_path / "host"
    for name, text in (("ann", GOOD), ("bob", BAD)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_text(MANIFEST.format(name=f"{name}s-bot"))
        (tmp_path / name / "bot.py").write_text(text)
    there.mkdir()
    (there / "small.toml").write_text(LADDER)
    (there / "house.py").write_text(FIRST)
    (there / "lodger.py").write_text(GOOD)
    home = HostHome.beside(there / "small.toml")
    home.make()
    with HostStore.open(home.store) as store:
        store.set("paused", "1", time.time(), by="test")  # until both are judged

        with started(there, "--rounds", "1") as host:
            url = host.wait_for_site()
            tokens = {}
            for name in ("ann", "bob"):
                invited = referee(there, "host", "small.toml", "--invite", name)
                assert invited.returncode == 0, invited.stderr
                assert invited.stdout.startswith(f"{url}/join/")
                tokens[name] = joined(invited.stdout.strip(), name)

            code, good, told = pushed(tmp_path / "ann", url, tokens["ann"])
            assert (code, good["job"]["verdict"]) == (0, "accepted"), told
            code, bad, told = pushed(tmp_path / "bob", url, tokens["bob"])
            assert (code, bad["job"]["verdict"]) == (1, "refused"), told

            (finding, *_) = bad["job"]["findings"]
            assert finding["rule"] in ("AF-PLAY-002", "AF-PLAY-003")
            assert f"FAIL {finding['rule']}" in told
            assert f"  replay  {finding['page']}" in told
            for name, status in (("bob", 200), ("ann", 403)):
                shown = httpx.get(
                    finding["page"], headers={"Authorization": f"Bearer {tokens[name]}"}, timeout=PATIENCE
                )
                assert (shown.status_code, finding["rule"] in shown.text) == (status, status == 200)

            again = pushed(tmp_path / "ann", url, tokens["ann"])
            assert (again[0], again[1]["new"], again[1]["job"]["id"]) == (0, False, good["job"]["id"])

            store.set("paused", "", time.time(), by="test")
            assert host.end() == 0, host.lines

        store.set("paused", "1", time.time(), by="test")
        with started(there) as host:  # it is there again, and whoever wants to can verify what it has published
            url = host.wait_for_site()
            verified = referee(tmp_path / "bob", "verify", url)
            assert verified.returncode == 0, verified.stdout + verified.stderr
            board = httpx.get(f"{url}/api/v1/board", timeout=PATIENCE).json()
            host.process.send_signal(signal.SIGINT)
            assert host.end() == 0, host.lines

    table = json.loads(referee(there, "standings", str(home.ladder), "--output", "json").stdout)
    for rows in (table["rows"], board["rows"]):
        games = {row["entrant"]: row["games"] for row in rows}
        assert set(games) == {"house", "lodger", "anns-bot"}
        assert min(games.values()) > 0
    assert "anns-bot 1.0" in referee(there, "ladder", str(home.ladder)).stdout

"""``referee host`` as a user runs it: real processes, stopped and killed in mid-round, and nothing lost or counted twice."""

import contextlib
import csv
import io
import json
import os
import re
import signal
import socket
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.host.home import HostHome
from referee.host.preparation import only_host
from referee.host.store import HostStore
from referee.league.league import read_league
from referee.league.store import Store
from referee.sandbox.process_tree import process, processes
from tests.host.hosted import HEAD, HOST, HOUSE, definition_text
from tests.program import PATIENCE, Started, referee

LONGER = HEAD.replace("sets = 3", "sets = 8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in HOUSE.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "small.toml").write_text(definition_text(*HOUSE, head=LONGER))
    return tmp_path


def home_of(folder: Path) -> HostHome:
    return HostHome.beside(folder / "small.toml")


def ladder_of(path: Path) -> tuple[list[Any], int]:
    """The rounds of a ladder, and how many games it has."""
    with Store.read(path) as store:
        return list(read_league(store).facts.get("rounds", [])), store.count_games()


def parts_of(folder: Path) -> dict[str, int]:
    """The processes of the host of that folder, by part."""
    found: dict[int, tuple[str, int]] = {}
    for one in processes().values():
        try:
            words = Path(f"/proc/{one.pid}/cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue
        if "referee.host.part" in words and str(folder / "small.toml") in words and not one.dead:
            found[one.pid] = (words[words.index("referee.host.part") + 1], one.parent)
    # A child that a part has forked has the same words until it is a program of its own.
    return {part: pid for pid, (part, parent) in found.items() if parent not in found}


def bots_of(folder: Path) -> list[int]:
    """The processes of bots of that folder."""
    found = []
    for one in processes().values():
        with contextlib.suppress(OSError):
            if not one.dead and os.readlink(f"/proc/{one.pid}/cwd") == str(folder):  # noqa: PTH115
                found.append(one.pid)
    return found


def until(look: Callable[[], object], host: Started | None = None) -> None:
    end = time.monotonic() + PATIENCE
    while not look():
        assert host is None or host.poll() is None, host.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


def games_of(folder: Path) -> int:
    return ladder_of(home_of(folder).ladder)[1] if home_of(folder).ladder.exists() else 0


def started(folder: Path, *more: str) -> Started:
    return Started(folder, ["host", "small.toml", "--sandbox", "none", *more])


def roots_of(path: Path) -> list[str]:
    rounds, games = ladder_of(path)
    with Store.read(path) as store:
        assert games == len({(one.fixture_id, one.redeal) for one in store.every_game()})
    return [one["result_root"] for one in rounds if "result_root" in one]


def test_killed_and_stopped_in_mid_round_a_host_comes_to_the_same_roots_as_a_run(folder: Path) -> None:
    run = referee(folder, "run", "small.toml", "--rounds", "2", "--sandbox", "none")
    assert run.returncode == 0, run.stderr
    wanted = roots_of(folder / "leagues/small.sqlite")
    home = home_of(folder)

    # The engine is killed in mid-round, and starts again by itself; then Ctrl-C.
    host = started(folder)
    until(lambda: games_of(folder) >= 2, host)
    killed = parts_of(folder)["engine"]
    os.kill(killed, signal.SIGKILL)
    before = games_of(folder)
    until(lambda: parts_of(folder).get("engine", killed) != killed, host)
    until(lambda: games_of(folder) >= before + 2, host)
    host.send_signal(signal.SIGINT)
    printed, told = host.communicate()
    assert host.returncode == 0, told
    assert parts_of(folder) == {}
    until(lambda: not bots_of(folder))  # those that the killed engine left saw the end of their connection
    assert re.search(r"The site is at http://127\.0\.0\.1:\d+\n", printed)
    assert "engine has ended by itself (killed by SIGKILL) and starts again in 1 s" in told
    assert "Stopping: what is under way goes on with the next start." in told
    games = games_of(folder)

    # All is killed: the supervisor, and with it the parts.
    host = started(folder)
    until(lambda: games_of(folder) > games, host)
    parts = parts_of(folder)
    assert parts.keys() >= {"web", "engine"}
    host.send_signal(signal.SIGKILL)
    assert host.wait() == -signal.SIGKILL
    until(lambda: parts_of(folder) == {})

    # And it goes on to the end.
    rounds = ladder_of(home.ladder)[0]
    left = 2 - sum("result_root" in one for one in rounds)
    if left > 0:  # on a busy machine the rounds may be over before they are killed
        host = started(folder, "--rounds", str(left))
        printed, told = host.communicate()
        assert host.returncode == 0, told
        assert "/join/" not in printed  # the organiser was invited at the first start
        assert ("engine: Going on with round" in told) is ("result_root" not in rounds[-1])
    assert roots_of(home.ladder)[:2] == wanted
    assert referee(folder, "verify", str(home.ladder)).returncode == 0


def test_a_host_that_runs_answers_lets_people_be_invited_and_keeps_others_out(folder: Path) -> None:
    home = home_of(folder)
    home.make()
    with HostStore.open(home.store) as store:
        store.set("paused", "1", 1.0, by="test")
        host = started(folder)
        until(lambda: store.setting("address") and store.setting("engine_line").startswith("Paused"), host)
        url = f"http://{store.setting('address')}"
        with urllib.request.urlopen(f"{url}/healthz") as answer:  # noqa: S310  # our own
            assert answer.status == 200
        link = referee(folder, "host", "small.toml", "--invite", "ann").stdout.strip()
        assert link.startswith(f"{url}/join/")
        assert store.invitation(link.rpartition("/")[2], time.time()).name == "ann"
        second = referee(folder, "host", "small.toml", "--sandbox", "none")
        assert second.returncode == 1
        assert second.stderr.endswith(f"runs already (process {host.pid}); stop it first, or look at its site\n")
        assert len(store.invitations()) == 2
        os.kill(parts_of(folder)["web"], signal.SIGKILL)
        host.send_signal(signal.SIGTERM)
        printed, told = host.communicate()
    assert host.returncode == 0, told
    secret = re.search(r"The organiser's link, which works once: \S+/join/(\S+)\n", printed)
    assert secret is not None
    with HostStore.open(home.store) as store:
        assert store.invitation(secret[1], time.time()).organiser
        assert (store.setting("sandbox"), store.setting("sandbox_line")[:24]) == ("", "Bots run without a sandb")
    assert ladder_of(home.ladder) == ([], 0)
    assert parts_of(folder) == {}


def test_links_are_made_before_the_first_start_and_for_a_whole_class(folder: Path) -> None:
    (folder / "class.csv").write_text("Nr,Name\n1,ann\n\n2,Zoë Müller\n", "utf-8-sig")
    (folder / "small.toml").write_text(definition_text(*HOUSE, host='[host]\nurl = "https://pitch.example.org/"\n'))
    made = referee(folder, "host", "small.toml", "--invite-from", "class.csv")
    assert made.returncode == 0, made.stderr
    rows = list(csv.reader(io.StringIO(made.stdout)))
    assert rows[0] == ["name", "link"]
    assert [row[0] for row in rows[1:]] == ["ann", "Zoë Müller"]
    assert all(row[1].startswith("https://pitch.example.org/join/") for row in rows[1:])
    boss = referee(folder, "host", "small.toml", "--invite", "bea", "--organiser").stdout.strip()
    with HostStore.open(home_of(folder).store) as store:
        assert {store.invitation(row[1].rpartition("/")[2], time.time()).name for row in rows[1:]} == {
            "ann",
            "Zoë Müller",
        }
        assert store.invitation(boss.rpartition("/")[2], time.time()).organiser
    assert not home_of(folder).ladder.exists()
    for text, told in (("name\n", "has no names"), ("ann\nANN\n", "twice"), ("a\x1bb\n", "can be printed")):
        (folder / "bad.csv").write_text(text)
        bad = referee(folder, "host", "small.toml", "--invite-from", "bad.csv")
        assert bad.returncode == 2
        assert told in bad.stderr
    (folder / "small.toml").write_text(definition_text(*HOUSE))
    unknown = referee(folder, "host", "small.toml", "--invite", "ann")
    assert unknown.returncode == 2
    assert "the port of its site is not known before the host runs" in unknown.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--invite", "ann", "--rounds", "2"], "it has no effect where links are made"),
        (["--organiser"], "it has no effect without --invite"),
        (["--invite", "ann", "--invite-from", "class.csv"], "exclude one another"),
        (["--cluster", "tcp://127.0.0.1:1", "--workers", "2"], "it has no effect with --cluster"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_options_that_do_nothing_are_refused(folder: Path, words: list[str], told: str) -> None:
    done = referee(folder, "host", "small.toml", *words)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert not home_of(folder).folder.exists()


def test_what_is_wrong_is_told_before_anything_starts(folder: Path) -> None:
    file, home = folder / "small.toml", home_of(folder)

    def refused(text: str, told: str, code: int = 2) -> None:
        file.write_text(text)
        done = referee(folder, "host", "small.toml", "--sandbox", "none")
        assert done.returncode == code, done.stderr
        assert told in done.stderr
        assert "Traceback" not in done.stderr
        assert not home.store.exists()

    plain = definition_text(*HOUSE).replace('format = "ladder"', "").replace(HOST, "")
    refused(plain, 'remedy: write format = "ladder"')
    assert not home.folder.exists()
    refused(definition_text("first", "nobody"), "nobody.py")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        address = f'[host]\naddress = "127.0.0.1:{port}"\n'
        refused(
            definition_text(*HOUSE, host=address),
            f"small.toml: [host] address 127.0.0.1:{port}: something listens at port",
        )
    (folder / "made").mkdir()
    manifest = 'name = "made"\nversion = "1"\nbuild = "make"\nrun = ["build/made"]\n'
    (folder / "made/bot.toml").write_text(manifest)
    refused(definition_text(*HOUSE) + '[[bots]]\npath = "made"\n', "it is not built")


def test_a_definition_that_has_changed_since_the_ladder_began_is_refused(folder: Path) -> None:
    host = started(folder, "--rounds", "1")
    told = host.communicate()[1]
    assert host.returncode == 0, told
    assert f"Stopped. How the ladder stands: referee standings {home_of(folder).ladder}" in told
    (folder / "small.toml").write_text(definition_text(*HOUSE))
    changed = referee(folder, "host", "small.toml", "--sandbox", "none")
    assert changed.returncode == 1
    assert "was begun with another definition: " in changed.stderr
    assert changed.stderr.endswith(
        f"was 8, is 3. Only bots may come, go and change on a ladder: put that back, or move {home_of(folder).folder} away to begin another\n"
    )


def test_a_home_is_one_hosts_and_free_again_when_the_process_that_had_it_is_gone(folder: Path) -> None:
    home = home_of(folder)
    with only_host(home):
        done = referee(folder, "host", "small.toml", "--sandbox", "none")
        assert done.returncode == 1
        assert f"runs already (process {os.getpid()})" in done.stderr
        assert process(os.getpid()) is not None
    with only_host(home):
        assert json.loads((home.folder / "host.lock").read_text()) == os.getpid()

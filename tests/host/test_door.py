"""Where remote bots dial in: what is refused before a host starts, what they are told, and that TLS is spoken there."""

import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from referee.check.run import Outputs, check
from referee.check.tournament_plan import tournament_frame
from referee.host.door import check_door, door_of, door_that_is_open, open_door
from referee.host.home import HostHome
from referee.host.remote_ladder import remote_definition
from referee.host.store import HostStore
from referee.league.definition.definition import Definition, DefinitionError, parse_definition
from referee.net.listening import ListenError
from tests.host.hosted import definition_text
from tests.host.remote_author import ANY
from tests.program import PATIENCE
from tests.tls import write_pair


def hosted(host: str, *bots: str, folder: Path = Path()) -> Definition:
    """The definition of a ladder with this [host]."""
    return parse_definition(definition_text(*bots, host=f"[host]\n{host}\n"), folder=folder)


def test_a_door_in_the_open_is_refused_and_one_behind_a_proxy_or_with_a_certificate_is_not(tmp_path: Path) -> None:
    pair = 'certificate = "certificate.pem"\nkey = "key.pem"\n'
    write_pair(tmp_path)
    for host, told in (
        ('remote = "0.0.0.0:0"', "is open to other machines"),
        ('remote = "0.0.0.0:0"\nremote_url = "tls:pitch.example.org:7401"', "is open to other machines"),
        (f'{pair}remote = "0.0.0.0:0"\nremote_url = "tcp:pitch.example.org:7401"', "is not encrypted, and the door is"),
        (f'{pair}remote = "0.0.0.0:0"', "say in remote_url what bots dial"),
        ('remote = "no-such-machine.invalid:1"', "[host] remote no-such-machine.invalid:1: no machine is known"),
    ):
        with pytest.raises(ListenError) as refused:
            check_door(hosted(host, folder=tmp_path), "small.toml")
        assert told in str(refused.value)
        assert "small.toml: [host] remote" in str(refused.value)
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ListenError, match="something listens at port"):
        check_door(hosted(f'remote = "127.0.0.1:{taken.getsockname()[1]}"'), "small.toml")
    for host, address, told in (
        ('remote = "127.0.0.1:0"', "tcp:127.0.0.1:0", "tcp:127.0.0.1:0"),
        ('remote = "[::1]:0"', "tcp:[::1]:0", "tcp:[::1]:0"),
        ('remote = "127.0.0.1:0"\nremote_url = "tls:a.example:1"', "tcp:127.0.0.1:0", "tls:a.example:1"),
        (f'{pair}url = "https://a.example/x"\nremote = "0.0.0.0:0"', "tls:0.0.0.0:0", "tls:a.example:0"),
        (f'{pair}url = "https://[2001:db8::1]:8443"\nremote = "0.0.0.0:0"', "tls:0.0.0.0:0", "tls:[2001:db8::1]:0"),
        (f'{pair}remote = "0.0.0.0:0"\nremote_url = "tls:a.example:1"', "tls:0.0.0.0:0", "tls:a.example:1"),
    ):
        definition = hosted(host, folder=tmp_path)
        if socket.has_ipv6 or "::" not in host:
            check_door(definition, "small.toml")
        door = door_of(definition)
        assert door is not None
        assert (door.address, door.told) == (address, told)
    check_door(hosted(""), "small.toml")
    assert door_of(hosted("")) is None
    with pytest.raises(DefinitionError, match="nothing here without remote"):
        hosted('remote_url = "tls:a.example:1"')


def test_a_port_that_the_system_chooses_stays_as_long_as_the_host_runs(tmp_path: Path) -> None:
    home = HostHome.beside(tmp_path / "small.toml")
    home.make()
    home.definition.write_text(definition_text(host='[host]\nremote = "127.0.0.1:0"\n'))
    with HostStore.open(home.store) as store:
        door = open_door(home, store)
        assert door is not None
        assert not door.listen.endswith(":0")
        assert door_that_is_open(home, store) == door


def test_the_board_of_remote_bots_has_the_game_of_the_ladder_in_plain_secret_deals(tmp_path: Path) -> None:
    own = hosted('remote = "127.0.0.1:0"', "a", "b", "c")
    made = remote_definition(own)
    assert made.tournament.name == "Small host (remote bots)"
    assert (made.schedule.duplicate, made.schedule.seed, made.schedule.sets) == (False, None, own.schedule.sets)
    assert (made.rules, made.limits, made.bots) == (own.rules, own.limits, own.bots)
    text = definition_text("a", "b", "c").replace('path = "b.py"', 'path = "b.py"\npanel = true')
    assert [bot.path for bot in remote_definition(parse_definition(text)).bots] == ["b.py"]
    long = definition_text("a").replace("Small host", "x" * 80)
    assert remote_definition(parse_definition(long)).tournament.name == "x" * 66 + " (remote bots)"


def test_a_check_at_a_door_with_a_certificate_speaks_tls(tmp_path: Path) -> None:
    pair = write_pair(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    plan = replace(
        tournament_frame(hosted(""), "far"),
        listen=f"localhost:{port}",
        tls=pair,
        token="a-token",
        only_doctor=True,
        wait_seconds=PATIENCE,
        log_path=tmp_path / "log",
    )
    given = {"REFEREE_ADDRESS": f"tls:localhost:{port}", "REFEREE_TOKEN": "a-token", "REFEREE_CA": pair[0]}
    again = f"import subprocess, sys\nwhile subprocess.call([sys.executable, '-c', {ANY!r}]):\n    pass\n"
    with subprocess.Popen([sys.executable, "-c", again], env={**os.environ, **given}, stderr=subprocess.DEVNULL) as bot:
        try:
            report = check(plan, Outputs(None, command="."))
        finally:
            bot.terminate()
    assert not report.run["not_ready"], report.run["not_ready"]
    assert report.run["answers"] > 0

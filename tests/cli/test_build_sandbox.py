"""A build is a stranger's program: what it sees, what it may use, and that nothing of it is left. Python stands in for compilers."""

import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from referee.league.definition.shipped import shipped_folder
from referee.league.entrants.bot_build import missing_libraries
from referee.league.entrants.bot_source import find_bot
from referee.league.entrants.build_process import HOME, build_environment
from tests.cli.test_building import make_bot, running_in
from tests.program import referee

BOTH = [pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap")), "none"]

DONE = """
import pathlib
pathlib.Path("dist").mkdir(exist_ok=True)
pathlib.Path("dist/bot.py").write_text("")
"""

LOOKS = """\
import json, os, pathlib, socket
def attempt(what):
    try:
        return what() or True
    except OSError as error:
        return False
def dial():
    socket.create_connection(("127.0.0.1", {port}), 5).close()
found = {{
    "victim": attempt(lambda: bool(pathlib.Path({victim!r}).read_text())),
    "other": attempt(lambda: bool(pathlib.Path({other!r}).read_text())),
    "beside": attempt(lambda: pathlib.Path("../beside.txt").write_text("x")),
    "network": attempt(dial),
    "home": os.environ["HOME"],
    "kept": attempt(lambda: bool(pathlib.Path.home().joinpath("kept").write_text("x"))),
    "others": len([name for name in os.listdir("/proc") if name.isdigit()]),
    "environment": sorted(os.environ),
}}
print("FOUND" + json.dumps(found))
"""


def looked(folder: Path, sandbox: str, *more: str) -> dict[str, Any]:
    """What a build in ``folder/mine`` sees of a file of its user's, of another bot, and of a server of this machine."""
    (folder / "private").mkdir()
    (folder / "private" / "key").write_text("secret")
    make_bot(folder / "theirs", DONE)
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_accept, args=(server,), daemon=True).start()
        script = LOOKS.format(
            port=server.getsockname()[1],
            victim=str(folder / "private" / "key"),
            other=str(folder / "theirs" / "bot.toml"),
        )
        make_bot(folder / "mine", script + DONE)
        done = referee(folder, "build", "mine", "--sandbox", sandbox, *more)
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("FOUND")]
    return dict(json.loads(line.removeprefix("FOUND")))


def _accept(server: socket.socket) -> None:
    try:
        while True:
            server.accept()[0].close()
    except OSError:
        return


@pytest.mark.needs("bwrap")
def test_a_build_sees_its_own_folder_alone_and_has_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "x")
    monkeypatch.setenv("NPM_CONFIG__AUTH", "x")
    found = looked(tmp_path, "bubblewrap")
    assert not found["victim"]
    assert not found["other"]
    assert not found["network"]
    assert found["kept"]
    assert found["others"] < 6
    assert found["home"] == str(tmp_path / "mine" / HOME)
    assert not (tmp_path / "beside.txt").exists()
    assert not {"MY_TOKEN", "NPM_CONFIG__AUTH"} & set(found["environment"])
    assert (tmp_path / "mine" / HOME / "kept").exists()


@pytest.mark.needs("bwrap")
def test_it_has_the_network_where_that_is_asked_for(tmp_path: Path) -> None:
    found = looked(tmp_path, "bubblewrap", "--network")
    assert found["network"]
    assert not found["victim"]


def test_without_a_sandbox_it_has_the_same_home_and_environment_and_one_line_says_so(tmp_path: Path) -> None:
    found = looked(tmp_path, "none")
    assert found["home"] == str(tmp_path / "mine" / HOME)
    done = referee(tmp_path, "build", "mine", "--sandbox", "none", "-q")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("Builds run without a sandbox")


def test_what_builds_find_in_their_environment(tmp_path: Path) -> None:
    ours = {
        "PATH": "/usr/bin",
        "HTTPS_PROXY": "http://proxy:3128",
        "HTTP_PROXY": "http://me:word@proxy:3128",
        "GOPROXY": "https://goproxy.example",
        "GOMODCACHE": "/somewhere/mod",
        "CARGO_REGISTRY_TOKEN": "x",
        "npm_config_//registry/:_authToken": "x",
        "npm_config_registry": "https://npm.example",
        "AWS_SECRET_ACCESS_KEY": "x",
        "SSH_AUTH_SOCK": "x",
        "HOME": "/somewhere",
    }
    online = build_environment(tmp_path / HOME, ours, offline=False)
    assert online["HTTPS_PROXY"] == "http://proxy:3128"
    assert online["GOPROXY"] == "https://goproxy.example"
    assert online["npm_config_registry"] == "https://npm.example"
    assert online["HOME"] == str(tmp_path / HOME)
    left_out = ours.keys() - {"PATH", "HTTPS_PROXY", "GOPROXY", "npm_config_registry", "HOME"}
    assert not left_out & online.keys()
    assert build_environment(tmp_path / HOME, ours, offline=True)["GOPROXY"] == "off"


LEFT = """\
import os, subprocess, sys
code = "import os, time; open('pids', 'a').write(str(os.getpid()) + chr(10)); time.sleep(600)"
subprocess.Popen([sys.executable, "-c", code], start_new_session=True, env={"PATH": os.environ["PATH"]})
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-c", code], {})
    os._exit(0)
while not (os.path.exists("pids") and open("pids").read().count(chr(10)) == 2):
    pass
"""


@pytest.mark.parametrize("sandbox", BOTH)
def test_what_a_build_leaves_running_is_ended(sandbox: str, tmp_path: Path) -> None:
    """Daemons in sessions of their own, with an emptied environment. In a sandbox their numbers are not ours."""
    make_bot(tmp_path / "mine", LEFT + DONE)
    done = referee(tmp_path, "build", "mine", "--sandbox", sandbox, "-q")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not running_in(tmp_path)


@pytest.mark.parametrize("sandbox", BOTH)
@pytest.mark.parametrize(
    ("make", "told"),
    [
        ("held = []\nwhile True:\n    held.append(bytearray(8 << 20))", "its limit is 96 MiB"),
        ("import sys\nwhile True:\n    sys.stdout.write('x' * 65536)", "bytes of output, which is its limit"),
        (
            "import os, time\nfor _ in range(600):\n    if os.fork() == 0:\n        time.sleep(600)\ntime.sleep(600)",
            "processes at once; its limit is",
        ),
    ],
    ids=["memory", "output", "processes"],
)
def test_a_build_that_passes_a_limit_is_ended_and_the_limit_is_named(
    sandbox: str, make: str, told: str, tmp_path: Path
) -> None:
    make_bot(tmp_path / "mine", make)
    done = referee(tmp_path, "build", "mine", "--sandbox", sandbox, "-q", "--memory-mib", "96")
    assert done.returncode == 1, done.stdout + done.stderr
    last = done.stderr.splitlines()[-1]
    # Six hundred processes may pass the limit of memory first, on a slow machine.
    assert told in last or ("fork" in make and "MiB" in last)
    assert not running_in(tmp_path)


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize(
    "words",
    [
        "npm error code ENOTCACHED",
        "go: module lookup disabled by GOPROXY=off",
        "error: failed to download `h2`: attempting to make an HTTP request, but --offline was specified",
        "[ERROR] Unknown host repo.maven.apache.org: Name or service not known",
        "NewConnectionError: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution",
    ],
)
def test_a_build_that_wanted_the_network_says_so_in_one_line(words: str, tmp_path: Path) -> None:
    make_bot(tmp_path / "mine", f"import sys\nprint({words!r})\nsys.exit(1)")
    done = referee(tmp_path, "build", "mine", "-q")
    assert done.returncode == 1
    assert "a build has the network only with --network" in done.stderr.splitlines()[-1]
    assert "--network" not in referee(tmp_path, "build", "mine", "-q", "--network").stderr


@pytest.mark.parametrize("link", [HOME, str(Path(HOME, "tmp"))])
def test_a_home_that_leads_out_of_the_folder_is_refused(link: str, tmp_path: Path) -> None:
    folder = make_bot(tmp_path / "mine", DONE)
    (tmp_path / "elsewhere").mkdir()
    (folder / link).parent.mkdir(exist_ok=True)
    (folder / link).symlink_to(tmp_path / "elsewhere")
    done = referee(tmp_path, "build", "mine", "-q")
    assert done.returncode == (2 if link == HOME else 1)
    assert ("a link to a folder outside" if link == HOME else "is not a folder: remove it") in done.stderr
    assert not list((tmp_path / "elsewhere").iterdir())


def test_the_home_of_a_build_does_not_count_as_a_file_of_the_bot(tmp_path: Path) -> None:
    folder = make_bot(tmp_path / "mine", DONE)
    before = find_bot("mine", tmp_path).digest
    assert referee(tmp_path, "build", "mine", "-q").returncode == 0
    assert (folder / HOME).is_dir()
    assert find_bot("mine", tmp_path).digest == before


@pytest.mark.needs("bwrap")
def test_output_of_a_build_is_harmless_on_a_screen(tmp_path: Path) -> None:
    make_bot(tmp_path / "mine", r"print('\x1b[2J\x1b]0;gotcha\x07 :x: [bold]')" + DONE)
    done = referee(tmp_path, "build", "mine")
    assert "\x1b" not in done.stdout
    assert r"\x1b[2J" in done.stdout
    assert ":x: [bold]" in done.stdout


LACKS = """\
cmake_minimum_required(VERSION 3.22)
project(x CXX)
find_package(gRPC CONFIG REQUIRED NO_DEFAULT_PATH)
"""


@pytest.mark.needs("cmake")
def test_a_missing_library_is_one_line_that_names_the_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    make_bot(tmp_path / "mine", "", '"cmake -S . -B build"')
    (tmp_path / "mine" / "CMakeLists.txt").write_text(LACKS)
    refused = referee(tmp_path, "build", "mine", "-q")
    assert refused.returncode == 3, refused.stderr
    (line,) = refused.stderr.splitlines()
    assert "libgrpc++-dev" in line
    assert line.endswith("; install it")
    skipped = referee(tmp_path, "build", "mine", "-q", "--skip-missing")
    assert skipped.returncode == 0
    assert skipped.stderr.splitlines() == [line.replace("; install it", "; left out")]
    monkeypatch.setenv("CI", "true")
    assert referee(tmp_path, "build", "mine", "-q", "--skip-missing").returncode == 3


def test_what_compilers_say_of_libraries_that_are_not_there() -> None:
    assert "libgrpc++-dev" in missing_libraries(
        "CMake Error at CMakeLists.txt:13 (find_package):\n  Could NOT find Protobuf (missing: Protobuf_LIBRARIES)"
    )
    assert "libgrpc++-dev" in missing_libraries(
        "main.cpp:1:10: fatal error: grpcpp/grpcpp.h: No such file or directory"
    )
    assert "jdk" in missing_libraries(
        "[ERROR] No compiler is provided in this environment. Perhaps you are running on a JRE"
    )
    assert not missing_libraries("main.cpp:7:1: error: expected ';'")


@pytest.mark.needs("bwrap")
def test_a_build_sees_the_wire_contract_wherever_referee_is(tmp_path: Path) -> None:
    """The sample bots have no copy of it: theirs is above their folders."""
    protos = shipped_folder("protos") / "allfours" / "v1" / "service.proto"
    make_bot(tmp_path / "mine", f"open({str(protos)!r}).read()" + DONE)
    done = referee(tmp_path, "build", "mine", "-q")
    assert done.returncode == 0, done.stderr

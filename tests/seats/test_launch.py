"""What a bot is given at its start, and what is said when it cannot be started."""

import json
import sys

import pytest

from referee.seats.launch import Policy
from tests.seats.camp import Camp

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="leftovers are looked for in /proc: Linux only")


LOOKS_AROUND = """
    import json, os, resource, sys
    import referee.cards
    with open(os.environ["HOME"] + "/note", "w") as note:
        note.write("mine")
    print(json.dumps({
        "environment": dict(os.environ), "folder": os.getcwd(), "arguments": sys.argv[2:],
        "handles": sorted(os.listdir("/proc/self/fd")), "typed": sys.stdin.read(),
        "core": resource.getrlimit(resource.RLIMIT_CORE), "files": resource.getrlimit(resource.RLIMIT_NOFILE),
        "terminal": os.getsid(0) == os.getsid(os.getppid()),
    }))
"""


def test_what_a_bot_finds_at_its_start(camp: Camp, sandbox: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_REFEREE", "1")
    monkeypatch.setenv("PYTHONSTARTUP", "/nowhere")

    async def story() -> None:
        end, output = await camp.end_of(camp.command(LOOKS_AROUND, environment={"LEVEL": "9"}), sandbox)
        assert end.code == 0, output
        found = json.loads(output)
        given = found["environment"]
        usual = {"PATH", "HOME", "TMPDIR", "LANG", "JAVA_TOOL_OPTIONS", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}
        usual |= {"PYTHONFAULTHANDLER", "PYTHONHASHSEED", "PYTHONPATH", "PWD", "LC_CTYPE"}
        assert {"REFEREE_ADDRESS", "REFEREE_TOKEN", "REFEREE_BOT_ID", "LEVEL", "HOME"} <= given.keys()
        assert given.keys() <= usual | {"REFEREE_ADDRESS", "REFEREE_TOKEN", "REFEREE_BOT_ID", "LEVEL"}
        assert given["REFEREE_TOKEN"] == "a token of the test"
        assert given["HOME"] == given["TMPDIR"]
        assert found["folder"] == str(camp.bot_folder)
        assert found["handles"] == ["0", "1", "2", "3"]  # 3 is the listing's own
        assert (found["core"], found["files"]) == ([0, 0], [128, 128])
        assert found["typed"] == ""
        assert not (camp.bot_folder / "__pycache__").exists()

    camp.run(story)

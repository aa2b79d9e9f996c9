"""docs/host.md and SECURITY.md say of the host what its code does."""

import re
from pathlib import Path
from typing import Final

import pytest
import yaml

from referee.cli.exits import EXIT_CODES
from referee.cli.push import progress_line, verdict_lines
from referee.host.archive import MOST_BYTES, MOST_ENTRIES, MOST_RATIO
from referee.host.client import QUIET_S, FollowedJob
from referee.host.packing import _looks_secret
from referee.host.rows import JobState, VersionState
from referee.host.store import _SECRET_BYTES
from referee.host.web.events import KEEP_ALIVE_S
from referee.host.web.routes import API, OTHERS
from referee.league.definition.fields import HostSection

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = (ROOT / "docs" / "host.md").read_text("utf-8")
SECURITY: Final = (ROOT / "SECURITY.md").read_text("utf-8").partition("## The host")[2].partition("\n## ")[0]


def section(title: str) -> str:
    """A section of the page, with those below it."""
    level = re.search(rf"^(#+) {re.escape(title)}$", PAGE, re.MULTILINE)
    assert level, title
    rest = PAGE[level.end() :]
    end = re.search(rf"^#{{1,{len(level[1])}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def test_the_table_of_the_api_is_all_of_the_api() -> None:
    told = set(re.findall(r"^\| `([A-Z]+) (/\S+)` \|", section("The API"), re.MULTILINE))
    routes = {(method, route.path) for route in API for method in (route.methods or set()) - {"HEAD"}}
    assert told == routes - {("GET", "/api/v1/openapi.json")}
    assert "`/api/v1/openapi.json`" in section("The API")


def test_every_curl_asks_for_what_is_there() -> None:
    patterns = [re.sub(r"\{\w+\}", "[^/]+", route.path) for route in API]
    asked = re.findall(r'https://pitch\.example\.org(/[^\s?"]+)', section("The API"))
    assert len(asked) == 4
    assert [path for path in asked if not any(re.fullmatch(one, path) for one in patterns)] == []


@pytest.mark.parametrize("path", ["/export", "/healthz", "/metrics"])
def test_what_stands_beside_the_api_is_there(path: str) -> None:
    assert f"`{path}`" in PAGE
    assert path in {route.path for route in OTHERS}


def test_the_proxies_take_what_a_host_takes() -> None:
    most = HostSection().upload_mib << 20
    sizes = re.findall(r"max_size (\d+)MB|client_max_body_size (\d+)m;", PAGE)
    assert len(sizes) == 2
    assert all(int(caddy or nginx) * 10**6 > most for caddy, nginx in sizes)
    assert PAGE.count(f"reverse_proxy {HostSection().address}") == 1
    assert PAGE.count(f"proxy_pass http://{HostSection().address};") == 1


def test_a_sign_of_life_comes_before_anybody_gives_up() -> None:
    assert f"every {KEEP_ALIVE_S:.0f} seconds" in PAGE
    (timeout,) = re.findall(r"proxy_read_timeout (\d+)s;", PAGE)
    assert min(int(timeout), QUIET_S) >= 2 * KEEP_ALIVE_S


def test_the_exit_codes_of_push_are_those_of_the_list() -> None:
    rows = re.findall(r"^\| (\d+(?:, \d+)*) \|", section("What the job says"), re.MULTILINE)
    told = [code for row in rows for code in row.split(", ")]
    known = {code for code, commands, _ in EXIT_CODES if "push" in commands.replace(" --check", "").split(", ")}
    assert sorted(told) == sorted(known | {"0", "130"})


def test_the_words_of_a_job_are_those_that_push_prints() -> None:
    told = set(
        re.findall(r"`([a-z ]+)`", "".join(re.findall(r"^\| (`.+?) \|", section("What the job says"), re.MULTILINE)))
    )
    usual = FollowedJob(7, "a", "b", 1, JobState.WAITING, "", 1, 0, VersionState.WAITING, "", (), "", None, "")
    from dataclasses import replace

    printed = {progress_line(usual).split()[0]}
    printed |= {
        progress_line(replace(usual, state=JobState.RUNNING, stage=stage)).split()[0]
        for stage in ("begins", "unpack", "build", "check")
    }
    endings = [
        replace(usual, state=JobState.DONE, verdict=verdict) for verdict in VersionState if verdict != "withdrawn"
    ]
    for job in (*endings, replace(usual, state=JobState.FAILED)):
        line = next(text for text, _ in verdict_lines(job) if text)
        printed.add(re.split(r"  |$", line)[0])
    assert told == printed


def test_the_secrets_that_are_named_are_taken_for_secrets() -> None:
    named = re.search(r"what looks like a secret: (.+?) and the like", PAGE)
    assert named
    for pattern in re.findall(r"`([^`]+)`", named[1]):
        assert _looks_secret(pattern.replace("*", "x"))


def test_the_step_for_github_is_sound_and_pushes_after_the_check() -> None:
    text = (ROOT / ".github" / "actions" / "check" / "bot-push.yml").read_text("utf-8")
    (job,) = yaml.safe_load(text)["jobs"].values()
    uses = [step.get("uses", "") for step in job["steps"]]
    assert uses[1] == "OWNER/referee/.github/actions/check@main"
    last = job["steps"][-1]
    assert last["env"] == {"REFEREE_TOKEN": "${{ secrets.REFEREE_TOKEN }}"}
    assert last["run"] in PAGE


def test_the_bounds_that_security_tells_are_those_of_the_code() -> None:
    assert f"{MOST_ENTRIES:,} entries, {MOST_BYTES >> 20} MiB, {MOST_RATIO} times" in SECURITY
    assert f"{8 * _SECRET_BYTES} random bits" in SECURITY
    assert f"more than {MOST_ENTRIES:,} files, {MOST_BYTES >> 20} MiB" in PAGE

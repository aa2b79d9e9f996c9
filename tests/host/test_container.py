"""The container file: what it copies is all that the package is made of, nobody in it is root, and it has what a host needs."""

import json
import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
FILE: Final = ROOT / "docs/deploy/Containerfile"
IGNORED: Final = ROOT / "docs/deploy/Containerfile.dockerignore"
KNOWN: Final = {
    *("ARG", "FROM", "RUN", "WORKDIR", "COPY", "ENV", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK"),
    *("ENTRYPOINT", "CMD"),
}


def instructions() -> list[tuple[str, str]]:
    """The instructions of the file with their words, in lines that were joined."""
    lines = [line for line in FILE.read_text().splitlines() if line.strip() and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in joined.splitlines()]


def last_stage() -> list[tuple[str, str]]:
    made = instructions()
    return made[max(at for at, (word, _) in enumerate(made) if word == "FROM") :]


def test_each_line_is_an_instruction_and_lists_are_json() -> None:
    made = instructions()
    assert {word for word, _ in made} == KNOWN
    for word, rest in made:
        if word in ("ENTRYPOINT", "CMD") or (word == "HEALTHCHECK" and "CMD" in rest):
            words = json.loads(rest[rest.index("[") :])
            assert words
            assert all(isinstance(one, str) for one in words)
        if word == "RUN":
            done = subprocess.run(["sh", "-n", "-c", rest], capture_output=True, check=False)
            assert done.returncode == 0, rest


def copied() -> list[str]:
    """What the build copies from a checkout."""
    return [
        source
        for word, rest in instructions()
        if word == "COPY" and "--from" not in rest
        for source in shlex.split(rest)[:-1]
    ]


def test_what_is_copied_is_all_that_the_package_is_made_of() -> None:
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, wheel = hatch["project"], hatch["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {*wheel["only-include"], *wheel["force-include"], project["readme"], *project["license-files"]}
    needed |= {"pyproject.toml", ".gitignore"}  # the latter says what of sample_bots is none of it
    found = copied()
    assert all((ROOT / source).exists() for source in found)
    missing = {one for one in needed if not any(one == source or one.startswith(f"{source}/") for source in found)}
    assert missing == set()
    let_in = [line[1:] for line in IGNORED.read_text().splitlines() if line.startswith("!")]
    assert all(any(source == one or source.startswith(f"{one}/") for one in let_in) for source in found)


def test_nobody_in_it_is_root_and_it_has_what_the_sandbox_needs() -> None:
    words = [word for word, _ in last_stage()]
    (user,) = [rest for word, rest in last_stage() if word == "USER"]
    assert user not in ("root", "0")
    assert words.index("USER") < words.index("ENTRYPOINT")
    assert "RUN" not in words[words.index("USER") :]
    installs = " ".join(rest for word, rest in last_stage() if word == "RUN")
    assert {"bubblewrap", "util-linux", "python3", "ca-certificates"} <= set(installs.split())


def engine() -> str:
    """What builds containers here and can reach the base image; empty if nothing does."""
    for name in ("podman", "docker"):
        try:
            words = [name, "image", "inspect", "docker.io/library/debian:trixie-slim"]
            if subprocess.run(words, capture_output=True, check=False, timeout=60).returncode == 0:
                return name
        except (OSError, subprocess.TimeoutExpired):
            continue
    return ""


@pytest.mark.skipif(
    not engine(), reason="no podman or docker here that has debian:trixie-slim (podman pull debian:trixie-slim)"
)
def test_it_builds_and_its_host_starts_with_the_sandbox() -> None:
    name = engine()
    built = subprocess.run(
        [name, "build", "--file", FILE, "--tag", "referee-under-test", ROOT],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    flags = ["--security-opt", "seccomp=unconfined"]
    flags += ["--security-opt", "systempaths=unconfined" if name == "docker" else "unmask=/proc/*"]
    asked = "from referee.sandbox.isolation import choose_sandbox; print(choose_sandbox('auto').kind)"
    for given, kind in ((flags, "bubblewrap"), ([], "none")):
        done = subprocess.run(
            [name, "run", "--rm", *given, "--entrypoint", "python", "referee-under-test", "-c", asked],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stdout, done.stderr) == (f"{kind}\n", "")

"""A host from its first start to a restored backup, as its organiser, its owners and somebody who watches see it in a browser.

    python -m tests.browser.host_walk --languages python go cpp

Whoever hands a bot in has a folder of their own, the address of the host, and a token: nothing else. The machine is "unplugged" in
mid-round: every process of the host is killed. ``make host-walk`` goes all the way with a bot in each language that this machine builds.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

from referee.sandbox.process_tree import process, processes, send, with_kin
from tests.host.chaos import free_port
from tests.host.gates import RENEGES
from tests.program import PATIENCE, Started, referee, run

DEFINITION: Final = """\
[tournament]
name = "Walk"
variant = "auction-pitch"
seats = 2
length = "deal"
[schedule]
format = "ladder"
sets = {sets}
[limits]
start_s = 600
move_ms = 60000
[host]
address = "127.0.0.1:{port}"
build_network = {network}
build_s = 1800
[[bots]]
path = "random"
panel = true
[[bots]]
path = "careful"
"""

TOOLS: Final = {"python": "python3", "typescript": "npm", "go": "go", "rust": "cargo", "java": "mvn", "cpp": "cmake"}
"""What each language is built with."""

BAD: Final = "bob"
MANIFEST: Final = 'name = "{name}"\nversion = "1"\nrun = ["python", "bot.py"]\n'


@dataclass(frozen=True, slots=True)
class Author:
    """Somebody with a bot: in a language as ``referee new`` makes it, or one that reneges."""

    name: str
    language: str = ""

    def write(self, folder: Path) -> Path:
        """The folder of the bot, in a folder of its author."""
        if self.language:
            made = referee(folder, "new", self.language, f"{self.name}s")
            assert made.returncode == 0, made.stderr
            return folder / f"{self.name}s"
        place = folder / f"{self.name}s"
        place.mkdir()
        (place / "bot.toml").write_text(MANIFEST.format(name=f"{self.name}s"))
        (place / "bot.py").write_text(RENEGES)
        return place


class Walk:
    """A host in a folder, its site in a browser, and what people do there."""

    def __init__(self, folder: Path, browser: Browser, *, network: bool = False, sets: int = 6) -> None:
        self.folder, self.browser = folder, browser
        self.place, self.file = folder / "host", "walk.toml"
        self.place.mkdir()
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        (self.place / self.file).write_text(
            DEFINITION.format(port=port, network=str(network).lower(), sets=sets), "utf-8"
        )
        self.pages: list[Page] = []

    # The machine.

    def start(self, place: Path) -> Started:
        """Starts the host that is there, and waits for its site."""
        host = Started(place, ["host", self.file])
        until(self.answers, f"no site at {self.url}", host)
        return host

    def answers(self) -> bool:
        """Whether the site is there."""
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(f"{self.url}/healthz", timeout=PATIENCE).status_code == 200
        return False

    def unplug(self, host: Started) -> None:
        """Kills all processes of a host at once."""
        everything = processes()
        ours = [everything[pid] for pid in with_kin({host.pid}, everything)]
        for one in sorted(ours, key=lambda one: one.pid != host.pid):
            send(one, signal.SIGKILL)
        host.communicate()
        until(
            lambda: all((now := process(one.pid)) is None or now.dead or now.started != one.started for one in ours),
            "some live on",
        )

    # People.

    def page(self) -> Page:
        """A browser of somebody else, with no cookie."""
        self.pages.append(self.browser.new_context().new_page())
        self.pages[-1].set_default_timeout(PATIENCE * 1000)
        return self.pages[-1]

    def join(self, link: str, name: str) -> tuple[Page, str]:
        """Somebody opens a link, picks a name where it has none, and sees a token."""
        page = self.page()
        page.goto(link)
        if page.locator("input[name=name]:not([type=hidden])").count():
            page.fill("input[name=name]", name)
        page.click("main button:has-text('Join')")
        token = page.inner_text("code.token")
        assert token.startswith("referee_")
        return page, token

    def invite(self, organiser: Page, name: str) -> str:
        """The organiser makes a link on the site."""
        organiser.goto(f"{self.url}/organiser")
        organiser.fill("input[name=name]", name)
        organiser.click("text=Make an invitation")
        return organiser.inner_text("code.token")

    def push(self, folder: Path, token: str) -> tuple[int, str]:
        """An author hands a bot in, with the address alone; the exit code, and what is told."""
        done = run(folder, ["push", ".", "--to", self.url], REFEREE_TOKEN=token)
        return done.returncode, done.stdout + done.stderr

    def board(self) -> dict[str, Any]:
        """The board as programs get it."""
        found: dict[str, Any] = httpx.get(f"{self.url}/api/v1/board", timeout=PATIENCE).json()
        return found

    def verify(self) -> None:
        """Somebody elsewhere verifies the closed rounds."""
        elsewhere = self.folder / "outside"
        elsewhere.mkdir(exist_ok=True)
        done = run(elsewhere, ["verify", self.url])
        assert done.returncode == 0, done.stdout + done.stderr

    def close(self) -> None:
        """Closes all pages."""
        for page in self.pages:
            page.context.close()


def walk(
    folder: Path, browser: Browser, authors: Sequence[Author], tell: Callable[[str], None] = lambda _: None, **more: Any
) -> None:
    """All the way. Raises ``AssertionError`` where somebody does not see what there should be to see."""
    at = Walk(folder, browser, **more)
    host = Started(at.place, ["host", at.file])
    try:
        until(at.answers, f"no site at {at.url}", host)
        organiser, _ = at.join(_organisers_link(at), "chief")
        organiser.goto(f"{at.url}/organiser")
        organiser.click("text=Begin no more rounds")
        until(lambda: not (at.board()["round"] or {}).get("open"), "the round does not end", host)
        links = {author.name: at.invite(organiser, author.name) for author in authors}
        tell(f"{len(links)} links")

        people = {name: at.join(link, name) for name, link in links.items()}
        watching = at.page()
        watching.goto(at.url)
        watching.evaluate("window.same = true")
        for author in authors:
            (folder / author.name).mkdir()
            bot = author.write(folder / author.name)
            code, told = at.push(bot, people[author.name][1])
            assert code == (0 if author.language else 1), f"{author}: {told}"
            tell(f"{author.name} ({author.language or 'reneges'}): {'accepted' if author.language else 'refused'}")
        _see_the_ruling(at, people[BAD][0])

        before = len(httpx.get(f"{at.url}/api/v1/rounds", timeout=PATIENCE).json()["rounds"])
        organiser.goto(f"{at.url}/organiser")
        organiser.click("text=Let rounds begin")
        until(lambda: _is_in_midround(at, before + 1), "no round is played", host)
        at.unplug(host)
        tell("unplugged")
        host = at.start(at.place)
        until(lambda: _shows(watching, before + 1, "anns"), "the board that is watched stands still", host)
        assert watching.evaluate("window.same"), "the page was loaded again"
        assert f"{BAD}s" not in watching.inner_text("table.board")
        organiser.goto(f"{at.url}/organiser")
        organiser.click("text=Begin no more rounds")
        until(lambda: not at.board()["round"]["open"], "the round does not end", host)
        at.verify()
        tell("the board has moved, and the rounds verify from outside")

        archive = folder / "backup.tar.gz"
        made = referee(at.place, "host", at.file, "--backup", str(archive))
        assert made.returncode == 0, made.stderr
        until(lambda: at.board()["up_to_date"], "the board is not up to date", host)
        board = at.board()["rows"]
        _stop(host)
        elsewhere = folder / "elsewhere"
        elsewhere.mkdir()
        shutil.move(at.place, folder / "broken")
        restored = referee(elsewhere, "host", at.file, "--restore", str(archive))
        assert restored.returncode == 0, restored.stderr
        host = at.start(elsewhere)
        until(lambda: at.board()["up_to_date"], "the board is not there", host)
        assert at.board()["rows"] == board
        watching.goto(at.url)
        assert "anns" in watching.inner_text("table.board")
        people[BAD][0].goto(f"{at.url}/me")
        assert "refused" in people[BAD][0].inner_text("main")
        at.verify()
        tell("restored elsewhere, with the same board")
    finally:
        at.close()
        _stop(host)


def _organisers_link(at: Walk) -> str:
    """The link of an organiser, as the command line gives it while the host runs."""
    made = referee(at.place, "host", at.file, "--invite", "chief", "--organiser")
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def _see_the_ruling(at: Walk, page: Page) -> None:
    """Whose bot was refused finds the ruling, and has it replayed."""
    page.goto(f"{at.url}/me")
    page.click("table th a")
    assert page.inner_text("h1") == "Refused"
    rule = page.inner_text(".finding b >> nth=0")
    assert re.fullmatch(r"AF-PLAY-\d{3}", rule)
    page.click("text=See it replayed >> nth=0")
    page.wait_for_load_state()
    assert rule in page.inner_text("body")
    assert page.locator("section.breach svg .card.wrong").count()


def _is_in_midround(at: Walk, number: int) -> bool:
    now = at.board()["round"]
    return bool(now and now["number"] == number and now["open"] and 0 < now["games_played"] < now["games"])


def _shows(page: Page, number: int, bot: str) -> bool:
    """Whether a board that nobody loads again shows that the round of that number is over, and the bot in the table."""
    told = re.search(r"Round (\d+)(, closed)?", page.inner_text("main"))
    is_over = bool(told) and (int(told[1]) > number or (int(told[1]) == number and bool(told[2])))
    return is_over and bot in page.inner_text("table.board")


def _stop(host: Started) -> None:
    host.send_signal(signal.SIGINT)
    host.communicate()


def until(look: Callable[[], object], otherwise: str, host: Started | None = None) -> None:
    """Waits until something is so; says what is wrong if it does not become so, or the host has ended."""
    end = time.monotonic() + PATIENCE
    while not look():
        assert host is None or host.poll() is None, f"the host has ended: {host.communicate()}"
        assert time.monotonic() < end, otherwise
        time.sleep(0.05)


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium."""
    with sync_playwright() as driver:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = driver.chromium.launch(executable_path=shutil.which("chromium"), args=[*flags, "--disable-gpu"])
        try:
            yield started
        finally:
            started.close()


def main() -> int:
    """Goes all the way, with a bot in each language that this machine has the tools for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.browser.host_walk",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    there = [language for language, tool in TOOLS.items() if shutil.which(tool)]
    parser.add_argument("--languages", nargs="+", choices=TOOLS, default=there)
    options = parser.parse_args()
    names = ("ann", "cid", "dee", "eve", "fay", "gus")
    authors = [Author(name, language) for name, language in zip(names, options.languages, strict=False)] + [Author(BAD)]
    with tempfile.TemporaryDirectory(prefix="host-walk-") as name, chromium() as browser:
        walk(Path(name), browser, authors, lambda line: print(line, flush=True), network=True)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""``referee push``: what somebody sees who hands a bot in, and the code that a program gets."""

import io
import json
import os
import re
import signal
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
from typer.testing import CliRunner, Result

import referee.cli.push as command
from referee import __version__
from referee.cli import app, register
from referee.cli.exits import DONE, FAILED, INTERRUPTED, NO_VERDICT, USAGE
from referee.cli.lines import Lines
from referee.host.client import HostClient
from referee.league.definition.definition import parse_definition
from tests.program import Started, run
from tests.tls import write_pair

TOKEN = "referee_0123456789"
LADDER = """
[tournament]
name = "Kitchen ladder"
variant = "auction-pitch"
seats = 3
[schedule]
format = "ladder"
[limits]
move_ms = 800
"""
SAID = parse_definition(LADDER).canonical()
ENTRY: dict[str, Any] = {
    "name": "Kitchen ladder",
    "variant": "auction-pitch",
    "seats": 3,
    "upload_mib": 1,
    "closes": None,
    "enter": "invited",
    "referee": __version__,
    "definition": {key: SAID[key] for key in ("schema", "tournament", "rules", "limits")},
}
ACCEPTED = "It keeps the rules, and plays from the next round on."
FINDING = {
    "rule": "AF-PLAY-003",
    "sentence": "7S was led and you hold 6S 5S: play spades or a trump (hearts).",
    "times": 12,
    "witness": "w.json",
    "page": "https://pitch.test/jobs/7/w.html",
    "hint": "It follows the last card, not the first.",
}


def job(**more: Any) -> dict[str, Any]:
    usual = {"id": 7, "bot": "mine", "owner": "ann", "version": 3, "state": "waiting", "stage": "waiting", "attempt": 1}
    usual |= {"before": 0, "verdict": "waiting", "sentence": "", "findings": [], "log": "", "plays_in_s": None}
    return {**usual, "page": "https://pitch.test/jobs/7", **more}


def over(verdict: str, sentence: str, **more: Any) -> dict[str, Any]:
    return job(state="done", stage="done", verdict=verdict, sentence=sentence, **more)


class StandIn:
    """A host of one job, which goes on with every look at it."""

    def __init__(self, *states: dict[str, Any], status: int = 201, entry: dict[str, Any] = ENTRY) -> None:
        self.states, self.status, self.entry = list(states), status, entry
        self.asked = list[str]()
        self.archive = b""
        self.headers = httpx.Headers()
        self.refusal: httpx.Response | None = None

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(f"{request.method} {request.url.path}")
        if request.url.path.endswith("/entry"):
            assert "Authorization" not in request.headers
            return httpx.Response(200, json=self.entry)
        assert request.headers["Authorization"] == f"Bearer {TOKEN}"
        if self.refusal is not None:
            return self.refusal
        if request.url.path.endswith("/versions"):
            self.archive, self.headers = request.read(), request.headers
            return httpx.Response(self.status, json=self.states.pop(0))
        if request.url.path.endswith("/again"):
            return httpx.Response(201, json=self.states.pop(0))
        assert request.url.path.endswith("/events")
        told = "".join(f"event: job\ndata: {json.dumps(one)}\n\n" for one in self.states)
        return httpx.Response(200, headers={"Content-Type": "text/event-stream"}, text=told)


Push = Callable[..., Result]


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bot's folder; the commands run beside it."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "mine"\nversion = "1"\nrun = ["python", "bot.py"]\n')
    (folder / "bot.py").write_text("from referee.bot import run\nrun(lambda turn: turn.legal[0])\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REFEREE_TOKEN", TOKEN)
    monkeypatch.setenv("COLUMNS", "400")
    return folder


def push(monkeypatch: pytest.MonkeyPatch, host: StandIn | None, *words: str) -> Result:
    """Runs the command against a host, which stands at https://pitch.test."""

    def no_network(request: httpx.Request) -> httpx.Response:
        raise AssertionError(request.url)

    register("push")
    transport = httpx.MockTransport(host or no_network)
    monkeypatch.setattr(command, "HostClient", partial(HostClient, transport=transport, wait=lambda _: None))
    result = CliRunner().invoke(app, ["push", *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert TOKEN not in result.output
    return result


TO = ("--to", "https://pitch.test")


def test_what_is_accepted_is_told_from_the_first_byte_to_when_it_plays(
    bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = [job(state="running", stage=stage) for stage in ("begins", "unpack", "build", "check")]
    host = StandIn(job(before=3), job(before=1), job(), *running, over("accepted", ACCEPTED, plays_in_s=250))
    done = push(monkeypatch, host, "mine", *TO)
    assert done.exit_code == DONE
    lines = done.stdout.splitlines()
    assert lines[0].startswith("sending   mine: 2 files, ")
    assert lines[0].endswith("to Kitchen ladder, https://pitch.test")
    assert lines[1:] == [
        "handed in as version 3, job 7",
        "follow    https://pitch.test/jobs/7",
        "waiting   3 jobs before it",
        "waiting   1 job before it",
        "waiting   it is next",
        "begins    it is its turn",
        "unpack",
        "build",
        "check",
        "",
        f"accepted  {ACCEPTED} That is in about 4 minutes.",
    ]
    assert host.asked == ["GET /api/v1/entry", "POST /api/v1/bots/mine/versions", "GET /api/v1/jobs/7/events"]
    assert host.archive.startswith(b"PK")


def test_each_broken_rule_is_told_with_its_replay(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    findings = [
        FINDING,
        {**FINDING, "rule": "AF-CLOCK-001", "times": 1, "hint": "", "page": ""},
        {**FINDING, "rule": "AF-PLAY-001", "times": 0, "sentence": "It did not come up.", "hint": "", "page": ""},
    ]
    host = StandIn(job(), over("refused", "It breaks 2 rules.", findings=findings))
    done = push(monkeypatch, host, "mine", *TO)
    assert done.exit_code == FAILED
    told = done.stdout.partition("waiting   it is next\n")[2]
    assert (
        told
        == """
FAIL AF-PLAY-003  Plain suit led: follow or trump  broken 12 times
  7S was led and you hold 6S 5S: play spades or a trump (hearts).
  hint    It follows the last card, not the first.
  replay  https://pitch.test/jobs/7/w.html

FAIL AF-CLOCK-001  {title}  broken once
  7S was led and you hold 6S 5S: play spades or a trump (hearts).

UNTESTED AF-PLAY-001  {other}
  It did not come up.

refused   It breaks 2 rules.
""".replace("{title}", command.TITLES["AF-CLOCK-001"]).replace("{other}", command.TITLES["AF-PLAY-001"])
    )


def test_however_many_rules_a_host_says_are_broken_they_fit_on_a_screen_or_two(
    bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = StandIn(job(), over("refused", "It breaks many rules.", findings=[FINDING] * 500))
    done = push(monkeypatch, host, "mine", *TO)
    assert "and 440 more" in done.stdout
    assert len(done.stdout.splitlines()) < 150


def test_the_end_of_a_build_that_failed_is_told_and_is_harmless(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = "\n".join([*map(str, range(100)), "\x1b[2Jmake: *** [all] Error 2"])
    done = push(monkeypatch, StandIn(job(), over("refused", "Its build failed.", log=log)), "mine", *TO)
    assert done.exit_code == FAILED
    assert "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    assert "  \ufffd[2Jmake: *** [all] Error 2" in lines
    assert "  99" in lines
    assert "  50" not in lines


ENDINGS = {
    "approval": (over("approval", "As soon as the organiser lets it in."), DONE, "approval  As soon"),
    "withdrawn": (over("withdrawn", "By its owner."), FAILED, "withdrawn By its owner."),
    "failed": (
        job(state="failed", stage="failed", sentence="The disk was full."),
        NO_VERDICT,
        "says nothing of the bot",
    ),
    "accepted, no time known": (over("accepted", ACCEPTED), DONE, f"{ACCEPTED}\n"),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_ending_has_its_words_and_its_code(bot: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    last, code, words = ENDINGS[ending]
    done = push(monkeypatch, StandIn(job(), last), "mine", *TO)
    assert (done.exit_code, words in done.stdout) == (code, True)


def test_the_same_files_are_recognised_and_a_job_that_the_host_failed_is_done_again(
    bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = push(monkeypatch, StandIn(over("accepted", "Fine."), status=200), "mine", *TO)
    assert done.exit_code == DONE
    assert "the same files as before" in done.stdout
    monkeypatch.setenv("REFEREE_TOKEN", TOKEN)  # nobody finds it after a push
    failed = job(state="failed", stage="failed", sentence="The disk was full.")
    host = StandIn(failed, job(id=8, page="https://pitch.test/jobs/8"), over("accepted", "Fine.", id=8), status=200)
    done = push(monkeypatch, host, "mine", *TO)
    assert done.exit_code == DONE
    assert "POST /api/v1/jobs/7/again" in host.asked
    assert "GET /api/v1/jobs/8/events" in host.asked


def test_on_a_terminal_a_bar_shows_what_has_gone(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(command, "messages", lambda: Lines(file=shown, force_terminal=True, width=100))
    assert push(monkeypatch, StandIn(job()), "mine", *TO, "--no-follow").exit_code == DONE
    assert re.search(r"sending .*\b(\d+)/\1 bytes", re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", shown.getvalue()))
    monkeypatch.setenv("REFEREE_TOKEN", TOKEN)
    shown.truncate(0)
    assert push(monkeypatch, StandIn(job()), "mine", *TO, "--no-follow", "--output", "plain").exit_code == DONE
    assert shown.getvalue().strip("\0") == ""


def test_where_a_host_does_not_say_where_its_page_is_it_is_below_its_address(
    bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = push(monkeypatch, StandIn(job(page="")), "mine", *TO, "--no-follow")
    assert "follow    https://pitch.test/jobs/7" in done.stdout


def test_no_follow_ends_when_it_is_handed_in(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = StandIn(job())
    assert push(monkeypatch, host, "mine", *TO, "--no-follow").exit_code == DONE
    assert len(host.asked) == 2


def test_a_name_of_its_own_is_the_name_on_the_ladder(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = StandIn(job())
    push(monkeypatch, host, "mine/bot.py", *TO, "--no-follow", "--name", "My bot 2")
    assert host.asked[1] == "POST /api/v1/bots/My bot 2/versions"


def test_as_json_it_is_one_document_and_all_else_on_the_error_stream(
    bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = StandIn(job(), over("refused", "It breaks a rule.", findings=[FINDING]))
    done = push(monkeypatch, host, "mine", *TO, "--output", "json")
    assert done.exit_code == FAILED
    told = json.loads(done.stdout)
    assert told["job"]["findings"][0]["rule"] == "AF-PLAY-003"
    assert told["job"]["verdict"] == "refused"
    assert (told["ladder"], told["new"], told["exit_code"]) == ("Kitchen ladder", True, FAILED)
    assert told["archive_bytes"] == len(host.archive)
    assert "AF-PLAY-003" in done.stderr


def test_a_dry_run_lists_what_would_be_sent_without_network_or_token(
    bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REFEREE_TOKEN")
    (bot / ".gitignore").write_text("*.log\n")
    (bot / "x.log").touch()
    (bot / ".env").touch()
    done = push(monkeypatch, None, "mine", "--dry-run")
    assert done.exit_code == DONE
    assert [line.split()[-1] for line in done.stdout.splitlines()[:3]] == [".gitignore", "bot.py", "bot.toml"]
    assert "not sent  .env: it looks like a secret" in done.stdout
    assert "not sent  x.log: as .gitignore says" in done.stdout
    told = json.loads(push(monkeypatch, None, "mine", "--dry-run", "--output", "json").stdout)
    assert [file["name"] for file in told["files"]] == [".gitignore", "bot.py", "bot.toml"]
    assert told["sha256"] in done.stdout


def test_what_is_kept_back_as_a_secret_is_named(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bot / "key.pem").touch()
    done = push(monkeypatch, StandIn(job()), "mine", *TO, "--no-follow")
    assert "not sent  key.pem: it looks like a secret" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["mine"], "say which host"),
        (["mine", "--dry-run", "--check"], "it has no effect"),
        (["mine", "--to", "http://pitch.example.org"], "not encrypted"),
        (["mine", "--to", "pitch.example.org"], "write it as in https://"),
        (["not-there", *TO], "not there"),
        (["mine", *TO, "--token", "x"], "No such option"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_sent(
    bot: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], told: str
) -> None:
    register("push")
    monkeypatch.setenv("COLUMNS", "400")
    if words[0] == "not-there":
        with pytest.raises(Exception, match=told):
            push(monkeypatch, None, *words)
        return
    done = push(monkeypatch, None, *words)
    assert done.exit_code == USAGE
    assert told in done.stderr


def test_without_a_token_it_says_where_one_comes_from(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("", "  ", "two words", "t\u00f6ken", "x" * 2000):
        monkeypatch.setenv("REFEREE_TOKEN", text)
        done = push(monkeypatch, None, "mine", *TO)
        assert done.exit_code == USAGE
        assert "token" in done.stderr
    assert "https://pitch.test/me" in push(monkeypatch, None, "mine", *TO).stderr


def test_a_token_may_be_in_a_file_which_others_should_not_read(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REFEREE_TOKEN")
    file = bot / "token"
    file.write_text(f"{TOKEN}\n")
    file.chmod(0o600)
    host = StandIn(job())
    done = push(monkeypatch, host, "mine", *TO, "--no-follow", "--token-file", str(file))
    assert done.exit_code == DONE
    assert "chmod" not in done.stdout
    assert TOKEN.encode() not in host.archive
    file.chmod(0o644)
    done = push(monkeypatch, StandIn(job()), "mine", *TO, "--no-follow", "--token-file", str(file))
    assert "Others can read" in done.stdout
    file.write_text("")
    done = push(monkeypatch, None, "mine", *TO, "--token-file", str(file))
    assert (done.exit_code, "holds no token" in done.stderr) == (USAGE, True)


def test_nothing_that_is_started_from_here_finds_the_token(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    push(monkeypatch, StandIn(job()), "mine", *TO, "--no-follow")
    assert "REFEREE_TOKEN" not in os.environ


def test_a_file_that_holds_the_token_is_not_sent(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bot / "notes.txt").write_text(f"my token: {TOKEN}")
    host = StandIn(job())
    done = push(monkeypatch, host, "mine", *TO)
    assert (done.exit_code, "notes.txt holds your token" in done.stderr) == (USAGE, True)
    assert host.archive == b""


def test_what_is_too_large_for_this_host_is_not_sent(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bot / "weights").write_bytes(os.urandom(2 << 20))
    host = StandIn(job())
    done = push(monkeypatch, host, "mine", *TO)
    assert done.exit_code == USAGE
    assert "this host takes 1 MiB (the largest file is weights, 2.0 MiB)" in done.stderr
    assert host.archive == b""


@pytest.mark.parametrize(
    ("status", "code"), [(401, USAGE), (409, USAGE), (413, USAGE), (429, NO_VERDICT), (503, NO_VERDICT)]
)
def test_what_the_host_answers_instead_is_told_with_its_code(
    bot: Path, monkeypatch: pytest.MonkeyPatch, status: int, code: int
) -> None:
    host = StandIn(job())
    host.refusal = httpx.Response(status, json={"error": "So it is."})
    done = push(monkeypatch, host, "mine", *TO)
    assert (done.exit_code, "So it is." in done.stderr) == (code, True)


def test_a_host_that_is_lost_in_the_middle_leaves_word_where_the_job_is(
    bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = StandIn(job())
    lose = host.__call__

    def lost(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith(("/events", "/7")):
            raise httpx.ConnectError("refused")
        return lose(request)

    monkeypatch.setattr(StandIn, "__call__", lambda _, request: lost(request))
    done = push(monkeypatch, host, "mine", *TO)
    assert done.exit_code == NO_VERDICT
    assert "cannot be reached" in done.stderr
    assert "The job goes on; follow it at https://pitch.test/jobs/7" in done.stderr


def test_another_version_is_noted(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = push(monkeypatch, StandIn(job(), entry={**ENTRY, "referee": "9.9"}), "mine", *TO, "--no-follow")
    assert "The host runs referee 9.9" in done.stdout


@pytest.mark.parametrize("sources", ["public", "private"])
def test_that_sources_are_public_is_said_before_anything_is_sent(
    bot: Path, monkeypatch: pytest.MonkeyPatch, sources: str
) -> None:
    host = StandIn(job(), entry={**ENTRY, "sources": sources})
    done = push(monkeypatch, host, "mine", *TO, "--no-follow")
    assert ("Everybody can download what you send" in done.stdout) == (sources == "public")
    assert done.stdout.find("Everybody can download") < done.stdout.index("sending   ")
    assert host.headers["Referee-Sources"] == sources


def test_a_check_that_fails_here_sends_nothing(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bot / "bot.py").write_text("raise SystemExit(3)\n")
    host = StandIn(job())
    done = push(monkeypatch, host, "mine", *TO, "--check")
    assert done.exit_code == 4
    assert "Not sent." in done.stdout
    assert host.archive == b""


def test_a_check_that_fails_here_is_one_document_too(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bot / "bot.py").write_text("raise SystemExit(3)\n")
    host = StandIn(job())
    done = push(monkeypatch, host, "mine", *TO, "--check", "--output", "json")
    told = json.loads(done.stdout)
    assert (told["exit_code"], told["sent"], told["ladder"], host.archive) == (4, False, "Kitchen ladder", b"")
    assert told["check"]["exit_code"] == 4
    assert "Not sent." in done.stderr


def test_the_check_is_that_of_the_ladder_and_what_keeps_the_rules_is_sent(
    bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = list[Any]()

    def checked(plan: Any, outputs: Any) -> Any:
        seen.append((plan, outputs))
        raise typer.Exit(0)

    monkeypatch.setattr("referee.check.run.check", checked)
    done = push(monkeypatch, StandIn(job()), "mine", *TO, "--check", "--output", "json")
    ((plan, outputs),) = seen
    assert plan.seats == (3,)
    assert plan.limits.move_us == 800_000
    assert outputs.options == " --variant auction-pitch --seats 3"
    assert json.loads(done.stdout)["check"] is None


def test_a_ladder_that_this_version_does_not_know_cannot_be_checked_for(
    bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = {**ENTRY, "referee": "9.9", "definition": {**ENTRY["definition"], "rules": {"wild_jokers": True}}}
    done = push(monkeypatch, StandIn(job(), entry=later), "mine", *TO, "--check")
    assert (done.exit_code, "push without --check" in done.stderr) == (USAGE, True)
    assert "wild_jokers" in done.stderr


# Through a real network


@contextmanager
def served(waits: threading.Event, certificate: tuple[str, str] | None = None) -> Iterator[str]:
    """A host at an address of this machine, whose job never ends. ``waits`` is set when somebody follows it.

    ``certificate``: the files of it and of its key, for a host behind TLS.
    """
    ending = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.endswith("/entry"):
                self.answer(200, ENTRY)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(f"event: job\ndata: {json.dumps(job(state='running', stage='build'))}\n\n".encode())
            self.wfile.flush()
            waits.set()
            ending.wait()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.answer(201, job())

        def answer(self, status: int, value: Any) -> None:
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if certificate is not None:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(*certificate)
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http{'s' if certificate else ''}://127.0.0.1:{server.server_address[1]}"
        finally:
            ending.set()
            server.shutdown()
            thread.join()


def test_ctrl_c_while_following_says_that_the_job_goes_on_and_where(bot: Path) -> None:
    waits = threading.Event()
    with served(waits) as url:
        started = Started(bot.parent, ["push", "mine", "--to", url], REFEREE_TOKEN=TOKEN)
        assert waits.wait(600)
        started.send_signal(signal.SIGINT)
        printed, complained = started.communicate()
    assert started.returncode == INTERRUPTED
    assert "handed in as version 3, job 7" in printed
    assert "The job goes on; follow it at https://pitch.test/jobs/7" in complained
    assert "Traceback" not in complained


def test_a_certificate_is_trusted_only_when_its_file_is_named(bot: Path) -> None:
    certificate = write_pair(bot.parent)
    words = ["push", "mine", "--no-follow", "--to"]
    with served(threading.Event(), certificate) as url:
        refused = run(bot.parent, [*words, url], REFEREE_TOKEN=TOKEN)
        assert refused.returncode == NO_VERDICT
        assert "is not to be trusted (self-signed certificate)" in refused.stderr
        assert "SSL_CERT_FILE" in refused.stderr
        trusted = run(bot.parent, [*words, url], REFEREE_TOKEN=TOKEN, SSL_CERT_FILE=certificate[0])
        assert (trusted.returncode, trusted.stderr) == (DONE, "")
    with served(threading.Event()) as url:
        spoken = run(bot.parent, [*words, url.replace("http:", "https:")], REFEREE_TOKEN=TOKEN)
        assert spoken.returncode == NO_VERDICT
        assert "does not speak TLS as it should" in spoken.stderr
    gone = run(bot.parent, [*words, url], REFEREE_TOKEN=TOKEN)
    assert gone.returncode == NO_VERDICT
    assert "cannot be reached (Connection refused)" in gone.stderr

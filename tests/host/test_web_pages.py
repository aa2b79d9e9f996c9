"""The pages of a host's site: who may see and do what, and that nobody's words are taken for markup."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.host.home import HostHome
from referee.host.rows import VersionState
from referee.host.web.guard import address_of, loggable
from referee.host.web.routes import API, OTHERS, PAGES
from referee.league.definition.definition import DefinitionError, parse_definition
from referee.league.definition.fields import HostSection
from referee.league.ladder import close_round, void_open_sets
from referee.league.league import read_league
from referee.league.store import Store
from referee.umpire.fallback_player import fallback_move
from tests.host.hosted import definition_text
from tests.host.sites import FORM_TOKEN, Browser, MadeSite, made_site
from tests.league.inprocess import at_random
from tests.league.ladders import Ladder

HOSTILE = "<script>alert(1)</script>\u202e&'\""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a ladder with two closed rounds and one that is open."""
    path = tmp_path_factory.mktemp("played") / "ladder.sqlite"
    players = {"random": at_random, "House": fallback_move, "anns-bot": at_random, "bobs-bot": at_random}
    ladder = Ladder(path, players, owners={"anns-bot": "ann", "bobs-bot": "bob"}, panel=("random",))
    ladder.play(2)
    ladder.come("anns-bot", fallback_move)
    ladder.begin()
    ladder.go_on(most=4)
    return path.read_bytes()


@pytest.fixture
def at(tmp_path: Path) -> Iterator[MadeSite]:
    with made_site(tmp_path) as made:
        yield made


@pytest.fixture
def on_ladder(tmp_path: Path, played: bytes) -> Iterator[MadeSite]:
    home = HostHome.beside(tmp_path / "ladder.toml")
    home.make()
    home.ladder.write_bytes(played)
    with made_site(tmp_path) as made:
        made.site.ladder.settle(300)
        yield made


FORM = {"Content-Type": "application/x-www-form-urlencoded"}
# For each route: a path that is there, and the status for nobody, the owner, another owner, an organiser.
# What is sent holds no token of a form: 403 is then the answer to whoever may.
WHO = ("nobody", "owner", "other", "organiser")
TABLE: dict[tuple[str, str], tuple[str, tuple[int, int, int, int]]] = {
    ("/", "GET"): ("/", (200,) * 4),
    ("/bots/{name}", "GET"): ("/bots/a", (200,) * 4),
    ("/bots/{name}/feed.atom", "GET"): ("/bots/a/feed.atom", (404,) * 4),
    ("/bots/{name}/worst/{id}", "GET"): ("/bots/a/worst/1", (404,) * 4),
    ("/bots/{name}/sources/{id}.zip", "GET"): ("/bots/a/sources/1.zip", (404,) * 4),
    ("/feed.atom", "GET"): ("/feed.atom", (200,) * 4),
    ("/games/{id}", "GET"): ("/games/1", (404,) * 4),
    ("/tables", "GET"): ("/tables", (200,) * 4),
    ("/rounds", "GET"): ("/rounds", (200,) * 4),
    ("/rounds/{id}", "GET"): ("/rounds/1", (404,) * 4),
    ("/rules", "GET"): ("/rules", (200,) * 4),
    ("/enter", "GET"): ("/enter", (200,) * 4),
    ("/static/{name}", "GET"): ("/static/site.css", (200,) * 4),
    ("/login", "GET"): ("/login", (200,) * 4),
    ("/login", "POST"): ("/login", (403,) * 4),
    ("/logout", "POST"): ("/logout", (403,) * 4),
    ("/join/{secret}", "GET"): ("/join/wrong", (404,) * 4),
    ("/join/{secret}", "POST"): ("/join/wrong", (403,) * 4),
    ("/register", "GET"): ("/register", (403,) * 4),
    ("/register", "POST"): ("/register", (403,) * 4),
    ("/me", "GET"): ("/me", (401, 200, 200, 200)),
    ("/me/tokens", "POST"): ("/me/tokens", (401, 403, 403, 403)),
    ("/me/tokens/{id}/revoke", "POST"): ("/me/tokens/1/revoke", (401, 403, 403, 403)),
    ("/me/bots/{name}/retire", "POST"): ("/me/bots/a/retire", (401, 403, 403, 403)),
    ("/submit", "GET"): ("/submit", (401, 200, 200, 200)),
    ("/submit", "POST"): ("/submit", (401, 415, 415, 415)),
    ("/jobs/{id}", "GET"): ("/jobs/1", (401, 200, 403, 200)),
    ("/jobs/{id}/again", "POST"): ("/jobs/1/again", (401, 403, 403, 403)),
    ("/jobs/{id}/{page}", "GET"): ("/jobs/1/w.html", (401, 200, 403, 200)),
    ("/organiser", "GET"): ("/organiser", (401, 403, 403, 200)),
    ("/organiser/versions/{id}", "POST"): ("/organiser/versions/1", (401, 403, 403, 403)),
    ("/organiser/owners/{id}", "POST"): ("/organiser/owners/1", (401, 403, 403, 403)),
    ("/organiser/invitations", "POST"): ("/organiser/invitations", (401, 403, 403, 403)),
    ("/organiser/invitations/{id}/revoke", "POST"): ("/organiser/invitations/1/revoke", (401, 403, 403, 403)),
    ("/organiser/rounds/{id}/void", "POST"): ("/organiser/rounds/1/void", (401, 403, 403, 403)),
    ("/organiser/settings", "POST"): ("/organiser/settings", (401, 403, 403, 403)),
    ("/api/v1/entry", "GET"): ("/api/v1/entry", (200,) * 4),
    ("/api/v1/bots/{name}/versions", "POST"): ("/api/v1/bots/a/versions", (401,) * 4),
    ("/api/v1/jobs/{id}", "GET"): ("/api/v1/jobs/1", (401, 200, 403, 200)),
    ("/api/v1/jobs/{id}/events", "GET"): ("/api/v1/jobs/1/events", (401, 200, 403, 200)),
    ("/api/v1/jobs/{id}/again", "POST"): ("/api/v1/jobs/1/again", (401,) * 4),
    ("/api/v1/me", "GET"): ("/api/v1/me", (401, 200, 200, 200)),
    ("/api/v1/board", "GET"): ("/api/v1/board", (200,) * 4),
    ("/api/v1/rounds", "GET"): ("/api/v1/rounds", (200,) * 4),
    ("/api/v1/games.ndjson", "GET"): ("/api/v1/games.ndjson", (404,) * 4),
    ("/api/v1/openapi.json", "GET"): ("/api/v1/openapi.json", (200,) * 4),
    ("/export", "GET"): ("/export", (404,) * 4),
    ("/export/{name}", "GET"): ("/export/rounds-1-2.jsonl.gz", (404,) * 4),
    ("/healthz", "GET"): ("/healthz", (200,) * 4),
    ("/metrics", "GET"): ("/metrics", (200,) * 4),
    # Of a host without a door for remote bots; tests/host/test_remote_site.py has those of one with a door.
    ("/remote", "GET"): ("/remote", (404,) * 4),
    ("/remote/bots/{name}", "GET"): ("/remote/bots/a", (404,) * 4),
    ("/remote/games/{id}", "GET"): ("/remote/games/1", (404,) * 4),
    ("/remote/rounds", "GET"): ("/remote/rounds", (404,) * 4),
    ("/remote/rounds/{id}", "GET"): ("/remote/rounds/1", (404,) * 4),
    ("/remote/events", "GET"): ("/remote/events", (404,) * 4),
    ("/export/remote", "GET"): ("/export/remote", (404,) * 4),
    ("/api/v1/remote/board", "GET"): ("/api/v1/remote/board", (404,) * 4),
    ("/api/v1/remote/rounds", "GET"): ("/api/v1/remote/rounds", (404,) * 4),
    ("/api/v1/remote/{name}", "POST"): ("/api/v1/remote/a", (401, 404, 404, 404)),
}
ENDLESS = {("/events", "GET"), ("/tables/events", "GET")}


def test_each_route_answers_each_visitor_as_the_table_says(at: MadeSite) -> None:
    ann, bob, chief = at.owner("ann"), at.owner("bob"), at.owner("chief", organiser=True)
    at.upload(ann, "a")
    finding = {"rule": "AF-PLAY-003", "sentence": "No.", "times": 1, "witness": "", "page": "w.html", "hint": ""}
    at.finish(1, VersionState.REFUSED, findings=[finding])
    at.site.home.findings(1).mkdir()
    (at.site.home.findings(1) / "w.html").write_text("<p>replay</p>")
    at.store.invite("", at.time, by="test")
    browsers = [at.browser(), *map(at.browser, (ann, bob, chief))]
    routes = {
        (route.path, method) for route in (*API, *PAGES, *OTHERS) for method in (route.methods or set()) - {"HEAD"}
    }
    assert routes == TABLE.keys() | ENDLESS
    before = [at.store.owners(), at.store.jobs(), at.store.versions(), at.store.invitations()]
    for (route, method), (path, statuses) in TABLE.items():
        for who, browser, status in zip(WHO, browsers, statuses, strict=True):
            at.tick += 60
            answer = at.ask(method, path, browser=browser, headers=FORM if method == "POST" else {})
            assert answer.status_code == status, (route, method, who, answer.text)
            private = "no-store" in answer.headers["cache-control"]
            assert private or path.startswith("/static/")
            if method == "GET":
                head = at.ask("HEAD", path, browser=browser)
                assert (head.status_code, head.content) == (status, b""), (route, who)
    assert before == [at.store.owners(), at.store.jobs(), at.store.versions(), at.store.invitations()]


@pytest.mark.parametrize(("method", "path"), [("DELETE", "/"), ("PUT", "/me"), ("POST", "/rules"), ("GET", "/logout")])
def test_other_methods_are_refused(at: MadeSite, method: str, path: str) -> None:
    assert at.ask(method, path).status_code == 405


def test_every_answer_has_the_headers_that_keep_a_browser_safe(at: MadeSite) -> None:
    for path in ("/", "/nothing", "/api/v1/entry", "/api/v1/nothing", "/healthz"):
        headers = at.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert re.fullmatch("[0-9a-f]{16}", headers["x-request-id"])


def test_an_invitation_makes_an_owner_with_a_token_that_is_shown_once(at: MadeSite) -> None:
    secret = at.store.invite("", at.time, by="test")
    browser = at.browser()
    answer = browser.post(f"/join/{secret}", {"name": "ann"}, of=f"/join/{secret}")
    assert answer.status_code == 200
    (token,) = set(re.findall(r"referee_[A-Za-z0-9_-]{32}", answer.text))
    assert at.store.by_token(token, at.time)[0].name == "ann"
    assert "ann" in browser.get("/me").text
    assert token not in browser.get("/me").text
    assert at.get(f"/join/{secret}").status_code == 409
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie


def test_over_tls_the_cookie_is_for_tls_alone(tmp_path: Path) -> None:
    with made_site(tmp_path, host='url = "https://pitch.example.org/all"') as at:
        cookie = at.get("/login").headers["set-cookie"]
        assert "Secure" in cookie
        assert "Path=/all" in cookie
        assert 'href="/all/rules"' in at.get("/").text


def test_an_invitation_for_somebody_gives_that_name(at: MadeSite) -> None:
    secret = at.store.invite("carla", at.time, by="test")
    assert at.browser().post(f"/join/{secret}", {"name": "mallory"}, of=f"/join/{secret}").status_code == 200
    assert [one.name for one in at.store.owners()] == ["carla"]


def test_whoever_comes_may_register_where_anybody_may(tmp_path: Path) -> None:
    with made_site(tmp_path, host='enter = "open"') as at:
        assert at.browser().post("/register", {"name": "ann"}, of="/register").status_code == 200
        answer = at.browser().post("/register", {"name": "ANN"}, of="/register")
        assert (answer.status_code, "already" in answer.text) == (409, True)


def test_a_session_ends_with_the_token_that_began_it_and_when_the_owner_is_blocked(at: MadeSite) -> None:
    ann = at.owner("ann")
    browser = at.browser(ann)
    assert browser.get("/me").status_code == 200
    at.store.block(ann.owner.id, "spoils", at.time, by="test")
    assert browser.get("/me").status_code == 401
    at.store.block(ann.owner.id, "", at.time, by="test")
    assert browser.get("/me").status_code == 200
    at.store.revoke_token(ann.owner.id, at.store.tokens(ann.owner.id)[0].id, at.time)
    assert browser.get("/me").status_code == 401


def test_logging_out_ends_the_session_of_a_browser_and_logging_in_begins_another(at: MadeSite) -> None:
    ann = at.owner("ann")
    browser = Browser(at)
    browser.get("/login")
    before = browser.cookie
    assert browser.post("/login", {"token": ann.token}).headers["location"] == "/me"
    assert browser.cookie != before
    browser.post("/logout", {}, of="/me")
    assert browser.get("/me").status_code == 401


@pytest.mark.parametrize("change", ["no token", "token of another", "origin", "fetch site", "no cookie"])
def test_a_form_that_is_not_of_this_session_or_site_is_refused(at: MadeSite, change: str) -> None:
    ann, bob = at.browser(at.owner("ann")), at.browser(at.owner("bob"))
    match = re.search(r'name="form_token" value="([0-9a-f]+)"', (bob if "another" in change else ann).get("/me").text)
    assert match
    data = {"label": "mine", "form_token": "" if change == "no token" else match[1]}
    headers = {"Origin": "http://pitch.test"}
    if change == "origin":
        headers["Origin"] = "http://evil.test"
    if change == "fetch site":
        headers["Sec-Fetch-Site"] = "cross-site"
    browser = Browser(at) if change == "no cookie" else ann
    answer = at.ask("POST", "/me/tokens", browser=browser, data=data, headers=headers)
    assert answer.status_code == (401 if change == "no cookie" else 403)
    assert len(at.store.tokens(1)) == 1


def test_a_cookie_that_is_not_ours_is_nobody(at: MadeSite) -> None:
    at.owner("ann")
    for cookie in ("", "x", "a.b.c", '["n",1,0]', "WyJuIiwxLDBd.aaaa.bbbb"):
        assert at.ask("GET", "/me", headers={"Cookie": f"referee_session={cookie}"}).status_code == 401


def test_tries_to_log_in_are_limited_by_address(at: MadeSite) -> None:
    statuses = [at.ask("POST", "/login", headers=FORM).status_code for _ in range(21)]
    assert statuses == [403] * 20 + [429]
    assert at.ask("POST", "/login", headers=FORM, client=("192.0.2.9", 1)).status_code == 403
    assert at.get("/join/x").status_code == 429


def test_a_form_is_bounded(at: MadeSite) -> None:
    ann = at.browser(at.owner("ann"))
    assert ann.post("/me/tokens", {"label": "x" * 70_000}, of="/me").status_code == 413
    fields = {f"f{number}": "" for number in range(50)}
    assert ann.post("/me/tokens", fields, of="/me").status_code == 400


def archive_form(browser: Browser, body: bytes, **fields: str) -> int:
    match = re.search(r'name="form_token" value="([0-9a-f]+)"', browser.get("/submit").text)
    assert match
    data = {"bot": "a", "form_token": match[1], **fields}
    answer = browser.at.ask("POST", "/submit", browser=browser, data=data, files={"archive": ("../../x.zip", body)})
    return answer.status_code


def test_the_form_takes_an_archive_in_as_the_api_does(tmp_path: Path) -> None:
    with made_site(tmp_path, host="upload_mib = 1") as at:
        ann = at.browser(at.owner("ann"))
        assert archive_form(ann, b"PK-form") == 303
        assert [one.bot for one in at.store.jobs()] == ["a"]
        assert archive_form(ann, b"PK-2", form_token="0" * 64) == 403
        assert archive_form(ann, b"x" * (1 << 20)) == 303
        assert archive_form(ann, b"x" * ((1 << 20) + 1)) == 413
        assert archive_form(ann, b"x" * (2 << 20)) == 413
        assert archive_form(ann, b"") == 400
        assert at.site.limits.upload_places.taken == 0
        assert "Waiting" in ann.get("/jobs/1").text


def test_findings_stand_on_the_page_of_the_job_and_their_pages_have_no_access_to_the_site(at: MadeSite) -> None:
    ann = at.owner("ann")
    at.upload(ann, "a")
    folder = at.site.home.findings(1)
    folder.mkdir()
    for name in ("good.html", "w.json", "unnamed.html"):
        (folder / name).write_text(f"<script>{name}</script>")
    (folder / "link.html").symlink_to("/etc/passwd")
    base = {"rule": "AF-PLAY-003", "sentence": f"Broke it {HOSTILE}.", "times": 3, "hint": HOSTILE}
    findings = [
        {**base, "witness": "w.json", "page": "good.html"},
        {**base, "witness": "../../host.sqlite", "page": "../../ladder.toml"},
        {**base, "witness": "", "page": "link.html"},
        {**base, "witness": "", "page": "gone.html"},
    ]
    at.finish(1, VersionState.REFUSED, findings=findings, log=f"cc {HOSTILE}\x1b[2J")
    browser = at.browser(ann)
    page = browser.get("/jobs/1").text
    assert 'href="/jobs/1/good.html"' in page
    linked = re.findall(r'(?:href|src|action)="([^"]*)"', page)
    assert [one for one in linked if one.startswith("/jobs/1/")] == [
        "/jobs/1/good.html",
        "/jobs/1/w.json",
        "/jobs/1/again",
    ]
    assert not [one for one in linked if ".." in one]
    for hidden in ("../", "ladder.toml", "host.sqlite", "link.html", "gone.html"):
        assert hidden not in page
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    answer = browser.get("/jobs/1/good.html")
    assert answer.text == "<script>good.html</script>"
    assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts; default-src 'none'")
    assert "allow-same-origin" not in answer.headers["content-security-policy"]
    assert "attachment" in browser.get("/jobs/1/w.json").headers["content-disposition"]
    for name in ("unnamed.html", "link.html", "gone.html", "..%2f..%2fladder.toml", "%2e%2e", "good.html%00"):
        assert browser.get(f"/jobs/1/{name}").status_code in {404, 405}, name
    assert browser.post("/jobs/1/again", {}, of="/jobs/1").headers["location"] == "/jobs/2"


def test_hostile_words_are_shown_as_words_on_every_page(at: MadeSite) -> None:
    chief = at.owner("chief", organiser=True)
    ann = at.owner("ann")
    at.store.set("banner", HOSTILE, at.time, by="test")
    at.store.add_token(ann.owner.id, HOSTILE, at.time, bot=HOSTILE)
    at.upload(ann, "a")
    at.finish(1, VersionState.APPROVAL)
    readable = HOSTILE.replace("\u202e", "")  # a reason has no such marks
    at.store.decide(1, VersionState.REFUSED, readable, at.time, by="test")
    at.store.invite(HOSTILE, at.time, by=HOSTILE)
    at.store.block(ann.owner.id, readable, at.time, by="test")
    at.store.block(ann.owner.id, "", at.time, by="test")
    for known in (ann, chief):
        browser = at.browser(known)
        for path in ("/", "/me", "/organiser", "/bots/a", "/jobs/1", "/rules", "/enter", "/rounds", "/feed.atom", "/x"):
            text = browser.get(path).text
            assert "<script>alert" not in text, path
            assert "\u202e" not in text, path
            assert "Test <ladder>" not in text, path


def test_an_organiser_lets_in_refuses_withdraws_blocks_invites_and_pauses(at: MadeSite) -> None:
    ann, chief = at.owner("ann"), at.owner("chief", organiser=True)
    at.upload(ann, "a")
    at.finish(1, VersionState.APPROVAL)
    browser = at.browser(chief)

    def send(path: str, **fields: str) -> int:
        return browser.post(f"/organiser/{path}", fields, of="/organiser").status_code

    assert send("versions/1", do="refuse") == 409
    assert send("versions/1", do="accept") == 303
    assert at.store.version(1).state is VersionState.ACCEPTED
    assert "a</bdi></a> of <bdi>ann" in at.get("/").text
    assert send("versions/1", do="withdraw", reason="two\nlines") == 409
    assert send("versions/1", do="withdraw", reason="cheats") == 303
    assert at.store.version(1).reason == "cheats"
    assert send("versions/1", do="burn", reason="x") == 400
    assert send("versions/99", do="accept") == 404
    assert send(f"owners/{chief.owner.id}", do="block", reason="me") == 409
    assert send(f"owners/{ann.owner.id}", do="block", reason="spoils") == 303
    assert at.store.owner(ann.owner.id).blocked == "spoils"  # type: ignore[union-attr]
    assert send("owners/99", do="block", reason="x") == 404
    assert send("settings", key="paused", value="1") == 303
    assert send("settings", key="banner", value="Back at noon") == 303
    assert send("settings", key="secret", value="1") == 400
    page = at.get("/").text
    assert "Back at noon" in page
    assert "paused" in page
    made = browser.post("/organiser/invitations", {"name": "dora"}, of="/organiser")
    (link,) = re.findall(r"http://pitch\.test(/join/[A-Za-z0-9_-]+)", made.text)
    assert "dora" in at.get(link).text
    assert send("invitations/3/revoke") == 303
    assert at.get(link).status_code == 409
    assert [row.who for row in at.store.audit(most=3)] == ["chief"] * 3


def test_an_organiser_voids_what_is_open_of_the_open_round_alone(on_ladder: MadeSite) -> None:
    browser = on_ladder.browser(on_ladder.owner("chief", organiser=True))
    page = browser.get("/organiser").text
    assert 'action="/organiser/rounds/3/void"' in page
    assert "One owner" not in page
    for limit in ("one bot at once", "20 versions an hour", "each up to 16 MiB", "600 seconds", "private"):
        assert limit in page

    def void(number: int, reason: str) -> int:
        return browser.post(f"/organiser/rounds/{number}/void", {"reason": reason}, of="/organiser").status_code

    for number, reason in ((2, "x"), (4, "x"), (3, ""), (3, "two\nlines"), (3, "x" * 301)):
        assert void(number, reason) == 409, (number, reason)
    assert on_ladder.store.why_void(3) == ""
    assert void(3, "the power fails") == 303
    assert on_ladder.store.why_void(3) == "the power fails"
    page = browser.get("/organiser").text
    assert "the rest is being voided: the power fails" in page
    assert "/void" not in page
    assert "voided the rest of round 3" in page


def test_why_a_round_was_voided_stands_with_it(on_ladder: MadeSite) -> None:
    with Store.write(on_ladder.site.home.ladder) as store:
        void_open_sets(store, read_league(store), "the power <fails>")
        close_round(store, read_league(store))
    on_ladder.site.ladder.settle(300)
    for path in ("/rounds", "/rounds/3"):
        assert "voided by the organiser: the power &lt;fails&gt;" in on_ladder.get(path).text
    told = on_ladder.get("/api/v1/rounds").json()["rounds"]
    assert [one["voided"] for one in told] == ["the power <fails>", "", ""]
    assert "does not count" in on_ladder.get("/rounds/3").text


def test_an_owner_makes_and_revokes_tokens_and_retires_a_bot(at: MadeSite) -> None:
    ann = at.owner("ann")
    browser = at.browser(ann)
    answer = browser.post("/me/tokens", {"label": "ci", "bot": "a"}, of="/me")
    (token,) = set(re.findall(r"referee_[A-Za-z0-9_-]{32}", answer.text))
    assert at.store.by_token(token, at.time)[1].bot == "a"
    assert browser.post("/me/tokens/2/revoke", {}, of="/me").status_code == 303
    assert at.store.tokens(1)[0].revoked
    at.upload(ann, "my bot+1")
    assert browser.post("/me/bots/my%20bot%2B1/retire", {}, of="/me").status_code == 303
    assert at.store.bots(1) == [("my bot+1", True)]


def test_the_board_of_a_ladder_is_there_without_scripts(on_ladder: MadeSite) -> None:
    page = on_ladder.get("/").text
    assert "Round 3, being played" in page
    for name in ("anns-bot@2", "bobs-bot", "House", "random"):
        assert f"<bdi>{name}</bdi>" in page
    assert "of <bdi>ann</bdi>" in page
    assert "provisional" in page
    told = on_ladder.get("/api/v1/board").json()
    assert told["up_to_date"]
    assert told["round"]["number"] == 3
    assert told["round"]["games_played"] == 4
    assert {row["entrant"] for row in told["rows"]} == {"anns-bot@2", "bobs-bot", "House", "random"}


def test_events_tell_of_the_round_and_have_the_mark_of_the_page_that_they_keep_fresh(on_ladder: MadeSite) -> None:
    sent = on_ladder.stream("/events", b"event: board")
    (data,) = re.findall(r"^data: (.*)$", sent.decode(), re.MULTILINE)
    told = json.loads(data)
    assert (told["round"], told["games_played"]) == (3, 4)
    assert f'data-mark="{told["mark"]}"' in on_ladder.get("/").text
    assert on_ladder.site.limits.watcher_places.taken == 0


def test_the_trend_of_a_bot_is_drawn_and_told_in_words(on_ladder: MadeSite) -> None:
    """What it got in each of its rounds is worked out here from the games."""
    with Store.read(on_ladder.site.home.ladder) as store:
        games, sets = store.games(), store.sets()
    rounds = on_ladder.get("/api/v1/rounds").json()["rounds"][::-1]
    numbers = [one["number"] for one in rounds for _ in range(one["sets"])]
    scored = {row.id: number for row, number in zip(sets, numbers, strict=True) if row.state == "SCORED"}
    points: dict[int, list[float]] = {}
    for game in games:
        if game.summary["set"] in scored and "House" in game.summary["entrants"]:
            place = game.summary["places"][game.summary["entrants"].index("House")]
            better = sum(one < place for one in game.summary["places"])
            same = game.summary["places"].count(place) - 1
            points.setdefault(scored[game.summary["set"]], []).append((2 - better - same / 2) / 2)
    told = ", ".join(f"{number}: {sum(each) / len(each):.2f}" for number, each in sorted(points.items()))
    assert len(points) > 1
    for path in ("/", "/bots/House"):
        assert f'aria-label="By round, {told}"' in on_ladder.get(path).text
    page = on_ladder.get("/").text
    for points_ in re.findall(r'<polyline points="([^"]+)"', page):
        for point in points_.split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= 72
            assert 0 <= y <= 20


def test_a_bot_has_its_versions_results_and_games_on_its_page(on_ladder: MadeSite) -> None:
    page = on_ladder.get("/bots/ANNS-BOT").text
    assert "anns-bot@2" in page
    assert "last played in round 2" in page
    page = on_ladder.get("/bots/bobs-bot").text
    assert "Against each other bot" in page
    (game, *_) = re.findall(r'href="(/games/\d+)"', page)
    answer = on_ladder.get(game)
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"].startswith("sandbox")
    assert on_ladder.get("/bots/nobody").status_code == 404
    assert on_ladder.get("/bots/%3Cb%3E").status_code == 404


def test_a_game_is_shown_once_its_set_is_over(on_ladder: MadeSite) -> None:
    with Store.read(on_ladder.site.home.ladder) as store:
        games = [(game.number, game.summary["set"]) for game in store.games()]
        states = {one: row.state for one, row in store.sets_of({its for _, its in games}).items()}
    shown = {number: on_ladder.get(f"/games/{number}").status_code for number, _ in games}
    assert shown == {number: 409 if states[its] == "OPEN" else 200 for number, its in games}
    assert set(shown.values()) == {200, 409}
    assert on_ladder.get("/games/999").status_code == 404
    assert on_ladder.get("/games/99999999999999999999").status_code == 404


def test_rounds_show_commitments_and_the_master_of_closed_ones_alone(on_ladder: MadeSite) -> None:
    told = on_ladder.get("/api/v1/rounds").json()["rounds"]
    assert [one["number"] for one in told] == [3, 2, 1]
    assert [bool(one["master"]) for one in told] == [False, True, True]
    page = on_ladder.get("/rounds").text
    for one in told:
        assert one["commitment"] in page
        assert not one["master"] or one["master"] in page
    assert "Round 3 " not in on_ladder.get("/rounds?before=3").text
    assert on_ladder.get("/rounds?before=x").status_code == 200


def test_a_feed_is_sound_xml_and_tells_of_rounds_and_entries(on_ladder: MadeSite) -> None:
    for path, entries in (("/feed.atom", 7), ("/bots/anns-bot/feed.atom", 2)):
        root = ET.fromstring(on_ladder.get(path).text)  # noqa: S314  # our own words
        atom = "{http://www.w3.org/2005/Atom}"
        found = root.findall(f"{atom}entry")
        assert len(found) == entries
        ids = [entry.findtext(f"{atom}id") for entry in found]
        assert len(set(ids)) == entries
        assert all("1970" not in (entry.findtext(f"{atom}updated") or "1970") for entry in found)


def test_a_ladder_that_cannot_be_read_leaves_the_site_standing(tmp_path: Path) -> None:
    home = HostHome.beside(tmp_path / "ladder.toml")
    home.make()
    home.ladder.write_bytes(b"no database at all" * 100)
    with made_site(tmp_path) as at:
        at.site.ladder.settle(60)
        assert at.get("/").status_code == 200
        assert at.get("/api/v1/board").json()["rows"] == []
        assert at.get("/games/1").status_code == 404
        health = at.get("/healthz")
        assert (health.status_code, health.json()["ok"]) == (503, False)
        assert str(tmp_path) not in health.text


def test_an_address_is_that_of_a_proxy_on_this_machine_alone() -> None:
    def asked(client: str, *told: str) -> str:
        headers = [(b"x-forwarded-for", value.encode("latin-1")) for value in told]
        return address_of({"client": (client, 1), "headers": headers})

    assert asked("192.0.2.1", "198.51.100.7") == "192.0.2.1"
    assert asked("127.0.0.1", "198.51.100.7") == "198.51.100.7"
    assert asked("::1", "203.0.113.5, 198.51.100.7") == "198.51.100.7"
    assert asked("127.0.0.1", "198.51.100.7", "2001:db8::1") == "2001:db8::"
    assert asked("2001:db8:0:1:2:3:4:5") == asked("2001:db8:0:1::9") == "2001:db8:0:1::"
    assert asked("::ffff:127.0.0.1", "198.51.100.7") == "198.51.100.7"
    assert asked("::ffff:192.0.2.1") == "192.0.2.1"
    assert asked("127.0.0.1", "evil") == "127.0.0.1"
    networks = HostSection(proxies=("172.16.0.0/12", "2001:db8::7")).proxy_networks
    headers = [(b"x-forwarded-for", b"198.51.100.7")]
    for client, found in (("172.17.0.1", "198.51.100.7"), ("172.32.0.1", "172.32.0.1"), ("2001:db8::8", "2001:db8::")):
        assert address_of({"client": (client, 1), "headers": headers}, networks) == found
    assert address_of({"client": ("::ffff:172.17.0.1", 1), "headers": headers}, networks) == "198.51.100.7"
    assert asked("127.0.0.1") == "127.0.0.1"


@pytest.mark.parametrize(
    ("network", "remedy"), [("proxy.example.org", "write its number"), ("172.17.0.1/12", "write 172.16.0.0/12")]
)
def test_a_proxy_that_is_no_network_is_refused(network: str, remedy: str) -> None:
    with pytest.raises(DefinitionError, match=rf"(?s)host.*proxies.*remedy: {remedy}"):
        parse_definition(definition_text("first", host=f'[host]\nproxies = ["{network}"]\n'))


def test_no_secret_and_no_control_character_stands_in_the_log(at: MadeSite, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "referee.host.access"):
        at.get("/join/SECRET")
        at.get("/rounds?token=SECRET")
        at.get("/x%0a%1b[2J")
    assert len(caplog.messages) == 3
    assert "SECRET" not in caplog.text
    assert all(message.isprintable() for message in caplog.messages)
    assert loggable("/join/abc") == "/join/..."
    for path in ("/pitch/join/SECRET", "//join/SECRET", "/JOIN/SECRET", "/join//SECRET/x", "/x\n/join/SECRET"):
        assert "SECRET" not in loggable(path)
    assert loggable("/joint/ladder") == "/joint/ladder"


def test_a_fault_of_ours_is_told_in_our_words_with_the_number_that_the_log_has(
    at: MadeSite, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(type(at.store), "entered", broken)
    answer = at.get("/")
    assert answer.status_code == 500
    assert "secret detail" not in answer.text
    number = answer.headers["x-request-id"]
    assert number in answer.text
    assert any(number in record.getMessage() and record.exc_info for record in caplog.records)
    monkeypatch.setattr(type(at.store), "setting", broken)
    assert at.get("/").status_code == 500


def test_what_a_round_waits_for_stands_on_every_page_and_files_of_the_machine_on_the_organisers_alone(
    at: MadeSite,
) -> None:
    at.store.tell("engine_line", "A table takes 3 bots, and 1 bot is here")
    assert "A table takes 3 bots, and 1 bot is here" in at.get("/enter").text
    at.store.tell("engine_line", "Something has to be put right.")
    at.store.tell("engine_fault", "/srv/ladder.toml: <line> 3")
    browser = at.browser(at.owner("chief", organiser=True))
    assert "/srv/ladder.toml: &lt;line&gt; 3" in browser.get("/organiser").text
    for path in ("/", "/enter", "/rules"):
        page = browser.get(path).text
        assert "Something has to be put right." in page
        assert "/srv/" not in page


def test_a_token_for_one_bot_is_no_key_to_all_of_its_owner(at: MadeSite) -> None:
    ann = at.owner("ann")
    token = at.store.add_token(ann.owner.id, "ci", at.time, bot="a")
    answer = at.browser().post("/login", {"token": token})
    assert answer.status_code == 403
    assert "This token is for a alone" in answer.text


def test_a_token_in_a_header_opens_no_page_and_sends_no_form(at: MadeSite) -> None:
    """Else whoever has a token for one bot would make themselves one for all, with a form of nobody's session."""
    ann, chief = at.owner("ann"), at.owner("chief", organiser=True)
    at.upload(ann, "a")
    tokens = [
        ann.token,
        chief.token,
        *(at.store.add_token(one.owner.id, "ci", at.time, bot="a") for one in (ann, chief)),
    ]
    before = [at.store.owners(), at.store.jobs(), at.store.versions(), at.store.invitations()]
    closed = [(method, path) for (_, method), (path, statuses) in TABLE.items() if statuses[0] == 401]
    asked = [(method, path) for method, path in closed if not path.startswith(("/api/", "/jobs/1"))]
    assert len(asked) > 10
    for token in tokens:
        for method, path in asked:
            at.tick += 60
            browser = at.browser()
            form = FORM_TOKEN.search(at.get("/login", browser=browser).text)
            assert form is not None
            data = {"data": {"form_token": form[1], "do": "block", "key": "banner"}} if method == "POST" else {}
            answer = at.ask(method, path, browser=browser, headers={"Authorization": f"Bearer {token}"}, **data)
            assert answer.status_code == 401, (method, path, answer.text)
            assert "referee_" not in answer.text
    again = at.ask("POST", "/jobs/1/again", browser=browser, headers={"Authorization": f"Bearer {ann.token}"}, **data)
    assert again.status_code == 401
    assert before == [at.store.owners(), at.store.jobs(), at.store.versions(), at.store.invitations()]
    assert {len(at.store.tokens(one.owner.id)) for one in (ann, chief)} == {2}


def test_who_joined_ends_that_session_by_revoking_the_first_token(at: MadeSite) -> None:
    browser = at.browser()
    secret = at.store.invite("Zo\u00eb", at.time, by="test")
    assert 'name="name" required' in browser.get(f"/join/{secret}").text  # her name is nobody's here: she picks one
    assert browser.post(f"/join/{secret}", {"name": "Zoe"}, of=f"/join/{secret}").status_code == 200
    assert browser.get("/me").status_code == 200
    (owner,) = (one for one in at.store.owners() if one.name == "Zoe")
    at.store.revoke_token(owner.id, at.store.tokens(owner.id)[0].id, at.time)
    assert browser.get("/me").status_code == 401


def test_a_reason_never_lets_a_version_in(at: MadeSite) -> None:
    """The button that Enter presses is the first of its form."""
    at.upload(at.owner("ann"), "a")
    at.finish(1, VersionState.APPROVAL)
    browser = at.browser(at.owner("chief", organiser=True))
    page = browser.get("/organiser").text
    assert 0 < page.index('value="refuse"') < page.index('value="accept"')
    fields = {"do": "accept", "reason": "it copies"}
    assert browser.post("/organiser/versions/1", fields, of="/organiser").status_code == 409
    assert at.store.version(1).state is VersionState.APPROVAL


@pytest.mark.parametrize("url", ["https://Pitch.Example.org", "https://pitch.example.org:443"])
def test_a_form_from_our_own_site_is_taken_however_its_url_is_written(tmp_path: Path, url: str) -> None:
    with made_site(tmp_path, host=f'url = "{url}"') as at:
        ann = at.owner("ann")
        origin = {"origin": "https://pitch.example.org"}
        assert at.browser().post("/login", {"token": ann.token}, headers=origin).status_code == 303
        origin = {"origin": "https://pitch.example.org:8443"}
        assert at.browser().post("/login", {"token": ann.token}, headers=origin).status_code == 403

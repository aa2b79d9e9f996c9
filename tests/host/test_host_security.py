"""What SECURITY.md says of the host is held by tests that are there; and what none of the others holds."""

import hmac
import logging
import re
from pathlib import Path
from typing import Any, Final

import pytest

from referee.host import store
from referee.host.rows import VersionState
from tests.host.sites import FORM_TOKEN, MadeSite, made_site

ROOT: Final = Path(__file__).resolve().parents[2]
TABLE: Final = re.findall(r"^\| ([^|]+) \| (`[^|]+`) \|$", (ROOT / "SECURITY.md").read_text("utf-8"), re.MULTILINE)


def test_each_claim_names_tests_that_are_there() -> None:
    assert len(TABLE) >= 12
    for claim, tests in TABLE:
        for file, name in re.findall(r"`(\w+)::(\w+)`", tests):
            text = (ROOT / "tests/host" / f"{file}.py").read_text("utf-8")
            assert re.search(rf"^def {name}\(", text, re.MULTILINE), (claim, name)
        assert re.fullmatch(r"`\w+::\w+`(, `\w+::\w+`)*", tests), claim


@pytest.fixture
def at(tmp_path: Path) -> Any:
    with made_site(tmp_path, host='enter = "open"') as made:
        yield made


def test_no_secret_stands_in_any_log_nor_in_the_files_of_the_host(
    at: MadeSite, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Everything that has a secret in it is done once, while everything is logged that there is to log."""
    caplog.set_level(logging.DEBUG)
    secret = at.store.invite("zoe", at.time, by="test")
    browser = at.browser()
    welcome = browser.post(f"/join/{secret}", {"name": "zoe"}, of=f"/join/{secret}")
    assert welcome.status_code == 200
    (token,) = set(re.findall(r"referee_[A-Za-z0-9_-]{20,}", welcome.text))
    form = FORM_TOKEN.search(at.get("/me", browser=browser).text)
    assert form is not None
    made = browser.post("/me/tokens", {"label": "ci", "bot": ""}, of="/me")
    (second,) = set(re.findall(r"referee_[A-Za-z0-9_-]{20,}", made.text))
    cookie = browser.cookie.partition("=")[2]
    bearer = {"Authorization": f"Bearer {token}"}
    for path in ("/api/v1/me", "/me", f"/join/{secret}", f"/?token={token}", f"/pitch/join/{secret}"):
        at.get(path, headers=bearer)
    at.upload(None, "a", headers=bearer)
    at.finish(1, VersionState.REFUSED)
    for wrong in ("/api/v1/me", "/submit"):
        assert at.get(wrong, headers={"Authorization": f"Bearer {second}x"}).status_code == 401
    at.browser().post("/login", {"token": f"{token}x"})
    secrets = {"invitation": secret, "token": token, "second": second, "cookie": cookie, "form": form[1]}
    ours = [one for one in caplog.records if not one.name.startswith("http")]  # not those of the client
    assert len(ours) > 10
    said = "\n".join(f"{one.getMessage()} {one.exc_text}" for one in ours)
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for what, value in secrets.items():
        assert value not in said, what
        assert value.encode() not in kept, what


def test_what_a_form_brings_is_compared_in_constant_time(at: MadeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    known = hmac.compare_digest

    def compare(one: Any, other: Any) -> bool:
        compared.append((one, other))
        return known(one, other)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    browser = at.browser()
    browser.get("/login")
    wrong = at.ask("POST", "/login", browser=browser, data={"form_token": "0" * 64, "token": "x"})
    assert wrong.status_code == 403
    assert any(other == b"0" * 64 for _, other in compared)


def test_tokens_and_invitations_are_looked_up_by_their_digest_alone(
    at: MadeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the time that looking takes says nothing of the secret: no part of it is compared with what is kept."""
    seen = list[str]()
    digest = store._digest

    def digest_of(secret: str) -> str:
        seen.append(secret)
        return digest(secret)

    monkeypatch.setattr(store, "_digest", digest_of)
    at.get("/api/v1/me", headers={"Authorization": "Bearer referee_guess"})
    at.get("/join/guess")
    assert seen == ["referee_guess", "guess"]

"""The pages "Write a bot in ...": what they show are the sample bots, and what they tell to do can be done."""

import re
from pathlib import Path

import pytest

from referee.league.entrants.new_bot import TITLES, build_step
from tests.languages.tools import BOTS, LANGUAGES, ROOT

DOCS = Path(__file__).resolve().parents[2] / "docs"
INCLUDE = re.compile(r"^```\{literalinclude\} (\S+)$", re.MULTILINE)


def test_every_language_has_its_page_and_every_page_its_language() -> None:
    titles = {path.stem: path.read_text("utf-8").splitlines()[0] for path in (DOCS / "languages").glob("*.md")}
    assert set(titles) == set(LANGUAGES)
    assert titles == {name: f"# Write a bot in {title}" for name, title in TITLES.items()}
    index = (DOCS / "index.md").read_text("utf-8")
    tour = (DOCS / "first-bot.md").read_text("utf-8")
    assert all(f"\nlanguages/{name}\n" in index and f"(languages/{name}.md)" in tour for name in LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_shows_the_sources_and_nothing_else(language: str) -> None:
    text = (DOCS / "languages" / f"{language}.md").read_text("utf-8")
    assert set(re.findall(r"^```(\S+)", text, re.MULTILINE)) == {"sh", "{literalinclude}"}
    shown = [(DOCS / "languages" / path).resolve() for path in INCLUDE.findall(text)]
    assert all(path.is_file() and path.is_relative_to(ROOT / language) for path in shown)
    for bot in BOTS:
        written = [path for pattern in LANGUAGES[language].sources for path in (ROOT / language / bot).glob(pattern)]
        same = {path.name for path in written if _is_alike(path, bot)} if bot == "careful" else set()
        missing = {path.name for path in written if path.suffix != ".hpp"} - same - {path.name for path in shown}
        assert not missing
    assert ROOT / language / "random" / "bot.toml" in shown


def _is_alike(path: Path, bot: str) -> bool:
    """Whether a file of careful only talks or builds, as that of random does, which is shown."""
    return (Path(str(path).replace(f"/{bot}/", "/random/"))).is_file()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_steps_are_the_same_everywhere(language: str) -> None:
    text = (DOCS / "languages" / f"{language}.md").read_text("utf-8")
    (steps,) = re.findall(r"^```sh\n(.*?)```", text, re.MULTILINE | re.DOTALL)
    build = [] if language == "python" else [build_step(language)]
    assert steps.splitlines() == [
        f"referee new {language} mybot",
        "cd mybot",
        *build,
        "referee play . careful",
        "referee check .",
    ]
    readme = (ROOT / language / "README.md").read_text("utf-8")
    assert len(readme.splitlines()) <= 66, "more than a screen"
    assert f"referee new {language} mybot" in readme

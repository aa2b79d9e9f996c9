"""new: projects made from the samples. Those of compiled languages are built and checked in tests/languages."""

import tomllib
from pathlib import Path

import pytest

from referee.league.definition.shipped import shipped_folder
from referee.league.entrants import new_bot as module
from referee.league.entrants.bot_source import BotSourceError, find_bot
from referee.league.entrants.new_bot import TITLES, home_of_referee, languages, new_bot
from tests.program import referee as run_referee

SAMPLES = shipped_folder("sample_bots")


def test_a_python_project_plays_and_passes_the_check(tmp_path: Path) -> None:
    made = run_referee(tmp_path, "new", "python", "my-bot", "--home", "somebody/referee")
    assert made.returncode == 0, made.stderr
    assert made.stdout.splitlines()[1:] == ["    cd my-bot", "    referee play . careful", "    referee check ."]
    checked = run_referee(tmp_path / "my-bot", "check", ".", "--variant", "all", "--deals", "20", "--sandbox", "none")
    assert checked.returncode == 0, checked.stdout
    assert "my-bot 1 in" in checked.stdout
    played = run_referee(tmp_path / "my-bot", "play", ".", "careful", "-n", "2", "--output", "plain")
    assert played.returncode == 0, played.stderr
    workflow = (tmp_path / "my-bot" / ".github" / "workflows" / "rules.yml").read_text()
    assert "uses: somebody/referee/.github/actions/check@main," in workflow


def test_a_careful_bot_may_be_the_beginning(tmp_path: Path) -> None:
    new_bot("python", "mine", tmp_path, sample="careful")
    assert (tmp_path / "mine" / "bot.py").read_text() == (SAMPLES / "python/careful/bot.py").read_text()
    assert tomllib.loads((tmp_path / "mine" / "bot.toml").read_text())["name"] == "mine"


@pytest.mark.parametrize("sample", ["random", "careful"])
@pytest.mark.parametrize("language", [name for name in languages() if name != "python"])
def test_a_project_has_its_own_name_everywhere_and_the_contract_and_nothing_built(
    language: str, sample: str, tmp_path: Path
) -> None:
    project = new_bot(language, "new-name", tmp_path, sample=sample)
    source = find_bot(str(project.folder), tmp_path)
    assert (source.name, project.built) == ("new-name", True)
    files = [path for path in project.folder.rglob("*") if path.is_file()]
    old = f"{sample}-{language}".encode()
    assert not [path for path in files if old in path.read_bytes() or old in path.name.encode()]
    assert any(b"new-name" in path.read_bytes() for path in files if path.suffix not in {".md", ".toml"})
    for proto in (shipped_folder("protos") / "allfours/v1").glob("*.proto"):
        assert (project.folder / "protos/allfours/v1" / proto.name).read_bytes() == proto.read_bytes()
    ignored = (project.folder / ".gitignore").read_text().split()
    assert {"target/", "node_modules/", "bin/"} <= set(ignored)
    assert not [path for path in files if {"target", "node_modules", "bin", "dist"} & set(path.parts)]
    readme = (project.folder / "README.md").read_text()
    assert TITLES[language] in readme
    assert "referee build" in readme
    assert "\n## " in readme
    assert "## From zero" not in readme


def test_a_project_in_go_has_the_messages_that_the_samples_share(tmp_path: Path) -> None:
    """And its go.mod leads nowhere outside of it."""
    folder = new_bot("go", "alone", tmp_path).folder
    shared = SAMPLES / "go" / "allfours"
    assert {path.relative_to(shared) for path in shared.rglob("*.*")} == {
        path.relative_to(folder / "allfours") for path in (folder / "allfours").rglob("*.*")
    }
    assert "replace allfours => ./allfours\n" in (folder / "go.mod").read_text("utf-8")
    assert "../" not in (folder / "go.mod").read_text("utf-8")


def test_there_are_samples_in_all_languages() -> None:
    assert set(languages()) <= set(TITLES)
    assert all((SAMPLES / language / "careful" / "bot.toml").is_file() for language in languages())


def test_what_is_there_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious").write_text("x")
    refused = run_referee(tmp_path, "new", "python", "mine")
    assert refused.returncode == 2
    assert "which is there already" in refused.stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["mine", "precious"]
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(BotSourceError, match="already"):
        new_bot("python", "link", tmp_path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("pyhton", "x"), 'did you mean "python"'),
        (("klingon", "x"), "choose one of these"),
        (("python", "../x"), "write it like my-bot"),
        (("python", "My Bot"), "write it like my-bot"),
        (("python", "x" * 41), "write it like my-bot"),
        (("python", "x", "--from", "brilliant"), '"careful"'),
    ],
)
def test_what_cannot_be_is_answered_with_a_remedy(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    refused = run_referee(tmp_path, "new", *arguments)
    assert refused.returncode == 2
    assert words in refused.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("url", "home"),
    [
        ("https://github.com/some-body/referee.git\n", "some-body/referee"),
        ("git@github.com:some-body/referee.x.git", "some-body/referee.x"),
        ('{"url": "https://github.com/a/b", "vcs_info": {}}', "a/b"),
        ("https://github.com/a/b@main", "a/b"),
        ("https://example.org/a/b", None),
        ("", None),
    ],
)
def test_the_workflow_names_the_repository_that_referee_comes_from(
    url: str, home: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_remote", lambda _folder: url)
    monkeypatch.setattr(module.metadata, "distribution", _not_installed)
    assert home_of_referee() == home
    new_bot("python", "mine", tmp_path)
    workflow = (tmp_path / "mine" / ".github" / "workflows" / "rules.yml").read_text()
    assert f"{home or 'OWNER/referee'}/.github/actions/check@" in workflow


def _not_installed(name: str) -> None:
    raise module.metadata.PackageNotFoundError(name)


def test_the_setup_of_each_language_is_a_step_of_its_workflow() -> None:
    for language in module.SETUP:
        lines = module._workflow(language, "a/b").splitlines()
        first = next(number for number, line in enumerate(lines) if "checkout" in line)
        steps = [line.strip() for line in lines[first + 1 : -1]]
        assert steps == module.SETUP[language]
        assert {len(line) - len(line.lstrip()) for line in lines[first:]} == {6}

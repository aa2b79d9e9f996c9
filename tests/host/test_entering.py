"""Who plays in the next round of a host, as its store and the folders of its bots tell."""

import shutil
from pathlib import Path

import pytest

from referee.host.rows import Entered, Job, VersionState
from referee.host.store import HostStore
from referee.league.definition.definition import Definition, parse_definition
from referee.league.entrants.roster import BotSourceError, handed_in
from tests.program import FIRST


def accepted(store: HostStore, owner: str, bot: str, archive: str, now: float) -> Job:
    """A version that was handed in then and has passed; whose bot it is joins first, if nobody has that name."""
    known = {one.name: one for one in store.owners()}
    somebody = known.get(owner) or store.join(store.invite(owner, now, by="test"), owner, now)
    store.hand_in(somebody, bot, archive, now, most_bots=3)
    job = store.lease(now, 60)
    assert job is not None
    assert store.finish(job, VersionState.ACCEPTED, "It keeps the rules.", now)
    return job


def test_what_came_after_the_deadline_does_not_enter_and_what_came_before_plays_on(tmp_path: Path) -> None:
    with HostStore.open(tmp_path / "host.sqlite") as store:
        first = accepted(store, "ann", "one", "a", 10.0)
        accepted(store, "ann", "one", "b", 30.0)
        accepted(store, "bob", "late", "c", 30.0)
        assert [one.bot for one in store.entered()] == ["one", "late"]
        assert store.entered(20.0) == [Entered("one", "ann", first.version)]


def test_what_the_host_says_of_itself_is_seen_by_others_and_is_no_line_of_the_audit_log(tmp_path: Path) -> None:
    with HostStore.open(tmp_path / "host.sqlite") as one, HostStore.open(tmp_path / "host.sqlite") as other:
        lines, before = len(one.audit()), other.change()
        one.tell("engine_line", "waits")
        assert other.setting("engine_line") == "waits"
        assert other.change() != before
        seen = other.change()
        one.tell("engine_line", "waits")  # nothing new
        assert other.change() == seen
        assert len(other.audit()) == lines


@pytest.fixture
def definition(tmp_path: Path) -> Definition:
    text = '[tournament]\nname = "L"\nvariant = "auction-pitch"\nseats = 2\n[schedule]\nformat = "ladder"\n'
    return parse_definition(text, folder=tmp_path)


def bot_in(folder: Path, more: str = "") -> Path:
    folder.mkdir(parents=True)
    (folder / "bot.py").write_text(FIRST)
    (folder / "bot.toml").write_text(f'name = "own name"\nversion = "1"\nrun = ["python", "bot.py"]\n{more}')
    return folder


def test_a_bot_that_was_handed_in_is_a_strangers_program_under_the_name_it_has_on_the_host(
    tmp_path: Path, definition: Definition
) -> None:
    entrant = handed_in(definition, bot_in(tmp_path / "bots/7"), "mine")
    assert (entrant.key, entrant.name, entrant.version, entrant.submitted) == ("mine", "mine", "1", True)
    again = handed_in(definition, bot_in(tmp_path / "bots/8"), "mine")
    assert again.digest == entrant.digest  # of its files, wherever they lie


@pytest.mark.parametrize("fault", ["no folder", "a link outside", "not built", "for another game"])
def test_a_bot_that_was_handed_in_and_cannot_play_says_why(tmp_path: Path, definition: Definition, fault: str) -> None:
    more = {"not built": 'build = "make"\n', "for another game": 'variants = ["pidro"]\n'}.get(fault, "")
    folder = bot_in(tmp_path / "bots/7", more)
    if fault == "no folder":
        shutil.rmtree(folder)
    elif fault == "a link outside":
        (folder / "secret").symlink_to("/etc/passwd")
    elif fault == "not built":
        text = (folder / "bot.toml").read_text()
        (folder / "bot.toml").write_text(text.replace('["python", "bot.py"]', '["build/bot"]'))
    with pytest.raises(BotSourceError):
        handed_in(definition, folder, "mine")

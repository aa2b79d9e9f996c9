"""Leagues of pairs: two bots are one entrant; each of them holds every seat, and partners are processes of their own."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from referee.league.balance import check_schedule
from referee.league.definition.definition import Definition, DefinitionError, parse_definition, restore_definition
from referee.league.entrants.roster import enter
from referee.league.export import write_export
from referee.league.league import begin, check_unchanged, plan_of, read_league
from referee.league.play import leg
from referee.league.play.event_sink import LeagueObserver
from referee.league.play.runner import Runner
from referee.league.schedule.format import Shape
from referee.league.schedule.formats import plan
from referee.league.standings import standings_of
from referee.league.store import Exported, Store
from referee.sandbox.command import Command
from referee.sandbox.launch import BotProcess, launch
from referee.verification.verify import verify

BOTS = ("one", "two", "three")


@dataclass(frozen=True)
class Bot:
    key: str
    version: str = "1"


def text(
    pairs: str, rest: str = "", variant: str = "partnership-pitch", seats: int = 4, bots: tuple[str, ...] = BOTS
) -> str:
    entries = "\n".join(f'[[bots]]\npath = "{name}.py"' for name in bots)
    head = (
        f'[tournament]\nname = "Pairs"\nvariant = "{variant}"\nseats = {seats}\n[schedule]\nsets = 1\nseed = "pairs"\n'
    )
    return f"{head}{rest}\n{entries}\n{pairs}\n"


PAIRS = '[[pairs]]\nbots = ["one", "two"]\n[[pairs]]\nbots = ["two", "three"]\nname = "Others"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three bots that differ."""
    for number, name in enumerate(BOTS):
        (tmp_path / f"{name}.py").write_text(
            f"from referee.bot import run\nrun(lambda turn: turn.legal[{number} % len(turn.legal)])\n"
        )
    return tmp_path


def read(folder: Path, pairs: str = PAIRS, rest: str = "") -> Definition:
    return parse_definition(text(pairs, rest), folder=folder)


def test_pairs_are_the_entrants_with_versions_and_digests_of_both(folder: Path) -> None:
    roster = enter(read(folder))
    assert roster.notes == ("Others is two with three.",)
    one, others = roster.entrants
    assert (one.key, others.key) == ("one + two", "Others")
    assert one.partner is not None
    assert others.partner is not None
    assert (one.argv[1], one.partner.argv[1], others.argv[1], others.partner.argv[1]) == (
        *("one.py", "two.py", "two.py", "three.py"),
    )
    assert one.version.count("+") == 1
    before = one.digest
    (folder / "two.py").write_text("print()\n")
    again = enter(read(folder)).entrants
    assert again[0].digest != before
    assert again[1].digest != others.digest
    assert [bot.key for bot in enter(read(folder)).bots] == ["one + two", "two", "Others", "three"]


def test_each_bot_of_a_pair_holds_each_seat_equally_often() -> None:
    for duplicate, sets in ((True, 1), (False, 4)):
        shape = Shape(seats=4, sides=2, duplicate=duplicate, sets=sets, pairs=True)
        schedule = plan(shape, [Bot(key) for key in "abc"])
        held = Counter((one, seat) for game in schedule.fixtures for seat, one in enumerate(game.processes))
        assert len(held) == 3 * 2 * 4
        assert set(held.values()) == {2}
        found = check_schedule(schedule, shape, ["a", "b", "c"])
        assert found.ok, found.findings
    shape = Shape(seats=4, sides=2, duplicate=False, sets=2, pairs=True)
    uneven = check_schedule(plan(shape, [Bot("a"), Bot("b")]), shape, ["a", "b"])
    assert [one.name for one in uneven.findings if not one.ok] == ["seats"]


def test_a_league_of_pairs_is_played_ranked_and_verified_by_pair(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []

    def noted(command: Command, **options: Any) -> BotProcess:
        started.append(command.argv[1])
        return launch(command, **options)

    monkeypatch.setattr(leg, "launch", noted)
    definition = read(folder)
    path = folder / "pairs.sqlite"
    begin(definition, enter(definition), path, "none", {})
    with Store.write(path) as store:
        league = read_league(store)
        check_unchanged(league)
        outcome = Runner(store, league, plan_of(league, folder / "logs", "none"), LeagueObserver()).run()
        assert outcome.finished
        table = standings_of(store, league, 20)
        assert {row.entrant: row.games for row in table.rows} == {"one + two": 4, "Others": 4}
        found = verify(store)
        assert found.ok, str(found)
        export = write_export(store, league, folder / "export", {})
    assert Counter(started) == {"one.py": 4, "two.py": 8, "three.py": 4}
    found = verify(Exported(export))
    assert found.ok, str(found)
    partner = Exported(export).entrants()["Others"]["partner"]
    assert (partner["key"], partner["folder"]) == ("three", folder.name)
    assert str(folder) not in (export / "entrants.jsonl").read_text()


@pytest.mark.parametrize(
    ("pairs", "rest", "told"),
    [
        ('[[pairs]]\nbots = ["one", "tow"]', "", 'did you mean "two"?'),
        ('[[pairs]]\nbots = ["one", "two"]\n[[pairs]]\nbots = ["one", "two"]', "", "a second time"),
        ('[[pairs]]\nbots = ["one"]', "", "bots"),
        (PAIRS, "[policy]\nchecked = true", "delete checked"),
        (PAIRS, '[schedule]\nformat = "compare"', "compare"),
    ],
)
def test_pairs_that_cannot_be_are_errors_with_the_remedy(folder: Path, pairs: str, rest: str, told: str) -> None:
    whole = text(pairs, rest)
    if rest.startswith("[schedule]"):
        whole = whole.replace('[schedule]\nsets = 1\nseed = "pairs"\n', "")
    with pytest.raises(DefinitionError, match=told.replace("?", r"\?")):
        enter(parse_definition(whole, folder=folder))


def test_pairs_are_refused_where_no_side_has_two(folder: Path) -> None:
    with pytest.raises(DefinitionError, match="partnership-pitch"):
        parse_definition(text(PAIRS, variant="auction-pitch"), folder=folder)


def test_a_definition_without_pairs_has_the_digest_that_it_always_had(folder: Path) -> None:
    assert "pairs" not in read(folder, "").canonical()
    definition = read(folder)
    assert restore_definition(definition.canonical(), folder).digest() == definition.digest()
    assert definition.shape().pairs
    assert not read(folder, "").shape().pairs

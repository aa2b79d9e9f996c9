"""What is said of a definition that was changed after its league had begun."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from referee.league.definition.changes import MOST, changes, told_changes
from referee.league.definition.definition import parse_definition
from tests.program import FIRST, LAST, referee

SOUND = """\
[tournament]
name = "Club"
variant = "auction-pitch"
seats = 2
[schedule]
sets = 2
[[bots]]
path = "first.py"
[[bots]]
path = "last.py"
"""


def differ(old: str, new: str) -> list[str]:
    return changes(parse_definition(old).canonical(), parse_definition(new).canonical())


def test_each_change_is_a_phrase() -> None:
    assert differ(SOUND, SOUND + "# a comment\n") == []
    assert differ(SOUND, SOUND.replace("sets = 2", "sets = 3")) == ["[schedule] sets was 2, is 3"]
    assert differ(SOUND, SOUND + "[rules]\ntarget = 9\n") == ["[rules] target is new: 9"]
    assert differ(SOUND + "[rules]\ntarget = 9\n", SOUND) == ["[rules] target was 9, is gone"]
    assert differ(SOUND, SOUND + '[[bots]]\npath = "random"\n') == ['[[bots]] "random" is new']
    assert differ(SOUND + '[[bots]]\npath = "random"\n', SOUND) == ['[[bots]] "random" is gone']
    assert differ(SOUND, SOUND + "copies = 2\n") == ['[[bots]] "last.py" copies was 1, is 2']
    swapped = SOUND.replace("first", "x").replace("last", "first").replace('"x', '"last')
    assert differ(SOUND, swapped) == ["[[bots]] stand in another order"]


def test_many_changes_are_not_told_one_by_one() -> None:
    many = SOUND + "".join(f'[[bots]]\npath = "bot-{number}"\n' for number in range(20))
    told = told_changes(parse_definition(SOUND).canonical(), parse_definition(many).canonical())
    assert told.count("is new") == MOST
    assert told.endswith("and 12 more changes")


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda x: st.lists(x, max_size=3))
PARTS = st.dictionaries(
    st.sampled_from(["schema", "tournament", "bots", "pairs", "rules"]),
    st.integers() | st.dictionaries(st.text(max_size=4), JSON, max_size=3) | st.lists(st.dictionaries(st.sampled_from(["path", "name", "copies"]), JSON, max_size=3), max_size=3),
    max_size=4,
)  # fmt: skip


@given(PARTS, PARTS)
def test_whatever_differs_is_told_in_harmless_words(old: dict[str, object], new: dict[str, object]) -> None:
    """A store may come from anywhere. Entries that are alike but for their place are all that is left untold."""
    shaped = {part: type(value) for part, value in new.items()}
    old = {part: value for part, value in old.items() if shaped.get(part, type(value)) is type(value)}
    found = changes(old, new)
    assert all(text.isascii() and text.isprintable() for text in found)
    assert not changes(new, new)


def test_a_changed_definition_is_refused_with_what_changed_and_what_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text(FIRST)
    (tmp_path / "last.py").write_text(LAST)
    (tmp_path / "club.toml").write_text(SOUND)
    assert referee(tmp_path, "run", "club.toml", "--sandbox", "none").returncode == 0
    (tmp_path / "club.toml").write_text(SOUND.replace("sets = 2", "sets = 3"))
    more = referee(tmp_path, "run", "club.toml", "--sandbox", "none")
    assert more.returncode == 1
    assert "another definition: [schedule] sets was 2, is 3." in more.stderr
    assert "--new-version keeps 2 of 3 sets." in more.stderr
    (tmp_path / "club.toml").write_text(SOUND + "[limits]\nmove_ms = 100\n")
    other = referee(tmp_path, "run", "club.toml", "--sandbox", "none")
    assert "[limits] move_ms was 5000, is 100" in other.stderr
    assert "--new-version keeps nothing: " in other.stderr

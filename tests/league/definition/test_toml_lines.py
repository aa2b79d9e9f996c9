"""The line on which a value of a TOML text stands."""

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from referee.league.definition.toml_lines import line_numbers, line_of

EVERYTHING = '''\
# c = 1
[tournament]
name = "a # [x] = \\" "
"seats = x" = 4
rules.a.b = [1,
  2, # "
]
big = """
[bots]
x = 1
"""
'lit"eral' = \'\'\'
[[bots]] \'\'\'
[[bots]]
path = 'x'
command = ["a", "]"]
[[bots]]
path = "y"
[bots.extra]
z=1
[[bots]]
in = { a = 1, b = [2] }
[[bots.inner]]
i = 1
[[bots.inner]]
last = 1'''


def test_every_key_and_section_has_its_line() -> None:
    tomllib.loads(EVERYTHING)
    assert line_numbers(EVERYTHING) == {
        (): 1,
        ("tournament",): 2,
        ("tournament", "name"): 3,
        ("tournament", "seats = x"): 4,
        ("tournament", "rules"): 5,
        ("tournament", "rules", "a"): 5,
        ("tournament", "rules", "a", "b"): 5,
        ("tournament", "big"): 8,
        ("tournament", 'lit"eral'): 12,
        ("bots",): 14,
        ("bots", 0): 14,
        ("bots", 0, "path"): 15,
        ("bots", 0, "command"): 16,
        ("bots", 1): 17,
        ("bots", 1, "path"): 18,
        ("bots", 1, "extra"): 19,
        ("bots", 1, "extra", "z"): 20,
        ("bots", 2): 21,
        ("bots", 2, "in"): 22,
        ("bots", 2, "inner"): 23,
        ("bots", 2, "inner", 0): 23,
        ("bots", 2, "inner", 0, "i"): 24,
        ("bots", 2, "inner", 1): 25,
        ("bots", 2, "inner", 1, "last"): 26,
    }


def test_what_has_no_line_of_its_own_has_that_of_what_holds_it() -> None:
    lines = line_numbers(EVERYTHING)
    assert line_of(lines, ("bots", 2, "in", "b", 0)) == 22
    assert line_of(lines, ("tournament", "nothing", "here")) == 2
    assert line_of(lines, ("nothing",)) == 1


texts = st.sampled_from(['"a"', '"]"', "'='", '"""\n[x]\n"""', "'''\n'\n'''", '"#"', '"\\""', '"""a"""'])
plain = st.integers().map(str) | st.booleans().map(lambda value: str(value).lower()) | texts
listed = st.lists(plain, max_size=4).map(lambda items: "[\n" + ", # ]\n".join(items) + "\n]")
keys = st.sampled_from(["a", "b-c", '"d.e"', "'f=g'", '"#"', "h.i", 'j."k l"'])
statements = st.dictionaries(keys, plain | listed, max_size=5)
documents = st.lists(st.tuples(st.sampled_from(["[{}]", "[[{}]]"]), statements), max_size=4)


@given(documents)
def test_the_value_of_a_key_stands_on_its_line(parts: list[tuple[str, dict[str, str]]]) -> None:
    text, expected = "", {}
    for number, (header, content) in enumerate(parts):
        text += header.format(f"s{number}") + "\n"
        for key, value in content.items():
            expected[(number, key)] = text.count("\n") + 1
            text += f"{key} = {value}\n"
    data: dict[str, Any] = tomllib.loads(text)
    lines = line_numbers(text)
    for (number, key), line in expected.items():
        inner = (0,) if isinstance(data[f"s{number}"], list) else ()
        path = tuple(tomllib.loads(f"{key} = 0"))
        assert lines[(f"s{number}", *inner, *path)] == line


@given(st.text(alphabet="a=[]{}\"'\n#.\\ 1"))
def test_any_text_has_lines_within_it(text: str) -> None:
    assert all(1 <= line <= text.count("\n") + 1 for line in line_numbers(text).values())

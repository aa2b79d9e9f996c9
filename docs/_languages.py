"""The pages "Write a bot in ...": the steps from zero, and the sources of the sample bots as they are."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from referee.league.entrants.new_bot import build_step


@dataclass(frozen=True, slots=True)
class Language:
    """``title`` as people write it, ``code`` as Sphinx colours it, ``needs`` what has to be installed, a sentence each.

    ``random`` and ``careful`` are the sources in the order in which they are read, with what each is. ``wire`` says
    what the build has to do with the protos.
    """

    title: str
    code: str
    needs: str
    random: dict[str, str]
    careful: dict[str, str]
    wire: str
    notes: tuple[str, ...] = ()


_SETTINGS: Final = "what Referee has to know: how it is built and started"
_TALK: Final = "the talk: dial, join, answer every turn, leave"

LANGUAGES: Final = {
    "python": Language(
        "Python",
        "python",
        "Python 3.11 or newer, which Referee needs itself.",
        {"bot.py": "all of it; `referee.bot` does the talking", "bot.toml": _SETTINGS},
        {"bot.py": "bids, plays and keeps by rules of thumb"},
        "Nothing is built. The messages are under `turn.message`, for what the SDK does not show.",
        (
            "[Your first bot](../first-bot.md) is the tour: rulings, crashes, debugging, tests without a referee.",
            "Without the SDK a bot is longer, but not long: [the protocol](../protocol.md) shows one in full.",
        ),
    ),
    "typescript": Language(
        "TypeScript",
        "typescript",
        "[Node.js](https://nodejs.org) 20.11 or newer, which brings npm.",
        {"src/main.ts": _TALK, "bot.toml": _SETTINGS, "package.json": "what it needs, and how it is compiled"},
        {"src/careful.ts": "the decisions; `src/main.ts` talks as above"},
        "`@grpc/proto-loader` reads the protos when the bot starts; the build makes types from them for the compiler.",
    ),
    "go": Language(
        "Go",
        "go",
        "[Go](https://go.dev/dl/), in the version that `go.mod` names or newer.",
        {"main.go": _TALK, "bot.toml": _SETTINGS},
        {"careful.go": "the decisions", "cards.go": "cards and what is known of them"},
        "The code in `allfours/v1` is generated and checked in, as is usual in Go; `buf generate protos` writes it anew.",
    ),
    "rust": Language(
        "Rust",
        "rust",
        "[Rust](https://rustup.rs) 1.88 or newer, and a C compiler for what encrypts.",
        {
            "src/main.rs": _TALK,
            "build.rs": "generates the messages",
            "Cargo.toml": "what it needs",
            "bot.toml": _SETTINGS,
        },
        {"src/careful.rs": "the decisions; `src/main.rs` talks as above"},
        "`build.rs` generates the messages; protox reads the protos, so no protoc is needed.",
    ),
    "java": Language(
        "Java",
        "java",
        "Java 17 or newer and Maven 3.8 or newer (Debian: `apt install default-jdk-headless maven`).",
        {
            "src/main/java/bot/RandomBot.java": "the decision",
            "src/main/java/bot/Main.java": _TALK,
            "bot.toml": _SETTINGS,
        },
        {
            "src/main/java/bot/CarefulBot.java": "the decisions",
            "src/main/java/bot/Cards.java": "what cards are",
        },
        "A plugin of Maven generates the messages; it fetches protoc from Maven Central.",
    ),
    "cpp": Language(
        "C++",
        "cpp",
        "Debian's packages: `apt install g++ cmake pkg-config libgrpc++-dev libprotobuf-dev protobuf-compiler-grpc`.",
        {
            "src/main.cpp": _TALK,
            "CMakeLists.txt": "how it is built",
            "bot.toml": _SETTINGS,
        },
        {"src/careful_bot.cpp": "the decisions"},
        "CMake calls protoc and the plugin of gRPC.",
    ),
}
"""Every language that there are sample bots in, in the order in which they are listed."""

_COLOURS: Final = {".toml": "toml", ".json": "json", ".txt": "cmake"}


def sources(name: str, bot: str) -> dict[str, str]:
    """The files of a sample bot that its page shows, and what each is."""
    language = LANGUAGES[name]
    return language.random if bot == "random" else language.careful


def language_page(name: str) -> str:
    """The whole page of one language."""
    return "\n".join(_lines(name, LANGUAGES[name])) + "\n"


def _lines(name: str, language: Language) -> Iterator[str]:
    yield f"# Write a bot in {language.title}\n"
    yield "<!-- Written by docs/generate.py. -->\n"
    yield f"You need {language.needs} And Referee itself: in a checkout of it, `pip install .` brings the command.\n"
    yield "```sh"
    yield f"referee new {name} mybot"
    yield "cd mybot"
    if name != "python":
        yield build_step(name)
    yield "referee play . careful"
    yield "referee check ."
    yield "```\n"
    yield "That is a bot that plays any legal move, and keeps every rule. `referee new` has copied it from the sample bot `random`; with"
    yield f"`--from careful` you begin with one that plays well. {language.wire} In the folder are also a README with what to know in"
    yield "this language, and a workflow that checks the bot at every push. [The protocol](../protocol.md) says what goes over the wire;"
    yield "[Messages](../messages.md) is the dictionary of every field.\n"
    yield from (f"{note}\n" for note in language.notes)
    yield "## Any legal move\n"
    yield from _sources(name, "random")
    yield "## Rules of thumb\n"
    if name == "python":
        yield "The sample bot `careful`. In every other language there is one that decides the same, turn by turn.\n"
    else:
        yield "The sample bot `careful` decides like the one in Python in all of 10,000 recorded turns, which a test holds.\n"
    yield from _sources(name, "careful")


def _sources(name: str, bot: str) -> Iterator[str]:
    for file, what in sources(name, bot).items():
        suffix = "." + file.rpartition(".")[2]
        yield f"`{file}`: {what}.\n"
        yield f"```{{literalinclude}} ../../sample_bots/{name}/{bot}/{file}"
        yield f":language: {_COLOURS.get(suffix, LANGUAGES[name].code)}"
        yield "```\n"

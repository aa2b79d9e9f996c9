"""The wire contract: generated code, comments, numbers, names and sizes."""

import importlib.util
import keyword
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, FileDescriptor

from referee.cards import DIAMONDS, HEARTS, JACK, PACK, SUIT_NAMES, Card, card_text
from referee.protocol import wire
from referee.protocol.allfours.v1 import service_pb2
from referee.rules import actions, ruleset

PROTOS = Path(__file__).resolve().parents[2] / "protos"
BIG = 2**53 - 1
MOST_BYTES_OF_A_TURN = 400

# Words that a language reserves, so that its generated code would have to rename a field.
RESERVED = {
    "python": " ".join([*keyword.kwlist, *keyword.softkwlist]),
    "go": "break case chan const continue default defer else fallthrough for func go goto if import interface map package "
    "range return select struct switch type var",
    "rust": "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod "
    "move mut pub ref return self static struct super trait true type unsafe use where while abstract become box do final "
    "gen macro override priv try typeof unsized virtual yield",
    "java": "abstract assert boolean break byte case catch char class const continue default do double else enum extends "
    "final finally float for goto if implements import instanceof int interface long native new package private protected "
    "public return short static strictfp super switch synchronized this throw throws transient try void volatile while "
    "true false null var yield record sealed permits",
    "typescript": "break case catch class const continue debugger default delete do else enum export extends false "
    "finally for function if import in instanceof new null return super switch this throw true try typeof var void while "
    "with implements interface let package private protected public static yield any boolean constructor declare get "
    "module require number set string symbol type from of",
    "c++": "alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const consteval "
    "constexpr constinit continue decltype default delete do double else enum explicit export extern false float for "
    "friend goto if inline int long mutable namespace new noexcept not nullptr operator or private protected public "
    "register requires return short signed sizeof static struct switch template this throw true try typedef typeid "
    "typename union unsigned using virtual void volatile while xor",
    "c#": "abstract as base bool break byte case catch char checked class const continue decimal default delegate do "
    "double else enum event explicit extern false finally fixed float for foreach goto if implicit in int interface "
    "internal is lock long namespace new null object operator out override params private protected public readonly ref "
    "return sbyte sealed short sizeof stackalloc static string struct switch this throw true try typeof uint ulong "
    "unchecked unsafe ushort using virtual void volatile while",
}


@cache
def files() -> tuple[FileDescriptor, ...]:
    """All files of the contract, found from the service's."""
    found: dict[str, FileDescriptor] = {}
    waiting: list[FileDescriptor] = [service_pb2.DESCRIPTOR]
    while waiting:
        file = waiting.pop()
        if file.name not in found:
            found[file.name] = file
            waiting.extend(file.dependencies)
    events = wire.EventKind.DESCRIPTOR.file  # no message has a field of this enum, so nothing imports its file
    return (*found.values(), events)


def messages() -> Iterator[Descriptor]:
    return (message for file in files() for message in file.message_types_by_name.values())


def enums() -> Iterator[EnumDescriptor]:
    return (enum for file in files() for enum in file.enum_types_by_name.values())


def fields() -> Iterator[FieldDescriptor]:
    return (field for message in messages() for field in message.fields)


def program(name: str) -> str:
    """A console script of this environment."""
    return str(Path(sysconfig.get_path("scripts")) / name)


@cache
def generator() -> ModuleType:
    """``protos/generate.py`` as a module."""
    spec = importlib.util.spec_from_file_location("generate", PROTOS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TestGeneratedCode:
    def test_is_what_the_protos_generate(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert generator().main(["--check"]) == 0, capsys.readouterr().err

    def test_every_proto_was_looked_at(self) -> None:
        assert {file.name for file in files()} == {str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto")}

    def test_a_difference_is_found_and_named(self, tmp_path: Path) -> None:
        for name, texts in {"old": {"a": "1", "b": "1", "left": "1"}, "new": {"a": "1", "b": "2", "more": "1"}}.items():
            (tmp_path / name).mkdir()
            for file, text in texts.items():
                (tmp_path / name / file).write_text(text, "utf-8")
        found = generator().differences(tmp_path / "old", tmp_path / "new")
        assert found == ["b is out of date", "left is left over", "more is missing"]

    def test_check_prints_the_remedy(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(generator(), "PROTOCOL", tmp_path)  # nothing was ever generated there
        assert generator().main(["--check"]) == 1
        assert "run `python protos/generate.py`" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []

    def test_wire_has_every_message_enum_and_value(self) -> None:
        wanted = {message.name for message in messages()} | {enum.name for enum in enums()}
        wanted |= {value.name for enum in enums() for value in enum.values}
        assert wanted - set(dir(wire)) == set()

    def test_messages_do_not_load_grpc(self) -> None:
        code = "import sys; from referee.protocol import wire; sys.exit('grpc' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestStyle:
    @pytest.mark.parametrize("arguments", [("lint",), ("format", "-d", "--exit-code")], ids=" ".join)
    def test_buf_finds_nothing(self, arguments: tuple[str, ...]) -> None:
        command, *options = arguments
        done = subprocess.run(
            [program("buf"), command, str(PROTOS), *options], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def test_everything_has_a_comment(self, tmp_path: Path) -> None:
        out, names = tmp_path / "set", ["--include_source_info", *(file.name for file in files())]
        subprocess.run(
            [sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTOS}", f"--descriptor_set_out={out}", *names],
            check=True,
        )
        bare = []
        for file in descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file:
            told = {tuple(place.path) for place in file.source_code_info.location if place.leading_comments.strip()}
            bare += [f"{file.name}: {name}" for path, name in _commentable(file) if path not in told]
        assert bare == []

    @pytest.mark.parametrize("language", RESERVED)
    def test_no_field_is_called_after_a_keyword(self, language: str) -> None:
        words = set(RESERVED[language].split())
        assert {field.full_name for field in fields() if field.name in words} == set()

    def test_protos_import_nothing_from_elsewhere(self) -> None:
        assert {file.name for file in files() if not file.name.startswith("allfours/v1/")} == set()


def _commentable(file: descriptor_pb2.FileDescriptorProto) -> Iterator[tuple[tuple[int, ...], str]]:
    """The path, as source info counts it, and the name of everything in a file that must have a comment."""
    for m, message in enumerate(file.message_type):
        yield (4, m), message.name
        yield from (((4, m, 2, f), f"{message.name}.{field.name}") for f, field in enumerate(message.field))
        assert not message.nested_type
        assert not message.enum_type
    for e, enum in enumerate(file.enum_type):
        yield (5, e), enum.name
        yield from (((5, e, 2, v), value.name) for v, value in enumerate(enum.value))
    for s, service in enumerate(file.service):
        yield (6, s), service.name
        yield from (((6, s, 2, c), method.name) for c, method in enumerate(service.method))


class TestNumbers:
    def test_cards_are_the_cards_of_the_project(self) -> None:
        expected = {"CARD_UNSPECIFIED": 0} | {f"CARD_{card_text(card)}": card for card in PACK}
        assert dict(wire.Card.items()) == expected

    def test_a_suit_is_one_more_than_a_card_says(self) -> None:
        expected = {"SUIT_UNSPECIFIED": 0} | {f"SUIT_{name.upper()}": suit + 1 for suit, name in enumerate(SUIT_NAMES)}
        assert dict(wire.Suit.items()) == expected

    @pytest.mark.parametrize(
        ("prefix", "enum", "domain"),
        [
            ("CALL_", wire.Call, actions.Call),
            ("TURN_KIND_", wire.TurnKind, actions.Kind),
            ("EVENT_KIND_", wire.EventKind, actions.EventKind),
        ],
    )
    def test_kinds_and_calls_are_those_of_the_rules(self, prefix: str, enum: object, domain: object) -> None:
        numbers = {f"{prefix}{member.name}": member.value for member in domain}  # type: ignore[attr-defined]
        assert dict(enum.items()) == {f"{prefix}UNSPECIFIED": 0} | numbers  # type: ignore[attr-defined]

    def test_every_house_rule_is_on_the_wire_by_its_name(self) -> None:
        house = set(ruleset.meanings()) - {"players"} | {"min_players", "max_players"}
        assert set(wire.RuleSet.DESCRIPTOR.fields_by_name) == house | {"rule_set_id", "house_rules"}

    def test_every_value_of_a_house_rule_has_a_number(self) -> None:
        for field in wire.RuleSet.DESCRIPTOR.fields:
            if field.enum_type is not None:
                values = ruleset.allowed_values(field.name)
                assert values is not None
                expected = {f"{field.name.upper()}_{str(value).upper()}" for value in values}
                unspecified = f"{field.name.upper()}_UNSPECIFIED"
                assert set(field.enum_type.values_by_name) == expected | {unspecified}, field.name

    def test_repeated_numbers_are_packed(self) -> None:
        scalar = [f for f in fields() if f.is_repeated and f.message_type is None and f.type != f.TYPE_STRING]
        assert len(scalar) > 10
        assert [field.full_name for field in scalar if not field.is_packed] == []

    def test_absent_and_zero_differ_where_zero_is_an_answer(self) -> None:
        optional = {"Move.bid", "Move.card", "Move.call", "Move.suit", "Turn.trick_leader", "Turn.pitcher"}
        optional |= {"DealOver.pitcher", "Join.max_in_flight", "Joined.commitment"}
        found = {f.full_name.removeprefix("allfours.v1.") for f in fields() if f.has_presence and not f.message_type}
        assert found == optional


def event(kind: int, seat: int, value: int) -> int:
    return actions.pack_event(kind, seat, value)


def common(seats: int, hand: Sequence[Card], history: list[int]) -> wire.Turn:
    """A turn with every figure as large as it gets."""
    return wire.Turn(
        turn_id=BIG,
        game_id=BIG,
        bot_seed=BIG,
        seat=seats - 1,
        seats=seats,
        hand=hand,  # type: ignore[arg-type]
        history=history,
        scores=[-100] * seats,
        set_backs=[50] * seats,
        deal=99,
        decision=1000,
        dealer=seats - 2,
        retry=1,
        rule_set_id=200,
        pitcher=seats - 1,
        bid=14,
        target=62,
        stock_count=16,
        move_ms=600_000,
        bank_ms=3_600_000,
    )


def pitch_turn() -> wire.Turn:
    """Seven players of Auction Pitch: the last card but none of the last trick."""
    bids = [event(wire.EVENT_KIND_BID, seat, 2 if seat == 6 else 0) for seat in range(7)]
    plays = [event(wire.EVENT_KIND_PLAY, i % 7, card) for i, card in enumerate(PACK[:41])]
    turn = common(7, PACK[41:42], bids + plays)
    turn.kind = wire.TURN_KIND_PLAY
    turn.trump = wire.SUIT_SPADES
    turn.trick.extend(PACK[35:41])  # type: ignore[arg-type]
    turn.trick_leader = 0
    turn.options.cards.extend(PACK[41:42])  # type: ignore[arg-type]
    return turn


def cinch_robbing() -> wire.Turn:
    """The dealer of Cinch with all 25 cards in hand, after three discards with cards shown."""
    hand = PACK[27:]
    shown = PACK[:3]
    history = [event(wire.EVENT_KIND_BID, seat, seat + 1) for seat in range(4)]
    history.append(event(wire.EVENT_KIND_NAME_TRUMP, 3, HEARTS))
    for seat in range(3):
        history.append(event(wire.EVENT_KIND_DISCARD, seat, 9))
        history.append(event(wire.EVENT_KIND_SHOW, seat, shown[seat]))
        history.append(event(wire.EVENT_KIND_DRAW, seat, 6))
    history.append(event(wire.EVENT_KIND_DRAW, 3, 16))
    turn = common(4, hand, history)
    turn.kind = wire.TURN_KIND_DISCARD
    turn.sides = 2
    turn.trump = wire.SUIT_HEARTS
    turn.options.keep.may_keep.extend(hand)  # type: ignore[arg-type]
    turn.options.keep.count = 6
    return turn


def cinch_last_play() -> wire.Turn:
    """The last play of a deal of Cinch, on top of all that was said and laid away before."""
    turn = cinch_robbing()
    turn.history.extend(event(wire.EVENT_KIND_PLAY, i % 4, card) for i, card in enumerate(PACK[:23]))
    turn.kind = wire.TURN_KIND_PLAY
    turn.discards.extend(turn.hand[:19])
    del turn.hand[1:]
    turn.options.Clear()
    turn.options.cards.extend(turn.hand)
    return turn


@pytest.mark.parametrize("build", [pitch_turn, cinch_robbing, cinch_last_play])
def test_a_fat_turn_is_small(build: object) -> None:
    turn = build()  # type: ignore[operator]
    message = turn.SerializeToString()
    assert wire.Turn.FromString(message) == turn
    assert len(message) < MOST_BYTES_OF_A_TURN


def test_an_event_unpacks_as_the_comment_says() -> None:
    number = wire.EVENT_KIND_PLAY << 16 | 6 << 8 | wire.CARD_AS
    back = wire.Turn.FromString(wire.Turn(history=[number]).SerializeToString()).history[0]
    assert (back >> 16, back >> 8 & 255, back & 255) == (wire.EVENT_KIND_PLAY, 6, wire.CARD_AS)


def test_card_arithmetic_holds_on_the_wire() -> None:
    card = wire.CARD_JD
    assert (card >> 4, card & 15, (card >> 4) + 1) == (DIAMONDS, JACK, wire.SUIT_DIAMONDS)


def test_a_doubled_value_can_be_seen() -> None:
    move = wire.Move.FromString(wire.Move(turn_id=1, bid=0, card=wire.CARD_QH).SerializeToString())
    assert [name for name in ("bid", "card", "call", "suit") if move.HasField(name)] == ["bid", "card"]


def test_a_number_that_is_no_card_survives_for_the_judge() -> None:
    raw = b"\x08\x01\x18\xff\x01"  # turn 1, card 255
    assert wire.Move.FromString(raw).card == 255

"""Whole deals written down as data: a script stacks them and says how they are played (``referee play --script``)."""

import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from referee.cards import PACK, Card, CardError, parse_cards
from referee.check.cases import stack
from referee.rules import Action, Deal, Game, Kind, RuleSet, RuleSetError, legal_text, parse_action, variant
from referee.rules.actions import seat_text
from referee.umpire.events import DealClosed, GameSpec, Output, Ruled, Ruling, TimeLimits
from referee.umpire.fallback_player import fallback_move
from referee.umpire.faults import Profile
from referee.umpire.notation.page import Page
from referee.umpire.notation.style import Style, party, wrapped
from referee.umpire.record import IrregularRecord
from referee.umpire.umpire import Umpire
from referee.umpire.view import Chair, Turn

FIELDS: Final = frozenset({"variant", "rules", "seats", "dealer", "scores", "set_backs", "deal"})
DEAL_FIELDS: Final = frozenset({"hands", "pack", "stock", "said"})
PROFILE: Final = Profile("script", retries=1_000_000, forfeit_after=0)


class ScriptError(ValueError):
    """A script that is garbled or cannot come about; the message names the file, the field or word, and the remedy."""


@dataclass(frozen=True, slots=True)
class ScriptedDeal:
    """One deal: the whole pack, or what is known of hands (by seat) and stock; and the words as they are said."""

    pack: tuple[Card, ...]
    hands: tuple[tuple[Card, ...], ...]
    stock: tuple[Card, ...]
    words: tuple[str, ...]

    def stacked(self, rules: RuleSet, dealer: int) -> tuple[Card, ...]:
        """The pack that this dealer deals; raises ``ValueError`` if there is none."""
        return self.pack or stack(rules, self.hands, dealer, self.stock)


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What is dealt and said. ``scores`` and ``set_backs`` are by side, before the first deal; empty = all zero.

    ``name`` is that of the file, for errors.
    """

    rules: RuleSet
    seats: int
    dealer: int
    deals: tuple[ScriptedDeal, ...]
    scores: tuple[int, ...] = ()
    set_backs: tuple[int, ...] = ()
    name: str = "script"


@dataclass(frozen=True, slots=True)
class Wrong:
    """A word that was ruled upon: in which deal (from 1), after how many actions of it, the ruling, what was said."""

    deal: int
    step: int
    ruling: Ruling
    action: Action


@dataclass(slots=True)
class Played:
    """What came of a script: its umpire, the deals that were closed, the rulings, and who is asked now."""

    script: Script
    umpire: Umpire
    closed: list[DealClosed] = field(default_factory=list)
    wrong: list[Wrong] = field(default_factory=list)
    asked: Turn | None = None

    def text(self, *, symbols: bool = True) -> str:
        """As a person would write it down; ``symbols`` writes suits as symbols."""
        style = Style(symbols)
        lines = [line for number, _ in enumerate(self.script.deals, 1) for line in _page(self, number, style)]
        return "\n".join(line.rstrip() for line in [*lines, *_last_lines(self, style)]).lstrip("\n")

    def to_json(self) -> dict[str, Any]:
        """As JSON values: deals with their items and scores, rulings, the result if the game is over, who is asked."""
        result = self.umpire.result
        return {
            "format": "allfours-script/1",
            "deals": [_deal_json(closed) for closed in self.closed],
            "rulings": [_ruling_json(wrong) for wrong in self.wrong],
            "result": None
            if result is None
            else {
                "winner": result.winner,
                "reason": str(result.reason),
                "scores": list(result.scores),
                "places": list(result.places),
                "stakes": list(result.stakes),
            },
            "asked": None if self.asked is None else _asked_json(self.asked),
        }


def read_script(text: str, name: str) -> Script:
    """The script of a file; raises ``ScriptError``, which names the file by ``name``."""
    try:
        return replace(_script(tomllib.loads(text)), name=name)
    except RecursionError:
        raise ScriptError(f"{name}: it is nested too deeply: take brackets away") from None
    except (tomllib.TOMLDecodeError, CardError, RuleSetError, ValueError, TypeError) as error:
        raise ScriptError(f"{name}: {error}") from None


def _script(data: Mapping[str, Any]) -> Script:
    _check_fields(data, FIELDS, "the file")
    rules = variant(str(data.get("variant", "auction-pitch"))).with_rules(
        {key: tuple(value) if isinstance(value, list) else value for key, value in data.get("rules", {}).items()}
    )
    entries = data.get("deal", [])
    if not entries:
        raise ScriptError("there is no deal: write [[deal]] and what is said in it")
    seats = int(data.get("seats") or len(entries[0].get("hands", ())) or 4)
    dealer = int(data.get("dealer", seats - 1))
    scores, set_backs = tuple(data.get("scores", ())), tuple(data.get("set_backs", ()))
    Game(rules, seats, dealer, scores, set_backs)  # whether there can be such a game
    deals = []
    for number, entry in enumerate(entries, 1):
        try:
            deal = _deal(entry, seats)
            Deal(rules, seats, dealer, deal.stacked(rules, dealer))  # whether it can be dealt
        except (CardError, ValueError, TypeError) as error:
            raise ScriptError(f"deal {number}: {error}") from None
        deals.append(deal)
    return Script(rules=rules, seats=seats, dealer=dealer, deals=tuple(deals), scores=scores, set_backs=set_backs)


def _check_fields(data: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    unknown = sorted(data.keys() - known)
    if unknown:
        raise ScriptError(f"{where} has a field {unknown[0]!r}; there are {', '.join(sorted(known))}")


def _deal(entry: Mapping[str, Any], seats: int) -> ScriptedDeal:
    _check_fields(entry, DEAL_FIELDS, "it")
    if "pack" in entry and ("hands" in entry or "stock" in entry):
        raise ScriptError("pack says all of it: leave hands and stock out")
    hands = entry.get("hands", [""] * seats)
    if len(hands) != seats:
        raise ScriptError(f'hands has {len(hands)} entries: write one for each of the {seats} seats, "" for any')
    return ScriptedDeal(
        parse_cards(entry.get("pack", "")),
        tuple(parse_cards(hand) for hand in hands),
        parse_cards(entry.get("stock", "")),
        tuple(_words(entry.get("said", ()))),
    )


def _words(said: Sequence[str] | str) -> Iterator[str]:
    for line in [said] if isinstance(said, str) else said:
        whole = line.startswith(("keep", "name"))
        yield from [line.removeprefix("name ")] if whole else line.split()


def play_script(script: Script) -> Played:
    """Plays it under the umpire; raises ``ScriptError`` for a word that says nothing, or comes when nobody is asked."""
    chairs = tuple(Chair(game_id=1, seat=seat, seats=script.seats, rules=script.rules) for seat in range(script.seats))
    spec = GameSpec(
        key="script",
        rules=script.rules,
        chairs=chairs,
        first_dealer=script.dealer,
        profile=PROFILE,
        limits=TimeLimits(),
    )
    game = Game(script.rules, script.seats, script.dealer, script.scores, script.set_backs)

    def pack(number: int) -> Sequence[Card]:
        """What is dealt: behind the last deal of the script anything, for nobody plays it."""
        return script.deals[number].stacked(script.rules, game.dealer) if number < len(script.deals) else PACK

    umpire = Umpire(spec, pack, itertools.count(1).__next__, fallback_move)
    umpire.game = game
    played = Played(script, umpire)
    _take(played, umpire.start(), 0)
    for number, deal in enumerate(script.deals, 1):
        try:
            _play_deal(played, number, deal.words)
        except ScriptError as error:
            raise ScriptError(f"{script.name}: deal {number}: {error}") from None
    return played


def _play_deal(played: Played, number: int, words: Sequence[str]) -> None:
    """Says the words of one deal, which may be over before the first."""
    umpire = played.umpire
    if len(played.closed) < number - 1:
        raise ScriptError(f"the words of deal {number - 1} end before it does")
    if umpire.closed and len(played.closed) < number:
        raise ScriptError("the game is over before it")
    for place, word in enumerate(words, 1):
        turn = umpire.open
        if turn is None or len(played.closed) >= number:
            raise ScriptError(f"word {place} ({word}): the deal is over before it")
        try:
            action = parse_action(turn.kind, word)
        except ValueError as error:
            asked = f"{seat_text(turn.chair.seat)} is asked for a {_KINDS[turn.kind]}"
            raise ScriptError(f"word {place} ({word}): {asked}: {error}") from None
        _take(played, umpire.answer(turn.turn_id, action, 0), action)
    if len(played.closed) < number:
        played.asked = umpire.open


def _take(played: Played, outputs: Sequence[Output], action: Action) -> None:
    for output in outputs:
        if isinstance(output, Ruled):
            step = len(played.umpire.deals[-1].actions)
            played.wrong.append(Wrong(len(played.closed) + 1, step, output.ruling, action))
        elif isinstance(output, DealClosed) and len(played.closed) < len(played.script.deals):
            played.closed.append(output)


def _page(played: Played, number: int, style: Style) -> list[str]:
    """One deal, played again from its log."""
    rules, seats, log = played.script.rules, played.script.seats, played.umpire.deals[number - 1]
    deal, page = Deal(rules, seats, log.dealer, log.pack, log.scores), Page(style, rules, seats)
    wrong = [one for one in played.wrong if one.deal == number]
    page.begin(number, deal)
    for step, action in enumerate((*log.actions, None)):
        for one in wrong:
            if one.step == step and deal.kind is not None:
                page.rule(_entry(one), deal.kind, action)
        if action is not None:
            deal.act(action)
            page.follow(deal)
    if number <= len(played.closed):
        page.end(played.closed[number - 1].outcome, played.closed[number - 1].scores)
    page.flush()
    return page.lines


_KINDS: Final = {
    Kind.BID: "bid",
    Kind.STAND_OR_BEG: "word: stand or beg",
    Kind.ANSWER_BEG: "word: give or run",
    Kind.NAME_TRUMP: "suit as trump",
    Kind.DISCARD: 'line "keep ..."',
    Kind.PLAY: "card",
}


def _entry(wrong: Wrong) -> IrregularRecord:
    """A wrong word as the record of a game would hold it."""
    ruling = wrong.ruling
    return {
        "step": wrong.step,
        "seat": ruling.seat,
        "fault": str(ruling.fault),
        "rule": ruling.rule,
        "sentence": ruling.sentence,
        "consequence": str(ruling.consequence),
        "action": wrong.action,
        "charged_us": 0,
    }


def _last_lines(played: Played, style: Style) -> Iterator[str]:
    """How the game stands when the words are at their end."""
    script, result, asked = played.script, played.umpire.result, played.asked
    yield ""
    if result is not None:
        who = "Nobody" if result.winner is None else party(result.winner, script.rules, script.seats)
        yield f"  The game is over: {who} ({result.reason}). Scores {', '.join(map(str, result.scores))}."
    elif asked is not None:
        told = style.cards_in_text(legal_text(asked.kind, asked.legal))
        who = _capital(seat_text(asked.chair.seat))
        yield from wrapped(
            f"The words end here. {who} is asked for a {_KINDS[asked.kind]}. Legal: {told}", "  ", "    "
        )
    else:
        yield f"  The words end here. {_capital(seat_text(played.umpire.game.dealer))} deals next."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _deal_json(closed: DealClosed) -> dict[str, Any]:
    outcome = closed.outcome
    return {
        "dealer": outcome.dealer,
        "ending": str(outcome.ending),
        "pitcher": outcome.pitcher,
        "bid": outcome.bid,
        "trump": outcome.trump,
        "items": [
            {"item": award.item, "seat": award.seat, "points": award.points, "card": award.card}
            for award in outcome.awards
        ],
        "pips": list(outcome.pips),
        "made": list(outcome.made),
        "deltas": list(outcome.deltas),
        "set_back": outcome.set_back,
        "scores": list(closed.scores),
    }


def _ruling_json(wrong: Wrong) -> dict[str, Any]:
    ruling = wrong.ruling
    return {
        "deal": wrong.deal,
        "seat": ruling.seat,
        "rule": ruling.rule,
        "sentence": ruling.sentence,
        "action": wrong.action,
        "legal": legal_text(ruling.kind, ruling.legal) if ruling.kind is not None else "",
    }


def _asked_json(turn: Turn) -> dict[str, Any]:
    return {"seat": turn.chair.seat, "kind": turn.kind.name, "legal": legal_text(turn.kind, turn.legal)}

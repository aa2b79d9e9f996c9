"""A replay as compact JSON, for the replay in the page. ``templates/replay.js`` reads it.

A card is a letter, A..Z then a..z in ascending order of the pack; a hand is a text of letters. A step is
``[seat, kind, action, legal, more]``: the action of a play is a letter, of a discard the letters kept, else a number;
``legal`` is a text of letters for plays, a list of numbers for calls, or what may be kept as ``[must, may, size]``;
``more`` holds what a step changes beyond the obvious, by short names, and is left out where there is nothing. ``q`` of a
deal is what was to be decided when the game ended inside it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from referee.cards import PACK, Card, Mask, cards_in
from referee.report.clauses import clause
from referee.report.game_replay import GameReplay, ReplayDeal, ReplayRuling, ReplayStep
from referee.report.sanitize import sanitize
from referee.rules import Action, EventKind, Keeps, Kind, Outcome, action_text, legal_text
from referee.rules.actions import pack_event
from referee.umpire.faults import Fault

_LETTERS: Final = {card: chr(ord("A") + i) if i < 26 else chr(ord("a") + i - 26) for i, card in enumerate(PACK)}


def to_script(replays: Iterable[Mapping[str, Any]]) -> str:
    """JSON for a ``script`` element: nothing in it can end the element or begin another."""
    text = json.dumps(list(replays), separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def replay_json(game_replay: GameReplay, why: Sequence[str] = ()) -> dict[str, Any]:
    """The replay as plain JSON values. ``why``: what the game is shown for, in a few words each."""
    sides = game_replay.rules.side_count(game_replay.seats)
    return {
        "n": game_replay.number,
        "why": list(why),
        "title": game_replay.rules.title,
        "target": game_replay.rules.target,
        "items": game_replay.rules.scoring == "items",
        "names": game_replay.names,
        "sides": [game_replay.side_name(side) for side in range(sides)],
        "side": [game_replay.side(seat) for seat in range(game_replay.seats)],
        "winner": game_replay.winner,
        "reason": game_replay.reason,
        "scores": game_replay.scores,
        "forfeits": game_replay.forfeits,
        "deals": [_deal(deal) for deal in game_replay.deals],
        "rulings": [_ruled(ruled, game_replay) for ruled in game_replay.rulings],
    }


def _letters(cards: Iterable[Card]) -> str:
    return "".join(_LETTERS[card] for card in cards)


def _hand(mask: Mask) -> str:
    return _letters(cards_in(mask))


def _deal(deal: ReplayDeal) -> dict[str, Any]:
    data: dict[str, Any] = {
        "d": deal.dealer,
        "from": deal.scores,
        "to": deal.after,
        "h": [_hand(hand) for hand in deal.hands],
        "u": _letters(deal.stock),
        "steps": _steps(deal),
    }
    if deal.opening:
        data["e"] = deal.opening
    if deal.trump is not None:
        data["t"] = deal.trump
    if deal.turn_up is not None:
        data["c"] = _LETTERS[deal.turn_up]
    if deal.pending is not None:
        data["q"] = [deal.pending.seat, int(deal.pending.kind), _legal(deal.pending.kind, deal.pending.legal)]
    if deal.outcome is not None:
        data["o"] = _outcome(deal.outcome)
    return data


def _steps(deal: ReplayDeal) -> list[list[Any]]:
    made = []
    hands, state = deal.hands, {"t": deal.trump, "p": None, "b": 0, "n": len(deal.stock), "c": deal.turn_up}
    for step in deal.steps:
        now = {"t": step.trump, "p": step.pitcher, "b": step.bid, "n": step.stock, "c": step.turn_up}
        more = _more(step, hands) | {name: value for name, value in now.items() if value != state[name]}
        if more.get("c") is not None:
            more["c"] = _LETTERS[more["c"]]
        made.append(
            [step.seat, int(step.kind), _action(step), _legal(step.kind, step.legal), *([more] if more else [])]
        )
        hands, state = step.hands, now
    return made


def _more(step: ReplayStep, before: Sequence[Mask]) -> dict[str, Any]:
    """What a step does to hands and tricks beyond the obvious, and events that do not follow from its action."""
    changed = {
        str(seat): _hand(now)
        for seat, (now, hand) in enumerate(zip(step.hands, before, strict=True))
        if now != _after(hand, step, seat)
    }
    more: dict[str, Any] = {} if step.events == (_obvious(step),) else {"e": step.events}
    if changed:
        more["h"] = changed
    if step.trick_to is not None:
        more["w"] = step.trick_to
    if step.by_house:
        more["x"] = 1
    return more


def _after(hand: Mask, step: ReplayStep, seat: int) -> Mask:
    """A hand after a step in which nothing happens but the play of a card."""
    return hand & ~(1 << step.action) if step.kind is Kind.PLAY and seat == step.seat else hand


def _obvious(step: ReplayStep) -> int:
    kind = {Kind.PLAY: EventKind.PLAY, Kind.BID: EventKind.BID, Kind.NAME_TRUMP: EventKind.NAME_TRUMP}.get(step.kind)
    return pack_event(kind, step.seat, step.action) if kind is not None else -1


def _action(step: ReplayStep) -> str | int:
    if step.kind is Kind.PLAY:
        return _LETTERS[step.action]
    return _hand(step.action) if step.kind is Kind.DISCARD else step.action


def _legal(kind: Kind, legal: Sequence[Action]) -> Any:
    if isinstance(legal, Keeps):
        return [_hand(legal.must), _hand(legal.may), legal.size]
    if kind is Kind.PLAY:
        return _letters(sorted(legal))
    return list(legal)


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "ending": str(outcome.ending),
        "pitcher": outcome.pitcher,
        "bid": outcome.bid,
        "trump": outcome.trump,
        "awards": [
            [award.item, award.seat, award.points, None if award.card is None else _LETTERS[award.card]]
            for award in outcome.awards
        ],
        "pips": outcome.pips,
        "made": outcome.made,
        "deltas": outcome.deltas,
        "setBack": outcome.set_back,
    }


def _ruled(ruled: ReplayRuling, game_replay: GameReplay) -> dict[str, Any]:
    """A ruling with the clause in full; ``tried`` is what was answered, ``card`` the letter of a card that was played."""
    item = ruled.item
    data: dict[str, Any] = {
        "deal": ruled.place.deal,
        "step": ruled.place.step,
        "seat": item.seat,
        "fault": str(item.fault),
        "rule": item.rule,
        "clause": clause(item.rule, game_replay.rules) or _meaning(item.fault),
        "says": sanitize(item.sentence),
        "then": str(item.consequence),
    }
    if item.action is not None and ruled.kind is not None:
        data["tried"] = sanitize(action_text(ruled.kind, item.action), 120)
        if ruled.kind is Kind.PLAY and item.action in _LETTERS:
            data["card"] = _LETTERS[item.action]
    elif item.raw:
        data["tried"] = f"bytes {sanitize(item.raw, 64)}"
    if ruled.kind is not None:
        data["legal"] = sanitize(legal_text(ruled.kind, ruled.legal), 200)
    return data


def _meaning(fault: Fault) -> str:
    from referee.umpire.faults import FAULTS

    return next((entry.meaning for entry in FAULTS if entry.fault is fault), "")

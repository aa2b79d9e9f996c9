"""A witness on disk: all that is needed to show one breach again, and to understand it without a referee at hand."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from google.protobuf.json_format import MessageToDict

import referee
from referee.check.plan import Plan
from referee.check.position import GamePrefix, Position, PositionError
from referee.check.requirements import Requirement
from referee.check.scene import scene_of
from referee.check.shrink import Witness
from referee.league.definition.toml_file import write_text
from referee.protocol.translate import move_message, turn_message
from referee.rules import Kind, RuleSet

FORMAT: Final = "allfours-check-witness/1"
ALONE: Final = "nothing else"


_NEEDS: Final = {
    "position": ALONE,
    "batch": "the other turns of its message",
    "game": "the history of its game",
    "run": "the history of its game",
    "": "something unknown: it was not seen again",
}


_GONE: Final = frozenset({"CRASH", "DISCONNECT", "TIMEOUT_MOVE"})
"""Faults that end a process, so that what shows them again is a fresh one."""


class WitnessError(ValueError):
    """A witness that cannot be read; the message names the file and what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a witness without a position of its own is shown again by: the same check, as far as the breach."""

    games: tuple[RuleSet, ...]
    seats: tuple[int, ...]
    seed: str
    seconds: float
    deals: int | None
    long_deals: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredWitness:
    """A witness as it was read from disk. ``always``: it failed every time; ``confirmed``: in a fresh process too.

    ``shown_by`` says what showed the breach again during the check: its "position", the "batch" that it came in, the
    "game" that led there, or the whole "run"; it is empty where nothing did. ``courses`` are the games that may have.
    """

    path: Path
    rule: str
    key: str
    bot: str
    digest: str
    edition: str
    position: Position | None
    perturbation: str
    shown_by: str
    batch: tuple[Position, ...]
    courses: tuple[GamePrefix, ...]
    always: bool
    confirmed: bool
    run: Run
    fault: str


def witness_json(
    witness: Witness,
    requirement: Requirement,
    plan: Plan,
    sandbox: str,
    games: Sequence[RuleSet],
    deals_played: int = 0,
) -> dict[str, Any]:
    """A witness as JSON values. ``deals_played`` is how many deals the check came to."""
    breach = witness.breach
    alone = witness.stands_alone
    return {
        "format": FORMAT,
        "rule": requirement.id,
        "key": requirement.key,
        "title": requirement.clause.title,
        "sentence": requirement.sentence,
        "level": str(requirement.clause.level),
        "edition": plan.selection.edition,
        "fault": str(breach.fault),
        "what": breach.sentence,
        "bot": {"name": plan.name, "version": plan.version, "digest": plan.digest},
        "sandbox": sandbox,
        "referee": referee.__version__,
        "phase": breach.phase,
        "origin": breach.origin,
        "poke": breach.perturbation,
        "needs": ALONE if alone else _NEEDS[witness.shown_by],
        "shown_by": witness.shown_by,
        "asked_again": {"tries": witness.tries, "broke": witness.broke, "fresh": witness.fresh},
        "scene": scene_of(breach),
        "position": breach.position.to_json() if breach.position else None,
        "batch": [position.to_json() for position in breach.batch] if witness.shown_by in ("batch", "") else [],
        "games": [course.to_json() for course in breach.courses] if witness.shown_by in ("game", "") else [],
        "messages": _messages(witness) or list(breach.talk),
        "log_tail": breach.log_tail,
        "run": {
            "games": [rules.as_dict() for rules in games],
            "seats": list(plan.seats),
            "seed": plan.seed,
            "seconds": plan.seconds,
            "deals": plan.deals,
            "deals_played": deals_played,
            "long_deals": plan.long_deals,
            "answers_before": breach.number,
        },
    }


def _messages(witness: Witness) -> list[dict[str, Any]]:
    """The turn, and the move that was the answer to it."""
    position, action = witness.breach.position, witness.breach.action
    if position is None:
        return []
    turn = position.turn()
    said: list[dict[str, Any]] = [{"from": "referee", "message": {"turns": [_plain(turn_message(turn))]}}]
    if action is not None and _can_be_said(turn.kind, action):
        said.append({"from": "bot", "message": {"moves": [_plain(move_message(turn.turn_id, turn.kind, action))]}})
    return said


def _can_be_said(kind: Kind, action: int) -> bool:
    return kind is not Kind.DISCARD or action >= 0


def _plain(message: Any) -> dict[str, Any]:
    return MessageToDict(message, preserving_proto_field_name=True)


def write_witness(data: Mapping[str, Any], folder: Path) -> Path:
    """Writes a witness to ``folder`` as ``RULE-DIGEST.json``; the digest is over rule and position."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps([data["key"], data["position"], data["poke"], data["what"]], sort_keys=True)
    path = folder / f"{data['rule']}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"
    write_text(path, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    return path


def read_witnesses(path: Path) -> list[StoredWitness]:
    """The witness in a file, or all in a folder; raises ``WitnessError``, also if there is none at all."""
    if path.is_dir():
        found = [read_witness(file) for file in sorted(path.glob("AF-*.json"))]
        if not found:
            raise WitnessError(f"{path}: no witness (AF-*.json) is in this folder")
        return found
    return [read_witness(path)]


def read_witness(path: Path) -> StoredWitness:
    """The witness in a file; raises ``WitnessError``."""
    if path.exists() and not path.is_file():  # a pipe would keep us for ever
        raise WitnessError(f"{path}: it is not a regular file; name a witness (AF-*.json), or a folder of them")
    try:
        data = json.loads(path.read_text("utf-8"))
        if data["format"] != FORMAT:
            raise WitnessError(f"{path}: format {data['format']!r} is not {FORMAT!r}")
        run = data["run"]
        return StoredWitness(
            path=path,
            rule=data["rule"],
            key=data["key"],
            bot=data["bot"]["name"],
            digest=data["bot"]["digest"],
            edition=data["edition"],
            position=Position.from_json(data["position"]) if data["position"] else None,
            perturbation=data["poke"],
            shown_by=data.get("shown_by", "position" if data["needs"] == ALONE else "run"),
            batch=tuple(map(Position.from_json, data.get("batch", ()))),
            courses=tuple(map(GamePrefix.from_json, data.get("games", ()))),
            always=data["asked_again"]["tries"] == data["asked_again"]["broke"],
            confirmed=data["asked_again"]["fresh"] is not None
            or not data["asked_again"]["tries"]
            or data["fault"] in _GONE,
            run=Run(
                games=tuple(RuleSet.from_dict(rules) for rules in run["games"]),
                seats=tuple(run["seats"]),
                seed=run["seed"],
                seconds=run["seconds"],
                deals=run["deals"] if run["deals"] is not None else run.get("deals_played") or None,
                long_deals=int(run["long_deals"]),
            ),
            fault=data["fault"],
        )
    except OSError as error:
        raise WitnessError(f"{path}: {error.strerror}") from None
    except (json.JSONDecodeError, RecursionError, UnicodeDecodeError):
        raise WitnessError(f"{path}: it is no JSON; name a witness (AF-*.json), or a folder of them") from None
    except PositionError as error:
        raise WitnessError(f"{path}: the rules do not allow this position any more: {error}") from None
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, WitnessError):
            raise
        raise WitnessError(f"{path}: it lacks or garbles {error}") from None

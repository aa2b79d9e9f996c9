"""Faults of a definition that no section shows alone: whether its sections make sense together."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from referee.league.definition.fields import (
    BotSection,
    HostSection,
    LimitsSection,
    PairSection,
    PolicySection,
    ScheduleSection,
    TournamentSection,
)
from referee.league.definition.model_problems import FieldProblem
from referee.league.definition.problems import near, one_of, plain, shown
from referee.league.schedule.formats import FORMATS
from referee.rules import RuleSet, RuleSetError, variant
from referee.rules.ruleset import allowed_values, meanings

MOST_SEATS = 7
_FIXED = ("name", "title")


def findings(
    game: str | None,
    tournament: TournamentSection | None,
    changes: Mapping[str, Any],
    schedule: ScheduleSection | None,
    limits: LimitsSection | None,
    policy: PolicySection | None,
    bots: Sequence[BotSection | None],
) -> list[FieldProblem]:
    """Everything that does not fit together. ``game`` is the variant's name.

    A section (or name) that is faulty by itself is ``None`` and left out.
    """
    found: list[FieldProblem] = []
    if game:
        rules, found = _changed(variant(game), changes)
        if rules and tournament:
            found += _games_in_play(tournament, rules)
    if tournament and limits and limits.max_processes is not None and limits.max_processes < tournament.seats:
        remedy = f"write max_processes = {tournament.seats} or more, or leave it out"
        found.append(FieldProblem(("limits", "max_processes"), f"at least one a seat ({tournament.seats})", remedy))
    if schedule and policy:
        found += _remote(schedule, policy, bots)
    if schedule:
        found += _ladder(schedule, bots)
    return found


def hosting(schedule: ScheduleSection, host: HostSection | None) -> list[FieldProblem]:
    """What keeps a tournament from having a host."""
    if host is None or FORMATS[schedule.format].endless:
        return []
    return [FieldProblem(("host",), 'no [host] without format = "ladder"', 'write format = "ladder", or delete [host]')]


def _changed(rules: RuleSet, changes: Mapping[str, Any]) -> tuple[RuleSet | None, list[FieldProblem]]:
    """The rule set with the changes, or ``None`` and what is wrong with each of them."""
    found = [_unknown_rule(name) for name in changes if name not in _known_rules()]
    changes = {name: value for name, value in changes.items() if name in _known_rules()}
    while True:
        try:
            changed = rules.with_rules(changes)
        except RuleSetError as error:
            reason = str(error).removeprefix(f"{error.field}: ")
            if error.field not in changes:
                found.append(_clash(error.field, getattr(rules, error.field, None), reason))
                return None, found
            found.append(_wrong_value(error.field, changes.pop(error.field), reason))
        else:
            return (None if found else changed), found


def _known_rules() -> list[str]:
    return [name for name in meanings() if name not in _FIXED]


def _unknown_rule(name: str) -> FieldProblem:
    meant = near(name, _known_rules())
    remedy = f'did you mean "{meant}"?' if meant else "delete it"
    allowed = f"the house rules {', '.join(_known_rules())}"
    return FieldProblem(("rules", name), allowed, remedy, f"the unknown house rule {shown(name)}")


def _wrong_value(name: str, value: object, reason: str) -> FieldProblem:
    allowed = allowed_values(name)
    meant = near(value, [text for text in allowed or () if isinstance(text, str)])
    remedy = f'write {name} = "{meant}"' if meant else "change or delete it"
    told = reason.rpartition("makes no sense: ")[2].removeprefix(f"{value!r} is not ")
    words = one_of(allowed) if allowed and value not in allowed else plain(told)
    return FieldProblem(("rules", name), words, f"{remedy}. Its meaning: {meanings()[name]}")


def _clash(name: str, value: object, reason: str) -> FieldProblem:
    """The variant's own value does not go with the changes."""
    remedy = f"write a fitting {name} too, or undo the change that it does not go with"
    words = f"what goes with the other house rules: {plain(reason.rpartition('makes no sense: ')[2])}"
    return FieldProblem(("rules", name), words, remedy, f"{shown(value)}, as the variant has it")


def _games_in_play(tournament: TournamentSection, rules: RuleSet) -> Iterator[FieldProblem]:
    sensible = [seats for seats in range(2, MOST_SEATS + 1) if not _seats_fault(rules, seats)]
    fault = _seats_fault(rules, tournament.seats)
    if fault:
        remedy = f"write seats = {min(sensible, key=lambda seats: abs(seats - tournament.seats))}"
        yield FieldProblem(("tournament", "seats"), f"{one_of(sensible)} ({fault})", remedy)
    if tournament.objective == "stakes" and rules.settlement == "none":
        remedy = 'write objective = "place"'
        yield FieldProblem(
            ("tournament", "objective"), f'"place" or "points" ({rules.title} is not played for stakes)', remedy
        )


def _seats_fault(rules: RuleSet, seats: int) -> str:
    try:
        rules.check_seats(seats)
    except RuleSetError as error:
        return str(error).removeprefix(f"{error.field}: ")
    return ""


class _Whole(Protocol):
    """The parts of a definition that pairs have to fit."""

    @property
    def tournament(self) -> TournamentSection:
        """``[tournament]``."""

    @property
    def schedule(self) -> ScheduleSection:
        """``[schedule]``."""

    @property
    def policy(self) -> PolicySection:
        """``[policy]``."""

    @property
    def bots(self) -> Sequence[BotSection]:
        """``[[bots]]``."""

    @property
    def pairs(self) -> Sequence[PairSection] | None:
        """``[[pairs]]``."""

    def rule_set(self) -> RuleSet:
        """The rule set played."""


def pairing(definition: _Whole) -> list[FieldProblem]:
    """Pairs need a game of sides of two, bots that start here, and a schedule that knows them."""
    if not definition.pairs:
        return []
    where, rules, found = ("pairs",), definition.rule_set(), []
    if not rules.sides or definition.tournament.seats != 2 * rules.sides:
        allowed = f"no pairs where {rules.title} has {definition.tournament.seats} seats: no side has just two"
        found.append(
            FieldProblem(
                where, allowed, 'delete [[pairs]], or choose a game of partners: variant = "partnership-pitch"'
            )
        )
    if not FORMATS[definition.schedule.format].takes_pairs:
        allowed = f'no pairs where format = "{definition.schedule.format}"'
        found.append(FieldProblem(where, allowed, "delete [[pairs]]"))
    if definition.policy.checked:
        found.append(FieldProblem(where, "no pairs where [policy] checked = true", "delete checked, or [[pairs]]"))
    if any(bot.remote for bot in definition.bots):
        found.append(
            FieldProblem(where, "no pairs beside remote bots", "give the remote bot a path, or delete [[pairs]]")
        )
    return found


MOST_OF_THE_PANEL = 8


def _ladder(schedule: ScheduleSection, bots: Sequence[BotSection | None]) -> Iterator[FieldProblem]:
    """Owners and panel are for ladders; on a ladder no bot has copies, and the panel is small and has no owner."""
    ladder = FORMATS[schedule.format].endless
    if ladder and schedule.max_tables != ScheduleSection().max_tables:
        yield FieldProblem(("schedule", "max_tables"), "nothing here on a ladder, which draws its tables", "delete it")
    panel = [place for place, bot in enumerate(bots) if bot and bot.panel]
    for place, bot in enumerate(bots):
        if bot is None:
            continue
        for name in ("owner", "panel"):
            if not ladder and getattr(bot, name) is not None:
                remedy = 'delete it, or write format = "ladder" in [schedule]'
                yield FieldProblem(("bots", place, name), "nothing here but on a ladder", remedy)
        if not ladder:
            continue
        if bot.copies > 1:
            remedy = "delete copies; give another entry to another version"
            yield FieldProblem(("bots", place, "copies"), "one of each bot on a ladder", remedy)
        if bot.panel and bot.owner is not None:
            yield FieldProblem(("bots", place, "owner"), "no owner of a bot of the panel", "delete owner, or panel")
        if bot.panel and bot.bots_from is not None:
            yield FieldProblem(
                ("bots", place, "panel"), "no panel of submitted bots", "give the bot an entry of its own with path"
            )
        if bot.owner is not None and bot.bots_from is not None:
            remedy = "give the bot an entry of its own with path"
            yield FieldProblem(("bots", place, "owner"), "nothing beside bots_from", remedy)
    for place in panel[MOST_OF_THE_PANEL:] if ladder else ():
        allowed = f"a panel of at most {MOST_OF_THE_PANEL} bots"
        yield FieldProblem(("bots", place, "panel"), allowed, "delete panel: the bot plays as any other")


def _remote(
    schedule: ScheduleSection, policy: PolicySection, bots: Sequence[BotSection | None]
) -> Iterator[FieldProblem]:
    """Remote bots cannot be restarted, and know what they saw: no known deals, and no deal twice."""
    for place, bot in enumerate(bots):
        where = ("bots", place, "remote")
        if bot and bot.remote and schedule.seed is not None:
            allowed = "remote bots only where the deals are secret"
            yield FieldProblem(where, allowed, "delete seed from [schedule], or give the bot a path")
        if bot and bot.remote and (why := FORMATS[schedule.format].no_remote):
            yield FieldProblem(where, why, "give the bot a path")
            continue
        if bot and bot.remote and schedule.duplicate and policy.profile == "ranked":
            allowed = "remote bots only in plain deals where the tournament is ranked: they would see each pack again"
            yield FieldProblem(where, allowed, 'write duplicate = false in [schedule], or profile = "dev" in [policy]')

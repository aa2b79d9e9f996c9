"""What a check of a bot that was found asks, and the check that a tournament demands of those who enter."""

from dataclasses import replace
from pathlib import Path

from referee.check.plan import MOVES_A_GAME, Plan
from referee.check.requirements import Selection
from referee.league.definition.definition import Definition
from referee.league.entrants.bot_source import BotSource
from referee.sandbox.limits import ResourceLimits as BotLimits
from referee.umpire.events import TimeLimits


def plan_for(source: BotSource, frame: Plan, failures: Path) -> Plan:
    """The plan for a bot that was found; ``frame`` is that of any bot, ``failures`` the folder for its output."""
    return replace(
        frame,
        name=source.name,
        command=source.command(),
        version=source.version,
        digest=source.digest,
        claims=source.variants,
        log_path=failures / f"{source.name.replace(' ', '_')}.log",
    )


def tournament_plan(definition: Definition, source: BotSource, failures: Path) -> Plan:
    """The check that a tournament demands of a bot that was found."""
    return plan_for(source, tournament_frame(definition), failures)


def tournament_frame(definition: Definition, name: str = "") -> Plan:
    """The check that a tournament demands of any bot: its rules, seats and limits."""
    limits = definition.limits
    move_us = limits.move_ms * 1000
    return Plan(
        name=name,
        command=None,
        games=(definition.rule_set(),),
        by_name=True,
        seats=(definition.tournament.seats,),
        selection=Selection(),
        limits=TimeLimits(move_us, 0, min(limits.game_s * 1_000_000, MOVES_A_GAME * move_us)),
        max_in_flight=limits.max_in_flight,
        bot_limits=BotLimits(memory_mib=limits.memory_mib),
        start_seconds=float(limits.start_s),
    )


def tournament_options(definition: Definition) -> str:
    """The options of ``referee check`` that ask for its game, to be added to a command; house rules have none."""
    return f" --variant {definition.tournament.variant} --seats {definition.tournament.seats}"

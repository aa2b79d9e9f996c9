"""Which rule is to blame, found out by asking: is it the turn, the batch that it came in, or what the bot had not seen?

A rule that is only broken at turns of deals that the bot had not played may be broken for want of that history
(AF-ROBUST-002), or because those turns show what others do not. So the bot is led through such a deal to the very turn;
and turns that it answered well when it had played the deal itself are put to it without their history. A rule that is
only broken by answers which came with others in one message may be broken for their company (AF-ROBUST-003): so those
turns are asked one by one.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, log

from referee.check.games import Probe
from referee.check.position import GamePrefix, Position
from referee.check.probes import matches
from referee.check.results import (
    ANOTHER_TURN,
    IN_A_BATCH,
    SENTENCES,
    STATED,
    Attribution,
    Breach,
    ClauseCoverage,
    explains,
)
from referee.check.runner import CheckRunner
from referee.rules import Deal
from referee.umpire.faults import Fault

HISTORY = "AF-ROBUST-002"
COMPANY = "AF-ROBUST-003"
LOST = frozenset({Fault.CRASH, Fault.DISCONNECT})
"""Faults of a bot that is gone."""

_CASES = 3
_DEALS = 8
_DOUBT = 0.001
"""The chance that is accepted of taking a bot that fails now and then for one that never fails alone."""

_MOST_ALONE = 60
_MOST_LOSSES = 3


async def find_blame(runner: CheckRunner) -> None:
    """Settles the blame for every rule where it is in doubt and has not been settled yet."""
    tally = runner.recorder.tally
    for score in sorted(tally, key=lambda one: (one.in_batch is None, -one.breaches)):
        key = score.requirement.key
        if runner.over or key in tally.blamed or key in tally.own or score.requirement.id in (HISTORY, COMPANY):
            continue
        if _only_in_company(score) and COMPANY in tally.scores:
            runner.recorder.begin("asking alone")
            await _company(runner, score)
        settled = key in tally.blamed or bool(runner.over)
        if not settled and _only_without_history(score) and HISTORY in tally.scores:
            runner.recorder.begin("asking alone")
            await _history(runner, score)


# Company.


def _only_in_company(score: ClauseCoverage) -> bool:
    in_company = [breach for breach in score.kept if breach.company > 1 and breach.position is not None]
    return bool(in_company) and not score.alone and all(breach.fault is not Fault.TIMEOUT_MOVE for breach in score.kept)


async def _company(runner: CheckRunner, score: ClauseCoverage) -> None:
    """Asks alone what was answered wrongly among others, often enough to tell chance from company."""
    rate = score.breaches / max(score.count + score.unheard, score.breaches)
    explained = dict(score.explained).get(ANOTHER_TURN, (0, frozenset()))
    mixed_up = explains(ANOTHER_TURN, explained[0], len(explained[1]), score.breaches)
    times = 6 if mixed_up or rate > 0.99 else ceil(log(_DOUBT) / log(1 - rate))
    found = [breach for breach in score.simplest() if breach.company > 1 and breach.position is not None]
    if times > _MOST_ALONE or not found:
        return
    for number in range(times):
        position = found[number % len(found)].position
        (probe,) = await runner.ask([position] if position else [], "retest")
        if probe.answer is None or runner.over:
            return
        if score.requirement.id in probe.broke:
            return  # it is broken alone too
    known = [blame.breach for blame in runner.recorder.tally.blamed.values() if blame.rule == COMPANY]
    shown = score.in_batch or next(iter(known), None)
    if shown is None or not any(one.broke for one in await runner.ask(shown.batch, "retest", stated=True)):
        return  # it does well now, alone and in company
    if shown is not score.in_batch:
        runner.recorder.tally.blamed[score.requirement.key] = Attribution(COMPANY, shown)
        return
    sentence = f"{shown.sentence} ({score.requirement.id}) Asked one by one it answers the same turns well."
    if mixed_up:
        runner.recorder.tally.hints[COMPANY] = SENTENCES[ANOTHER_TURN]
    shown = replace(shown, rule=COMPANY, variant="", sentence=sentence, shown_by="batch")
    runner.recorder.tally.blamed[score.requirement.key] = Attribution(COMPANY, shown)


# History.


def _only_without_history(score: ClauseCoverage) -> bool:
    """Whether all breaches were seen at single turns of deals that the bot had not played, and were no time-outs."""
    stated = score.broken[STATED]
    return (
        stated > 0
        and score.breaches == stated + score.broken[IN_A_BATCH]
        and not any(breach.perturbation or breach.fault is Fault.TIMEOUT_MOVE for breach in score.kept)
    )


async def _history(runner: CheckRunner, score: ClauseCoverage) -> None:
    tally, rule = runner.recorder.tally, score.requirement.id
    cases = [one for one in score.simplest() if one.phase == STATED and one.position is not None][:_CASES]
    losses = runner.losses
    for breach in cases:
        if breach.position is None or runner.over or runner.losses - losses >= _MOST_LOSSES:
            break
        if not await does_well_when_led(runner, breach.position, rule) or runner.over:
            continue
        (again,) = await runner.ask([breach.position], "retest", stated=True)
        if fails(again, rule, breach.fault):
            tally.blamed[score.requirement.key] = Attribution(HISTORY, _told(breach, "Asked all its turns of the deal"))
            return
    if cases and not runner.over and runner.losses - losses < _MOST_LOSSES:
        await _pairs(runner, score, cases[0])


async def _pairs(runner: CheckRunner, score: ClauseCoverage, breach: Breach) -> None:
    """Puts turns without their history that the bot answered well when it had played the deal itself."""
    rule = score.requirement.id
    for position in await _own_positions(runner, rule, breach):
        if runner.over:
            return
        probe = await _fails_again(runner, position, rule, breach.fault)
        if probe is not None:
            shown = replace(breach, position=position, action=None, did=_did(probe, breach), origin="sampled")
            runner.recorder.tally.blamed[score.requirement.key] = Attribution(
                HISTORY, _told(shown, "When it plays the deal itself")
            )
            return
    runner.recorder.tally.own.add(score.requirement.key)


async def _fails_again(runner: CheckRunner, position: Position, rule: str, fault: Fault) -> Probe | None:
    """Whether a bot fails at a position; twice, for one that fails now and then may do so here by chance."""
    asked: list[Probe] = []
    for _ in range(1 if fault in LOST else 2):
        asked = await runner.ask([position], "retest", stated=True)
        if not any(fails(one, rule, fault) for one in asked):
            return None
    return asked[0]


async def does_well_when_led(runner: CheckRunner, position: Position, rule: str = "") -> bool:
    """Whether the bot answers at the position, and breaks no such rule, when it is asked all its turns of the deal before."""
    led = await runner.lead(GamePrefix.to(position))
    came = led.answers > position.own_past(led.seat)
    return came and not (led.silent or led.lost or rule in led.broke)


async def _own_positions(runner: CheckRunner, rule: str, breach: Breach) -> list[Position]:
    """Turns behind its first of deals that the bot plays to their end, of the kind at which the rule was broken.

    None at all if it breaks the rule there too.
    """
    found: list[Position] = []
    source = matches(runner, "retest")
    kind = None if rule.startswith("AF-LIFE") or breach.position is None else breach.position.reached().kind
    for _ in range(_DEALS):
        if runner.over:
            break
        (probe,) = runner.play([replace(next(source), deals=1)], "retest")
        await runner.settle()
        if probe.silent or fails(probe, rule, breach.fault):
            return []
        found += [one for one in _turns_of(probe) if kind is None or one.reached().kind is kind]
    return found[-2 * _DEALS :]


def _turns_of(probe: Probe) -> Iterator[Position]:
    """The turns behind the bot's first in the first deal of a game."""
    umpire, log = probe.umpire, probe.umpire.deals[0]
    start = Position(
        rules=umpire.spec.rules,
        seats=umpire.spec.seats,
        dealer=log.dealer,
        pack=tuple(log.pack),
        actions=(),
        bot_seed=umpire.spec.chairs[0].bot_seed,
    )
    deal, own = Deal(start.rules, start.seats, start.dealer, start.pack), 0
    for number, action in enumerate(log.actions):
        if deal.seat == probe.seat:
            if own:
                yield replace(start, actions=tuple(log.actions[:number]), origin="sampled")
            own += 1
        deal.apply(action)


def fails(probe: Probe, rule: str, fault: Fault) -> bool:
    """Whether a bot failed when it was asked again, as it had before."""
    if fault in LOST or rule.startswith("AF-LIFE"):
        return probe.lost
    return rule in probe.broke or probe.lost


def _did(probe: Probe, breach: Breach) -> str:
    violation = probe.answer.violation if probe.answer is not None else None
    return violation.sentence if violation else breach.did


def _told(breach: Breach, when: str) -> Breach:
    sentence = f"In a deal that it had not played itself: {breach.sentence} ({breach.rule}) {when} it answers well."
    return replace(breach, rule=HISTORY, sentence=sentence, shown_by="position")

"""From a breach to a witness: the simplest position that shows it, asked again until it is known how surely.

A bot is a black box, so a smaller position is only believed when it fails again. What does not fail outside of its
game needs its history: it is kept as it was, and said to need it.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from referee.check.attribution import LOST, fails
from referee.check.games import Probe
from referee.check.perturbations import PERTURBATIONS
from referee.check.position import Position
from referee.check.results import Breach, ClauseCoverage
from referee.check.runner import CheckRunner
from referee.umpire.faults import Fault

ASKED_TWICE = frozenset(
    {"AF-LIFE-001", "AF-LIFE-003", "AF-LIFE-004", "AF-CLOCK-002", "AF-ROBUST-001", "AF-ROBUST-005", "AF-ROBUST-007"}
)
"""Rules about the whole life of a bot: a check says of them only what it has seen twice, or cannot but see again."""

TRIES = 6
"""How often a candidate is asked."""

_CANDIDATES = 4
_NOT_AGAIN = frozenset({Fault.TIMEOUT_MOVE, Fault.CRASH, Fault.DISCONNECT, Fault.PROTOCOL, Fault.TIMEOUT_GAME})


@dataclass(slots=True, kw_only=True)
class Witness:
    """The one breach by which a rule is shown to be broken.

    ``broke`` of ``tries`` says how often it failed when it was asked again; ``fresh`` the same for a process that has
    seen nothing else (``None``: not tried). ``shown_by`` says by what it was shown again during the check: by its
    "position", by the "batch" that it came in, by leading the bot through the "game", or because the same "run" showed
    it more than once. It is empty if it was never seen again.
    """

    key: str
    breach: Breach
    tries: int = 0
    broke: int = 0
    fresh: int | None = None
    shown_by: str = ""

    @property
    def stands_alone(self) -> bool:
        """Whether the position by itself shows the breach."""
        return self.shown_by == "position" and self.breach.position is not None

    @property
    def deals(self) -> int | None:
        """How many deals a reader has to look at: 1, or ``None`` if nobody knows."""
        return 1 if self.stands_alone else None


@dataclass(slots=True)
class Witnesses:
    """The witnesses by key of the requirement."""

    of: dict[str, Witness] = field(default_factory=dict)

    async def shrink(self, runner: CheckRunner) -> None:
        """Finds the simplest position for every rule that was broken."""
        runner.recorder.begin("shrinking")
        tally = runner.recorder.tally
        broken = [score for score in tally if score.breaches]
        todo: list[tuple[ClauseCoverage, Breach, Position]] = []
        for score in broken:
            best = score.simplest()[0]
            self.of[score.requirement.key] = Witness(key=score.requirement.key, breach=best, shown_by=best.shown_by)
            if best.fault in _NOT_AGAIN or best.perturbation:
                continue
            todo += [(score, breach, smaller) for breach in _candidates(score) for smaller in _smaller(breach)]
        asked = await runner.ask([position for _, _, position in todo for _ in range(TRIES)], "shrinking")
        for number, (score, breach, position) in enumerate(todo):
            again = asked[number * TRIES : (number + 1) * TRIES]
            self._consider(score, breach, position, sum(_breaks(one, score.requirement.id) for one in again))

    def _consider(self, score: ClauseCoverage, breach: Breach, position: Position, broke: int) -> None:
        """Takes a smaller position if it fails at least as surely as the best so far, which came earlier if as small."""
        witness = self.of[score.requirement.key]
        if broke > witness.broke:
            witness.breach = replace(breach, position=position)
            witness.tries, witness.broke, witness.shown_by = TRIES, broke, "position"

    async def confirm(self, runner: CheckRunner) -> None:
        """Asks every witness again in a process that has seen nothing else."""
        todo = [one for one in self.of.values() if one.broke and one.breach.position is not None]
        for witness in todo:
            tries = 1 if witness.broke == witness.tries else 2 * TRIES
            position = witness.breach.position
            asked = await runner.ask([position for _ in range(tries) if position is not None], "confirming")
            rule = witness.breach.rule
            witness.fresh = sum(_breaks(one, rule) for one in asked)
            if not witness.fresh:
                witness.shown_by = ""

    async def reproduce(self, runner: CheckRunner) -> None:
        """Shows again, in a process that has seen little, what was not shown by its position so far."""
        runner.recorder.begin("confirming")
        self.rest(runner.recorder.tally)
        for witness in self.of.values():
            if not runner.over and not witness.shown_by and witness.key not in runner.recorder.tally.blamed:
                await _reproduce(runner, witness)

    def rest(self, scores: Iterable[ClauseCoverage]) -> None:
        """Gives every broken rule that has none a witness, as it was seen."""
        for score in scores:
            key = score.requirement.key
            if not score.breaches:
                continue
            if key not in self.of:
                first = score.simplest()[0]
                self.of[key] = Witness(key=key, breach=first, shown_by=first.shown_by)

    def conclude(self, scores: Iterable[ClauseCoverage]) -> None:
        """What was seen again and again in this check, and shown by nothing less, is shown by the whole of it."""
        for score in scores:
            witness = self.of.get(score.requirement.key)
            if (
                witness is not None
                and not witness.shown_by
                and (score.breaches > 1 or score.requirement.id in ASKED_TWICE)
            ):
                witness.shown_by = "run"


async def _reproduce(runner: CheckRunner, witness: Witness) -> None:
    """By its position, by its batch, else by leading the bot through each of the games that may have led there."""
    breach = witness.breach
    perturbation = next(
        (perturbation for perturbation in PERTURBATIONS if perturbation.name == breach.perturbation), None
    )
    if (
        breach.position is not None
        and breach.fault is not Fault.TIMEOUT_MOVE
        and (perturbation is not None or not breach.perturbation)
    ):
        (probe,) = await runner.ask([breach.position], "confirming", perturbation, stated=True)
        if fails(probe, breach.rule, breach.fault) or (perturbation is not None and _is_wrong(probe)):
            witness.tries = witness.broke = 1
            witness.shown_by = "position"
            return
    if breach.batch and not runner.over:
        asked = await runner.ask(breach.batch, "confirming", stated=True)
        if any(_is_wrong(one) for one in asked):
            witness.shown_by = "batch"
            return
    for course in breach.courses:
        if runner.over:
            return
        if fails(await runner.lead(course, "confirming"), breach.rule, breach.fault):
            lost = breach.fault in LOST
            witness.breach = replace(breach, courses=(course,), position=None if lost else breach.position)
            witness.shown_by = "game"
            return


def _is_wrong(probe: Probe) -> bool:
    return bool(probe.broke) or probe.lost or probe.silent


def _candidates(score: ClauseCoverage) -> list[Breach]:
    """The simplest breaches, no two alike."""
    with_position = [breach for breach in score.simplest() if breach.position is not None]
    by_origin = Counter[str]()
    chosen = []
    for breach in with_position:
        by_origin[breach.origin] += 1
        if breach.origin == "sampled" or by_origin[breach.origin] == 1:
            chosen.append(breach)
    return chosen[:_CANDIDATES]


def _smaller(breach: Breach) -> list[Position]:
    """Ways to say less: without scores and number of the deal, then as it was. The simplest first."""
    position = breach.position
    if position is None:
        return []
    bare = replace(position, scores=(), set_backs=(), deal=0, decision=None)
    tries = [bare, replace(position, set_backs=(), deal=0), position]
    possible = []
    for one in tries:
        if one not in possible and _can_be(one):
            possible.append(one)
    return possible


def _can_be(position: Position) -> bool:
    try:
        position.reached()
    except ValueError:
        return False
    return True


def _breaks(probe: Probe, rule: str) -> bool:
    return rule in probe.broke

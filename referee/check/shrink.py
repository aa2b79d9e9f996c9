"""From a breach to a witness: the simplest position that shows it, asked again until it is known how surely.

A bot is a black box, so a smaller position is only believed when it fails again. What does not fail outside of its
game needs its history: it is kept as it was, and said to need it.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from referee.check.bench import Bench
from referee.check.position import Position
from referee.check.room import Asking
from referee.check.tally import Breach, Score
from referee.faults import Fault

TRIES = 6
"""How often a candidate is asked."""

_CANDIDATES = 4
_NOT_AGAIN = frozenset({Fault.TIMEOUT_MOVE, Fault.CRASH, Fault.DISCONNECT, Fault.PROTOCOL, Fault.TIMEOUT_GAME})


@dataclass(slots=True)
class Witness:
    """The one breach by which a rule is shown to be broken.

    ``broke`` of ``tries`` says how often it failed when it was asked again alone; ``fresh`` the same for a process that
    has seen nothing else (``None``: not tried). Where neither ever failed again, it needs the history of its game.
    """

    key: str
    breach: Breach
    tries: int = 0
    broke: int = 0
    fresh: int | None = None

    @property
    def stands_alone(self) -> bool:
        """Whether the position by itself shows the breach."""
        if self.breach.position is None:
            return False
        if self.breach.fault in _NOT_AGAIN or self.breach.poke:
            return True
        return self.broke > 0 and self.fresh != 0

    @property
    def deals(self) -> int | None:
        """How many deals a reader has to look at: 1, or ``None`` if nobody knows."""
        return 1 if self.stands_alone else None


@dataclass(slots=True)
class Witnesses:
    """The witnesses by key of the requirement."""

    of: dict[str, Witness] = field(default_factory=dict)

    async def shrink(self, bench: Bench) -> None:
        """Finds the simplest position for every rule that was broken."""
        bench.scribe.begin("shrinking")
        tally = bench.scribe.tally
        broken = [score for score in tally if score.breaches]
        todo: list[tuple[Score, Breach, Position]] = []
        for score in broken:
            best = score.simplest()[0]
            self.of[score.requirement.key] = Witness(score.requirement.key, best)
            if best.fault in _NOT_AGAIN or best.poke:
                continue
            todo += [(score, breach, smaller) for breach in _candidates(score) for smaller in _smaller(breach)]
        asked = await bench.ask([position for _, _, position in todo for _ in range(TRIES)], "shrinking")
        for number, (score, breach, position) in enumerate(todo):
            again = asked[number * TRIES : (number + 1) * TRIES]
            self._consider(score, breach, position, sum(_breaks(one, score.requirement.id) for one in again))

    def _consider(self, score: Score, breach: Breach, position: Position, broke: int) -> None:
        """Takes a smaller position if it fails at least as surely as the best so far, which came earlier if as small."""
        witness = self.of[score.requirement.key]
        if broke > witness.broke:
            witness.breach = replace(breach, position=position)
            witness.tries, witness.broke = TRIES, broke

    async def confirm(self, bench: Bench) -> None:
        """Asks every witness again in a process that has seen nothing else."""
        todo = [one for one in self.of.values() if one.broke and one.breach.position is not None]
        for witness in todo:
            tries = 1 if witness.broke == witness.tries else 2 * TRIES
            position = witness.breach.position
            asked = await bench.ask([position for _ in range(tries) if position is not None], "confirming")
            rule = witness.breach.rule
            witness.fresh = sum(_breaks(one, rule) for one in asked)

    def rest(self, scores: Iterable[Score]) -> None:
        """Gives every broken rule that has none a witness, as it was seen."""
        for score in scores:
            if score.breaches and score.requirement.key not in self.of:
                self.of[score.requirement.key] = Witness(score.requirement.key, score.simplest()[0])


def _candidates(score: Score) -> list[Breach]:
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


def _breaks(asking: Asking, rule: str) -> bool:
    return rule in asking.broke

"""What happens on the runner, written into the tally and the event log."""

from typing import Any

from referee.check.bot_under_test import CheckedConnection
from referee.check.games import CheckGames, Probe, ProbeAnswer
from referee.check.position import GamePrefix, Position
from referee.check.requirements import Requirements
from referee.check.results import IN_A_BATCH, STATED, Breach, Coverage, EventLog
from referee.net.supervisor import Loss
from referee.protocol import wire
from referee.protocol.translate import Malformed
from referee.rules import RuleSet, action_text
from referee.sandbox.exit_status import ExitStatus
from referee.sandbox.launch import BotProcess
from referee.umpire.faults import Fault

_EVERY_ANSWER = ("AF-PROTO-001", "AF-PROTO-002", "AF-PROTO-003", "AF-CLOCK-001")
WELCOME = "strange welcome"
"""The phase of one deal after an answer to Join with unknown values: what comes of it is judged by itself."""

LINE_LOST = "line lost"
"""The phase in which a bot that dials in has to dial again: what comes of it is judged by itself too."""

NOT_COUNTED = frozenset({"shrinking", "confirming", "retest", "asking alone", "replay", WELCOME, LINE_LOST})
"""Phases that ask again what was asked before; they count for nothing."""

_EVERY_MESSAGE = ("AF-PROTO-004", "AF-PROTO-005", "AF-LIFE-002")
_RESOURCES = frozenset({Fault.RESOURCE_MEM, Fault.RESOURCE_CPU, Fault.RESOURCE_PIDS, Fault.RESOURCE_OUTPUT})


_SUSPECTS = 12
"""Games that may have led to the loss of a bot, at most, each to be played again by itself."""


def courses_before(
    subject: CheckedConnection | None, games_in_play: CheckGames, probe: Probe | None
) -> tuple[str, tuple[GamePrefix, ...]]:
    """What the last messages told a bot that is gone, in words, and the games that they were about: news first."""
    if subject is None:
        return "", ()
    unanswered = []
    for who, _, data in reversed(subject.talk.said):
        if who != "referee":
            break
        unanswered.append(wire.PlayResponse.FromString(data))
    news, games = [], []
    for response in unanswered:
        for notice in response.notices:
            what = notice.WhichOneof("news") or "news of an unknown kind"
            news.append(what.replace("_", " "))
            games.append(getattr(notice, what).game_id if hasattr(notice, what) else 0)
        for ruling in response.rulings:
            news.append("ruling")
            games.append(ruling.game_id)
    told = ", ".join(dict.fromkeys(news))
    for response in unanswered:
        games += [turn.game_id for turn in response.turns]
    found = games_in_play.named(dict.fromkeys(games))
    if probe is not None and probe not in found:
        found.append(probe)
    suspects = [one for one in found if (one.perturbation is None and not one.once) or one is probe]
    courses = tuple(dict.fromkeys(one.course_so_far() for one in suspects[:_SUSPECTS]))
    return f"The last that it was told besides turns: {told}." if told else "", courses


class RecorderObserver:
    """Is told what a recorder notes."""

    def rule_broken(self, key: str) -> None:
        """The rule with this key was broken."""


class Recorder:
    """Keeps tally and log. ``phase`` is the phase that is going on, ``deals`` counts the deals played to their end.

    ``further`` says that more than the least is being asked.
    """

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self._observer = RecorderObserver()
        self.tally = Coverage(Requirements())
        self.phase = "start"
        self.deals = 0
        self.further = False
        self.process: BotProcess | None = None
        self.stumble = ""
        self.stayed = 0
        self.talk: list[dict[str, Any]] = []
        self._batch, self._batch_further = 0, False
        self._subject: CheckedConnection | None = None
        self._perturbed: Loss | None = None

    def observe(self, observer: RecorderObserver) -> None:
        """From now on this observer is told: the runner, which is made after its recorder."""
        self._observer = observer

    def begin(self, phase: str, **facts: Any) -> None:
        """A phase begins."""
        self.phase = phase
        self.log.emit("phase", phase=phase, **facts)

    # The process.

    def launched(self, process: BotProcess) -> None:
        """A process was started."""
        self.process = process
        self.log.emit("launched", pid=process.pid, sandbox=process.sandbox)

    def joined(self, subject: CheckedConnection, games: tuple[RuleSet, ...]) -> None:
        """The bot has joined."""
        self._subject = subject
        join = subject.joined_with
        self.tally.chance("AF-LIFE-001", self.phase)
        self.log.emit(
            "joined",
            version=subject.version,
            language=join.language[:40] if join else "",
            sdk=join.sdk[:40] if join else "",
            stateful=subject.stateful,
            max_in_flight=subject.session.max_in_flight,
            wants_notices=subject.session.wants_notices,
            games=[rules.name for rules in games],
        )

    def stumbled(self, reason: str) -> None:
        """The bot joined only when it was started a second time, for this reason the first time; empty: it did at once.

        Late once may be the machine's doing; a process that ends before it joins is the bot's.
        """
        if reason and not reason.startswith("It did not join within"):
            self.stumble = self.stumble or reason

    def failed_again(self, reason: str) -> None:
        """The bot joined before, and does not any more."""
        if self.phase == LINE_LOST:
            return
        self.breach("AF-LIFE-001", Fault.START_FAILED, f"Started again, it did not join. {reason}")

    def lost(self, loss: Loss, found: tuple[Probe, Position] | None, games_in_play: CheckGames | None) -> None:
        """The bot was lost for another reason than silence."""
        probe, position = found if found is not None else (None, None)
        self.log.emit("lost", fault=str(loss.fault), sentence=loss.sentence)
        if probe is not None and probe.perturbation is not None:
            self._perturbed = loss  # whoever perturbed judges what came of it
            return
        if (probe.phase if probe is not None else self.phase) in NOT_COUNTED:
            return
        told, courses = courses_before(self._subject, games_in_play, probe) if games_in_play is not None else ("", ())
        rule = "AF-LIFE-004" if loss.fault in _RESOURCES else "AF-LIFE-002"
        if loss.fault is Fault.PROTOCOL:
            rule = "AF-PROTO-004" if "AF-PROTO-004" in loss.sentence else rule
        tail = self.process.tail()[-2000:] if self.process else ""
        origin = probe.origin if probe else ""
        phase = IN_A_BATCH if probe is None else STATED if probe.stated else self.phase
        self.breach(
            rule,
            loss.fault,
            f"{loss.sentence} {told}".strip(),
            phase=phase,
            origin=origin,
            position=position,
            did="nothing: it was gone",
            log_tail=tail,
            company=0 if games_in_play is None else len(games_in_play.open_turns()),
            courses=courses,
        )

    def no_matter_of_the_perturbation(self) -> None:
        """The loss at the last perturbation did not come again: the bot was lost there by chance, and that is a breach by itself."""
        loss, self._perturbed = self._perturbed, None
        if loss is not None:
            self.lost(loss, None, None)

    def left(self, end: ExitStatus | None, *, local: bool) -> None:
        """The bot was sent off."""
        if not local:
            return
        self.tally.chance("AF-LIFE-003", self.phase)
        self.tally.chance("AF-LIFE-004", self.phase)
        if end is None:
            self.stayed += 1
            if self.stayed > 1:  # once may be the machine's doing
                told = "Twice it was still running when it had had time enough to leave after Farewell."
                self.breach("AF-LIFE-003", Fault.DISCONNECT, told)
        elif end.fault is not None and end.fault in _RESOURCES:
            self.breach("AF-LIFE-004", end.fault, end.sentence)
        elif end.code != 0:
            how = f"exit code {end.code}" if end.signal is None else f"signal {end.signal}"
            self.breach("AF-LIFE-003", Fault.CRASH, f"After Farewell it ended with {how}, not with exit code 0.")

    # Answers.

    def heard(self, heard: ProbeAnswer) -> None:
        """One answer."""
        probe, turn, tally = heard.probe, heard.turn, self.tally
        if heard.violation is not None:
            probe.broke.add(heard.violation.rule)
        if probe.phase in NOT_COUNTED:
            return
        variant, phase = turn.chair.rules.name, STATED if probe.stated else probe.phase
        tally.answers += 1
        tally.chances(_EVERY_ANSWER, phase, further=self.further)
        tally.chances(_EVERY_MESSAGE, self.phase, further=self.further)
        malformed = isinstance(heard.action, Malformed)
        if malformed:
            tally.unheard(heard.breakable, variant)
        else:
            tally.chances(heard.breakable, phase, variant, further=self.further)
            if probe.stated:
                tally.chance("AF-ROBUST-002", phase, further=self.further)
        if heard.violation is None or probe.perturbation is not None:
            return
        action = None if isinstance(heard.action, Malformed) else heard.action
        did = heard.violation.sentence if action is None else action_text(turn.kind, action)
        self.breach(
            heard.violation.rule,
            heard.fault or Fault.ILLEGAL_ACTION,
            heard.violation.sentence,
            variant=variant,
            origin=probe.origin,
            position=heard.position,
            action=action,
            did=did,
            phase=phase,
            company=heard.company,
            batch=heard.batch,
            courses=heard.courses,
            causes=heard.causes,
        )

    def message(self, faults: list[tuple[str, str]]) -> None:
        """A whole message was taken, with these faults besides its answers.

        How many answers a message holds is a matter of time: opportunities are counted by answers.
        """
        for rule, sentence in faults:
            self.breach(rule, Fault.PROTOCOL, sentence)

    def batch(self, count: int, most: int) -> None:
        """A new batch of so many turns goes out, so that the one before was answered whole."""
        if self._batch >= min(2, most):
            self.tally.chance("AF-ROBUST-003", self.phase, further=self._batch_further)
        self._batch, self._batch_further = count, self.further

    def late(self, probe: Probe, position: Position) -> None:
        """The bot did not answer in time; what that means is found out later."""
        self._batch = 0
        self.log.emit("late", phase=probe.phase, origin=position.origin, history=len(position.actions))

    def dealt(self) -> None:
        """A deal was played to its end."""
        self.deals += 1

    def breach(
        self, rule: str, fault: Fault, sentence: str, *, variant: str = "", phase: str = "", **more: Any
    ) -> None:
        """Counts a breach and notes it; of each rule only the first ones are noted in the log."""
        score = self.tally.score_of(rule, variant)
        first_ones = score is None or score.breaches < 5
        if first_ones and more.get("position") is None and self._subject is not None:
            more["talk"] = tuple(self._subject.talk.to_json()[-4:])
        more |= {"number": self.tally.answers, "further": self.further}
        breach = Breach(rule=rule, variant=variant, fault=fault, sentence=sentence, phase=phase or self.phase, **more)
        self.tally.breach(breach)
        if first_ones:
            self.log.emit(
                "breach", rule=rule, variant=variant, fault=str(fault), sentence=sentence, phase=breach.phase,
                origin=breach.origin, did=breach.did,
            )  # fmt: skip
        if score is not None:
            self._observer.rule_broken(score.requirement.key)

"""The check of a remote bot, in a process of its own: it is called, dials in, and is asked as any bot; nothing of it runs here.

python -m referee.host.remote_check DEFINITION FOLDER JOB ATTEMPT PARENT SECONDS LEASE PAUSE
"""

import secrets
import sys
from dataclasses import replace
from typing import Final

from referee.check.plan import Plan
from referee.check.tournament_plan import tournament_frame
from referee.host.door import Door, door_that_is_open
from referee.host.job import JobLostError, JobOutcome, JobWork, Refusal, main
from referee.host.remote_ladder import remote_definition, wait_seconds
from referee.host.rows import BotCall
from referee.league.definition.definition import load_definition

CALLED_FOR: Final = "the check"
"""What a bot is called for."""


class RemoteJobWork(JobWork):
    """The work on the job of a remote bot."""

    _door: Door

    def _outcome(self) -> JobOutcome:
        definition = remote_definition(load_definition(self._home.definition))
        host = definition.host_section
        self._refuse_late(host)
        door = door_that_is_open(self._home, self._store)
        if door is None:
            raise Refusal("This host takes remote bots no more.")
        self._door, self._name = door, self._store.version(self._job.version).name
        self._stage("check")
        plan = replace(
            tournament_frame(definition, self._job.bot),
            version=self._name,
            seconds=self._seconds,
            listen=door.listen,
            tls=door.tls,
            wait_seconds=float(wait_seconds(definition)),
            log_path=self._findings / "bot.log",
        )
        try:
            self._judge(definition, plan)
        except Refusal as refusal:
            self._refuse_only_who_is_there(refusal)
            raise
        finally:
            self._store.call(self._job.bot, None)
        self._store.played(self._job.bot)
        return self._passed(host)

    def _ready(self, plan: Plan) -> Plan:
        token = secrets.token_urlsafe(24)
        self._store.call(self._job.bot, BotCall(CALLED_FOR, ((self._door.told, token),)))
        return replace(plan, token=token)

    def _refuse_only_who_is_there(self, refusal: Refusal) -> None:
        """Whoever is not heard of any more may have lost the network: the check waits until it is back. Raises ``JobLostError``."""
        now = self._clock()
        if any(one.version == self._job.version and one.is_there(now) for one in self._store.connections()):
            return
        self._store.give_back(self._job)
        self._store.rest(self._job.bot, now, f"The check was broken off, as the connection was lost. {refusal}")
        raise JobLostError


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], RemoteJobWork))

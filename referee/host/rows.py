"""What a host's store holds: owners, invitations, tokens, bots, versions, jobs, and the audit log."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

HEARD_SECONDS: Final = 30.0
"""A remote bot that has not been heard of for so long is lost, if something has gone wrong with it."""


class VersionState(StrEnum):
    """How far a version of a bot has come."""

    WAITING = "waiting"
    """Its job is not over."""
    APPROVAL = "approval"
    """It keeps the rules, and the organiser has still to let it in."""
    ACCEPTED = "accepted"
    """It plays from the next round on, until a newer one does."""
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"


class JobState(StrEnum):
    """How far a job has come. ``FAILED``: we could not do it; that says nothing of the bot."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Owner:
    """Who hands bots in. ``blocked``: why this owner may not any more; empty for everybody else."""

    id: int
    name: str
    organiser: bool
    blocked: str


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link that makes an owner, once. ``used``: by which name. Times are seconds since 1970."""

    id: int
    name: str
    organiser: bool
    created: float
    expires: float
    used: str
    revoked: bool


@dataclass(frozen=True, slots=True)
class Token:
    """What lets a program act for an owner. ``bot``: the only bot that it may hand in; empty: any of the owner's."""

    id: int
    owner: int
    label: str
    bot: str
    created: float
    used: float | None
    revoked: bool


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a bot as it was handed in, with the name of the bot and its owner.

    ``name``: what its bot.toml calls it; ``archive``: SHA-256 of the archive; ``digest``: that of its files, once they are
    unpacked and built; ``reason``: why it was refused or withdrawn; ``public``: whether everybody may have the archive, once it is
    accepted. Of a remote bot there are no files: ``name`` is the version as it was declared.
    """

    id: int
    bot: str
    owner: str
    name: str
    archive: str
    digest: str
    created: float
    state: VersionState
    reason: str
    public: bool
    remote: bool


@dataclass(frozen=True, slots=True)
class Job:
    """What is done with a version: unpack, build, check. ``stage`` is where it is, in a word.

    ``sentence``: what came of it; ``findings``: each broken rule, as JSON values; ``log``: the end of what building said.
    """

    id: int
    version: int
    bot: str
    owner: str
    owner_id: int
    state: JobState
    stage: str
    attempt: int
    created: float
    started: float | None
    ended: float | None
    sentence: str
    findings: list[dict[str, Any]]
    log: str


@dataclass(frozen=True, slots=True)
class BotCall:
    """What a remote bot is called for: a check, or a round. ``sessions``: address and token of each process of it that is to dial in."""

    what: str
    sessions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class RemoteBot:
    """A remote bot where it is connected: in a version (its number), as it is ``declared``, with the state of that.

    ``session``: which connection, a text that its program has drawn; ``seen``: when it was last heard of; ``absences``: how
    often in a row it was called and did not play; ``rests``: it is not called before then; ``line``: what its author is to be
    told. Times are seconds since 1970.
    """

    bot: str
    owner: str
    version: int
    declared: str
    state: VersionState
    session: str
    seen: float
    absences: int
    rests: float
    call: BotCall | None
    line: str

    def is_there(self, now: float) -> bool:
        """Whether it is heard of: it asks every twenty seconds."""
        return self.seen >= now - HEARD_SECONDS


@dataclass(frozen=True, slots=True)
class Entered:
    """A version that plays in the next round. ``owner``: by name."""

    bot: str
    owner: str
    version: int


@dataclass(frozen=True, slots=True)
class AuditRow:
    """Something that somebody did: ``who`` did ``what``, with particulars."""

    id: int
    at: float
    who: str
    what: str
    about: str

"""The store of a host: who may hand in what, what was handed in, and what came of it. One SQLite file.

The site and the jobs both write it, each change in a transaction of its own, so that whoever is killed leaves nothing half done.
The engine reads it. Time is an argument everywhere: seconds since 1970.
"""

import hashlib
import json
import os
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Self

from referee.host.rows import (
    AuditRow,
    BotCall,
    Entered,
    Invitation,
    Job,
    JobState,
    Owner,
    RemoteBot,
    Token,
    Version,
    VersionState,
)
from referee.host.schema import HostStoreError, migrate
from referee.league.definition.names import NAME_ALLOWED, VERSION_ALLOWED, is_name, is_readable, is_version

MOST_ATTEMPTS: Final = 3
"""A job that died so often is given up. That is our fault, and says nothing of the bot."""

MOST_WAITING: Final = 200
"""Jobs of all owners that may wait at once."""

MOST_WAITING_OF_AN_OWNER: Final = 3

LOG_BYTES: Final = 16_384
"""The most that is kept of what building a bot said: the end of it."""

_FAILED: Final = f"The host failed {MOST_ATTEMPTS} times at this, which says nothing of the bot; the organiser can see why, and have it done again."

PRESENT_SECONDS: Final = 60.0
"""A remote bot is taken to be there for so long after it was last heard of. It asks three times as often."""

SHORTEST_REST: Final = 60.0
"""So many seconds a remote bot rests that was called and did not play; twice as many each further time, up to ``LONGEST_REST``."""

LONGEST_REST: Final = 3600.0

LONGEST_REASON: Final = 300
"""Characters of the reason for which an organiser refuses, withdraws or blocks."""

_VOID_ROUND: Final = "void_round"

_USED_SECONDS: Final = 60.0
_SECRET_BYTES: Final = 24

_JOBS: Final = """
SELECT j.id, j.version_id, b.name, o.name, o.id, j.state, j.stage, j.attempt, j.created, j.started, j.ended, j.sentence,
    j.findings, j.log
FROM job j JOIN version v ON v.id = j.version_id JOIN bot b ON b.id = v.bot_id JOIN owner o ON o.id = b.owner_id
"""
_VERSIONS: Final = """
SELECT v.id, b.name, o.name, v.name, v.archive, v.digest, v.created, v.state, v.reason,
    v.public, b.remote
FROM version v JOIN bot b ON b.id = v.bot_id JOIN owner o ON o.id = b.owner_id
"""


_CONNECTIONS: Final = """
SELECT b.name, o.name, v.id, v.name, v.state, c.session, c.seen, c.absences, c.rests, c.call, c.line
FROM connection c JOIN bot b ON b.id = c.bot_id JOIN owner o ON o.id = b.owner_id JOIN version v ON v.id = c.version_id
WHERE b.retired IS NULL AND o.blocked IS NULL
"""


class NotAllowedError(Exception):
    """What somebody asked of the host and cannot have, in a sentence with the remedy.

    ``status``: that of HTTP: 401 nobody known, 403 not this owner's, 404 not there, 409 not as things stand, 429 too much.
    """

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class HostStore:
    """The store of a host. May be used by several threads."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._db = connection
        self._lock = threading.RLock()

    @classmethod
    def open(cls, path: Path) -> Self:
        """The store at a path, to read and write; a new one if there is none. Raises ``HostStoreError``."""
        try:
            # One that is there must not be opened and closed here: that would take away the locks of all connections that
            # this process has to it, and another process could throw away what they write.
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            db = sqlite3.connect(path, isolation_level=None, timeout=30, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise HostStoreError(f"{path} cannot be opened: {error}; check the folder and its owner") from None
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA foreign_keys = ON")
            migrate(path, db)
        except (sqlite3.Error, HostStoreError) as error:
            db.close()
            if isinstance(error, HostStoreError):
                raise
            raise HostStoreError(f"{path} is not the store of a host, or damaged ({error}); restore a backup") from None
        return cls(path, db)

    @classmethod
    def read(cls, path: Path) -> Self:
        """The store at a path, to look at. Raises ``HostStoreError`` if there is none."""
        try:
            db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=30, check_same_thread=False)
            db.execute("PRAGMA query_only = ON")
            db.execute("SELECT count(*) FROM setting")
        except sqlite3.Error as error:
            raise HostStoreError(f"{path} cannot be read ({error}); start the host once: referee host") from None
        return cls(path, db)

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Owners and how they come in.

    def invite(self, name: str, now: float, *, days: float = 14, organiser: bool = False, by: str) -> str:
        """Makes an invitation for somebody and returns its secret, which is shown once.

        ``name``: whom it is for, in any letters; see ``name_of``. Empty: whoever opens it says.
        """
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        with self._write() as db:
            db.execute(
                "INSERT INTO invitation (digest, name, organiser, created, expires) VALUES (?, ?, ?, ?, ?)",
                (_digest(secret), name, organiser, now, now + days * 86_400),
            )
            self._note(db, now, by, "invited", name or "whoever opens the link")
        return secret

    def invitation(self, secret: str, now: float) -> Invitation:
        """The invitation with that secret, if an owner can still be made of it; raises ``NotAllowedError``."""
        found = self._rows("SELECT id FROM invitation WHERE digest = ?", _digest(secret))
        one = next((each for each in self.invitations() if found and each.id == found[0][0]), None)
        if one is None:
            raise NotAllowedError(404, "There is no such invitation; ask the organiser for a new link.")
        if one.used:
            raise NotAllowedError(409, "This invitation was used already; ask the organiser for a new link.")
        if one.revoked or one.expires < now:
            raise NotAllowedError(409, "This invitation is not valid any more; ask the organiser for a new link.")
        return one

    def name_of(self, invitation: Invitation) -> str:
        """The name that it gives; empty where whoever opens it picks one: it has none, or one that is taken or can be nobody's."""
        taken = self._rows("SELECT 1 FROM owner WHERE folded = ?", invitation.name.casefold())
        return invitation.name if is_name(invitation.name) and not taken else ""

    def invitations(self) -> list[Invitation]:
        """All invitations, the newest first."""
        rows = self._rows(
            "SELECT i.id, i.name, i.organiser, i.created, i.expires, coalesce(o.name, ''), i.revoked IS NOT NULL "
            "FROM invitation i LEFT JOIN owner o ON o.id = i.owner_id ORDER BY i.id DESC"
        )
        return [Invitation(r[0], r[1], bool(r[2]), r[3], r[4], r[5], bool(r[6])) for r in rows]

    def revoke_invitation(self, number: int, now: float, *, by: str) -> None:
        """Makes an invitation worthless that nobody has used. One that is gone already stays so."""
        with self._write() as db:
            db.execute("UPDATE invitation SET revoked = ? WHERE id = ? AND owner_id IS NULL", (now, number))
            self._note(db, now, by, "took back an invitation", str(number))

    def join(self, secret: str, name: str, now: float) -> Owner:
        """Makes an owner of an invitation. Raises ``NotAllowedError`` if the name is taken or cannot be one."""
        with self._write() as db:
            one = self.invitation(secret, now)
            owner = self._add_owner(db, self.name_of(one) or name, now, organiser=one.organiser)
            db.execute("UPDATE invitation SET owner_id = ? WHERE id = ?", (owner.id, one.id))
            self._note(db, now, owner.name, "joined", "by invitation")
            return owner

    def register(self, name: str, now: float) -> Owner:
        """Makes an owner of whoever comes, on a host that is open to all. Raises ``NotAllowedError``."""
        with self._write() as db:
            owner = self._add_owner(db, name, now, organiser=False)
            self._note(db, now, owner.name, "joined", "")
            return owner

    def _add_owner(self, db: sqlite3.Connection, name: str, now: float, *, organiser: bool) -> Owner:
        if not is_name(name):
            raise NotAllowedError(409, f"A name is {NAME_ALLOWED}.")
        try:
            number = db.execute(
                "INSERT INTO owner (name, folded, organiser, created) VALUES (?, ?, ?, ?)",
                (name, name.casefold(), organiser, now),
            ).lastrowid
        except sqlite3.IntegrityError:
            raise NotAllowedError(409, f"Somebody is called {name} already; take another name.") from None
        return Owner(int(number or 0), name, organiser, "")

    def owner(self, number: int) -> Owner | None:
        """The owner with that number."""
        return next((one for one in self.owners() if one.id == number), None)

    def owners(self) -> list[Owner]:
        """All owners, in the order in which they came."""
        rows = self._rows("SELECT id, name, organiser, coalesce(blocked, '') FROM owner ORDER BY id")
        return [Owner(r[0], r[1], bool(r[2]), r[3]) for r in rows]

    def block(self, number: int, reason: str, now: float, *, by: str) -> None:
        """Keeps an owner from handing anything in; with an empty reason lets the owner do so again. Raises ``NotAllowedError``."""
        _check_reason(reason)
        with self._write() as db:
            db.execute("UPDATE owner SET blocked = nullif(?, '') WHERE id = ?", (reason, number))
            self._note(db, now, by, "blocked" if reason else "let in again", f"owner {number} {reason}".strip())

    # Tokens.

    def add_token(self, owner: int, label: str, now: float, *, bot: str = "") -> str:
        """Makes a token and returns it; it is shown once, and kept as a digest alone."""
        text = f"referee_{secrets.token_urlsafe(_SECRET_BYTES)}"
        with self._write() as db:
            db.execute(
                "INSERT INTO token (owner_id, digest, label, bot, created) VALUES (?, ?, ?, ?, ?)",
                (owner, _digest(text), label, bot, now),
            )
            self._note(db, now, self._name_of(owner), "made a token", label)
        return text

    def tokens(self, owner: int) -> list[Token]:
        """The tokens of an owner, the newest first."""
        rows = self._rows(
            "SELECT id, owner_id, label, bot, created, used, revoked IS NOT NULL FROM token WHERE owner_id = ? ORDER BY id DESC",
            owner,
        )
        return [Token(r[0], r[1], r[2], r[3], r[4], r[5], bool(r[6])) for r in rows]

    def revoke_token(self, owner: int, number: int, now: float) -> None:
        """Makes a token of that owner worthless."""
        with self._write() as db:
            db.execute(
                "UPDATE token SET revoked = coalesce(revoked, ?) WHERE id = ? AND owner_id = ?", (now, number, owner)
            )
            self._note(db, now, self._name_of(owner), "revoked a token", str(number))

    def by_token(self, text: str, now: float) -> tuple[Owner, Token]:
        """Whose token it is; notes that it was used, to the minute. Raises ``NotAllowedError``."""
        rows = self._rows("SELECT id, owner_id FROM token WHERE digest = ? AND revoked IS NULL", _digest(text))
        owner = self.owner(rows[0][1]) if rows else None
        if owner is None:
            raise NotAllowedError(401, "This token is not known here, or was revoked; make a new one on your page.")
        if owner.blocked:
            raise NotAllowedError(403, f"The organiser has blocked {owner.name}: {owner.blocked}.")
        token = next(one for one in self.tokens(owner.id) if one.id == rows[0][0])
        if token.used is None or now - token.used >= _USED_SECONDS:
            with suppress(sqlite3.OperationalError), self._write() as db:  # a full disk locks nobody out
                db.execute("UPDATE token SET used = ? WHERE id = ?", (now, token.id))
            token = replace(token, used=now)
        return owner, token

    # Bots, versions, jobs.

    def hand_in(
        self,
        owner: Owner,
        bot: str,
        archive: str,
        now: float,
        *,
        most_bots: int,
        taken: Sequence[str] = (),
        public: bool = False,
    ) -> Job:
        """Takes a version of a bot in, and makes the job for it. The archive itself is in its place already.

        ``archive``: SHA-256 of it; what an owner has handed in already as the newest version is recognised, and its job
        returned. ``taken``: names that nobody may use, such as those of house bots; ``public``: everybody may have the archive of the new
        version, if it is accepted. Raises ``NotAllowedError``.
        """
        if not is_name(bot):
            raise NotAllowedError(409, f"The name of a bot is {NAME_ALLOWED}.")
        with self._write() as db:
            if owner.blocked:
                raise NotAllowedError(403, f"The organiser has blocked {owner.name}: {owner.blocked}.")
            number = self._bot_of(db, owner, bot, now, most_bots, taken, remote=False)
            db.execute("UPDATE bot SET retired = NULL WHERE id = ?", (number,))
            newest = db.execute(
                "SELECT v.archive, v.state, max(j.id) FROM version v JOIN job j ON j.version_id = v.id "
                "WHERE v.bot_id = ? GROUP BY v.id ORDER BY v.id DESC LIMIT 1",
                (number,),
            ).fetchone()
            if newest is not None and newest[0] == archive and newest[1] in ("waiting", "approval", "accepted"):
                return self.job(newest[2])
            self._check_queue(db, owner.id)
            version = db.execute(
                "INSERT INTO version (bot_id, name, archive, digest, created, state, reason, public) "
                "VALUES (?, '', ?, '', ?, 'waiting', '', ?)",
                (number, archive, now, public),
            ).lastrowid
            self._note(db, now, owner.name, "handed in", f"{bot}, version {version}")
            return self.job(self._add_job(db, int(version or 0), now))

    @staticmethod
    def _check_queue(db: sqlite3.Connection, owner: int) -> None:
        """Raises ``NotAllowedError`` where no further job of an owner may wait. Remote bots wait by themselves."""
        waiting = (
            "SELECT count(*) FROM job j JOIN version v ON v.id = j.version_id JOIN bot b ON b.id = v.bot_id "
            "WHERE j.state IN ('waiting', 'running') AND NOT b.remote"
        )
        if db.execute(f"{waiting} AND b.owner_id = ?", (owner,)).fetchone()[0] >= MOST_WAITING_OF_AN_OWNER:
            raise NotAllowedError(
                429, f"{MOST_WAITING_OF_AN_OWNER} of your versions wait already; try again when one is done."
            )
        if db.execute(waiting).fetchone()[0] >= MOST_WAITING:
            raise NotAllowedError(429, "Too many versions wait at the moment; try again in a few minutes.")

    def _bot_of(
        self,
        db: sqlite3.Connection,
        owner: Owner,
        bot: str,
        now: float,
        most: int,
        taken: Sequence[str],
        *,
        remote: bool,
    ) -> int:
        """The number of a bot of an owner, made if it is new. ``remote``: whether it runs on its author's machine."""
        found = db.execute(
            "SELECT id, owner_id, retired, remote FROM bot WHERE folded = ?", (bot.casefold(),)
        ).fetchone()
        if (found is not None and found[1] != owner.id) or bot.casefold() in {name.casefold() for name in taken}:
            raise NotAllowedError(
                409, f"There is a bot called {bot} already, and it is not yours; give yours another name."
            )
        if found is not None and bool(found[3]) is not remote:
            kind = "runs on your own machine" if found[3] else "was handed in"
            raise NotAllowedError(409, f"Your bot {bot} {kind}; give this one another name.")
        if found is None or found[2] is not None:
            active = db.execute(
                "SELECT name FROM bot WHERE owner_id = ? AND retired IS NULL AND remote = ? ORDER BY id",
                (owner.id, remote),
            ).fetchall()
            if len(active) >= most:
                names = ", ".join(name for (name,) in active)
                many = "one bot" if most == 1 else f"{most} bots"
                raise NotAllowedError(
                    409,
                    f"An owner has {many} on this board, and you have {names}; hand it in under that name, or retire one first.",
                )
        if found is not None:
            return int(found[0])
        made = db.execute(
            "INSERT INTO bot (owner_id, name, folded, created, remote) VALUES (?, ?, ?, ?, ?)",
            (owner.id, bot, bot.casefold(), now, remote),
        )
        return int(made.lastrowid or 0)

    @staticmethod
    def _add_job(db: sqlite3.Connection, version: int, now: float) -> int:
        made = db.execute(
            "INSERT INTO job (version_id, state, stage, attempt, created, sentence, findings, log) "
            "VALUES (?, 'waiting', 'waiting', 0, ?, '', '[]', '')",
            (version, now),
        )
        return int(made.lastrowid or 0)

    def again(self, owner: Owner, job: int, now: float) -> Job:
        """Does a job once more with the same files: after our fault, or when what the host demands has changed.

        Where one for the same version is under way, that is returned. Raises ``NotAllowedError``.
        """
        with self._write() as db:
            one = self.job(job)
            if one.owner_id != owner.id and not owner.organiser:
                raise NotAllowedError(403, "That is not your bot.")
            newest = db.execute("SELECT max(id) FROM job WHERE version_id = ?", (one.version,)).fetchone()[0]
            if (last := self.job(newest)).state in (JobState.WAITING, JobState.RUNNING):
                return last
            state = self.version(one.version).state
            if state not in (VersionState.REFUSED, VersionState.WAITING):
                raise NotAllowedError(409, f"This version is {state}; there is nothing to be done again.")
            if self.version(one.version).remote:
                self._check_checks(db, now)
            else:
                self._check_queue(db, one.owner_id)
            db.execute("UPDATE version SET state = 'waiting', reason = '' WHERE id = ?", (one.version,))
            self._note(db, now, owner.name, "had a job done again", f"job {job}")
            return self.job(self._add_job(db, one.version, now))

    def job(self, number: int) -> Job:
        """The job with that number. Raises ``NotAllowedError``."""
        rows = self._rows(f"{_JOBS} WHERE j.id = ?", number)
        if not rows:
            raise NotAllowedError(404, "There is no such job.")
        return _job(rows[0])

    def jobs(
        self, *, owner: int | None = None, bot: str | None = None, state: JobState | None = None, most: int = 100
    ) -> list[Job]:
        """Jobs, the newest first: all, or those of an owner, or of a bot, or in a state."""
        folded = None if bot is None else bot.casefold()
        asked = ((owner, "o.id"), (folded, "b.folded"), (state, "j.state"))
        where = " AND ".join(f"(? IS NULL OR {column} = ?)" for _, column in asked)
        values = [value for value, _ in asked for _ in range(2)]
        rows = self._rows(f"{_JOBS} WHERE {where} ORDER BY j.id DESC LIMIT ?", *values, most)
        return [_job(row) for row in rows]

    def newest_job(self, version: int) -> Job | None:
        """The newest job of a version."""
        rows = self._rows(f"{_JOBS} WHERE j.version_id = ? ORDER BY j.id DESC LIMIT 1", version)
        return _job(rows[0]) if rows else None

    def count_jobs(self, state: JobState) -> int:
        """How many jobs are in a state."""
        return int(self._rows("SELECT count(*) FROM job WHERE state = ?", state)[0][0])

    def before(self, job: int) -> int:
        """How many jobs have to be done before this one."""
        rows = self._rows(
            "SELECT count(*) FROM job j JOIN version v ON v.id = j.version_id JOIN bot b ON b.id = v.bot_id "
            "WHERE j.state IN ('waiting', 'running') AND j.id < ? AND b.remote = (SELECT b.remote FROM job j "
            "JOIN version v ON v.id = j.version_id JOIN bot b ON b.id = v.bot_id WHERE j.id = ?)",
            job,
            job,
        )
        return int(rows[0][0])

    def lease(self, now: float, seconds: float, *, remote: bool = False) -> Job | None:
        """Takes the next job that waits, or whose worker is gone, for so many seconds; ``None`` if there is none.

        ``remote``: of those of remote bots that are there now, else of all others. A job that was taken ``MOST_ATTEMPTS`` times
        and never ended is given up.
        """
        with self._write() as db:
            for number, attempt in db.execute(
                "SELECT id, attempt - given_back FROM job WHERE (state = 'waiting' OR (state = 'running' AND lease < ?)) "
                "AND version_id IN (SELECT v.id FROM version v JOIN bot b ON b.id = v.bot_id WHERE v.state = 'waiting' "
                "AND b.remote = ? AND (NOT b.remote OR (b.retired IS NULL AND v.id IN "
                "(SELECT version_id FROM connection WHERE seen >= ? AND rests <= ?)))) ORDER BY id",
                (now, remote, now - PRESENT_SECONDS, now),
            ).fetchall():
                if attempt >= MOST_ATTEMPTS:
                    self._fail(db, number, _FAILED, now)
                    continue
                db.execute(
                    "UPDATE job SET state = 'running', attempt = attempt + 1, lease = ?, started = ?, stage = 'begins', log = '' "
                    "WHERE id = ?",
                    (now + seconds, now, number),
                )
                return self.job(number)
        return None

    def go_on(self, job: Job, stage: str, log: str, now: float, seconds: float) -> bool:
        """Says how far a job is, and keeps it for so many seconds more; false if it was given to another worker."""
        with self._write() as db:
            kept = db.execute(
                "UPDATE job SET stage = ?, log = ?, lease = ? WHERE id = ? AND state = 'running' AND attempt = ?",
                (stage, _tail(log), now + seconds, job.id, job.attempt),
            )
            return kept.rowcount == 1

    def keep(self, job: Job, now: float, seconds: float) -> bool:
        """Keeps a job for so many seconds more; false if it is over, or was given to another worker."""
        with self._write() as db:
            kept = db.execute(
                "UPDATE job SET lease = ? WHERE id = ? AND state = 'running' AND attempt = ?",
                (now + seconds, job.id, job.attempt),
            )
            return kept.rowcount == 1

    def give_back(self, job: Job) -> None:
        """Lets a job wait again that was begun and has to be left, as when the host is stopped. That attempt does not count."""
        with self._write() as db:
            db.execute(
                "UPDATE job SET state = 'waiting', stage = 'waiting', lease = NULL, given_back = given_back + 1 "
                "WHERE id = ? AND state = 'running' AND attempt = ?",
                (job.id, job.attempt),
            )

    def expire_leases(self, now: float, *, remote: bool = False) -> None:
        """Says that nobody is at work on the jobs of remote bots, or on all others: whoever had leased them is gone. Those attempts count."""
        with self._write() as db:
            db.execute(
                "UPDATE job SET lease = ? WHERE state = 'running' AND version_id IN "
                "(SELECT v.id FROM version v JOIN bot b ON b.id = v.bot_id WHERE b.remote = ?)",
                (now - 1, remote),
            )

    def failed(self, job: Job, why: str, now: float, pause: float) -> None:
        """An attempt at a job failed through our fault: it is done again after a pause, in seconds, or given up.

        ``why`` is for the organiser, and stands in the audit log; the owner is told that it says nothing of the bot.
        """
        with self._write() as db:
            row = db.execute(
                "SELECT attempt - given_back FROM job WHERE id = ? AND state = 'running' AND attempt = ?",
                (job.id, job.attempt),
            ).fetchone()
            if row is None:
                return
            self._note(db, now, "host", "could not do", f"job {job.id}, attempt {row[0]}: {why}")
            if row[0] >= MOST_ATTEMPTS:
                self._fail(db, job.id, _FAILED, now)
            else:
                db.execute("UPDATE job SET stage = 'begins again', lease = ? WHERE id = ?", (now + pause, job.id))

    def finish(
        self,
        job: Job,
        state: VersionState,
        sentence: str,
        now: float,
        *,
        name: str = "",
        digest: str = "",
        findings: Sequence[dict[str, Any]] = (),
        log: str = "",
    ) -> bool:
        """Ends a job with what came of it: ``ACCEPTED``, ``APPROVAL`` or ``REFUSED``. False if another worker has it by now.

        ``name`` and ``digest``: of the version, as its files have them.
        """
        with self._write() as db:
            ended = db.execute(
                "UPDATE job SET state = 'done', stage = 'done', lease = NULL, ended = ?, sentence = ?, findings = ?, log = ? "
                "WHERE id = ? AND state = 'running' AND attempt = ?",
                (now, sentence, json.dumps(list(findings)), _tail(log), job.id, job.attempt),
            )
            if ended.rowcount != 1:
                return False
            db.execute(
                "UPDATE version SET state = ?, reason = ?, name = ?, digest = ? WHERE id = ? AND state = 'waiting'",
                (state, sentence if state is VersionState.REFUSED else "", name, digest, job.version),
            )
            self._note(db, now, "host", str(state), f"{job.bot} of {job.owner}, job {job.id}: {sentence}")
            return True

    def _fail(self, db: sqlite3.Connection, job: int, sentence: str, now: float) -> None:
        db.execute(
            "UPDATE job SET state = 'failed', stage = 'failed', lease = NULL, ended = ?, sentence = ? WHERE id = ?",
            (now, sentence, job),
        )
        self._note(db, now, "host", "failed", f"job {job}: {sentence}")

    def version(self, number: int) -> Version:
        """The version with that number. Raises ``NotAllowedError``."""
        rows = self._rows(f"{_VERSIONS} WHERE v.id = ?", number)
        if not rows:
            raise NotAllowedError(404, "There is no such version.")
        return _version(rows[0])

    def versions(self, *, bot: str | None = None, state: VersionState | None = None) -> list[Version]:
        """Versions, the newest first: all, or those of a bot, or in a state."""
        folded = None if bot is None else bot.casefold()
        rows = self._rows(
            f"{_VERSIONS} WHERE (? IS NULL OR b.folded = ?) AND (? IS NULL OR v.state = ?) ORDER BY v.id DESC",
            folded,
            folded,
            state,
            state,
        )
        return [_version(row) for row in rows]

    def decide(self, version: int, state: VersionState, reason: str, now: float, *, by: str) -> None:
        """Lets a version in that waits for approval, refuses it, or withdraws one. Raises ``NotAllowedError``."""
        _check_reason(reason)
        from_ = {
            VersionState.ACCEPTED: (VersionState.APPROVAL,),
            VersionState.REFUSED: (VersionState.APPROVAL,),
            VersionState.WITHDRAWN: (VersionState.ACCEPTED, VersionState.APPROVAL),
        }.get(state, ())
        with self._write() as db:
            one = self.version(version)
            if one.state not in from_:
                raise NotAllowedError(409, f"This version of {one.bot} is {one.state}.")
            db.execute("UPDATE version SET state = ?, reason = ? WHERE id = ?", (state, reason, version))
            self._note(db, now, by, str(state), f"{one.bot} of {one.owner}, version {version}: {reason}".rstrip(": "))

    def retire(self, owner: Owner, bot: str, now: float) -> None:
        """Takes a bot out: it is not in the next round. What it has played stays. Raises ``NotAllowedError``."""
        with self._write() as db:
            done = db.execute(
                "UPDATE bot SET retired = ? WHERE folded = ? AND (owner_id = ? OR ?)",
                (now, bot.casefold(), owner.id, owner.organiser),
            )
            if done.rowcount != 1:
                raise NotAllowedError(404, f"You have no bot called {bot}.")
            self._note(db, now, owner.name, "retired", bot)

    def bots(self, owner: int) -> list[tuple[str, bool]]:
        """The bots of an owner by name, in the order in which they came, and whether each was retired."""
        rows = self._rows("SELECT name, retired IS NOT NULL FROM bot WHERE owner_id = ? ORDER BY id", owner)
        return [(name, bool(retired)) for name, retired in rows]

    def entered(self, until: float | None = None) -> list[Entered]:
        """Who plays in the next round of the ladder: of each bot that was handed in and not retired, the newest version that was accepted.

        A bot whose newest one was withdrawn does not play before another one is accepted: the versions before it retired when
        it came. ``until``: of those that were handed in by then.
        """
        rows = self._rows(  # the state is that of the newest
            "SELECT b.name, o.name, max(v.id), v.state FROM bot b JOIN owner o ON o.id = b.owner_id JOIN version v "
            "ON v.bot_id = b.id AND v.state IN ('accepted', 'withdrawn') AND (? IS NULL OR v.created <= ?) "
            "WHERE b.retired IS NULL AND o.blocked IS NULL AND NOT b.remote GROUP BY b.id ORDER BY b.id",
            until,
            until,
        )
        return [Entered(*row) for *row, state in rows if state == VersionState.ACCEPTED]

    def on_ladder(self) -> list[Version]:
        """Versions that were accepted, those that were withdrawn since too, of bots that were handed in and may play: by bot, the newest first."""
        rows = self._rows(
            f"{_VERSIONS} WHERE v.state IN ('accepted', 'withdrawn') AND b.retired IS NULL AND o.blocked IS NULL AND NOT b.remote "
            "ORDER BY b.id, v.id DESC"
        )
        return [_version(row) for row in rows]

    # Remote bots.

    def connect(
        self,
        owner: Owner,
        bot: str,
        declared: str,
        session: str,
        now: float,
        *,
        most_bots: int,
        taken: Sequence[str] = (),
        may_check: Callable[[], None] = lambda: None,
    ) -> RemoteBot:
        """A remote bot is there, in the version that it declares; the connection before, if there was one, is over.

        A version that is new, or was refused, is to be checked: ``may_check`` is called before that. ``taken`` as in ``hand_in``.
        Raises ``NotAllowedError``, and what ``may_check`` raises.
        """
        if not is_name(bot):
            raise NotAllowedError(409, f"The name of a bot is {NAME_ALLOWED}.")
        if not is_version(declared):
            raise NotAllowedError(409, f"A version is {VERSION_ALLOWED}.")
        with self._write() as db:
            if owner.blocked:
                raise NotAllowedError(403, f"The organiser has blocked {owner.name}: {owner.blocked}.")
            number = self._bot_of(db, owner, bot, now, most_bots, taken, remote=True)
            db.execute("UPDATE bot SET retired = NULL WHERE id = ?", (number,))
            version = self._declared(db, owner, number, bot, declared, now, may_check)
            db.execute(
                "INSERT INTO connection (bot_id, version_id, session, seen) VALUES (?, ?, ?, ?) ON CONFLICT (bot_id) DO UPDATE SET "
                "version_id = excluded.version_id, session = excluded.session, seen = excluded.seen, call = '', line = ''",
                (number, version, session, now),
            )
            return self.connection(bot)

    def _declared(
        self,
        db: sqlite3.Connection,
        owner: Owner,
        number: int,
        bot: str,
        declared: str,
        now: float,
        may_check: Callable[[], None],
    ) -> int:
        """The number of a version of a remote bot, made if it is new; with a job where it has to be checked."""
        found = db.execute(
            "SELECT v.id, v.state, v.reason, max(j.id) FROM version v LEFT JOIN job j ON j.version_id = v.id "
            "WHERE v.bot_id = ? AND v.name = ? GROUP BY v.id ORDER BY v.id DESC LIMIT 1",
            (number, declared),
        ).fetchone()
        if found is not None:
            version, state, reason, job = found
            if state == VersionState.WITHDRAWN:
                raise NotAllowedError(
                    409, f"Version {declared} of {bot} was withdrawn ({reason}); it does not come back."
                )
            if state in (VersionState.ACCEPTED, VersionState.APPROVAL):
                return int(version)
            if job is not None and self.job(job).state in (JobState.WAITING, JobState.RUNNING):
                return int(version)
        may_check()
        self._check_checks(db, now)
        if found is None:
            made = db.execute(
                "INSERT INTO version (bot_id, name, archive, digest, created, state, reason) VALUES (?, ?, '', '', ?, 'waiting', '')",
                (number, declared, now),
            )
            version = int(made.lastrowid or 0)
        else:
            db.execute("UPDATE version SET state = 'waiting', reason = '' WHERE id = ?", (version,))
        self._note(db, now, owner.name, "connected", f"{bot} {declared}, version {version}")
        self._add_job(db, version, now)
        return int(version)

    @staticmethod
    def _check_checks(db: sqlite3.Connection, now: float) -> None:
        """Raises ``NotAllowedError`` where no further check of a remote bot may wait. Who is not there any more waits for nothing."""
        waiting = db.execute(
            "SELECT count(*) FROM job j JOIN connection c ON c.version_id = j.version_id "
            "WHERE j.state IN ('waiting', 'running') AND c.seen >= ?",
            (now - PRESENT_SECONDS,),
        )
        if waiting.fetchone()[0] >= MOST_WAITING:
            raise NotAllowedError(429, "Too many remote bots wait for their checks; try again in a few minutes.")

    def heard(self, owner: Owner, bot: str, session: str, now: float, *, leaves: bool = False) -> RemoteBot:
        """A remote bot is still there, or leaves. Raises ``NotAllowedError`` where another connection has taken over, or it is retired."""
        found = next((one for one in self.connections() if one.bot.casefold() == bot.casefold()), None)
        if found is None or found.owner != owner.name:
            raise NotAllowedError(404, f"You have no remote bot called {bot} here; connect it, or look at your page.")
        if found.session != session:
            raise NotAllowedError(
                409, f"{found.bot} was connected from elsewhere, or once more; this connection is over."
            )
        with self._write() as db:
            db.execute(
                "UPDATE connection SET seen = ? WHERE session = ? AND bot_id = (SELECT id FROM bot WHERE folded = ?)",
                (0.0 if leaves else now, session, bot.casefold()),
            )
        return self.connection(bot)

    def connection(self, bot: str) -> RemoteBot:
        """Where a remote bot is connected, or was. Raises ``NotAllowedError`` if it never was, or was retired."""
        found = next((one for one in self.connections() if one.bot.casefold() == bot.casefold()), None)
        if found is None:
            raise NotAllowedError(404, f"There is no remote bot called {bot} here.")
        return found

    def connections(self) -> list[RemoteBot]:
        """All remote bots that were ever connected and are not retired, nor their owners blocked."""
        return [_connection(row) for row in self._rows(f"{_CONNECTIONS} ORDER BY c.bot_id")]

    def to_be_called(self, now: float) -> list[RemoteBot]:
        """The remote bots that are there, may play, and do not rest."""
        return [
            one
            for one in self.connections()
            if one.state is VersionState.ACCEPTED and one.seen >= now - PRESENT_SECONDS and one.rests <= now
        ]

    def call(self, bot: str, call: BotCall | None, line: str = "") -> None:
        """Calls a remote bot to dial in, or ends its call; ``line``: what its author is told of that."""
        said = "" if call is None else json.dumps([call.what, call.sessions])
        with self._write() as db:
            db.execute(
                "UPDATE connection SET call = ?, line = ? WHERE bot_id = (SELECT id FROM bot WHERE folded = ?)",
                (said, line, bot.casefold()),
            )

    def end_calls(self) -> None:
        """Ends the calls of all remote bots."""
        with self._write() as db:
            db.execute("UPDATE connection SET call = '' WHERE call != ''")

    def rest(self, bot: str, now: float, line: str) -> None:
        """A remote bot was called and did not play: its call is over, and the next one comes after a while, longer each time in a row."""
        with self._write() as db:
            db.execute(
                "UPDATE connection SET call = '', line = ?, absences = absences + 1, "
                "rests = ? + min(? * (1 << min(absences, 10)), ?) WHERE bot_id = (SELECT id FROM bot WHERE folded = ?)",
                (line, now, SHORTEST_REST, LONGEST_REST, bot.casefold()),
            )

    def played(self, bot: str) -> None:
        """A remote bot was called and was there to the end."""
        with self._write() as db:
            db.execute(
                "UPDATE connection SET absences = 0, rests = 0 WHERE bot_id = (SELECT id FROM bot WHERE folded = ?)",
                (bot.casefold(),),
            )

    # The rest.

    def audit(self, *, most: int = 200) -> list[AuditRow]:
        """What was done, the newest first."""
        return [
            AuditRow(*r)
            for r in self._rows("SELECT id, at, who, what, about FROM audit ORDER BY id DESC LIMIT ?", most)
        ]

    def note(self, who: str, what: str, about: str, now: float) -> None:
        """Writes a line into the audit log."""
        with self._write() as db:
            self._note(db, now, who, what, about)

    def setting(self, key: str) -> str:
        """A setting of the host, such as its banner; empty if it was never set."""
        rows = self._rows("SELECT value FROM setting WHERE key = ?", key)
        return str(rows[0][0]) if rows else ""

    def set(self, key: str, value: str, now: float, *, by: str) -> None:
        """Sets a setting. Its value does not stand in the audit log."""
        with self._write() as db:
            db.execute(
                "INSERT INTO setting VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value)
            )
            self._note(db, now, by, "set", key)

    def tell(self, key: str, value: str) -> None:
        """Sets what the host says of itself, such as what its engine waits for. That is nobody's act, and no line of the audit log."""
        if self.setting(key) != value:
            with self._write() as db:
                db.execute(
                    "INSERT INTO setting VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                    (key, value),
                )

    def void_round(self, number: int, reason: str, now: float, *, by: str) -> None:
        """Asks the engine to void what is open of a round. Raises ``NotAllowedError``."""
        _check_reason(reason)
        if not reason:
            raise NotAllowedError(409, "Say why: everybody reads it, and it stays in the record of the round.")
        with self._write() as db:
            db.execute(
                "INSERT INTO setting VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (_VOID_ROUND, f"{number} {reason}"),
            )
            self._note(db, now, by, f"voided the rest of round {number}", reason)

    def why_void(self, number: int, board: str = "") -> str:
        """Why what is open of a round is to be voided; empty if it is not. ``board``: what its engine puts before the names of settings."""
        asked, _, reason = self.setting(board + _VOID_ROUND).partition(" ")
        return reason if asked == str(number) else ""

    def change(self) -> int:
        """A number that is another one when somebody else has changed the store; to ask for it costs next to nothing."""
        return int(self._rows("PRAGMA data_version")[0][0])

    def secret(self) -> str:
        """The secret with which the site signs its sessions; made when it is first asked for."""
        with self._write() as db:
            db.execute("INSERT OR IGNORE INTO setting VALUES ('secret', ?)", (secrets.token_hex(32),))
        return self.setting("secret")

    def _name_of(self, owner: int) -> str:
        found = self.owner(owner)
        return "" if found is None else found.name

    @staticmethod
    def _note(db: sqlite3.Connection, now: float, who: str, what: str, about: str) -> None:
        db.execute("INSERT INTO audit (at, who, what, about) VALUES (?, ?, ?, ?)", (now, who, what, about[:1000]))

    def _rows(self, query: str, *values: object) -> list[Any]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        """A transaction; one inside another is part of it."""
        with self._lock:
            if self._db.in_transaction:
                yield self._db
                return
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise


def _check_reason(reason: str) -> None:
    """A reason is shown to many, and stands in the record of a ladder: one plain line."""
    if len(reason) > LONGEST_REASON or not is_readable(reason):
        raise NotAllowedError(409, f"A reason is one line of at most {LONGEST_REASON} printable characters.")


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _tail(log: str) -> str:
    return log.encode("utf-8", "replace")[-LOG_BYTES:].decode("utf-8", "replace")


def _job(row: Sequence[Any]) -> Job:
    values = list(row)
    values[5], values[12] = JobState(values[5]), json.loads(values[12])
    return Job(*values)


def _version(row: Sequence[Any]) -> Version:
    values = list(row)
    values[7], values[9], values[10] = VersionState(values[7]), bool(values[9]), bool(values[10])
    return Version(*values)


def _connection(row: Sequence[Any]) -> RemoteBot:
    values = list(row)
    values[4] = VersionState(values[4])
    if values[9]:
        what, sessions = json.loads(values[9])
        values[9] = BotCall(what, tuple((address, token) for address, token in sessions))
    else:
        values[9] = None
    return RemoteBot(*values)

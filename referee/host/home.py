"""The folder of a host: everything that it keeps, beside the definition of its ladder."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class HostHome:
    """The places in a host's folder. Nothing in it has a name that a stranger chose.

    ``definition``: the file of its ladder.
    """

    definition: Path
    folder: Path

    @classmethod
    def beside(cls, definition: Path) -> "HostHome":
        """The folder of the host of that definition: ``ladder.toml`` has ``ladder.host``."""
        return cls(definition, definition.with_suffix(".host"))

    @property
    def store(self) -> Path:
        """Owners, bots, versions, jobs and the audit log: written by the site and the jobs."""
        return self.folder / "host.sqlite"

    @property
    def ladder(self) -> Path:
        """The ladder itself: written by the engine alone."""
        return self.folder / "ladder.sqlite"

    @property
    def ladder_logs(self) -> Path:
        """What bots print while they play."""
        return self.ladder.with_suffix(".logs")

    @property
    def remote(self) -> Path:
        """The board of remote bots: written by the process that plays it."""
        return self.folder / "remote.sqlite"

    def archive(self, digest: str) -> Path:
        """What was handed in, as it came; ``digest`` is its SHA-256. It is there before the store knows of it."""
        return self.folder / "uploads" / f"{digest}.zip"

    def bot(self, version: int) -> Path:
        """The folder of a version, unpacked and built; it is played from here."""
        return self.folder / "bots" / str(version)

    def findings(self, job: int) -> Path:
        """What the check of a job has found: witnesses with their replay pages, the build's output."""
        return self.folder / "jobs" / str(job)

    def cache(self, program: str) -> Path:
        """What a build that calls that program (``go``, ``cargo``, ``npm``, ``mvn`` ...) finds in its home, if the organiser has put
        anything there: packages, so that it needs no network. Each build gets a copy of its own.
        """
        return self.folder / "cache" / program

    @property
    def records(self) -> Path:
        """Records of old rounds, in the archives that the ladder tells of; written by the engine alone."""
        return self.folder / "records"

    @property
    def board(self) -> Path:
        """The last board that the site has worked out; it may be lost."""
        return self.folder / "board.json"

    @property
    def remote_board(self) -> Path:
        """The same of remote bots."""
        return self.folder / "remote-board.json"

    def log(self, part: str) -> Path:
        """What a part of the host (``web``, ``engine``, ``jobs``, ``remote``) writes."""
        return self.folder / "logs" / f"{part}.log"

    def make(self) -> None:
        """Makes the folders that are not there; others may not look into them. Raises ``OSError``."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in ("uploads", "bots", "jobs", "logs", "records"):
            (self.folder / name).mkdir(mode=0o700, exist_ok=True)

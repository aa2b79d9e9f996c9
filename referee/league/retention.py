"""Records of old rounds of a ladder go to files of their own; results, and all that follows from them, stay.

A file is whole on the disk, and has been read back, before the ladder lets go of what it holds; that, and the file's digest, is one
transaction. Who is killed before it finds everything in the ladder, who is killed after it finds everything in the file.
"""

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final

from referee.league.ladder_history import closed_rounds, is_ladder, rounds_of, sets_of_round
from referee.league.league import League, LeagueError
from referee.league.store import Store, StoreError
from referee.league.store.archived_records import ENDING, RecordArchive, file_digest, write_records
from referee.league.store.league_facts import ArchivedRecords
from referee.umpire.record import record_digest

PAGES_A_STEP: Final = 1_000
"""Free pages that are given back at once."""

_ROOM_TO_REWRITE: Final = 2.5


def rounds_archived(store: Store) -> int:
    """Up to which round of a ladder the records lie in archives; 0 where none do."""
    archives = store.archives()
    return archives[-1]["last_round"] if archives else 0


def archive_name(first: int, last: int) -> str:
    """The name of the archive of these rounds."""
    return f"rounds-{first}-{last}{ENDING}"


def due_rounds(store: Store, league: League, keep: int) -> list[int]:
    """Before which rounds records are to be archived, a file each, so that those of the last ``keep`` closed rounds stay.

    Only once there are as many again: so a file holds ``keep`` rounds, or more where nothing was played in them.
    """
    archives = store.archives()
    archived, last_game = (archives[-1]["last_round"], archives[-1]["last_game"]) if archives else (0, 0)
    ends = list(accumulate(map(sets_of_round, rounds_of(league)), initial=0))
    due = list[int]()
    for before in range(archived + keep + 1, closed_rounds(league) - keep + 2, keep) if keep else ():
        newest = store.last_game_before(ends[before - 1])
        if newest > last_game:
            due.append(before)
            last_game = newest
    return due


def archive_rounds(
    store: Store, league: League, before: int, target: Path, *, replace: bool = False
) -> ArchivedRecords:
    """Moves the records of all rounds before one to a new file. ``replace``: also where there is a file that the ladder does not know.

    Raises ``LeagueError`` where there is nothing to move, or these rounds are not closed; ``StoreError`` where the file cannot be made.
    """
    about = _planned(store, league, before)
    if not target.name.endswith(ENDING):
        raise StoreError(f"{target}: the name of an archive ends in {ENDING}; give it that")
    numbers = store.record_digests(about["first_game"], about["last_game"])
    with _draft(target) as draft:
        _write(draft, store, [number for number, _ in numbers])
        _read_back(draft, numbers)
        about["digest"] = file_digest(draft)
        _put_in_place(draft, target, about["digest"], replace=replace)
    about["file"] = _from_folder_of(store.path, target)
    store.drop_records([*store.archives(), about])
    return about


def _planned(store: Store, league: League, before: int) -> ArchivedRecords:
    if not is_ladder(league):
        raise LeagueError(f'{store.path} is no ladder: its definition does not say format = "ladder"')
    closed, archived = closed_rounds(league), rounds_archived(store)
    if before - 1 > closed:
        raise LeagueError(
            f"{store.path} has {closed} closed rounds, so archive before round {closed + 1}, or an earlier one"
        )
    if before - 1 <= archived:
        done = (
            f"the records of rounds 1 to {archived} are in archives already"
            if archived
            else "there is no earlier round"
        )
        raise LeagueError(f"{store.path}: nothing to archive before round {before}: {done}")
    earlier = store.archives()
    first = earlier[-1]["last_game"] + 1 if earlier else 1
    last = store.last_game_before(sum(map(sets_of_round, rounds_of(league)[: before - 1])))
    if last < first:
        raise LeagueError(
            f"{store.path}: nothing to archive before round {before}: no game of these rounds has a record"
        )
    return {
        "file": "",
        "digest": "",
        "first_round": archived + 1,
        "last_round": before - 1,
        "first_game": first,
        "last_game": last,
    }


@contextlib.contextmanager
def _draft(target: Path) -> Iterator[Path]:
    """A place beside the target; one that was left by somebody who was killed is taken over."""
    draft = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft.unlink(missing_ok=True)
        try:
            yield draft
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error.strerror}; the ladder is as it was") from None


def _write(draft: Path, store: Store, numbers: Sequence[int]) -> None:
    with open(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:  # noqa: PTH123  # of a descriptor
        write_records(file, ((number, store.record(number)) for number in numbers))
        file.flush()
        os.fsync(file.fileno())


def _read_back(draft: Path, digests: Sequence[tuple[int, str]]) -> None:
    """Raises ``StoreError`` unless the file holds just these records."""
    with RecordArchive(draft) as archive:
        found = [(number, record_digest(record)) for number, record in archive.lines()]
    if found != list(digests):
        odd = next((one[0] for one, other in zip(digests, found, strict=False) if one != other), digests[-1][0])
        raise StoreError(
            f"the record of game {odd} is not the one that was played: verify the ladder; nothing was archived"
        )


def _put_in_place(draft: Path, target: Path, digest: str, *, replace: bool) -> None:
    if replace:
        draft.replace(target)
    else:
        try:
            os.link(draft, target)
        except OSError as error:
            if target.exists():  # that of somebody who was killed before the ladder knew of it is the same
                if file_digest(target) != digest:
                    raise StoreError(f"{target} exists already; name another file with --to") from None
            elif error.errno in (errno.EPERM, errno.ENOTSUP):
                draft.replace(target)  # no hard links there, as on many a memory stick
            else:
                raise
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _from_folder_of(store: Path, target: Path) -> str:
    """The file as a path from the folder of the ladder where it lies in it, so that both can move."""
    try:
        return target.resolve().relative_to(store.resolve().parent).as_posix()
    except ValueError:
        return str(target.resolve())


def give_back(store: Store, stopped: Callable[[], bool] = lambda: False) -> bool:
    """Gives the room of what has gone back to the disk, in small steps, until it is done or ``stopped``.

    Returns whether it was done: a ladder of an earlier Referee cannot, and uses its room for games to come.
    """
    left = store.free_pages()
    while left and not stopped():
        before, left = left, store.shrink(PAGES_A_STEP)
        if left >= before:
            return False
    return not left


def rewrite_if_room(store: Store) -> bool:
    """Writes the file of a ladder anew, without free room, if the disk has room for that; returns whether it has."""
    if shutil.disk_usage(store.path.parent).free < _ROOM_TO_REWRITE * store.path.stat().st_size:
        return False
    store.rewrite()
    return True

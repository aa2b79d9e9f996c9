"""What is sent to the site: archives as streams, and forms. All of it is bounded in size and time."""

import asyncio
import hashlib
import os
import secrets
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.types import Message, Receive

from referee.host.rows import Job, Owner
from referee.host.store import NotAllowedError
from referee.host.web.sessions import COOKIE
from referee.host.web.site import Site, site_of

UPLOAD_S: Final = 300.0
"""How long handing in may take."""

FORM_BYTES: Final = 64 * 1024
"""The most bytes of a form without an archive."""

SOURCES: Final = "Referee-Sources"
"""The header in which a program says what it was told of the sources: private or public."""

_JSON_BYTES: Final = 4096
_JSON_TOO_LARGE: Final = f"An object may have {_JSON_BYTES} bytes here."

_FORM_S: Final = 30.0
_CHUNK: Final = 1 << 20
_MORE_OF_A_FORM: Final = 16 * 1024
"""What a form has around its archive, at most."""

Stream = AsyncIterator[bytes]


async def read_json(request: Request) -> Mapping[str, object]:
    """The object that a program sends. Raises ``NotAllowedError``."""
    _check_length(request, _JSON_BYTES, _JSON_TOO_LARGE)
    body = bytearray()
    async for chunk in Request(request.scope, _bounded(request, _JSON_BYTES, _JSON_TOO_LARGE)).stream():
        body += chunk
    try:
        value = orjson.loads(body)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise NotAllowedError(400, "Send an object in JSON.")
    return value


def may_hand_in(site: Site, owner: Owner) -> None:
    """Raises ``NotAllowedError`` where nothing is taken in at the moment, before anything of it is read."""
    if not site.store.setting("sandbox"):
        line = site.store.setting("sandbox_line") or "the organiser has to install bubblewrap"
        raise NotAllowedError(503, f"Nothing can be handed in, as this host has no sandbox: {line}.".replace("..", "."))
    may_enter(site, owner)


def may_enter(site: Site, owner: Owner) -> None:
    """Raises ``NotAllowedError`` where no bot and no version enters at the moment, wherever it runs."""
    closes = site.host.closes
    if closes is not None and site.clock() > closes.timestamp():
        raise NotAllowedError(409, f"Handing in ended at {closes.isoformat(sep=' ')}.")
    if site.store.setting("frozen") == "1":
        raise NotAllowedError(409, "The ladder is frozen: nobody enters any more.")
    if owner.blocked:
        raise NotAllowedError(403, f"The organiser has blocked {owner.name}: {owner.blocked}.")


@contextmanager
def place_to_hand_in(site: Site, owner: Owner) -> Iterator[None]:
    """One of the places for uploads; only whoever has one uses up a version of the hour. Raises ``TooOftenError``."""
    with site.limits.upload_places.place(str(owner.id)):
        site.limits.uploads.take(str(owner.id))
        yield


async def hand_in(request: Request, owner: Owner, bot: str, stream: Stream) -> tuple[Job, bool]:
    """Takes an archive in as a version of a bot; returns its job, and whether that is new. Raises ``NotAllowedError``.

    Whoever calls it has one of the site's places for uploads.
    """
    site = site_of(request)
    told = request.headers.get(SOURCES, site.host.sources)
    if told != site.host.sources:
        raise NotAllowedError(
            409,
            f"What is handed in here is {site.host.sources} now, and was not when you were told: look again, and hand it in once more.",
        )
    part = site.home.folder / "uploads" / f"part-{secrets.token_hex(12)}"
    try:
        try:
            async with asyncio.timeout(UPLOAD_S):
                digest = await _to_file(stream, part, site.host.upload_mib)
        except TimeoutError:
            raise NotAllowedError(408, f"It took longer than {UPLOAD_S:.0f} seconds; try again.") from None
        return await run_in_threadpool(_take_in, site, owner, bot, part, digest)
    except OSError as error:
        raise _no_room(error.strerror) from None
    except sqlite3.OperationalError as error:
        raise _no_room(str(error)) from None
    finally:
        part.unlink(missing_ok=True)


def _no_room(why: object) -> NotAllowedError:
    told = "The host cannot store it at the moment; try again later, or tell the organiser."
    return NotAllowedError(507, f"{told} ({why})")


async def _to_file(stream: Stream, path: Path, mib: int) -> str:
    """Writes what comes to a new file and returns its SHA-256."""
    digest, size, most, waiting = hashlib.sha256(), 0, mib << 20, bytearray()
    file = await run_in_threadpool(os.open, path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        async for chunk in stream:
            size += len(chunk)
            if size > most:
                raise NotAllowedError(413, too_large(mib))
            digest.update(chunk)
            waiting += chunk
            if len(waiting) >= _CHUNK:
                await run_in_threadpool(_write, file, bytes(waiting))
                waiting.clear()
        if not size:
            raise NotAllowedError(400, "Nothing was sent: send the zip archive of the bot's folder.")
        await run_in_threadpool(_write, file, bytes(waiting))
        await run_in_threadpool(os.fsync, file)
    finally:
        os.close(file)
    return digest.hexdigest()


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def too_large(mib: int) -> str:
    """What is said of an archive that is too large."""
    return f"An archive may have {mib} MiB here, and this one has more: leave out what can be built, and data that it does not need."


def _take_in(site: Site, owner: Owner, bot: str, part: Path, digest: str) -> tuple[Job, bool]:
    archive = site.home.archive(digest)
    with site.handing_in:
        newest = next(iter(site.store.jobs(most=1)), None)
        was_there = archive.exists()
        part.replace(archive)
        _sync_folder(archive.parent)
        try:
            job = site.store.hand_in(
                owner,
                bot,
                digest,
                site.clock(),
                most_bots=site.host.bots_per_owner,
                taken=sorted(site.taken()),
                public=site.host.sources == "public",
            )
        except BaseException:
            if not was_there:
                archive.unlink(missing_ok=True)
            raise
    return job, newest is None or job.id > newest.id


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


Form = Mapping[str, str]


async def read_form(request: Request) -> Form:
    """The fields of a form of ours, which has brought its token. Raises ``NotAllowedError``."""
    check_origin(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise NotAllowedError(415, "Send the form of the page.")
    _check_length(request, FORM_BYTES, f"A form may have {FORM_BYTES // 1024} KiB.")
    bounded = Request(request.scope, _bounded(request, FORM_BYTES, f"A form may have {FORM_BYTES // 1024} KiB."))
    try:
        async with asyncio.timeout(_FORM_S), bounded.form(max_files=0, max_fields=40) as given:
            fields = {name: value for name, value in given.multi_items() if isinstance(value, str)}
    except TimeoutError:
        raise NotAllowedError(408, "The form came too slowly; try again.") from None
    except (HTTPException, MultiPartException, ValueError):
        raise NotAllowedError(400, "This form cannot be read; load the page again.") from None
    await run_in_threadpool(check_form_token, request, fields.get("form_token", ""))
    return fields


async def read_archive_form(request: Request) -> tuple[Form, UploadFile]:
    """The fields of a form with an archive, and the archive. Raises ``NotAllowedError``."""
    check_origin(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "multipart/form-data":
        raise NotAllowedError(415, "Send the form of the page.")
    mib = site_of(request).host.upload_mib
    most = (mib << 20) + _MORE_OF_A_FORM
    _check_length(request, most, too_large(mib))
    bounded = Request(request.scope, _bounded(request, most, too_large(mib)))
    try:
        async with asyncio.timeout(UPLOAD_S):
            given = await bounded.form(max_files=1, max_fields=10, max_part_size=_MORE_OF_A_FORM)
    except TimeoutError:
        raise NotAllowedError(408, f"It took longer than {UPLOAD_S:.0f} seconds; try again.") from None
    except (HTTPException, MultiPartException, ValueError):
        raise NotAllowedError(400, "This form cannot be read; load the page again.") from None
    except OSError as error:  # what is large lies on the disk meanwhile
        raise _no_room(error.strerror) from None
    fields = {name: value for name, value in given.multi_items() if isinstance(value, str)}
    archive = given.get("archive")
    if not isinstance(archive, UploadFile):
        await given.close()
        raise NotAllowedError(400, "Choose the zip archive of the bot's folder.")
    try:
        await run_in_threadpool(check_form_token, request, fields.get("form_token", ""))
    except NotAllowedError:
        await given.close()
        raise
    return fields, archive


async def chunks_of(archive: UploadFile) -> Stream:
    """An archive of a form as a stream."""
    while chunk := await archive.read(_CHUNK):
        yield chunk


def check_origin(request: Request) -> None:
    """Raises ``NotAllowedError`` for a form that another site has sent."""
    origin, site = request.headers.get("origin"), site_of(request)
    elsewhere = request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")
    try:
        known = origin is None or _authority(origin) == _authority(site.url(request))
    except ValueError:
        known = False
    if elsewhere or not known:
        raise NotAllowedError(403, "This form was sent from another site; open the page here, and send it from there.")


def _authority(url: str) -> tuple[str | None, int]:
    """Host and port, as browsers compare them. Raises ``ValueError``."""
    parts = urlsplit(url)
    return parts.hostname, parts.port or {"https": 443}.get(parts.scheme, 80)


def check_form_token(request: Request, given: str) -> None:
    """Raises ``NotAllowedError`` for a form that does not belong to the session."""
    sessions = site_of(request).sessions
    if not sessions.is_form_token(sessions.read(request.cookies.get(COOKIE)), given):
        raise NotAllowedError(
            403, "This form is too old, or cookies are off; load the page again, and send it once more."
        )


def check_length(request: Request, mib: int) -> None:
    """Raises ``NotAllowedError`` for a body that says itself that it is too large."""
    _check_length(request, mib << 20, too_large(mib))


def _check_length(request: Request, most: int, sentence: str) -> None:
    text = request.headers.get("content-length", "0")
    if not (text.isascii() and text.isdigit()):
        raise NotAllowedError(400, "The header Content-Length is no number.")
    if len(text) > 15 or int(text) > most:
        raise NotAllowedError(413, sentence)


def _bounded(request: Request, most: int, sentence: str) -> Receive:
    """What the request receives, up to so many bytes; then it raises ``NotAllowedError``."""
    size = 0

    async def receive() -> Message:
        nonlocal size
        message = await request.receive()
        size += len(message.get("body", b""))
        if size > most:
            raise NotAllowedError(413, sentence)
        return message

    return receive

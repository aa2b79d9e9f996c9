"""What an export says of itself, and the files that stand in it for people, verified."""

import hashlib
import shlex
from collections.abc import Sequence

from referee.league.export import DEFINITION, SCHEMA, definition_toml
from referee.league.ladder_history import is_ladder
from referee.league.league import League
from referee.league.store import Exported, GameRow, StoreError
from referee.league.store.archived_records import archived_in
from referee.league.store.export_format import MANIFEST, ExportManifest, dumped, export_schema
from referee.league.store.exported import PARTS
from referee.verification.result import Check, Findings


def check_export(source: Exported, league: League, games: Sequence[GameRow], found: Findings) -> None:
    """The manifest tells of this league; each game has one record, in its order; further files are those that were written."""
    manifest = source.manifest
    places = list(source.record_places())
    numbers = [game.number for game in games if archived_in(source.archives(), game.number) is None]
    found.differ(Check.EXPORT, "games of records.jsonl", places if places != numbers else "", "")
    rows = {f"{name}.jsonl": sum(1 for _ in lines) for name, lines in source.parts()} | {"records.jsonl": len(places)}
    for name in (*(f"{part}.jsonl" for part in PARTS), "records.jsonl"):
        found.differ(Check.EXPORT, f"{MANIFEST}: rows of {name}", manifest["rows"].get(name), rows[name])
    found.differ(Check.EXPORT, f"{MANIFEST}: files with rows", sorted(manifest["rows"]), sorted(rows))
    found.differ(Check.EXPORT, f"{MANIFEST}: league", manifest["league"], league.name)
    found.differ(Check.EXPORT, f"{MANIFEST}: written_by", bool(manifest["written_by"]), True)
    folder, published = _folder_of(manifest), ["--commitment", league.commitment]
    if root := league.facts.get("record_root"):
        published += ["--record-root", root]
    verify = shlex.join(["referee", "verify", folder, *published])
    found.differ(Check.EXPORT, f"{MANIFEST}: verify", manifest["verify"], verify)
    rerun = shlex.join(["referee", "rerun", folder, "--bots", "FOLDER"])
    found.differ(Check.EXPORT, f"{MANIFEST}: rerun", manifest["rerun"], rerun)
    if not source.is_first:
        _check_files(source, league, found)


def _folder_of(manifest: ExportManifest) -> str:
    """The folder as the command to verify it names it."""
    try:
        return (*shlex.split(manifest["verify"]), "", "", "")[2] or "FOLDER"
    except ValueError:
        return "FOLDER"


def _check_files(source: Exported, league: League, found: Findings) -> None:
    """The schema and the definition are made again; of the tables there are digests."""
    files = source.manifest.get("files", {})
    made = {SCHEMA: dumped(export_schema(ladder=is_ladder(league))), DEFINITION: definition_toml(league).encode()}
    for name in sorted({*files, *made}):
        if "/" in name or name.startswith("."):
            found.differ(Check.EXPORT, f"{MANIFEST}: files", name, "names of files in this folder")
            continue
        try:
            data = source.text(name)
        except StoreError as error:
            found.differ(Check.EXPORT, name, str(error), "a file")
            continue
        found.differ(Check.EXPORT, f"digest of {name}", files.get(name), hashlib.sha256(data).hexdigest())
        if name in made and data != made[name]:
            found.differ(Check.EXPORT, name, "another text", "what follows from the league")

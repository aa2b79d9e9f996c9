"""A tournament definition: read from TOML, checked as a whole, frozen and named by a digest.

>>> definition = parse_definition('''
... [tournament]
... name = "Kitchen-table league"
... variant = "auction-pitch"
... seats = 4
... [[bots]]
... path = "careful"
... ''')
>>> definition.schedule.sets, definition.rule_set().title
(6, 'Auction Pitch')
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import Field, PrivateAttr, ValidationError, model_validator

from referee.league.definition.consistency import findings, hosting, pairing
from referee.league.definition.fields import (
    BotSection,
    HostSection,
    LimitsSection,
    PairSection,
    PolicySection,
    ScheduleSection,
    Section,
    TournamentSection,
)
from referee.league.definition.model_problems import FieldProblem, finding_error, problems_of
from referee.league.definition.problems import Location, Problem, ProblemsError, near
from referee.league.definition.shipped import shipped_tournaments
from referee.league.definition.toml_file import Document, parse, read_text
from referee.league.schedule.format import Shape
from referee.rules import RuleSet, variant, variant_names
from referee.rules.registry import ALIASES

SCHEMA_VERSION = 1
"""Version of the definition's format. It is part of the canonical form."""

LARGEST = 256 * 1024
"""The most bytes of a definition file."""

_CAME_LATER = (("limits", "start_s"),)
"""Fields, by section, that the first definitions did not have."""

_S = TypeVar("_S", bound=Section)


class DefinitionError(ProblemsError):
    """A definition that cannot be used: every problem, one a line, each with file, line, field and remedy."""


class Definition(Section):
    """A whole tournament. Immutable; equal definitions have equal digests."""

    tournament: TournamentSection
    rules: dict[str, Any] = Field(default={}, description="House rules that differ from the variant, by name.")
    schedule: ScheduleSection = ScheduleSection()
    limits: LimitsSection = LimitsSection()
    policy: PolicySection = PolicySection()
    bots: tuple[BotSection, ...] = Field(
        default=(),
        max_length=10_000,
        strict=False,
        description="Who plays. None: an open registration, which referee submit enters bots in.",
    )

    host: HostSection | None = Field(
        default=None,
        description="On a ladder: where and for whom referee host shows it. It decides nothing about games.",
    )
    pairs: tuple[PairSection, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=10_000,
        strict=False,
        description="Who plays with whom, in games of partners. Absent: each bot holds both seats of its side.",
    )

    _document: Document = PrivateAttr(default=Document("definition", {}, {(): 0}))
    _folder: Path = PrivateAttr(default=Path())

    def model_post_init(self, context: Any, /) -> None:
        """Remembers where the definition came from; that is no part of what it says."""
        if context:
            self._document, self._folder = context

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        found = findings(
            self.tournament.variant, self.tournament, self.rules, self.schedule, self.limits, self.policy, self.bots
        )
        found += pairing(self)
        found += hosting(self.schedule, self.host)
        if found:
            raise finding_error(*found)
        return self

    def __eq__(self, other: object) -> bool:
        """Definitions are equal if they say the same, wherever they were read."""
        return self.canonical() == other.canonical() if isinstance(other, Definition) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest())

    @property
    def folder(self) -> Path:
        """The folder of the definition file: relative paths start there."""
        return self._folder

    @property
    def host_section(self) -> HostSection:
        """``[host]``, or what holds without it."""
        return self.host or HostSection()

    @property
    def file(self) -> str:
        """The definition file as errors name it."""
        return self._document.file

    def rule_set(self) -> RuleSet:
        """The rule set played: the variant with the changes of ``[rules]``."""
        return variant(self.tournament.variant).with_rules(self.rules)

    def shape(self) -> Shape:
        """What the schedule needs to know."""
        return Shape(
            seats=self.tournament.seats,
            sides=self.rule_set().sides,
            format=self.schedule.format,
            duplicate=self.schedule.duplicate,
            sets=self.schedule.sets,
            max_tables=self.schedule.max_tables,
            pairs=bool(self.pairs),
            objective=self.tournament.objective,
            until_resolved=self.schedule.until_resolved,
            alpha=self.schedule.alpha,
            margin=self.schedule.margin,
            extra=self.schedule.extra,
        )

    def with_sets(self, sets: int) -> Self:
        """The same tournament with another number of sets for each table (at least 1)."""
        return self.with_schedule(sets=sets)

    def with_schedule(self, **changes: Any) -> Self:
        """The same tournament with other values in ``[schedule]``; ``DefinitionError`` for values that cannot be."""
        try:
            schedule = ScheduleSection.model_validate(self.schedule.model_dump() | changes)
        except ValidationError as error:
            raise DefinitionError(problems_of(error, ScheduleSection, self._document)) from None
        return self.model_copy(update={"schedule": schedule})

    def canonical(self) -> dict[str, Any]:
        """Everything that the definition says of the games, defaults included, as JSON values; ``restore_definition`` reads it.

        A field that came later is left out where it has its default: definitions from before it keep their digest.
        """
        said = self.model_dump(mode="json", exclude_none=True, exclude={"host"})
        for section, field in _CAME_LATER:
            if said[section].get(field) == getattr(type(self).model_fields[section].default, field):
                del said[section][field]
        return {"schema": SCHEMA_VERSION, **said}

    def digest(self) -> str:
        """SHA-256 of the canonical form, in hexadecimal. Comments and layout of the file do not change it."""
        text = json.dumps(self.canonical(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def problem(self, where: Location, found: str, allowed: str, remedy: str) -> Problem:
        """A problem at a place of the definition file that came to light later."""
        return self._document.problem(where, allowed, remedy, found)


def load_definition(path: Path | str) -> Definition:
    """The definition in a TOML file; ``DefinitionError`` with every problem of the file."""
    path = Path(path)
    meant = near(path.stem, shipped_tournaments())
    hint = f", or use the one that is shipped: {shipped_tournaments()[meant]}" if meant else ""
    try:
        text = read_text(path, LARGEST, f"check the path{hint}")
    except ProblemsError as error:
        raise DefinitionError(error.problems) from None
    return parse_definition(text, file=str(path), folder=path.parent)


def parse_definition(text: str, *, file: str = "definition", folder: Path | str = ".") -> Definition:
    """The definition in a TOML text. ``file`` names it in errors, relative paths start at ``folder``."""
    try:
        document = parse(text, file)
    except ProblemsError as error:
        raise DefinitionError(error.problems) from None
    return _validated(document, Path(folder))


def restore_definition(canonical: Mapping[str, Any], folder: Path | str) -> Definition:
    """The definition that ``canonical`` wrote down; ``DefinitionError`` if this version cannot read it."""
    data = dict(canonical)
    schema = data.pop("schema", None)
    document = Document("frozen definition", data, {(): 0})
    if schema != SCHEMA_VERSION:
        remedy = "use the version of the referee that wrote it"
        raise DefinitionError([document.problem(("schema",), str(SCHEMA_VERSION), remedy, repr(schema)[:40])])
    return _validated(document, Path(folder))


def definition_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a definition, for editors and other programs."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Definition.model_json_schema(),
        "title": "Tournament definition",
    }


def _validated(document: Document, folder: Path) -> Definition:
    try:
        return Definition.model_validate(document.data, context=(document, folder))
    except ValidationError as error:
        problems = problems_of(error, Definition, document)
        # pydantic looks at the whole only when every part is sound; people want to hear everything at once.
        problems += [finding.problem(document) for finding in _partial_findings(document)]
        raise DefinitionError(sorted(dict.fromkeys(problems), key=lambda problem: problem.line)) from None


def _partial_findings(document: Document) -> list[FieldProblem]:
    """The findings about the sections that are sound by themselves."""
    game = document.value(("tournament", "variant"))
    entries = document.data.get("bots")
    bots = [_part(BotSection, entry) for entry in entries] if isinstance(entries, list) else []
    changes = document.data.get("rules", {})
    return findings(
        game if isinstance(game, str) and game in {*variant_names(), *ALIASES} else None,
        _part(TournamentSection, document.data.get("tournament")),
        changes if isinstance(changes, dict) else {},
        _part(ScheduleSection, document.data.get("schedule", {})),
        _part(LimitsSection, document.data.get("limits", {})),
        _part(PolicySection, document.data.get("policy", {})),
        bots,
    )


def _part(model: type[_S], value: Any) -> _S | None:
    try:
        return model.model_validate(value)
    except ValidationError:
        return None

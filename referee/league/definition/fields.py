"""The sections of a tournament definition as models: their fields, defaults and ranges, and what they mean together."""

import json
import re
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from referee import rules
from referee.league.definition.model_problems import FieldProblem, finding_error
from referee.league.definition.names import BotName, BotVersion, PlainText, is_readable
from referee.league.definition.problems import near, one_of
from referee.league.schedule.formats import FORMATS

Objective = Literal["place", "stakes", "points"]
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def _seconds_of(text: str) -> int:
    return int(text[:-1]) * _SECONDS[text[-1]]


ENVIRONMENT_ALLOWED: Final = 'up to 64 variables with texts, such as { DEPTH = "3" }; no name with REFEREE_'


def environment(values: dict[str, Any]) -> dict[str, str]:
    """Variables for a bot's environment, checked; raises what a validator raises, told at the variable that is wrong."""
    if len(values) > 64:
        raise finding_error(FieldProblem((), ENVIRONMENT_ALLOWED, "leave some out"))
    found = []
    for name, value in values.items():
        if re.fullmatch(r"(?!REFEREE_)[A-Za-z_][A-Za-z0-9_]{0,99}", name) is None:
            found.append(
                FieldProblem(
                    (name,), "a name of letters, digits and _, no digit first, no REFEREE_", "give it another name"
                )
            )
        elif not isinstance(value, str):
            told = json.dumps(str(value).lower() if isinstance(value, bool) else str(value)[:40])
            found.append(FieldProblem((name,), "a text", f"put it in quotes, such as {told}"))
        elif len(value) > 4096 or not is_readable(value, lines=True):
            found.append(
                FieldProblem((name,), "text of up to 4096 readable characters", "shorten it, or put it into a file")
            )
    if found:
        raise finding_error(*found)
    return values


class Section(BaseModel):
    """A section of a file: unknown fields are refused, nothing is converted, nothing changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class TournamentSection(Section):
    """``[tournament]``: which game is played, by how many, and for what."""

    name: str = Field(
        min_length=1,
        max_length=80,
        description="Title of the tournament.",
        examples=["Kitchen-table league"],
        json_schema_extra={"x-allowed": "text of 1 to 80 readable characters in one line"},
    )
    variant: str = Field(
        description="Name of a variant; [rules] changes single house rules.",
        examples=["auction-pitch"],
        json_schema_extra={"x-allowed": one_of(rules.variant_names()), "pattern": "^[a-z][a-z-]+$"},
    )
    seats: int = Field(ge=2, le=7, description="Seats at a table.", examples=[4])
    objective: Objective = Field(
        default="place", description="What bots are told to maximise and what ranks them. Where length is deal: points."
    )
    length: Literal["target", "deal"] = Field(
        default="target", description="A game is played to the target, or each deal is a game of its own, from 0."
    )

    @model_validator(mode="before")
    @classmethod
    def _deal_means_points(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("length") == "deal":
            return {"objective": "points"} | data
        return data

    @field_validator("name")
    @classmethod
    def _readable(cls, name: str) -> str:
        if not is_readable(name) or not name.strip():
            allowed = "text of 1 to 80 readable characters in one line"
            raise finding_error(FieldProblem((), allowed, "take control and direction marks out of the name"))
        return name

    @field_validator("variant")
    @classmethod
    def _known_variant(cls, name: str) -> str:
        try:
            rules.variant(name)
        except rules.RuleSetError:
            known = rules.variant_names()
            meant = near(name, known)
            remedy = f'did you mean "{meant}"?' if meant else "choose one of these"
            raise finding_error(FieldProblem((), one_of(known), remedy)) from None
        return name

    @model_validator(mode="after")
    def _deals_rank_by_points(self) -> Self:
        if self.length == "deal" and self.objective != "points":
            remedy = 'write objective = "points", or length = "target"'
            raise finding_error(FieldProblem(("objective",), '"points" where length = "deal"', remedy))
        return self


def _formats_in_words() -> str:
    *most, last = [one.words for one in FORMATS.values()]
    text = "; ".join([*most, f"or {last}"])
    return f"{text[0].upper()}{text[1:]}."


class ScheduleSection(Section):
    """``[schedule]``: who sits with whom, and how often."""

    format: str = Field(
        default=next(iter(FORMATS)),
        description=_formats_in_words(),
        json_schema_extra=lambda schema: schema.update(enum=[*FORMATS]),
    )
    duplicate: bool = Field(
        default=True, description="Whether the packs of a set are played again in every rotation of the seats."
    )
    sets: int = Field(
        default=6,
        ge=1,
        le=100_000,
        description="Sets for each table; with duplicate, a set is a game a rotation. On a ladder: sets that each bot plays in "
        "the balanced part of a round.",
    )
    seed: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Makes the deals reproducible, and so not secret. Absent: a secret master is drawn.",
    )
    max_tables: int = Field(
        default=2000,
        ge=1,
        le=1_000_000,
        description="The most tables a schedule may have. If there would be more, a balanced part of them is played.",
    )
    until_resolved: float | None = Field(
        default=None,
        ge=0.5,
        le=0.9999,
        description="Stop as soon as all neighbours in the table are told apart with this certainty, such as 0.95. Absent: "
        "play all sets.",
    )
    alpha: float | None = Field(
        default=None,
        ge=0.0001,
        le=0.5,
        description="In a comparison: how often, at most, equal versions are told apart. Absent: 0.05.",
    )
    margin: float | None = Field(
        default=None,
        ge=0.001,
        le=100,
        description="In a comparison: the difference a game that does not matter. Absent: 0.1 points or stakes, 0.05 place "
        "points.",
    )
    extra: int | None = Field(
        default=None,
        ge=0,
        le=10_000,
        description="On a ladder: tables of a round for neighbours whose order is open. Absent: one for every four tables of "
        "the balanced part.",
    )

    @field_validator("format")
    @classmethod
    def _known_format(cls, name: str) -> str:
        if name not in FORMATS:
            raise ValueError(f"no schedule format: {name}")
        return name

    @model_validator(mode="after")
    def _options_of_the_format(self) -> Self:
        own, found = FORMATS[self.format], []
        for name in sorted({option for one in FORMATS.values() for option in one.options} - own.options):
            if getattr(self, name) is not None:
                others = one_of(one.name for one in FORMATS.values() if name in one.options)
                remedy = own.instead or f"delete it, or write format = {others}"
                found.append(FieldProblem((name,), f'nothing here where format = "{self.format}"', remedy))
        if found:
            raise finding_error(*found)
        return self


class LimitsSection(Section):
    """``[limits]``: time and memory of a bot, and how much runs at once."""

    move_ms: int = Field(default=5000, ge=10, le=3_600_000, description="Time for a decision, in milliseconds.")
    bank_ms: int = Field(
        default=30_000, ge=0, le=3_600_000, description="Spare time of a seat for a whole game, in milliseconds."
    )
    game_s: int = Field(
        default=300, ge=1, le=86_400, description="Charged time of a seat for a whole game, in seconds."
    )
    start_s: int = Field(
        default=30,
        ge=1,
        le=3600,
        description="Time for a bot to start and join, in seconds. Without a processor it has more, up to four times that.",
    )
    max_in_flight: int = Field(
        default=64, ge=1, le=1024, description="Turns a bot is asked at once. With a competitive clock: 1."
    )
    memory_mib: int = Field(default=512, ge=16, le=1_048_576, description="Memory of a bot process, in MiB.")
    max_processes: int | None = Field(
        default=None,
        ge=2,
        le=100_000,
        description="Bot processes alive at once. Absent: as many as half of the free memory has room for, 64 at most.",
    )
    clock: Literal["relaxed", "competitive"] = Field(
        default="relaxed",
        description="Competitive: one turn in flight, and at most as many bots asked at once as there are cores.",
    )

    @model_validator(mode="before")
    @classmethod
    def _competitive_means_one(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("clock") == "competitive":
            return {"max_in_flight": 1} | data
        return data

    @model_validator(mode="after")
    def _one_turn_when_competitive(self) -> Self:
        if self.clock == "competitive" and self.max_in_flight != 1:
            remedy = 'leave max_in_flight out, or write clock = "relaxed"'
            raise finding_error(FieldProblem(("max_in_flight",), '1 where clock = "competitive"', remedy))
        return self


class PolicySection(Section):
    """``[policy]``: how faults are punished."""

    profile: Literal["ranked", "dev"] = Field(
        default="ranked",
        description="Ranked: no retry, the third fault of a game forfeits it. Dev: a retry, never a forfeit.",
    )
    checked: bool = Field(
        default=False, description="Only bots that have passed the rules check may play: referee submit enters them."
    )


class BotSection(Section):
    """One ``[[bots]]`` entry: exactly one of ``path``, ``command``, ``bots_from`` and ``remote = true``."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["path"]},
                {"required": ["command"]},
                {"required": ["bots_from"]},
                {"required": ["remote"], "properties": {"remote": {"const": True}}},
            ]
        }
    )

    path: PlainText | None = Field(
        default=None, description="A folder with bot.toml, a .py file, or the name of a sample bot."
    )
    command: tuple[PlainText, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        strict=False,
        description="A program and its arguments, run in the folder of the definition. Needs a name.",
    )
    bots_from: PlainText | None = Field(
        default=None, description='Folders of submitted bots, as a pattern: "submissions/*".'
    )
    remote: bool = Field(default=False, description="The bot dials in from elsewhere. Needs a name.")
    name: BotName | None = Field(default=None, description="Name in this tournament instead of the bot's own.")
    version: BotVersion | None = Field(default=None, description="Version, where there is no bot.toml to say it.")
    copies: int = Field(
        default=1, ge=1, le=16, description="Seats it takes: careful, careful#2 ... Copies are not compared."
    )
    wait: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,5}[smh]$")] | None = Field(
        default=None,
        description="How long to wait for a remote bot to dial in, and in a leg for one that is away. Absent: 10m.",
        examples=["10m"],
        json_schema_extra={"x-allowed": 'a time such as "30s", "10m" or "2h"'},
    )

    args: tuple[PlainText, ...] | None = Field(
        default=None,
        max_length=64,
        strict=False,
        description="Further arguments for its program. A bot with other arguments is another bot: give it a name.",
    )
    env: dict[str, Any] | None = Field(
        default=None,
        description="Variables for its environment. They stand in exports: no secrets.",
        examples=[{"DEPTH": "3"}],
        json_schema_extra={"x-allowed": ENVIRONMENT_ALLOWED},
    )

    owner: BotName | None = Field(
        default=None, description="On a ladder: whose bot it is. Two bots of one owner never sit at a table."
    )
    panel: bool | None = Field(
        default=None,
        description="On a ladder: whether it is a house bot that plays every round and never changes, to measure others by.",
    )

    @field_validator("env")
    @classmethod
    def _variables(cls, env: dict[str, Any] | None) -> dict[str, Any] | None:
        return env if env is None else environment(env)

    @property
    def wait_s(self) -> int:
        """Seconds to wait for a remote bot to dial in."""
        return _seconds_of(self.wait or "10m")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = [name for name in ("path", "command", "bots_from", "remote") if getattr(self, name)]
        if len(given) != 1:
            allowed = "exactly one of path, command, bots_from and remote = true"
            remedy = f"keep one of {', '.join(given)}" if given else 'add path = "folder of the bot"'
            raise finding_error(FieldProblem((given[1],) if given else (), allowed, remedy))
        findings = list(self._fields_that_do_not_fit(given[0]))
        if findings:
            raise finding_error(*findings)
        return self

    def _fields_that_do_not_fit(self, source: str) -> list[FieldProblem]:
        findings = []
        if source in ("command", "remote") and self.name is None:
            findings.append(FieldProblem(("name",), f"a name, where the bot is a {source}", 'add name = "..."'))
        if source == "bots_from":
            reason = "nothing beside bots_from, which may find many bots"
            findings += [
                FieldProblem((field,), reason, f"delete {field}, or give this bot an entry of its own with path")
                for field in ("name", "version")
                if getattr(self, field) is not None
            ]
        remedy = {
            "bots_from": "give this bot an entry of its own with path",
            "remote": "give it where the bot is started",
        }
        for field in ("args", "env") if source in remedy else ():
            if getattr(self, field) is not None:
                findings.append(
                    FieldProblem((field,), f"nothing beside {source}", f"delete {field}, or {remedy[source]}")
                )
        if source == "command" and self.args is not None:
            findings.append(
                FieldProblem(("args",), "nothing beside command, which holds them", "put them into command")
            )
        if source != "remote" and self.wait is not None:
            findings.append(FieldProblem(("wait",), "wait only beside remote = true", "delete wait"))
        return findings


class HostSection(Section):
    """``[host]``: a ladder on the network. It decides nothing about games, and is no part of the definition's digest."""

    address: str = Field(
        default="127.0.0.1:8400",
        pattern=r"^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):[0-9]{1,5}$",
        description="Where the site listens.",
        json_schema_extra={"x-allowed": 'HOST:PORT, such as "127.0.0.1:8400"; a port of 0 takes any that is free'},
    )
    url: str | None = Field(
        default=None,
        pattern=r"^https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._~/-]*)?$",
        max_length=200,
        description="Where people find the site, if it stands behind a proxy. Absent: the address.",
        examples=["https://pitch.example.org"],
        json_schema_extra={"x-allowed": 'a URL, such as "https://pitch.example.org"'},
    )
    certificate: str | None = Field(
        default=None,
        min_length=1,
        max_length=4096,
        description="The host's own certificate, with those above it (PEM); a path relative to the definition. With it the host "
        "speaks TLS itself. Absent: it speaks plain HTTP, and a proxy TLS. A renewed file is taken up without a restart.",
        examples=["/etc/ssl/pitch/fullchain.pem"],
        json_schema_extra={"x-allowed": "a path, and key beside it"},
    )
    key: str | None = Field(
        default=None,
        min_length=1,
        max_length=4096,
        description="Its private key (PEM), which nobody else may read.",
        examples=["/etc/ssl/pitch/privkey.pem"],
        json_schema_extra={"x-allowed": "a path, and certificate beside it"},
    )
    proxies: tuple[str, ...] = Field(
        default=(),
        max_length=32,
        strict=False,
        description="Addresses or networks of proxies, whose X-Forwarded-For is believed besides that of a proxy on this machine. "
        "Limits count by it.",
        examples=[["172.16.0.0/12"]],
        json_schema_extra={"x-allowed": 'a list of addresses or networks, such as ["172.16.0.0/12"]'},
    )
    enter: Literal["invited", "approval", "open"] = Field(
        default="invited",
        description="Who may hand bots in. Invited: who has a link of the organiser; approval: anybody, and the organiser lets each "
        "version in; open: anybody.",
    )
    bots_per_owner: int = Field(
        default=1, ge=1, le=16, description="Bots of one owner on the ladder at once. They never sit at the same table."
    )
    uploads_per_hour: int = Field(default=20, ge=1, le=1000, description="Versions that an owner may hand in an hour.")
    upload_mib: int = Field(default=16, ge=1, le=64, description="The most MiB of what is handed in at once.")
    sources: Literal["private", "public"] = Field(
        default="private",
        description="Public: whoever looks at a bot can download what was handed in, of versions that were accepted. Whoever hands in is "
        "told before; what was handed in while it was private stays so.",
    )
    build_network: bool = Field(
        default=False,
        description="Whether builds may use the network. Without it, packages come with the bot or from the host's cache.",
    )
    build_s: int = Field(default=600, ge=10, le=7200, description="Time for a build, in seconds.")
    every: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,5}[smh]$")] | None = Field(
        default=None,
        description="How often a round begins, at most. Absent: one after another.",
        examples=["30m"],
        json_schema_extra={"x-allowed": 'a time such as "30s", "10m" or "2h"'},
    )
    keep_rounds: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="Of how many rounds, the last ones, the ladder holds the records. Those of older rounds go to files in `records/`, each of "
        "as many rounds; results stay. Absent: of all.",
        examples=[100],
    )
    closes: datetime | None = Field(
        default=None,
        description="What is handed in later does not enter, such as after the deadline of a class.",
        examples=["2027-01-31T23:59:00+01:00"],
        json_schema_extra={"x-allowed": "a date and time with its offset, such as 2027-01-31T23:59:00+01:00"},
    )

    remote: str | None = Field(
        default=None,
        pattern=r"^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):[0-9]{1,5}$",
        description="Where remote bots dial in, which play on a board of their own. Absent: there is none.",
        examples=["127.0.0.1:7401"],
        json_schema_extra={"x-allowed": 'HOST:PORT, such as "0.0.0.0:7401"; a port of 0 takes any that is free'},
    )
    remote_url: str | None = Field(
        default=None,
        pattern=r"^(tcp|tls):(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):[0-9]{1,5}$",
        max_length=300,
        description="What remote bots are told to dial, if a proxy stands before `remote`. Absent: that address.",
        examples=["tls:pitch.example.org:7401"],
        json_schema_extra={"x-allowed": 'an address of bots, such as "tls:pitch.example.org:7401"'},
    )

    @field_validator("proxies")
    @classmethod
    def _are_networks(cls, proxies: tuple[str, ...]) -> tuple[str, ...]:
        for at, text in enumerate(proxies):
            try:
                ip_network(text)
            except ValueError as error:
                allowed = 'an address or a network, such as "10.0.0.7" or "172.16.0.0/12"'
                remedy = f"write {ip_network(text, strict=False)}" if "host bits" in str(error) else "write its number"
                raise finding_error(FieldProblem((at,), allowed, remedy)) from None
        return proxies

    @property
    def proxy_networks(self) -> tuple[IPv4Network | IPv6Network, ...]:
        """The networks of ``proxies``."""
        return tuple(map(ip_network, self.proxies))

    @field_validator("closes")
    @classmethod
    def _has_an_offset(cls, closes: datetime | None) -> datetime | None:
        if closes is not None and closes.tzinfo is None:
            allowed = "a date and time with its offset, such as 2027-01-31T23:59:00+01:00"
            raise finding_error(FieldProblem((), allowed, "add the offset from UTC, such as +01:00 or Z"))
        return closes

    @model_validator(mode="after")
    def _speaks_tls_or_not(self) -> Self:
        given = [name for name in ("certificate", "key") if getattr(self, name)]
        if len(given) == 1:
            missing = "key" if given == ["certificate"] else "certificate"
            raise finding_error(
                FieldProblem((given[0],), "certificate and key together, or neither", f'add {missing} = "FILE.pem"')
            )
        if given and self.url is not None and not self.url.startswith("https:"):
            allowed = "an address with https://, where the host has a certificate"
            raise finding_error(FieldProblem(("url",), allowed, "write https://, or delete certificate and key"))
        return self

    @property
    def speaks_https(self) -> bool:
        """Whether people reach the site over TLS, be it the host's or that of a proxy."""
        return self.certificate is not None or (self.url or "").startswith("https:")

    @model_validator(mode="after")
    def _door_before_its_address(self) -> Self:
        if self.remote_url is not None and self.remote is None:
            allowed = "nothing here without remote"
            raise finding_error(FieldProblem(("remote_url",), allowed, 'write remote = "127.0.0.1:7401", or delete it'))
        return self

    @property
    def every_s(self) -> int:
        """Seconds from the beginning of one round to that of the next, at the least."""
        return _seconds_of(self.every or "0s")


class PairSection(Section):
    """One ``[[pairs]]`` entry: two bots that are partners, and are ranked as one."""

    bots: tuple[str, str] = Field(
        strict=False,
        description="The two bots by their names in this tournament: the first seat of the side, and its partner's.",
        examples=[["careful", "random"]],
        json_schema_extra={"x-allowed": "two names of bots"},
    )
    name: BotName | None = Field(default=None, description='Name of the pair. Absent: both, as in "careful + random".')

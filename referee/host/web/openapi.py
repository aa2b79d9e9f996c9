"""The description of the API in OpenAPI 3.1. A test holds it to the routes and to what they answer."""

from typing import Any, Final

import referee

_TEXT: Final = {"type": "string"}
_WHOLE: Final = {"type": "integer"}
_FLAG: Final = {"type": "boolean"}
_MAYBE_NUMBER: Final = {"type": ["number", "null"]}


def _object(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields)}


def _list(of: Any) -> dict[str, Any]:
    return {"type": "array", "items": of}


SCHEMAS: Final[dict[str, Any]] = {
    "Error": _object(error={**_TEXT, "description": "What is wrong, and the remedy."}),
    "Finding": {
        "type": "object",
        "properties": {
            "rule": {**_TEXT, "description": "The clause of the rule book that was broken, such as AF-PLAY-003."},
            "sentence": _TEXT,
            "times": _WHOLE,
            "witness": {**_TEXT, "description": "Name of the file that shows it, or empty."},
            "page": {**_TEXT, "description": "URL of the page that shows it, or empty."},
            "hint": _TEXT,
        },
    },
    "Job": _object(
        id=_WHOLE,
        bot=_TEXT,
        owner=_TEXT,
        version=_WHOLE,
        state={"enum": ["waiting", "running", "done", "failed"], "description": "failed: our fault, not the bot's."},
        stage=_TEXT,
        attempt=_WHOLE,
        before={**_WHOLE, "description": "How many jobs have to be done before it."},
        verdict={"enum": ["waiting", "approval", "accepted", "refused", "withdrawn"]},
        sentence=_TEXT,
        findings=_list({"$ref": "#/components/schemas/Finding"}),
        log={**_TEXT, "description": "The end of what building said."},
        plays_in_s={
            **_MAYBE_NUMBER,
            "description": "Seconds until it plays, an estimate; null if that cannot be told.",
        },
        page={**_TEXT, "format": "uri"},
    ),
    "Entry": _object(
        name=_TEXT,
        variant=_TEXT,
        seats=_WHOLE,
        upload_mib=_WHOLE,
        closes={"type": ["string", "null"], "format": "date-time"},
        enter={"enum": ["invited", "approval", "open"]},
        sources={
            "enum": ["private", "public"],
            "description": "public: everybody can download the archives of versions that are accepted.",
        },
        remote={**_FLAG, "description": "Whether there is a board of remote bots."},
        referee={**_TEXT, "description": "The version of Referee that runs here."},
        definition={
            "type": "object",
            "description": "What decides a check: the game, its house rules, seats and limits.",
        },
    ),
    "Me": _object(
        owner=_TEXT,
        organiser=_FLAG,
        token={"type": ["object", "null"]},
        bots=_list(
            _object(
                name=_TEXT,
                retired=_FLAG,
                versions=_list(
                    _object(version=_WHOLE, name=_TEXT, state=_TEXT, reason=_TEXT, created={"type": "number"})
                ),
            )
        ),
        jobs=_list(_object(id=_WHOLE, bot=_TEXT, state=_TEXT, sentence=_TEXT)),
    ),
    "Board": {
        **_object(
            rows=_list({"type": "object"}),
            sets=_WHOLE,
            games=_WHOLE,
            name=_TEXT,
            paused=_FLAG,
            banner=_TEXT,
            round={"type": ["object", "null"]},
            up_to_date={**_FLAG, "description": "Whether all that was played is in it; if not, it soon is."},
        ),
        "description": "The standings as «referee standings --output json» has them, and how the open round goes on.",
    },
    "Game": _object(
        game={**_WHOLE, "description": "Its number, from 1."},
        round=_WHOLE,
        set={**_TEXT, "description": "The set: all its games are played with the same packs."},
        state={"enum": ["scored", "void"], "description": "void: it does not count."},
        entrants={**_list(_TEXT), "description": "Who sat at each seat, by key."},
        record={
            "type": ["object", "null"],
            "description": "The whole game as Referee records it; null where it lies in an archive.",
        },
        archive={
            "type": ["string", "null"],
            "description": "The path on this site of the archive that has the record.",
        },
    ),
    "RemoteBot": _object(
        bot=_TEXT,
        version={**_WHOLE, "description": "Number of the version."},
        declared={**_TEXT, "description": "The version as the bot declares it."},
        state={"enum": ["waiting", "approval", "accepted", "refused", "withdrawn"]},
        reason=_TEXT,
        job={"anyOf": [{"$ref": "#/components/schemas/Job"}, {"type": "null"}], "description": "Its newest check."},
        call={
            "anyOf": [
                _object(what=_TEXT, sessions=_list(_object(address=_TEXT, token=_TEXT))),
                {"type": "null"},
            ],
            "description": "What it is called for; a process for each session dials in, with REFEREE_ADDRESS and REFEREE_TOKEN.",
        },
        line={**_TEXT, "description": "What its author is to be told, such as why it was out of a round."},
        rests_until={"type": "number", "description": "It is not called before; seconds since 1970."},
        mark={**_TEXT, "description": "Send it back: the next answer comes when there is news."},
    ),
    "Rounds": _object(
        rounds=_list(
            _object(
                number=_WHOLE,
                bots=_WHOLE,
                sets=_WHOLE,
                entered=_list(_TEXT),
                placed=_list(_TEXT),
                pairs=_list(_list(_TEXT)),
                commitment=_TEXT,
                master={**_TEXT, "description": "Empty while the round is open."},
                result_root={**_TEXT, "description": "Empty while the round is open."},
                voided={**_TEXT, "description": "Why what was open of it was voided; empty if nothing was."},
                records={
                    **_TEXT,
                    "description": "The file of /export/{name} that its records lie in, if they are not in /export.",
                },
            )
        )
    ),
}

MOST_GAMES: Final = 500
"""So many games are given at once; the header Link says where to go on."""

_STATUSES: Final = {
    400: "What was sent cannot be read.",
    401: "No token, or one that is not known.",
    403: "Not this owner's.",
    404: "There is none.",
    409: "Not as things stand.",
    413: "Larger than the host takes.",
    415: "Not a zip archive.",
    429: "Too often; Retry-After says when to try again.",
    503: "Nothing is taken in at the moment.",
    507: "The host has no room.",
}
_JOB: Final = {"name": "id", "in": "path", "required": True, "schema": _WHOLE}


def description(url: str) -> dict[str, Any]:
    """The description of the API of the site at a URL."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Referee host",
            "version": "1",
            "description": f"A ladder of bots for games of the All Fours family, run by Referee {referee.__version__}.",
        },
        "servers": [{"url": url}],
        "paths": {
            "/api/v1/entry": _get("What a program has to know before it hands a bot in.", "Entry"),
            "/api/v1/board": _get("How the ladder stands.", "Board"),
            "/api/v1/rounds": _get("The rounds with their commitments, the newest first.", "Rounds"),
            "/api/v1/me": _get("Whose token it is: bots, versions, jobs.", "Me", 401, 403, token=True),
            "/api/v1/bots/{name}/versions": {
                "post": {
                    "summary": "Hands a version of a bot in.",
                    "parameters": [
                        {"name": "name", "in": "path", "required": True, "schema": _TEXT},
                        {
                            "name": "Referee-Sources",
                            "in": "header",
                            "required": False,
                            "description": "What was told of the sources; where that has changed since, nothing is taken in.",
                            "schema": {"enum": ["private", "public"]},
                        },
                    ],
                    "security": [{"token": []}],
                    "requestBody": {
                        "required": True,
                        "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
                    },
                    "responses": _answers("Job", 201, 400, 401, 403, 409, 413, 415, 429, 503, 507)
                    | _ok("Job", 200, "The same files were handed in already: their job."),
                }
            },
            "/api/v1/jobs/{id}": _get("A job.", "Job", 401, 403, 404, token=True, parameters=[_JOB]),
            "/api/v1/jobs/{id}/events": {
                "get": {
                    "summary": "The job whenever it changes, until it is over: server-sent events «job».",
                    "parameters": [_JOB],
                    "security": [{"token": []}],
                    "responses": {
                        "200": {
                            "description": "A stream; the data of each event is a job.",
                            "content": {"text/event-stream": {"schema": _TEXT}},
                        },
                        **_errors(401, 403, 404, 429),
                    },
                }
            },
            "/api/v1/jobs/{id}/again": {
                "post": {
                    "summary": "Has a job done again with the same files.",
                    "parameters": [_JOB],
                    "security": [{"token": []}],
                    "responses": _answers("Job", 201, 401, 403, 404, 409, 429),
                }
            },
            "/api/v1/games.ndjson": {
                "get": {
                    "summary": f"Games of closed rounds with their packs, a line of JSON each, by number; at most {MOST_GAMES}.",
                    "parameters": [
                        _query("round", "Of this round alone."),
                        _query("since", "After the game with this number."),
                    ],
                    "responses": {
                        "200": {
                            "description": "A line for each game. The header Link has the address of the next ones, if there are more.",
                            "headers": {"Link": {"schema": _TEXT}},
                            "content": {"application/x-ndjson": {"schema": {"$ref": "#/components/schemas/Game"}}},
                        },
                        **_errors(400, 404, 409, 429),
                    },
                }
            },
            "/api/v1/remote/board": _get("How the board of remote bots stands.", "Board", 404),
            "/api/v1/remote/rounds": _get("Its rounds with their commitments, the newest first.", "Rounds", 404),
            "/api/v1/remote/{name}": {
                "post": {
                    "summary": "A remote bot connects, is still there, or leaves. The answer waits up to 20 seconds for news.",
                    "parameters": [{"name": "name", "in": "path", "required": True, "schema": _TEXT}],
                    "security": [{"token": []}],
                    "requestBody": {
                        "required": True,
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "object",
                                    "required": ["session"],
                                    "properties": {
                                        "session": {
                                            **_TEXT,
                                            "description": "16 to 64 letters and digits, drawn by the program: the newest counts.",
                                        },
                                        "begin": {**_FLAG, "description": "Connects; with version."},
                                        "version": {**_TEXT, "description": "The version that it declares."},
                                        "leaves": _FLAG,
                                        "mark": {**_TEXT, "description": "That of the last answer."},
                                    },
                                }
                            }
                        },
                    },
                    "responses": _answers("RemoteBot", 200, 400, 401, 403, 404, 409, 413, 429),
                }
            },
            "/api/v1/openapi.json": {
                "get": {
                    "summary": "This description.",
                    "responses": {
                        "200": {
                            "description": "OpenAPI 3.1.",
                            "content": {"application/json": {"schema": {"type": "object"}}},
                        }
                    },
                }
            },
        },
        "components": {"schemas": SCHEMAS, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _get(summary: str, schema: str, *errors: int, token: bool = False, parameters: Any = ()) -> dict[str, Any]:
    found: dict[str, Any] = {"summary": summary, "responses": _answers(schema, 200, *errors)}
    if token:
        found["security"] = [{"token": []}]
    if parameters:
        found["parameters"] = parameters
    return {"get": found}


def _query(name: str, what: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "description": what, "schema": _WHOLE}


def _answers(schema: str, status: int, *errors: int) -> dict[str, Any]:
    return _ok(schema, status, schema) | _errors(*errors)


def _ok(schema: str, status: int, what: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    return {str(status): {"description": what, "content": content}}


def _errors(*statuses: int) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {str(status): {"description": _STATUSES[status], "content": content} for status in statuses}

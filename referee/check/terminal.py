"""The report on one screen: per broken rule its sentence, what the bot held, saw and did, what was legal, how to replay."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from referee.check.scene import lines_of
from referee.sandbox.output import OF_THE_SDK, harmless

SHOWN = 4
"""Broken rules that are shown in full; the others take a line each."""

_STYLES = {"FAIL": "bold red", "ERROR": "bold red", "XPASS": "bold red", "FLAKY": "bold yellow", "WARN": "yellow"}
_TOLD = ("FAIL", "ERROR", "XPASS", "FLAKY", "WARN")

REPLAY = "  replay  "
"""How the line begins that holds the command which shows a witness again."""

_TALK_WIDTH = 400
_LONG_S = 10.0

_SHOWN_BY = {
    "batch": "It happens when it is asked so many turns at once, not when it is asked one by one.",
    "game": "It happens only in the course of a game, not in this position alone.",
    "run": "It happens only in the course of many games, not in this position alone.",
    "": "It was not seen again when it was asked once more; the file holds the games that led there.",
}

FLAKY_MEANS = (
    "FLAKY means: it failed once, and not when it was asked again. The check fails, for in a league that costs a turn. "
    "Check it again with another --seed: what comes back is the bot's."
)
"""What a verdict of FLAKY says, for people."""

Line = tuple[str, str]
"""Text and its style."""


def report(run: Mapping[str, Any], *, verbose: bool = False) -> Iterator[Line]:
    """The lines of the report of one run; of one that was only a look at the talk, the talk."""
    if run["doctor"] and not run["not_ready"]:
        yield from _doctor(run)
        return
    if run["not_ready"]:
        yield (f"{_heading(run)}: {run['not_ready']}", "bold red")
        yield from _talk(run)
        yield (f"exit {run['exit_code']}: {run['outcome']}", "bold red")
        return
    yield (_heading(run), "bold")
    broken = [entry for entry in run["verdicts"] if entry["verdict"] in _TOLD]
    for number, entry in enumerate(sorted(broken, key=lambda one: _TOLD.index(one["verdict"]))):
        yield from _full(entry) if number < SHOWN or verbose else _short(entry)
    if not run["answers"]:
        yield from _talk(run)
    yield from _untested(run)
    yield from _rest(run, verbose=verbose)


def _doctor(run: Mapping[str, Any]) -> Iterator[Line]:
    for entry in run["talk"]:
        said = json.dumps(entry.get("message", entry))
        yield (f"{entry['ms']:6} ms {entry['from']:8} {harmless(said)[:_TALK_WIDTH]}", "dim")
    for entry in run["verdicts"]:
        if entry["verdict"] in _TOLD:
            yield from _full(entry)
    well = run["answers"] and not any(entry["breaches"] for entry in run["verdicts"])
    yield ("", "")
    verdict = "It joined and played a deal." if well else "Fix that first; then its rules can be checked."
    yield (
        f"{verdict} That was no check of the rules: run it again without --doctor.",
        "bold green" if well else "bold red",
    )


def _heading(run: Mapping[str, Any]) -> str:
    games = ", ".join(run["checked"]) or "nothing"
    version = f" {run['version']}" if run["version"] else ""
    return f"{run['bot']}{version} in {games}: {run['outcome']}"


def _full(entry: Mapping[str, Any]) -> Iterator[Line]:
    counts = f"broken {entry['breaches']} of {entry['opportunities']} times" if entry["breaches"] else ""
    yield ("", "")
    yield (f"{entry['verdict']} {entry['key']}  {entry['title']}  {counts}".rstrip(), _STYLES[entry["verdict"]])
    yield (f"  {entry['sentence']}", "")
    witness = entry["witness"]
    if witness is None:
        yield (f"  {entry['reason']}", "")
        if entry["verdict"] == "FLAKY":
            yield (f"  {FLAKY_MEANS}", "")
        return
    for line in lines_of(witness["scene"]):
        yield (f"  {line}", "")
    yield (f"  why     {witness['what']}", "")
    if entry.get("hint"):
        yield (f"  hint    {entry['hint']}", "bold")
    told = _SHOWN_BY.get(witness["shown_by"])
    if told:
        yield (f"  {told}", "dim")
    said = last_words(witness["log_tail"])
    if said:
        yield (f"  it said {said}", "")
    if witness["replay"]:
        yield (f"{REPLAY}{witness['replay']}", "cyan")


def last_words(log_tail: str) -> str:
    """What a bot itself printed last, in one line that is harmless to show; empty if that is nothing."""
    own = [line for line in log_tail.splitlines() if not line.startswith(OF_THE_SDK)]
    last = [line for line in own if line.strip(" ^~")][-2:]
    return " | ".join(harmless(line.strip())[:100] for line in last)


def _short(entry: Mapping[str, Any]) -> Iterator[Line]:
    replay = entry["witness"]["replay"] if entry["witness"] else ""
    yield (f"{entry['verdict']} {entry['key']}  {entry['title']}  {replay}".rstrip(), _STYLES[entry["verdict"]])


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _talk(run: Mapping[str, Any]) -> Iterator[Line]:
    """Both sides of the talk, for a bot that cannot be talked to."""
    if run["talk"]:
        yield ("  The last messages:", "")
    for entry in run["talk"][-6:]:
        said = entry.get("message", entry)
        yield (f"  {entry['from']:8} {harmless(json.dumps(said))[:_TALK_WIDTH]}", "dim")
    yield (f"  What it printed is in {run['log']}", "dim")


def _untested(run: Mapping[str, Any]) -> Iterator[Line]:
    missing = [entry for entry in run["verdicts"] if entry["verdict"] == "UNTESTED"]
    if missing and len(missing) < len(run["verdicts"]):
        yield ("", "")
    for entry in missing[:SHOWN]:
        yield (f"UNTESTED {entry['key']}  {entry['title']}: {entry['reason']}", "yellow")
    if len(missing) > SHOWN:
        keys = " ".join(entry["key"] for entry in missing[SHOWN:])
        yield (f"UNTESTED also {keys}", "yellow")


def _rest(run: Mapping[str, Any], *, verbose: bool) -> Iterator[Line]:
    for entry in run["verdicts"]:
        if verbose and entry["verdict"] in ("PASS", "N/A"):
            yield (
                f"{entry['verdict']} {entry['key']}  {entry['title']}  {entry['opportunities']} {entry['reason']}".rstrip(),
                "green",
            )
        elif entry["verdict"] == "XFAIL":
            yield (f"XFAIL {entry['key']}  {entry['title']}: {entry['reason']} {entry['issue']}".rstrip(), "dim")
    for line in run["baseline"]:
        yield (line, "bold red")
    if run["not_asked_for"]:
        told = ", ".join(f"{key} ({_times(count)})" for key, count in sorted(run["not_asked_for"].items()))
        yield (f"broken too, but not asked for: {told}", "yellow")
    if run["stopped"]:
        yield (f"It ended early: {run['stopped']}", "yellow")
    yield ("", "")
    if run["by_default"]:
        yield (
            f"It names no variants: checked in {', '.join(run['checked'])} alone; --variant all checks every game.",
            "dim",
        )
    played = f"{run['answers']:,} decisions, {run['deals']:,} deals, seed {run['seed']}, {run['seconds']} s"
    yield (f"{played}, sandbox {run['sandbox']}; its output: {run['log']}", "dim")
    if run["least_seconds"] > max(run["asked_seconds"], _LONG_S):
        took = f"{run['least_seconds']:.0f} s for the least that every check asks"
        yield (f"slow bot, or a busy machine: it took {took}", "yellow")
    good = run["exit_code"] == 0
    yield (f"rules exercised {run['exercised']}/{run['applicable']}", "bold green" if good else "bold")

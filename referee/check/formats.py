"""The report in other forms: JSON, JUnit XML, Markdown, a badge. All from the same document."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final
from xml.etree import ElementTree as ET

from referee.check.scene import lines_of
from referee.sandbox.output import harmless

_FAILURES: Final = ("FAIL", "XPASS", "FLAKY")


def as_json(document: Mapping[str, Any]) -> str:
    """The document itself."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def as_junit(document: Mapping[str, Any]) -> str:
    """JUnit XML as continuous integration reads it: a suite a bot, a case a rule; untested rules are skipped cases.

    A crash and a time-out are errors, a broken rule is a failure.
    """
    root = ET.Element("testsuites", name="referee check")
    for run in document["runs"]:
        suite = ET.SubElement(root, "testsuite", name=run["bot"], time=str(run["seconds"]))
        cases = [entry for entry in run["verdicts"] if entry["level"] != "INFO"]
        kinds = [_junit_case(suite, run["bot"], entry) for entry in cases]
        if run["not_ready"]:
            case = ET.SubElement(suite, "testcase", classname=run["bot"], name="start", time="0")
            ET.SubElement(case, "error", message=_clean(run["not_ready"]), type="START_FAILED")
            kinds.append("error")
        for kind, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            suite.set(attribute, str(kinds.count(kind)))
        suite.set("tests", str(len(kinds)))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _junit_case(suite: ET.Element, bot: str, entry: Mapping[str, Any]) -> str:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=f"{bot}.{entry['variant'] or 'conduct'}",
        name=f"{entry['rule']} {entry['title']}",
        time="0",
    )
    witness, verdict = entry["witness"], entry["verdict"]
    told = _clean(witness["what"] if witness else entry["reason"] or entry["sentence"])
    timed_out = witness is not None and witness["fault"] in ("TIMEOUT_MOVE", "TIMEOUT_GAME")
    if verdict == "ERROR" or (verdict in _FAILURES and timed_out):
        kind = "error"
    elif verdict in _FAILURES:
        kind = "failure"
    elif verdict in ("UNTESTED", "N/A", "XFAIL"):
        ET.SubElement(case, "skipped", message=f"{verdict}: {told}")
        return "skipped"
    else:
        if verdict == "WARN":
            ET.SubElement(case, "system-out").text = f"WARN: {told}"
        return ""
    problem = ET.SubElement(case, kind, message=told, type=verdict)
    problem.text = _clean("\n".join(_details(entry)))
    return kind


def _details(entry: Mapping[str, Any]) -> list[str]:
    witness = entry["witness"]
    if witness is None:
        return [entry["sentence"], entry["reason"]]
    return [
        entry["sentence"],
        *lines_of(witness["scene"]),
        f"why     {witness['what']}",
        f"replay  {witness['replay']}",
    ]


def _clean(text: str) -> str:
    """Without characters that XML cannot hold."""
    return "".join(sign for sign in text if sign in "\n\t" or (sign.isprintable() and sign not in "\ufffe\uffff"))


def as_markdown(document: Mapping[str, Any]) -> str:
    """A summary for the page of a job: one table a bot, the broken rules below it."""
    parts = []
    for run in document["runs"]:
        mark = "✅" if run["exit_code"] == 0 else "❌"
        parts.append(f"## {mark} {_md(run['bot'])}: {run['outcome']}\n")
        if run["not_ready"]:
            parts.append(f"It never became ready: {_md(run['not_ready'])}\n")
        rows = [entry for entry in run["verdicts"] if entry["verdict"] not in ("PASS", "INFO", "N/A")]
        if rows:
            parts.append("| verdict | rule | what |\n|---|---|---|")
            parts += [
                f"| {one['verdict']} | {_md(one['key'])} {_md(one['title'])} | {_md(_why(one))} |" for one in rows
            ]
            parts.append("")
        for entry in rows:
            if entry["witness"] and entry["witness"]["scene"]:
                lines = "\n".join(lines_of(entry["witness"]["scene"]))
                parts.append(
                    f"### {_md(entry['key'])}\n\n{_md(entry['sentence'])}\n\n```\n{_fenced(lines)}\n{_fenced(entry['witness']['replay'])}\n```\n"
                )
        parts += [f"- {_md(line)}" for line in run["baseline"]]
        parts.append(
            f"{run['answers']:,} decisions, {run['deals']:,} deals in {run['seconds']} s; "
            f"**rules exercised {run['exercised']}/{run['applicable']}**\n"
        )
    return "\n".join(parts)


def _why(entry: Mapping[str, Any]) -> str:
    return str(entry["witness"]["what"] if entry["witness"] else entry["reason"])


def _md(text: str) -> str:
    escaped = harmless(text).replace("\n", " ").replace("\\", "\\\\")
    for sign in "|<>[]`*_":
        escaped = escaped.replace(sign, f"\\{sign}" if sign not in "<>" else {"<": "&lt;", ">": "&gt;"}[sign])
    return escaped


def _fenced(text: str) -> str:
    return harmless(text).replace("`", "'")


def as_badge(document: Mapping[str, Any]) -> str:
    """A badge as SVG: what was found, in the colour of it."""
    codes = {run["exit_code"] for run in document["runs"]}
    exercised = sum(run["exercised"] for run in document["runs"])
    applicable = sum(run["applicable"] for run in document["runs"])
    text, colour = (f"{exercised}/{applicable} rules", "#2e7d32") if codes == {0} else ("does not conform", "#c62828")
    if codes <= {0, 3} and 3 in codes:
        text, colour = f"{exercised}/{applicable} rules, incomplete", "#b26a00"
    left, right = 86, 12 + 7 * len(text)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="All Fours rules: {text}"><title>All Fours rules: {text}</title>'
        f'<rect width="{left}" height="20" fill="#444"/><rect x="{left}" width="{right}" height="20" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2:.0f}" y="14">All Fours</text><text x="{left + right / 2:.0f}" y="14">{text}</text></g></svg>\n'
    )


def renderers() -> dict[str, Callable[[Mapping[str, Any]], str]]:
    """Every format of ``--report`` by name."""
    from referee.check.html import as_html

    return {"json": as_json, "junit": as_junit, "html": as_html, "md": as_markdown, "badge": as_badge}

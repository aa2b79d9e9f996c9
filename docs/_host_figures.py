"""What a host under load takes, from ``host.json``: a sentence and tables.

The file is what ``benchmarks/host.py --json docs/host.json`` wrote; this module only words it.
"""

import json
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).resolve().parent / "host.json"


def host_soak() -> str:
    """How it was measured, and every figure."""
    found: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    machine, load, compared = found["machine"], found["load"], found["compared"]
    lines = [
        (
            f"Measured for {found['minutes']:.0f} minutes with Python {machine['python']} on {machine['cores']} cores ({machine['machine']}), on which "
            f"{machine['load']:.0f} programs wanted to run (median; {machine['most_load']:.0f} at most): {load['bots']} house bots, {found['rounds']} rounds, "
            f"{found['games']:,} games.\n"
        ),
        "| part | MiB, median | most | growth an hour | open files, most | growth an hour | threads, most |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, part in found["parts"].items():
        cells = (
            name,
            f"{part['mib']:.0f}",
            f"{part['mib_most']:.0f}",
            f"{part['mib_an_hour']:+.1f}",
            f"{part['files_most']:.0f}",
            f"{part['files_an_hour']:+.1f}",
            f"{part['threads_most']:.0f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "| what | figure |", "| --- | --- |"]
    lines += [f"| {what} | {figure} |" for what, figure in _figures(found, load, compared)]
    return "\n".join(lines) + "\n"


def _figures(found: dict[str, Any], load: dict[str, Any], compared: dict[str, Any]) -> list[tuple[str, str]]:
    pages, uploads = found["pages"], found["uploads"]
    rows = [
        ("sample bots late, lost or ruled against", f"{found['rulings'] + found['faults']}"),
        (
            "watchers at once, streams lost, events sent",
            f"{load['watchers']}, {found['watchers'].get('lost', 0)}, {found['watchers'].get('events', 0):,}",
        ),
        (
            f"a page, of {pages['all']['count']:,}: median, nine of ten, 99 of 100",
            f"{pages['all']['p50_ms']:.0f}, {pages['all']['p90_ms']:.0f}, {pages['all']['p99_ms']:,.0f} ms",
        ),
        (
            f"{load['uploads']} uploads at once: median, nine of ten (with the waiting that the host asks for)",
            f"{uploads['p50_ms'] / 1000:.0f}, {uploads['p90_ms'] / 1000:.0f} s",
        ),
        (
            "what came of all uploads",
            ", ".join(f"{name} {count}" for name, count in sorted(uploads["verdicts"].items())),
        ),
        (
            "most that waited at once; the last was done after the end",
            f"{found['most_waiting']:.0f}; {found['drained_s']:.0f} s",
        ),
        (
            "largest log of writes of the ladder, of the host's store",
            f"{found['wal_mib']['ladder']:.1f}, {found['wal_mib']['host']:.1f} MiB",
        ),
        ("processor the site takes, while it is there", f"{100 * compared['with']['web_cpu_share']:.0f}% of a core"),
        (
            "processor time of a game, with and without the site",
            f"{compared['with']['engine_cpu_a_game']:.2f}, {compared['without']['engine_cpu_a_game']:.2f} s",
        ),
    ]
    if compared["ratio"] is not None:
        rows.append(
            (
                f"games a minute with the site, of those without ({compared['with']['rounds']} and {compared['without']['rounds']} rounds)",
                f"{compared['ratio']:.2f} [{compared['ratio_low']:.2f}, {compared['ratio_high']:.2f}]",
            )
        )
    return rows

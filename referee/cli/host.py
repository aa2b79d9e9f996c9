"""``host``: a ladder on the network, and the links that let people in."""

import csv
import io
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import typer

from referee.cli import app
from referee.cli.lines import messages, plain_text
from referee.cli.options import SandboxMode, SandboxOption, WorkersOption, given, refuse_idle, refuse_together
from referee.cli.run import ClusterOption
from referee.league.definition.problems import counted

_STARTS: Final = ("--workers", "--cluster", "--sandbox", "--rounds")
_LARGEST_LIST: Final = 1 << 20
_LONGEST_NAME: Final = 80
_BY: Final = "the command line"


@app.command(
    epilog="Example: referee host tournaments/host.toml\n\nor:      referee host tournaments/host.toml --invite ann\n\n"
    "or:      referee host tournaments/host.toml --invite-from class.csv\n\n"
    "or:      referee host tournaments/host.toml --backup sunday.tar.gz\n\n"
    "or:      referee host /srv/pitch/ladder.toml --workers 4 --write-units units"
)
def host(
    definition_file: Annotated[Path, typer.Argument(metavar="LADDER.toml", help="The ladder's definition.")],
    workers: WorkersOption = 1,
    cluster: ClusterOption = "",
    sandbox: SandboxOption = SandboxMode.AUTO,
    rounds: Annotated[
        int | None, typer.Option("--rounds", min=1, max=10_000, help="End after so many rounds. Without it, never.")
    ] = None,
    invite: Annotated[
        str, typer.Option("--invite", metavar="NAME", help="Print a link that makes somebody an owner of bots, once.")
    ] = "",
    invite_from: Annotated[
        Path | None,
        typer.Option("--invite-from", metavar="NAMES.csv", help="Print a CSV of links, one for each name of a list."),
    ] = None,
    organiser: Annotated[
        bool, typer.Option("--organiser", help="With --invite: the link makes an organiser of the host.")
    ] = False,
    backup: Annotated[
        Path | None,
        typer.Option(
            "--backup", metavar="FILE.tar.gz", help="Write all that the host keeps to an archive; it may run."
        ),
    ] = None,
    restore: Annotated[
        Path | None,
        typer.Option("--restore", metavar="FILE.tar.gz", help="Make a host of an archive, here or on another machine."),
    ] = None,
    write_units: Annotated[
        Path | None,
        typer.Option(
            "--write-units",
            metavar="FOLDER",
            help="Write unit files for systemd: the host as it would start here, and a backup each night.",
        ),
    ] = None,
) -> None:
    """Run a ladder on the network until Ctrl-C: a site where bots are handed in and watched, their checks, and round after round.

    Everything is kept beside the definition: ladder.toml has ladder.host. Stop it or pull the plug: it goes on where it was.
    Links can be made while it runs.
    """
    refuse_together("one after the other", "--backup", "--restore", "--invite", "--invite-from", "--write-units")
    if not given("--invite"):
        refuse_idle("without --invite", "--organiser")
    if given("--invite", "--invite-from"):
        refuse_idle("where links are made, and nothing is started", *_STARTS)
        names = [invite] if invite_from is None else list(_names_in(invite_from))
        _print_links(definition_file, names, organiser=organiser, table=invite_from is not None)
        return
    if given("--backup", "--restore"):
        refuse_idle("where nothing is started", *_STARTS)
        _keep(definition_file, backup, restore)
        return
    if given("--cluster"):
        refuse_idle("with --cluster, whose workers play", "--workers")
    if write_units is not None:
        _write_units(definition_file, write_units, workers, cluster, sandbox, rounds)
        return
    _run(definition_file, workers, cluster, sandbox, rounds)


def _run(file: Path, workers: int, cluster: str, sandbox: SandboxMode, rounds: int | None) -> None:
    from referee.host.engine import EngineOptions, rounds_closed
    from referee.host.home import HostHome
    from referee.host.preparation import definition_of, only_host, prepare, site_url
    from referee.host.store import HostStore
    from referee.host.supervisor import HostSupervisor, commands_of

    console = messages()
    definition_of(file)  # before anything is made
    home = HostHome.beside(file.absolute())
    with only_host(home) as lock:
        ready = prepare(file, sandbox.value)
        if ready.line:
            console.print(ready.line, style="yellow", markup=False)
        until = rounds_closed(home) + rounds if rounds else 0
        options = EngineOptions(workers, cluster, sandbox.value, until)
        with HostStore.open(home.store) as store:
            shown: list[str] = []

            def look() -> None:
                """Says where the site is as soon as it is there."""
                address = store.setting("address")
                if not address or address in shown:
                    return
                url = site_url(ready.definition, address)
                lines = [f"The site is at {url}"]
                if ready.fresh and not shown:
                    secret = store.invite("", time.time(), organiser=True, by=_BY)
                    lines.append(f"The organiser's link, which works once: {url}/join/{secret}")
                shown.append(address)
                with suppress(OSError):  # nobody reads it: no reason to stop
                    typer.echo("\n".join(lines))

            HostSupervisor(
                home,
                commands_of(home, options, remote=ready.definition.host_section.remote is not None),
                lambda line: console.print(line, markup=False),
                look=look,
                held=[lock.fileno()],
            ).run()
    console.print(f"Stopped. How the ladder stands: referee standings {plain_text(str(home.ladder))}", markup=False)


def _write_units(
    file: Path, target: Path, workers: int, cluster: str, sandbox: SandboxMode, rounds: int | None
) -> None:
    """Writes unit files for a host that starts with these options, and says what to do with them."""
    from referee.host.home import HostHome
    from referee.host.preparation import definition_of
    from referee.host.units import unit_name, write_units

    definition_of(file)
    values = {"--workers": workers, "--cluster": cluster, "--sandbox": sandbox.value, "--rounds": rounds}
    options = [word for name in _STARTS if given(name) for word in (name, str(values[name]))]
    home = HostHome.beside(file.resolve())
    made = write_units(home, target, options)
    name = unit_name(home.definition)
    typer.echo("Wrote " + ", ".join(plain_text(str(path)) for path in made))
    typer.echo(f"As root: cp {plain_text(str(target))}/{name}* /etc/systemd/system/ && systemctl daemon-reload")
    typer.echo(f"then:    systemctl enable --now {name}.service {name}-backup.timer")
    typer.echo(f"and:     journalctl -u {name} tells the organiser's link, where the host starts for the first time.")


def _keep(file: Path, backup: Path | None, archive: Path | None) -> None:
    """Writes a backup, or makes a host of one."""
    from referee.host.backup import back_up, restore
    from referee.host.home import HostHome

    home = HostHome.beside(file.absolute())
    if backup is not None:
        made = back_up(home, backup, time.time())
        told = f"Wrote {plain_text(str(backup))}"
    elif archive is not None:
        made = restore(archive, home)
        told = f"Made {plain_text(str(home.folder))} of {plain_text(str(archive))}"
    ladder = "" if made.ladder else ", and no ladder yet"
    bots = counted(made.bots, "bot")
    typer.echo(f"{told}: {counted(made.files, 'file')}, {made.size / (1 << 20):.1f} MiB, {bots}{ladder}.")
    if archive is not None:
        typer.echo(f"Start it with: referee host {plain_text(str(file))}")
    else:
        typer.echo("It holds the master of the open round and all hidden cards: keep it as you keep the host itself.")


def _print_links(file: Path, names: list[str], *, organiser: bool, table: bool) -> None:
    """Makes invitations and prints their links: one by itself, or a CSV of names and links."""
    from referee.host.home import HostHome
    from referee.host.preparation import definition_of, site_url
    from referee.host.store import HostStore

    definition, home = definition_of(file), HostHome.beside(file.absolute())
    for name in names:
        _check_name(name)
    home.make()
    with HostStore.open(home.store) as store:
        url = site_url(definition, store.setting("address") or definition.host_section.address)
        if url.endswith(":0"):
            raise typer.BadParameter(
                "the port of its site is not known before the host runs: start it, or give url in [host]"
            )
        made = [(name, f"{url}/join/{store.invite(name, time.time(), organiser=organiser, by=_BY)}") for name in names]
    if not table:
        typer.echo(made[0][1])
        return
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("name", "link"), *made])
    typer.echo(text.getvalue(), nl=False)


def _names_in(file: Path) -> Iterator[str]:
    """The names of a list: the column called name, or else the first of each line."""
    if file.stat().st_size > _LARGEST_LIST:
        raise typer.BadParameter(f"{file} is too large for a list of names", param_hint="--invite-from")
    try:
        rows = list(csv.reader(io.StringIO(file.read_text("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        raise typer.BadParameter(f"{file} is no CSV in UTF-8: {error}", param_hint="--invite-from") from None
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    head = [cell.strip().casefold() for cell in rows[0]] if rows else []
    at = head.index("name") if "name" in head else 0
    names = [row[at].strip() if at < len(row) else "" for row in rows[1 if "name" in head else 0 :]]
    if not names:
        raise typer.BadParameter(f"{file} has no names: write one a line", param_hint="--invite-from")
    seen: set[str] = set()
    for name in names:
        if name.casefold() in seen:
            raise typer.BadParameter(
                f"{file} has {name!r} twice: each gets a link of their own", param_hint="--invite-from"
            )
        seen.add(name.casefold())
        yield name


def _check_name(name: str) -> None:
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise typer.BadParameter(
            f"{name[:_LONGEST_NAME]!r}: a name has 1 to {_LONGEST_NAME} characters that can be printed"
        )

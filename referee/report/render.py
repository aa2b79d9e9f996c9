"""Filling in the templates. Every value is escaped; the one script of a page is pinned by its digest."""

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any, Final

import referee
from referee.report.card_faces import card_symbols
from referee.report.sanitize import sanitize

_TEMPLATES: Final = Path(__file__).parent / "templates"
_SCRIPTS: Final = ("replay_model.js", "replay_table.js", "replay.js")


def render(template: str, **values: Any) -> str:
    """A template of this package, filled in."""
    script = page_script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text: str = (
        _environment()
        .get_template(template)
        .render(
            version=referee.__version__,
            script=script,
            script_hash=f"sha256-{digest}",
            cards=card_symbols(),
            **values,
        )
    )
    return text


@cache
def page_script() -> str:
    """The script of a page: the parts of the replay, one after another."""
    parts = [(_TEMPLATES / name).read_text("utf-8").removeprefix('"use strict";\n') for name in _SCRIPTS]
    return '"use strict";\n' + "\n".join(parts)


def minus(figure: object) -> str:
    """A figure with a proper minus sign."""
    return str(figure).replace("-", "\N{MINUS SIGN}")


def broken(cell: str) -> Any:
    """A figure of the standings in two lines, its interval below it."""
    from markupsafe import Markup

    main, blank, rest = cell.partition(" ")
    return Markup('{}{}<span class="broken">{}</span>').format(main, blank, rest) if rest else cell


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("referee.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(sanitize=sanitize, minus=minus, broken=broken)
    return made

"""Sphinx: MyST pages in the Furo theme. `make docs` builds them, every warning an error."""

import re
from typing import Any

import referee

project = "Referee"
author = "The Referee authors"
project_copyright = author
version = release = referee.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 4
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"Referee {release}"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True


def as_plain_text(_app: object, _what: str, _name: str, _object: object, _options: object, lines: list[str]) -> None:
    """Docstrings are plain text: a colon before an indented block means that it is code."""
    for number, line in enumerate(lines[:-2]):
        if re.search(r"(?<!:):$", line) and not lines[number + 1] and lines[number + 2].startswith("    "):
            lines[number] = f"{line}:"


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", as_plain_text)

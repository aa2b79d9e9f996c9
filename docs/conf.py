"""Sphinx: MyST pages in the Furo theme. `make docs` builds them, every warning an error."""

import referee

project = "Referee"
author = "The Referee authors"
project_copyright = author
version = release = referee.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"Referee {release}"
autodoc_member_order = "bysource"

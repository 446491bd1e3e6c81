"""Configuration of the documentation: `sphinx-build -W -b html docs docs/_build/html`."""

from __future__ import annotations

from importlib.metadata import version as version_of

project = "schedlab"
author = "The schedlab authors"
copyright = author
version = release = version_of("schedlab")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"schedlab {version}"

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

default_role = "literal"  # in docstrings, `name` is code
autodoc_typehints = "none"  # the signature is long enough; the docstrings say what goes in
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_param = False  # names that share a description stay together
napoleon_use_rtype = False

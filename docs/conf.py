"""Configuration of the documentation: `sphinx-build -W -b html docs docs/_build/html`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

project = "schedlab"
author = "The schedlab authors"
copyright = author
version = release = version_of("schedlab")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"schedlab {version}"
html_search_scorer = str(Path(__file__).with_name("search_scorer.js"))  # a page whose title has the question is first

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

default_role = "literal"  # in docstrings, `name` is code
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True  # "Workload", which links to its page
python_maximum_signature_line_length = 88  # longer signatures have one parameter a line
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_param = False  # names that share a description stay together
napoleon_use_rtype = False


pages_beside = tempfile.TemporaryDirectory()  # removed at exit
html_extra_path = [pages_beside.name]


def write_demo(_app: Any) -> None:
    """Write the demo's report, which the first page links to, as demo/report.html."""
    made = Path(pages_beside.name, "made")
    subprocess.run(
        [sys.executable, "-m", "schedlab", "demo", "--directory", str(made)], check=True, capture_output=True
    )
    shown = Path(pages_beside.name, "demo")
    shown.mkdir()
    (made / "report.html").rename(shown / "report.html")
    shutil.rmtree(made)


def setup(app: Any) -> None:
    """Make what is built and not written."""
    app.connect("builder-inited", write_demo)

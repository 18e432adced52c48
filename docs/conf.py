"""Settings of the documentation site: `make docs`."""

from importlib.metadata import version as installed_version

project = "boirl"
author = "The boirl authors"
copyright = "the boirl authors"
version = release = installed_version("boirl")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "results"]

myst_heading_anchors = 4

html_theme = "furo"
html_title = f"boirl {release}"
html_static_path: list[str] = []

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_type_aliases = {
    name: name for name in ("ArrayLike", "FloatArray", "IntArray", "LogDensity", "Design")
}
napoleon_google_docstring = True
napoleon_use_ivar = True
default_role = "code"

# Docstrings are written in Markdown's backticks; references to names are not links.
nitpicky = False
suppress_warnings = ["myst.header", "ref.python"]

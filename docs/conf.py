"""How the site is built (`make docs`); docs/site.md says why it is built like this.

The source is the whole repository, so that a link means the same on the site as in a checkout.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import smoothboost

ROOT = Path(__file__).parents[1]
NAVIGATION = {
    "docs/index": [
        "docs/tutorial",
        "docs/how-to",
        "docs/reference",
        "docs/privacy/README",
        "docs/evidence",
        "docs/project",
    ],
    "docs/tutorial": [
        "docs/tour",
        "docs/notebooks/first-private-model",
        "docs/notebooks/choosing-a-budget",
    ],
    "docs/how-to": [
        "docs/schema",
        "docs/files",
        "docs/budget",
        "docs/ledger",
        "docs/evaluate",
        "docs/tune",
        "docs/rare-classes",
        "docs/several-classes",
        "docs/report",
        "docs/plots",
        "docs/scikit-learn",
        "docs/privacy-officer",
        "docs/audit",
        "docs/deploy",
        "docs/cluster",
        "docs/scale",
        "docs/pitfalls",
    ],
    "docs/reference": [
        "docs/api",
        "docs/commands",
        "docs/model-file",
        "docs/glossary",
        "CHANGELOG",
    ],
    "docs/privacy/README": [
        "docs/threat-model",
        "docs/privacy/smooth-measure",
        "docs/privacy/one-rules",
        "docs/privacy/pair-rules",
        "docs/privacy/top-down",
        "docs/privacy/several-classes",
        "docs/privacy/selection",
        "docs/privacy/composition",
        "docs/privacy/following",
        "docs/privacy/calibration",
        "docs/privacy/normal",
        "docs/privacy/ledger",
        "docs/privacy/counts",
        "docs/privacy/tuning",
        "docs/privacy/weak-guarantees",
        "docs/privacy/side-channels",
    ],
    "docs/evidence": [
        "docs/comparison",
        "docs/results/accuracy",
        "docs/results/short-lists",
        "docs/results/majority",
        "docs/results/auto-rule",
        "docs/results/audit",
        "docs/results/mutants",
        "docs/results/speed",
        "docs/results/learner-speed",
        "docs/results/cost",
        "docs/results/startup",
        "docs/results/cluster",
        "docs/results/soak",
        "docs/results/side-channels",
        "docs/results/crashes",
        "docs/results/fuzzing",
        "docs/results/sanitizers",
        "docs/results/evaluation",
        "docs/results/expectations",
        "docs/results/tuning",
        "docs/paper/README",
        "docs/paper-differences",
        "docs/paper-errata",
    ],
    "docs/paper/README": [
        "docs/paper/grid",
        "docs/paper/curves",
        "docs/paper/advantage",
        "docs/paper/sparsity",
        "docs/paper/votes",
        "docs/paper/generalization",
        "docs/paper/approximate",
        "docs/paper/utility",
        "experiments/README",
    ],
    "docs/project": [
        "docs/architecture",
        "CONTRIBUTING",
        "docs/site",
        "docs/releasing",
        "SECURITY",
    ],
}
"""The pages below each page, in the order of the menus."""
SHORT = {
    "docs/tutorial": "Tutorial",
    "docs/how-to": "How to",
    "docs/privacy/README": "Privacy",
    "docs/project": "Project",
}
"""What the menus call pages whose titles are long."""


def source_of(page: str) -> Path | None:
    """Return the file of a page, or None if there is none."""
    candidates = (ROOT / f"{page}{suffix}" for suffix in (".md", ".ipynb"))
    return next((path for path in candidates if path.exists()), None)


def add_navigation(app: Any, page: str, source: list[str]) -> None:
    """Put the list of the pages below a page at its end, where only the menus show it."""
    names = [name for name in NAVIGATION.get(page, []) if source_of(name)]
    below = [f"{SHORT[name]} </{name}>" if name in SHORT else f"/{name}" for name in names]
    if below:
        source[0] += "\n".join(["\n```{toctree}", ":hidden:", ":maxdepth: 2", *below, "```\n"])


def leave_out(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool:
    """Leave out what scikit-learn adds to every estimator for routing metadata."""
    return skip or (name.startswith("set_") and name.endswith("_request"))


def setup(app: Any) -> None:
    """Connect what is above."""
    app.connect("source-read", add_navigation)
    app.connect("autodoc-skip-member", leave_out)


project = "SmoothBoost"
author = "The SmoothBoost developers"
version = release = smoothboost.__version__
root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "docs/**.ipynb",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "experiments/README.md",
]
exclude_patterns = [".*", "build", "dist", "src", "tests", "**/.ipynb_checkpoints"]
extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!smoothboost).*")]  # names of other packages

# Headings have the anchors that GitHub gives them, and what a link names has to exist.
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

# Everything public, in the words of its docstrings; types are in those.
default_role = "literal"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False

# A page about privacy asks no other machine for anything: no fonts, scripts or pictures of others.
html_theme = "pydata_sphinx_theme"
html_title = "SmoothBoost"
html_additional_pages = {"index": "start.html"}
html_baseurl = ""
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
templates_path = ["_site"]
html_static_path = ["_site/plain.css"]
html_css_files = ["plain.css"]
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "show_toc_level": 2,
    "footer_start": [],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}

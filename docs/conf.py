"""How Sphinx builds the documentation: `make docs` writes it to build/docs."""

import pathlib
import sys

import wengert

# `reference`, one of the extensions, lies beside this file
HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "wengert"
author = "The wengert authors"
project_copyright = author
version = release = wengert.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "reference",
]
# `index` is the front page of the site; these belong to tools
exclude_patterns = ["_static", "README.md"]
# `shape` in a docstring may be several things: then it is a link to the first of them
suppress_warnings = ["ref.python"]

# -- Markdown ------------------------------------------------------------------------------------
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 3
trim_doctest_flags = True
smartquotes = False
pygments_style = "default"  # every colour is readable on its paper: WCAG AA
pygments_dark_style = "github-dark"
highlight_language = "python"

# -- docstrings ----------------------------------------------------------------------------------
default_role = "py:obj"  # `grad` in a docstring is a link where such a thing is documented
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]
python_use_unqualified_type_names = True
toc_object_entries = False  # a page lists its names at its head; the menu of each would cost more
add_module_names = True
# a name in a docstring may be anything; a link in a page must lead somewhere
nitpick_ignore_regex = [("py:obj", ".*"), ("py:class", ".*"), ("py:exc", ".*")]

# -- pages ---------------------------------------------------------------------------------------
html_theme = "furo"
html_title = "wengert"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["copy.js", "tables.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#2f6fb7",
        "color-brand-content": "#2f6fb7",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6aa9ee",
        "color-brand-content": "#6aa9ee",
    },
}

"""How Sphinx makes the site of docs/: `.ci/site/build`. It opens from a disk and asks no host for anything."""

project = "kcheck"
html_title = "kcheck"
extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
pygments_style = "default"
pygments_dark_style = "monokai"
# A word of a console is no Python.
highlight_language = "none"

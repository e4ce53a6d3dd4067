"""The HTML pages of `fleet report` and `simulate`: each one self-contained file.

`page` writes the sections, `starts` the section on the next start, and `parts` tables, bars and escaped text. `style`
and `script` hold the CSS and JavaScript. `history` is the page of a history; `head` begins both pages.
"""

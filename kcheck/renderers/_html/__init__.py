"""The HTML page of `fleet report`: one self-contained file.

`page` writes the sections, `starts` the section on the next start, and `parts` tables, bars and escaped text. `style`
and `script` hold the CSS and JavaScript.
"""

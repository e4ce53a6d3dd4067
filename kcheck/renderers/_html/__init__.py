"""The HTML pages of `fleet report`, `fleet history`, `elect` and `simulate`: each one self-contained file.

`page` is the one of `fleet report`; `trend`, `places` and `starts` write some of its sections, and `parts` tables, bars
and escaped text. `style` and `script` hold the CSS and JavaScript. `finding_history`, `election` and `history` are the
other pages; `head` begins each of them.
"""

"""The HTML pages of `fleet report`, `fleet trend`, `elect` and `simulate`: each one self-contained file.

- `page`: Which sections does the page of `fleet report` have?
- `trend`, `places`, `starts`: How do its counts, its brokers and its lost records look?
- `remote_storage`: How do replicas that must not lead look?
- `finding_history`: How does the page of `fleet trend` look?
- `election`: How does the page of `elect` look?
- `history`: How does the page of `simulate` look?
- `head`: How does every page begin and end?
- `parts`: How do tables, bars and escaped text look?
- `style`, `script`: Which CSS and JavaScript does a page have?
"""

"""Output formats: each writes a report to a stream, and none decides anything.

In: a `Report` (rows, findings, counts) from `documents`. Out: text, bytes or a file. A public module is one format of
`--format` and sets `RENDERER`; `registry` finds it, so a new format is a new module and nothing else.

- `_contract`: what a renderer must provide.
- `text`: the layouts for people, one `_text_*` module per command; `_page` has lines, tables and findings.
- `json`, `ndjson`: the document, whole or row by row.
- `csv`, `parquet`: answers that are one table.
- `kafka`: the lines of kafka-dump-log; `_decoded`, `_remote_metadata` and `_json_writer` write records as Kafka does.
- `html`, `prometheus`: the page and the metrics of a fleet run; `_html` has the parts of the page.
- `_printable`: escapes for file names and contents, so that damaged data cannot control a terminal.
"""

from kcheck.renderers._contract import Renderer
from kcheck.screen.options import Options

__all__ = ["Options", "Renderer"]

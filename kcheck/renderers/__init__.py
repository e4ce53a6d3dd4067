"""Output formats. Each writes a report to a stream, and decides nothing.

In: a `Report` with rows, findings and the typed answer. Text, drawings and the page of an election take the answer, all
others the rows. Out: text, bytes or a file. A public module is one format of `--format` and sets `RENDERER`. `registry`
finds it, so a new format is a new module and nothing else.

- `text`: layouts for people
- `concise`: one line a finding, as compilers print
- `json`, `ndjson`: the document, as one or row by row
- `csv`, `parquet`: answers that are one table
- `kafka`: the lines of kafka-dump-log
- `html`, `prometheus`: the page of a report, and the metrics of a fleet run
- `mermaid`, `svg`: drawings of a history

Modules that they share:

- `_contract`: What must a renderer provide?
- `_next_command`: Which command does a screen end with?
- `_text_check`, `_text_inspect`, `_text_predict`, `_text_preflight`, `_text_plan`: How do answers
  about one broker look as text?
- `_text_explain`, `_text_log`: How do pages of rules and the messages of a log look?
- `_text_dump`, `_text_records`: How do the rows of a file look, and how are thousands of records written fast?
- `_text_tiered`: How does `kcheck tiered` look?
- `_text_truncation`, `_text_election`, `_text_recovery`, `_text_verification`, `_text_cluster`, `_text_end_offset`: How
  do answers about several look?
- `_text_rescue`: How do `kcheck recover quorum`, `metadata` and `topic` look?
- `_text_simulation`, `_text_fleet`: How do a history and the reports of a fleet look as text?
- `_election_rows`: Which cells do text and HTML share for elections?
- `_space_time`: Which messages and changes do drawings of a history show?
- `_html`: Which parts does a page have?
- `_decoded`, `_remote_metadata`, `_json_writer`: How does kafka-dump-log write decoded records and JSON?
"""

from kcheck.renderers._contract import Renderer
from kcheck.screen.options import Options

__all__ = ["Options", "Renderer"]

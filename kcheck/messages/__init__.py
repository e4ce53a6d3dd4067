"""The messages in a broker's own log (server.log), line by line.

In: numbered lines of text. Out: a `LogEvent` for each known message, and a timeline of them.

- `lines`: What does a line mean?
- `frames`: Which time, level and logger surround the message in text?
- `rows`: Which message does a line of JSON or logfmt contain?
- `times`: When was the line written?
- `catalogue`: Which messages are known? Its tables are rules.tsv, patterns.tsv and loggers.tsv.
- `matching`: Which wording does the message have?
- `values`: Which numbers, partitions and paths does the message contain?
- `timeline`: Which message caused which?
- `comparison`: Do the files on disk still look as in the messages?
"""

"""What a broker wrote into its own log (server.log), line by line.

- `catalogue`: which messages are known? Its tables are rules.tsv, patterns.tsv and loggers.tsv.
- `frames`, `rows`, `times`: what surrounds the message in text, in JSON and logfmt, and when was it written?
- `matching`, `values`: which wording is it, and which values does it contain?
- `lines`: what does a line mean?
- `timeline`: which message caused which?
- `comparison`: do the files on disk still look as the messages say?
"""

"""Evidence bundles: what decides of a log dir, and no key, value, header, secret or host name.

`contents` says what of each file goes in, `tree` lists the files, `batch_rows` reads a `.log`, `write` makes the zip.
"""

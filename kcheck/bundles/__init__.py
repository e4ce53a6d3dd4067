"""Evidence bundles as bytes, with the listed files, and the bytes that readers get for each.

In: the rows of a manifest, and the members of a zip. Out: a `Source` (`model.source`) for each file. `capture` writes
bundles, and `disk.bundle` opens them.

- `manifest`: Which files and directories were captured, and how is each kept?
- `small_files`: Which bytes does a reader get for a small file?
- `rows`: How are the batches of a `.log` packed without their records?
- `log`: Which bytes does a reader get for a `.log`?
"""

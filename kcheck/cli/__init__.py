"""The command line: reads options, calls `kcheck.api`, and writes the answer through a renderer.

In: the arguments of the process. Out: a report on stdout or in a file, a last line on stderr, an exit code. Nothing is
decided here about Kafka, and this is the only package that imports typer. One module per command, named after it.

- `app`: which commands exist, and which exit code an exception gives.
- `options`: which options all commands share, and what they mean.
- `long_commands`: the options of long runs: worker processes, time span, priority, progress.
- `report_output`: how a report is written, and how a command ends.
- `overview`: `kcheck PATH` without a command.
- `command_tree`, `man_pages`, `completions`: the help as values, as man pages, as completion of shells.
- `fleet`, `fleet_report`: the commands below `kcheck fleet`.
- `progress`, `priority`, `arrow`: the progress line, nice values, start of pyarrow.

Only the module of the command that runs is imported: start-up time counts.
"""

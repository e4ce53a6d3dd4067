"""The command line, which reads options, calls `kcheck.api`, and writes the answer through a renderer.

In: the arguments of the process. Out: a report on stdout or in a file, a last line on stderr, an exit code. Nothing is
decided about Kafka, and this is the only package that imports typer. Only the module of the running command is
imported, as start-up time counts.

- `app`: Which commands are there, and which exit code does an exception give?
- `command`: How does typer run a command, with kcheck's help and old names?
- `commands`: Which command answers which question, and how does the first screen look?
- `options`: Which options do all commands share?
- `renamed`: Which old names of options and commands are accepted?
- `settings`: Which defaults do variables and configuration files set?
- `usage_errors`: Which line does a mistake give?
- `long_commands`: Which options do long runs share?
- `priority`: How much CPU and disk does a run leave to other programs?
- `arrow`: How does pyarrow start without pandas?
- `progress`: How does the progress line look?
- `report_output`: How is a report written, and how does a command end?

One module a command, named after the command:

- `overview`: Will the broker start, and what is wrong? This is `kcheck PATH`.
- `demo`: How does kcheck find and repair corruption on a simulated broker?
- `inspect`, `dump`: What do log dirs contain, and what does one file contain?
- `check`, `rules`, `explain`: What is wrong, which rules are there, and what do a rule and a broker's message mean?
- `predict`, `preflight`: What does the broker do when it starts, and may it start?
- `repair`, `apply`, `undo`: Which edits repair a log dir, how are they made, and how are they taken back?
- `end_offset`, `truncation`: What does a replica answer, and where do followers truncate?
- `recover`: What to do with a cluster, step by step?
- `recover_metadata`: How does lost metadata come back from the disks of brokers?
- `recover_topic`: How do old directories of a topic serve again?
- `recover_quorum`: How do controllers come back that lost their majority?
- `elect`, `verify`: Who should lead, and does the cluster look as the plan expects?
- `tiered`: What is in remote storage?
- `cluster`, `simulate`: What does the metadata of a cluster contain, and what happens in a history?
- `capture`: Which evidence goes to a support engineer?
- `export`: Which records go to a producer, and what is said of the others?
- `fleet`, `fleet_report`: How is a fleet scanned, and what do finished runs show?
- `manual`: Which man pages and completion files are installed?
- `help`, `schema`, `version`: How does a command, a topic or a JSON answer read, and which versions run?

Shared by `help` and `manual`, and started by spark-submit:

- `command_tree`: Which commands and options are there, as values?
- `examples`, `exit_codes`, `environment`: Which examples, exit codes and variables does a command have?
- `help_pages`: How does the help of a command look?
- `topics`: Which texts does `kcheck help TOPIC` show?
- `man_pages`, `completions`: Which man pages and shell completions do these values give?
- `launcher`: Which script does spark-submit start?
"""

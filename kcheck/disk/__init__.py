"""Every access to log dirs, on disk, in a store or in a bundle, with paths in, bytes and names out.

Reading:

- `tree`: Is a path on disk, in a store or in a bundle? What can be asked of each of these trees?
- `directory`: How are the files of one directory read by name?
- `local`: How is a file on disk opened without following links or changing access times?
- `store`: How are log dirs in S3 and other stores read?
- `bundle`: How are the files of a bundle read, as if they were on disk?
- `planned`: How are log dirs read as a plan would leave them?
- `contents`: What do stores and bundles have in common?
- `kept`: What does a command read only once?
- `listing`: Which names are in a directory?
- `paths`: How are paths joined and split?
- `rights`: Whose is a file, and what does its file system still take?
- `quota`: How much may a thread read from stores?
- `log_text`: Which lines does the log of a broker have?
- `package_data`: Where are the tables that kcheck ships?
- `refusals`: What did the system refuse while a command ran?
- `worker_process`: What does a worker process close, and how much memory may it use?

Writing:

- `output`: Where does kcheck write its own results?
- `new_files`: How are files written that must never replace one?
- `identity`: Did `repair` read this log dir, or another one?
- `plan_here`: Where are the log dirs of a plan on this host?
- `lock`: Which process holds a log dir?
- `apply`: How does a plan change a log dir?
- `places`: How are the files of a plan reached, never through a link?
- `attributes`: Which mode, owner, times and ACL does a file have?
- `backup`: What does `undo` need?
- `signals`: When does `apply` stop after ^C?

Only `apply` changes a log dir; for that time `lock` adds a `.lock` if the log dir has none. `apply` goes through these
states, which the journal in the backup folder records:

1. No journal: Nothing is changed yet. `apply` locks the log dirs, compares every file with the plan, and copies
   files to be replaced into the backup. The journal is the last file that it writes there.
2. `applying`: New files are written next to the old ones, then renamed to the old names one by one. Each file is old
   or new, never a mixture. If the process dies, `apply` continues and `undo` goes back.
3. `applied`: Every operation is done. Running `apply` again changes nothing.
4. `undone`: Every file is as it was. `apply` can start again with the same backup.

If the disk fails in state 2, `apply` itself undoes everything. If that fails too, `ApplyError` gives the number of
changed files.
"""

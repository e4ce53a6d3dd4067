"""Every access to log dirs, on disk or in a store: paths in, bytes and names out.

| Question | Module |
|---|---|
| Which names are in a directory? | `walk` |
| How is a file opened and read without following links or changing access times? | `read` |
| What did the system refuse while a command ran? | `refusals` |
| How are log dirs in S3 and other stores read? | `remote`; how much a thread may read: `quota` |
| Which process holds a log dir? | `lock` |
| Where does kcheck write its own results? | `output`; what must never replace a file: `new_files` |
| How does a plan change a log dir? | `apply`; the files it changes: `places`; what undo needs: `backup` |
| What does a worker process close and how much memory may it use? | `descriptors`, `memory` |

Only `apply` changes a log dir; for that time `lock` adds a `.lock` if there is none. It goes through these states,
which the journal in the backup folder records:

1. No journal: nothing is changed yet. `apply` locks the log dirs, compares every file with the plan, and copies
   what it will replace into the backup. The journal is the last file that it writes there.
2. `applying`: new files are written beside the old ones, then renamed over them one by one. Each file is old or new,
   never a mixture. If the process dies, `apply` continues and `undo` goes back.
3. `applied`: every operation is done. Running `apply` again changes nothing.
4. `undone`: every file is as it was. `apply` can start again with the same backup.

If the disk fails in state 2, `apply` itself takes everything back. If that fails too, `ApplyError` says how many files
are changed.
"""

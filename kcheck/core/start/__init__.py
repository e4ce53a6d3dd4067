"""What a broker does when it starts, decided from names, numbers and settings.

- `identity`, `meta_properties`: which node owns a log dir, and does the broker accept its meta.properties?
- `startup`: what does a start do with a file, a checkpoint or a setting?
- `leftovers`: what happens to .cleaned, .swap and .deleted files?
- `segments`: where do a loaded log and its high watermark start?
- `producer_state`: what does the broker learn about producers and transactions?
- `remote_index_cache`: what happens to the cached indexes of remote segments?
- `log_dir_outcome`: does the start abort, or take a log dir offline?
- `strays`, `cordoned`: does the cluster know the replica, and does the log dir get new ones?
- `predictions`, `verdicts`: what happens, in values and in one line?
- `claims`: does the start do what a finding claims?
- `preflight`: may the broker start?
"""

"""What can be wrong: one rule, one module. KC1xx one file, KC2xx one partition directory, KC3xx log dirs."""

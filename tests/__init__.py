"""What every test shares: its process may hold what complains of objects that nobody collects."""

import atexit
import gc

# The command lets go of all at its end (kcheck/cli/app.py); this runs behind that, being registered before it.
atexit.register(gc.unfreeze)

"""The directory that spark-submit puts first on the path: it must hold no module that could hide another one."""

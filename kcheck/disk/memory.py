"""How much memory this process may have: a bound, where the system counts what it has."""

import os


def bound_memory(size: int) -> None:
    """Let this process have so many bytes more than it has now; beyond that Python raises MemoryError."""
    import resource  # only where there is a bound

    try:
        with open("/proc/self/statm", "rb") as file:
            has = int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return  # not Linux
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = has + size
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))

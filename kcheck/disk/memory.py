"""Limits the memory of this process, on Linux."""

import os


def bound_memory(size: int) -> None:
    """Let this process use at most `size` bytes more than it uses now; beyond that Python raises MemoryError."""
    import resource  # only for a process with a limit

    try:
        with open("/proc/self/statm", "rb") as file:
            used = int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return  # not Linux
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = used + size
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))

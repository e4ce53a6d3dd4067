"""The limits of a forked worker process (memory on Linux, and inherited sockets)."""

import os
import stat


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


def let_go_sockets(own: int) -> None:
    """Close the inherited sockets except `own`, so that the parent's peers do not wait for this process.

    Each descriptor is redirected to /dev/null and stays in use. An object that still holds its number therefore cannot
    close a file that is opened later.
    """
    try:
        names = os.listdir("/dev/fd")
    except OSError:
        return  # This system does not list descriptors.
    null = os.open(os.devnull, os.O_RDWR)
    for number in map(int, names):
        if number > 2 and number not in (own, null) and _is_socket(number):
            os.dup2(null, number)
    os.close(null)


def _is_socket(number: int) -> bool:
    try:
        return stat.S_ISSOCK(os.fstat(number).st_mode)
    except OSError:
        return False  # The descriptor of the listing itself: closed by now.

"""Closes the sockets that a forked process inherits from its parent."""

import os
import stat


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

"""What a forked process has of its parent and must not keep."""

import os
import stat


def let_go_sockets(own: int) -> None:
    """Let nobody who talks with the parent wait for this process: its sockets, except `own`, lead nowhere here.

    The numbers stay taken: what still holds one of them in this process closes no file that was opened later.
    """
    try:
        names = os.listdir("/dev/fd")
    except OSError:
        return  # a system that does not list them
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in map(int, names):
        if number > 2 and number not in (own, nowhere) and _is_socket(number):
            os.dup2(nowhere, number)
    os.close(nowhere)


def _is_socket(number: int) -> bool:
    try:
        return stat.S_ISSOCK(os.fstat(number).st_mode)
    except OSError:
        return False  # the descriptor of the listing itself

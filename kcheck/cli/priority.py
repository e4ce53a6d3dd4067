"""A process, and those that it will start, behind all others: the CPU by its nice value, the disk by its I/O class."""

import os
import sys

_IOPRIO_SET = {
    "x86_64": 251, "aarch64": 30, "riscv64": 30, "loongarch64": 30, "ppc64le": 273, "ppc64": 273, "s390x": 282,
}  # fmt: skip
"""The number of the system call in 64-bit Linux, by machine: C libraries have no function for it."""
_WHO_PROCESS, _CLASS_IDLE, _CLASS_SHIFT = 1, 3, 13


def lower() -> str | None:
    """Lower both priorities; returns what could not be done, None if nothing."""
    os.nice(19)
    number = _IOPRIO_SET.get(os.uname().machine)
    if not sys.platform.startswith("linux") or number is None or sys.maxsize < 2**32:
        return "this system has no I/O priority that kcheck knows: only that of the CPU is lowered"
    import ctypes  # only here

    if ctypes.CDLL(None, use_errno=True).syscall(number, _WHO_PROCESS, 0, _CLASS_IDLE << _CLASS_SHIFT):
        return f"the I/O priority cannot be lowered: {os.strerror(ctypes.get_errno())}"
    return None

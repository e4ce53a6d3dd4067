"""Lowers the priority of this process and its children, by the nice value and the I/O class."""

import os
import sys

_IOPRIO_SET = {
    "x86_64": 251, "aarch64": 30, "riscv64": 30, "loongarch64": 30, "ppc64le": 273, "ppc64": 273, "s390x": 282,
}  # fmt: skip
"""The system call number in 64-bit Linux, by machine: C libraries have no wrapper."""
_WHO_PROCESS, _CLASS_IDLE, _CLASS_SHIFT = 1, 3, 13


def lower() -> str | None:
    """Lower both priorities; return what failed, or None."""
    os.nice(19)
    number = _IOPRIO_SET.get(os.uname().machine)
    if not sys.platform.startswith("linux") or number is None or sys.maxsize < 2**32:
        return "cannot lower the I/O priority on this system; only the CPU priority is lowered"
    import ctypes  # only here

    if ctypes.CDLL(None, use_errno=True).syscall(number, _WHO_PROCESS, 0, _CLASS_IDLE << _CLASS_SHIFT):
        return f"cannot lower the I/O priority: {os.strerror(ctypes.get_errno())}"
    return None

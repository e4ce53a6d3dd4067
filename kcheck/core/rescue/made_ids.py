"""Makes missing ids. The same names give the same id, so that two equal plans have equal ids."""

from base64 import urlsafe_b64encode
from hashlib import sha256
from itertools import count

_VERSION_AT, _VARIANT_AT = 6, 8


def made_id(*names: str) -> str:
    """Return an id as Uuid.randomUuid makes them, version 4 and not beginning with a dash, from some names."""
    ids = (_id("\0".join((*names, str(attempt)))) for attempt in count())
    return next(one for one in ids if not one.startswith("-"))


def _id(text: str) -> str:
    data = bytearray(sha256(text.encode("utf-8", "surrogatepass")).digest()[:16])
    data[_VERSION_AT] = data[_VERSION_AT] & 0x0F | 0x40
    data[_VARIANT_AT] = data[_VARIANT_AT] & 0x3F | 0x80
    return urlsafe_b64encode(data).decode().rstrip("=")

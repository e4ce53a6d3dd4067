"""The times in logs, in the forms of log4j, logback, java.util.logging, syslog and collectors, as ms since 1970."""

import re
from datetime import datetime, timedelta
from functools import lru_cache

_MONTHS = {
    name: number
    for number, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1
    )
}
_MONTH = f"(?:{'|'.join(_MONTHS)})"
_ZONES: dict[str, int | None] = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "WEST": 60, "CET": 60, "CEST": 120, "EET": 120, "EEST": 180, "MSK": 180,
    "SGT": 480, "HKT": 480, "JST": 540, "KST": 540, "AEST": 600, "AEDT": 660, "NZST": 720, "NZDT": 780, "BRT": -180,
    "EST": -300, "EDT": -240, "CDT": -300, "MST": -420, "MDT": -360, "PST": -480, "PDT": -420,
    "CST": None, "IST": None, "BST": None,
}  # fmt: skip
"""Minutes east of Greenwich; None for names that several countries use."""
_ZONE = rf"(?: ?(?:{'|'.join(_ZONES)})\b| ?[+-]\d\d(?::?\d\d)?| [A-Z][a-z]+/[A-Z][A-Za-z_]+)?"
CLOCK = r"\d{1,2}:\d\d:\d\d(?:[.,:]\d{1,9})?"
"""A time of a day."""
_DATES = (
    r"\d{4}[-/.]\d\d[-/.]\d\d[ T_]",
    r"\d{8}[ T]",
    rf"\d{{1,2}}[ /-]{_MONTH}[ /-]\d{{4}}[ :]",
    r"\d\d[-/.]\d\d[-/.]\d{4} ",
    r"\d\d/\d\d/\d\d ",
)
ANY_TIME = (
    rf"(?:(?:{'|'.join(_DATES)})(?:{CLOCK}|\d{{6}}(?:[.,]\d{{1,9}})?){_ZONE}"
    rf"|{_MONTH} \d{{1,2}},? \d{{4}},? {CLOCK}(?: [AP]M)?{_ZONE}"
    rf"|[A-Z][a-z]{{2}} {_MONTH} [ \d]\d {CLOCK} (?:[A-Z]{{1,5}} )?\d{{4}})"
)
"""A pattern of a time with its date."""
_DAYS = (
    r"(?P<y>\d{4})[-/.](?P<m>\d\d)[-/.](?P<d>\d\d)[ T_]",
    r"(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)[ T]",
    rf"(?P<d>\d{{1,2}})[ /-](?P<m>{_MONTH})[ /-](?P<y>\d{{4}})[ :]",
    r"(?P<first>\d\d)(?P<mark>[-/.])(?P<second>\d\d)[-/.](?P<y>\d{4}) ",
    rf"(?P<m>{_MONTH}) (?P<d>\d{{1,2}}),? (?P<y>\d{{4}}),? ",
)
_OF_DAY = r"(?P<h>\d{1,2}):?(?P<min>\d\d):?(?P<s>\d\d)(?:[.,:](?P<f>\d{1,9}))?"
_FORMS = (
    *(re.compile(rf"{day}{_OF_DAY}(?: (?P<half>[AP])M)?(?: ?(?P<zone>\S+))?") for day in _DAYS),
    re.compile(
        rf"[A-Z][a-z]{{2}} (?P<m>{_MONTH}) +(?P<d>\d{{1,2}}) {_OF_DAY} (?:(?P<zone>[A-Z]{{1,5}}) )?(?P<y>\d{{4}})"
    ),
)
_SINCE_1970 = re.compile(r"([0-9]{1,19})(?:\.([0-9]{1,9}))?")
"""A time in s, ms, us or ns, by its number of digits."""
_MS_DIGITS_MIN = 12
_USUAL = re.compile(r"(?:[.,](\d{1,9}))?(?: ?(?:Z|UTC|GMT))?")
_SHIFT = re.compile(r"([+-])(\d\d)(?::?(\d\d))?")
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00")
_MONTHS_OF_YEAR = 12
_NOON = 12


def milliseconds(time: str) -> int | None:
    """Return a time as ms since 1970, UTC unless it names a zone; None if it is invalid or ambiguous.

    Ambiguous times are `03/04/2026`, and times with zones such as CST.
    """
    second = _second(time[:19]) if time[4:5] == "-" else None
    if second is not None and (rest := _USUAL.fullmatch(time, 19)) is not None:
        return second * 1000 + _thousandths(rest[1])
    since = _SINCE_1970.fullmatch(time)
    if since is None:
        return _other(time)
    digits, fraction = since.groups()
    if len(digits) < _MS_DIGITS_MIN:
        return int(digits) * 1000 + _thousandths(fraction)
    return int(digits[: len(digits) - (len(digits) - _MS_DIGITS_MIN) // 3 * 3])


@lru_cache(maxsize=64)
def _second(text: str) -> int | None:
    """Return a time in ISO 8601 without a zone as seconds since 1970; None if it is not one."""
    try:
        return (datetime.fromisoformat(text) - _EPOCH) // timedelta(seconds=1)
    except (ValueError, TypeError):
        return None


def _other(time: str) -> int | None:
    parts = next((matched.groupdict() for form in _FORMS if (matched := form.fullmatch(time)) is not None), None)
    if parts is None:
        return None
    month, day = _month_and_day(parts)
    shift = _minutes(parts["zone"] or "Z")
    if not month or shift is None:
        return None
    hour = int(parts["h"])
    if parts.get("half"):
        hour = hour % _NOON + (_NOON if parts["half"] == "P" else 0)
    second = _second(f"{parts['y']}-{month:02d}-{day:02d} {hour:02d}:{parts['min']}:{parts['s']}")
    return None if second is None else (second - shift * 60) * 1000 + _thousandths(parts["f"])


def _thousandths(digits: str | None) -> int:
    """Return the digits after the point of a second, if there are any, as ms."""
    return int(f"{digits or ''}000"[:3])


def _month_and_day(parts: dict[str, str]) -> tuple[int, int]:
    """Return the month and day; zeros for an ambiguous order. With dots and dashes the day comes first."""
    if "first" not in parts:
        name = parts["m"]
        return _MONTHS[name] if name in _MONTHS else int(name), int(parts["d"])
    first, second = int(parts["first"]), int(parts["second"])
    if parts["mark"] != "/" or first > _MONTHS_OF_YEAR or first == second:
        return second, first
    return (first, second) if second > _MONTHS_OF_YEAR else (0, 0)


def _minutes(zone: str) -> int | None:
    """Return the minutes that a zone is east of Greenwich; None if it is unknown, or several are called so."""
    shift = _SHIFT.fullmatch(zone)
    if shift is None:
        return _ZONES.get(zone)
    sign, hours, minutes = shift.groups()
    return (int(hours) * 60 + int(minutes or "0")) * (-1 if sign == "-" else 1)

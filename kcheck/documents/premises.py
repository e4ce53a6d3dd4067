"""The rows of premises, which are the assumptions of an answer about a next start."""

import re
from collections.abc import Collection, Iterable, Iterator

from kcheck.core.premises.addresses import OF_KRAFT, OF_ZOOKEEPER
from kcheck.core.premises.age import AGES, DISK_NOT_OLDER
from kcheck.core.premises.elections import FOLLOWING
from kcheck.core.premises.joining import ALLOWED, CONTROLLERS_FOUND
from kcheck.core.premises.judged import EVERY_DISK
from kcheck.core.premises.last_logs import LOST_LOGS, NONE_REMOVED
from kcheck.core.premises.metadata import LOGS_KEPT, METADATA_READ
from kcheck.core.premises.migration import REGISTERED, ZOOKEEPER_ELECTS
from kcheck.core.premises.mounts import DISKS_MOUNTED, SAME_DISKS
from kcheck.core.premises.presence import SETTINGS_LIST_THEM
from kcheck.core.premises.providers import VALUES_KNOWN
from kcheck.core.premises.table import BY_ID, COUNTED, ENDS_START, MAY_LACK, REMOVED
from kcheck.core.premises.zookeeper_sessions import SESSION_SECURED
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.model.report import Row
from kcheck.words import LISTED_MAX, broker_names, capital


def is_losing(premise: str) -> bool:
    """Return whether a broker starts and loses without the premise of this id; losses contain the cost of some."""
    return premise in BY_ID and premise not in ENDS_START | COUNTED


def losing_premises(premises: Iterable[JudgedPremise]) -> Iterator[str]:
    """Yield the sentences of premises without which brokers start and lose, or may."""
    for premise in premises:
        if (premise.status is PremiseStatus.REFUTED and is_losing(premise.id)) or may_lack(premise):
            yield broker_sentence(premise)


def broker_sentence(premise: JudgedPremise) -> str:
    """Return the sentence of a premise, with its broker once."""
    if names_broker(premise):
        return capital(premise.sentence)
    broker = "A broker" if premise.broker_id is None else f"Broker {premise.broker_id}"
    return f"{broker}: {premise.sentence}"


def names_broker(premise: JudgedPremise) -> bool:
    """Return whether the sentence of a premise begins with its broker."""
    return premise.sentence.startswith(f"broker {premise.broker_id} ")


def loses(premise: JudgedPremise) -> bool:
    """Return whether its broker starts, and loses since the premise is refuted."""
    return premise.status is PremiseStatus.REFUTED and premise.id in BY_ID and premise.id not in ENDS_START


def removes(premise: JudgedPremise) -> bool:
    """Return whether its broker starts, and then removes records that its disk has now."""
    return premise.id in REMOVED and premise.status is PremiseStatus.REFUTED


def may_lack(premise: JudgedPremise) -> bool:
    """Return whether the broker may lack an unknown number of records."""
    return premise.id in MAY_LACK and premise.status is PremiseStatus.NOT_SEEN and premise.provide is not None


_NEEDED = (
    LOGS_KEPT, METADATA_READ, SETTINGS_LIST_THEM, DISKS_MOUNTED, SAME_DISKS, CONTROLLERS_FOUND, ALLOWED,
    SESSION_SECURED, OF_ZOOKEEPER, OF_KRAFT, VALUES_KNOWN, ZOOKEEPER_ELECTS, REGISTERED,
)  # fmt: skip


def needs_every_disk(premise: JudgedPremise) -> bool:
    """Return whether only the disks of all brokers show if records are lost."""
    return premise.status is PremiseStatus.NOT_SEEN and (premise.provide or "").startswith(EVERY_DISK)


def may_not_serve(premise: JudgedPremise) -> bool:
    """Return whether a broker may start without a disk, or may not take part in its cluster."""
    return premise.id in _NEEDED and may_lack(premise)


def may_cut(premise: JudgedPremise) -> bool:
    """Return whether it is not seen that an unclean election costs no more records."""
    return premise.id in FOLLOWING and premise.status is PremiseStatus.NOT_SEEN and premise.provide is not None


def with_old_disk(premises: Iterable[JudgedPremise]) -> frozenset[int]:
    """Return the brokers with a disk that is an old copy, or may be one."""
    rows = (row for row in premises if row.id in AGES and (loses(row) or may_lack(row)))
    return frozenset(row.broker_id for row in rows if row.broker_id is not None)


def with_disk_elsewhere(premises: Iterable[JudgedPremise], without: Collection[int] = ()) -> frozenset[int]:
    """Return the brokers whose newest disk is elsewhere. One here is an old copy, or lacks a log.

    The lost log dirs of the brokers `without` had these logs.
    """
    premises = tuple(premises)
    rows = (row for row in premises if row.id in LOST_LOGS and row.status is PremiseStatus.REFUTED)
    lacking = {row.broker_id for row in rows if row.broker_id is not None and row.broker_id not in without}
    return with_old_disk(premises) | lacking


def with_removed_logs(premises: Iterable[JudgedPremise]) -> frozenset[int]:
    """Return the brokers whose missing logs were all removed from log dirs that are here. No other disk has them."""
    premises = tuple(row for row in premises if row.status is PremiseStatus.REFUTED)
    others = with_disk_elsewhere(row for row in premises if row.id != NONE_REMOVED)
    rows = (row for row in premises if row.id == NONE_REMOVED)
    return frozenset(row.broker_id for row in rows if row.broker_id is not None) - others


def without_proof(brokers: Iterable[int], premises: Iterable[JudgedPremise]) -> frozenset[int]:
    """Return the brokers of which nothing proves that their disk is the newest.

    A broker that starts in vain removes the file that shows an old copy. ZooKeeper forgets the registration that does.
    """
    rows = (row for row in premises if row.id == DISK_NOT_OLDER and row.status is PremiseStatus.PROVEN)
    return frozenset(brokers) - {row.broker_id for row in rows}


def open_words(premise: JudgedPremise) -> str | None:
    """Return the facts that the given files do not show, and their source; None of any other premise."""
    if premise.status is not PremiseStatus.NOT_SEEN or premise.provide is None:
        return None
    sentence = premise.sentence if "not known" in premise.sentence else f"not known: {premise.sentence}"
    return f"{capital(sentence)}; {premise.wanted}"


def unseen_words(premises: Iterable[JudgedPremise]) -> Iterator[str]:
    """Yield facts that the given files do not show, and their source; the same fact of several brokers once."""
    alike: dict[tuple[str | None, ...], list[JudgedPremise]] = {}
    for premise in premises:
        of_any = re.sub(rf"\bbroker {premise.broker_id}\b", "", premise.sentence, flags=re.IGNORECASE)
        alike.setdefault((premise.id, premise.provide, of_any), []).append(premise)
    for first, *others in alike.values():
        numbers = [row.broker_id for row in others if row.broker_id is not None]
        also = f". The same for {broker_names(numbers, LISTED_MAX)}" if numbers else ""
        yield f"{first.sentence}; {first.wanted}{also}"


def notes(premises: Iterable[JudgedPremise]) -> tuple[str, ...]:
    """Return the facts that kcheck did not look at, and that no file of a broker shows, each once."""
    unseen = (row for row in premises if row.status is PremiseStatus.NOT_SEEN and row.provide is None)
    return tuple(dict.fromkeys(f"note: {row.sentence}" for row in unseen))


def premise_rows(premises: Iterable[JudgedPremise]) -> tuple[Row, ...]:
    """Return a row for each premise."""
    return tuple(
        {
            "id": premise.id,
            "sentence": premise.sentence,
            "status": str(premise.status),
            "broker_id": premise.broker_id,
            "log_dir": premise.log_dir,
            "partition": premise.partition,
            "evidence": tuple({"path": evidence.path, "says": evidence.says} for evidence in premise.evidence),
            "provide": premise.provide,
        }
        for premise in premises
    )

"""A transaction is open at the end of the log.

What is wrong: Perhaps nothing. A producer was writing when the broker stopped. Its coordinator aborts the transaction
after `transaction.timeout.ms`, or the producer ends it. It is a warning if the coordinator does not have it, because
then it never ends. Causes are a lost or emptied `__transaction_state`, and defects of older releases (KAFKA-14402).

What the broker does: Consumers with `isolation.level=read_committed` get no record from the first offset of an open
transaction on. The log cleaner cleans nothing from there on either.

kcheck says this of log dirs whose meta.properties names the cluster. It reads `__transaction_state` only if a
transaction is open. It reads at most 256 MiB of it, with --depth records all of it. A coordinator counts as not having
a transaction only if kcheck has read every partition of that topic. A missing partition does not count if all its
replicas are on the given brokers.

What to do: Nothing, if the producer is to go on. If the transaction hangs, abort it once the broker runs
(`kafka-transactions.sh abort`, 3.0 and later). `kafka-transactions.sh find-hanging` asks a running cluster.
"""

from collections.abc import Iterable

from kcheck.model.coordinators import Coordinated, CoordinatedLog, OpenInLog, TransactionState
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import DATA_MAX, and_further, escaped, kafka
from kcheck.words import shell_word, time_words


def check(view: Coordinated, release: Release) -> Iterable[Finding]:
    """Compare the open transactions of each log with the transactions that their coordinators have."""
    for key, logs in view.logs.items():
        log = max(logs, key=lambda log: -1 if log.end is None else log.end)  # Another one may lack a marker.
        by_hang: dict[bool, list[OpenInLog]] = {}
        for transaction in log.open:
            hangs = view.knows_all and _known(view, key, transaction) is None
            by_hang.setdefault(hangs, []).append(transaction)
        for hangs, transactions in by_hang.items():
            yield _finding(log, transactions, _known(view, key, transactions[0]), release, hangs=hangs)


def _known(view: Coordinated, key: tuple[str, int], transaction: OpenInLog) -> TransactionState | None:
    """Return the transaction as its coordinator knows it; None if it knows none that will end this one."""
    state = view.transactions.get(transaction.producer_id)
    return state if state is not None and state.is_pending and key in state.partitions else None


def _finding(
    log: CoordinatedLog, transactions: list[OpenInLog], known: TransactionState | None, release: Release, *, hangs: bool
) -> Finding:
    first = transactions[0]
    started = known.started if known is not None and known.started >= 0 else first.timestamp
    since = "" if started is None else f", {time_words(started)}"
    who = "" if known is None else f', transactional id "{escaped(known.transactional_id)}"'
    lost = "; it hangs, because its coordinator does not have it" if hangs else ""
    abort = (
        f"kafka-transactions.sh --bootstrap-server HOST:9092 abort --topic {shell_word(log.topic)}"
        f" --partition {log.partition} --start-offset {first.first_offset}"
    )
    what = "Abort it" if hangs else "Let its producer or its coordinator end it, or abort it"
    return RULE.finding(
        log.where,
        f"transaction of producer {first.producer_id} (epoch {first.producer_epoch}) open since offset"
        f" {first.first_offset}{since}{who}{lost}{and_further(len(transactions), 'transaction')}",
        effect=f"{kafka(release)} gives consumers that read committed records nothing from offset {first.first_offset}"
        " on while it is open.",
        advice=f"{what}: {abort}",
        severity=Severity.WARNING if hangs else Severity.INFO,
        data={
            "count": len(transactions), "hangs": hangs,
            "transactional_id": None if known is None else known.transactional_id,
            "last_stable_offset": first.first_offset,
            "transactions": [transaction._asdict() for transaction in transactions[:DATA_MAX]],
        },
    )  # fmt: skip


RULE = Rule(severity=Severity.INFO, scope=Scope.COORDINATORS, check=check)

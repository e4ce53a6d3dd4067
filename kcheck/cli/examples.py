"""Two examples for the help of each command. The tests run them on fixtures, from top to bottom."""

from kcheck.errors import UsageError

_THREE = "1=/data/b1 2=/data/b2 3=/data/b3"
_SEGMENT = "/data/kafka-1/data2/plain-0/00000000000000000000.log"

EXAMPLES: dict[str, tuple[str, ...]] = {
    "overview": ("kcheck /data/kafka-1", f"kcheck {_THREE}"),
    "check": ("kcheck check /data/kafka-1 --depth crc", "kcheck check /data/kafka-1 --select KC2 --fail-on warning"),
    "predict": ("kcheck predict /data/kafka-1", "kcheck predict /data/kafka-1 --unclean --kafka 3.6"),
    "preflight": (
        "kcheck preflight /data/server.properties",
        "kcheck preflight /data/server.properties --allow loss --format json",
    ),
    "explain": ("kcheck explain KC201", "kcheck explain /data/server.log /data/kafka-1"),
    "recover": (f"kcheck recover {_THREE}", f"kcheck recover {_THREE} --output-dir recovery"),
    "recover-quorum": (
        f"kcheck recover quorum {_THREE} --dead 100",
        f"kcheck recover quorum {_THREE} --dead 100 --output-dir quorum",
    ),
    "recover-topic": (
        f"kcheck recover topic orders {_THREE}",
        f"kcheck recover topic orders {_THREE} --metadata /data/kafka-1 --output-dir orders",
    ),
    "recover-metadata": (
        f"kcheck recover metadata {_THREE} 201=/data/controller",
        f"kcheck recover metadata {_THREE} 201=/data/controller --output-dir rescue",
    ),
    "elect": (f"kcheck elect {_THREE}", f"kcheck elect {_THREE} --output-dir plan"),
    "verify": (f"kcheck verify plan {_THREE}", f"kcheck verify plan {_THREE} --format json"),
    "tiered": (f"kcheck tiered {_THREE}", f"kcheck tiered {_THREE} --topic plain"),
    "truncation": (f"kcheck truncation {_THREE}", f"kcheck truncation {_THREE} --leader best --topic plain"),
    "cluster": ("kcheck cluster /data/kafka-1", "kcheck cluster /data/kafka-1 --changes plain-0"),
    "repair": ("kcheck repair /data/kafka-1", "kcheck repair /data/kafka-1 -o plan.json"),
    "apply": (
        "kcheck apply plan.json --backup backup --yes",
        "kcheck apply plan.json --backup backup --yes --format json",
    ),
    "undo": ("kcheck undo backup", "kcheck undo backup --format json"),
    "inspect": ("kcheck inspect /data/kafka-1", "kcheck inspect /data/kafka-1 --epochs --topic 'plain*'"),
    "dump": (f"kcheck dump {_SEGMENT}", f"kcheck dump {_SEGMENT} --offset 10..20 --print-data utf8"),
    "end-offset": ("kcheck end-offset /data/kafka-1", "kcheck end-offset /data/kafka-1 --epoch 0 --topic plain"),
    "capture": ("kcheck capture /data/kafka-1 --dry-run", "kcheck capture /data/kafka-1 -o ticket.kcheck"),
    "export": (
        "kcheck export /data/kafka-1 --topic plain --partition 0",
        "kcheck export /data/kafka-1 --topic plain --committed --format kcat -o records/",
    ),
    "rules": ("kcheck rules", "kcheck rules --format json"),
    "schema": ("kcheck schema", "kcheck schema check"),
    "demo": ("kcheck demo", "kcheck demo --no-pause --dir demo"),
    "help": ("kcheck help predict", "kcheck help exit-codes"),
    "version": ("kcheck version", "kcheck --version"),
    "manual": ("kcheck manual share", "man -M share/man kcheck-predict"),
    "simulate run": ("kcheck simulate kip-101-1 --kafka 0.10.2", "kcheck simulate run kip-101-1 --kafka all"),
    "simulate list": ("kcheck simulate list", "kcheck simulate list --format json"),
    "simulate search": (
        "kcheck simulate search --brokers 2 --appends 2",
        "kcheck simulate search --kafka 0.10.2 --max-events 12",
    ),
    "simulate script": (
        "kcheck simulate script unclean-shortest --kafka 4.3",
        "kcheck simulate script kip-279-short --kafka 0.11.0",
    ),
    "simulate write": (
        "kcheck simulate write unclean-shortest --output-dir brokers --kafka 4.3",
        "kcheck simulate write unclean-shortest --output-dir brokers-11 --after 11 --kafka 4.3",
    ),
    "fleet scan": (
        "kcheck fleet scan /data/kafka-1 /data/kafka-2 --output-dir runs",
        "kcheck fleet scan '/data/{broker}/{log_dir}' --output-dir runs --jobs 4",
    ),
    "fleet report": ("kcheck fleet report runs", "kcheck fleet report runs --html report.html"),
    "fleet diff": (
        "kcheck fleet diff runs/run=monday runs/run=tuesday",
        "kcheck fleet diff runs/run=monday runs/run=tuesday --format json",
    ),
    "fleet trend": ("kcheck fleet trend runs", "kcheck fleet trend runs --severity warning"),
    "fleet sql": ("kcheck fleet sql duckdb runs", "kcheck fleet sql spark runs"),
    "fleet publish": (
        "kcheck fleet publish runs --iceberg prod.kcheck",
        "kcheck fleet publish runs --iceberg prod.kcheck --catalog-option type=sql",
    ),
    "fleet prune": ("kcheck fleet prune runs --keep 30 --dry-run", "kcheck fleet prune runs --keep 30"),
    "fleet submit": (
        "kcheck fleet submit /data/kafka-1 --output-dir runs -- --master yarn",
        "kcheck fleet submit --print /data/kafka-1 --output-dir runs -- --master yarn",
    ),
}
"""The examples by command; each can be typed unchanged."""

SEE_ALSO: dict[str, tuple[str, ...]] = {
    "overview": ("check", "predict", "recover"),
    "check": ("explain", "repair", "predict"),
    "predict": ("repair", "elect", "preflight"),
    "preflight": ("predict", "repair"),
    "explain": ("rules", "check"),
    "recover": ("recover-quorum", "recover-metadata", "recover-topic", "elect", "repair", "verify"),
    "recover-quorum": ("recover", "recover-metadata", "cluster"),
    "recover-topic": ("recover-metadata", "repair", "export"),
    "recover-metadata": ("recover-quorum", "apply", "cluster"),
    "elect": ("truncation", "verify", "recover"),
    "verify": ("elect", "recover"),
    "tiered": ("inspect", "elect"),
    "truncation": ("elect", "end-offset"),
    "cluster": ("elect", "inspect"),
    "repair": ("apply", "predict"),
    "apply": ("repair", "undo"),
    "undo": ("apply", "check"),
    "inspect": ("check", "dump"),
    "dump": ("inspect", "explain"),
    "end-offset": ("truncation",),
    "capture": ("check", "explain"),
    "export": ("dump",),
    "rules": ("explain",),
    "schema": ("help", "rules"),
    "fleet scan": ("fleet report", "check"),
    "fleet report": ("fleet diff", "fleet trend"),
    "simulate run": ("simulate list", "simulate search"),
    "simulate search": ("simulate run", "simulate script"),
}
"""The commands that follow, or that answer a question close by."""


GUIDES: dict[str, str] = {
    "overview": "topics",
    "preflight": "before-a-start",
    "recover": "topics",
    "elect": "unclean-election",
    "capture": "support-ticket",
    "fleet": "every-night",
    "fleet scan": "every-night",
    "fleet report": "every-night",
    "fleet diff": "every-night",
    "fleet trend": "every-night",
}
"""The topic of `kcheck help` that leads through the work with a command."""


def missing(words: str, command: str) -> UsageError:
    """Return the error for an argument or option that a command needs."""
    return UsageError(f"{words} is missing; for example: {EXAMPLES[command][0]}")

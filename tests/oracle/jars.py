"""The released jars of Kafka from Maven, and their classes run by Java: needs `mvn` and `java` (17) on PATH."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

CACHE = Path(os.environ.get("KAFKA_CACHE") or Path.home() / ".cache" / "kcheck-kafka")
OPENED = ("java.nio", "java.lang", "sun.nio.ch", "jdk.internal.ref")
JVM = (
    "-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:-UsePerfData",
    "-Dzookeeper.jmx.log4j.disable=true",  # reload4j lacks the class that ZooKeeper 3.5 asks for
    # What Java 17 hides and old releases reach for: unmapping of index files, metrics.
    *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENED),
)  # fmt: skip
UNVERIFIED = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")
"""Classes are believed: a fifth of the CPU time of a broker's start."""

QUICK = (
    *UNVERIFIED,
    "-Xlog:disable", "-Xlog:all=error:stderr",  # an archive that does not fit is no news, and stdout is for answers
)  # fmt: skip
"""What only shortens a start."""

POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>kafka</artifactId><version>1</version>"""
DEPENDENCY = """<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version><exclusions>
<exclusion><groupId>org.slf4j</groupId><artifactId>slf4j-log4j12</artifactId></exclusion>
<exclusion><groupId>log4j</groupId><artifactId>log4j</artifactId></exclusion></exclusions></dependency>
"""
LOG4J = """log4j.rootLogger={level}, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.target=System.{target}
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=[%d] %p %m (%c)%n
"""


class NoKafkaError(Exception):
    """Maven or Java is missing, or Maven cannot get the jars."""


def numbers(version: str) -> tuple[int, ...]:
    """Return "2.8.2" as (2, 8, 2)."""
    return tuple(int(part) for part in version.split("."))


def classpath(version: str, *more: str) -> str:
    """Return the class path of a release's broker and tools, and of `more` artifacts of it.

    It is kept below `CACHE`; the jars are in Maven's own.
    """
    for program in ("java", "mvn"):
        if shutil.which(program) is None:
            raise NoKafkaError(f"needs {program} on PATH")
    kept = CACHE / f"{'-'.join((version, *more))}.classpath"
    if not _usable(kept):
        CACHE.mkdir(parents=True, exist_ok=True)
        with (CACHE / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two Mavens at once spoil each other's downloads
            if not _usable(kept):
                _resolve(version, kept, more)
    return kept.read_text()


def jar(coordinate: str) -> Path:
    """Return where Maven put one jar, `group:artifact:version:jar:classifier`."""
    _, artifact, version, _, classifier = coordinate.split(":")
    found = CACHE / f"{artifact}-{version}-{classifier}.jar"
    if not found.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={coordinate}", f"-DoutputDirectory={CACHE}"]
        subprocess.run(command, check=True)
    return found


def archive(version: str) -> Path:
    """Return where the classes of a release are kept as a JVM wants them in memory, if somebody has put them there."""
    return CACHE / f"{version}.jsa"


def _scala(version: str) -> str:
    return "2.13" if numbers(version) >= (2, 4) else "2.12" if numbers(version) >= (0, 10, 2) else "2.11"


def _usable(kept: Path) -> bool:
    return kept.exists() and all(Path(jar).exists() for jar in kept.read_text().split(":"))


def _resolve(version: str, kept: Path, more: Iterable[str]) -> None:
    """Write the class path that Maven finds to `kept`, which appears complete or not at all."""
    names = [f"kafka_{_scala(version)}", *(["kafka-tools"] if numbers(version) >= (0, 10) else []), *more]
    wanted = [f"org.apache.kafka:{name}:{version}" for name in names]
    # One logging back end for all: old releases call log4j 1 itself, which reload4j is.
    wanted += ["org.slf4j:slf4j-api:1.7.36", "org.slf4j:slf4j-reload4j:1.7.36"]
    if numbers(version) < (1,):
        wanted.append("javax.xml.bind:jaxb-api:2.3.1")  # left Java with release 11
    elif (2,) <= numbers(version) < (2, 4):
        wanted.append("org.apache.zookeeper:zookeeper:3.4.10")  # 3.4.13 and 3.4.14 cannot connect on Java 14 and later
    dependencies = "".join(DEPENDENCY.format(*coordinate.split(":")) for coordinate in wanted)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        (Path(folder) / "pom.xml").write_text(f"{POM}<dependencies>{dependencies}</dependencies></project>")
        command = [
            "mvn",
            "-q",
            "-B",
            "dependency:build-classpath",
            "-DincludeScope=runtime",
            "-Dmdep.outputFile=classpath",
        ]
        done = subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False)
        if done.returncode:
            raise NoKafkaError(f"{version} cannot be had from Maven:\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
        (Path(folder) / "classpath").rename(kept)


def compiled(version: str, source: Path) -> Path:
    """Return the folder of the classes of a source file: to compile it takes longer than most runs of it.

    What differs between releases the sources reach by name, so that of all releases of one Scala they become the same.
    """
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    kept = CACHE / "classes" / f"{_scala(version)}-{source.stem}-{digest}"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            made = Path(folder) / "made"
            javac = ["java", *JVM, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-nowarn", "-d", str(made)]
            done = subprocess.run([*javac, "-cp", classpath(version), str(source)], capture_output=True, check=False)
            assert not done.returncode, done.stderr.decode()
            with contextlib.suppress(OSError):  # another process was first
                made.rename(kept)
    return kept


def java_command(
    version: str, source_or_class: str | Path, *args: str, log4j: Path | None = None, quick: bool = True
) -> list[str]:
    """Return the command that runs a main class, or that of a source file, on the jars of a release.

    Who measures a program is not `quick`.
    """
    jars, name = classpath(version), str(source_or_class)
    if isinstance(source_or_class, Path):
        jars, name = f"{jars}:{compiled(version, source_or_class)}", source_or_class.stem
    if log4j is None:
        log4j = CACHE / "log4j.properties"
        if not log4j.exists():
            log4j.write_text(LOG4J.format(level="WARN", target="err"))
    options = [*JVM, *(QUICK if quick else ())]
    if quick and archive(version).exists():
        options.append(f"-XX:SharedArchiveFile={archive(version)}")
    return ["java", *options, f"-Dlog4j.configuration=file:{log4j}", "-cp", jars, name, *args]


def run_java(version: str, source_or_class: str | Path, *args: str, stdin: str = "") -> str:
    """Run a main class, or that of a source file, to its end; return its standard output."""
    command = java_command(version, source_or_class, *args)
    done = subprocess.run(command, input=stdin, text=True, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(
            f"{source_or_class} on {version} ends with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
        )
    return done.stdout

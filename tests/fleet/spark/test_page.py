"""The options of spark-submit in docs/spark.md: Spark has each of them, and uploads kcheck for Kubernetes."""

import os
import re
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import pyspark
import pytest

from kcheck.fleet.scan.local_engine import scan
from tests.cli.command import KCHECK, environment
from tests.fleet.scan.test_local_engine import tables
from tests.fleet.spark.cluster import HOSTS, cluster
from tests.fleet.spark.conftest import needs_java
from tests.fleet.spark.faults import as_command
from tests.fleet.spark.test_engine import brokers

PAGE = (Path(__file__).parents[3] / "docs" / "spark.md").read_text()
JARS = Path(pyspark.__file__).parent / "jars"
OF_KCHECK = {"--engine", "--master", "--output-dir", "--storage-option", "--depth", "--since-run", "--remember",
             "--resume", "--print", "--quiet", "--time-limit"}  # fmt: skip
_PARSER = "org/apache/spark/launcher/SparkSubmitOptionParser.class"
_VOLUME = re.compile(r"(spark\.kubernetes\.\w+\.volumes\.)(\w+)\.\w+\.(.*)")


@cache
def constants(jar: str, begins: str = "") -> bytes:
    """Return the bytes of classes in a jar of Spark, with the texts in them."""
    (path,) = JARS.glob(f"{jar}_*.jar")
    with zipfile.ZipFile(path) as archive:
        return b"".join(archive.read(name) for name in archive.namelist() if name.startswith(begins))


def test_spark_submit_has_each_option() -> None:
    """Also those of YARN and Kubernetes alone."""
    named = {option for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE) if option not in OF_KCHECK}
    assert named >= {"--archives", "--conf", "--deploy-mode", "--total-executor-cores"}
    known = constants("spark-launcher", _PARSER)
    assert [] == [option for option in sorted(named) if chr(len(option)).encode() + option.encode() not in known]


def test_spark_reads_each_property() -> None:
    """Volumes have a name of the user in the middle of theirs."""
    named = {*re.findall(r"\bspark(?:\.\w+)+(?==)", PAGE)}
    assert len(named) > 10
    core = constants("spark-core", "org/apache/spark/internal/config/")
    known = (
        core
        + constants("spark-kubernetes", "org/apache/spark/deploy/k8s/")
        + constants("spark-catalyst", "org/apache/spark/sql/internal/")
    )
    volumes = [volume.groups() for volume in map(_VOLUME.fullmatch, named) if volume is not None]
    parts = {name for name in named if _VOLUME.fullmatch(name) is None}.union(*volumes)
    assert [] == [part for part in sorted(parts) if part.encode() not in known]


@pytest.mark.whole
def test_kubernetes_gets_kcheck(tmp_path: Path) -> None:
    """Spark uploads the program and the zip, and only then asks the cluster, which is not there."""
    needs_java()
    (line,) = re.findall(r"^\| Kubernetes \| `(.*?)`", PAGE, re.MULTILINE)
    volumes = re.findall(r"^--conf spark.kubernetes.*$", PAGE, re.MULTILINE)
    options = " ".join((line, *volumes)).replace("/mnt/runs", str(tmp_path)).replace("HOST:6443", "127.0.0.1:1").split()
    scan = ("fleet", "submit", "/mnt/{cluster}/{broker}/{log_dir}", "--output-dir", "/mnt/runs", "--", *options)
    done = subprocess.run(
        [*KCHECK, *scan], env=environment(SPARK_LOCAL_IP="127.0.0.1", HOME=str(tmp_path)), capture_output=True,
        text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert "KubernetesClientException" in done.stderr + done.stdout
    uploaded = sorted(os.path.basename(path).partition("-")[0] for path in tmp_path.glob("spark-upload-*/*"))
    assert ["kcheck", "kcheck_fleet.py"] == uploaded


@pytest.mark.whole
def test_executors_get_their_python_in_an_archive(tmp_path: Path) -> None:
    """The environment is made and packed as the page says; it is nowhere but in the folders of the executors."""
    needs_java()
    (line,) = re.findall(r"^\| standalone, executors with their own Python \| `(.*?)`", PAGE, re.MULTILINE)
    (packages,) = re.findall(r"from an environment with (.*?)\. On", PAGE)
    packed(tmp_path, [name.strip(",") for name in packages.replace(" and ", " ").split()])
    roots = [*map(str, brokers(tmp_path))]
    (tmp_path / "spark").mkdir()
    with cluster(tmp_path / "spark") as started:
        options = line.replace("spark://host:7077", started.address).split()
        asked = ("fleet", "submit", *roots, "--output-dir", "out", "--run", "there", "--depth", "headers")
        done = subprocess.run(
            [*KCHECK, *asked, "--fail-on", "fatal", "--", *options], env=environment(SPARK_LOCAL_IP=HOSTS[0]),
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
    assert (0, True) == (done.returncode, done.stdout.endswith("Written: out/run=there\n")), done.stdout + done.stderr
    assert {path.parts[-6] for path in tmp_path.glob("spark/work-*/app-*/*/environment/bin/python")} == {
        f"work-{host}" for host in HOSTS
    }
    scan(roots, as_command(tmp_path / "out", "here", depth="headers"))
    expected, found = (tables(tmp_path / "out" / f"run={name}") for name in ("here", "there"))
    assert {**expected, "runs": 1} == {**found, "runs": len(found["runs"])}


def packed(folder: Path, packages: list[str]) -> None:
    """Make environment.tar.gz of an environment with these packages."""
    own = folder / "environment" / "bin"
    for command in (
        [sys.executable, "-m", "venv", own.parent],
        [own / "python", "-m", "pip", "install", "--quiet", "setuptools<81", "venv-pack", *packages],
        [own / "venv-pack", "--quiet", "--prefix", own.parent, "--output", folder / "environment.tar.gz"],
    ):
        subprocess.run(command, check=True, cwd=folder)

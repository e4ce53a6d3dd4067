"""A DAG that scans a fleet every night, reports it, and fails where a fatal finding is new since the night before."""

from datetime import UTC, datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

OUT = "/var/lib/kcheck"
ROOT = "/mnt/brokers/{cluster}/{broker}/{log_dir}"

with DAG(
    "kcheck_fleet",
    schedule="0 2 * * *",
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=10)},
) as dag:
    # The run is named by its night. A scan that wrote its run is not tried again, even if a log dir is missing.
    scan = BashOperator(
        task_id="scan",
        bash_command=f"kcheck fleet scan '{ROOT}' --output-dir {OUT} --run {{{{ ds }}}} --remember -q"
        f" || [ -f {OUT}/run={{{{ ds }}}}/_manifest.json ]",
    )
    report = BashOperator(
        task_id="report",
        bash_command=f"kcheck fleet report {OUT}/run={{{{ ds }}}} --html {OUT}/report.html --quiet || [ $? -eq 1 ]",
    )
    compare = BashOperator(
        task_id="compare",
        bash_command=(
            f"[ ! -d {OUT}/run={{{{ macros.ds_add(ds, -1) }}}} ] || kcheck fleet diff"
            f" {OUT}/run={{{{ macros.ds_add(ds, -1) }}}} {OUT}/run={{{{ ds }}}} --fail-on fatal"
        ),
    )
    prune = BashOperator(task_id="prune", bash_command=f"kcheck fleet prune {OUT} --keep 30", trigger_rule="all_done")
    scan >> report >> compare >> prune

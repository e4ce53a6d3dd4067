"""`kcheck fleet publish`: appends a finished run to Iceberg tables, one for each table of the run.

Each table has the column `run` before its own, and is partitioned by it. A run is published when the table `runs` has
it: that one is written last. A run that is published again replaces itself, so that a command that was killed can be
repeated.
"""

from collections.abc import Iterator
from typing import Any

from kcheck.arrow import schema_of
from kcheck.errors import KcheckError, UsageError
from kcheck.fleet.run import FleetRun
from kcheck.fleet.run_output import run_tables
from kcheck.model.report import Report, Row

_SIZE = 128 << 20
"""Bytes of rows that are held before they are written."""
_LAST = "runs"


def publish(run: FleetRun, target: str, options: dict[str, str]) -> Report:
    """Append a run to the tables of `target`, CATALOG.NAMESPACE; `options` are options of the catalog.

    UsageError if there is no such catalog; KcheckError if a table is corrupt or cannot be written.
    """
    name, dot, namespace = target.partition(".")
    if not (name and dot and namespace):
        raise UsageError(f"--iceberg {target}: write CATALOG.NAMESPACE")
    catalog = _catalog(name, options)
    tables = sorted((table for table in run_tables() if table in run.parts), key=lambda table: (table == _LAST, table))
    rows = _guarded(lambda: [_publish_table(catalog, namespace, run, table) for table in tables])
    body = {"run": run.name, "path": run.path, "target": target, "tables": tuple(rows)}
    return Report(verb="fleet-publish", kafka=run.kafka, body=body, kinds={"tables": "table"})


def _catalog(name: str, options: dict[str, str]) -> Any:
    try:
        from pyiceberg.catalog import load_catalog
    except ImportError:
        raise UsageError("--iceberg needs pyiceberg: pip install 'kcheck[iceberg]'") from None
    try:
        return load_catalog(name, **options)
    except (ValueError, KeyError, OSError, ImportError) as error:
        raise UsageError(f"--iceberg: the catalog {name} cannot be opened: {error}") from error


def _publish_table(catalog: Any, namespace: str, run: FleetRun, name: str) -> Row:
    """Replace the rows of a run in one table, in one commit."""
    import pyarrow as pa
    from pyiceberg import expressions

    equal: Any = expressions.EqualTo  # its types are those of its fields, not of its arguments
    is_run = equal("run", run.name)
    schema = pa.schema([pa.field("run", pa.string()), *schema_of(run_tables()[name].run_columns)])
    table = _table(catalog, f"{namespace}.{name}", schema)
    is_there = bool(len(table.scan(row_filter=is_run, selected_fields=("run",), limit=1).to_arrow()))
    with table.transaction() as transaction:
        if is_there:
            transaction.delete(is_run)
        for rows in _pieces(run, name, schema):
            transaction.append(rows, snapshot_properties={"kcheck.run": run.name})
    snapshot = catalog.load_table(f"{namespace}.{name}").current_snapshot()
    return {"table": name, "rows": run.rows(name), "snapshot": None if snapshot is None else snapshot.snapshot_id}


def _table(catalog: Any, identifier: str, schema: Any) -> Any:
    """Return a table that has these columns; it is made if it is not there."""
    catalog.create_namespace_if_not_exists(identifier.rpartition(".")[0])
    if not catalog.table_exists(identifier):
        table = catalog.create_table(identifier, schema=schema)
        with table.update_spec() as update:
            update.add_identity("run")
        return table
    table = catalog.load_table(identifier)
    with table.update_schema() as update:
        update.union_by_name(schema)
    return table


def _pieces(run: FleetRun, name: str, schema: Any) -> Iterator[Any]:
    """Yield the rows of a table, a bounded number at a time."""
    import pyarrow as pa

    held: list[Any] = []
    size = 0
    for batch in run.batches(name, schema.names[1:]):
        named = pa.array([run.name] * batch.num_rows, pa.string())
        held.append(pa.RecordBatch.from_arrays([named, *batch.columns], schema=schema))
        size += batch.nbytes
        if size >= _SIZE:
            yield pa.Table.from_batches(held)
            held, size = [], 0
    if held:
        yield pa.Table.from_batches(held)


def _guarded(write: Any) -> Any:
    """Run what writes; a catalog or a store that refuses ends the command with one line."""
    from pyiceberg.exceptions import CommitFailedException, ValidationError

    try:
        return write()
    except (OSError, ValueError, CommitFailedException, ValidationError) as error:
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise KcheckError(f"the run cannot be published: {said}") from error

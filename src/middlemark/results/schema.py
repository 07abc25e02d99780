"""The columns of every table that a trial leaves, with their types and the unit at the end of every name.

Where the tables lie, and how they are read and written, `run_folder` says; `campaign` fills them.
"""

from __future__ import annotations

import polars as pl

RECEIVED_SCHEMA = pl.Schema(
    {
        "application": pl.String(),
        "stream": pl.UInt16(),
        "answer": pl.UInt16(),
        "publisher": pl.UInt16(),
        "subscriber": pl.UInt16(),
        "sequence": pl.UInt32(),
        "intended_ns": pl.Int64(),
        "sent_ns": pl.Int64(),
        "received_ns": pl.Int64(),
    }
)
"""`received.parquet`: one row a message and subscriber, in the order in which they came at each application."""

PUBLISHED_SCHEMA = pl.Schema(
    {
        "application": pl.String(),
        "stream": pl.UInt16(),
        "publisher": pl.UInt16(),
        "sequence": pl.UInt32(),
        "intended_ns": pl.Int64(),
        "sent_ns": pl.Int64(),
        "returned_ns": pl.Int64(),
        "accepted": pl.UInt8(),
    }
)
"""`published.parquet`: one row a message at its publisher."""

EXECUTIONS_SCHEMA = pl.Schema(
    {
        "application": pl.String(),
        "node": pl.UInt16(),
        "execution": pl.UInt64(),
        "trigger": pl.String(),
        "started_ns": pl.Int64(),
        "computed_ns": pl.Int64(),
    }
)
"""`executions.parquet`: one row an execution that a node began within the window; `node` is its place in the plan."""

INPUTS_SCHEMA = pl.Schema(
    {
        "application": pl.String(),
        "node": pl.UInt16(),
        "execution": pl.UInt64(),
        "stream": pl.UInt16(),
        "publisher": pl.UInt16(),
        "sequence": pl.UInt32(),
        "sent_ns": pl.Int64(),
        "received_ns": pl.Int64(),
    }
)
"""`inputs.parquet`: one row a message of the window that an execution took."""

OUTPUTS_SCHEMA = pl.Schema(
    {
        "application": pl.String(),
        "node": pl.UInt16(),
        "execution": pl.UInt64(),
        "stream": pl.UInt16(),
        "sequence": pl.UInt32(),
        "sent_ns": pl.Int64(),
    }
)
"""`outputs.parquet`: one row a message that an execution sent and the middleware accepted."""

PROCESSES_SCHEMA = pl.Schema(
    {
        "process": pl.String(),
        "at_ns": pl.Int64(),
        "cpu_ns": pl.Int64(),
        "cpu_user_ns": pl.Int64(),
        "cpu_system_ns": pl.Int64(),
        "resident_bytes": pl.Int64(),
        "proportional_bytes": pl.Int64(),
        "unique_bytes": pl.Int64(),
        "peak_resident_bytes": pl.Int64(),
        "anonymous_bytes": pl.Int64(),
        "shared_resident_bytes": pl.Int64(),
        "dev_shm_bytes": pl.Int64(),
        "threads": pl.Int64(),
        "descriptors": pl.Int64(),
        "voluntary_switches": pl.Int64(),
        "involuntary_switches": pl.Int64(),
        "minor_faults": pl.Int64(),
        "major_faults": pl.Int64(),
        "cgroup_memory_bytes": pl.Int64(),
        "cgroup_cpu_ns": pl.Int64(),
        "cgroup_throttled_ns": pl.Int64(),
    }
)
"""`processes.parquet`: one row a process and sample; counts and times are totals, null is what could not be had."""

MACHINE_SCHEMA = pl.Schema(
    {
        "host": pl.String(),
        "at_ns": pl.Int64(),
        "cpu_pressure_ns": pl.Int64(),
        "memory_pressure_ns": pl.Int64(),
        "io_pressure_ns": pl.Int64(),
        "observer_cpu_ns": pl.Int64(),
    }
)
"""`machine.parquet`: one row a machine and sample; of the machine that Middlemark ran on the host is null."""

SKETCHES_SCHEMA = pl.Schema({"sketch": pl.UInt16(), "step_ns": pl.Int64(), "count": pl.Int64()})
"""`sketches.parquet`: one row a value of a distribution and how many messages it stands for, ascending.

`sketch` is the distribution's place in `metrics.json`, from 0. The value is by `step_ns` above the one before it, the
first of each distribution by so much above 0: a quarter of the size that the values themselves have."""

KERNEL_EVENTS_SCHEMA = pl.Schema(
    {
        "at_ns": pl.Int64(),
        "subject": pl.UInt64(),
        "other": pl.UInt64(),
        "value": pl.Int64(),
        "process": pl.UInt32(),
        "thread": pl.UInt32(),
        "ports": pl.UInt32(),
        "mark": pl.UInt32(),
        "length": pl.UInt32(),
        "kind": pl.UInt16(),
        "cpu": pl.UInt16(),
    }
)
"""`kernel_path.parquet`: one row an event, in the order of time; `kernel_trace` says what the columns mean."""

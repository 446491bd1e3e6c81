"""Readers and writers for one format each; `sl.read_workload` tells formats apart by name and content."""

from schedlab.workload.batsim import read_batsim, write_batsim
from schedlab.workload.event_lines import read_event_lines
from schedlab.workload.gpu_logs import read_gen_parallel, read_openb, read_philly
from schedlab.workload.mapped import read_mapped
from schedlab.workload.moab import read_moab
from schedlab.workload.sacct import read_sacct
from schedlab.workload.slurmctld_log import ControllerLog, read_slurmctld_log
from schedlab.workload.squeue import read_squeue
from schedlab.workload.tables import read_table, write_table
from schedlab.workload.torque import read_torque

__all__ = [
    "ControllerLog",
    "read_batsim",
    "read_event_lines",
    "read_gen_parallel",
    "read_mapped",
    "read_moab",
    "read_openb",
    "read_philly",
    "read_sacct",
    "read_slurmctld_log",
    "read_squeue",
    "read_table",
    "read_torque",
    "write_batsim",
    "write_table",
]

"""The states of nodes are read from all that Slurm's programs print."""

from __future__ import annotations

import json

import pytest

from schedlab.cluster.node_service import read_services
from schedlab.errors import InputError

SCONTROL = """NodeName=n1 Arch=x86_64 CoresPerSocket=6
   State=ALLOCATED+DRAIN ThreadsPerCore=1
   Reason=disk State=old

NodeName=n2 Arch=x86_64
   State=IDLE
"""
SINFO = "NODELIST|CPUS|STATE\nn[1-2]|8|drained*\nn3|8|mixed-\n"
# Slurm 22.05 prints nodes, 24.11 groups of nodes.
OLD = {"nodes": [{"name": "n1", "state": "allocated", "state_flags": ["DRAIN"]}, {"name": "n2", "state": "idle"}]}
NEW = {
    "sinfo": [
        {"node": {"state": ["MIXED", "DRAIN"]}, "nodes": {"nodes": ["n1"]}},
        {"node": {"state": ["IDLE"]}, "nodes": {"nodes": ["n2"]}},
    ]
}


def read(tmp_path, text, **options):
    path = tmp_path / "nodes"
    path.write_text(text)
    return read_services(path, **options)


@pytest.mark.parametrize("text", [SCONTROL, json.dumps(OLD), json.dumps(NEW)])
def test_a_drained_node_is_told_from_one_in_service(tmp_path, text):
    assert read(tmp_path, text) == {"n1": "drain", "n2": "in service"}


def test_host_lists_of_sinfo_are_expanded(tmp_path):
    assert read(tmp_path, SINFO) == {"n1": "drain", "n2": "drain", "n3": "in service"}


def test_a_reserved_node_is_in_service_where_reservations_are_known(tmp_path):
    text = "NodeName=n1 State=IDLE+MAINTENANCE+RESERVED\nNodeName=n2 State=DOWN+MAINTENANCE\n"
    assert read(tmp_path, text) == {"n1": "drain", "n2": "down"}
    assert read(tmp_path, text, reserved=False) == {"n1": "in service", "n2": "down"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"nodes": [{"name": "n1"', "not JSON"),
        ('{"nodes": [{"name": "n1"}]}', "a node lacks 'state'"),
        ("{}", "no list of nodes"),
        ("hello\n", "the column NODELIST or STATE is missing"),
        ("NODELIST|CPUS|STATE\nn1|8\n", "cut short"),
        ("NodeName=n1 State=SLEEPY\n", "SLEEPY"),
    ],
)
def test_what_is_not_understood_is_said_in_a_sentence(tmp_path, text, words):
    with pytest.raises(InputError, match=words):
        read(tmp_path, text)

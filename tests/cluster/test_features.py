"""Constraints on the features of nodes."""

from __future__ import annotations

import pytest

from schedlab.cluster.features import nodes_with
from schedlab.errors import InputError

FEATURES = [frozenset({"ib", "a100"}), frozenset({"ib", "h100"}), frozenset({"h100"}), frozenset()]


@pytest.mark.parametrize(
    ("constraint", "met"),
    [
        ("ib", [True, True, False, False]),
        ("ib&h100", [False, True, False, False]),
        ("ib,h100", [False, True, False, False]),
        ("a100|h100", [True, True, True, False]),
        ("a100|ib&h100", [True, True, False, False]),
        ("(a100|h100)&ib", [True, True, False, False]),
        (" ib & ( a100 ) ", [True, False, False, False]),
    ],
)
def test_and_binds_more_closely_than_or(constraint, met):
    assert nodes_with(constraint, FEATURES).tolist() == met


@pytest.mark.parametrize("constraint", ["", "&", "ib|", "(ib", "ib)", "ib h100", "[rack1*2]", "(" * 500])
def test_what_cannot_be_read_is_one_sentence(constraint):
    with pytest.raises(InputError, match="constraint"):
        nodes_with(constraint, FEATURES)

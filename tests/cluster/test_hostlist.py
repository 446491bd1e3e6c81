"""Host lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.cluster.hostlist import host_list, host_names, name_order
from schedlab.errors import InputError

names = st.lists(st.from_regex(r"[a-c]{0,2}[0-9]{0,3}(-[ab])?", fullmatch=True).filter(bool), max_size=20)


@given(names)
def test_a_host_list_stands_for_its_names_in_their_order(hosts):
    assert host_names(host_list(hosts)) == hosts


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("n[01-03,10]", ["n01", "n02", "n03", "n10"]),
        ("n[8-11]", ["n8", "n9", "n10", "n11"]),
        ("r[1-2]n[0-1],login", ["r1n0", "r1n1", "r2n0", "r2n1", "login"]),
        ("n1, n2", ["n1", "n2"]),
        ("", []),
    ],
)
def test_ranges_keep_their_zeros_and_several_brackets_multiply(text, hosts):
    assert host_names(text) == hosts


@pytest.mark.parametrize("text", ["n[1-", "n1]", "n[a-b]", "n[1--2]", "n[]", "n[[1]]", "n[3-1]", "n1,,n2"])
def test_what_is_no_host_list_is_refused(text):
    with pytest.raises(InputError, match="is not a host list"):
        host_names(text)


@pytest.mark.parametrize("text", ["n[1-999999999999]", "a[1-2000]b[1-2000]"])
def test_a_list_of_millions_of_nodes_is_refused_before_it_is_made(text):
    with pytest.raises(InputError, match="names more than"):
        host_names(text)


def test_names_are_sorted_by_numbers_of_any_length():
    names = ["n" + "9" * 5_000, "n10", "n9", "n009", "n", "nx"]
    assert sorted(names, key=name_order) == ["n", "n009", "n9", "n10", names[0], "nx"]

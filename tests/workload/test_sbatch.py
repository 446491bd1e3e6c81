"""The options of sbatch, however they are written."""

from __future__ import annotations

import pytest

from schedlab.errors import InputError
from schedlab.workload.sbatch import Request, mebibytes, request_of

SHORT = "-N 2 -n 8 -c 3 -t 1:00:00 -p gpu -q high -A ocean -C ib&ssd"
GLUED = "-N2 -n8 -c3 -t1:00:00 -pgpu -qhigh -Aocean -Cib&ssd"
LONG = "--nodes=2 --ntasks=8 --cpus-per-task=3 --time=60 --partition=gpu --qos=high --account=ocean --constraint=ib&ssd"


@pytest.mark.parametrize(
    "words", [SHORT.split(), GLUED.split(), LONG.split(), [*LONG.replace("=", " ").split(), "job.sh", "argument"]]
)
def test_short_and_long_options_say_the_same(words: list[str]) -> None:
    assert request_of(words) == Request(
        nodes=2,
        tasks=8,
        cores_per_task=3,
        constraint="ib&ssd",
        partition="gpu",
        account="ocean",
        qos="high",
        seconds=3600,
    )


@pytest.mark.parametrize(
    ("words", "tasks"),
    [([], 1), (["-N", "3"], 3), (["-N", "3", "--ntasks-per-node=4"], 12), (["-N", "3", "-n", "2"], 3)],
)
def test_tasks_follow_from_nodes_where_they_are_not_given(words: list[str], tasks: int) -> None:
    assert request_of(words).tasks == tasks


@pytest.mark.parametrize(
    ("words", "gpus", "kind"),
    [
        (["--gres=gpu:2"], (0, 2, 0), None),
        (["--gres", "gpu:a100:2"], (0, 2, 0), "a100"),
        (["--gres=gpu"], (0, 1, 0), None),
        (["--gres=gpu:tesla"], (0, 1, 0), "tesla"),
        (["--gres=craynetwork:1,gpu:v100:1"], (0, 1, 0), "v100"),
        (["--gres=craynetwork:1"], (0, 0, 0), None),
        (["--gpus=4"], (4, 0, 0), None),
        (["-G", "h100:8"], (8, 0, 0), "h100"),
        (["--gpus-per-node=a100:4"], (0, 4, 0), "a100"),
        (["--gpus-per-task=1"], (0, 0, 1), None),
        (["--gres=gres/gpu=3"], (0, 3, 0), None),
    ],
)
def test_gpus_have_numbers_and_types(words: list[str], gpus: tuple[int, int, int], kind: str | None) -> None:
    request = request_of(words)
    assert ((request.gpus, request.gpus_per_node, request.gpus_per_task), request.gpu_type) == (gpus, kind)


def test_memory_is_in_mebibytes_and_rounded_up() -> None:
    assert [mebibytes(text) for text in ("1", "1K", "1025k", "2G", "1.5T", "0")] == [1, 1, 2, 2048, 1572864, 0]


def test_exclusive_takes_nodes_and_with_a_value_does_not() -> None:
    assert [request_of([word]).exclusive for word in ("--exclusive", "--exclusive=user", "--requeue")] == [1, 0, 0]
    assert request_of(["--exclusive=user"]).unused == ()


def test_what_is_not_kept_is_named() -> None:
    request = request_of(["--licenses=matlab:1", "-d", "afterok:7", "--reservation=lab", "--begin=now", "-o", "x.log"])
    assert (request.licenses, request.reservation) == ("matlab:1", "lab")
    assert request.unused == ("dependency", "begin")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-n", "many"], "--ntasks is 'many', not a whole number"),
        (["--mem=lots"], "'lots' is not an amount of memory such as 4G or 500"),
        (["--mem=" + "9" * 400], "is not an amount of memory such as 4G or 500"),
        (["-t", "soon"], "'soon' is not a time limit"),
        (["--gpus=a b:c"], "--gpus is 'a b:c', not a number of GPUs"),
        (["-n"], "the option -n of sbatch needs a value"),
        (["--mem"], "the option --mem of sbatch needs a value"),
    ],
)
def test_values_that_mean_nothing_are_refused(words: list[str], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        request_of(words)
    assert sentence in str(caught.value)


def test_gpus_of_several_types_and_other_generic_resources_are_said() -> None:
    request = request_of(["--gres=gpu:a100:1,gpu:v100:2,shard:3,nic:1"])
    assert (request.gpus_per_node, request.gpu_type, request.several_gpu_types) == (3, None, True)
    assert request.other_gres == ("nic", "shard")
    assert request_of(["--gpus=a100:1", "--gpus-per-node=a100:1"]).gpu_type == "a100"
    assert request_of(["--gpus=a100:1,v100:1"]).several_gpu_types

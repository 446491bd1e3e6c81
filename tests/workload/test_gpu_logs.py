"""Published logs of GPU clusters: made-up rows, and the logs themselves held against what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.errors import InputError
from schedlab.workload.files import format_of, read_workload
from schedlab.workload.gpu_logs import GEN_PARALLEL, PHILLY, read_gen_parallel, read_openb, read_philly

PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"
ROWS = [
    "a,3152,3600,1,230,,LS,Running,10,100,20",
    "b,8000,16384,2,1000,V100M16|V100M32,BE,Failed,11,50,11",
    "c,500,0,0,0,,BE,Pending,12,60,",
    "d,4000,1024,1,1000,T4,BE,Succeeded,13,14,13",
]


def csv_of(directory: Path, *lines: str) -> Path:
    path = directory / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


class TestOpenb:
    def test_pods_ask_for_cores_memory_and_parts_of_gpus(self, tmp_path: Path) -> None:
        path = csv_of(tmp_path, PODS, *ROWS)
        jobs = read_workload(path)
        assert format_of(path) == "openb"
        assert jobs.submit_time.tolist() == [10, 11, 12, 13]
        assert (jobs.wait_time.tolist(), jobs.run_time.tolist()) == ([10, 0, -1, 0], [80, 39, -1, 1])
        assert jobs.requested_processors.tolist() == [4, 8, 1, 4]
        assert jobs.status.tolist() == [1, 0, -1, 1]
        resources = jobs.resources
        assert resources is not None
        assert resources.gpus.tolist() == [1, 2, 0, 1]
        assert resources.gpu_share.tolist() == [230, 1000, 1000, 1000]
        assert resources.gpu_type.texts() == ["", "", "", "T4"]
        assert resources.constraint.texts() == ["", "V100M16|V100M32", "", ""]
        assert resources.memory_per_node.tolist() == [3600, 16384, 0, 1024]
        assert resources.qos.texts() == ["LS", "BE", "BE", "BE"]
        assert " Note: never scheduled, run time unknown: 1" in jobs.header

    def test_cores_may_be_counted_in_thousandths(self, tmp_path: Path) -> None:
        jobs = read_openb(csv_of(tmp_path, PODS, *ROWS), cores="milli")
        assert jobs.requested_processors.tolist() == [3152, 8000, 500, 4000]
        assert jobs.resources.cores_per_task.tolist() == [3152, 8000, 500, 4000]
        assert " Note: processors are thousandths of cores" in jobs.header
        with pytest.raises(InputError, match="unknown unit 'half' of processors"):
            read_openb(csv_of(tmp_path, PODS, *ROWS), cores="half")

    def test_without_times_one_pod_comes_each_second(self, tmp_path: Path) -> None:
        jobs = read_openb(csv_of(tmp_path, "name,cpu_milli,memory_mib,num_gpu,gpu_milli", "a,1,1,0,0", "b,1,1,0,0"))
        assert (jobs.submit_time.tolist(), jobs.run_time.tolist()) == ([0, 1], [-1, -1])

    @pytest.mark.parametrize(
        ("row", "sentence"),
        [
            ("e,-1,1,0,0,,,,1,2,1", "line 6: cpu_milli is '-1', not a whole number from 0 on"),
            ("e,many,1,0,0,,,,1,2,1", "line 6: cpu_milli is 'many', not a number"),
            ("e,1,1,2,500,,,,1,2,1", "line 6: gpu_milli is '500', but only single GPUs are shared"),
            ("e,1,1,1,1001,,,,1,2,1", "line 6: gpu_milli is '1001', but a GPU has 1 to 1000 thousandths"),
            ("e,1,1,1,0,,,,1,2,1", "line 6: gpu_milli is '0', but a GPU has 1 to 1000 thousandths"),
            ("e,1,1,1,1,,,,1,2,1,7", "this is not a CSV file"),
        ],
    )
    def test_a_bad_row_is_refused_with_its_line(self, tmp_path: Path, row: str, sentence: str) -> None:
        path = csv_of(tmp_path, PODS, *ROWS, row)
        with pytest.raises(InputError) as caught:
            read_openb(path)
        assert str(caught.value).startswith(f"{path}")
        assert sentence in str(caught.value)

    def test_unknown_and_missing_columns_are_named(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="unknown column 'colour'; this log has name, cpu_milli"):
            read_openb(csv_of(tmp_path, PODS + ",colour", ROWS[0] + ",red"))
        with pytest.raises(InputError, match="the column num_gpu is missing"):
            read_openb(csv_of(tmp_path, "name,cpu_milli,memory_mib", "a,1,1"))

    def test_the_published_pods_are_what_is_said_of_them(self, traces: Path) -> None:
        """8,152 pods; integers from 0 to 8 GPUs; a third of the GPU pods have a type in the list of that name."""
        directory = traces / "modern/alibaba-openb-2023"
        jobs = read_workload(directory / "openb_pod_list_default.csv.gz")
        assert (len(jobs), int(jobs.resources.gpus.max()), int((jobs.run_time < 0).sum())) == (8_152, 8, 897)
        spec = read_workload(directory / "openb_pod_list_gpuspec33.csv.gz").resources
        typed = (spec.gpu_type.codes >= 0) | (spec.constraint.codes >= 0)
        assert round(float(typed[spec.gpus > 0].mean()), 2) == 0.34


class TestPhilly:
    ROWS = ("2017-10-09 07:01:55,66.0,1,66.0,11cb48", "2017-10-09 06:13:03,50.0,4,200.0,6214e9")

    def test_virtual_clusters_are_partitions_and_gpus_are_processors(self, tmp_path: Path) -> None:
        path = csv_of(tmp_path, ",".join(PHILLY), *self.ROWS)
        jobs = read_workload(path)
        assert format_of(path) == "philly"
        assert (jobs.submit_time.tolist(), jobs.start_time) == ([0, 2932], 1_507_529_583)
        assert jobs.requested_processors.tolist() == jobs.resources.gpus.tolist() == [4, 1]
        assert jobs.resources.gpus_per_task.tolist() == [1, 1]
        assert jobs.resources.partition.texts() == ["6214e9", "11cb48"]
        assert {" Partition: 1 11cb48", " Note: processors are GPUs"} <= set(jobs.header)

    @pytest.mark.parametrize(
        ("row", "sentence"),
        [
            ("2017-10-09 07:01:55,66.0,2,66.0,11cb48", "line 4: gpu_time is '66.0', not duration times num_gpus"),
            ("2017-10-09 07:01:55,66.0,0,0,11cb48", "line 4: num_gpus is '0', but each job has a GPU"),
            ("2017-10-09 07:01:55,-1,1,-1,11cb48", "line 4: duration is '-1', but must not be negative"),
            ("yesterday,66.0,1,66.0,11cb48", "line 4: timestamp is 'yesterday', not a time as 2017-10-09 07:01:55"),
        ],
    )
    def test_a_bad_row_is_refused_with_its_line(self, tmp_path: Path, row: str, sentence: str) -> None:
        with pytest.raises(InputError, match=sentence):
            read_philly(csv_of(tmp_path, ",".join(PHILLY), *self.ROWS, row))

    def test_the_published_log_is_what_is_said_of_it(self, traces: Path) -> None:
        """82,247 jobs in 15 virtual clusters, 1 to 128 GPUs."""
        jobs = read_workload(traces / "modern/philly-82k/philly.csv.gz")
        gpus = jobs.resources.gpus
        assert (len(jobs), len(jobs.resources.partition.names), gpus.min(), gpus.max()) == (82_247, 15, 1, 128)


class TestGenParallel:
    def test_gpus_stand_in_where_no_processors_are_known(self, tmp_path: Path) -> None:
        path = csv_of(tmp_path, ",".join(GEN_PARALLEL), "0,1,0,128,2,0,59.6,60,Pass", "1,7,8,0,2,30,9,0,Killed")
        jobs = read_workload(path)
        assert format_of(path) == "gen-parallel"
        assert (jobs.submit_time.tolist(), jobs.run_time.tolist(), jobs.rounded) == ([0, 30], [60, 9], 1)
        assert (jobs.requested_processors.tolist(), jobs.requested_time.tolist()) == ([128, 8], [60, -1])
        assert (jobs.status.tolist(), jobs.user_id.tolist()) == ([1, 5], [1, 7])
        resources = jobs.resources
        assert (resources.nodes.tolist(), resources.gpus_per_node.tolist()) == ([2, 2], [0, 4])

    @pytest.mark.parametrize(
        ("row", "sentence"),
        [
            ("0,1,0,0,2,0,1,1,Pass", "line 2: cpu_num is '0', and gpu_num is 0, too"),
            ("0,1,0,1,0,0,1,1,Pass", "line 2: node_num is '0', but each job has a node"),
            ("0,1,0,1,1,0,1,1,Passed", "line 2: new_status is 'Passed', not one of Pass, Failed and Killed"),
            ("0,1,0,1,1,-5,1,1,Pass", "line 2: interval is '-5', not a whole number"),
        ],
    )
    def test_a_bad_row_is_refused_with_its_line(self, tmp_path: Path, row: str, sentence: str) -> None:
        with pytest.raises(InputError, match=sentence):
            read_gen_parallel(csv_of(tmp_path, ",".join(GEN_PARALLEL), row))

    @pytest.mark.parametrize(
        ("name", "with_gpus", "users"),
        [("blue_waters", 3_403, 149), ("helios", 10_796, 106), ("philly", 15_000, 136), ("theta", 0, 48)],
    )
    def test_the_published_tables_are_what_is_said_of_them(
        self, traces: Path, name: str, with_gpus: int, users: int
    ) -> None:
        """15,000 jobs each; Blue Waters with 3,403 GPU jobs of 149 users, Helios with 10,796 GPU jobs."""
        path = traces / f"modern/gen-parallel-workloads-15k/{name}_data_training.csv.gz"
        jobs = read_workload(path)
        found = (len(jobs), int((jobs.resources.gpus > 0).sum()), len(set(jobs.user_id.tolist())))
        assert found == (15_000, with_gpus, users)

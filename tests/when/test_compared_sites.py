"""On which of several clusters a job has its result first."""

from __future__ import annotations

import numpy as np
import pytest
from site_samples import CONF, HEADER, MOMENT, printed

import schedlab as sl
from schedlab.errors import InputError
from schedlab.when.compared_sites import SiteOption, state_in, which_site, which_site_text
from schedlab.when.forks import Forking
from schedlab.when.snapshots import read_snapshot

RUNS = "7|ann|batch|RUNNING|2026-04-01T09:00:00|2026-04-01T09:10:00|2:00:00|{cores}|{nodes}|None|(null)|500|{on}"
HOW = Forking(forks=5)


def cluster(directory, name, cores, nodes, on):
    """Return a site of four nodes of which some are in use."""
    directory.mkdir()
    (directory / "slurm.conf").write_text(CONF.replace("ClusterName=lab", f"ClusterName={name}"))
    files = printed(directory, queue=f"{HEADER}\n{RUNS.format(cores=cores, nodes=nodes, on=on)}\n")
    return sl.site.import_site(directory / "slurm.conf"), read_snapshot(files, MOMENT)


@pytest.fixture
def two(tmp_path):
    """A cluster that is full until 11:10 at the latest, and one of which three nodes are free."""
    return [cluster(tmp_path / "a", "full", 32, 4, "n[1-4]"), cluster(tmp_path / "b", "quiet", 8, 1, "n1")]


def test_a_job_starts_at_once_on_the_cluster_that_has_room(two):
    best, other = which_site(two, ["--nodes=2", "--time=1:00:00"], how=HOW)
    assert (best.site, other.site) == ("quiet", "full")
    assert best.waits.tolist() == [0] * 5
    assert (other.waits > 0).all()
    # The same run times on both: results differ by the waits.
    assert (other.result - best.result).tolist() == (other.waits - best.waits).tolist()


def test_the_text_names_the_best_and_how_much_sooner_it_is(two):
    found = which_site(two, ["--nodes=2", "--time=1:00:00"], how=HOW)
    text = which_site_text(found, "full")
    assert text.startswith("On quiet, its result is there in ")
    assert "sooner than on full." in text
    assert which_site_text(found, "quiet").startswith("Stay on quiet: ")


def test_where_every_cluster_kills_it_more_time_is_advised(two):
    found = [SiteOption(name, np.zeros(3, int), np.full(3, np.inf), 1.0) for name in ("full", "quiet")]
    text = which_site_text(found, "full")
    assert text.startswith("On every cluster it is killed at its limit too often: ask for more time.")
    assert text.splitlines()[-1].split() == ["quiet", "0", "s", "killed", "killed", "killed", "100%"]


def test_a_cluster_on_which_it_can_never_start_comes_last_with_the_reason(two, tmp_path):
    small = cluster(tmp_path / "c", "small", 8, 1, "n1")
    conf = (tmp_path / "c" / "slurm.conf").read_text().replace("Nodes=n[1-4]", "Nodes=n1")
    (tmp_path / "c" / "slurm.conf").write_text(conf)
    small = (sl.site.import_site(tmp_path / "c" / "slurm.conf"), small[1])
    found = which_site([small, *two], ["--nodes=2", "--time=1:00:00"], how=HOW)
    assert [one.site for one in found] == ["quiet", "full", "small"]
    assert "can never start" in found[-1].refused
    assert np.isinf(found[-1].median)
    assert "small: such a job can never start here" in which_site_text(found, "small")
    with pytest.raises(InputError, match="the job can start on none of the clusters: small: such a job can never"):
        which_site([small], ["--nodes=2", "--time=1:00:00"], how=HOW)


def test_two_clusters_of_one_name_are_refused(two):
    with pytest.raises(InputError, match=r"two of the clusters have one name \(full, full\)"):
        which_site([two[0], two[0]], ["--nodes=2", "--time=1:00:00"], how=HOW)


def test_a_directory_holds_the_state_of_a_cluster_under_the_names_of_programs(tmp_path):
    (tmp_path / "squeue.json").write_text("{}")
    (tmp_path / "sinfo.txt").write_text("")
    (tmp_path / "notes.md").write_text("")
    found = state_in(tmp_path)
    assert (found.squeue.name, found.nodes.name, found.sshare) == ("squeue.json", "sinfo.txt", None)
    (tmp_path / "squeue.txt").write_text("")
    with pytest.raises(InputError, match=r"squeue.txt and squeue.json tell the same"):
        state_in(tmp_path)
    with pytest.raises(InputError, match="has no squeue"):
        state_in(tmp_path / "nowhere")

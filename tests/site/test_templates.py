"""Templates of a slurm.conf: what is written in them, and what values make of them."""

import json

import pytest

import schedlab as sl
from schedlab.errors import InputError
from schedlab.site import import_site
from schedlab.site.templates import read_values

TEMPLATE = """\
# {{ ansible_managed }}
ClusterName={{ name }}
PriorityType=priority/multifactor
{% if large %}
PriorityWeightJobSize=500
{% endif %}
SchedulerParameters=bf_interval=60
{% for node in nodes %}
NodeName={{ node }} CPUs={{ cores | default(4) }}
{% endfor %}
PartitionName=batch Nodes=ALL Default=YES MaxTime={{ days }}-0
"""
VALUES = {"ansible_managed": "", "name": "lab", "large": True, "nodes": ["n[1-3]", "fat"], "days": 2}


@pytest.fixture
def conf(tmp_path):
    directory = tmp_path / "conf"
    directory.mkdir()
    (directory / "slurm.conf.j2").write_text(TEMPLATE)
    return directory


def test_values_make_a_site_of_a_template(conf):
    site = import_site(conf, values=VALUES)
    assert site.cluster.nodes == ("fat", "n1", "n2", "n3")
    assert site.cluster.partitions[0].max_time == 172_800
    assert site.settings.scheduler == "multifactor(size=500)+slurm(interval=60,tick=1),placement=consecutive"
    assert "ClusterName=lab" in site.files["slurm.conf"]
    assert site.settings.notes[0] == "the template was filled with the values"


def test_what_a_template_leaves_open_stands_in_the_ledger_with_its_line(conf):
    site = import_site(conf)
    said = {line.where: line.reason for line in site.ledger if "template" in line.reason}
    directive = "a directive of the template: the lines of all its branches are read"
    open_ = "left open by the template"
    assert said == {
        "slurm.conf:2": open_,
        "slurm.conf:4": directive,
        "slurm.conf:6": directive,
        "slurm.conf:8": directive,
        "slurm.conf:9": open_,
        "slurm.conf:10": directive,
        "slurm.conf:11": open_,
    }
    assert "3 lines are left open, such as slurm.conf:2 ('ClusterName')" in site.settings.notes[0]
    assert site.ledger.find("bf_interval")[0].status == "modelled"


def test_a_site_without_nodes_is_kept_and_says_so_where_they_are_needed(conf, tmp_path):
    site = sl.site.read(import_site(conf).save(tmp_path / "site"))
    assert site.machine is None
    assert str(site).startswith("no nodes: a template leaves them open; ")
    with pytest.raises(InputError, match=r"the site has no nodes: its slurm.conf was a template that leaves them open"):
        _ = site.cluster


def test_jobs_need_the_nodes_of_the_template(conf, tmp_path):
    jobs = tmp_path / "jobs.swf"
    jobs.write_text("; MaxProcs: 4\n1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n")
    with pytest.raises(InputError, match=r"slurm.conf: the template leaves all nodes open"):
        import_site(conf, jobs)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({**VALUES, "days": "x"}, r"slurm.conf:\d+: .*'x-0'"),
        (
            {key: VALUES[key] for key in VALUES if key != "nodes"},
            r"slurm.conf.j2:8: 'nodes' is undefined: give the value",
        ),
        ({**VALUES, "nodes": 5}, r"slurm.conf.j2:8: the values do not suit the template: .*not iterable"),
    ],
)
def test_wrong_values_are_refused_with_their_line(conf, values, message):
    with pytest.raises(InputError, match=message):
        import_site(conf, values=values)


def test_a_filter_that_only_ansible_has_is_named(conf):
    (conf / "slurm.conf.j2").write_text("ClusterName={{ name | combine }}\n")
    with pytest.raises(InputError, match=r"slurm.conf.j2:1: No filter named 'combine': give the value .*Ansible made"):
        import_site(conf, values=VALUES)


def test_words_in_capitals_in_place_of_numbers_are_filled(conf):
    (conf / "slurm.conf.j2").write_text("NodeName=n[1-OF_NODES] CPUs=OF_CORES\nPartitionName=all Nodes=ALL\n")
    assert import_site(conf).machine is None
    assert import_site(conf, values={"OF_NODES": 3, "OF_CORES": 8}).cluster.processors == 24


def test_values_for_what_is_no_template_are_refused(conf):
    (conf / "slurm.conf").write_text("NodeName=n1\nPartitionName=all Nodes=ALL\n")
    with pytest.raises(InputError, match=r"slurm.conf: not a template: there is nothing to fill"):
        import_site(conf, values=VALUES)


def test_values_are_read_from_toml_and_from_json(tmp_path):
    (tmp_path / "values.toml").write_text('name = "lab"\n')
    (tmp_path / "values.json").write_text(json.dumps({"name": "lab"}))
    assert read_values(tmp_path / "values.toml") == read_values(tmp_path / "values.json") == {"name": "lab"}
    (tmp_path / "values.json").write_text("[]")
    with pytest.raises(InputError, match=r"values.json: not names and values"):
        read_values(tmp_path / "values.json")


def test_a_slurm_conf_beside_the_template_is_not_touched(conf):
    (conf / "slurm.conf").write_text("NodeName=other\n")
    assert import_site(conf / "slurm.conf.j2", values=VALUES).cluster.processors == 16
    assert (conf / "slurm.conf").read_text() == "NodeName=other\n"


@pytest.mark.parametrize("name", ["slurm.conf", "slurm.conf.j2"])
def test_comments_may_be_in_any_encoding_and_leave_nothing_open(tmp_path, name):
    lines = (b"# n\xf8der", b"ClusterName=lab # not {{ name }}", b"NodeName=n1 CPUs=4", b"PartitionName=all Nodes=ALL")
    (tmp_path / name).write_bytes(b"\n".join(lines))
    site = import_site(tmp_path)
    assert (site.name, site.cluster.processors) == ("lab", 4)

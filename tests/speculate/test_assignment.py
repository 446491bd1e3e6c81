from __future__ import annotations

import pytest

from schedlab.errors import InputError
from schedlab.speculate.assignment import (
    Application,
    assign_distributions,
    jobs_beyond_distributions,
    read_distributions,
)
from schedlab.workload.workload import Workload


def jobs() -> Workload:
    columns = {"submit_time": [0] * 4, "run_time": [9] * 4, "executable_id": [3, 3, 5, 6], "user_id": [1, 2, 1, 1]}
    return Workload.from_columns(columns, name="log")


def test_jobs_follow_the_distribution_of_the_first_application_that_they_belong_to():
    applications = [
        Application("uniform(0s,1h)", (("executable_id", (3,)), ("user_id", (2,)))),
        Application("uniform(0s,2h)", (("executable_id", (3, 5)),)),
    ]
    workload = assign_distributions(jobs(), applications)
    assert workload.distribution.tolist() == [1, 0, 1, -1]
    assert workload.distributions == ("uniform(0s,1h)", "uniform(0s,2h)")


def test_applications_of_one_distribution_may_ask_for_different_sequences(tmp_path):
    table = '[[application]]\ndistribution = "uniform(0s,1h)"\nexecutable = {}\nrequests = "{}"\n'
    (tmp_path / "distributions.toml").write_text(table.format(3, "10m, 60m") + table.format(5, "30m,1h"))
    workload = assign_distributions(jobs(), read_distributions(tmp_path / "distributions.toml"))
    assert workload.distribution.tolist() == [0, 0, 1, -1]
    assert workload.distributions == ("uniform(0s,1h)", "uniform(0s,1h)")
    assert workload.sequences == ("10m, 1h", "30m, 1h")


def test_jobs_that_run_longer_than_their_distribution_allows_are_counted():
    applications = [Application("uniform(0s,8.5s)", (("executable_id", (3,)),))]
    applications.append(Application("uniform(0s,8s)", (("executable_id", (5,)),)))
    assert jobs_beyond_distributions(assign_distributions(jobs(), applications)) == (
        1,
        3,
    )  # 9 s are 8.5 s in whole seconds
    assert jobs_beyond_distributions(jobs()) == (0, 0)


def test_distributions_travel_with_the_jobs():
    workload = assign_distributions(jobs(), [Application("uniform(0s,1h)", (("executable_id", (5,)),))])
    assert workload[workload.executable_id > 3].distribution.tolist() == [0, -1]
    assert workload[::-1].distribution.tolist() == [-1, 0, -1, -1]


def test_jobs_of_unknown_users_belong_to_nobody():
    columns = {"submit_time": [0] * 2, "run_time": [9] * 2, "user_id": [-1, 4]}
    unknown = Workload.from_columns(columns, name="log")
    assert Application("uniform(0s,1h)", (("user_id", (-1, 4)),)).members(unknown).tolist() == [False, True]


def test_an_application_without_jobs_is_refused():
    with pytest.raises(InputError, match=r"log: no job has executable_id 9, and so none follows uniform\(0s,1h\)"):
        assign_distributions(jobs(), [Application("uniform(0s,1h)", (("executable_id", (9,)),))])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "distributions are tables"),
        ("[[application]]\nexecutable = 3\n", "application 1: a distribution is missing"),
        ('[[application]]\ndistribution = "uniform(0s,1h)"\n', "application 1: say which jobs"),
        ('[[application]]\ndistribution = "uniform(0s,1h)"\nexecutable = "a"\n', "executable is a whole number"),
        ('[[application]]\ndistribution = "uniform(0s,1h)"\nexe = 3\n', "unknown field 'exe'"),
        (
            '[[application]]\ndistribution = "uniform(0s,1h)"\nuser = 3\nrequests = "9m,5m"\n',
            "application 1: the sequence does",
        ),
        (
            '[[application]]\ndistribution = "uniform(0s,1h)"\nuser = 3\nrequests = [60]\n',
            "requests are durations in one text",
        ),
        (
            '[[application]]\ndistribution = "uniform(0s,1h)"\nuser = [3, -1]\n',
            "application 1: user is -1; numbers are 0 or more",
        ),
        (
            '[[application]]\ndistribution = "uniform(0s,1e19s)"\nuser = 3\n',
            "application 1: distribution uniform: '1e19s' is too long",
        ),
        ('[[application]]\ndistribution = "uniform(0s,1h)"\nuser = 3\nrequests = "1h,1e19s"\n', "'1e19s' is too long"),
        ('[[application]]\ndistribution = "uniform(5h,1h)"\nexecutable = 3\n', "application 1: "),
        ("a = ", "not valid TOML"),
    ],
)
def test_a_file_of_distributions_that_is_wrong_is_one_sentence(tmp_path, text, message):
    path = tmp_path / "distributions.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_distributions(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot read the distributions"):
        read_distributions(tmp_path / "distributions.toml")

"""Jobs as lines of text."""

from __future__ import annotations

import pytest

from schedlab.errors import InputError
from schedlab.predict.questions import questions
from schedlab.scheduler.own_predictor import JobView


def asked(*lines: str) -> list[JobView]:
    return list(questions(lines, now=77, machine=64))


def test_csv_and_json_say_the_same():
    expected = [JobView(1, 77, 3600, 4, user_id=7), JobView(9, 80, 60, 1, user_id=-1)]
    table = asked(
        "requested_time,requested_processors,user_id,job_id,submit_time\n", "3600,4,7,,\n", "\n", "60,1,,9,80\n"
    )
    assert table == expected
    first, second = (
        '{"requested_time": 3600, "processors": 4, "user_id": 7, "account": "x"}',
        ('{"requested_time": 60.0, "processors": 1, "job_id": 9, "submit_time": 80, "user_id": null}'),
    )
    assert asked(first, second) == expected


def test_a_line_is_answered_before_the_next_is_read():
    def lines():
        yield '{"requested_time": 3600, "processors": 4}'
        raise AssertionError("read too far")

    assert next(questions(lines(), now=0, machine=64)).requested_time == 3600


JOB = '{"requested_time": 3600, "processors": 4}'


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([JOB, "{"], "line 2: it is not JSON"),
        ([JOB, "3"], "line 2: it is not a JSON object"),
        ([JOB, "", '{"processors": 4}'], "line 3: the job has no requested_time"),
        (
            [JOB, '{"requested_time": 0, "processors": 4}'],
            "line 2: requested_time=0 is not a whole number of at least 1",
        ),
        ([JOB, '{"requested_time": "1h", "processors": 4}'], "line 2: requested_time='1h' is not a whole number"),
        ([JOB, '{"requested_time": 1.5, "processors": 4}'], r"line 2: requested_time=1.5 is not a whole number"),
        ([JOB, '{"requested_time": NaN, "processors": 4}'], "line 2: requested_time=nan is not a whole number"),
        ([JOB, '{"requested_time": true, "processors": 4}'], "line 2: requested_time=True is not a whole number"),
        (
            [JOB, '{"requested_time": 60, "processors": 65}'],
            "line 2: the job needs 65 processors, but the machine has 64",
        ),
        (["requested_time,user_id"], "line 1: the column processors is missing"),
        (["requested_time,processors", "60"], "line 2: 1 values for 2 columns"),
        (["requested_time,processors", "60,"], "line 2: the job has no processors"),
    ],
)
def test_a_line_that_is_no_job_is_named(lines, said):
    with pytest.raises(InputError, match=f"^{said}"):
        asked(*lines)

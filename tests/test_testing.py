"""What users can check of their own passes."""

from __future__ import annotations

import itertools

import pytest

import schedlab as sl
from schedlab.errors import InputError

pytestmark = pytest.mark.both


class Easy(sl.scheduling.Pass):
    def decide(self, view):
        reserved = False
        for job in view.waiting:
            if view.fits(job):
                view.start(job)
            elif not reserved:
                view.reserve(job)
                reserved = True


class FirstFit(sl.scheduling.Pass):
    def decide(self, view):
        for job in view.waiting:
            if view.fits(job):
                view.start(job)


def test_easy_delays_nobody_and_first_fit_does():
    easy, greedy = sl.testing.check_pass(Easy()), sl.testing.check_pass(FirstFit())
    assert easy.delayed.max() == 0
    assert easy.mean_wait == easy.easy_mean_wait == greedy.easy_mean_wait
    assert (greedy.delayed > 0).any()
    assert "started later than promised; mean wait" in str(easy)
    assert ", the worst by " in str(greedy)


def test_a_pass_with_state_outside_of_its_object_is_found():
    calls = itertools.count()

    def lucky(view):
        if next(calls) % 7 and len(view.running):
            return
        FirstFit().decide(view)

    with pytest.raises(AssertionError, match=r"^<lucky> decides otherwise when it is run again"):
        sl.testing.check_pass(lucky)


def test_a_policy_is_no_pass_and_what_a_pass_is_is_told():
    class ByScore:
        def score(self, p):
            return p

    for given in (ByScore, ByScore(), 3):
        with pytest.raises(InputError, match=r"is not a pass: give an object with decide\(view\), its class"):
            sl.testing.check_pass(given)


def test_what_is_no_pass_in_python_is_refused():
    with pytest.raises(InputError, match=r"^'easy' is not a pass in Python$"):
        sl.testing.check_pass("easy")

"""Models as files: what is wrong with one is said in a sentence."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from predict_samples import log

from schedlab.errors import InputError, OutputError
from schedlab.imports import allow_imports
from schedlab.predict.model import PredictionModel
from schedlab.predict.validation import validate
from schedlab.scheduler.own_predictor import JobView


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.json"
    validate(log(start_time=1_000_000), "e-loss").model.save(path)
    return path


def test_a_file_keeps_what_it_is_about(saved):
    document = json.loads(saved.read_text())
    assert (document["schema"], document["predictor"], document["processors"]) == (1, "e-loss", 16)
    assert document["clock"] == 1_000_000 + log().submit_time.max()
    assert document["users"] == sorted(set(log().user_id.tolist()))


def test_every_constant_of_a_predictor_survives(tmp_path):
    model = PredictionModel("nag(penalty=1234567.891, threshold=1e-7)", 4)
    model.save(tmp_path / "model.json")
    assert PredictionModel.load(tmp_path / "model.json").predictor == model.predictor


def test_a_model_that_has_seen_nothing_can_be_saved(tmp_path):
    PredictionModel("ave2", 4).save(tmp_path / "model.json")
    model = PredictionModel.load(tmp_path / "model.json")
    assert model.clock is None
    assert model.predict(JobView(1, 0, 100, 2, user_id=9)) == 100


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text[: len(text) // 2], "it is not JSON"),
        (lambda text: "[]", "is not a prediction model"),
        (lambda text: '{"jobs": 3}', "is not a prediction model"),
        (lambda text: text.replace('"schema": 1', '"schema": 99'), "of another version"),
        (lambda text: text.replace('"processors": 16', '"processors": 17', 1), "is damaged"),
        (lambda text: '{"schema": 1}', "is damaged"),
    ],
    ids=["truncated", "list", "no schema", "version", "changed", "empty"],
)
def test_a_file_that_is_no_model_is_refused(saved, change, said):
    saved.write_text(change(saved.read_text()))
    with pytest.raises(InputError, match=said):
        PredictionModel.load(saved)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"none\.json: cannot read the model: No such file"):
        PredictionModel.load(tmp_path / "none.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="it is not text in UTF-8"):
        PredictionModel.load(tmp_path / "binary.json")


def test_a_file_that_cannot_be_written_is_said(tmp_path):
    with pytest.raises(OutputError, match="does not exist"):
        PredictionModel("ave2", 4).save(tmp_path / "none" / "model.json")


def resealed(path, change):
    """Change what a file holds, and make its checksum right again."""
    content = json.loads(path.read_text())
    del content["schema"], content["checksum"]
    change(content)
    checksum = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps({"schema": 1, "checksum": checksum, **content}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda content: content.update(predictor="numpy.testing:Tester"), "only built-in predictors can be saved"),
        (lambda content: content.update(predictor="ave(1000000000000)"), "remembers more than 1,000,000 jobs"),
        (lambda content: content.update(predictor="mean"), "its learner must have the parts|has shape"),
        (lambda content: content.update(predictor=7), "predictor: input should be a valid string, not 7"),
        (lambda content: content.update(processors=0), "processors: input should be greater than or equal to 1"),
        (lambda content: content.update(clock=10**30), "clock: input should be less than or equal to"),
        (lambda content: content.pop("users"), "users is missing"),
        (lambda content: content["users"].reverse(), "its users are not in ascending order"),
        (lambda content: content["users"].pop(), "has shape|of an unknown user"),
        (lambda content: content["history"].pop("completed"), "its history must have the parts"),
        (lambda content: content["history"].update(completed=[[1]]), "completed has shape"),
        (lambda content: content["history"]["recent_run_times"].append([]), "inhomogeneous shape"),
        (lambda content: content["history"]["completed"].__setitem__(0, "many"), "completed must hold whole numbers"),
        (lambda content: content["learner"]["weights"].pop(), "weights has shape"),
        (lambda content: content["unfinished_jobs"]["user_id"].append(3), "differ in length"),
        (lambda content: content["unfinished_jobs"]["start_time"].__setitem__(0, 0), "start before they are submitted"),
        (lambda content: content["unfinished_jobs"]["processors"].__setitem__(0, 99), "larger than the machine"),
        (lambda content: content["unfinished_jobs"].update(colour=[]), "colour: extra inputs are not permitted"),
    ],
)
def test_a_right_checksum_does_not_make_the_content_right(saved, change, said):
    resealed(saved, change)
    with pytest.raises(InputError, match=f"model.json is not a valid model: .*({said}).*; train the model again"):
        PredictionModel.load(saved)


def test_a_model_never_imports_what_it_names(saved, tmp_path, monkeypatch):
    """A saved model that named `runs.got.readme:X` once ran a file of a run directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "got").mkdir(parents=True)
    (tmp_path / "runs" / "got" / "readme.py").write_text("raise SystemExit('the file was run')")
    resealed(saved, lambda content: content.update(predictor="runs.got.readme:X"))
    with allow_imports("runs.got.readme:X"), pytest.raises(InputError, match="only built-in predictors"):
        PredictionModel.load(saved)


@pytest.mark.parametrize("predictor", ["actual", "last"])
def test_only_what_does_not_know_the_future_is_a_model(predictor):
    from predict_samples import ALL

    with pytest.raises(InputError, match="cannot be saved as a model"):
        PredictionModel(ALL.get(predictor, predictor), 4)


def test_unfinished_jobs_are_learned_from_when_their_time_comes():
    jobs = log(2).replace(
        submit_time=np.array([0, 10]),
        wait_time=np.array([0, 0]),
        run_time=np.array([40, 70]),
        requested_time=np.array([100, 100]),
        user_id=np.array([5, 5]),
    )
    model = validate(jobs, "mean").model

    def asked(second):
        return model.predict(JobView(1, second, 100, 1, user_id=5))

    assert [asked(10), asked(39), asked(40), asked(79), asked(80)] == [100, 100, 40, 40, 55]
    assert model.predict(JobView(1, 80, 100, 1, user_id=6)) == 100
    with pytest.raises(InputError, match="job 1 is submitted at second 9, but the model was trained"):
        asked(9)

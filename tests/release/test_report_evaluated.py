"""A private evaluation in a report: shown with its cost, and of this model or not at all."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import replace
from html import unescape
from types import SimpleNamespace

import pytest
from example_models import ABOUT, SPENT

from smoothboost.release.report.evaluated import evaluation_of
from smoothboost.release.report.page import report_page

HOSTILE = "</p><script>alert(1)</script>"


def number(value, low, high):
    return {"value": value, "low": low, "high": high}


def document_of(model, **changes):
    """Return an evaluation of a model as the command writes it, with numbers that stand out."""
    target = model.schema.target
    pairs = [(truth, guess) for truth in target for guess in target]
    return {
        "format": "smoothboost-evaluation",
        "version": 1,
        "model": model.content_hash,
        "rows": 4321,
        "rows_per_person": 1,
        "epsilon": 0.2,
        "delta": 0.0,
        "ledger": "people",
        "classes": list(target),
        "accuracy": number(0.8123, 0.8012, 0.8234),
        "auroc": number(0.876, 0.861, 0.891),
        "log_loss": number(0.432, 0.411, 0.453),
        "threshold": 0.5,
        "confusion": [
            {"class": truth, "predicted": guess, **number(0.125 + at / 100, 0.1, 0.3)}
            for at, (truth, guess) in enumerate(pairs)
        ],
        "calibration": [
            {"from": 0.0, "to": 0.25, "rows": 2000.4, "predicted": 0.1, **number(0.15, 0.1, 0.2)},
            {"from": 0.25, "to": 1.0, "rows": 3.2, "predicted": 0.6, **number(0.5, 0.0, 1.0)},
        ],
        "by": "member",
        "groups": [{"group": HOSTILE, "rows": 1234.2, **number(0.777, 0.71, 0.84)}],
        **changes,
    }


def section_of(model, **changes):
    """Return the text of the section, and the page."""
    source = SimpleNamespace(to_dict=lambda: document_of(model, **changes))
    page = report_page(model, evaluation=evaluation_of(model, source))
    (section,) = re.findall(r'<section aria-labelledby="measured">.*?</section>', page, re.DOTALL)
    return " ".join(unescape(re.sub("<[^>]+>", " ", section)).split()), page


@pytest.mark.parametrize("model", [SPENT, ABOUT], ids=["two classes", "three"])
def test_all_that_was_measured_is_shown_with_its_interval(model):
    text, page = section_of(model)
    for words in (
        "Private evaluation: ε = 0.2",
        "4,321 private rows",
        "81.2% (80.1 to 82.3%) of rows are predicted right",
        "0.876 (0.861 to 0.891)",
        "0.432 (0.411 to 0.453)",
        "12.5% 10.0 to 30.0%",
        "0.0 to 25.0% 2,000 15.0% 10.0 to 20.0%",
        "Accuracy by member",
        "1,234 77.7% 71.0 to 84.0%",
        "booked in the ledger of “people”",
    ):
        assert words in text
    assert "<script>alert" not in page
    assert page.count('<circle class="point"') == 1  # an interval of all says nothing to draw
    assert "M22.0 176.0V198.0" in page
    assert '<a href="#measured">How good it is</a>' in page


def test_its_cost_is_promised_and_comes_on_top_of_the_models():
    text, page = section_of(SPENT)
    assert "the odds of what this section shows by more than a factor of 1.23." in text
    assert "among those of the fit: ε = 0.7 together" in text
    assert 'adds a private evaluation with a cost of its own: <span class="use">ε = 0.2' in page
    assert "this report included, but for its section on how good the model is." in page
    assert "from a private evaluation of that model" in page
    assert "and nothing else" not in page


def test_a_cost_with_delta_says_so():
    text, _ = section_of(SPENT, delta=1e-6, rows_per_person=2)
    assert "Private evaluation: ε = 0.2, δ = 10⁻⁶" in text
    assert "No one person’s 2 rows can raise the probability" in text
    assert "ε = 0.7, δ = 10⁻⁶ together" in text


def test_what_is_not_booked_or_weak_or_unknown_is_called_so():
    text, _ = section_of(SPENT, ledger=None, epsilon=12.0, auroc=number(None, 0.0, 1.0))
    assert "booked in no ledger" in text
    assert "Weak guarantee. epsilon = 12 is above 10" in text
    assert "unknown: noise hides it" in text


def test_less_rows_than_none_are_shown_as_none_with_a_note():
    found = document_of(SPENT)
    assert "less than none" not in section_of(SPENT)[0]
    found["calibration"][1]["rows"] = -17.8
    text, _ = section_of(SPENT, calibration=found["calibration"])
    assert "25.0 to 100.0% 0 unknown 0.0 to 100.0%" in text
    assert "noise, too: where it made one less than none, 0 is shown" in text
    assert "17" not in re.findall(r"Calibration.*", text)[0]


def test_a_model_without_privacy_gets_none_by_its_evaluation():
    bare = replace(SPENT, guarantee=replace(SPENT.guarantee, epsilon=None, spent=None))
    text, page = section_of(bare)
    assert "The model itself is not private" in text
    assert "together" not in text
    assert "<strong>NOT PRIVATE</strong>" in page


def test_an_evaluation_of_another_model_is_refused(tmp_path):
    path = tmp_path / "found.json"
    path.write_text(json.dumps(document_of(ABOUT)))
    said = f"of this model \\({SPENT.content_hash[:8]}\\), got one of another"
    with pytest.raises(ValueError, match=said):
        evaluation_of(SPENT, path)
    assert evaluation_of(ABOUT, path).n_rows == 4321


@pytest.mark.parametrize("text", ["", "{", "\ufffe", "[1]", '{"rows": 3}', '"text"', "NaN"])
def test_what_is_no_evaluation_is_refused(tmp_path, text):
    path = tmp_path / "found.json"
    path.write_bytes(text.encode("utf-16") if text == "\ufffe" else text.encode())
    with pytest.raises(ValueError, match=r"Expected .*found\.json to be"):
        evaluation_of(SPENT, path)


def changed(document, path, value):
    """Return a document with another value, or without one."""
    document = copy.deepcopy(document)
    place = document
    for name in path[:-1]:
        place = place[name]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 2),
        (("rows",), 0),
        (("rows",), 3.5),
        (("rows",), 10**400),
        (("epsilon",), -0.1),
        (("epsilon",), 0),
        (("delta",), -1e-6),
        (("accuracy", "high"), 1e308),
        (("rows_per_person",), True),
        (("epsilon",), "0.2"),
        (("epsilon",), float("nan")),
        (("delta",), 10**400),
        (("ledger",), 3),
        (("ledger",), ...),
        (("accuracy",), None),
        (("accuracy", "low"), 0.9),
        (("accuracy", "value"), True),
        (("auroc",), ...),
        (("confusion",), []),
        (("confusion", 0), 3),
        (("calibration", 0, "rows"), None),
        (("calibration",), 3),
        (("groups", 0, "group"), ...),
        (("by",), 3),
    ],
    ids=str,
)
def test_an_evaluation_that_was_changed_is_refused(path, value):
    document = changed(document_of(SPENT), path, value)
    with pytest.raises(ValueError, match="Expected the evaluation to be"):
        evaluation_of(SPENT, SimpleNamespace(to_dict=lambda: document))


def test_public_rows_and_an_evaluation_do_not_go_together(tmp_path):
    from small_models import FRAME

    source = SimpleNamespace(to_dict=lambda: document_of(SPENT))
    with pytest.raises(ValueError, match="or an evaluation, got both"):
        SPENT.write_report(tmp_path / "r.html", FRAME, ["no", "yes", "no"], evaluation=source)
    with pytest.raises(ValueError, match="Expected an evaluation or the path of one, got 3"):
        SPENT.write_report(tmp_path / "r.html", evaluation=3)
    assert not list(tmp_path.iterdir())

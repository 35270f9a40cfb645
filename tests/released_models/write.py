"""Write a released model and what it predicts, where a new case is wanted.

The files beside this one are kept for ever: they say what files of every format mean. Name the
cases to write; a file that is there already is kept, unless --replace is given.

    python tests/released_models/write.py format-3-pair-rule-two-classes

Models of formats 1 and 2 cannot be fitted any more. Of those, only the predictions can be written.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

from smoothboost import (
    Boolean,
    Categorical,
    Date,
    Model,
    Numeric,
    OneRule,
    Schema,
    SmoothBoostClassifier,
)
from smoothboost.table.files import read_table

FOLDER = Path(__file__).parent
ROWS = FOLDER / "rows.csv"
CLASSES = {"two": ["home", "readmitted"], "three": ["home", "readmitted", "moved"]}
GIVEN = {"n_rounds": 12, "density": 0.3, "learning_rate": 0.4, "calibrate": 0}
FITS: dict[str, dict[str, Any]] = {
    "one-rule": {"learner": "one_rule", **GIVEN},
    "three-rules-by-one-choice": {"learner": OneRule(literals="sets", cuts=3), "n_rounds": 6},
    "pair-rule": {"learner": "pair_rule", **GIVEN},
    "top-down": {"learner": "top_down", **GIVEN},
}
FEW = {"learner": OneRule(literals="sets", cuts=9), "n_rounds": 2}
"""So few rounds that one of three classes has no rule: that takes format 4."""
CASES = {
    f"format-3-{learner}-{count}-classes": (FITS[learner], count)
    for learner in FITS
    for count in CLASSES
} | {"format-4-class-without-rules-three-classes": (FEW, "three")}


def schema_of(count: str) -> Schema:
    """Return a schema with every kind of column and every flag, on and off."""
    return Schema(
        {
            "age": Numeric(low=0, high=110, integer=True, missing=False, description="in years"),
            "cost": Numeric(low=10, high=100_000, bins=12),
            "hours": Numeric(edges=[20, 35, 40.5, 60]),
            "lab": Numeric(low=0, high=30, bins=7),
            "ward": Categorical(["north", "south", 7]),
            "region": Categorical(["coast", "hills", "town"], other=False, missing=False),
            "smoker": Boolean(),
            "diagnosis": Categorical(
                groups={"infection": ["A00", "A01", "B99"], "tumour": ["C17", "C18"]}, missing=False
            ),
            "admitted": Date("2019-01-01", "2020-12-31", unit="month", bins=12),
        },
        target=CLASSES[count],
        target_description="made up for this test",
    )


def draws(seed: int):
    """Yield numbers below 1 from plain arithmetic, the same everywhere."""
    state = seed
    for at in range(10**9):
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        if at > 8:
            yield (state >> 40) / (1 << 24)


def people(n_rows: int, seed: int) -> list[list[str]]:
    """Make up rows, each cell as the text that a file holds."""
    draw = draws(seed)
    rows = []
    for _ in range(n_rows):
        s = [next(draw) for _ in range(11)]
        ward = ["north", "south", "7", "east", "west", "NA" if s[7] < 0.5 else ""][int(s[4] * 6)]
        rows.append(
            [
                str(int(s[0] * 112)),
                f"{10 ** (1 + 4 * s[1]):.2f}",
                str(int(s[2] * 70)),
                "" if s[3] < 0.1 else f"{s[3] * 33:.1f}",
                ward,
                ["coast", "hills", "town"][int(s[5] * 3)],
                "yes" if s[6] < 0.4 else "no",
                ["A00", "A01", "B99", "C17", "C18", "Z00", ""][int(s[8] * 7)],
                f"20{18 + int(s[9] * 4)}-{1 + int(s[10] * 12):02}-{1 + int(s[7] * 28):02}",
            ]
        )
    return rows


def labels_of(rows: list[list[str]], count: str) -> list[str]:
    """Give every row a class, which depends on its cells and on chance."""
    draw = draws(3)
    labels = []
    for age, cost, hours, lab, ward, region, smoker, diagnosis, admitted in rows:
        ill = (int(age) > 60) * 2 + (smoker == "yes") + (lab == "") + (float(cost) > 3000)
        ill += (ward in ("south", "east")) + (diagnosis[:1] == "C") - (admitted < "2019-06")
        far = (region == "hills") * 2 + (int(hours) > 40) + (int(age) < 30)
        chance = next(draw)
        labels.append(1 if ill + 2 * chance > 4 else 2 if far + chance > 2.5 else 0)
    names = CLASSES[count]
    return [names[label] if label < len(names) else names[1] for label in labels]


def fitted(case: str) -> Model:
    """Fit one case; the noise has a seed, so this is no release of anything."""
    options, count = CASES[case]
    rows = people(3000, seed=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier = SmoothBoostClassifier(
            schema_of(count), epsilon=8.0, random_state=11, **options
        )
        return classifier.fit(rows, labels_of(rows, count)).model_


def predictions(model: Model) -> dict[str, list[Any]]:
    """Return all that a model says of the rows."""
    rows = read_table(ROWS)
    return {
        "votes": model.count_votes(rows).tolist(),
        "predict": model.predict(rows).tolist(),
        "decision_function": model.decision_function(rows).tolist(),
        "predict_proba": model.predict_proba(rows).tolist(),
    }


def main() -> None:
    """Write the cases that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="+", metavar="case", help=f"of {', '.join(CASES)}")
    parser.add_argument("--replace", action="store_true", help="also what is there already")
    asked = parser.parse_args()
    for case in asked.cases:
        path = FOLDER / f"{case}.model.json"
        if case in CASES and (asked.replace or not path.exists()):
            fitted(case).write(path)
        said = FOLDER / f"{case}.predictions.json"
        if asked.replace or not said.exists():
            found = predictions(Model.read(path))
            lines = [f'"{name}": {json.dumps(values)}' for name, values in found.items()]
            said.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()

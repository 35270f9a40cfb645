"""The public tables are the published ones, and the made-up one never changes."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.error import URLError

import narwhals.stable.v2 as nw
import numpy as np
import published
import pyarrow as pa
import pytest

from smoothboost import Categorical, Numeric, Schema, SmoothBoostClassifier, _show, datasets
from smoothboost.table.files import replacing

NEAR = Path(__file__).parents[2] / "shared" / "datasets"
REAL = Path(os.environ.get("SMOOTHBOOST_DATA") or NEAR)


@pytest.fixture
def folder() -> Path:
    if not REAL.is_dir():
        pytest.skip("the published tables are not here: set SMOOTHBOOST_DATA to their folder")
    return REAL


@pytest.fixture
def no_folder(monkeypatch, tmp_path) -> Path:
    """Neither the variable nor a cached file: return where the cache will be."""
    monkeypatch.delenv("SMOOTHBOOST_DATA", raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path / ".cache" / "smoothboost"


def cells(frame, name: str) -> list[Any]:
    values = nw.from_native(frame, eager_only=True)[name].to_list()
    return [None if value is None or value != value else value for value in values]


def undeclared(schema: Schema, frame) -> dict[str, set[Any]]:
    """The cells that lie outside the declared domain, by column."""
    found = {}
    for name, column in schema.columns.items():
        values = set(cells(frame, name))
        if column.missing:
            values.discard(None)
        if isinstance(column, Categorical):
            values -= set(column.values or ())
        elif isinstance(column, Numeric) and column.low is not None:
            values = {v for v in values if v is None or not column.low <= v <= column.high}
        else:
            values &= {None}
        if values:
            found[name] = values
    return found


# The demo table


def test_demo_has_the_same_cells_on_every_platform_and_version():
    demo = datasets.load_demo()
    digest = sha256()
    for frame, target in ((demo.data, demo.target), (demo.test_data, demo.test_target)):
        for name in demo.schema.names:  # pandas makes floats of integers with gaps
            values = [int(v) if isinstance(v, float) else v for v in cells(frame, name)]
            digest.update(f"{name}: {values}\n".encode())
        digest.update(f"target: {target.tolist()}\n".encode())
    assert digest.hexdigest() == "2df3031e1f5a844b7c3c8c4bd0b70e3675a230abe0b2e5f84772bf62e16e7f87"


def test_demo_rows_do_not_depend_on_how_many_there_are():
    few, more = datasets.load_demo(50, 20), datasets.load_demo(80, 30)
    for name in few.schema.names:
        assert cells(few.data, name) == cells(more.data, name)[:50]
        assert cells(few.test_data, name) == cells(more.test_data, name)[:20]
    assert few.target.tolist() == more.target[:50].tolist()
    assert few.test_target.tolist() == more.test_target[:20].tolist()
    assert cells(few.data, "age")[:20] != cells(few.test_data, "age")


def test_demo_has_the_documented_size_and_balance():
    demo = datasets.load_demo()
    assert demo.data.shape == (30_000, 11)
    assert demo.test_data.shape == (10_000, 11)
    for target in (demo.target, demo.test_target):
        assert target is not None
        assert set(target) == set(demo.schema.target)
        assert 0.24 < np.mean(target == ">50K") < 0.26


def test_demo_holds_every_kind_of_cell():
    demo = datasets.load_demo()
    gains = np.array(cells(demo.data, "capital_gain"))
    assert 0.85 < np.mean(gains == 0) < 0.95
    assert gains.max() > 20 * np.median(gains[gains > 0])
    for name in ("education_years", "occupation", "commute_minutes"):
        assert 0.01 < cells(demo.data, name).count(None) / 30_000 < 0.1, name
    assert {column.kind for column in demo.schema.columns.values()} == {
        "numeric",
        "categorical",
        "boolean",
    }
    for name, column in demo.schema.columns.items():
        if isinstance(column, Categorical):
            assert set(column.values or ()) == set(cells(demo.data, name)) - {None}


def test_demo_can_be_learned_and_is_noisy():
    demo = datasets.load_demo()
    classifier = SmoothBoostClassifier(schema=demo.schema, epsilon=None)
    classifier.fit(demo.data, demo.target)
    assert 0.82 < classifier.score(demo.test_data, demo.test_target) < 0.87


@pytest.mark.parametrize("sizes", [(0, 10), (10, 0), (10, 2.5)])
def test_demo_refuses_sizes_that_are_not_whole_and_positive(sizes):
    with pytest.raises(ValueError, match="Expected n_"):
        datasets.load_demo(*sizes)


def test_frames_are_arrow_without_pandas(monkeypatch):
    monkeypatch.setattr(_show, "find_spec", lambda name: None)
    demo = datasets.load_demo(30, 10)
    assert isinstance(demo.data, pa.Table)
    assert demo.data["owns_home"].type == pa.bool_()
    assert demo.data.column_names == list(demo.schema.names)


@pytest.mark.filterwarnings("ignore::smoothboost.SeededNoiseWarning")
@pytest.mark.parametrize("with_pandas", [True, False])
def test_demo_is_written_as_the_same_rows_that_are_loaded(tmp_path, monkeypatch, with_pandas):
    if not with_pandas:
        monkeypatch.setattr(_show, "find_spec", lambda name: None)
    demo = datasets.load_demo()
    datasets.write_demo(tmp_path)
    written = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert set(written) == {"people.csv", "holdout.csv", "newcomers.csv"}
    assert written["people.csv"].splitlines()[1] == (
        '48,6,"married",,"private",40,0,"south",true,2,16,"<=50K"'
    )
    fitted: dict[str, Any] = {"schema": demo.schema, "n_rounds": 3, "random_state": 0}
    ours = SmoothBoostClassifier(**fitted).fit(tmp_path / "people.csv", "income")
    theirs = SmoothBoostClassifier(**fitted).fit(demo.data, demo.target)
    assert ours.model_.to_json() == theirs.model_.to_json()
    assert ours.predict(tmp_path / "newcomers.csv").tolist() == (
        theirs.predict(demo.test_data).tolist()
    )


def test_repr_does_not_print_the_rows():
    assert len(repr(datasets.load_demo(30, 10))) < 100


# The published tables


@cache
def loaded(load, folder: Path):
    """Return a published table, which several tests look at, read once."""
    return load(folder)


def test_adult_is_the_published_table(folder):
    adult = loaded(datasets.load_adult, folder)
    assert adult.data.shape == (32_561, 14)
    assert adult.test_data.shape == (16_281, 14)
    assert np.unique(adult.target, return_counts=True)[1].tolist() == [24_720, 7_841]
    assert np.unique(np.asarray(adult.test_target)).tolist() == ["<=50K", ">50K"]
    assert np.mean(adult.test_target == ">50K") == pytest.approx(0.2362, abs=1e-4)
    assert cells(adult.data, "age")[:3] == [39, 50, 38]
    assert cells(adult.data, "workclass")[:2] == ["State-gov", "Self-emp-not-inc"]
    assert [
        cells(adult.data, n).count(None) for n in ("workclass", "occupation", "native-country")
    ] == [
        1836,
        1843,
        583,
    ]


def test_mushroom_is_the_published_table(folder):
    mushroom = loaded(datasets.load_mushroom, folder)
    assert mushroom.data.shape == (8_124, 22)
    assert np.unique(mushroom.target, return_counts=True)[1].tolist() == [4_208, 3_916]
    assert cells(mushroom.data, "stalk-root").count(None) == 2_480
    assert cells(mushroom.data, "odor")[:3] == ["p", "a", "l"]
    assert mushroom.test_data is None
    assert mushroom.test_target is None


def test_codrna_is_the_published_table(folder):
    codrna = loaded(datasets.load_codrna, folder)
    assert codrna.data.shape == (59_535, 8)
    assert np.unique(codrna.target, return_counts=True)[1].tolist() == [39_690, 19_845]
    assert codrna.target.dtype.kind == "i"
    assert cells(codrna.data, "dynalign-energy")[:2] == [-766, -726]
    assert cells(codrna.data, "C-frequency-2")[0] == 0.234375


@pytest.mark.parametrize(
    "load", [datasets.load_adult, datasets.load_mushroom, datasets.load_codrna]
)
def test_schemas_declare_every_published_cell(folder, load):
    table = loaded(load, folder)
    assert undeclared(table.schema, table.data) == {}
    if table.test_data is not None:
        assert undeclared(table.schema, table.test_data) == {}


def test_mushroom_schema_declares_the_code_book_and_not_what_occurs(folder):
    mushroom = loaded(datasets.load_mushroom, folder)
    declared = {name: set(c.values or ()) for name, c in mushroom.schema.columns.items()}
    assert sum(map(len, declared.values())) == 125
    assert "u" in declared["veil-type"] - set(cells(mushroom.data, "veil-type"))
    assert [name for name, c in mushroom.schema.columns.items() if c.missing] == ["stalk-root"]


@pytest.mark.parametrize(
    ("load", "features"),
    [(datasets.load_adult, 162), (datasets.load_codrna, 80), (datasets.load_mushroom, 117)],
)
def test_the_papers_schemas_have_its_features(folder, load, features):
    table = loaded(load, folder)
    paper = table.paper_schema
    assert sum(column.n_codes for column in paper.columns.values()) == features
    assert undeclared(paper, table.data) == {}
    assert (paper.names, paper.target) == (table.schema.names, table.schema.target)
    assert not paper.drafted


def test_the_papers_bins_of_adult_are_those_it_prints(folder):
    columns = loaded(datasets.load_adult, folder).paper_schema.columns
    assert columns["capital-gain"].edges[0] == 0
    assert columns["age"].edges[0] == 17
    assert {12, 14} <= set(columns["education-num"].edges or ())  # 13 to 14.5


def test_a_model_of_adult_is_worth_its_epsilon(folder):
    adult = loaded(datasets.load_adult, folder)
    classifier = SmoothBoostClassifier(schema=adult.schema, epsilon=1.0)
    classifier.fit(adult.data, adult.target)
    assert classifier.score(adult.test_data, adult.test_target) > 0.82


# Finding and checking the files


def test_codrna_may_be_written_in_another_way_but_not_have_other_values(folder, tmp_path):
    text = (folder / "cod-rna").read_text()
    other = tmp_path / "cod-rna"
    other.write_text(text.replace("0.140625", "1.40625000e-01"))
    assert other.read_text() != text
    assert datasets.load_codrna(tmp_path).data.shape == (59_535, 8)
    other.write_text(text.replace("0.140625", "0.140635", 1))
    with pytest.raises(ValueError, match=datasets._CODRNA.sha256):
        datasets.load_codrna(tmp_path)


@pytest.mark.parametrize("content", [b"", b"39, State-gov\n", b"\xff\xfe"])
@pytest.mark.parametrize(
    ("load", "source"),
    [
        (datasets.load_adult, datasets._ADULT),
        (datasets.load_mushroom, datasets._MUSHROOM),
        (datasets.load_codrna, datasets._CODRNA),
    ],
)
def test_a_wrong_file_is_told_by_its_checksum(tmp_path, load, source, content):
    (tmp_path / source.name).write_bytes(content)
    with pytest.raises(ValueError, match=source.sha256):
        load(tmp_path)


def test_a_missing_file_says_where_to_get_it(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load_mushroom(tmp_path)
    assert datasets._MUSHROOM.url in str(caught.value)
    assert datasets._MUSHROOM.sha256 in str(caught.value)


def test_a_missing_folder_says_where_to_get_every_file(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load_mushroom(tmp_path / "nowhere")
    for source in (datasets._ADULT, datasets._ADULT_TEST, datasets._MUSHROOM, datasets._CODRNA):
        assert source.url in str(caught.value)
        assert source.sha256 in str(caught.value)


def test_the_folder_comes_from_the_environment_and_is_not_downloaded_into(monkeypatch, tmp_path):
    monkeypatch.setenv("SMOOTHBOOST_DATA", str(tmp_path))
    monkeypatch.setattr(datasets, "urlopen", lambda *_, **__: pytest.fail("went to the network"))
    with pytest.raises(FileNotFoundError, match=f"in {tmp_path}"):
        datasets.load_codrna()


def test_without_network_the_error_says_where_to_get_the_file(monkeypatch, no_folder):
    def fail(*_, **__):
        raise URLError("Name or service not known")

    monkeypatch.setattr(datasets, "urlopen", fail)
    with pytest.raises(OSError, match="Name or service not known") as caught:
        datasets.load_adult()
    for fact in (datasets._ADULT.url, datasets._ADULT.sha256, str(no_folder / "adult.data")):
        assert fact in str(caught.value)
    assert not no_folder.exists()


def test_a_download_is_verified_and_kept(monkeypatch, tmp_path, no_folder):
    published = tmp_path / "published"
    row = "e," + ",".join(["x"] * 22) + "\n"
    published.write_text(row * 3)
    source = replace(
        datasets._MUSHROOM,
        url=published.as_uri(),
        sha256=sha256(published.read_bytes()).hexdigest(),
    )
    monkeypatch.setattr(datasets, "_MUSHROOM", source)
    assert datasets.load_mushroom().target.tolist() == ["e"] * 3
    assert [path.name for path in no_folder.iterdir()] == [source.name]
    published.unlink()
    assert datasets.load_mushroom().target.tolist() == ["e"] * 3


def test_a_wrong_download_is_not_kept(monkeypatch, tmp_path, no_folder):
    published = tmp_path / "published"
    published.write_text("<html>moved</html>")
    monkeypatch.setattr(datasets, "_MUSHROOM", replace(datasets._MUSHROOM, url=published.as_uri()))
    with pytest.raises(ValueError, match=datasets._MUSHROOM.sha256):
        datasets.load_mushroom()
    assert not no_folder.exists()


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def fail_half_way() -> None:
        with replacing(path) as temporary:
            temporary.write_text("ne")
            raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="full"):
        fail_half_way()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


# The schemas that come with the tables

SCHEMAS = {
    "adult-paper": "5e85b06a73bb",
    "adult": "016770288389",
    "codrna-paper": "a5994df7a11f",
    "codrna": "cab65d885265",
    "demo": "c7fe446c50bd",
    "mushroom-paper": "6a2857e94b94",
    "mushroom": "4fae886a23bd",
}
DATA = Path(datasets.__file__).parent / "data"


def test_every_schema_that_comes_with_a_table_is_held():
    named = {path.name.removesuffix(".schema.json") for path in DATA.glob("*.schema.json")}
    assert named == {*SCHEMAS, "schema", "model"}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_that_comes_with_a_table_never_changes_and_leaves_nothing_to_defaults(name):
    text = (DATA / f"{name}.schema.json").read_text(encoding="utf-8")
    schema = Schema.from_json(text)
    assert schema.to_json() == text
    assert schema.content_hash.startswith(SCHEMAS[name])
    published.SCHEMA.validate(json.loads(text))

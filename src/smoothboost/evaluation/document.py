"""An evaluation for programs: plain numbers, texts and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smoothboost.release.report.evaluated import FORMAT, VERSION

if TYPE_CHECKING:
    from smoothboost.evaluation import Evaluation
    from smoothboost.evaluation.estimates import Estimate


def evaluation_document(result: Evaluation) -> dict[str, Any]:
    """Return all that an evaluation released, and what it cost whom."""
    names = ("accuracy", "auroc", "log_loss")
    confusion = zip(result.confusion_pairs, result.cells, strict=True)
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": result.model_hash,
        "rows": result.n_rows,
        "rows_per_person": result.rows_per_person,
        "epsilon": result.epsilon,
        "delta": result.delta,
        "ledger": result.ledger,
        "classes": list(result.classes),
        **{name: _numbers(getattr(result, name), result, name) for name in names},
        "threshold": result.threshold,
        "confusion": [
            {"class": truth, "predicted": guess, **_estimate(share)}
            for (truth, guess), share in confusion
        ],
        "calibration": [
            {
                "from": each.low,
                "to": each.high,
                "rows": each.rows,
                "predicted": each.predicted,
                **_estimate(each.observed),
            }
            for each in result.bins
        ],
        "by": result.by,
        "groups": [
            {"group": name, "rows": rows, **_estimate(accuracy)}
            for name, rows, accuracy in result.by_value
        ],
    }


def _numbers(value: float | None, result: Evaluation, name: str) -> dict[str, Any]:
    low, high = getattr(result, f"{name}_interval")
    return {"value": value, "low": float(low), "high": float(high)}


def _estimate(estimate: Estimate) -> dict[str, float]:
    low, high = estimate.interval
    return {"value": float(estimate.value), "low": float(low), "high": float(high)}

"""A fit needs a client that runs, until it is done."""

from __future__ import annotations

import pytest
from clusters import cluster, cut, fitted, people

from smoothboost.dask.counters import Counters

ROWS = cut(*people(100), [30, 60])


def test_without_a_client_one_is_asked_for():
    with pytest.raises(RuntimeError, match="Expected a Dask client, got none; make one before"):
        fitted(*ROWS)


def test_a_client_that_is_closed_is_told():
    with cluster(1) as client:
        pass
    told = "Expected a running Dask client, got one that is closed"
    with client.as_current(), pytest.raises(RuntimeError, match=told):
        fitted(*ROWS)


@pytest.mark.parametrize("what", ["client", "cluster"])
def test_a_cluster_that_goes_away_during_a_fit_is_told(monkeypatch, what):
    ask, asked = Counters.ask, []
    with cluster(1) as client:

        def ask_and_close(self, question):
            asked.append(question)
            if len(asked) == 3:
                (client if what == "client" else client.cluster).close()
            return ask(self, question)

        monkeypatch.setattr(Counters, "ask", ask_and_close)
        with pytest.raises(RuntimeError, match="Expected a Dask client that stays connected"):
            fitted(*ROWS)
    assert len(asked) == 3

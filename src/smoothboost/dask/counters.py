"""Who counts the rows: an actor on every group of them, seen from the client.

Asking a task costs about 20 ms, most of them in messages that Dask holds back to send several at
once. An actor is called without the scheduler's plans and answers in a few. But it is lost
with its worker, where Dask would make a task's result again. The rows under it are such a result,
and votes come with the questions; so whoever is lost is replaced, and the question asked again.
"""

from __future__ import annotations

from time import monotonic
from traceback import clear_frames

import dask
import numpy as np
from distributed import Actor, ActorFuture, Future, fire_and_forget, wait
from numpy.typing import NDArray

from smoothboost.dask import workers
from smoothboost.dask.cluster import SpreadRows, check_versions, explained

_FAN_IN = 8  # answers that an adder, or the client, adds up
_PATIENCE = 1  # seconds after which the client looks whether everybody is still there
_LONG = 120  # seconds after which adders are done without
_SIGN_OF_LIFE = 60  # seconds after which the scheduler is shown that the cluster is in use


class Counters:
    """Counters of the rows of a table, on workers.

    Parameters
    ----------
    rows : SpreadRows
        Where the rows are.
    setting : Setting
        What counters are made for.
    """

    def __init__(self, rows: SpreadRows, setting: workers.Setting) -> None:
        self._rows = rows
        self._setting = setting
        self._futures: list[Future] = []  # of all counters and adders
        self._asked: list[Actor] = []  # those that the client asks itself
        self._shown = monotonic()  # when the scheduler last saw that the cluster is in use

    @property
    def n_rows(self) -> int:
        """The number of rows, on all workers together."""
        return self._rows.n_rows

    def ask(self, question: workers.Question) -> NDArray[np.int64] | None:
        """Return a sum over all rows, or None if a worker has to be told all votes.

        Sums are added up as a tree, whose root is the client. As for any task of Dask, some
        workers may die over it.
        """
        n_deaths = 1 + dask.config.get("distributed.scheduler.allowed-failures")
        with explained(self._rows.client, self._rows.groups):
            for _ in range(n_deaths):
                try:
                    return self._answer(question)
                except BaseException as error:
                    lost = self._means_loss(error)
                    self._dismiss()
                    clear_frames(error.__traceback__)  # whoever keeps the error keeps no rows
                    if not lost:
                        raise
            raise RuntimeError(
                f"Expected workers that live to answer a question, got {n_deaths} that died over "
                "it, most likely for want of memory; give them more, or use more of them."
            )

    def _answer(self, question: workers.Question) -> NDArray[np.int64] | None:
        if not self._futures:
            self._hire()
        until = monotonic() + _LONG
        answers = [each.answer(question) for each in self._asked]
        sums = []
        for answer in answers:
            while not self._is_there(answer):
                if monotonic() > until and len(self._futures) > len(self._asked):
                    self._do_without_adders()
                    return self._answer(question)
            sums.append(answer.result())
        return workers.add_up(sums)

    def _hire(self) -> None:
        """Make a counter where each group of rows is, and adders until few are left to be asked."""
        client, groups = self._rows.client, self._rows.groups
        check_versions(client)
        wait(groups)  # lost ones are made again
        places = client.who_has(groups)
        asked = []
        for group in groups:
            place = places.get(group.key) or None
            near = {"workers": place, "allow_other_workers": place is not None}
            asked.append(client.submit(workers.Counter, group, self._setting, actor=True, **near))
        self._futures += asked
        while len(asked) > _FAN_IN:
            several = [asked[at : at + _FAN_IN] for at in range(0, len(asked), _FAN_IN)]
            asked = [client.submit(workers.Adder, some, actor=True) for some in several]
            self._futures += asked
        self._asked = client.gather(asked)

    def _is_there(self, answer: ActorFuture) -> bool:
        """Wait a little for an answer; not everybody whose worker dies can tell, so look."""
        self._show_life()
        try:
            answer.result(timeout=_PATIENCE)
        except TimeoutError:
            if answer.done() or not self._all_there():
                raise
            return False
        return True

    def _do_without_adders(self) -> None:
        """Ask all counters directly: an adder may wait for a worker that only it does not reach.

        If all was well, and counting only takes long, whoever counts is asked twice, once.
        """
        n_counters = len(self._rows.groups)
        for adder in self._futures[n_counters:]:
            adder.release()
        del self._futures[n_counters:]
        self._asked = self._rows.client.gather(self._futures)

    def _show_life(self) -> None:
        """Run a task now and then: the scheduler sees no calls, and may close an idle cluster."""
        if monotonic() - self._shown > _SIGN_OF_LIFE:
            fire_and_forget(self._rows.client.submit(int, pure=False))
            self._shown = monotonic()

    def _means_loss(self, error: BaseException) -> bool:
        """Tell whether an error comes from a worker that is gone: not reached, or known to be."""
        if self._rows.client.status != "running":
            return False  # all is gone, even if the client should find the scheduler again
        if isinstance(error, RuntimeError):
            return not self._all_there()
        return isinstance(error, OSError)

    def _all_there(self) -> bool:
        """Tell whether no counter and no adder is known to be lost."""
        return all(each.status == "finished" for each in self._futures)

    def _dismiss(self) -> None:
        """Let go of all counters and adders, of those too that still answer somebody."""
        if self._rows.client.status == "running":
            self._rows.client.cancel(self._futures)
        for future in self._futures:
            future.release()
        self._futures.clear()
        self._asked = []

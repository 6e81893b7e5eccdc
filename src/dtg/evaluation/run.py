"""The one way in which every evaluation is run: measured, stored, summarized, compared and written.

results = dtg.evaluate("dtg-small", "blimp", "blimp/data", limit=100)
results.metrics, results.rows, results.compare(other)
"""

from __future__ import annotations

import inspect
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from dtg.errors import FileError, InputError, UnknownNameError
from dtg.evaluation.contract import Task
from dtg.evaluation.models import EvaluatedModel
from dtg.evaluation.probability import Probability
from dtg.evaluation.progress import BarProgress
from dtg.evaluation.results import Results
from dtg.evaluation.storage import Progress, Store, compute_stored
from dtg.evaluation.tasks.registry import OF_PHRASES, PARSER_TASKS, TASKS
from dtg.io.locks import Lock, locked_folder
from dtg.io.processes import Processes, launched
from dtg.io.rendezvous import joined
from dtg.language_model import LanguageModel
from dtg.parser import Parser
from dtg.trees.reading import is_bracket_file

PREFIX, TEMPORARY = "dtg-", ".temporary.lock"  # of temporary folders: how they are called, and what only they have


def evaluate(
    model: LanguageModel | Parser | str | Path | None,
    task: str | Task,
    data: str | Path | None = None,
    *,
    out: str | Path | None = None,
    against: str | Path | Results | None = None,
    name: str | None = None,
    device: str = "auto",
    progress: Progress | bool = True,
    **options: Any,
) -> Results:
    """Evaluate a model on a task.

    Args:
        model: a model, or its folder or bundled name; a parser for the task "parser".
        task: "ppl", "blimp", "sg", "pairs", "rerank", "parser", "reading" or "garden-paths"; or a task of one's own. Of files
            in brackets, "rerank" and "parser" are of phrases.
        data: the file or folder with the task's items.
        out: a folder to keep everything in; an interrupted evaluation resumes there.
        against: results of another model, or their folder, to compare with item by item.
        name: what the model is called; its folder's name by default.
        device: where to compute; "auto" is a GPU where there is one. A model in memory stays where it is.
        progress: False for no progress bar, or an object that is told how far it is.
        **options: the task's own, such as `limit`, `sample`, `beam` and `by`: see `dtg.evaluation.tasks`.

    Returns:
        The results: `.metrics`, `.rows` (a frame), `.compare(other)`.
    """
    if isinstance(task, str):
        if task not in TASKS:
            raise UnknownNameError("task", task, TASKS)
        task = make_task(task, data, options)
    elif options or data is not None:
        raise InputError("data and options are for tasks that are named; this one is made already.")
    subject = None
    if task.ready() is None:
        is_parser = isinstance(task, PARSER_TASKS) or isinstance(model, Parser)
        make = EvaluatedModel.of_parser if is_parser else EvaluatedModel.of
        subject = make(model, device, name)  # type: ignore[arg-type]
    watcher = progress if isinstance(progress, Progress) else BarProgress(task.sentences_per_row) if progress else None
    found = run(task, subject, out=out, against=against, name=name, progress=watcher)
    if found is None:
        raise InputError("only the first of several processes has the results; run the command line in the others.")
    return found


def make_task(name: str, data: str | Path | None, options: dict[str, Any]) -> Task:
    """A task by its name; an option that it does not have is named."""
    if data is None:
        raise InputError(f"the task {name} needs data: name the file or folder.")
    kind = OF_PHRASES[name] if name in OF_PHRASES and is_bracket_file(data) else TASKS[name]
    make = kind.of  # type: ignore[attr-defined]
    known = [name for name in inspect.signature(make).parameters if name not in ("source", "how")]
    if "how" in inspect.signature(make).parameters:
        known += [name for name in inspect.signature(Probability.of).parameters if name not in ("has_gold", "seed")]
    if "first" in options and "limit" in known:
        options["limit"] = options.pop("first")
    if unknown := [option for option in options if option not in known]:
        raise InputError(f"the task {name} has no option {', '.join(unknown)}. Known: {', '.join(known)}.")
    made: Task = make(Path(data), **options)
    return made


def run(
    task: Task,
    model: EvaluatedModel | None,
    *,
    out: str | Path | None = None,
    against: str | Path | Results | None = None,
    name: str | None = None,
    progress: Progress | None = None,
) -> Results | None:
    """Evaluate, and write everything if `out` is named.

    Args:
        task: what to evaluate on.
        model: what to evaluate; None for a task whose rows are there already.
        out: a folder to keep everything in.
        against: results to compare with, or their folder.
        name: what to call rows that are there already.
        progress: is told how far it is.

    Returns:
        The results; None in any process but the first.
    """
    out = None if out is None else Path(out)
    other = Results.read(against, type(task)) if isinstance(against, str | Path) else against
    if model is not None:
        task = task.for_model(model.model)
    if other is not None:
        task.check_comparable(other.items, str(other.folder or other.name))
    if model is not None and out is None and launched().count > 1:
        raise InputError("several processes share the work through a folder; name it.")
    with joined() as processes, results_folder(out, processes) as folder:
        if model is None:
            if not processes.is_main:
                return None
            ready = task.ready()
            assert ready is not None, "a task needs a model or rows"
            settings, called, given = dict(ready.settings), name or ready.name, dict(ready.given)
            if out is not None:
                Store(out, settings).check()
            rows = list(ready.rows)
        else:
            settings = model.settings(f"evaluate {task.name}", task.data_sha256, task.settings())
            called, given = model.name, {"model": model.folder or "in memory"}
            measure = lambda items: task.measure(model.model, items)  # noqa: E731 - a closure with a name
            rows = compute_stored(task.items(), measure, Store(folder, settings), processes, progress or Progress())
            if not processes.is_main:
                return None
        content, tables = task.summarize(rows, called), task.tables(rows)
        given |= {"data": task.data, "name": called, **task.given()}
        remarks, texts = (*task.remarks(), *task.search_remarks()), task.texts(rows)
        found = Results(type(task), called, content, settings, given, tables, out, remarks, texts)
        if other is not None:
            found = replace(found, content=found.compare(other).content)
        return found if out is None else replace(found, is_drawn=found.write(out))


@contextmanager
def results_folder(out: Path | None, processes: Processes) -> Iterator[Path]:
    """The folder named, which no other run can write to meanwhile; or one that is removed afterwards."""
    if out is not None:
        with ExitStack() as held:
            lock_for_all(out, processes, held)
            yield out
        return
    remove_abandoned()
    with tempfile.TemporaryDirectory(prefix=PREFIX) as name:
        folder = Path(name)
        with Lock.acquire(folder / TEMPORARY, folder):
            yield folder / "results"


def lock_for_all(out: Path, processes: Processes, held: ExitStack) -> None:
    """Let the first process lock the folder. Where it cannot, it says why, and the others end too."""
    if processes.is_main:
        held.enter_context(locked_folder(out))
    processes.wait()


def remove_abandoned() -> None:
    """Remove the temporary folders of runs that were killed: nobody holds their locks any more."""
    for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{TEMPORARY}"):
        with suppress(FileError), Lock.acquire(lock, lock.parent):
            shutil.rmtree(lock.parent, ignore_errors=True)

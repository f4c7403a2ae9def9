"""Tell how far transformers is with loading a model, in place of the bars that it draws."""

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from threading import Lock, get_ident
from typing import Any

from xpos_viz.models.library import library

Progress = Callable[[float], None]
"""What is told the share of the work that is done."""

_ALONE = Lock()  # what draws is shared by all threads


class _EndedError(BaseException):
    """What progress raised, on its way through transformers, which would take it for its own."""


@contextmanager
def telling(progress: Progress) -> Iterator[None]:
    """Tell the share of the weights that are loaded, while the context lasts.

    Those of a `.gguf` file are gone through twice: they are unpacked, and put in their places.

    Parameters
    ----------
    progress
        What is told; what it raises ends the loading, and is raised here.
    """
    files = library("transformers.modeling_gguf_pytorch_utils")
    logging = library("transformers.utils.logging")
    here = get_ident()  # other threads may load models meanwhile

    def aloud(drawn: Callable[..., Any], things: Iterable[Any] = (), **options: Any) -> Any:  # noqa: ANN401
        if get_ident() == here and isinstance(things, Sized):
            return _told(things, progress)
        return drawn(things, **options)

    def hooked(drawn: Callable[..., Any], args: Any, options: Any) -> Any:  # noqa: ANN401
        return aloud(drawn, *args, **options)

    with _ALONE:
        bar, hook = files.tqdm, logging.set_tqdm_hook(hooked)
        files.tqdm = lambda *args, **options: aloud(bar, *args, **options)
        try:
            yield
        except _EndedError as ended:
            raise ended.__cause__ or ended from None
        finally:
            files.tqdm = bar
            logging.set_tqdm_hook(hook)


def _told(things: Any, progress: Progress) -> Iterator[Any]:  # noqa: ANN401 - sized and iterable
    """Things one by one; after each, the share of those that are done is told."""
    for done, thing in enumerate(things, 1):
        yield thing
        try:
            progress(done / len(things))
        except Exception as error:
            raise _EndedError from error

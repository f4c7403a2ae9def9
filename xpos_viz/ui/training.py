"""Train it yourself: a small model of an encoding of one's own, beside those that come along."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import ClassVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from xpos_viz import limits
from xpos_viz.encoding import PARAMETERS, REGISTRY
from xpos_viz.figures.training import learning_curves, model_words
from xpos_viz.figures.words import family_name, number
from xpos_viz.lab.model import encoding_of
from xpos_viz.pictures import Picture
from xpos_viz.pictures.training import beside, learning
from xpos_viz.state import State
from xpos_viz.state.changes import with_setting
from xpos_viz.studies.yours import (
    FAMILIES,
    MAX_SEED,
    MOST,
    SETTING,
    Learned,
    Progress,
    Trained,
    course,
    lately,
    learned,
)
from xpos_viz.texts import Text
from xpos_viz.ui import controls, downloads, notices, page, runs, widgets
from xpos_viz.ui.session import commit, heard
from xpos_viz.ui.widgets import Change

WAITING = 8
"""Models that the server knows at a time, those that wait their turn among them."""

_EVERY = 0.5  # seconds between two looks
_ACROSS = 3  # controls side by side


class Training(runs.Run):
    """A model that is trained: how far it is, and what came of it."""

    lasted: ClassVar[float] = 30.0  # seconds that the last one took

    def __init__(self, trained: Trained) -> None:
        super().__init__()
        self.trained, self.progress = trained, Progress()
        self.found: Learned | None = None

    @property
    def left(self) -> float:
        """Seconds that are left, if the rest goes as the work so far; ∞ before any is done."""
        share = self.progress.share
        if self.begun is None or not share:
            return inf
        return (time.monotonic() - self.begun) * (1 - share) / share

    def work(self) -> None:
        """Train and measure it."""
        begun = time.monotonic()
        self.found = learned(self.trained, self._report)
        if self.progress.losses:  # it was not known already
            Training.lasted = time.monotonic() - begun

    def _report(self, progress: Progress) -> None:
        """Note how far it is."""
        self.look()
        self.progress = progress


TRAININGS: runs.Runs[Trained, Training] = runs.Runs(
    Training,
    WAITING,
    f"this server trains at most {WAITING} models, got one more; wait until one is done.",
)
"""The models that this server trains."""


def known(now: State) -> tuple[Learned, ...]:
    """Return the models of one's own that stand beside the others, if they are trained."""
    return tuple(found for each in beside(now) if (found := _found(each)))


def section(yours: Sequence[Learned], now: State, text: Text) -> None:
    """Draw what is trained next, what is under way, and the models of one's own."""
    st.header(text("training.title"), anchor=False)
    st.markdown(
        text(
            "training.words",
            length=SETTING.length,
            layers=SETTING.layers,
            width=SETTING.width,
            steps=SETTING.steps,
        )
    )
    if not limits.TRAINS:
        st.info(text("training.off"))
    elif widgets.is_shown("training"):
        _next(now, text)
    for place, each in enumerate(now.own_models):
        if _found(each) is None:
            _awaited(each, place, text)
    _own(yours, text)


def _next(now: State, text: Text) -> None:
    """What is trained next, and the button."""
    model = Trained.parse(now.training)
    places = _places()
    with next(places):
        _control(
            *(st.selectbox, "training", model.encoding.name, _with_family, text),
            options=FAMILIES,
            format_func=lambda name: family_name(REGISTRY[name], text),
        )
    for name in model.encoding.family.defaults:
        if isinstance(value := model.encoding[name], int | float):
            with next(places):
                _control(
                    *(st.select_slider, name, value, _with_parameter(name), text),
                    options=sorted({*PARAMETERS[name].steps, value}),
                    format_func=number,
                )
    with next(places):
        _control(
            *(st.number_input, "training_seed", model.seed, _with_seed, text),
            min_value=0,
            max_value=MAX_SEED,
            step=1,
        )
    full = len(now.trained) >= MOST
    st.button(
        text("training.train", seconds=_seconds()),
        key="train",
        icon=":material/model_training:",
        disabled=full or model.text in now.trained,
        on_click=partial(_train, model),
    )
    if full:
        st.caption(text("training.full", most=MOST))


def _places() -> Iterator[DeltaGenerator]:
    """Places for controls, row by row."""
    while True:
        yield from st.columns(_ACROSS, vertical_alignment="bottom")


def _control(
    widget: Callable[..., object],
    name: str,
    value: object,
    change: Change,
    text: Text,
    **options: object,
) -> None:
    """A control of what is trained next, and what it refused."""
    key = name if name == "training" else f"training.{name}"
    label, help_ = text(f"ui.{name}"), text(f"ui.{name}_help")
    widgets.always(widget, key, label, value, change, help=help_, **options)
    notices.beside(text, key)


def _with_family(old: State, new: str) -> State:
    """The change to another family, with its usual parameters."""
    model = Trained(encoding_of(SETTING, new), Trained.parse(old.training).seed)
    return with_setting("training", old, model.text)


def _with_parameter(name: str) -> Change:
    """The change of a parameter."""

    def change(old: State, new: float) -> State:
        model = Trained.parse(old.training)
        other = replace(model, encoding=model.encoding.replace(**{name: new}))
        return with_setting("training", old, other.text)

    return change


def _with_seed(old: State, new: int) -> State:
    """The change of the seed."""
    model = replace(Trained.parse(old.training), seed=new)
    return with_setting("training", old, model.text)


def _train(model: Trained) -> None:
    """Train a model, which is to stand beside the others of its size."""
    runs.ask(TRAININGS, model)

    def beside_others(old: State) -> State:
        small = with_setting("lab_size", old, SETTING.name)
        return with_setting("trained", small, (*old.trained, model.text))

    commit(beside_others, "train")


def _awaited(model: Trained, place: int, text: Text) -> None:
    """A model that is not known yet: how far it is, or the way to train it."""
    run, named = TRAININGS.find(model), model_words(model, text)
    if run is not None and not run.ended:
        _watch(run, place, text)
    elif not limits.TRAINS:
        st.caption(text("training.unknown", model=named))
    else:
        runs.offer(
            *(TRAININGS, model, text("training.again", model=named, seconds=_seconds())),
            f"train_{place}",
            lambda why: text("training.failed", model=named, reason=why),
        )


@st.fragment(run_every=_EVERY)
def _watch(run: Training, place: int, text: Text) -> None:
    """How far a model is, looked at again and again, and the way to end it."""
    if run.done or run.stopped:
        heard(None)  # the address that came with this look may be older than what is set
        st.rerun()
    progress, named = run.progress, model_words(run.trained, text)
    if run.begun is None:
        words = text("training.waiting", model=named)
    elif len(progress.losses) < SETTING.steps:
        step, steps = (number(count) for count in (len(progress.losses), SETTING.steps))
        words = text("training.progress", model=named, step=step, steps=steps, left=_left(run))
    else:
        words = text("training.measuring", model=named, left=_left(run))
    st.progress(progress.share, words)
    if progress.losses:
        described = learning_curves([(run.trained, progress.losses)], text, f"learning_{place}")
        page.sketch(Picture(described, partial(course, progress.losses)), text)
    st.button(
        text("training.cancel"),
        key=f"cancel_{place}",
        icon=":material/stop_circle:",
        on_click=partial(_cancel, run),
    )
    st.caption(text("training.goes_on"))


def _cancel(run: Training) -> None:
    """End the training of a model, which is not shown any more."""
    run.stop()
    own = run.trained.text
    commit(lambda old: with_setting("trained", old, [t for t in old.trained if t != own]), "cancel")


def _own(yours: Sequence[Learned], text: Text) -> None:
    """How models learned, the models themselves, and the way to take them off the charts."""
    for picture in learning(yours, text):
        page.picture(picture, text)
    with st.container(horizontal=True):
        for each in yours:
            label = text("training.take", model=model_words(each.trained, text))
            name = f"xpos_viz-{each.trained.text.replace(':', '-')}"
            downloads.model(name, label, each.state.content, text)
    controls.kept(text, "trained", lambda each: model_words(Trained.parse(each), text))


def _found(model: Trained) -> Learned | None:
    """A model, if it is trained."""
    run = TRAININGS.find(model)
    return lately(model) or (run and run.found)


def _seconds() -> str:
    """How long a model takes."""
    return number(round(Training.lasted))


def _left(run: Training) -> str:
    """Seconds that are left."""
    return f"{run.left:,.0f}" if run.progress.losses else "–"

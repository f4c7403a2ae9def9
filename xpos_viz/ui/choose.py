"""The page that chooses γ and B: what matters, all that can be had of it, and the best."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import streamlit as st

from xpos_viz.choosing import OBJECTIVES, Goal, ranked, sweep
from xpos_viz.choosing.landscape import BUDGETS, WANTED, Landscape, bare, landscape, lately
from xpos_viz.choosing.spec import Spec
from xpos_viz.encoding import REGISTRY
from xpos_viz.encoding.steps import GAMMAS, SCALE_BASES
from xpos_viz.figures.choose import best_words, edge_words, goal_words, setting, unit
from xpos_viz.figures.words import counted, number, percent, rounded
from xpos_viz.pictures.choose import asked, goals_of, pictures_of, set_now
from xpos_viz.state import State, to_address
from xpos_viz.state.changes import with_moves, with_setting
from xpos_viz.texts import Text, texts
from xpos_viz.ui import compare, controls, decay, page, runs, sources, tokens, widgets
from xpos_viz.ui.session import commit, heard, language, state
from xpos_viz.ui.sweeps import SWEEPS, Sweep
from xpos_viz.ui.work import Work, shown, working

LENGTHS = tuple(2**power for power in range(8, 18))
WANTS = tuple(2**power for power in range(5, 18))
WINDOWS = tuple(2**power for power in range(3, 10))
WEIGHTS = (10, 25, 50, 75, 90)

_SEEN = "sweep_seen"
_COARSE = next(iter(BUDGETS))
_ROWS = 12  # of the table
_EVERY = 0.5  # seconds between two looks at a sweep


def show() -> None:
    """Draw the page."""
    text, now = texts(language()), state()
    page.head("choose", text)
    picture, beside = page.sides("choose")
    with beside:
        _controls(now, text)
    with picture:
        spec = asked(now)
        if spec is None:
            tokens.no_text(text)
        else:
            _landscape(spec, now, text)
    with st.container(key="choose_formula"):
        rows = [OBJECTIVES[goal.objective] for goal in goals_of(now)]
        page.formula(text("choose.words"), page.ONE, (REGISTRY["xpos"],), text)
        st.caption("  \n".join(f"`{row.formula}` ({row.source})" for row in rows))
    page.code((*(row.measure for row in rows), ranked, sweep), text)


def _controls(now: State, text: Text) -> None:
    """What matters, and where it is looked for."""
    controls.choose(text, "goal", lambda name: text(f"choose.short.{name}"))
    controls.choose(text, "second_goal", lambda name: text(f"choose.short.{name}"))
    goals = goals_of(now)
    for name, goal in zip(("goal_limit", "second_limit"), goals, strict=False):
        _limit(text, name, goal, getattr(now, name))
    if len(goals) > 1:
        controls.slide(text, "goal_weight", WEIGHTS)
    if any(goal.objective in WANTED for goal in goals):
        controls.slide(text, "wanted", WANTS)
    controls.slide(text, "goal_length", LENGTHS)
    if any("window" in goal.row.options for goal in goals):
        controls.slide(text, "goal_window", WINDOWS)
    if any(goal.row.needs == "text" for goal in goals):
        sources.source(text)
    else:
        sources.width(text)
    controls.parameters(text, "base")
    _span(text, "gammas", GAMMAS, now.gammas)
    _span(text, "scale_bases", SCALE_BASES, now.scale_bases)
    controls.choose(text, "budget")
    controls.colours(text)
    controls.reset(text)


def _limit(text: Text, name: str, goal: Goal, value: float | None) -> None:
    """A field for the least of a goal that is allowed, or the most where less is better."""
    widgets.control(
        partial(st.number_input, value=None, format="%.6g", step=None),
        name,
        text(
            f"choose.limit_{goal.row.better}",
            goal=text(f"choose.short.{goal.objective}"),
            unit=unit(goal, text),
        ),
        value,
        partial(with_setting, name),
        help=text(f"ui.{name}_help"),
        placeholder=text("choose.no_limit"),
    )


def _span(text: Text, name: str, steps: Sequence[float], value: tuple[float, float]) -> None:
    """A slider with two ends."""
    widgets.control(
        partial(st.select_slider, value=value),
        name,
        text(f"ui.{name}"),
        value,
        partial(with_setting, name),
        options=sorted({*steps, *value}),
        format_func=number,
        help=text(f"ui.{name}_help"),
    )


def _landscape(spec: Spec, now: State, text: Text) -> None:
    """The landscape: a coarse one at once, a finer one when it is asked for."""
    whole = lately(spec)
    if whole is not None:
        _found(whole, now, text)
    elif now.budget != _COARSE:
        _run(spec, now, text)
    elif shown(work := _coarse(spec), text):
        _found(work.result, now, text)


def _coarse(spec: Spec) -> Work[Landscape]:
    """A landscape that is computed at once."""
    return working(spec, partial(landscape, spec), "choosing")


def _run(spec: Spec, now: State, text: Text) -> None:
    """A sweep of the server, and what is known of it so far."""
    run = SWEEPS.find(bare(spec))
    if run is None or run.ended:
        label = text("choose.begin", settings=number(spec.settings))
        runs.offer(
            *(SWEEPS, bare(spec), label, "begin_sweep"),
            lambda why: text("choose.failed", reason=why),
        )
    elif not run.done:
        _watch(run, text)
    if run is not None and (found := run.found) is not None:
        _found(replace(found, spec=spec), now, text)
    elif coarse := asked(now, _COARSE):
        st.caption(text("choose.meanwhile"))
        if shown(work := _coarse(coarse), text):
            for picture in pictures_of(work.result, now, text):
                page.sketch(picture, text)


@st.fragment(run_every=_EVERY)
def _watch(run: Sweep, text: Text) -> None:
    """How far the sweep is, and the way to stop it; a page that shows more with each look."""
    progress = run.progress
    if run.done or run.stopped or progress.done != st.session_state.get(_SEEN):
        st.session_state[_SEEN] = progress.done
        heard(None)
        st.rerun()
    words = {"done": number(progress.done), "total": number(progress.total)}
    left = f"{progress.left:,.0f}" if progress.done else "–"
    st.progress(progress.share, text("choose.progress", left=left, **words))
    st.caption(text("choose.goes_on"))
    st.button(text("work.stop"), key="stop_sweep", on_click=run.stop, icon=":material/stop_circle:")


def _found(found: Landscape, now: State, text: Text) -> None:
    """The pictures, the table, and what to notice."""
    widgets.offer("gamma", "scale_base")  # which a click sets
    st.markdown(text("choose.take"))
    front = found.front["setting"].tolist()
    for picture in pictures_of(found, now, text):
        settings = front if picture.name == "front" else range(found.spec.settings)
        page.picture(picture, text, partial(_take, found, settings))
    _table(found, now, text)
    page.notice(_seen(found, text), text)


def _table(found: Landscape, now: State, text: Text) -> None:
    """The best settings; one that is chosen is what all pages then show."""
    st.markdown(text("choose.best_first"))
    table = found.allowed.head(_ROWS)
    goals = found.spec.goals
    columns = ["gamma", "scale_base", *(goal.label for goal in goals), *["front"] * len(goals[1:])]
    names = {"gamma": "γ", "scale_base": "B", "front": text("choose.front")}
    names |= {goal.label: text(f"choose.short.{goal.objective}") for goal in goals}
    written = table[columns].style.format(_full, subset=["gamma", "scale_base"])
    st.dataframe(
        written.format(page.digits, subset=[goal.label for goal in goals]),
        hide_index=True,
        key="settings",
        on_select=partial(_take_row, found, table["setting"].tolist()),
        selection_mode="single-row",
        column_config={name: names[name] for name in columns},
        alt=text("choose.table"),
    )
    gamma, scale_base = set_now(now)
    st.caption(
        text("choose.now", setting=setting({"gamma": gamma, "scale_base": scale_base}, text))
    )
    with st.container(horizontal=True):
        for name, shows in (
            ("compare", compare.show),
            ("decay", decay.show),
            ("tokens", tokens.show),
        ):
            link = text(f"pages.{name}.link")
            there = st.Page(shows, title=link, url_path=name)
            st.page_link(there, label=link, query_params=to_address(now))


def _full(value: object) -> str:
    """Write a number of a setting."""
    return number(cast("float", value))


def _take_row(found: Landscape, settings: Sequence[int]) -> None:
    """Set what was chosen from the table."""
    for row in st.session_state["settings"].selection.rows:
        _take(found, settings, row)


def _take(found: Landscape, settings: Sequence[int], place: int) -> None:
    """Set one of some settings, which all pages then show."""
    commit(partial(with_moves, moves=found.values_of(settings[place])), "chosen_setting")


def _seen(found: Landscape, text: Text) -> list[str]:
    """Which setting is best, how far each goal goes, and what the front says."""
    sentences = [best_words(found, text), *edge_words(found, text)]
    for goal in found.spec.goals:
        values = found.table[goal.label].dropna()
        if len(values):
            sentences.append(
                text(
                    "choose.reach",
                    goal=goal_words(goal, text),
                    low=rounded(float(values.min())),
                    high=rounded(float(values.max())),
                    unit=unit(goal, text),
                )
            )
    if barred := len(found.barred):
        sentences.append(text("choose.beyond", count=counted(barred)))
    if len(found.spec.goals) > 1 and len(found.allowed):
        share = len(found.front) / len(found.table)
        sentences.append(
            text("choose.on_front", count=counted(len(found.front)), share=percent(share))
        )
    if failed := int(found.points["error"].notna().sum()):
        sentences.append(text("choose.errors", count=counted(failed)))
    return [*sentences, text("choose.caution")]

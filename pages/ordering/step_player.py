"""The step of the ordering that the page shows: a slider, buttons for one step back and forth, and play."""

import time

import streamlit as st

from pages.shared.result.fit import Result

SECONDS = 1.2  # per step while playing
_STEP, _PLAYING, _TICK = "shared_step", "ordering_playing", "ordering_tick"


def _slot(result: Result) -> tuple[str, str]:
    return result.run.id, result.variant


def step_of(result: Result) -> int:
    """The step shown, from 1."""
    last = len(result.steps)
    return min(st.session_state.get(_STEP, {}).get(_slot(result), 1), last)


def go(result: Result, step: int) -> None:
    """Show a step, or the nearest that exists."""
    inside = max(1, min(step, len(result.steps)))
    st.session_state[_STEP] = {**st.session_state.get(_STEP, {}), _slot(result): inside}


def is_playing() -> bool:
    """Whether the steps play by themselves."""
    return bool(st.session_state.get(_PLAYING))


def interval() -> float | None:
    """How often the section with the steps must be redrawn."""
    return SECONDS if is_playing() else None


def advance(result: Result) -> None:
    """While playing, advance one step when it is due; stop at the last step."""
    if not is_playing():
        return
    time_now = time.monotonic()
    # A click also redraws this part of the page; only the clock advances the step.
    if time_now - st.session_state.get(_TICK, time_now) < 0.8 * SECONDS:
        st.session_state.setdefault(_TICK, time_now)
        return
    st.session_state[_TICK] = time_now
    if step_of(result) >= len(result.steps):
        st.session_state[_PLAYING] = False
        st.rerun()
    go(result, step_of(result) + 1)


def player(result: Result) -> int:
    """Draw the controls; return the step to show."""
    last = len(result.steps)
    if last < 2:
        return 1
    slider, side = st.container(key="beside_player").columns([3, 2], vertical_alignment="bottom")
    buttons = side.container(horizontal=True, gap="small", horizontal_alignment="right")
    key = f"step_{result.run.id}_{result.variant}"
    st.session_state[key] = step_of(result)
    slider.slider(
        "Step",
        1,
        last,
        key=key,
        on_change=lambda: go(result, st.session_state[key]),
        help="Step 1 scores all nodes and removes the last of the order. Each further step removes one more.",
    )
    step = step_of(result)
    buttons.button(
        "Back",
        icon=":material/skip_previous:",
        key="step_back",
        disabled=step <= 1,
        on_click=go,
        args=(result, step - 1),
    )
    label, icon = ("Pause", ":material/pause:") if is_playing() else ("Play", ":material/play_arrow:")
    if buttons.button(label, icon=icon, key="step_play"):
        st.session_state[_PLAYING] = not is_playing()
        st.session_state[_TICK] = time.monotonic()
        if is_playing() and step_of(result) >= len(result.steps):
            go(result, 1)
        st.rerun()
    buttons.button(
        "Next",
        icon=":material/skip_next:",
        key="step_forth",
        disabled=step >= last,
        on_click=go,
        args=(result, step + 1),
    )
    return step

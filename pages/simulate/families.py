"""Simulate: the distribution of each node given its parents, and its parameters."""

import pandas as pd
import streamlit as st

from disco.simulate import FAMILIES
from disco.simulate.laws import Parameter
from pages.shared.widgets.names import plain
from pages.simulate import form

_MIXING = {"one": "One for all", "groups": "Groups", "nodes": "By node"}
_BASE = "simulate_families_base"
KEYS = list(FAMILIES)


def label(key: str) -> str:
    """A family's name."""
    return FAMILIES[key].label


def choose() -> None:
    """One family, groups along the causal order, or one family per node; then their parameters."""
    mixing = form.form().mixing
    if mixing == "groups":
        _groups()
    else:
        text = "For the nodes without another family in the table below." if mixing == "nodes" else None
        form.choice("family", "Family", KEYS, label, text)
    if mixing == "nodes":
        _by_node()
    _parameters(form.chosen_families())


def _groups() -> None:
    """A family for each of the nearly equal sections of the causal order."""
    groups = form.form().family_groups
    for index, key in enumerate(groups):
        name = f"sim_group_{index}"
        st.session_state[name] = key
        st.selectbox(
            f"Group {index + 1}",
            KEYS,
            key=name,
            format_func=label,
            on_change=_group_changed,
            args=(index,),
            help="Groups are nearly equal parts of the causal order, with the sources first." if index == 0 else None,
        )


def _group_changed(index: int) -> None:
    groups = list(form.form().family_groups)
    groups[index] = st.session_state[f"sim_group_{index}"]
    form.change(family_groups=tuple(groups))


def _by_node() -> None:
    current, names = form.form(), form.node_names()
    key = f"sim_by_node_{hash((names, current.family))}"
    if key not in st.session_state:  # new, or shown again: start from the present choice
        chosen = [label(current.by_node.get(name, current.family)) for name in names]
        st.session_state[_BASE] = pd.DataFrame({"node": names, "family": chosen})
    edited = st.data_editor(
        st.session_state[_BASE],
        key=key,
        hide_index=True,
        height=min(300, 38 + 35 * len(names)),
        disabled=["node"],
        column_config={
            "node": st.column_config.TextColumn("Node"),
            "family": st.column_config.SelectboxColumn("Family", options=[label(k) for k in KEYS], required=True),
        },
        alt="The family of each node",
    )
    keys = {label(k): k for k in KEYS}
    by_node = {node: keys[words] for node, words in zip(edited["node"], edited["family"], strict=True)}
    differing = {node: family for node, family in by_node.items() if family != current.family}
    if differing != {
        node: family for node, family in current.by_node.items() if node in names and family != current.family
    }:
        elsewhere = {node: family for node, family in current.by_node.items() if node not in names}
        form.change(by_node=elsewhere | differing)


def _parameters(families: list[str]) -> None:
    """Every parameter of any chosen family; an empty box stands for each family's default."""
    by_name: dict[str, list[Parameter]] = {}
    for family in families:
        for name, item in FAMILIES[family].parameters.items():
            by_name.setdefault(name, []).append(item)
    with st.expander("Families, formula, parameters", icon=":material/tune:", key="sim_parameters", on_change="rerun"):
        form.segments("mixing", "Families", list(_MIXING), _MIXING.__getitem__)
        lines = [f"**{plain(label(key))}**: {plain(FAMILIES[key].index.formula)}" for key in families]
        st.caption("How a node depends on its parents' counts x:  \n" + "  \n".join(lines))
        for name, items in by_name.items():
            _parameter(name, items)
    values = {name: value for name, value in form.form().parameters.items() if name in by_name}
    if values:
        st.caption("Changed: " + ", ".join(f"{plain(name)} {value:g}" for name, value in values.items()) + ".")


def _parameter(name: str, items: list[Parameter]) -> None:
    key = f"sim_parameter_{name}"
    value = form.form().parameters.get(name)
    is_whole = items[0].whole
    st.session_state[key] = value if value is None or is_whole else float(value)
    defaults = " / ".join(dict.fromkeys(f"{item.default:g}" for item in items))
    low, high = max(item.low for item in items), min(item.high for item in items)
    words = items[0].label
    st.number_input(
        plain(words[:1].upper() + words[1:]),
        key=key,
        value=None,
        step=1 if is_whole else None,
        format="%d" if is_whole else "%g",
        placeholder=f"default {defaults}",
        on_change=_parameter_changed,
        args=(name,),
        help=f"From {low:g} to {high:g}. Empty: {defaults}.",
    )


def _parameter_changed(name: str) -> None:
    value = st.session_state[f"sim_parameter_{name}"]
    unchanged = {key: number for key, number in form.form().parameters.items() if key != name}
    form.change(parameters=unchanged if value is None else unchanged | {name: value})

"""Simulate: size and seed of the table, and options that make it harder to order."""

import secrets

import streamlit as st

from disco.simulate.design import RATES
from disco.table.adjustment import CATEGORICAL
from disco.table.interventions import SHIFT
from disco.words import how_many
from pages.simulate import form


def choose() -> None:
    """Rows; folded, options that make the table harder, and the columns other than counts."""
    form.option("rows")
    current = form.form()
    st.session_state["sim_unsortable"] = all(getattr(current, name) for name in form.UNSORTABLE)
    row = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
    row.toggle(
        "No order by sorting",
        key="sim_unsortable",
        on_change=_unsortable_changed,
        help="Means and variances do not reveal the causal order: random signs, equal means and equal variances.",
    )
    row.button(
        "New seed",
        icon=":material/casino:",
        help="Another table of the same design, from a random seed.",
        key="sim_dice",
        on_click=lambda: form.change(seed=secrets.randbelow(1_000_000)),
    )
    _harder(current)
    _covariates(current)
    _experiment(current)
    _contexts(current)


def _unsortable_changed() -> None:
    form.change(**dict.fromkeys(form.UNSORTABLE, st.session_state["sim_unsortable"]))


def _harder(current: form.Form) -> None:
    with st.expander("Make it harder", icon=":material/fitness_center:", key="sim_harder", on_change="rerun"):
        st.caption(
            "If effects only add up, mean and variance grow along the causal order, so sorting the columns orders "
            "them. These three options prevent that:"
        )
        form.option("random_signs")
        form.option("equal_means")
        form.option("equal_variances", disabled=not current.equal_means)
        st.caption("These violate the assumptions of the method:")
        form.option("exposure")
        form.option("interactions")
        form.option("latent")
        st.caption("These change how the columns look, not what can be known:")
        form.option("sources", is_list=True)
        form.option("spread")


def _covariates(current: form.Form) -> None:
    """The columns other than counts, which affect them."""
    with st.expander("Columns beside the counts", icon=":material/view_column:", key="sim_beside", on_change="rerun"):
        st.caption(
            "They affect the nodes and are part of the table. A method that knows their roles can adjust for them; "
            "one that does not finds false edges."
        )
        form.option("batches")
        if current.batches:
            form.option("batch_effect")
        form.option("depth")
        if current.depth:
            form.option("depth_causes")
            st.caption(
                "Its parents' counts per depth: the depth says how much was sampled, and is an exposure."
                if current.depth_causes == RATES
                else "Its parents' counts as they are: the depth is a cause like any other, and a covariate."
            )
        form.option("age_and_sex")
        form.option("groups")
        if current.groups:
            form.option("group_effect")


def _experiment(current: form.Form) -> None:
    with st.expander("Experiment", icon=":material/science:", key="sim_experiment", on_change="rerun"):
        st.caption(
            "After the rows above come arms, in each of which one node is set from outside. What changes there comes "
            "after that node, so an experiment gives directions that the other rows cannot."
        )
        chosen = form.intervened()
        st.session_state["sim_intervened"] = list(chosen)
        st.multiselect(
            "Nodes",
            form.node_names(),
            key="sim_intervened",
            placeholder="Random ones",
            on_change=lambda: form.change(intervened=tuple(st.session_state["sim_intervened"])),
            help="Each gets an arm of its own. Empty: as many random nodes as below.",
        )
        if not chosen:
            form.option("interventions", min_value=0, step=1)
        if not (chosen or current.interventions):
            return
        form.option("intervention_rows")
        form.option("intervention_kind")
        if current.intervention_kind == SHIFT:
            form.option("intervention_effect")
        else:
            st.caption("There the node has one value: its 5% or its 95% quantile in the other rows, at random.")
    if arms := len(chosen) or current.interventions:
        st.caption(f"Experiment: {how_many(arms, 'arm')} of {how_many(current.intervention_rows, 'row')}.")


def _contexts(current: form.Form) -> None:
    """Columns whose levels are assigned by chance, with effects on some nodes or on none."""
    with st.expander("Contexts", icon=":material/vaccines:", key="sim_contexts_box", on_change="rerun"):
        st.caption(
            "A context is a treatment, assigned to each row by chance. What it acts on is to be found. Some can act on "
            "nothing, to see whether effects are found where there are none."
        )
        if form.acting():
            st.caption(f"The design file says on which nodes {how_many(len(current.acting), 'context')} act.")
            st.button(
                "Random nodes instead",
                key="sim_random_contexts",
                on_click=lambda: form.change(acting=(), contexts=len(current.acting)),
            )
        else:
            form.option("contexts", min_value=0, step=1)
        form.option("idle_contexts")
        count = (len(form.acting()) or current.contexts) + current.idle_contexts
        if not count:
            return
        form.option("context_kind")
        if current.context_kind == CATEGORICAL:
            form.option("context_levels")
            form.option("context_effect")
        else:
            form.option("context_effect", label="Effect per unit")
    st.caption(f"Contexts: {current.idle_contexts} of {count} without effects.")

"""What to do next: the node to set in an experiment, or rules for another run. Owns the keys `rules_…`."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from disco import runs
from disco.columns import NEXT
from disco.knowledge import Knowledge
from disco.refine import QUICK
from disco.refine.settling import NOTHING_OPEN, Next, rows_in_words
from disco.runs import Run
from disco.subjects import REFINE
from disco.subjects.experiments import next_experiment as engine
from disco.words import how_many, listed
from pages.shared import session
from pages.shared.compute import machine
from pages.shared.compute.background import Slow
from pages.shared.evidence import questions
from pages.shared.result.refinement import Refinement
from pages.shared.table import drafts
from pages.shared.widgets import errors, tables
from pages.shared.widgets.names import code, labels_of, plain, shown
from pages.shared.work import fit_start

_MOST_PAIRS = 6
_MOST_EDGES = 200  # beyond it, predicting rows would take minutes


def section(run: Run, refinement: Refinement | None) -> None:
    """A folded section: the best node in a sentence, and what setting each node would settle."""
    box = st.expander("The next experiment", icon=":material/experiment:", key="graph_next", on_change="rerun")
    if not box.open:
        return
    with box:
        if refinement is None:
            st.caption("It needs the evidence of a likelihood search: start one on Graph.")
        elif len(refinement.edges) <= _MOST_EDGES:
            machine.once(machine.compiled, machine.PREPARING, partial(_draw, run, with_rows=True))
        else:
            _draw(run, with_rows=False)
            st.caption("With this many edges, the rows that each experiment needs are not predicted.")


def _draw(run: Run, with_rows: bool) -> None:
    Slow(
        ("graph_next", *questions.key(run, with_rows)),
        lambda callback: engine.of(run, with_rows=with_rows, callback=callback),
        "Comparing the graphs compatible with your data",
        "The experiments could not be compared",
    ).panel(_write)


def _write(result: Next) -> None:
    if not result.open:
        st.caption(NOTHING_OPEN)
        return
    best = result.nodes.iloc[0]
    st.markdown(
        f"Set {code(best['node'])} next: this would settle {best['settled']:.1f} of "
        f"{how_many(result.open, 'open direction')} on average."
    )
    _table(result)


def _table(result: Next) -> None:
    text = st.column_config.TextColumn
    config = tables.config(NEXT[:3]) | {
        "pairs": text("Which", width="large"),
        "rows": text(
            "Rows per arm", help="To see the predicted change in its neighbours, with power .8: median and range."
        ),
    }
    pairs = result.pairs["parent"] + " – " + result.pairs["child"]
    by_node = pairs.groupby(result.pairs["node"]).agg(lambda group: listed(group.tolist(), _MOST_PAIRS))
    rows = result.nodes[["node", "settled", "settled_if_hidden"]].assign(
        pairs=result.nodes["node"].map(by_node), rows=list(map(rows_in_words, result.nodes.itertuples()))
    )
    csv = tables.Csv("Download CSV", "next_experiment.csv", "graph_next_csv", result.nodes)
    tables.show(rows, "What setting each node would settle", config, key="graph_next_nodes", csv=csv)


_RULES = "rules_next"  # by the run's id: all rules of the run to come
_MOST_LISTED = 30

Pair = tuple[str, str]


def next_rules(run: Run, nodes: Sequence[str], edge: Pair | None) -> None:
    """Rules on the picked edge or on two nodes, the rules so far, and the search that follows them."""
    with st.expander("Rules for another run", icon=":material/rule:", key="rules_box"):
        with errors.caught():  # its knowledge is damaged, or has as many rules as there can be
            present = run.knowledge() or Knowledge()
            rules = st.session_state.get(_RULES, {}).get(run.id, present)
            pair = edge or _two_nodes(nodes)
            if pair is not None:
                _buttons(run, rules, pair)
            with st.container(gap=None):
                _listed(run, rules)
            _search(run, present, rules)


def _keep(run: Run, rules: Knowledge) -> None:
    st.session_state[_RULES] = {**st.session_state.get(_RULES, {}), run.id: rules}


def _two_nodes(nodes: Sequence[str]) -> Pair | None:
    st.caption("Pick an edge, or choose two nodes.")
    options = {"index": None, "format_func": labels_of(nodes), "placeholder": "Node"}
    first, second = st.columns(2, gap="small")
    parent = first.selectbox("From", list(nodes), key="rules_from", **options)
    child = second.selectbox("To", list(nodes), key="rules_to", **options)
    return None if parent == child or not {parent, child} <= set(nodes) else (parent, child)


def _buttons(run: Run, rules: Knowledge, pair: Pair) -> None:
    st.markdown(f"{code(shown(pair[0]))} → {code(shown(pair[1]))}")
    back = pair[::-1]
    with st.container(horizontal=True, gap="small"):
        for label, key, required, forbidden, help in (
            ("Require", "require", [pair], [], "Every graph of the new run will have this edge."),
            ("Forbid", "forbid", [], [pair], "No graph of the new run will have this edge; an indirect path may."),
            ("Forbid both directions", "apart", [], [pair, back], "No edge will join the two, in either direction."),
            ("Require the reverse", "reverse", [back], [pair], "Forbids this direction and requires the other."),
        ):
            wider = replace(
                rules,
                required=list(dict.fromkeys([*rules.required, *required])),
                forbidden=list(dict.fromkeys([*rules.forbidden, *forbidden])),
            )
            st.button(label, key=f"rules_{key}", help=help, disabled=wider == rules, on_click=_keep, args=(run, wider))


def _listed(run: Run, rules: Knowledge) -> None:
    """Every rule of the next run, the newest of each kind first, each as a button that removes it."""
    removal = partial(st.button, type="tertiary", icon=":material/close:", help="Remove this rule.")
    rows = [(kind, pair) for kind in ("required", "forbidden") for pair in reversed(getattr(rules, kind))]
    for index, (kind, pair) in enumerate(rows[:_MOST_LISTED]):
        words = plain(f"{kind.capitalize()}: {' → '.join(shown(text, 30) for text in pair)}")
        remaining = [rule for rule in getattr(rules, kind) if rule != pair]
        removal(words, key=f"rules_drop_{index}", on_click=_keep, args=(run, replace(rules, **{kind: remaining})))
    if len(rows) > _MOST_LISTED:
        st.caption(f"{len(rows) - _MOST_LISTED:,} more rules.")
    if rules.tiers:
        less = replace(rules, tiers=(), closed=())
        words = how_many(len(rules.tiers), "tier")
        removal(words, key="rules_drop_tiers", on_click=_keep, args=(run, less))


def _search(run: Run, present: Knowledge, rules: Knowledge) -> None:
    """The button that starts the new run, unless its rules contradict each other or equal those of this one."""
    is_fine = False
    if rules != present:
        with errors.caught():
            rules.resolve(run.nodes, run.roles)
            is_fine = True
    if is_fine:
        fit_start.search_line(fit_start.trial_of_run(run), QUICK)
    if st.button(
        "Search again with these rules",
        type="primary",
        icon=":material/bolt:",
        key="rules_search",
        disabled=not is_fine,
        help="A quick look at the same table with the same settings and roles, in a new run without a fit. This run "
        "does not change.",
    ):
        _start(run, rules)


def _start(run: Run, rules: Knowledge) -> None:
    with errors.caught():
        knowledge = rules if rules.to_dict() else None
        table = shown(drafts.table_name(run.name, run.settings), 40)
        number = drafts.next_number(table, ((item.name, item.settings) for item in runs.list_runs()))
        next_run = runs.create_run(
            run.with_roles(),
            run.settings,
            name=drafts.run_name(table, run.settings, run.roles, knowledge, number),
            source=run.source,
            truth=run.truth(),
            device=run.device,
            teaching=run.teaching,
            rows_left_out=run.rows_left_out,
            knowledge=knowledge,
            roles=run.roles,
            spoilt=runs.artefacts.of(run),
            origin=runs.origin.of_table(run),
        )
        fit_start.start(next_run, REFINE, QUICK)
        session.run.select(next_run)
        session.address.go("graph")

"""The benchmarks of effects and of hidden causes: their designs, their counts, and that each line is measured once."""

import json

import networkx as nx
import pytest

from benchmarks import effects, hidden_causes
from benchmarks.effects import Asked, Told, counted


def test_effects_are_counted_by_kind():
    single = Asked("a", "b", 0, 3, exact=1.0, error=0.1)
    none = single._replace(exact=0.0, error=0.0)
    found = counted(
        [
            (single, Told([(1.1, 0.9, 1.2)], 0.1)),
            (single, Told([(-0.5, -0.9, -0.2)], 0.2)),  # of the wrong sign
            (single._replace(exact=0.2), Told([(0.4, 0.3, 0.5)], 0.3)),  # its exact sign is not sure
            (single, Told([(0.0, 0.0, 0.0), (1.2, 0.8, 1.4)], 0.1)),
            (none, Told([(0.0, 0.0, 0.0)], 0.1)),
            (none, Told([(0.2, 0.1, 0.3)], 0.1)),
        ]
    )
    assert [found[name] for name in ("single", "held", "cases", "listed")] == [3, 1, 1, 1]
    assert [found[name] for name in ("signed", "right", "nulls", "false")] == [2, 1, 2, 1]
    assert found["seconds"] == 0.3 and found["error"] == pytest.approx((0.1 + 1.5) / 2)


def test_the_questions_have_their_exact_answers(monkeypatch):
    monkeypatch.setattr(effects, "_EXACT", 5000)
    made = effects.drawn("NB, d = 10", 1)
    graph = nx.DiGraph(list(made.truth[["parent", "child"]].itertuples(index=False, name=None)))
    asked = effects.asked("NB, d = 10", 1)
    assert 20 <= len(asked) <= 25
    for one in asked:
        assert one.low < one.high and (one.error > 0) == (one.outcome in nx.descendants(graph, one.cause))


def test_each_line_is_measured_once(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(effects, "_EXACT", 1000)
    path = tmp_path / "effects.jsonl"
    wanted = ["--results", str(path), "--only", "Poisson, d = 10", "--methods", "true graph", "--seeds", "0"]
    effects.main(wanted)
    effects.main(wanted)
    (line,) = [json.loads(text) for text in path.read_text().splitlines()]
    assert line["single"] + line["cases"] + line["nulls"] == len(effects.asked("Poisson, d = 10", 0))
    assert "| Poisson, d = 10 | true graph | 1 |" in capsys.readouterr().out
    assert effects.section(path).startswith("# Effects")


def test_hidden_causes_are_counted(tmp_path, capsys):
    path = tmp_path / "hidden.jsonl"
    made = hidden_causes.simulate(hidden_causes.DESIGNS["NB, hidden causes"])
    strong = hidden_causes.strong_pairs(made)
    assert strong and {node for pair in strong for node in pair} <= set(made.latent_edges["child"])
    path.write_text(json.dumps(hidden_causes.measure("NB, hidden causes", 0)) + "\n")
    hidden_causes.main(["--results", str(path), "--summary"])
    assert f"| NB, hidden causes | 1 | {len(strong)} |" in capsys.readouterr().out

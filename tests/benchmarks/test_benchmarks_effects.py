"""The benchmarks of effects and of hidden causes: their designs, their counts, and that each line is measured once."""

import networkx as nx
import pytest

from benchmarks import effects, hidden_causes
from benchmarks.effects import Answer, Question, counted


def test_effects_are_counted_by_kind():
    single = Question("a", "b", 0, 3, exact=1.0, error=0.1)
    none = single._replace(exact=0.0, error=0.0)
    found = counted(
        [
            (single, Answer([(1.1, 0.9, 1.2)], 0.1)),
            (single, Answer([(-0.5, -0.9, -0.2)], 0.2)),  # of the wrong sign
            (single._replace(exact=0.2), Answer([(0.4, 0.3, 0.5)], 0.3)),  # its exact sign is not sure
            (single, Answer([(0.0, 0.0, 0.0), (1.2, 0.8, 1.4)], 0.1)),
            (none, Answer([(0.0, 0.0, 0.0)], 0.1)),
            (none, Answer([(0.2, 0.1, 0.3)], 0.1)),
        ]
    )
    assert [found[name] for name in ("single", "held", "cases", "listed")] == [3, 1, 1, 1]
    assert [found[name] for name in ("signed", "right", "nulls", "false")] == [2, 1, 2, 1]
    assert found["seconds"] == 0.3 and found["error"] == pytest.approx((0.1 + 1.5) / 2)


def test_the_questions_have_their_exact_answers(monkeypatch):
    monkeypatch.setattr(effects, "_EXACT", 5000)
    _, graph = effects.draw("NB, d = 10", 1)
    questions = effects.questions("NB, d = 10", 1)
    assert 20 <= len(questions) <= 25
    for one in questions:
        assert one.low < one.high and (one.error > 0) == (one.outcome in nx.descendants(graph, one.cause))


def test_a_line_counts_every_question(monkeypatch):
    monkeypatch.setattr(effects, "_EXACT", 1000)
    effects.questions.cache_clear()
    line = effects.measure("Poisson, d = 10", "true graph", 0)
    assert line["single"] + line["cases"] + line["nulls"] == len(effects.questions("Poisson, d = 10", 0))
    assert "| Poisson, d = 10 | true graph | 1 |" in effects.table([line])


def test_hidden_causes_are_counted():
    drawn = hidden_causes.simulate(hidden_causes.DESIGNS["NB, hidden causes"])
    strong = hidden_causes.strong_pairs(drawn)
    assert strong and {node for pair in strong for node in pair} <= set(drawn.latent_edges["child"])
    line = hidden_causes.measure("NB, hidden causes", "refined", 0)
    assert f"| NB, hidden causes | 1 | {len(strong)} |" in hidden_causes.table([line])

"""Several methods as figures: what the cells, points and titles say."""

import numpy as np
import pandas as pd

from disco.figures import compared, roles


def test_the_matrix_names_the_two_that_agree_most():
    values = pd.DataFrame([[1, 0.2, 0.9], [0.2, 1, 0.4], [0.9, 0.4, 1]], index=list("abc"), columns=["a", "b", "<c>"])
    figure = compared.agreement(values, "Orders")
    assert roles.title_of(figure) == "Orders of 3 methods: a and <c> agree most, by 0.90"
    np.testing.assert_array_equal(figure.data[0].z, values)
    assert figure.data[0].zmin == 0 and figure.data[0].zmax == 1


def test_a_matrix_of_nothing_says_so():
    for values in (pd.DataFrame([[1.0]], columns=["a"]), pd.DataFrame(np.full((2, 2), np.nan), columns=["a", "b"])):
        assert "fewer than two" in roles.title_of(compared.agreement(values, "Edges"))


def test_methods_of_the_same_name_stay_apart():
    figure = compared.agreement(pd.DataFrame(np.eye(2), columns=["x" * 50 + "1", "x" * 50 + "2"]), "Edges")
    assert len(set(figure.data[0].x)) == 2


def test_time_and_f1_tell_controls_from_methods():
    rows = pd.DataFrame(
        {
            "name": ["one", "sorted", "none"],
            "seconds": [20.0, 0.0, 3.0],
            "f1": [0.9, 0.7, np.nan],
            "is_control": [False, True, False],
        }
    )
    figure = compared.time_and_f1(rows)
    assert roles.title_of(figure) == "one has the highest F1, 0.90, in 20 s"
    assert [list(part.text) for part in figure.data] == [["one"], ["sorted"]]
    assert figure.data[1].marker.symbol == "circle-open" and all(part.x[0] > 0 for part in figure.data)
    assert roles.title_of(compared.time_and_f1(rows.assign(f1=np.nan))) == "No method has an F1 yet"

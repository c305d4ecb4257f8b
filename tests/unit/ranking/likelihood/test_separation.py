"""Blocks and islands of random graphs against scipy's."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from imarena.ranking import islands_of
from imarena.ranking.likelihood import separation

EDGES = st.integers(1, 12).flatmap(
    lambda m: st.tuples(st.just(m), st.lists(st.tuples(st.integers(0, m - 1), st.integers(0, m - 1)), max_size=3 * m))
)


def _columns(m: int, edges: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray, coo_matrix]:
    head, tail = np.array(edges, np.int64).reshape(-1, 2).T
    return head, tail, coo_matrix((np.ones(head.size), (head, tail)), shape=(m, m))


@given(EDGES)
def test_islands_are_the_components_that_scipy_finds(case: tuple[int, list[tuple[int, int]]]) -> None:
    m, edges = case
    left, right, graph = _columns(m, edges)
    expected = connected_components(graph, directed=False)[1]
    assert islands_of(left, right, m).tolist() == expected.tolist()
    assert islands_of(np.repeat(left, 40), np.repeat(right, 40), m).tolist() == expected.tolist()


@given(EDGES)
def test_dense_and_sparse_search_find_the_strong_components_of_scipy(case: tuple[int, list[tuple[int, int]]]) -> None:
    m, edges = case
    head, tail, graph = _columns(m, edges)
    number, expected = connected_components(graph, directed=True, connection="strong")
    for models in (m, separation._MOST_DENSE + m):
        n, block = separation._strong_blocks(head, tail, models)
        assert n == number + models - m
        assert ((block[:m, None] == block[None, :m]) == (expected[:, None] == expected)).all()

"""Several instructions as one (table 5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.instructions import CONNECTORS, join_instructions

STEPS = ("Remove the red cup.", "Add a dog.", "Change the number of chairs to 3.")


def test_each_connector_in_words() -> None:
    assert join_instructions(STEPS) == "Remove the red cup. Add a dog. Change the number of chairs to 3."
    assert join_instructions(STEPS, "sequential") == (
        "First, remove the red cup, then, add a dog, last, change the number of chairs to 3."
    )
    assert join_instructions(STEPS, "keep-unchanged", unchanged=("blue bowl", "lamp")) == (
        "Remove the red cup. Add a dog. Change the number of chairs to 3. Keep the blue bowl and the lamp unchanged."
    )
    assert join_instructions(STEPS, "keep-unchanged") == join_instructions(STEPS)


def test_a_shuffle_is_fixed_by_its_key() -> None:
    orders = {join_instructions(STEPS, "shuffle", key=str(key)) for key in range(60)}
    assert len(orders) == 6
    assert join_instructions(STEPS, "shuffle", key="a") == join_instructions(STEPS, "shuffle", key="a")


@pytest.mark.parametrize("connector", list(CONNECTORS))
@given(steps=st.lists(st.sampled_from(STEPS), min_size=1, max_size=5, unique=True))
def test_nothing_is_lost(connector: str, steps: list[str]) -> None:
    known = next(name for name in CONNECTORS if name == connector)
    joined = join_instructions(steps, known, key="k", unchanged=("lamp",)).lower()
    assert all(step.lower().rstrip(".") in joined for step in steps)
    assert joined.endswith(".")

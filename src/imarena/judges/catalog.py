"""Every judge by name, with its module, needs and scores. To add a judge, add an entry to catalog.yaml and a module."""

from collections.abc import Callable, Mapping
from typing import Literal

from pydantic import Field, JsonValue, TypeAdapter

from imarena.core import Chat, FrozenModel, Judge, Registry, adapt_judge, package_yaml

MakeJudge = Callable[[Mapping[str, JsonValue], Chat | None], Judge]
"""Makes a judge from its options and, for judges that ask a model, a chat."""

Shape = Literal["pointwise", "pairwise", "both"]
Need = Literal["nothing", "chat", "optional_chat", "vision", "records"]


class JudgeCard(FrozenModel):
    """What a user needs to know to choose a judge."""

    path: str
    shape: Shape
    needs: Need
    about: str
    scale: tuple[int | float, int | float] | None = None
    """Lowest and highest headline score; None for a preference or a score without bounds."""
    dimension: str = "overall"
    """What a verdict is about. Boards use `overall` unless another dimension is asked for."""
    cannot_judge: tuple[str, ...] = ()
    """What the judge cannot see; printed with every board made from its verdicts."""
    presets: Mapping[str, str] = Field(default_factory=dict)
    """Value of the option `preset` -> model name."""
    default_model: str = ""
    """The model to ask for when an address is given without a model."""


CARDS: Mapping[str, JudgeCard] = TypeAdapter(dict[str, JudgeCard]).validate_python(
    package_yaml("imarena.judges", "catalog.yaml")
)


def adapt_judge_maker(name: str, make: MakeJudge) -> MakeJudge:
    """Wrap a judge maker so that its judges implement the whole port, whatever a plug-in returns."""

    def make_adapted(options: Mapping[str, JsonValue], chat: Chat | None) -> Judge:
        return adapt_judge(make(options, chat), name)

    return make_adapted


JUDGES: Registry[MakeJudge] = Registry("judge", {name: card.path for name, card in CARDS.items()}, adapt_judge_maker)

"""Every judge by name: where it lives, what it needs, what it gives. Add an entry to catalog.yaml, and a file."""

from collections.abc import Callable, Mapping
from typing import Literal

from pydantic import Field, JsonValue, TypeAdapter

from imarena.core import Chat, Judge, Noun, Registry, adapt_judge, package_yaml

MakeJudge = Callable[[Mapping[str, JsonValue], Chat | None], Judge]
"""Options and, for judges that ask a model, a chat in; a judge out."""

Shape = Literal["pointwise", "pairwise", "both"]
Need = Literal["nothing", "chat", "optional_chat", "vision", "records"]


class JudgeCard(Noun):
    """What a user has to know to choose a judge."""

    path: str
    shape: Shape
    needs: Need
    about: str
    scale: tuple[int | float, int | float] | None = None
    """Lowest and highest headline score; None for a preference or a score without bounds."""
    dimension: str = "overall"
    """What a verdict is about. Only `overall` enters a board that nobody asked for by its dimension."""
    cannot_judge: tuple[str, ...] = ()
    """What it does not see: a board by its verdicts says so. For `builtin`: what pixels and words do not show."""
    presets: Mapping[str, str] = Field(default_factory=dict)
    """The option `preset` to the model that it names."""
    default_model: str = ""
    """The model that is asked for where an address is given without one."""


CARDS: Mapping[str, JudgeCard] = TypeAdapter(dict[str, JudgeCard]).validate_python(
    package_yaml("imarena.judges", "catalog.yaml")
)


def adapt_judge_maker(name: str, make: MakeJudge) -> MakeJudge:
    """The maker of a judge whose products have the whole port, whatever a plug-in returns."""

    def made(options: Mapping[str, JsonValue], chat: Chat | None) -> Judge:
        return adapt_judge(make(options, chat), name)

    return made


JUDGES: Registry[MakeJudge] = Registry("judge", {name: card.path for name, card in CARDS.items()}, adapt_judge_maker)

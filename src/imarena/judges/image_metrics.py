"""SSIM and shift-tolerant LPIPS as judges: how little an output differs from its source.

They are baselines for judges of visual consistency and are highest for an editor that returns its input. So they are
recorded under that dimension and never enter a board about overall quality.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from imarena.core import Chat, Exhibit, InvalidImage, JudgeTraits, UserError, Verdict, command_line
from imarena.core.records import FrozenModel, JsonDict, Status
from imarena.images import pixels
from imarena.judges.options import read_judge_options
from imarena.vision import METRICS


class NoSettings(FrozenModel):
    """A metric has no settings."""


@dataclass(frozen=True)
class MetricJudge:
    """Scores one output; higher means closer to the source."""

    name: Literal["ssim", "st-lpips"]
    version: str = "1"
    prompt_id: str = ""
    prompt_version: str = ""
    traits: JudgeTraits = JudgeTraits(needs_source=True, cpu_bound=True, seconds=0.2)

    @property
    def params(self) -> JsonDict:
        return {}

    async def judge(self, exhibit: Exhibit) -> Verdict:
        """Compare `exhibit.left` with the first source; an image that cannot be measured gives a status."""
        if exhibit.right is not None:
            raise UserError(
                f"{self.name} scores one output and got two.", hint=f"Use it with `{command_line('judge')}`."
            )
        if not exhibit.sources:
            raise UserError(f"{self.name} compares with a source and there is none.", hint="Use another judge.")
        return await asyncio.to_thread(self._score, exhibit)

    def _score(self, exhibit: Exhibit) -> Verdict:
        try:
            value = METRICS.get(self.name)(pixels(exhibit.left), pixels(exhibit.sources[0]))
        except InvalidImage as error:
            return Verdict(Status.INVALID_IMAGE, error=str(error))
        except UserError as error:  # too small for the network
            return Verdict(Status.REFUSED, error=str(error).partition("\n")[0])
        return Verdict(Status.OK, score=-value if self.name == "st-lpips" else value, scores={self.name: value})


def make_ssim(options: Mapping[str, JsonValue], chat: Chat | None) -> MetricJudge:  # noqa: ARG001
    """A judge that gives the SSIM with the source."""
    read_judge_options(NoSettings, options, "ssim")
    return MetricJudge("ssim")


def make_st_lpips(options: Mapping[str, JsonValue], chat: Chat | None) -> MetricJudge:  # noqa: ARG001
    """A judge that gives minus the shift-tolerant LPIPS to the source."""
    read_judge_options(NoSettings, options, "st-lpips")
    return MetricJudge("st-lpips")

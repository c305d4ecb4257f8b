"""The network of `pvc-small`: how much an edit damaged what it should have left alone.

It sees a source and an output, and nothing of the instruction or of the edited region: it learns to tell the intended
edit (one coherent, strong change) from damage, and scores the damage outside. A pair is decided by the difference of
two scores, so that swapping the sides mirrors the answer exactly. This file needs torch alone.
"""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

POOLED = 48
"""Sides must be multiples of this, and 128 at least."""


class Residual(nn.Module):  # type: ignore[misc]
    """A wide depthwise convolution and a two-layer mix of the channels, added to what came in."""

    def __init__(self, channels: int, dilation: int = 1) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 5, padding=2 * dilation, dilation=dilation, groups=channels, bias=False),
            nn.BatchNorm2d(channels),
            nn.Conv2d(channels, 2 * channels, 1),
            nn.ReLU(),
            nn.Conv2d(2 * channels, channels, 1),
        )

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """The same shape."""
        mixed: torch.Tensor = self.body(features)
        return features + mixed


def _halve(inside: int, outside: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inside, outside, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(outside), nn.ReLU()
    )


class DamageNetwork(nn.Module):  # type: ignore[misc]
    """Source and output (n, 3, height, width), 0 to 1, in; the damage score (n,) and the edit's logits out.

    The score rises with damage: about 2 ln(1 + level) where one kind of damage was done. The logits (n, 1, height / 8,
    width / 8) say where the edit seems to be.
    """

    def __init__(self) -> None:
        super().__init__()
        self.eighth = nn.Sequential(_halve(9, 12), _halve(12, 32), _halve(32, 64), Residual(64), Residual(64))
        self.context = nn.Sequential(
            _halve(64, 96), Residual(96), _halve(96, 96), Residual(96), Residual(96, 2), Residual(96, 4)
        )
        self.whole = nn.Linear(96, 96)
        self.narrow = nn.Conv2d(96, 48, 1)
        self.edit = nn.Sequential(nn.Conv2d(64 + 48, 48, 1), nn.ReLU(), nn.Conv2d(48, 1, 1))
        self.damage = nn.Sequential(nn.Conv2d(64 + 48, 64, 1), nn.ReLU(), nn.Conv2d(64, POOLED, 1), nn.Softplus())
        self.score = nn.Sequential(nn.Linear(3 * POOLED + 1, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, source: torch.Tensor, output: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The score and the edit's logits."""
        apart = output - source
        near = self.eighth(torch.cat([source - 0.5, 4.0 * apart, torch.sqrt(apart.abs() + 1e-4) * 2.0], 1))
        far = self.context(near)
        far = far + self.whole(far.mean((2, 3)))[:, :, None, None]
        wide = functional.interpolate(self.narrow(far), scale_factor=4.0, mode="nearest")
        both = torch.cat([near, wide], 1)
        logits = self.edit(both)
        rest = 1.0 - torch.sigmoid(logits)
        harm = self.damage(both)
        share = rest.mean((2, 3))
        middle = (harm * rest).mean((2, 3)) / (share + 0.02)
        strong = ((harm * rest) ** 4).mean((2, 3)).clamp(min=1e-12) ** 0.25
        most = functional.max_pool2d(functional.avg_pool2d(harm * rest, 4), 4).amax((2, 3))
        pooled = torch.cat([torch.log(middle + 1e-3), torch.log(strong + 1e-3), torch.log(most + 1e-3), share], 1)
        score: Any = self.score(pooled)
        return score[:, 0], logits

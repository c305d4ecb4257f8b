"""The image encoder of MobileSAM: TinyViT (Wu et al. 2022), which transformers does not have.

Its parts have the names of the released weights. A stage is described by its width, its number of blocks, its
attention heads and its window; the first stage has convolutions only. This module imports torch: import it late.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


@dataclass(frozen=True)
class TinyVitStage:
    """One stage of the encoder."""

    width: int
    blocks: int
    heads: int
    window: int
    halves: bool
    """Is the resolution halved after this stage?"""


_HALVING_STAGES = 2
"""MobileSAM halves the resolution after the first two stages only: 1024 pixels become a map of 64 by 64."""
_BLOCK = re.compile(r"layers\.(\d+)\.blocks\.(\d+)\.(?:attn\.attention_biases|conv1\.c\.weight)")


def stages_of(tensors: Mapping[str, Any]) -> tuple[TinyVitStage, ...]:
    """Derive the stages from the tensors of an encoder, by their names."""
    blocks: dict[int, list[Any]] = {}
    for name, value in tensors.items():
        match = _BLOCK.fullmatch(name)
        if match is not None:
            blocks.setdefault(int(match[1]), []).append(value)
    stages = [TinyVitStage(tensors["layers.0.blocks.0.conv1.c.weight"].shape[1], len(blocks[0]), 1, 1, halves=True)]
    for at in range(1, len(blocks)):
        width = tensors[f"layers.{at}.blocks.0.attn.proj.weight"].shape[0]
        heads, distances = blocks[at][0].shape
        stages.append(TinyVitStage(width, len(blocks[at]), heads, math.isqrt(distances), at < _HALVING_STAGES))
    return tuple(stages)


def _conv(inner: int, outer: int, kernel: int = 1, stride: int = 1, groups: int = 1) -> Any:
    """A convolution and its normalisation, under the names `c` and `bn`."""
    layers = nn.Sequential()
    layers.add_module("c", nn.Conv2d(inner, outer, kernel, stride, kernel // 2, groups=groups, bias=False))
    layers.add_module("bn", nn.BatchNorm2d(outer))
    return layers


class _ConvBlock(nn.Module):  # type: ignore[misc]
    """An inverted bottleneck with a residual."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1, self.conv2 = _conv(width, 4 * width), _conv(4 * width, 4 * width, 3, groups=4 * width)
        self.conv3 = _conv(4 * width, width)

    def forward(self, maps: Any) -> Any:
        gelu = nn.functional.gelu
        return gelu(maps + self.conv3(gelu(self.conv2(gelu(self.conv1(maps))))))


class _Merging(nn.Module):  # type: ignore[misc]
    """Maps one stage's width to the next one's."""

    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.conv2 = _conv(inner, outer), _conv(outer, outer, 3, stride, groups=outer)
        self.conv3 = _conv(outer, outer)

    def forward(self, maps: Any) -> Any:
        gelu = nn.functional.gelu
        return self.conv3(gelu(self.conv2(gelu(self.conv1(maps)))))


class _Attention(nn.Module):  # type: ignore[misc]
    """Attention inside a window; the bias depends on how far apart two pixels are, along each axis."""

    def __init__(self, width: int, heads: int, window: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm, self.qkv, self.proj = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.attention_biases = nn.Parameter(torch.zeros(heads, window * window))
        steps = torch.arange(window)
        rows, columns = (axis.flatten() for axis in torch.meshgrid(steps, steps, indexing="ij"))
        apart = (rows[:, None] - rows).abs() * window + (columns[:, None] - columns).abs()
        self.register_buffer("distances", apart, persistent=False)

    def forward(self, tokens: Any) -> Any:
        count, length, width = tokens.shape
        parts = self.qkv(self.norm(tokens)).view(count, length, self.heads, 3, width // self.heads)
        query, key, value = parts.permute(3, 0, 2, 1, 4)
        bias = self.attention_biases[:, self.distances].to(query.dtype)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        return self.proj(mixed.transpose(1, 2).reshape(count, length, width))


class _Mlp(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.fc1, self.fc2 = (
            nn.LayerNorm(width),
            nn.Linear(width, 4 * width),
            nn.Linear(4 * width, width),
        )

    def forward(self, tokens: Any) -> Any:
        return self.fc2(nn.functional.gelu(self.fc1(self.norm(tokens))))


class _AttentionBlock(nn.Module):  # type: ignore[misc]
    """Attention in windows, a small convolution, an MLP. The map is padded with zeros to whole windows."""

    def __init__(self, width: int, heads: int, window: int) -> None:
        super().__init__()
        self.window = window
        self.attn, self.mlp = _Attention(width, heads, window), _Mlp(width)
        self.local_conv = _conv(width, width, 3, groups=width)

    def forward(self, maps: Any) -> Any:
        count, width, height, breadth = maps.shape
        side = self.window
        padded = nn.functional.pad(maps, (0, -breadth % side, 0, -height % side))
        rows, columns = padded.shape[2] // side, padded.shape[3] // side
        windows = padded.view(count, width, rows, side, columns, side).permute(0, 2, 4, 3, 5, 1)
        mixed = self.attn(windows.reshape(-1, side * side, width))
        mixed = mixed.view(count, rows, columns, side, side, width).permute(0, 5, 1, 3, 2, 4)
        maps = maps + mixed.reshape(padded.shape)[:, :, :height, :breadth]
        maps = self.local_conv(maps)
        return maps + self.mlp(maps.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class _Stage(nn.Module):  # type: ignore[misc]
    def __init__(self, stage: TinyVitStage, following: TinyVitStage | None, *, convolutions: bool) -> None:
        super().__init__()
        blocks = [
            _ConvBlock(stage.width) if convolutions else _AttentionBlock(stage.width, stage.heads, stage.window)
            for _ in range(stage.blocks)
        ]
        self.blocks = nn.ModuleList(blocks)
        if following is not None:
            self.downsample = _Merging(stage.width, following.width, 2 if stage.halves else 1)

    def forward(self, maps: Any) -> Any:
        for block in self.blocks:
            maps = block(maps)
        return self.downsample(maps) if hasattr(self, "downsample") else maps


class _ChannelNorm(nn.Module):  # type: ignore[misc]
    """Layer normalisation over the channels of a map."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))

    def forward(self, maps: Any) -> Any:
        last = maps.permute(0, 2, 3, 1)
        normal = nn.functional.layer_norm(last, last.shape[-1:], self.weight, self.bias, 1e-6)
        return normal.permute(0, 3, 1, 2)


class TinyViT(nn.Module):  # type: ignore[misc]
    """The encoder: images (n, 3, s, s) to maps (n, channels, s / 16, s / 16), alone in a tuple."""

    def __init__(self, stages: Sequence[TinyVitStage], channels: int) -> None:
        super().__init__()
        first = stages[0].width
        self.patch_embed = nn.Module()
        self.patch_embed.seq = nn.Sequential(_conv(3, first // 2, 3, 2), nn.GELU(), _conv(first // 2, first, 3, 2))
        following = [*stages[1:], None]
        self.layers = nn.ModuleList(
            _Stage(stage, after, convolutions=at == 0)
            for at, (stage, after) in enumerate(zip(stages, following, strict=True))
        )
        self.neck = nn.Sequential(
            nn.Conv2d(stages[-1].width, channels, 1, bias=False),
            _ChannelNorm(channels),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            _ChannelNorm(channels),
        )

    def forward(self, images: Any, **_: Any) -> tuple[Any]:
        maps = self.patch_embed.seq(images)
        for layer in self.layers:
            maps = layer(maps)
        return (self.neck(maps),)

"""Small autoencoders that pass a whole picture through a narrow code, as real editors do.

An editor that works in a latent space gives every pixel back a little differently, and noise in the code comes back as
redrawn detail. Three of them, with codes of different width, are trained on the pictures of the stock before
`pvc-small` itself, and are thrown away afterwards. This file needs torch alone.
"""

import time
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from tools.pvc_small.network import Residual
from tools.pvc_small.synthesis import Dice, Stock

WIDTHS = (4, 8, 16)
"""Channels of the codes, each at an eighth of the picture's size."""
_CROP = 256
_BATCH = 16


class Autoencoder(nn.Module):  # type: ignore[misc]
    """A picture (n, 3, height, width) to a code and back; each channel of the code has variance 1."""

    def __init__(self, width: int) -> None:
        super().__init__()
        down = [_layer(3, 32), Residual(32), _layer(32, 64), Residual(64), _layer(64, 96), Residual(96)]
        self.encoder = nn.Sequential(*down, nn.Conv2d(96, width, 1), nn.BatchNorm2d(width, affine=False))
        up = [nn.Conv2d(width, 96, 3, padding=1), Residual(96), Residual(96), *_raise(96, 64), *_raise(64, 32)]
        self.decoder = nn.Sequential(*up, *_raise(32, 24), nn.Conv2d(24, 3, 3, padding=1))

    def forward(self, picture: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        """The picture given back; `noise` (n,) is the standard deviation of what is added to the code."""
        code = self.encoder(picture - 0.5)
        given: torch.Tensor = self.decoder(code + noise[:, None, None, None] * torch.randn_like(code)) + 0.5
        return given


def _layer(inside: int, outside: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inside, outside, 3, stride=2, padding=1), nn.ReLU())


def _raise(inside: int, outside: int) -> tuple[nn.Module, ...]:
    return nn.Upsample(scale_factor=2), nn.Conv2d(inside, outside, 3, padding=1), nn.ReLU(), Residual(outside)


def train_encoders(
    stock: Stock, dice: Dice, seconds: float, steps: int, tell: Callable[[str], object]
) -> list[Autoencoder]:
    """One autoencoder for each width, trained for `seconds` or `steps`, whichever ends first."""
    networks = [Autoencoder(width).to(dice.device) for width in WIDTHS]
    optimiser = torch.optim.AdamW([p for network in networks for p in network.parameters()], lr=2e-3)
    start, step, off = time.monotonic(), 0, torch.zeros(())
    while step < steps and time.monotonic() - start < seconds:
        done = max(step / steps, (time.monotonic() - start) / seconds)
        for group in optimiser.param_groups:
            group["lr"] = 2e-3 * (1.0 - done) + 1e-5
        shown = _crops(stock, dice)
        noise = dice.uniform(shown.shape[0]) * 0.3
        parts = [_off(network(shown, noise), shown) for network in networks]
        off = torch.stack(parts)
        optimiser.zero_grad(set_to_none=True)
        off.sum().backward()
        optimiser.step()
        step += 1
    tell(f"autoencoders: {step} steps, loss {[round(float(v), 4) for v in off.detach().flatten()]}")
    return [network.eval().requires_grad_(False) for network in networks]


def _crops(stock: Stock, dice: Dice) -> torch.Tensor:
    pictures = stock.photo if dice.plain.random() < 0.75 else stock.studio
    shown = pictures[dice.below(_BATCH, pictures.shape[0])]
    side = min(_CROP, shown.shape[1])
    top, left = (int(dice.plain.integers(full - side + 1)) for full in shown.shape[1:3])
    return shown[:, top : top + side, left : left + side].permute(0, 3, 1, 2).float() / 255.0


def _off(given: torch.Tensor, shown: torch.Tensor) -> torch.Tensor:
    """How far what came back is from what was shown: values, and steps between neighbours."""
    apart = given - shown
    steps = apart.diff(dim=2).abs().mean() + apart.diff(dim=3).abs().mean()
    return apart.abs().mean() + steps + 2.0 * functional.avg_pool2d(apart, 8).abs().mean()


class Recoder:
    """Passes images (n, height, width, 3), 0 to 1, through one of the autoencoders."""

    def __init__(self, networks: list[Autoencoder]) -> None:
        self._networks = networks

    def __call__(self, images: torch.Tensor, noise: torch.Tensor, which: int) -> torch.Tensor:
        """The images as they come back; sides must be multiples of 8."""
        network = self._networks[which % len(self._networks)]
        return network(images.permute(0, 3, 1, 2), noise).permute(0, 2, 3, 1).clamp(0, 1)

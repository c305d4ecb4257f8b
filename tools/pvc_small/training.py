"""Training of `pvc-small`: pairs made on the device, one loss for the pair and two that help it.

The pair: softplus of the better candidate's score minus the worse one's. The helpers: where the edit is (the known
region) and how strong the damage is. This file needs torch and NumPy alone.
"""

import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from tools.pvc_small.encoders import Recoder, train_encoders
from tools.pvc_small.network import DamageNetwork
from tools.pvc_small.packing import packed_sha256
from tools.pvc_small.synthesis import Candidates, Dice, Synthesis, load_stock

SIZES = ((512, 512), (512, 512), (384, 512), (512, 384), (448, 448))


@dataclass(frozen=True)
class TrainingPlan:
    """Everything that a run depends on beside the pictures."""

    seed: int = 18
    groups: int = 8
    group_size: int = 5
    steps: int = 100_000
    encoder_seconds: float = 90.0
    """For the autoencoders that imitate an editor's encoding."""
    encoder_steps: int = 100_000
    minutes: float = 7.0
    """The learning rate follows the clock: it ends at 0 when the time or the steps are used up."""
    peak_rate: float = 2e-3
    weight_decay: float = 0.02
    region_weight: float = 0.4
    level_weight: float = 0.1
    test_pairs: int = 32
    """For each kind and level; 0 leaves the test out."""


def _planes(images: torch.Tensor) -> torch.Tensor:
    return images.permute(0, 3, 1, 2).contiguous()


def _losses(
    network: DamageNetwork, pairs: list[tuple[Candidates, Candidates, bool]], plan: TrainingPlan
) -> tuple[torch.Tensor, dict[str, float]]:
    both = [side for pair in pairs for side in pair[:2]]
    source, output, region = (torch.cat([getattr(c, name) for c in both]) for name in ("source", "output", "region"))
    level = torch.cat([c.level for c in both])
    told = torch.cat([torch.full_like(c.level, float(pair[2])) for pair in pairs for c in pair[:2]])
    with torch.autocast(source.device.type, torch.bfloat16, enabled=source.is_cuda):
        score, logits = network(_planes(source), _planes(output))
    score, logits = score.float(), logits.float()
    n = pairs[0][0].level.shape[0]
    sides = score.reshape(len(pairs), 2, n)
    pair_loss = functional.softplus(sides[:, 0] - sides[:, 1]).mean()
    wanted = functional.avg_pool2d(_planes(region), 8)
    region_loss = functional.binary_cross_entropy_with_logits(logits, wanted)
    off = functional.smooth_l1_loss(score, 2.0 * torch.log1p(level), reduction="none")
    level_loss = (off * told).sum() / told.sum().clamp(min=1)
    loss = pair_loss + plan.region_weight * region_loss + plan.level_weight * level_loss
    right = (sides[:, 1] > sides[:, 0]).float().mean()
    parts = {"pair": pair_loss, "region": region_loss, "level": level_loss, "right": right}
    return loss, {name: float(value.detach()) for name, value in parts.items()}


def accuracy_by_level(network: Any, synthesis: Synthesis, kinds: list[str], pairs: int) -> dict[str, list[float]]:
    """For each kind, the share of pairs decided rightly at levels 1 to 10; equal scores count half."""
    found: dict[str, list[float]] = {}
    batch = min(8, pairs)
    for kind in kinds:
        found[kind] = []
        for level in range(1, 11):
            right = total = 0.0
            while total < pairs:
                clean, damaged = synthesis.test_pair(kind, float(level), batch)
                scores = []
                for side in (clean, damaged):
                    output = torch.round(side.output * 255) / 255
                    scores.append(network(_planes(side.source), _planes(output))[0])
                right += float((scores[1] > scores[0]).sum() + 0.5 * (scores[1] == scores[0]).sum())
                total += batch
            found[kind].append(round(right / total, 4))
    return found


def _rate(plan: TrainingPlan, done: float) -> float:
    return plan.peak_rate * min(1.0, done / 0.04) * 0.5 * (1 + math.cos(math.pi * min(1.0, done)))


def train_network(
    train: Path, test: Path, out: Path, plan: TrainingPlan, device: str = "cpu", tell: Callable[[str], object] = str
) -> DamageNetwork:
    """Train, test by kind and level, and write weights.npz, curves.json and the log into `out`."""
    torch.manual_seed(plan.seed)
    out.mkdir(parents=True, exist_ok=True)
    network = DamageNetwork().to(device)
    if device != "cpu":
        network = network.to(memory_format=torch.channels_last)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    decayed = [p for p in network.parameters() if p.ndim > 1]
    others = [p for p in network.parameters() if p.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": plan.weight_decay}, {"params": others, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=plan.peak_rate)
    mean_network: DamageNetwork = DamageNetwork().to(device)
    mean_network.load_state_dict(network.state_dict())
    stock, dice = load_stock(train, torch, device), Dice(plan.seed, torch, device)
    encoders = train_encoders(stock, dice, plan.encoder_seconds, plan.encoder_steps, tell)
    synthesis = Synthesis(stock, dice, Recoder(encoders))
    start, curve, parts = time.monotonic(), [], []
    step = 0
    while step < plan.steps and time.monotonic() - start < 60 * plan.minutes:
        done = max(step / plan.steps, (time.monotonic() - start) / (60 * plan.minutes))
        for group in optimiser.param_groups:
            group["lr"] = _rate(plan, done)
        size = SIZES[int(synthesis.dice.plain.integers(len(SIZES)))]
        with torch.no_grad():
            pairs = [synthesis.training_pair(plan.group_size, size) for _ in range(plan.groups)]
        loss, told = _losses(network, pairs, plan)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 2.0)
        optimiser.step()
        _follow(mean_network, network, min(0.998, (1 + step) / (10 + step)))
        parts.append(told)
        step += 1
        if step % 100 == 0 or step == plan.steps:
            means = {name: round(float(np.mean([p[name] for p in parts])), 4) for name in told}
            curve.append({"step": step, "seconds": round(time.monotonic() - start, 1), **means})
            tell(json.dumps(curve[-1]))
            parts = []
            save_weights(mean_network, out / "weights.npz")
            (out / "curves.json").write_text(json.dumps({"plan": asdict(plan), "training": curve}))
    report: dict[str, Any] = {"plan": asdict(plan), "device": device, "steps": step, "training": curve}
    report["data_sha256"] = {name: _content_hash(file) for name, file in (("train", train), ("test", test))}
    save_weights(mean_network, out / "weights.npz")
    (out / "curves.json").write_text(json.dumps(report))
    mean_network.eval()
    if not plan.test_pairs:
        return mean_network
    tester = Synthesis(load_stock(test, torch, device), Dice(plan.seed + 1, torch, device))
    for name, held_out in (("trained", False), ("held_out", True)):
        kinds = tester.stock.kind_names(held_out=held_out)
        with torch.no_grad():
            table = accuracy_by_level(mean_network, tester, kinds, plan.test_pairs)
        report[name] = table
        upper = float(np.mean([row[5:] for row in table.values()]))
        tell(f"{name}: {upper:.4f} over the upper half {json.dumps(table)}")
        (out / "curves.json").write_text(json.dumps(report))
    return mean_network


def _content_hash(file: Path) -> str:
    with np.load(file, allow_pickle=False) as archive:
        return packed_sha256({name: archive[name] for name in archive.files})


def _follow(mean: DamageNetwork, network: DamageNetwork, keep: float) -> None:
    """The running mean of the weights."""
    with torch.no_grad():
        for ours, theirs in zip(mean.state_dict().values(), network.state_dict().values(), strict=True):
            if ours.dtype.is_floating_point:
                ours.lerp_(theirs, 1.0 - keep)
            else:
                ours.copy_(theirs)


def save_weights(network: DamageNetwork, file: Path) -> None:
    """The weights as arrays by name."""
    np.savez(file, **{name: value.cpu().numpy() for name, value in network.state_dict().items()})


def load_weights(file: Path) -> DamageNetwork:
    """The network with saved weights, ready to use."""
    network = DamageNetwork()
    with np.load(file) as arrays:
        network.load_state_dict({name: torch.from_numpy(arrays[name]) for name in arrays.files})
    network.eval()
    return network

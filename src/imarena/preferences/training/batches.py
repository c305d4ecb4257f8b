"""Batches of training examples as the inputs of a Qwen-VL model."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from imarena.preferences.training.examples import TrainingExample
from imarena.vision import QwenChat, chat_images

IGNORED = -100
"""Label of a token that the model does not have to write."""
END = "<|im_end|>"


@dataclass(frozen=True)
class TrainingBatch:
    """`inputs` of the model, `labels` (n, length), and the total number of tokens."""

    inputs: dict[str, Any]
    labels: Any
    tokens: int


def make_batch(
    processor: QwenChat, examples: Sequence[TrainingExample], answers: Sequence[str], *, token_types: bool
) -> TrainingBatch:
    """One batch, padded on the right: a causal model does not see later tokens."""
    import torch

    rows, starts, image_lists = [], [], []
    for example, answer in zip(examples, answers, strict=True):
        chat = example.chat()
        text = processor.render(chat, add_generation_prompt=True)
        images, filled = processor.images(chat_images(chat), text)
        prompt_ids = processor.tokenizer(filled, add_special_tokens=False)["input_ids"]
        reply = processor.tokenizer(answer + END, add_special_tokens=False)["input_ids"]
        rows.append([*prompt_ids, *reply])
        starts.append(len(prompt_ids))
        image_lists.append(images)
    longest = max(len(row) for row in rows)
    padding = processor.tokenizer.pad_token_id or 0
    ids = torch.full((len(rows), longest), padding, dtype=torch.long)
    mask = torch.zeros((len(rows), longest), dtype=torch.long)
    labels = torch.full((len(rows), longest), IGNORED, dtype=torch.long)
    for at, (row, start) in enumerate(zip(rows, starts, strict=True)):
        ids[at, : len(row)] = torch.tensor(row)
        mask[at, : len(row)] = 1
        labels[at, start : len(row)] = torch.tensor(row[start:])
    inputs = {"input_ids": ids, "attention_mask": mask}
    pictured = [images for images in image_lists if images]
    for name in ("pixel_values", "image_grid_thw") if pictured else ():
        inputs[name] = torch.cat([images[name] for images in pictured])
    if token_types:
        inputs["mm_token_type_ids"] = (ids == processor.image_token_id).int() * mask.int()
    return TrainingBatch(inputs, labels, int(mask.sum()))


def batch_order(count: int, batch_size: int, epoch: int, seed: int) -> list[list[int]]:
    """The examples of each batch of one epoch, in an order given by seed and epoch. The last batch may be smaller."""
    order = np.random.default_rng([seed, epoch]).permutation(count).tolist()
    return [order[start : start + batch_size] for start in range(0, count, batch_size)]


def read_ahead(makers: Sequence[Callable[[], TrainingBatch]]) -> Iterator[TrainingBatch]:
    """The batches in order; the next one is prepared while the current one is used."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        waiting = pool.submit(makers[0]) if makers else None
        for at in range(len(makers)):
            batch = waiting.result() if waiting is not None else makers[at]()
            waiting = pool.submit(makers[at + 1]) if at + 1 < len(makers) else None
            yield batch

"""Leave-one-out folds with the names of the raters left out, as `agree` and `align` report them."""

from dataclasses import dataclass
from typing import Any

from imarena.stats import Folds


@dataclass(frozen=True)
class LeaveOneOut:
    """One fold per rater, with averages and spreads; `raters` in the order of the folds."""

    folds: Folds
    raters: tuple[str, ...]
    bias_scale: str | None
    """The scale of the biases; None if judge and people share no scale, and then there is no bias."""

    @property
    def bias(self) -> float | None:
        """The mean bias over folds."""
        return self.folds.bias if self.bias_scale is not None else None

    @property
    def bias_spread(self) -> float | None:
        """Its standard deviation over folds."""
        return self.folds.bias_spread if self.bias_scale is not None else None

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        folds = self.folds
        return {
            "spearman": folds.spearman.value,
            "spearman_spread": folds.spearman_spread,
            "kendall_accuracy": folds.kendall_accuracy.value,
            "kendall_accuracy_spread": folds.kendall_accuracy_spread,
            "bias": self.bias,
            "bias_spread": self.bias_spread,
            "bias_scale": self.bias_scale,
            "method": folds.method,
            "average": folds.spearman.method,
            "spread": "population standard deviation over folds",
            "reason": folds.spearman.reason or None,
            "folds": [
                {
                    "left_out": self.raters[fold.rater],
                    "n": fold.n,
                    "spearman": fold.spearman.value,
                    "kendall_accuracy": fold.kendall_accuracy.value,
                    "bias": fold.bias if self.bias_scale is not None else None,
                    "reason": fold.spearman.reason or None,
                }
                for fold in folds.folds
            ],
        }

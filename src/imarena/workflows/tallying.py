"""Who won against whom how often."""

from dataclasses import dataclass

from imarena.workflows.battles import BattleTable


@dataclass
class Tallied:
    """How one model did against another, seen from the left one."""

    left: str
    right: str
    wins: int = 0
    losses: int = 0
    ties: int = 0
    both_bad: int = 0

    def add(self, winner: str, *, mirrored: bool) -> None:
        """Count one battle."""
        if winner in ("tie", "both_bad"):
            self.ties += winner == "tie"
            self.both_bad += winner == "both_bad"
        elif (winner == "left") != mirrored:
            self.wins += 1
        else:
            self.losses += 1


def matrix_of(table: BattleTable) -> tuple[Tallied, ...]:
    """Every two models that met, each pair once."""
    cells: dict[tuple[str, str], Tallied] = {}
    columns = table.columns
    for n in range(len(table)):
        left, right = columns["left"][n], columns["right"][n]
        key = (left, right) if left < right else (right, left)
        cell = cells.setdefault(key, Tallied(*key))
        cell.add(columns["winner"][n], mirrored=key != (left, right))
    return tuple(cells[key] for key in sorted(cells))

"""Wire types for viewers: leaderboards, battles, items, runs, judges."""

from typing import Literal

from imarena.core.records import Standing
from imarena.web.wire import NoticeOut, Picture, Wire


class Facets(Wire):
    """The possible values of a filter."""

    datasets: list[str]
    families: list[str]
    tasks: list[str]
    topics: list[str]
    tracks: list[str]
    editors: list[str]
    judges: list[str]
    dimensions: list[str]
    modes: list[str]


class StandingOut(Standing, Wire):
    """One model's place on a board."""

    coverage: float | None
    note: str
    """Reason for a missing interval: "fixed" for an anchored model."""


class Cell(Wire):
    """The results of one model against another."""

    left: str
    right: str
    wins: int
    losses: int
    ties: int
    both_bad: int


class BoardOut(Wire):
    """A leaderboard from the battles that match the filters."""

    method: str
    n_battles: int
    excluded: dict[str, int]
    left_out: list[str]
    """The same in words: battles and votes that do not count, one text per reason."""
    warnings: list[str]
    standings: list[StandingOut]
    matrix: list[Cell]
    reason: str
    """Reason for missing standings."""
    source: Literal["human", "judge", "all"] | str
    judge: str | None
    """Whose verdicts these are: as requested, or by default those that the board is made from."""
    verdicts: str
    """The same in words."""
    beside: str
    """What else the board can rank by, and how to choose it; empty: nothing else."""
    by_scores: int
    """Number of battles derived from two scores instead of a comparison."""
    resampled: str
    """What the intervals are computed from; empty if there are none."""
    notices: list[NoticeOut]
    """The warnings as data."""
    votes_withheld: bool
    """True if votes of campaigns that are still open are left out. Leads see them."""
    signature: str
    """One line with everything that affects the numbers of this board; `imarena signature` explains it."""


class RatingSnapshot(Wire):
    """A model's rating at a given time."""

    model: str
    rating: float
    rank: int


class BoardSnapshotOut(Wire):
    """The board at a given time, from the battles decided until then."""

    moment: str
    n_battles: int
    ratings: list[RatingSnapshot]


class RatingHistory(Wire):
    """Ratings over time, oldest first."""

    method: str
    points: list[BoardSnapshotOut]
    groups: list[list[str]]
    """The models of the newest board, best first, by group of models that met; the largest group first."""


class StoredBoard(Wire):
    """A stored board."""

    created_at: str
    method: str
    scope: dict[str, str]
    n_battles: int
    standings: list[StandingOut]


class StoredBoards(Wire):
    """Stored boards, newest first."""

    boards: list[StoredBoard]
    next_cursor: str | None


class HeadToHead(Wire):
    """Two models compared, in total and by task."""

    left: str
    right: str
    total: Cell
    by_task: dict[str, Cell]


class BattleOut(Wire):
    """Two outputs for one item, with counts of votes and judgments."""

    battle_id: str
    item_id: str
    instruction: str
    task: str | None
    left: str
    right: str
    left_id: str
    right_id: str
    votes: dict[str, int]
    judgments: dict[str, int]


class BattlePage(Wire):
    """Battles."""

    battles: list[BattleOut]
    total: int
    some_hidden: bool
    """True if battles on items that raters are working on are left out. Leads see them."""
    next_cursor: str | None


class VoteOut(Wire):
    """A person's verdict. The rater is a number that is valid on this page only."""

    rater: str
    created_at: str
    dimension: str
    preference: str | None
    ratings: dict[str, float]
    comment: str
    live: bool
    """Neither replaced nor withdrawn."""
    counts: bool
    reason: str
    """Why it does not count; empty if it counts."""


class JudgmentOut(Wire):
    """A judge's verdict with its raw reply."""

    judge: str
    dimension: str
    order: str | None
    status: str
    preference: str | None
    score: float | None
    scores: dict[str, float]
    reply: str | None
    error: str
    created_at: str
    counts: bool
    reason: str
    """Why it does not count; empty if it counts."""


class BattleDetail(Wire):
    """A battle with both images, every vote and every judgment."""

    battle: BattleOut
    sources: list[Picture]
    references: list[Picture]
    left: Picture | None
    right: Picture | None
    votes: list[VoteOut]
    judgments: list[JudgmentOut]


class ItemLine(Wire):
    """An item in a list."""

    item_id: str
    dataset: str
    key: str
    task: str | None
    family: str | None
    topic: str | None
    track: str | None
    instruction: str
    outputs: int
    picture: str | None


class ItemPage(Wire):
    """Items."""

    items: list[ItemLine]
    some_hidden: bool
    """True if items that raters are working on are left out. Leads see them."""
    next_cursor: str | None


class IssueOut(Wire):
    """An issue found by a rater."""

    kind: str
    label: str
    segment: int | None
    box: tuple[float, float, float, float] | None
    criterion: str | None
    note: str


class StepOut(Wire):
    """One step of an agent: understanding, planning, editing, judging or choosing."""

    stage: str
    by: str
    text: str
    status: str | None
    score: float | None
    picture: Picture | None
    details: dict[str, str]
    """All other trace notes, as text."""


class OutputOut(Wire):
    """The output of one editor for an item."""

    output_id: str
    editor: str | None
    turn: int
    mode: str
    sample: int
    status: str
    picture: Picture | None
    scores: dict[str, float]
    """Mean scores with status ok, by judge and dimension."""
    ratings: dict[str, float]
    """Mean live ratings by criterion."""
    issues: list[IssueOut]
    steps: list[StepOut]
    """An agent's trace; empty for other editors."""


class WordsOut(Wire):
    """Text in an image that addresses a judge."""

    output_id: str | None
    """None if the text is in a source."""
    kinds: list[str]
    text: str
    excuse: str
    """Position of the text in the source, if the editor did not add it."""


class ItemDetail(Wire):
    """An item with all its outputs."""

    item: ItemLine
    instructions: list[str]
    licence: str | None
    sources: list[Picture]
    references: list[Picture]
    outputs: list[OutputOut]
    words: list[WordsOut]


class EditorIssues(Wire):
    """Counts of issues that raters found in the outputs of one editor."""

    editor: str
    ratings: int
    objects: int
    segments: int
    """Segments that were clicked."""
    boxes: int
    new_image: int
    """Outputs that are a different picture, not an edit of the source."""
    returned_input: int
    """Outputs that equal the source."""
    other: int


class HeatMap(Wire):
    """Boxes drawn by raters, on a grid over the image: `cells[row][column]` counts the boxes that cover the cell."""

    editor: str | None
    rows: int
    columns: int
    boxes: int
    cells: list[list[int]]
    labels: dict[str, int]
    """How often each object was named."""
    editors: list[EditorIssues]


class RunOut(Wire):
    """One running or finished command."""

    run_id: str
    command: str
    state: Literal["running", "done", "partial", "failed"] | str
    created_at: str
    finished_at: str | None
    counts: dict[str, int]
    cost_usd: float


class RunPage(Wire):
    """Runs, newest first, with failures."""

    runs: list[RunOut]
    failures: dict[str, int]
    totals: dict[str, int]
    next_cursor: str | None


class JudgeHealthOut(Wire):
    """The figures of a judge, from its stored judgments. None: there are no data for a figure."""

    judge: str
    dimension: str
    ok: int
    failed: dict[str, int]
    both_orders: int
    order_agreement: float | None
    """Share of pairs judged in both orders where both verdicts agree."""
    first_share: float | None
    """Share of the first-shown side among the verdicts for a side."""
    tie_share: float | None
    with_people: float | None
    """Share of pairs where the judge agrees with the majority of people."""
    people_pairs: int
    cost_usd: float | None
    """None if hidden from visitors of a public board."""


class JudgePage(Wire):
    """Judges by name."""

    judges: list[JudgeHealthOut]
    next_cursor: str | None

"""A verdict that was changed in its file is not taken for the old one in silence."""

from pathlib import Path

from imarena.core.records import Outcome, Vote
from imarena.datasets.formats import READERS
from imarena.storage import Workspace
from imarena.workflows.exchange.importing import import_records
from tests import samples
from tests.command import Imarena


def test_a_vote_changed_in_its_row_is_told_and_the_first_stays(workspace: Workspace, tmp_path: Path) -> None:
    for number, editor in enumerate(("old", "new")):
        (tmp_path / "outputs" / editor).mkdir(parents=True)
        (tmp_path / "outputs" / editor / "cat.png").write_bytes(samples.png(number))
    (tmp_path / "items.csv").write_text("key,instruction\ncat,draw a cat\n")
    head = "key,left,right,winner,rater\n"
    votes = tmp_path / "votes.csv"
    votes.write_text(f"{head}cat,old,new,tie,ann\n")
    read = READERS.get("table")
    assert import_records(workspace, read, format_name="table", path=tmp_path).new["Vote"] == 1
    again = import_records(workspace, read, format_name="table", path=tmp_path)
    assert (again.new["Vote"], again.same["Vote"], again.skipped) == (0, 1, 0)
    votes.write_text(f"{head}cat,old,new,right,ann\ncat,old,new,left,bob\n")
    report = import_records(workspace, read, format_name="table", path=tmp_path)
    assert report.new["Vote"] == 1
    (skip,) = report.skips
    assert "ann" in skip.file + skip.row
    assert "stored already with another verdict" in skip.reason
    assert [vote.preference for vote in workspace.store.records(Vote)] == [Outcome.TIE, Outcome.LEFT]


def test_a_rater_who_voted_twice_on_a_pair_is_mentioned_and_every_row_counts(imarena: Imarena, tmp_path: Path) -> None:
    for number, editor in enumerate(("old", "new")):
        (tmp_path / "mine" / "outputs" / editor).mkdir(parents=True)
        (tmp_path / "mine" / "outputs" / editor / "cat.png").write_bytes(samples.png(number))
    (tmp_path / "mine" / "items.csv").write_text("key,instruction\ncat,draw a cat\n")
    rows = (
        "cat,old,new,left,ann",
        "cat,new,old,left,ann",
        "cat,old,new,left,bob",
        "cat,old,new,tie,",
        "cat,old,new,tie,",
    )
    (tmp_path / "mine" / "votes.csv").write_text("key,left,right,winner,rater\n" + "\n".join(rows) + "\n")
    imarena("init", "a")
    report = imarena("-w", "a", "--json", "import", "table", "mine").json
    (notice,) = [notice for notice in report["notices"] if notice["code"] == "votes_repeated"]
    assert notice["values"] == {"file": "votes.csv", "rows": 2, "subjects": 1}
    assert report["new"]["Vote"] == 5
    text = " ".join(imarena("-w", "a", "import", "table", "mine").out.split())
    assert "votes.csv: 2 rows are of raters who answered the same question more than once (1 question)" in text
    assert "Every row counts as a vote of its own" in text

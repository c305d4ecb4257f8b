"""`align` on a workspace whose judge only scores and whose people only voted."""

from imarena.core.records import Outcome, Rater
from imarena.storage import Workspace
from imarena.workflows.align_store import align_workspace
from imarena.workflows.health import health
from tests.samples import item, judgment, output, vote


def test_a_judge_that_only_scores_meets_votes_by_pairs_of_its_scores(workspace: Workspace) -> None:
    rater = Rater(rater_id="ann")
    said = (Outcome.LEFT, Outcome.LEFT, Outcome.RIGHT, Outcome.TIE)
    items = [item(f"i{number}") for number in range(len(said))]
    workspace.store.add([rater, *items])
    for number, (one, voted) in enumerate(zip(items, said, strict=True)):
        left, right = output(one, "alpha"), output(one, "beta")
        scores = [
            judgment(made, None, f"work_{number}_{made.editor}").model_copy(update={"score": value})
            for made, value in ((left, 0.9012345), (right, 0.2))
        ]
        ballot = vote(rater, left, right, key=f"k{number}", preference=voted)
        workspace.store.add([left, right, *scores, ballot])
    found = align_workspace(workspace, ["test-judge"], {})
    group = found["verdicts"]["groups"][0]
    assert (group["judge"], group["n"], group["n_decisive"]) == ("test-judge", 4, 3)
    assert group["decisive_accuracy"] == 2 / 3
    assert "pairs of scores" in found["warnings"][0]
    lines = health(workspace)[0][0].lines
    told = next(line for line in lines if "as people do" in line.question)
    assert told.figure.value == group["decisive_accuracy"]
    assert [line.group for line in lines if "score gap" in line.question] == ["0.14 and more"]

"""What `status`, `report`, the run monitor and boards say of one workspace adds up, however often a command was run."""

from dataclasses import dataclass
from pathlib import Path

from imarena.core.protocols import Exhibit, JudgeTraits, Verdict
from imarena.core.records import Item, JsonDict, Mode, Output, Run, Status, Turn
from imarena.storage import Workspace, init_workspace
from imarena.workflows.boards import Boards
from imarena.workflows.questions.cases import load_outputs, pointwise_cases
from imarena.workflows.questions.judging import judge_cases
from imarena.workflows.reporting.report import write_report
from imarena.workflows.upkeep.status import workspace_status
from imarena.workflows.views import View
from imarena.workflows.views.slots import NOT_TRIED, slots_of
from tests.samples import item, kept, output


def _tried(of: Item, turn: int, attempt: int, state: Status) -> Output:
    return Output(
        item_id=of.item_id, editor="flaky", turn=turn, mode=Mode.MULTI_TURN, attempt=attempt, status=state,
        params={"attempt": attempt},
    )  # fmt: skip


def _chain() -> Item:
    return Item(dataset="test", key="chain", turns=tuple(Turn(instruction=words) for words in ("a", "b", "c")))


def test_a_slot_counts_once_however_often_it_was_tried(any_workspace: Workspace) -> None:
    chain, single = _chain(), item("single")
    done = output(single, "flaky")
    again = Output(item_id=single.item_id, editor="flaky", status=Status.TIMEOUT, attempt=1, params={"n": 1})
    any_workspace.store.add([chain, single, again, done, output(single, None), output(item("single"), "other")])
    any_workspace.store.add([_tried(chain, 0, 0, Status.API_ERROR)])
    seen = []
    for attempt in range(1, 4):
        any_workspace.store.add([_tried(chain, 0, attempt, Status.REFUSED)])
        found = workspace_status(any_workspace)
        seen.append((found.outputs["flaky"], found.coverage["flaky"], found.missing))
        assert found.attempts["flaky"] == 3 + attempt
    counts = {"ok": 1, "refused": 1, NOT_TRIED: 2}  # the second and the third turn: nobody could begin them
    assert seen == [(counts, 0.25, {"outputs not_tried": 2, "outputs refused": 1})] * 3
    assert found.outputs["(not named)"] == {"ok": 1}
    assert (found.totals["output"], found.totals["output attempt"]) == (3, 8)
    assert Boards(View(any_workspace)).output_coverage.coverage() == found.coverage == {"flaky": 0.25, "other": 0.25}


def test_a_chain_that_goes_on_after_all_is_not_cut_off(workspace: Workspace) -> None:
    chain = _chain()
    first, third = _tried(chain, 0, 0, Status.REFUSED), _tried(chain, 2, 0, Status.TIMEOUT)
    workspace.store.add([chain, first, third])
    assert slots_of(workspace).counts() == {"flaky": {"refused": 1, "timeout": 1, NOT_TRIED: 1}}


def test_the_report_says_what_status_says(tmp_path: Path) -> None:
    chain, single = _chain(), item("single")
    with init_workspace(tmp_path / "w") as workspace:
        tried = [_tried(chain, 0, attempt, Status.REFUSED) for attempt in range(5)]
        workspace.store.add([chain, single, output(single, "flaky"), *tried])
        write_report(workspace, tmp_path / "report")
    told = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "2 items, 1 editor, 1 output of 4 asked for, 0 judgments, 0 votes." in told
    assert "| editor | ok | not_tried | refused | asked for | coverage | attempts |" in told
    assert "| flaky | 1 | 2 | 1 | 4 | 25% (1 of 4) | 6 |" in told


@dataclass(frozen=True)
class _Always:
    """A judge that gives every output the same score, or fails."""

    state: Status = Status.OK
    name: str = "always"
    version: str = "1"
    prompt_id: str = ""
    prompt_version: str = ""
    traits: JudgeTraits = JudgeTraits()

    @property
    def params(self) -> JsonDict:
        return {}

    async def judge(self, exhibit: Exhibit) -> Verdict:
        return Verdict(self.state, score=500.0 if exhibit.left and self.state is Status.OK else None)


def test_outputs_with_the_same_pixels_are_asked_about_once_and_all_counted(workspace: Workspace) -> None:
    one, pixels = item("one"), kept(workspace)
    made = [Output(item_id=one.item_id, editor=name, image=pixels) for name in ("a", "b", "c")]
    workspace.store.add([one, *made])
    cases = list(pointwise_cases(load_outputs(workspace)))
    for _ in range(2):
        judge_cases(workspace, _Always(Status.REFUSED), cases)
        assert workspace_status(workspace).judgments == {"always": {"refused": 3}}
    done = judge_cases(workspace, _Always(), cases)
    assert (dict(done.judgments), done.shared) == ({"ok": 1}, 2)
    assert workspace_status(workspace).judgments == {"always": {"ok": 3}}
    assert workspace_status(workspace).missing == {}
    *_, run = workspace.store.records(Run, command="judge")
    assert run.counts == {"ok": 3}, "a run counts what status counts"

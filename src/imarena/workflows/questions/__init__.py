"""One loop asks many questions: it resumes, counts, stores and stops for every command that asks."""

from imarena.workflows.questions.earlier import Earlier, earlier
from imarena.workflows.questions.loop import Questions, Terms, ask
from imarena.workflows.questions.placing import computes, executor_for, executor_of_editors, judge_terms
from imarena.workflows.questions.report import JudgeReport, Watch
from imarena.workflows.questions.verdicts import JudgeQuestion, JudgeRun, ask_judge

__all__ = [
    "Earlier",
    "JudgeQuestion",
    "JudgeReport",
    "JudgeRun",
    "Questions",
    "Terms",
    "Watch",
    "ask",
    "ask_judge",
    "computes",
    "earlier",
    "executor_for",
    "executor_of_editors",
    "judge_terms",
]

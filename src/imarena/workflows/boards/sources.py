"""The judge data that a board's signature names as the source of its verdicts."""

from imarena.storage import Form


def judge_data(forms: list[Form]) -> dict[str, str]:
    """The judges, prompts, parsers and orders of these forms."""

    def listed(values: set[str]) -> str:
        return ", ".join(sorted(values - {""}))

    return {
        "judge": listed({f"{form.judge}@{form.judge_version}" if form.judge_version else form.judge for form in forms}),
        "prompt": listed({f"{form.prompt_id}@{form.prompt_version}" for form in forms if form.prompt_id}),
        "parser": listed({form.parser_version for form in forms}),
        "orders": listed({form.orders or "both" for form in forms if form.pairwise}),
    }

"""Z-scores, tiers and pairs: known answers, and what must not change them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.core import UnknownName, UserError
from imarena.core.records import ImageRef, Outcome
from imarena.preferences import MeasuredCandidate, MeasuredGroup, make_pairs, read_task_rules, task_rules
from imarena.preferences.candidates import CANDIDATE_TASKS
from imarena.preferences.groups import score_group, tier_of
from imarena.preferences.task_rules import HIGHER_IS_BETTER, TierThresholds

RULES = task_rules()


def _ref(number: int) -> ImageRef:
    return ImageRef(sha256=f"{number:064x}", size_bytes=1, media_type="image/png")


def _candidate(number: int, outside: float, inside: float = 0.5, ssim: float | None = None) -> MeasuredCandidate:
    values = {"outside": {"st_lpips": outside}, "inside": {"lightness_ssim": inside}}
    if ssim is not None:
        values["inside"]["structure_similarity"] = ssim
    return MeasuredCandidate(_ref(number), values, {"editor": f"editor {number}"})  # type: ignore[arg-type]


def _group(candidates: list[MeasuredCandidate], item: str = "item", task: str = "color_alter") -> MeasuredGroup:
    return MeasuredGroup(item, "make it blue", task, _ref(10**6), tuple(candidates))


def test_the_rules_cover_the_seventeen_tasks_and_name_only_known_metrics() -> None:
    assert set(RULES.tasks) == set(CANDIDATE_TASKS)
    assert len(CANDIDATE_TASKS) == 17
    used = {name for rule in RULES.tasks.values() for each in rule.regions().values() for name in each.primary}
    assert used <= HIGHER_IS_BETTER.keys()
    with pytest.raises(UnknownName, match="chart"):
        RULES.rule("chart_editing")


def test_z_scores_have_the_direction_of_the_metric() -> None:
    scored = score_group(_group([_candidate(1, 0.0, 0.9), _candidate(2, 0.4, 0.5)]), RULES.rule("color_alter"))
    assert scored.z[_ref(1).sha256] == {"inside": pytest.approx(1.0), "outside": pytest.approx(1.0)}
    assert scored.z[_ref(2).sha256] == {"inside": pytest.approx(-1.0), "outside": pytest.approx(-1.0)}


def test_tiers() -> None:
    thresholds = {"inside": TierThresholds(elite=0.6, failure=-0.5), "outside": TierThresholds(elite=0.6, failure=-0.2)}
    assert tier_of({"inside": 1.0, "outside": 0.7}, thresholds) == "A"  # type: ignore[arg-type]
    assert tier_of({"inside": 1.0, "outside": 0.6}, thresholds) == "B"  # type: ignore[arg-type]
    assert tier_of({"inside": 1.0, "outside": -0.2}, thresholds) == "C"  # type: ignore[arg-type]


def test_the_winner_is_nowhere_worse() -> None:
    made = make_pairs([_group([_candidate(1, 0.0, 0.9), _candidate(2, 0.2, 0.6), _candidate(3, 0.6, 0.1)])], RULES, 1)
    assert made.pairs
    for pair in made.pairs:
        assert int(pair.chosen.sha256, 16) < int(pair.rejected.sha256, 16)
        assert pair.provenance["left"]["values"]  # type: ignore[index,call-overload]
    # better outside, worse inside: no pair, whatever the z-scores
    mixed = make_pairs([_group([_candidate(1, 0.0, 0.1), _candidate(2, 0.6, 0.9)])], RULES, 1)
    assert not mixed.pairs
    assert mixed.skipped == {"no_clear_winner": 1}
    # a secondary metric that points the other way
    voted = make_pairs([_group([_candidate(1, 0.0, 0.9, 0.1), _candidate(2, 0.6, 0.1, 0.9)])], RULES, 1)
    assert not voted.pairs


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=6, unique=True), st.randoms())
def test_renaming_and_reordering_candidates_change_nothing(values: list[tuple[float, float]], random: object) -> None:
    candidates = [_candidate(at + 1, out, inside) for at, (out, inside) in enumerate(values)]
    shuffled = list(candidates)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    renamed = [MeasuredCandidate(each.image, each.values, {"editor": "z"}) for each in shuffled]
    first, second = (make_pairs([_group(found)], RULES, 7) for found in (candidates, renamed))
    assert [(p.pair_id, p.winner, p.left, p.strength) for p in first.pairs] == [
        (p.pair_id, p.winner, p.left, p.strength) for p in second.pairs
    ]
    assert first.skipped == second.skipped


def test_identical_outputs_are_a_tie_and_too_few_candidates_a_reason() -> None:
    made = make_pairs([_group([_candidate(1, 0.1), _candidate(1, 0.1)])], RULES, 1)
    assert not made.pairs
    assert [pair.winner for pair in made.ties] == [Outcome.TIE]
    assert made.skipped == {"fewer_than_two_candidates": 1}
    flat = make_pairs([_group([_candidate(1, 0.1), _candidate(2, 0.1)])], RULES, 1)
    assert flat.skipped == {"no_spread": 1}
    lacking = MeasuredCandidate(_ref(3), {"outside": {"st_lpips": 0.2}, "inside": {}})
    missing = make_pairs([_group([_candidate(1, 0.1), lacking])], RULES, 1)
    assert missing.skipped == {"metric_unavailable": 1}


def test_thresholds_are_published_or_recorded_quantiles() -> None:
    groups = [
        MeasuredGroup(
            f"item {number}", "remove it", "subject_remove", _ref(10**6 + number),
            tuple(MeasuredCandidate(_ref(10 * number + at), {"outside": {"st_lpips": at / 10 + number / 99}})
                  for at in range(1, 5)),
        )
        for number in range(5)
    ]  # fmt: skip
    made = make_pairs([*groups, _group([_candidate(1, 0.0, 0.9), _candidate(2, 0.5, 0.2)])], RULES, 1)
    assert made.thresholds["color_alter"]["inside"] .to_json() == {
        "elite": 0.67, "failure": -0.6, "from": "published",
    }  # fmt: skip
    taken = made.thresholds["subject_remove"]["outside"]
    assert (taken.origin, taken.candidates) == ("quantiles", 20)
    assert taken.tiers.failure < taken.tiers.elite
    assert len([pair for pair in made.pairs if pair.task == "subject_remove"]) >= 5


def test_bad_rules_are_refused() -> None:
    with pytest.raises(UserError, match="no region metric"):
        read_task_rules(
            "version: '1'\nquantiles: {elite: 0.7, failure: 0.3}\nmargin: 0.3\n"
            "tasks: {a: {pipeline: object, outside: {primary: [beauty]}}}",
            "mine.yaml",
        )

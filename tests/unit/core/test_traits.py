"""Judges and editors declare what they need and can do, and nothing looks for attributes on them."""

import asyncio
import inspect
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import imarena
from imarena.core import protocols, traits
from imarena.core.errors import UserError
from imarena.core.plugins import UNVERSIONED, adapt_editor, adapt_judge
from imarena.core.protocols import EditorTraits, EditRequest, EditResult, Exhibit, JudgeTraits, Verdict
from imarena.core.records import Evidence, JsonDict, Status
from imarena.core.registry import Registry
from imarena.editors import catalog as editor_catalog
from imarena.judges import catalog as judge_catalog
from tests.unit.core.attribute_lookups import ALLOWED, class_checks, class_checks_in, lookups, lookups_in

SOURCE = Path(inspect.getfile(imarena)).parent


def test_no_code_looks_for_attributes_on_a_judge_or_an_editor() -> None:
    found = lookups_in(SOURCE)
    assert len(found) > 50, "the files were not read"
    wrong = [str(one) for one in found if one.wrong]
    assert not wrong, "declare it in JudgeTraits or EditorTraits: " + "; ".join(wrong)
    assert {one.file for one in found if one.file in ALLOWED} == set(ALLOWED), "an entry of ALLOWED is out of date"


@pytest.mark.parametrize(
    "text",
    [
        "getattr(judge, 'cpu_bound', False)",
        "hasattr(self.editor, 'params')",
        "getattr(wired.judge, 'prompts', None)",
        "def f(one: Judge) -> bool:\n    return hasattr(one, 'reread')",
        "def f(asked: 'Editor | None') -> bool:\n    return hasattr(asked, 'mind')",
        "found: object = editor\nwhile hasattr(found, 'editor'):\n    found = found.editor",
        "for part in (self.editor, *doors):\n    getattr(part, 'opened', None)",
        "names = [getattr(e, 'name') for e in editors]",
        "first = editors[0]\nsecond = first\ngetattr(second, 'params')",
        "getattr(getattr(judge, 'settings', None), 'max_tokens', 1)",
        "from imarena.core.protocols import Judge\ngetattr(anything, 'name')",
    ],
)
def test_a_lookup_on_a_judge_or_an_editor_is_found(text: str) -> None:
    assert any(one.wrong for one in lookups(text))


@pytest.mark.parametrize(
    "text",
    [
        "getattr(settings, name)",
        "[getattr(part, name) for part in parts]",
        "judges = len(rows)\ngetattr(rows, 'size')",
        "hasattr(column, 'dictionary')",
        "from imarena.core.protocols import Judge\nsetattr(self, 'x', getattr(self, 'y'))",
    ],
)
def test_other_lookups_are_left_alone(text: str) -> None:
    assert not any(one.wrong for one in lookups(text))


def test_no_port_of_a_judge_or_an_editor_is_found_by_its_methods() -> None:
    """`isinstance` with a runtime-checkable protocol would be `hasattr` under another name."""
    for module in (protocols, traits):
        assert "runtime_checkable" not in inspect.getsource(module)


def test_no_code_asks_for_the_class_of_a_judge_or_an_editor() -> None:
    """Not outside their own rooms: a plug-in has another class, and could never do what is asked for so."""
    assert class_checks_in(SOURCE) == [], "declare it in JudgeTraits or EditorTraits"


@pytest.mark.parametrize(
    "text",
    [
        "isinstance(editor, FolderEditor)",
        "[isinstance(one, FolderEditor | FunctionEditor) for one in everything]",
        "isinstance(aside.door, wiring.JudgeChat)",
        "isinstance(judge, (int, ChatJudge))",
        "type(editor) is Agent",
        "match editor:\n    case BestOf():\n        pass",
    ],
)
def test_a_class_check_is_found(text: str) -> None:
    assert list(class_checks(text))


def test_other_class_checks_are_left_alone() -> None:
    assert not list(class_checks("isinstance(value, int | float)\nisinstance(adapted, UserError)"))


# ---------------------------------------------------------------- plug-ins


class OneMethod:
    """All that a plug-in needs for a judge."""

    async def judge(self, exhibit: Exhibit) -> Verdict:
        return Verdict(Status.OK, score=float(len(exhibit.left)))


class Declared(OneMethod):
    """A judge with the whole port."""

    name, version, prompt_id, prompt_version = "whole", "2", "p", "3"
    params: JsonDict = {"a": 1}  # noqa: RUF012
    traits = JudgeTraits(dimension="visual_quality", cpu_bound=True, evidence=("boxes",))


class OldStyle(OneMethod):
    """A judge whose attributes were read before there were traits."""

    name, version, cpu_bound, dimension = "old", "7", True, "visual_quality"
    parser_version = "5"

    def reread(self, raw: str) -> Verdict:
        return Verdict(Status.OK, score=float(raw))


def test_a_judge_with_one_method_is_completed() -> None:
    judge = adapt_judge(OneMethod(), "mine")
    assert (judge.name, judge.version, judge.prompt_id, judge.prompt_version) == ("mine", UNVERSIONED, "", "")
    assert judge.params == {}
    assert judge.traits == JudgeTraits()
    assert asyncio.run(judge.judge(Exhibit("x", left=b"abc"))).score == 3


def test_a_judge_with_the_whole_port_stays_itself() -> None:
    made = Declared()
    assert adapt_judge(made, "other") is made


def test_attributes_that_were_read_before_still_count() -> None:
    judge = adapt_judge(OldStyle(), "x")
    assert (judge.name, judge.version) == ("old", "7")
    assert judge.traits.cpu_bound
    assert judge.traits.dimension == "visual_quality"
    assert judge.traits.resumable is None
    assert judge.traits.reader is not None
    assert judge.traits.reader.parser_version == "5"
    assert judge.traits.reader.reread("4").score == 4


class OneEdit:
    """All that a plug-in needs for an editor."""

    async def edit(self, request: EditRequest) -> EditResult:
        return EditResult(Status.OK, request.sources[0])


def test_an_editor_with_one_method_is_completed() -> None:
    editor = adapt_editor(OneEdit(), "mine")
    assert (editor.name, editor.version, editor.params) == ("mine", UNVERSIONED, {})
    assert editor.traits == EditorTraits()

    async def edited() -> EditResult:
        async with editor.traits.opened():
            return await editor.edit(EditRequest("x", (b"y",)))

    assert asyncio.run(edited()).image == b"y"


def make_one(*_: object) -> Any:
    """As the maker of a plug-in."""
    return OneEdit() if len(_) == 3 else OneMethod()


def test_a_registry_completes_what_a_plug_in_makes() -> None:
    editors = Registry("editor", {"mine": f"{__name__}:make_one"}, editor_catalog.adapt_editor_maker)
    editor = editors.get("mine")("shown", {}, editor_catalog.Ports())
    assert (editor.name, editor.traits) == ("shown", EditorTraits())
    judges = Registry("judge", {"mine": f"{__name__}:make_one"}, judge_catalog.adapt_judge_maker)
    judge = judges.get("mine")({}, None)
    assert (judge.name, judge.traits) == ("mine", JudgeTraits())


def test_an_old_editor_keeps_its_price_and_its_client() -> None:
    class Priced(OneEdit):
        usd_per_image, price_as_of, deterministic = 0.5, date(2026, 1, 1), True

    stated = adapt_editor(Priced(), "p").traits
    assert (stated.usd_per_image, stated.price_as_of, stated.deterministic) == (0.5, date(2026, 1, 1), True)
    assert stated.wrappable
    assert stated.opening is None


@pytest.mark.parametrize(("adapt", "method"), [(adapt_judge, "judge"), (adapt_editor, "edit")])
def test_what_has_no_such_method_is_refused_by_name(adapt: Any, method: str) -> None:
    with pytest.raises(UserError, match=f"'mine' has no method `{method}`: it is a dict"):
        adapt({}, "mine")


def test_evidence_is_found_by_its_kind_and_its_image() -> None:
    from imarena.core.ids import sha256_hex

    one = Evidence(image_sha256=sha256_hex(b"left"), tool="t", kind="boxes")
    two = Evidence(image_sha256=sha256_hex(b"source"), tool="t", kind="boxes")
    text = Evidence(image_sha256=sha256_hex(b"left"), tool="t", kind="text")
    exhibit = Exhibit("x", left=b"left", sources=(b"source",), evidence=(one, two, text))
    assert exhibit.evidence_of("boxes") == (one, two)
    assert exhibit.evidence_of("boxes", b"source") == (two,)
    assert exhibit.evidence_of("text", b"source") == ()


def test_an_editor_declares_its_files_its_judge_and_its_errors(tmp_path: Path) -> None:
    from imarena.agent import BestOf
    from imarena.editors import FolderEditor, FunctionEditor

    (tmp_path / "cup.png").write_bytes(b"x")
    files = FolderEditor("shown", tmp_path).traits.files
    assert files is not None
    assert files.file_of({"key": "cup"}) == tmp_path / "cup.png"
    assert files.files_beside(()) == ["cup.png"]
    explain = FunctionEditor("mine", lambda request: request).traits.explain_error
    assert explain is not None
    assert "ValueError: no" in explain(ValueError("no"))
    best = BestOf("best", adapt_editor(OneEdit(), "mine"), adapt_judge(Declared(), "whole"), 2)
    assert best.traits.driven_by == best.params["driven_by"] == "whole"
    assert adapt_editor(OneEdit(), "mine").traits.files is None

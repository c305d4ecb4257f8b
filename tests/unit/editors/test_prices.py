"""Cards of models: every field checked at load, prices by the picture, the megapixel and the token, and their age."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError

from imarena.core.errors import UserError
from imarena.editors.catalog import EDITOR_KINDS
from imarena.editors.model_cards import ModelCard, card_of, card_of_endpoint, model_cards, read_cards
from imarena.editors.prices import PicturePrice, Variant, price_age
from imarena.storage import init_workspace
from imarena.workflows.wiring.editors import EditorArguments, EditorWiring

DAY = date(2026, 6, 1)


def price(**fields: object) -> PicturePrice:
    return PicturePrice.model_validate({"as_of": DAY, "source": "a page", **fields})


def test_a_price_by_the_megapixel_counts_begun_ones() -> None:
    found = price(unit="megapixel", usd_first_megapixel=0.03, usd_per_megapixel=0.015)
    assert found.per_image({}, None) == 0.03
    assert found.per_image({}, (1024, 1024)) == 0.03
    assert found.per_image({}, (2048, 1024)) == pytest.approx(0.045)
    assert found.per_image({}, (2048, 2048)) == pytest.approx(0.075)
    assert found.per_image({}, (1025, 1024)) == pytest.approx(0.045)


@given(st.integers(1, 8000), st.integers(1, 8000), st.integers(0, 2000), st.integers(0, 2000))
def test_a_larger_picture_never_costs_less(width: int, height: int, more: int, taller: int) -> None:
    found = price(unit="megapixel", usd_per_megapixel=0.01)
    assert found.per_image({}, (width, height)) <= found.per_image({}, (width + more, height + taller))


def test_an_option_may_have_a_price_of_its_own() -> None:
    low = Variant(option="quality", value="low", usd_per_image=0.01)
    found = price(unit="image", usd_per_image=0.2, variants=(low,))
    assert found.per_image({"quality": "LOW"}, None) == 0.01
    assert found.per_image({"quality": "high"}, None) == 0.2
    assert found.per_image({}, None) == 0.2


@pytest.mark.parametrize(
    ("fields", "lacks"),
    [
        ({"unit": "image"}, "usd_per_image"),
        ({"unit": "megapixel", "usd_per_image": 1}, "usd_per_megapixel"),
        ({"unit": "token", "usd_per_image": 1, "input_usd_per_million": 1}, "output_usd_per_million"),
        ({"unit": "image", "usd_per_image": -1}, "greater than or equal"),
        ({"unit": "second", "usd_per_image": 1}, "unit"),
    ],
)
def test_half_a_price_is_refused(fields: dict[str, object], lacks: str) -> None:
    with pytest.raises(ValidationError, match=lacks):
        price(**fields)


@pytest.mark.parametrize(
    ("days", "words"), [(0, "0 days"), (1, "1 day old"), (59, "59 days"), (92, "3 months"), (900, "2.5 years")]
)
def test_age_in_words(days: int, words: str) -> None:
    assert words in price_age(date.fromordinal(DAY.toordinal() - days), DAY)


CARD = """
all: {family: F, kind: closed, sources: [x], no_price: unknown}
models:
  - {name: m, title: M%s}
"""


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (", kind: shut", "kind"),
        (", tasks: [TIE, XYZ]", "tasks"),
        (", released: 2025-02-01, withdrawn: 2025-01-01", "withdrawn before"),
        (", native_size: [0, 5]", "native_size"),
        (", native_size: [5]", "native_size"),
        (", usd: 3", "usd"),
        (", adapter: {model: x}", "no kind"),
        (", no_price: null", "give a price"),
        (", price: {unit: image, usd_per_image: 1}", "as_of"),
        (", sources: []", "sources"),
        (", released: soon", "released"),
    ],
)
def test_a_wrong_card_names_its_file_its_model_and_the_field(more: str, problem: str) -> None:
    with pytest.raises(UserError, match=f"(?s)some.yaml: m: .*{problem}"):
        read_cards(CARD % more, "some.yaml")


def test_a_right_card_is_read() -> None:
    more = ", price: {unit: image, usd_per_image: 1, as_of: 2026-06-01, source: s}"
    assert [card.price and card.price.usd_per_image for card in read_cards(CARD % "", "f")] == [None]
    assert [card.price and card.price.usd_per_image for card in read_cards(CARD % more, "f")] == [1.0]


def test_every_model_behind_an_endpoint_has_a_price_with_its_day_and_source() -> None:
    cards: dict[str, ModelCard] = {card.name: card for card in model_cards().values()}
    asked = [
        card for card in cards.values() if card.adapter and EDITOR_KINDS[str(card.adapter["kind"])].needs == "endpoint"
    ]
    assert len(asked) >= 7
    for card in asked:
        assert card.price is not None, card.name
        assert 0.01 < card.price.per_image({}, card.native_size) < 1
        assert "https://" in card.price.source
        assert date(2025, 1, 1) < card.price.as_of
        assert card_of_endpoint(str(card.adapter and card.adapter["kind"]), str(card.adapter and card.adapter["model"]))
    for card in cards.values():
        if card.adapter:
            assert card.licence, card.name
            assert card.native_size, card.name
        if card.price is None:
            assert card.no_price, card.name


def test_a_card_price_reaches_the_editor_and_the_user_goes_first(tmp_path: Path) -> None:
    def wired(name: str, **options: JsonValue) -> tuple[str, float | None, date | None, str]:
        editor = EditorWiring(workspace, EditorArguments(options)).wire(name)
        told = editor.traits
        return editor.name, told.usd_per_image, told.price_as_of, told.notice

    card = card_of("gpt-image-1")
    assert card is not None
    assert card.price is not None
    day = card.price.as_of
    with init_workspace(tmp_path / "w") as workspace:
        text = (workspace.root / "imarena.toml").read_text()
        (workspace.root / "imarena.toml").write_text(
            text + '\n[editors.mine]\nkind = "openai-images"\nmodel = "gpt-image-1"\nquality = "low"\n'
            '\n[editors.near]\nkind = "openai-images"\nmodel = "gpt-image-1"\nbase_url = "http://127.0.0.1:9/v1"\n'
        )
        assert wired("gpt-image-1")[:3] == ("gpt-image-1", 0.27, day)
        assert "2026-10-23" in wired("gpt-image-1")[3]
        assert wired("gpt-image-1", quality="medium")[1] == 0.08
        assert wired("gpt-image-1", usd_per_image=0.5)[1:3] == (0.5, None)
        assert wired("gpt-image-1", model="next")[:3] == ("next", None, None)
    from imarena.storage import open_workspace

    with open_workspace(tmp_path / "w") as workspace:
        assert wired("mine")[:3] == ("mine", 0.03, day)
        assert wired("near")[:3] == ("near", None, None)

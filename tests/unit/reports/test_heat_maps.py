"""Bars, heat maps and fronts: legible where all values are 0, negative or counts."""

from imarena.reports import grouped_bars, heat_map


def test_bars_of_zero_start_at_the_axis_and_leave_room_for_the_text() -> None:
    values = {("ash", "new image"): 0.0, ("elm", "new image"): 0.0}
    scale = grouped_bars("n", "c", values, title="share").spec["layer"][0]["encoding"]["x"]["scale"]
    assert scale["domain"] == [0.0, 1.1]
    values["ash", "new image"] = 20.0
    bars = grouped_bars("n", "c", values, title="items", spec=".0f").spec["layer"][0]["encoding"]
    assert bars["x"]["scale"]["domain"][1] > 20
    assert bars["x"]["axis"]["tickMinStep"] == 1, "there is no half item"
    assert bars["color"]["legend"] is None, "one series needs no legend"


def test_shares_have_percent_on_the_axis_too() -> None:
    bars = grouped_bars("n", "c", {("ash", "new image"): 0.5}, title="share", spec=".0%").spec["layer"][0]["encoding"]
    assert bars["x"]["axis"]["format"] == ".0%"


def test_differences_have_a_colour_for_each_sign() -> None:
    cells = {("a", "x"): 0.5, ("a", "y"): -0.5}
    shares = heat_map("n", "c", {("a", "x"): 0.5}, title="share").spec["layer"][0]["encoding"]["color"]["scale"]
    gaps = heat_map("n", "c", cells, title="gap", domain=(-1, 1)).spec["layer"][0]["encoding"]["color"]["scale"]
    assert (shares["scheme"], gaps["scheme"]) == ("blues", "purpleorange")
    assert gaps["domain"] == [-1, 1]

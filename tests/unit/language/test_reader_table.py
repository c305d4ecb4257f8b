"""Known answers: instructions as people write them, and what they ask for."""

import pytest

from imarena.language import Edit, EditKind, read_instruction

K = EditKind

TABLE: list[tuple[str, EditKind, dict[str, object]]] = [
    ("Make the photo more saturated.", K.ENHANCE, {"operation": "saturate"}),
    ("Make the image less saturated", K.ENHANCE, {"operation": "desaturate"}),
    ("Make the car red.", K.COLOUR, {"target": "car", "colours": ("red",)}),
    ("Make the sky orange", K.COLOUR, {"target": "sky", "colours": ("orange",)}),
    ("Make the car chocolate brown.", K.COLOUR, {"target": "car", "value": "chocolate brown", "colours": ("brown",)}),
    ("Make the wall burnt orange", K.COLOUR, {"target": "wall", "value": "burnt orange", "colours": ("orange",)}),
    ("Paint the door light sea green", K.COLOUR, {"target": "door", "colours": ("green",)}),
    ("Make the sea green", K.COLOUR, {"target": "sea", "colours": ("green",)}),
    ("Make the oak leaf green", K.COLOUR, {"target": "oak leaf", "colours": ("green",)}),
    ("Make the sky sky blue", K.COLOUR, {"target": "sky", "colours": ("blue",)}),
    ("Turn the rose pink", K.COLOUR, {"target": "rose", "colours": ("pink",)}),
    ("make the glass wooden", K.MATERIAL, {"target": "glass", "value": "wooden"}),
    ("make this dark blue", K.COLOUR, {"target": "this", "colours": ("blue",)}),
    ("turn his shirt navy blue", K.COLOUR, {"target": "shirt", "colours": ("navy", "blue")}),
    ("Change the color of the umbrella to yellow.", K.COLOUR, {"target": "umbrella", "colours": ("yellow",)}),
    ("The curtains should be green.", K.COLOUR, {"target": "curtains", "colours": ("green",)}),
    ("let the boat turn white", K.COLOUR, {"target": "boat", "colours": ("white",)}),
    ("paint the fence dark brown", K.COLOUR, {"target": "fence", "colours": ("brown",)}),
    ("Could you please make the left mug orange?", K.COLOUR, {"colours": ("orange",), "places": ("left",)}),
    ("change the white cat to black", K.COLOUR, {"colours": ("black",), "old_colours": ("white",)}),
    ("give the girl blonde hair", K.COLOUR, {"target": "hair", "colours": ("blonde",)}),
    ("recolor the sofa to #ff8800", K.COLOUR, {"colours": ("#ff8800",)}),
    ("Change the colour of the door", K.COLOUR, {"target": "door", "colours": ()}),
    ("make the red apple a green apple", K.COLOUR, {"colours": ("green",), "old_colours": ("red",)}),
    ("Add a dog.", K.ADD, {"value": "dog", "count": 1}),
    ("add two birds in the sky", K.ADD, {"value": "two birds", "count": 2, "places": ("top",)}),
    ("Put a vase on the table", K.ADD, {"value": "vase"}),
    ("There should be a boat on the lake.", K.ADD, {"value": "boat"}),
    ("What if there was a rainbow?", K.ADD, {"value": "rainbow"}),
    ("let there be snow on the roof", K.ADD, {"value": "snow"}),
    ("Insert a small red balloon in the top left corner.", K.ADD, {"colours": ("red",)}),
    ("have the man wear a scarf", K.ADD, {"target": "man", "value": "scarf"}),
    ("What if the woman had an umbrella?", K.ADD, {"target": "woman", "value": "umbrella"}),
    ("The boy should be holding a kite", K.ADD, {"target": "boy", "value": "kite"}),
    ("give the cat a hat", K.ADD, {"value": "hat"}),
    ("Can we have some flowers on the window sill?", K.ADD, {"value": "flowers"}),
    ("A horse should be near the barn.", K.ADD, {"value": "horse"}),
    ("Add a rose to the vase", K.ADD, {"value": "rose", "colours": ()}),
    ("add a bowl of ice cream", K.ADD, {"colours": ()}),
    ("Add a blue mug to the right of the lamp.", K.ADD, {"value": "blue mug", "colours": ("blue",), "places": ("right",)}),
    ("Remove the chair.", K.REMOVE, {"target": "chair"}),
    ("get rid of the red car on the left", K.REMOVE, {"old_colours": ("red",), "places": ("left",)}),
    ("erase all the people in the background", K.REMOVE, {"places": ("background",)}),
    ("Please delete the two bottles", K.REMOVE, {"count": 2}),
    ("take away the plate", K.REMOVE, {"target": "plate"}),
    ("make the basket empty", K.REMOVE, {"target": "basket"}),
    ("Remove the clouds", K.REMOVE, {"target": "clouds"}),
    ("Replace the apple with a pear.", K.REPLACE, {"target": "apple", "value": "pear"}),
    ("change the bus into a tram", K.REPLACE, {"target": "bus", "value": "tram"}),
    ("turn the sandwich into a burger", K.REPLACE, {"target": "sandwich", "value": "burger"}),
    ("swap the laptop for a typewriter", K.REPLACE, {"target": "laptop", "value": "typewriter"}),
    ("put a fox in place of the dog", K.REPLACE, {"target": "dog", "value": "fox"}),
    ("make it a slice of cake instead of the pie", K.REPLACE, {"target": "pie", "value": "slice of cake"}),
    ("Make the zebra a camel", K.REPLACE, {"target": "zebra", "value": "camel"}),
    ("Let the orange be swapped with a lemon", K.REPLACE, {"target": "orange", "value": "lemon"}),
    ("Replace the mug with a yellow teapot.", K.REPLACE, {"value": "yellow teapot", "colours": ("yellow",)}),
    ("have the cat sit on a rug instead of a mat", K.REPLACE, {"target": "mat"}),
    ("Change the number of red balls to 3.", K.COUNT, {"count": 3, "colours": ("red",)}),
    ("make three candles instead of one", K.COUNT, {"count": 3}),
    ("add another cup", K.COUNT, {"value": "cup", "operation": "one_more"}),
    ("put one more pillow on the bed", K.COUNT, {"value": "pillow"}),
    ("let it be a single bird", K.COUNT, {"count": 1}),
    ("Replace the text 'OPEN' on the sign with 'CLOSED'.", K.TEXT, {"old_text": "OPEN", "text": "CLOSED"}),
    ('write "Happy Birthday" on the cake', K.TEXT, {"text": "Happy Birthday"}),
    ("Make the sign say “Welcome Home”", K.TEXT, {"text": "Welcome Home"}),
    ("remove the text from the poster", K.TEXT, {"operation": "remove"}),
    ("Delete the word 'SALE'", K.TEXT, {"old_text": "SALE", "operation": "remove"}),
    ("Change the words on the mug to PEACE", K.TEXT, {"text": "PEACE"}),
    ("Change the background to a beach", K.BACKGROUND, {"value": "beach"}),
    ("replace the background with a snowy mountain", K.BACKGROUND, {"value": "snowy mountain"}),
    ("Blur the background", K.BACKGROUND, {"operation": "blur"}),
    ("remove the background", K.BACKGROUND, {"operation": "remove"}),
    ("Could she be in the desert?", K.BACKGROUND, {"value": "desert"}),
    ("Turn the photo into a watercolor painting", K.STYLE, {"value": "watercolor"}),
    ("make it look like a pencil sketch", K.STYLE, {"value": "pencil sketch"}),
    ("Render this image in the style of Van Gogh", K.STYLE, {"value": "van gogh"}),
    ("convert the picture to black and white", K.STYLE, {"value": "black and white"}),
    ("make it night", K.STYLE, {"value": "night", "operation": "ambience"}),
    ("change the season to winter", K.STYLE, {"value": "winter"}),
    ("Brighten the image", K.ENHANCE, {"operation": "brighten"}),
    ("make the photo sharper", K.ENHANCE, {"operation": "deblur"}),
    ("Remove the noise from this picture.", K.ENHANCE, {"operation": "denoise"}),
    ("remove the haze", K.ENHANCE, {"operation": "dehaze"}),
    ("increase the contrast", K.ENHANCE, {"operation": "contrast"}),
    ("Reduce the brightness of the image", K.ENHANCE, {"operation": "darken"}),
    ("deblur the photo", K.ENHANCE, {"operation": "deblur"}),
    ("Colorize this old photo", K.ENHANCE, {"operation": "colourize"}),
    ("fix the white balance", K.ENHANCE, {"operation": "white_balance"}),
    ("let the table be wooden", K.MATERIAL, {"target": "table", "value": "wooden"}),
    ("Change the material of the vase to glass.", K.MATERIAL, {"target": "vase", "value": "glass"}),
    ("make the ramp cement", K.MATERIAL, {"target": "ramp"}),
    ("Move the lamp to the left", K.POSITION, {"target": "lamp", "operation": "left"}),
    ("Change the position of the ball to the right of the box.", K.POSITION, {"target": "ball", "operation": "right"}),
    ("flip the image horizontally", K.POSITION, {"operation": "flip", "whole_image": True}),
    ("Make the balloon bigger", K.SIZE, {"target": "balloon", "operation": "up"}),
    ("shrink the house", K.SIZE, {"target": "house", "operation": "down"}),
    ("let the woman smile", K.ACTION, {"target": "woman", "value": "smile"}),
    ("open the door of the fridge", K.ACTION, {"value": "open"}),
    ("make the people angry", K.ACTION, {"target": "people"}),
    ("the dog should jump", K.ACTION, {"target": "dog", "value": "jump"}),
    ("Extend the picture to the left so that the whole house is shown.", K.EXTEND, {"whole_image": True}),
    ("Level the horizon.", K.VIEW, {"operation": "level"}),
    ("Show the room from a higher viewpoint", K.VIEW, {"operation": "viewpoint"}),
    ("The photo is far too dark. Fix it.", K.ENHANCE, {"operation": "brighten"}),
    ("The picture is overexposed. Correct the exposure.", K.ENHANCE, {"operation": "darken"}),
    ("The dogs are smeared by camera shake. Make the photo sharp.", K.ENHANCE, {"operation": "deblur"}),
    ("Recover the detail lost to compression.", K.ENHANCE, {"operation": "upscale"}),
    ("Swap the places of the mug and the vase.", K.POSITION, {"operation": "arrange"}),
    ("Turn the car around so that it faces the other way.", K.POSITION, {"target": "car", "operation": "rotate"}),
    ("Switch the lamp on.", K.ACTION, {"target": "lamp", "value": "on"}),
    ("Bathe the village in golden evening light.", K.STYLE, {"operation": "ambience"}),
    ("Give the photo a warm sepia tone.", K.STYLE, {"value": "sepia tone"}),
    ("Blur everything behind the bowl.", K.BACKGROUND, {"operation": "blur"}),
    ("Make the cat a little more alert", K.ACTION, {}),
]  # fmt: skip


def first(instruction: str) -> Edit:
    return read_instruction(instruction).edits[0]


@pytest.mark.parametrize(("instruction", "kind", "fields"), TABLE, ids=[row[0] for row in TABLE])
def test_known_answers(instruction: str, kind: EditKind, fields: dict[str, object]) -> None:
    edit = first(instruction)
    assert edit.kind is kind, edit
    for name, value in fields.items():
        assert getattr(edit, name) == value, (name, edit)


def test_the_table_is_large_enough() -> None:
    assert len(TABLE) >= 80
    assert {row[1] for row in TABLE} == set(EditKind) - {EditKind.OTHER}


def test_two_edits_in_one_sentence() -> None:
    reading = read_instruction("Remove the tent and add a camp fire, then make the sky purple.")
    assert [e.kind for e in reading.edits] == [K.REMOVE, K.ADD, K.COLOUR]


def test_what_must_stay_is_not_an_edit() -> None:
    reading = read_instruction("Change the background to a beach, and leave the red car unchanged.")
    assert [e.kind for e in reading.edits] == [K.BACKGROUND]
    assert len(reading.keep) == 1
    assert "red car" in reading.keep[0]


def test_keep_inside_a_clause() -> None:
    reading = read_instruction("Make the wall blue without changing the furniture")
    assert reading.edits[0].colours == ("blue",)
    assert reading.keep == ("without changing the furniture",)


def test_a_riddle_is_named_as_unread() -> None:
    reading = read_instruction("colourless green ideas sleep furiously")
    assert reading.kinds == {K.OTHER}
    assert reading.unread == ("colourless green ideas sleep furiously",)


def test_nothing_asks_nothing() -> None:
    assert read_instruction("  ").edits == ()

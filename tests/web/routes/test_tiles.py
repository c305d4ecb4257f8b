"""Tiles have true pixels, and together they are the picture."""

import io
from pathlib import Path

import numpy as np
from PIL import Image

from imarena.images import pixels
from imarena.storage import init_workspace, open_workspace
from imarena.web.app import create_app
from tests.web.people import administrator, campaign, fill, rater, settings_of


def test_tiles_at_the_highest_level_are_the_picture_itself(tmp_path: Path) -> None:
    with init_workspace(tmp_path / "arena") as workspace:
        (item,) = fill(workspace, items=1, size=(1304, 904))
    app = create_app(settings_of(tmp_path / "arena"))
    admin = administrator(app)
    one = campaign(admin)
    person = rater(app, admin, one)
    source = person.next(one)["task"]["sources"][0]
    assert (source["width"], source["height"], source["max_level"]) == (1304, 904, 2)
    whole = np.zeros((904, 1304, 3), np.uint8)
    for column in range(3):
        for row in range(2):
            answer = person.get(f"{source['tiles_url']}/2/{column}/{row}")
            tile = np.asarray(Image.open(io.BytesIO(answer.content)))
            whole[row * 512 : row * 512 + tile.shape[0], column * 512 : column * 512 + tile.shape[1]] = tile
    with open_workspace(tmp_path / "arena") as workspace:
        assert np.array_equal(whole, pixels(workspace.load(item.sources[0])))
    small = Image.open(io.BytesIO(person.get(f"{source['tiles_url']}/0/0/0").content))
    assert small.size == (326, 226)
    for beyond in ("2/3/0", "2/0/2", "3/0/0", "0/1/0"):
        assert person.get(f"{source['tiles_url']}/{beyond}").status_code == 404

"""Faces: the network's answers against OpenCV's reader of the same file, and the geometry of identity."""

from importlib.resources import files

import cv2
import numpy as np
import pytest

from imarena.vision.faces import _PLACES, SAME_PERSON, Face, aligned_face, face_likeness, face_vector, find_faces
from imarena.vision.networks import network
from tests.contract.vision.tools import photograph


def test_opencv_finds_the_same_face_in_the_same_place() -> None:
    pixels = photograph()
    weights = str(files("imarena.vision") / "weights" / "yunet.onnx")
    square = np.zeros((640, 640, 3), np.uint8)
    square[: pixels.shape[0], : pixels.shape[1]] = pixels[..., ::-1]
    _, rows = cv2.FaceDetectorYN.create(weights, "", (640, 640), 0.7, 0.3).detect(square)
    (face,) = find_faces(pixels)
    (row,) = rows
    left, top, right, bottom = face.box
    assert (left, top, right - left, bottom - top) == pytest.approx(row[:4], abs=0.05)
    assert np.ravel(face.points) == pytest.approx(row[4:14], abs=0.05)
    assert face.score == pytest.approx(row[14], abs=1e-4)


def test_a_face_is_found_in_a_large_copy_and_none_in_a_cup() -> None:
    (face,) = find_faces(photograph())
    (large,) = find_faces(cv2.resize(photograph(), None, fx=3, fy=3, interpolation=cv2.INTER_CUBIC))
    assert np.array(large.box) == pytest.approx(3 * np.array(face.box), abs=15)
    assert find_faces(photograph("coffee")) == ()


def test_a_turned_face_is_set_upright() -> None:
    angle = np.deg2rad(30)
    turn = 2.5 * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    points = _PLACES @ turn.T + (200, 40)
    pixels = np.zeros((500, 500, 3), np.uint8)
    for number, (x, y) in enumerate(points):
        cv2.circle(pixels, (round(x), round(y)), 6, (40 * number + 60, 0, 0), -1)
    upright = aligned_face(pixels, Face((0, 0, 500, 500), 1.0, tuple(map(tuple, points))))
    for number, (x, y) in enumerate(_PLACES):
        assert upright[round(y), round(x), 0] == pytest.approx(40 * number + 60, abs=3)


def test_a_face_is_set_upright_as_opencv_does_it_and_becomes_the_networks_vector() -> None:
    """OpenCV has code of its own that aligns a face for this network."""
    pixels = photograph()
    (face,) = find_faces(pixels)
    weights = str(files("imarena.vision") / "weights" / "sface.onnx")
    recogniser = cv2.FaceRecognizerSF.create(weights, "")
    row = np.array([*face.box[:2], face.box[2] - face.box[0], face.box[3] - face.box[1], *np.ravel(face.points), 1.0])
    upright = recogniser.alignCrop(pixels[..., ::-1].copy(), row.astype(np.float32)[None])
    assert np.abs(upright[..., ::-1].astype(float) - aligned_face(pixels, face)).max() <= 1
    given = cv2.dnn.blobFromImage(upright, 1.0, (112, 112), (0, 0, 0), swapRB=True)
    session = network("sface")
    unread = {one.name: np.zeros(one.shape, np.float32) for one in session.get_inputs() if one.name != "data"}
    theirs = session.run(["fc1"], {"data": given, **unread})[0].ravel()
    assert face_vector(pixels, face) @ (theirs / np.linalg.norm(theirs)) == pytest.approx(1, abs=2e-3)


def test_one_person_is_alike_and_another_is_not() -> None:
    woman = photograph()
    assert face_likeness(woman, woman) == pytest.approx(1, abs=1e-5)
    flipped, blurred = (
        face_likeness(woman, woman[:, ::-1].copy()),
        face_likeness(woman, cv2.GaussianBlur(woman, (0, 0), 2)),
    )
    assert flipped is not None
    assert blurred is not None
    assert SAME_PERSON < blurred < 1
    assert SAME_PERSON < flipped < 1
    assert face_likeness(woman, photograph("coffee")) is None, "no face: no answer"


def test_only_faces_in_the_region_are_compared() -> None:
    woman = photograph()
    (face,) = find_faces(woman)
    there = np.zeros(woman.shape[:2], np.bool_)
    there[int(face.box[1]) : int(face.box[3]), int(face.box[0]) : int(face.box[2])] = True
    assert face_likeness(woman, woman, there) == pytest.approx(1, abs=1e-5)
    assert face_likeness(woman, woman, ~there) is None

"""Faces: where they are, and whether two of them belong to the same person. Loaded on first use.

Detection is YuNet (Wu et al. 2023, MIT), identity is SFace (Zhong et al. 2021, 8 bits, Apache-2.0); weights bundled.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from imarena.core import Detection, Floats, Mask, Pixels
from imarena.vision.efficientdet import suppress
from imarena.vision.networks import network

SIDE = 640
THRESHOLD = 0.7
"""Below this score the network often mistakes a pattern for a face."""
OVERLAP = 0.3
SAME_PERSON = 0.363
"""The cosine from which SFace's authors consider two faces the same person."""
_STRIDES = (8, 16, 32)
_PLACES = np.array([[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]])
"""Where SFace expects the five points, in pixels of its input."""


@dataclass(frozen=True)
class Face:
    """One face, in pixels of its image: its box, the network's confidence, and five points.

    The points are the eyes, the nose and the corners of the mouth; of a pair, the one on the image's left is first.
    """

    box: tuple[float, float, float, float]
    score: float
    points: tuple[tuple[float, float], ...]


def find_faces(pixels: Pixels, threshold: float = THRESHOLD) -> tuple[Face, ...]:
    """Faces with at least this score (0 to 1), the most confident first. `pixels` is sRGB, shape (height, width, 3).

    An image with a side of more than 640 pixels is scaled down to that, so small faces in a large image are missed.
    """
    import cv2

    height, width = pixels.shape[:2]
    scale = min(1.0, SIDE / max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    square = np.zeros((SIDE, SIDE, 3), np.float32)
    square[: size[1], : size[0]] = cv2.resize(
        np.ascontiguousarray(pixels[..., ::-1]), size, interpolation=cv2.INTER_AREA
    )
    rows = _rows(np.ascontiguousarray(square.transpose(2, 0, 1)[None]), threshold)
    to_image = np.array([width / size[0], height / size[1]], np.float32)
    limits = np.array([width, height], np.float32)
    faces = []
    for at in suppress(rows[:, :4], rows[:, 14], OVERLAP):
        left, top, right, bottom = np.clip(rows[at, :4].reshape(2, 2) * to_image, 0, limits).ravel().tolist()
        points = (rows[at, 4:14].reshape(5, 2) * to_image).tolist()
        if left < right and top < bottom:
            score = min(1.0, float(rows[at, 14]))
            faces.append(Face((left, top, right, bottom), score, tuple((x, y) for x, y in points)))
    return tuple(faces)


def _rows(pixels: Floats, threshold: float) -> Floats:
    """One row per candidate: box (4), points (10), score; in pixels of the network's input."""
    session = network("yunet")
    names = [output.name for output in session.get_outputs()]
    outputs = dict(zip(names, session.run(names, {"input": pixels}), strict=True))
    rows = []
    for stride in _STRIDES:
        sure = np.sqrt(
            np.clip(outputs[f"cls_{stride}"][0, :, 0], 0, 1) * np.clip(outputs[f"obj_{stride}"][0, :, 0], 0, 1)
        )
        indices = np.flatnonzero(sure >= threshold)
        cells = SIDE // stride
        corner = np.stack([indices % cells, indices // cells], axis=1).astype(np.float32)
        boxes, points = outputs[f"bbox_{stride}"][0, indices], outputs[f"kps_{stride}"][0, indices]
        middle, half = (corner + boxes[:, :2]) * stride, np.exp(boxes[:, 2:]) * stride / 2
        at = (points.reshape(-1, 5, 2) + corner[:, None]) * stride
        rows.append(np.concatenate([middle - half, middle + half, at.reshape(-1, 10), sure[indices, None]], axis=1))
    return np.concatenate(rows).astype(np.float32)


def detect_faces(pixels: Pixels) -> tuple[Detection, ...]:
    """`find_faces` as a `Detector`; each label is 'face'."""
    return tuple(Detection(face.box, "face", face.score) for face in find_faces(pixels))


@cache
def _recogniser() -> Any:
    """The session, and its inputs besides the face: the file lists inputs that no node reads."""
    session = network("sface")
    unread = [entry for entry in session.get_inputs() if entry.name != "data"]
    return session, {entry.name: np.zeros(entry.shape, np.float32) for entry in unread}


def aligned_face(pixels: Pixels, face: Face) -> Pixels:
    """The face upright, its points moved to `_PLACES`: (112, 112, 3).

    Only rotated, scaled and moved, by least squares over the five points (Umeyama 1991).
    """
    import cv2

    points = np.asarray(face.points, np.float64)
    middle, place_middle = points.mean(axis=0), _PLACES.mean(axis=0)
    apart, target = points - middle, _PLACES - place_middle
    left, sizes, right = np.linalg.svd(target.T @ apart)
    signs = np.array([1.0, np.sign(np.linalg.det(left @ right)) or 1.0])
    spread = float((apart**2).sum())
    turn = (left * signs) @ right * (float(sizes @ signs) / max(spread, 1e-12))
    matrix = np.concatenate([turn, (place_middle - turn @ middle)[:, None]], axis=1)
    return np.asarray(cv2.warpAffine(np.ascontiguousarray(pixels), matrix, (112, 112)), np.uint8)


def face_vector(pixels: Pixels, face: Face) -> Floats:
    """Embedding of a face, largely independent of pose and light: a vector of length 1, shape (128,)."""
    session, unread = _recogniser()
    face_pixels = np.ascontiguousarray(aligned_face(pixels, face).transpose(2, 0, 1)[None], np.float32)
    vector = np.asarray(session.run(["fc1"], {"data": face_pixels, **unread})[0], np.float32).ravel()
    return vector / np.float32(max(float(np.linalg.norm(vector)), 1e-12))


def face_likeness(source: Pixels, output: Pixels, mask: Mask | None = None) -> float | None:
    """Similarity of the source's largest face and the output's most similar face: a cosine, -1 to 1.

    None if one of the images has no face. From `SAME_PERSON` on, the two count as the same person. With a mask
    (height, width) of the source's size, only faces whose centre lies in it count.
    """
    before, after = _faces_in(source, mask), _faces_in(output, mask)
    if not before or not after:
        return None
    largest = max(before, key=lambda face: (face.box[2] - face.box[0]) * (face.box[3] - face.box[1]))
    vector = face_vector(source, largest)
    return max(float(vector @ face_vector(output, face)) for face in after)


def _faces_in(pixels: Pixels, mask: Mask | None) -> tuple[Face, ...]:
    faces = find_faces(pixels)
    if mask is None:
        return faces
    (height, width), (rows, columns) = pixels.shape[:2], mask.shape
    return tuple(
        face
        for face in faces
        for left, top, right, bottom in [face.box]
        if mask[int((top + bottom) / 2 / height * rows), int((left + right) / 2 / width * columns)]
    )

"""NumPy array types that all packages share."""

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
"""An image as bytes, of shape (height, width, 3)."""
Mask = NDArray[np.bool_]
Floats = NDArray[np.float32]
"""Images and features."""
FloatArray = NDArray[np.float64]
"""Columns of numbers."""
IntArray = NDArray[np.int64]
CodeArray = NDArray[np.int32]
"""Names as their indices in a list."""
ShareBox = tuple[float, float, float, float]
"""A box as shares of the image: left, top, right, bottom."""

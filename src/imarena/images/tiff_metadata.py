"""Metadata of TIFF files: entries that are not needed to show the image are removed in place."""

import struct

_KEPT_TAGS = frozenset(
    {
        254, 255, 256, 257, 258, 259, 262, 263, 264, 265, 266, 273, 274, 277, 278, 279, 280, 281, 282, 283, 284, 290,
        291, 292, 293, 296, 301, 317, 318, 319, 320, 321, 322, 323, 324, 325, 330, 332, 334, 336, 338, 339, 340, 341,
        342, 347, 512, 513, 514, 515, 517, 518, 519, 520, 521, 529, 530, 531, 532, 34675,
    }
)  # fmt: skip
"""Tags of the image itself: size, colours, strips, tiles, orientation (274), resolution, ICC profile (34675)."""
_SUB_IMAGES = 330
_NESTED = frozenset({34665, 34853, 40965})
"""EXIF, GPS and interoperability: separate directories, removed with everything in them."""
_WIDTHS = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}
_MOST_DIRECTORIES = 1000


def strip_tiff(data: bytes) -> bytes:
    """The file with the same length and pixels; removed values are overwritten with zeros.

    Raises `ValueError`, `IndexError` or `struct.error` if its directories are damaged.
    """
    return _Tiff(data).strip()


class _Tiff:
    def __init__(self, data: bytes) -> None:
        self._data = bytearray(data)
        self._order = "<" if data[:2] == b"II" else ">"
        self._big = self._read("H", 2) == 43
        self._offset, self._count, self._entry = ("Q", "Q", 20) if self._big else ("I", "H", 12)
        self._seen: set[int] = set()

    def strip(self) -> bytes:
        at = self._read(self._offset, 8 if self._big else 4)
        while at:
            at = self._directory(at, removed=False)
        return bytes(self._data)

    def _directory(self, at: int, *, removed: bool) -> int:
        """Strip one directory, or wipe it; returns the position of the next one."""
        if at in self._seen or len(self._seen) >= _MOST_DIRECTORIES:
            raise ValueError("its directories have no end")
        self._seen.add(at)
        head = struct.calcsize(self._count)
        count = self._read(self._count, at)
        end = at + head + count * self._entry
        following = self._read(self._offset, end)
        entries = bytearray()
        for number in range(count):
            start = at + head + number * self._entry
            tag = self._read("H", start)
            if tag in _KEPT_TAGS and not removed:
                entries += self._data[start : start + self._entry]
                if tag == _SUB_IMAGES:
                    for offset in self._offsets(start):
                        self._directory(offset, removed=False)
            else:
                self._wipe(start, nested=tag in _NESTED)
        if removed:
            self._zero(at, end + struct.calcsize(self._offset))
            return 0
        if len(entries) == count * self._entry:
            return following
        number = len(entries) // self._entry
        last = struct.pack(self._order + self._offset, following)
        body = struct.pack(self._order + self._count, number) + bytes(entries) + last
        self._zero(at, end + len(last))
        self._data[at : at + len(body)] = body
        return following

    def _wipe(self, start: int, *, nested: bool) -> None:
        """Overwrite the value of an entry that lies elsewhere in the file."""
        if nested:
            for offset in self._offsets(start):
                self._directory(offset, removed=True)
            return
        size = self._value_bytes(start)
        if size > struct.calcsize(self._offset):
            offset = self._read(self._offset, start + (12 if self._big else 8))
            self._zero(offset, offset + size)

    def _offsets(self, start: int) -> list[int]:
        """The values of an entry that points to directories."""
        number = self._read(self._offset, start + 4)
        width = _WIDTHS[self._read("H", start + 2)]
        at = start + (12 if self._big else 8)
        if number * width > struct.calcsize(self._offset):
            at = self._read(self._offset, at)
        code = "Q" if width == 8 else "I"
        return [self._read(code, at + n * width) for n in range(min(number, _MOST_DIRECTORIES))]

    def _value_bytes(self, start: int) -> int:
        return int(_WIDTHS.get(self._read("H", start + 2), 1) * self._read(self._offset, start + 4))

    def _zero(self, start: int, end: int) -> None:
        if not 0 <= start <= end <= len(self._data):
            raise ValueError("an entry points behind the end of the file")
        self._data[start:end] = bytes(end - start)

    def _read(self, code: str, at: int) -> int:
        return int(struct.unpack_from(self._order + code, self._data, at)[0])

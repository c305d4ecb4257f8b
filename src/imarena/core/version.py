"""The software's version, as written into every record."""

VERSION = "0.1.0"

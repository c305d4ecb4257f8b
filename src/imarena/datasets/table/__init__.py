"""The plain folder: a CSV of items, a folder of images per editor, and votes."""

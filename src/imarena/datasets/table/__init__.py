"""The plain folder: a CSV of items, a folder of pictures per editor, votes beside them."""

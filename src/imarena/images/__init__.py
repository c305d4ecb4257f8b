"""Pixels: decode safely, colour-manage, resize, hash, masks, regions."""

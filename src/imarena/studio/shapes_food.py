"""Shapes of things found on a table."""

from imarena.studio.palette import darker, ink_on, lighter
from imarena.studio.pen import Appearance, Pen

STALK = (104, 76, 50)
LEAF = (92, 150, 76)


def apple(pen: Pen, look: Appearance) -> None:
    pen.blob([(0.5, 0.25), (0.74, 0.17), (0.97, 0.42), (0.9, 0.78), (0.66, 0.99), (0.5, 0.95), (0.34, 0.99), (0.1,
                  0.78),
              (0.03, 0.42), (0.26, 0.17)], look.colour, body=True)  # fmt: skip
    pen.line([(0.5, 0.28), (0.54, 0.05)], STALK, 0.045)
    pen.blob([(0.54, 0.16), (0.68, 0.03), (0.86, 0.06), (0.72, 0.18)], LEAF)


def pear(pen: Pen, look: Appearance) -> None:
    pen.blob([(0.5, 0.1), (0.68, 0.2), (0.72, 0.44), (0.97, 0.72), (0.78, 0.98), (0.5, 1.0), (0.22, 0.98), (0.03, 0.72),
              (0.28, 0.44), (0.32, 0.2)], look.colour, body=True)  # fmt: skip
    pen.line([(0.5, 0.14), (0.57, 0.01)], STALK, 0.035)


def banana(pen: Pen, look: Appearance) -> None:
    pen.blob([(0.03, 0.2), (0.1, 0.16), (0.3, 0.55), (0.6, 0.62), (0.9, 0.28), (0.97, 0.34), (0.84, 0.8), (0.5, 1.0),
              (0.18, 0.8)], look.colour, body=True)  # fmt: skip
    pen.blob([(0.88, 0.3), (0.93, 0.1), (0.98, 0.12), (0.97, 0.34)], STALK)
    pen.disc((0.06, 0.2), 0.06, darker(look.colour, 0.6))


def bottle(pen: Pen, look: Appearance) -> None:
    pen.blob([(0.36, 0.06), (0.64, 0.06), (0.64, 0.26), (0.94, 0.42), (0.96, 0.7), (0.94, 0.97), (0.5, 1.0), (0.06,
                  0.97),
              (0.04, 0.7), (0.06, 0.42), (0.36, 0.26)], look.colour, body=True)  # fmt: skip
    pen.rect((0.33, 0.0, 0.67, 0.09), lighter(look.colour, 0.5), radius=0.01)
    pen.rect((0.06, 0.52, 0.94, 0.8), (248, 244, 232))
    pen.text((0.5, 0.66), look.text or "OLIVE", 0.1, darker(look.colour, 0.35), max_width=0.76)


def teapot(pen: Pen, look: Appearance) -> None:
    pen.ring((0.82, 0.58), 0.2, look.dark, 0.07, body=True)
    pen.blob([(0.26, 0.5), (0.1, 0.42), (0.04, 0.26), (0.0, 0.3), (0.06, 0.62), (0.26, 0.78)], look.dark, body=True)
    pen.blob([(0.34, 0.34), (0.64, 0.34), (0.84, 0.66), (0.7, 0.95), (0.49, 1.0), (0.28, 0.95), (0.14, 0.66)],
             look.colour, body=True)  # fmt: skip
    pen.oval((0.3, 0.26, 0.68, 0.42), look.light, body=True)
    pen.disc((0.49, 0.2), 0.075, look.dark, body=True)


def cake(pen: Pen, look: Appearance) -> None:
    cream = (252, 244, 230)
    pen.oval((0.0, 0.82, 1.0, 1.0), (222, 224, 228))
    pen.rect((0.1, 0.44, 0.9, 0.93), look.colour, radius=0.05, body=True)
    pen.rect((0.1, 0.62, 0.9, 0.7), cream)
    pen.oval((0.1, 0.34, 0.9, 0.56), cream)
    for x in (0.18, 0.34, 0.5, 0.66, 0.82):
        pen.oval((x - 0.08, 0.46, x + 0.08, 0.63), cream)
    for x in (0.3, 0.5, 0.7):
        pen.rect((x - 0.018, 0.18, x + 0.018, 0.42), (126, 178, 214))
        pen.blob([(x, 0.06), (x + 0.03, 0.14), (x, 0.19), (x - 0.03, 0.14)], (255, 186, 80))


def bowl(pen: Pen, look: Appearance) -> None:
    for x, tint in ((0.3, (222, 92, 70)), (0.5, (240, 178, 70)), (0.7, (150, 180, 80))):
        pen.disc((x, 0.36), 0.26, tint)
    pen.blob([(0.02, 0.42), (0.98, 0.42), (0.86, 0.8), (0.62, 0.99), (0.38, 0.99), (0.14, 0.8)], look.colour, body=True)
    pen.oval((0.01, 0.38, 0.99, 0.5), look.light, body=True)


def crate(pen: Pen, look: Appearance) -> None:
    for i in range(3):
        top = 0.04 + 0.33 * i
        pen.rect((0.0, top, 1.0, top + 0.27), look.colour if i % 2 == 0 else look.dark, radius=0.02, body=True)
    for x in (0.06, 0.86):
        pen.rect((x, 0.0, x + 0.08, 1.0), look.light, body=True)
    pen.text((0.5, 0.52), look.text, 0.2, ink_on(look.colour), max_width=0.66)

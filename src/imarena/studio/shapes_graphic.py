"""Shapes of graphic layouts: posters, charts, windows of programs. They are flat on purpose."""

from imarena.studio.palette import darker, ink_on, lighter, mix
from imarena.studio.pen import Appearance, Pen

PAPER = (250, 250, 252)
LINE = (206, 210, 218)
GREY = (128, 134, 146)


def title(pen: Pen, look: Appearance) -> None:
    pen.text((0.5, 0.5), look.text or "TITLE", 0.8, look.colour, max_width=0.98, weight=2)


def caption(pen: Pen, look: Appearance) -> None:
    pen.text((0.5, 0.5), look.text or "caption", 0.74, look.colour, max_width=0.98)


def banner(pen: Pen, look: Appearance) -> None:
    colour = look.colour
    pen.poly([(0.0, 0.24), (0.14, 0.24), (0.14, 1.0), (0.0, 1.0), (0.05, 0.62)], look.dark, body=True)
    pen.poly([(1.0, 0.24), (0.86, 0.24), (0.86, 1.0), (1.0, 1.0), (0.95, 0.62)], look.dark, body=True)
    pen.rect((0.08, 0.0, 0.92, 0.8), colour, radius=0.04, body=True)
    ink = ink_on(colour)
    if look.state == "faded":
        ink = mix(look.colour, ink, 0.16)
    pen.text((0.5, 0.4), look.text, 0.46, ink, max_width=0.76, weight=2)


def button(pen: Pen, look: Appearance) -> None:
    pen.rect((0.0, 0.0, 1.0, 1.0), look.colour, radius=0.28, body=True)
    pen.text((0.5, 0.5), look.text or "OK", 0.46, ink_on(look.colour), max_width=0.86)


def card(pen: Pen, look: Appearance) -> None:
    pen.rect((0.0, 0.0, 1.0, 1.0), PAPER, radius=0.06)
    pen.rect((0.0, 0.0, 1.0, 0.5), look.colour, radius=0.06, body=True)
    pen.rect((0.0, 0.3, 1.0, 0.5), look.colour, body=True)
    pen.poly([(0.08, 0.5), (0.36, 0.16), (0.58, 0.42), (0.7, 0.3), (0.92, 0.5)], look.light, body=True)
    pen.text((0.5, 0.62), look.text or "Card", 0.12, (56, 60, 72), max_width=0.84)
    pen.line([(0.12, 0.78), (0.88, 0.78)], LINE, 0.03)
    pen.line([(0.12, 0.88), (0.66, 0.88)], LINE, 0.03)


def popup(pen: Pen, look: Appearance) -> None:
    pen.rect((0.0, 0.0, 1.0, 1.0), PAPER, radius=0.06)
    pen.rect((0.0, 0.0, 1.0, 0.26), look.colour, radius=0.06, body=True)
    pen.rect((0.0, 0.14, 1.0, 0.26), look.colour, body=True)
    pen.text((0.5, 0.13), look.text or "Update now?", 0.14, ink_on(look.colour), max_width=0.84)
    pen.line([(0.1, 0.42), (0.9, 0.42)], LINE, 0.05)
    pen.line([(0.1, 0.55), (0.7, 0.55)], LINE, 0.05)
    pen.rect((0.52, 0.7, 0.92, 0.9), look.colour, radius=0.06, body=True)
    pen.rect((0.08, 0.7, 0.48, 0.9), LINE, radius=0.06)


def avatar(pen: Pen, look: Appearance) -> None:
    pen.disc((0.5, 0.5), 0.5, look.colour, body=True)
    pen.disc((0.5, 0.38), 0.17, lighter(look.colour, 0.75))
    pen.blob([(0.2, 0.86), (0.3, 0.66), (0.5, 0.6), (0.7, 0.66), (0.8, 0.86), (0.5, 0.97)], lighter(look.colour, 0.75))


def bar(pen: Pen, look: Appearance) -> None:
    pen.rect((0.0, 0.0, 1.0, 1.0), look.colour, radius=0.03, body=True)
    pen.rect((0.0, 0.5, 1.0, 1.0), look.colour, body=True)
    pen.text((0.5, 0.1), look.text, 0.12, ink_on(look.colour), max_width=0.86)


def star(pen: Pen, look: Appearance) -> None:
    pen.poly([(0.5, 0.0), (0.62, 0.35), (1.0, 0.38), (0.7, 0.61), (0.81, 0.98), (0.5, 0.77), (0.19, 0.98), (0.3,
                  0.61), (0.0, 0.38),
              (0.38, 0.35)], look.colour, body=True)  # fmt: skip


def heart(pen: Pen, look: Appearance) -> None:
    pen.blob([(0.5, 0.24), (0.72, 0.04), (0.98, 0.26), (0.84, 0.6), (0.5, 0.98), (0.16, 0.6), (0.02, 0.26), (0.28,
                  0.04)],
             look.colour, body=True)  # fmt: skip


def moon(pen: Pen, look: Appearance) -> None:
    pen.disc((0.5, 0.5), 0.5, look.colour, body=True)
    for x, y, r in ((0.34, 0.36, 0.1), (0.62, 0.6, 0.13), (0.66, 0.28, 0.06)):
        pen.disc((x, y), r, darker(look.colour, 0.14), body=True)


def rocket(pen: Pen, look: Appearance) -> None:
    pen.blob([(0.5, 1.0), (0.36, 0.86), (0.42, 0.76), (0.58, 0.76), (0.64, 0.86)], (252, 182, 76))
    pen.poly([(0.3, 0.5), (0.0, 0.8), (0.3, 0.76)], look.dark, body=True)
    pen.poly([(0.7, 0.5), (1.0, 0.8), (0.7, 0.76)], look.dark, body=True)
    pen.blob(
        [(0.5, 0.0), (0.74, 0.26), (0.72, 0.6), (0.64, 0.79), (0.36, 0.79), (0.28, 0.6), (0.26, 0.26)],
        look.colour,
        body=True,
    )
    pen.disc((0.5, 0.38), 0.1, (250, 250, 250))
    pen.disc((0.5, 0.38), 0.075, (120, 176, 214))


def receipt(pen: Pen, look: Appearance) -> None:
    pen.poly([(0.0, 0.0), (1.0, 0.0), (1.0, 0.97), (0.9, 1.0), (0.8, 0.97), (0.7, 1.0), (0.6, 0.97), (0.5, 1.0),
                  (0.4, 0.97),
              (0.3, 1.0), (0.2, 0.97), (0.1, 1.0), (0.0, 0.97)], (252, 251, 246))  # fmt: skip
    pen.text((0.5, 0.09), "CORNER CAFE", 0.06, look.colour, max_width=0.8)
    for i, (name, price) in enumerate((("Coffee", "3.20"), ("Tea", "2.80"), ("Cake", "4.50"), ("Juice", "3.00"))):
        pen.text((0.26, 0.24 + 0.11 * i), name, 0.05, GREY, max_width=0.4)
        pen.text((0.8, 0.24 + 0.11 * i), price, 0.05, GREY, max_width=0.3)
    pen.line([(0.08, 0.69), (0.92, 0.69)], GREY, 0.006)
    pen.text((0.5, 0.8), look.text or "TOTAL 13.50", 0.075, look.colour, max_width=0.86, weight=2)

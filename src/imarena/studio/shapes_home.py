"""Shapes of things found indoors. Each function draws one thing into the unit box of a pen."""

from imarena.studio.palette import darker, ink_on, lighter
from imarena.studio.pen import Appearance, Pen

LEAF = (74, 140, 78)
LEAF_DARK = (52, 108, 62)
BRASS = (196, 158, 92)
PAGE = (246, 242, 230)
INK = (52, 50, 56)


def ball(pen: Pen, look: Appearance) -> None:
    pen.oval((0.0, 0.0, 1.0, 1.0), look.colour, body=True)
    pen.poly([(0.0, 0.44), (0.28, 0.4), (0.72, 0.4), (1.0, 0.44), (1.0, 0.56), (0.72, 0.6), (0.28, 0.6), (0.0, 0.56)],
             lighter(look.colour, 0.55))  # fmt: skip


def mug(pen: Pen, look: Appearance) -> None:
    pen.ring((0.76, 0.55), 0.2, look.dark, 0.085, body=True)
    pen.poly(
        [(0.04, 0.14), (0.76, 0.14), (0.72, 0.92), (0.66, 0.99), (0.14, 0.99), (0.08, 0.92)], look.colour, body=True
    )
    pen.oval((0.04, 0.04, 0.76, 0.24), look.light, body=True)
    pen.oval((0.09, 0.075, 0.71, 0.215), (84, 54, 40))
    pen.text((0.4, 0.6), look.text, 0.2, ink_on(look.colour), max_width=0.55)


def book(pen: Pen, look: Appearance) -> None:
    if look.state == "open":
        pen.poly([(0.0, 0.5), (0.5, 0.62), (1.0, 0.5), (1.0, 0.95), (0.5, 1.0), (0.0, 0.95)], look.dark, body=True)
        pen.poly([(0.03, 0.46), (0.5, 0.6), (0.5, 0.96), (0.03, 0.9)], PAGE)
        pen.poly([(0.97, 0.46), (0.5, 0.6), (0.5, 0.96), (0.97, 0.9)], lighter(PAGE, 0.4))
        for i in range(4):
            y = 0.57 + 0.075 * i
            pen.line([(0.1, y), (0.43, y + 0.07)], (170, 164, 156), 0.012)
            pen.line([(0.9, y), (0.57, y + 0.07)], (170, 164, 156), 0.012)
        return
    pen.poly([(0.86, 0.03), (0.99, 0.07), (0.99, 0.95), (0.86, 0.99)], PAGE)
    pen.rect((0.02, 0.0, 0.88, 1.0), look.colour, radius=0.025, body=True)
    pen.rect((0.02, 0.0, 0.13, 1.0), look.dark, radius=0.02, body=True)
    pen.rect((0.24, 0.14, 0.78, 0.42), lighter(look.colour, 0.75), radius=0.02)
    pen.text((0.51, 0.28), look.text or "TALES", 0.13, darker(look.colour, 0.45), max_width=0.48)
    pen.line([(0.32, 0.86), (0.7, 0.86)], lighter(look.colour, 0.6), 0.012)


def lamp(pen: Pen, look: Appearance) -> None:
    lit = look.state != "off"
    pen.oval((0.22, 0.92, 0.78, 1.0), BRASS)
    pen.line([(0.5, 0.94), (0.5, 0.42)], BRASS, 0.035)
    pen.line([(0.64, 0.42), (0.64, 0.56)], BRASS, 0.008)
    shade = lighter(look.colour, 0.32) if lit else darker(look.colour, 0.18)
    pen.poly([(0.27, 0.02), (0.73, 0.02), (0.99, 0.46), (0.01, 0.46)], shade, body=True)
    pen.oval((0.01, 0.42, 0.99, 0.5), shade, body=True)
    if lit:
        pen.oval((0.1, 0.435, 0.9, 0.487), (255, 246, 208))


def plant(pen: Pen, look: Appearance) -> None:
    for tip, side in (((0.04, 0.22), -1), ((0.96, 0.2), 1), ((0.24, 0.02), -1), ((0.78, 0.03), 1), ((0.5, 0.0), 1)):
        mid = ((tip[0] + 0.5) / 2 + 0.06 * side, (tip[1] + 0.62) / 2)
        away = ((tip[0] + 0.5) / 2 - 0.08 * side, (tip[1] + 0.62) / 2 + 0.02)
        pen.blob([(0.5, 0.66), mid, tip, away], LEAF if side > 0 else LEAF_DARK)
        pen.line([(0.5, 0.64), (tip[0] * 0.9 + 0.05, tip[1] * 0.85 + 0.1)], lighter(LEAF, 0.25), 0.008)
    pen.poly([(0.2, 0.62), (0.8, 0.62), (0.72, 1.0), (0.28, 1.0)], look.colour, body=True)
    pen.rect((0.16, 0.58, 0.84, 0.69), look.light, radius=0.02, body=True)


def clock(pen: Pen, look: Appearance) -> None:
    pen.disc((0.5, 0.5), 0.5, look.colour, body=True)
    pen.disc((0.5, 0.5), 0.405, (250, 247, 238))
    for i, (x, y) in enumerate([(0.5, 0.16), (0.84, 0.5), (0.5, 0.84), (0.16, 0.5)]):
        pen.text((x, y), ("12", "3", "6", "9")[i], 0.11, INK, max_width=0.2)
    hour, minute = {"six": ((0.5, 0.72), (0.5, 0.22)), "three": ((0.72, 0.5), (0.5, 0.22))}.get(
        look.state, ((0.36, 0.38), (0.68, 0.3))
    )
    pen.line([(0.5, 0.5), hour], INK, 0.045)
    pen.line([(0.5, 0.5), minute], INK, 0.026)
    pen.disc((0.5, 0.5), 0.035, look.dark)


def vase(pen: Pen, look: Appearance) -> None:
    for x, y, tint in ((0.22, 0.14, (240, 132, 150)), (0.5, 0.07, (250, 206, 96)), (0.8, 0.15, (232, 110, 92))):
        pen.line([(0.5, 0.5), (x, y)], LEAF_DARK, 0.014)
        for dx, dy in ((-0.09, 0), (0.09, 0), (0, -0.05), (0, 0.05)):
            pen.disc((x + dx, y + dy), 0.042, tint)
        pen.disc((x, y), 0.028, (255, 240, 190))
    pen.blob([(0.36, 0.44), (0.64, 0.44), (0.62, 0.54), (0.86, 0.72), (0.74, 0.97), (0.5, 0.995), (0.26, 0.97),
                  (0.14, 0.72),
              (0.38, 0.54)], look.colour, body=True)  # fmt: skip
    pen.oval((0.32, 0.41, 0.68, 0.47), look.light, body=True)


def cat(pen: Pen, look: Appearance) -> None:
    c, d = look.colour, look.dark
    pen.line([(0.74, 0.9), (0.93, 0.84), (0.95, 0.66), (0.86, 0.56)], d, 0.07, body=True)
    pen.blob(
        [(0.34, 0.42), (0.62, 0.42), (0.8, 0.74), (0.78, 0.98), (0.5, 1.0), (0.24, 0.98), (0.24, 0.7)], c, body=True
    )
    pen.poly([(0.22, 0.22), (0.22, 0.0), (0.42, 0.12)], d, body=True)
    pen.poly([(0.72, 0.22), (0.72, 0.0), (0.52, 0.12)], d, body=True)
    pen.oval((0.18, 0.08, 0.76, 0.5), c, body=True)
    if look.state == "asleep":
        pen.arc((0.35, 0.28), 0.045, 10, 170, INK, 0.016)
        pen.arc((0.59, 0.28), 0.045, 10, 170, INK, 0.016)
    else:
        pen.disc((0.35, 0.28), 0.045, (236, 214, 110))
        pen.disc((0.59, 0.28), 0.045, (236, 214, 110))
        pen.disc((0.35, 0.28), 0.026, INK)
        pen.disc((0.59, 0.28), 0.026, INK)
    pen.poly([(0.44, 0.36), (0.5, 0.36), (0.47, 0.395)], (226, 140, 140))
    for y in (0.37, 0.41):
        pen.line([(0.22, y), (0.06, y - 0.02)], lighter(c, 0.5), 0.007)
        pen.line([(0.72, y), (0.88, y - 0.02)], lighter(c, 0.5), 0.007)
    pen.oval((0.33, 0.9, 0.48, 1.0), lighter(c, 0.25))
    pen.oval((0.52, 0.9, 0.67, 1.0), lighter(c, 0.25))


def box(pen: Pen, look: Appearance) -> None:
    if look.state == "open":
        pen.poly([(0.12, 0.36), (0.88, 0.36), (0.88, 0.5), (0.12, 0.5)], darker(look.colour, 0.55))
        pen.poly([(0.12, 0.38), (0.0, 0.16), (0.3, 0.2), (0.4, 0.4)], look.light, body=True)
        pen.poly([(0.88, 0.38), (1.0, 0.16), (0.7, 0.2), (0.6, 0.4)], look.light, body=True)
    else:
        pen.poly([(0.1, 0.38), (0.24, 0.2), (0.96, 0.2), (0.9, 0.38)], look.light, body=True)
    pen.rect((0.1, 0.38, 0.9, 1.0), look.colour, radius=0.015, body=True)
    pen.rect((0.44, 0.38, 0.56, 0.7), lighter(look.colour, 0.45))
    pen.text((0.5, 0.83), look.text, 0.15, ink_on(look.colour), max_width=0.7)


def chair(pen: Pen, look: Appearance) -> None:
    c, d = look.colour, look.dark
    for x in (0.16, 0.8):
        pen.line([(x + 0.02, 0.55), (x, 0.98)], d, 0.04, body=True)
    pen.rect((0.14, 0.0, 0.86, 0.5), c, radius=0.06, body=True)
    pen.rect((0.24, 0.08, 0.76, 0.42), look.light, radius=0.04, body=True)
    pen.poly([(0.12, 0.5), (0.88, 0.5), (0.98, 0.64), (0.02, 0.64)], c, body=True)
    pen.rect((0.02, 0.63, 0.98, 0.7), d, radius=0.02, body=True)
    for x in (0.06, 0.94):
        pen.line([(x, 0.68), (x, 0.98)], d, 0.04, body=True)


def framed_picture(pen: Pen, look: Appearance) -> None:
    pen.rect((0.0, 0.0, 1.0, 1.0), look.colour, radius=0.02, body=True)
    pen.rect((0.07, 0.09, 0.93, 0.91), (250, 248, 240))
    pen.rect((0.14, 0.18, 0.86, 0.82), (176, 210, 232))
    pen.disc((0.7, 0.34), 0.08, (252, 226, 140))
    pen.poly([(0.14, 0.82), (0.14, 0.66), (0.36, 0.42), (0.56, 0.68), (0.68, 0.54), (0.86, 0.74), (0.86, 0.82)],
             (108, 146, 118))  # fmt: skip


def candle(pen: Pen, look: Appearance) -> None:
    if look.state != "off":
        pen.blob([(0.5, 0.0), (0.66, 0.18), (0.5, 0.27), (0.34, 0.18)], (255, 190, 84))
        pen.blob([(0.5, 0.09), (0.57, 0.19), (0.5, 0.25), (0.43, 0.19)], (255, 244, 196))
    pen.line([(0.5, 0.24), (0.5, 0.34)], INK, 0.016)
    pen.rect((0.24, 0.32, 0.76, 0.95), look.colour, radius=0.03, body=True)
    pen.oval((0.24, 0.28, 0.76, 0.37), look.light, body=True)
    pen.oval((0.0, 0.88, 1.0, 1.0), BRASS)
    pen.rect((0.24, 0.8, 0.76, 0.94), look.colour, radius=0.02, body=True)


def gift(pen: Pen, look: Appearance) -> None:
    ribbon = lighter(look.colour, 0.62)
    pen.rect((0.06, 0.34, 0.94, 1.0), look.colour, radius=0.02, body=True)
    pen.rect((0.0, 0.26, 1.0, 0.44), look.dark, radius=0.02, body=True)
    pen.rect((0.43, 0.26, 0.57, 1.0), ribbon)
    pen.blob([(0.5, 0.27), (0.2, 0.24), (0.2, 0.04), (0.42, 0.1)], ribbon)
    pen.blob([(0.5, 0.27), (0.8, 0.24), (0.8, 0.04), (0.58, 0.1)], ribbon)


def laptop(pen: Pen, look: Appearance) -> None:
    if look.state == "closed":
        pen.poly([(0.08, 0.86), (0.92, 0.86), (1.0, 0.94), (0.0, 0.94)], look.light, body=True)
        pen.rect((0.0, 0.93, 1.0, 1.0), look.dark, radius=0.03, body=True)
        return
    pen.rect((0.12, 0.0, 0.88, 0.78), look.colour, radius=0.03, body=True)
    pen.rect((0.16, 0.05, 0.84, 0.72), (38, 52, 74))
    pen.text((0.5, 0.38), look.text, 0.15, (206, 236, 246), max_width=0.6)
    pen.poly([(0.12, 0.78), (0.88, 0.78), (1.0, 0.94), (0.0, 0.94)], look.light, body=True)
    pen.poly([(0.18, 0.8), (0.82, 0.8), (0.88, 0.88), (0.12, 0.88)], darker(look.colour, 0.4))
    pen.rect((0.0, 0.93, 1.0, 1.0), look.dark, radius=0.03, body=True)

"""Shapes of things found out of doors."""

from imarena.studio.palette import darker, ink_on, lighter, mix
from imarena.studio.pen import Appearance, Pen

TRUNK = (110, 80, 58)
TYRE = (44, 44, 50)
GLASS = (186, 216, 232)
STEEL = (170, 174, 182)


def car(pen: Pen, look: Appearance) -> None:
    pen.blob([(0.2, 0.42), (0.32, 0.06), (0.62, 0.04), (0.78, 0.4), (0.7, 0.5), (0.26, 0.5)], look.colour, body=True)
    pen.rect((0.02, 0.38, 0.98, 0.82), look.colour, radius=0.2, body=True)
    pen.poly([(0.27, 0.4), (0.35, 0.14), (0.48, 0.13), (0.48, 0.4)], GLASS)
    pen.poly([(0.52, 0.13), (0.61, 0.13), (0.72, 0.4), (0.52, 0.4)], GLASS)
    pen.rect((0.02, 0.68, 0.98, 0.78), look.dark, radius=0.04, body=True)
    pen.rect((0.46, 0.5, 0.53, 0.54), look.dark)
    pen.oval((0.9, 0.46, 0.98, 0.6), (255, 242, 190))
    pen.oval((0.015, 0.46, 0.07, 0.6), (206, 66, 58))
    for x in (0.23, 0.77):
        pen.disc((x, 0.78), 0.215, TYRE)
        pen.disc((x, 0.78), 0.12, STEEL)
        pen.disc((x, 0.78), 0.04, TYRE)


def house(pen: Pen, look: Appearance) -> None:
    roof = (150, 82, 66)
    pen.rect((0.7, 0.04, 0.8, 0.3), darker(roof, 0.2))
    pen.rect((0.08, 0.36, 0.92, 1.0), look.colour, body=True)
    pen.poly([(0.5, 0.0), (1.0, 0.42), (0.0, 0.42)], roof)
    pen.rect((0.42, 0.64, 0.6, 1.0), darker(look.colour, 0.5), radius=0.01)
    pen.disc((0.565, 0.83), 0.014, (230, 196, 110))
    lit = (255, 226, 150) if look.state == "lit" else GLASS
    for x in (0.16, 0.68):
        pen.rect((x, 0.54, x + 0.18, 0.76), (250, 248, 242))
        pen.rect((x + 0.02, 0.56, x + 0.16, 0.74), lit)
        pen.line([(x + 0.09, 0.56), (x + 0.09, 0.74)], (250, 248, 242), 0.012)
    pen.disc((0.5, 0.26), 0.07, (250, 248, 242))
    pen.disc((0.5, 0.26), 0.052, lit)


def tree(pen: Pen, look: Appearance) -> None:
    pen.poly([(0.43, 0.6), (0.57, 0.6), (0.62, 1.0), (0.38, 1.0)], TRUNK)
    pen.line([(0.5, 0.72), (0.66, 0.56)], TRUNK, 0.03)
    for centre, radius, tint in (
        ((0.28, 0.44), 0.2, look.dark), ((0.72, 0.44), 0.2, look.dark), ((0.5, 0.26), 0.25, look.colour),
        ((0.36, 0.38), 0.19, look.colour), ((0.64, 0.4), 0.2, look.colour), ((0.44, 0.2), 0.12, look.light),
    ):  # fmt: skip
        pen.disc(centre, radius, tint, body=True)


def pine(pen: Pen, look: Appearance) -> None:
    pen.rect((0.43, 0.82, 0.57, 1.0), TRUNK)
    for i, tint in enumerate((look.dark, look.colour, look.light)):
        top, bottom, half = 0.42 - 0.21 * i, 0.88 - 0.24 * i, 0.5 - 0.1 * i
        pen.poly([(0.5, top), (0.5 + half, bottom), (0.5, bottom - 0.05), (0.5 - half, bottom)], tint, body=True)


def sign(pen: Pen, look: Appearance) -> None:
    ink = ink_on(look.colour)
    pen.rect((0.46, 0.4, 0.54, 1.0), STEEL)
    pen.rect((0.0, 0.0, 1.0, 0.5), look.colour, radius=0.05, body=True)
    pen.rect((0.03, 0.04, 0.97, 0.06), ink)
    pen.rect((0.03, 0.44, 0.97, 0.46), ink)
    if look.state == "faded":
        ink = mix(look.colour, ink, 0.18)
    pen.text((0.5, 0.25), look.text or "STOP", 0.24, ink, max_width=0.84, weight=2)


def bench(pen: Pen, look: Appearance) -> None:
    for x in (0.14, 0.86):
        pen.rect((x - 0.025, 0.1, x + 0.025, 1.0), darker(STEEL, 0.4))
    for y in (0.0, 0.2):
        pen.rect((0.0, y, 1.0, y + 0.14), look.colour, radius=0.04, body=True)
    pen.poly([(0.02, 0.5), (0.98, 0.5), (1.0, 0.64), (0.0, 0.64)], look.light, body=True)
    pen.rect((0.0, 0.62, 1.0, 0.71), look.dark, radius=0.02, body=True)


def bicycle(pen: Pen, look: Appearance) -> None:
    rear, front, seat, bars, pedal = (0.2, 0.68), (0.8, 0.68), (0.38, 0.22), (0.68, 0.2), (0.46, 0.68)
    for wheel in (rear, front):
        pen.ring(wheel, 0.29, TYRE, 0.045)
        pen.ring(wheel, 0.27, STEEL, 0.015)
        for dx, dy in ((0.16, 0.0), (0.0, 0.26), (0.11, 0.18), (-0.11, 0.18)):
            pen.line([(wheel[0] - dx, wheel[1] - dy), (wheel[0] + dx, wheel[1] + dy)], STEEL, 0.006)
    for start, end in (
        (rear, pedal),
        (pedal, seat),
        (seat, rear),
        (pedal, (0.69, 0.3)),
        ((0.4, 0.3), (0.69, 0.3)),
        (front, bars),
    ):
        pen.line([start, end], look.colour, 0.055, body=True)
    pen.line([(0.31, 0.2), (0.45, 0.2)], TYRE, 0.06)
    pen.line([bars, (0.76, 0.12), (0.7, 0.1)], TYRE, 0.04)
    pen.disc(pedal, 0.06, STEEL)


def mailbox(pen: Pen, look: Appearance) -> None:
    pen.rect((0.42, 0.5, 0.58, 1.0), TRUNK)
    pen.rect((0.0, 0.06, 1.0, 0.56), look.colour, radius=0.22, body=True)
    pen.rect((0.0, 0.32, 1.0, 0.56), look.colour, body=True)
    pen.rect((0.14, 0.26, 0.62, 0.31), look.dark)
    pen.rect((0.8, 0.0, 0.87, 0.26), (226, 188, 90))
    pen.rect((0.7, 0.0, 0.87, 0.1), (226, 188, 90))
    pen.text((0.44, 0.43), look.text, 0.13, ink_on(look.colour), max_width=0.7)


def bird(pen: Pen, look: Appearance) -> None:
    pen.line([(0.46, 0.8), (0.44, 1.0)], (196, 130, 60), 0.03)
    pen.line([(0.58, 0.8), (0.58, 1.0)], (196, 130, 60), 0.03)
    pen.poly([(0.26, 0.56), (0.0, 0.72), (0.05, 0.84), (0.36, 0.76)], look.dark, body=True)
    pen.blob(
        [(0.24, 0.52), (0.56, 0.3), (0.82, 0.44), (0.76, 0.78), (0.46, 0.88), (0.26, 0.76)], look.colour, body=True
    )
    pen.disc((0.74, 0.3), 0.2, look.colour, body=True)
    pen.poly([(0.89, 0.24), (1.0, 0.32), (0.89, 0.37)], (238, 168, 70))
    pen.disc((0.78, 0.26), 0.04, TYRE)
    pen.blob([(0.3, 0.54), (0.56, 0.48), (0.62, 0.66), (0.4, 0.76)], look.dark, body=True)


def boat(pen: Pen, look: Appearance) -> None:
    pen.line([(0.48, 0.02), (0.48, 0.8)], TRUNK, 0.022)
    pen.poly([(0.51, 0.04), (0.9, 0.66), (0.51, 0.66)], (250, 248, 240))
    pen.poly([(0.45, 0.14), (0.16, 0.66), (0.45, 0.66)], (236, 230, 216))
    pen.poly([(0.02, 0.74), (0.98, 0.74), (0.82, 1.0), (0.16, 1.0)], look.colour, body=True)
    pen.poly([(0.02, 0.74), (0.98, 0.74), (0.95, 0.79), (0.05, 0.79)], look.light, body=True)


def balloon(pen: Pen, look: Appearance) -> None:
    pen.blob([(0.5, 0.0), (0.92, 0.12), (0.96, 0.38), (0.5, 0.66), (0.04, 0.38), (0.08, 0.12)], look.colour, body=True)
    pen.poly([(0.5, 0.64), (0.58, 0.7), (0.42, 0.7)], look.dark, body=True)
    pen.line([(0.5, 0.7), (0.46, 0.8), (0.53, 0.9), (0.49, 1.0)], (150, 146, 142), 0.008)


def umbrella(pen: Pen, look: Appearance) -> None:
    pale = lighter(look.colour, 0.62)
    pen.line([(0.5, 0.05), (0.5, 1.0)], TRUNK, 0.022)
    pen.blob([(0.5, 0.02), (0.82, 0.12), (1.0, 0.4), (0.75, 0.36), (0.5, 0.4), (0.25, 0.36), (0.0, 0.4), (0.18, 0.12)],
             look.colour, body=True)  # fmt: skip
    pen.poly([(0.5, 0.04), (0.38, 0.12), (0.27, 0.37), (0.5, 0.395), (0.73, 0.37), (0.62, 0.12)], pale)
    pen.poly(
        [(0.5, 0.04), (0.46, 0.12), (0.42, 0.38), (0.5, 0.395), (0.58, 0.38), (0.54, 0.12)], look.colour, body=True
    )


def snowman(pen: Pen, look: Appearance) -> None:
    snow = (244, 247, 252)
    pen.disc((0.5, 0.78), 0.22, snow)
    pen.disc((0.5, 0.45), 0.16, snow)
    pen.disc((0.5, 0.22), 0.12, snow)
    pen.rect((0.24, 0.29, 0.76, 0.36), look.colour, radius=0.03, body=True)
    pen.rect((0.58, 0.32, 0.68, 0.54), look.colour, radius=0.02, body=True)
    pen.rect((0.28, 0.1, 0.72, 0.13), TYRE)
    pen.rect((0.36, 0.0, 0.64, 0.12), TYRE)
    pen.poly([(0.5, 0.22), (0.74, 0.24), (0.5, 0.255)], (238, 140, 60))
    for x, y in ((0.42, 0.19), (0.58, 0.19), (0.5, 0.42), (0.5, 0.5)):
        pen.disc((x, y), 0.015, TYRE)

// Where things are. A scale is the height of a picture in CSS pixels: one scale for all panes, one height for all pictures.

export interface Size {
  width: number;
  height: number;
}

/** What a pane shows: its centre as a share of the picture, and the scale. */
export interface Look {
  x: number;
  y: number;
  scale: number;
}

/** Left, top, right, bottom in pixels of the picture. */
export type Box = [number, number, number, number];

/** The greatest scale at which a picture is whole in its pane. */
export function fitScale(pane: Size, picture: Size): number {
  return Math.min(pane.height, (pane.width * picture.height) / picture.width);
}

/** The scale at which one pixel of the picture is one pixel of the screen. */
export function trueScale(picture: Size, pixelRatio: number): number {
  return picture.height / pixelRatio;
}

/** Screen pixels for each pixel of the picture, in percent. */
export function percent(picture: Size, scale: number, pixelRatio: number): number {
  return (100 * scale * pixelRatio) / picture.height;
}

/** The box between two corners, kept inside the picture, or null where nothing is left of it. */
export function boxBetween(one: readonly [number, number], other: readonly [number, number], picture: Size): Box | null {
  const clamp = (value: number, most: number) => Math.round(Math.min(Math.max(value, 0), most));
  const box: Box = [
    clamp(Math.min(one[0], other[0]), picture.width),
    clamp(Math.min(one[1], other[1]), picture.height),
    clamp(Math.max(one[0], other[0]), picture.width),
    clamp(Math.max(one[1], other[1]), picture.height),
  ];
  return box[2] > box[0] && box[3] > box[1] ? box : null;
}

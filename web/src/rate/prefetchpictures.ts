// The pictures of the next task, fetched while this one is looked at: the browser keeps them until they are shown.
import * as calls from "../api/calls";
import type { Picture, Segments, TaskOut } from "../api/schema";
import { withBase } from "../basepath";
import { fitScale, type Size } from "../view/geometry";
import { tileAddress } from "../view/tiles";

const KEPT = 4;
/** The viewer draws from the finest level whose pixels are at least half a pixel of the screen. */
const LEAST = 0.5;

const segments = new Map<string, Promise<Segments>>();

/** The numbered parts of a task's picture, asked for once. */
export function segmentsOf(address: string): Promise<Segments> {
  const known = segments.get(address);
  if (known) return known;
  const asked = calls.segments(address);
  asked.catch(() => segments.delete(address));
  segments.set(address, asked);
  for (const old of [...segments.keys()].slice(0, -KEPT)) segments.delete(old);
  return asked;
}

/** The pictures that the first look at a task shows. */
function pictures(task: TaskOut): Picture[] {
  const found = [...task.sources.slice(0, 2), ...task.references.slice(0, 2), task.left, task.right];
  return found.filter((one): one is Picture => one !== null);
}

/** All pictures of a task, by the names that the server has for them. */
function picturesBySlot(task: TaskOut): Record<string, Picture> {
  return {
    ...Object.fromEntries(task.sources.map((picture, index) => [`source-${index}`, picture])),
    ...Object.fromEntries(task.references.map((picture, index) => [`reference-${index}`, picture])),
    ...(task.left ? { left: task.left } : {}),
    ...(task.right ? { right: task.right } : {}),
  };
}

/** Ask for the smallest tile of every picture: the server takes an answer only where each one was asked for. */
export function requestEveryPicture(task: TaskOut): void {
  for (const picture of Object.values(picturesBySlot(task))) new Image().src = tileAddress(picture, 0, 0, 0);
}

/** Ask the server for pictures, also for those that the browser has kept: a 304 counts. One that cannot be had is left to the server's refusal. */
export async function requestPictures(task: TaskOut, slots: readonly string[]): Promise<void> {
  const known = picturesBySlot(task);
  const wanted = slots.flatMap((slot) => known[slot] ?? []);
  await Promise.all(wanted.map((picture) => fetch(withBase(picture.url), { cache: "no-cache", credentials: "same-origin" }).catch(() => undefined)));
}

/** Width and height of a picture at a level of its tiles. */
function atLevel(picture: Picture, level: number): Size {
  const times = 2 ** (picture.max_level - level);
  return { width: Math.ceil(picture.width / times), height: Math.ceil(picture.height / times) };
}

/** The tiles that show the whole picture at a height on the screen, in device pixels: the viewer asks for coarser ones too. */
export function tilesFor(picture: Picture, height: number): string[] {
  let finest = picture.max_level;
  while (finest > 0 && height / atLevel(picture, finest).height < LEAST) finest -= 1;
  const found: string[] = [];
  for (let level = finest; level >= 0; level -= 1) {
    const size = atLevel(picture, level);
    for (let column = 0; column * picture.tile_size < size.width; column += 1) {
      for (let row = 0; row * picture.tile_size < size.height; row += 1) found.push(tileAddress(picture, level, column, row));
    }
  }
  return found;
}

/** The height at which all pictures of a task are whole, as the panes of the page are now. */
function homeHeight(shown: readonly Picture[], count: number): number {
  const panes = document.querySelector(".panes")?.getBoundingClientRect();
  const pane = (document.querySelector(".judged .pane-canvas") ?? document.querySelector(".pane-canvas"))?.getBoundingClientRect();
  if (!panes || !pane) return 0;
  const behind = document.querySelector(".panes[data-front]") !== null;
  const size = { width: behind ? pane.width : Math.min(pane.width, panes.width / count), height: pane.height };
  return Math.min(...shown.map((one) => fitScale(size, one)));
}

/** Fetch what the first look at a task needs. */
export function prefetchPictures(task: TaskOut): void {
  requestEveryPicture(task);
  const shown = pictures(task);
  if (!shown.length) return;
  const height = homeHeight(shown, Math.min(shown.length, 3)) * window.devicePixelRatio;
  for (const address of shown.flatMap((one) => tilesFor(one, height))) {
    const image = new Image();
    image.src = address;
  }
  if (task.segments_url) segmentsOf(task.address).catch(() => undefined);
}

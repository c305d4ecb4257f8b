// A deep-zoom viewer for one picture: true pixels from tiles, no buttons and no keys of its own.
import OpenSeadragon from "openseadragon";
import type { Picture } from "../api/schema";
import { paneOf } from "./viewgroup";
import { percent } from "./geometry";
import { tileAddress } from "./tiles";

export function tileSource(picture: Picture): OpenSeadragon.TileSourceOptions {
  return {
    width: picture.width,
    height: picture.height,
    tileSize: picture.tile_size,
    tileOverlap: 0,
    minLevel: 0,
    maxLevel: picture.max_level,
    getTileUrl: (level: number, column: number, row: number) => tileAddress(picture, level, column, row),
  } as OpenSeadragon.TileSourceOptions;
}

/** The viewer would add an inline style to the page, which the content security policy refuses; task.css says the same.
 * It looks for the mark first: an element of that name that is no style sheet keeps it from trying. */
function keepStyleOut(): void {
  const mark = "data-openseadragon-mobile-css";
  if (document.querySelector(`style[${mark}]`)) return;
  const style = document.createElementNS("urn:imarena", "style");
  style.setAttribute(mark, "true");
  document.head.append(style);
}

const FIRST_AGAIN_MS = 2_000;
const MOST_AGAIN_MS = 30_000;

const nameOf = ({ level, x, y }: OpenSeadragon.Tile) => `${level}/${x}/${y}`;

/** A picture of which a tile did not come is asked for again, later and later, as long as it is on the page. */
function retryTiles(viewer: OpenSeadragon.Viewer, onFailing: (failing: boolean) => void): void {
  const failed = new Map<string, OpenSeadragon.Tile>();
  let wait = FIRST_AGAIN_MS;
  let timer = 0;
  function again(): void {
    timer = 0;
    for (const tile of failed.values()) tile.exists = true; // the viewer takes a tile that failed for one that is not there
    failed.clear();
    viewer.world.getItemAt(0)?.reset();
  }
  function soon(): void {
    if (!timer) return;
    window.clearTimeout(timer);
    again();
  }
  viewer.addHandler("tile-load-failed", ({ tile }) => {
    failed.set(nameOf(tile), tile);
    onFailing(true);
    if (timer) return;
    timer = window.setTimeout(again, wait);
    wait = Math.min(2 * wait, MOST_AGAIN_MS);
  });
  viewer.addHandler("tile-loaded", ({ tile }) => {
    failed.delete(nameOf(tile));
    onFailing(failed.size > 0);
    wait = FIRST_AGAIN_MS;
  });
  window.addEventListener("online", soon);
  viewer.addHandler("destroy", () => {
    window.clearTimeout(timer);
    window.removeEventListener("online", soon);
  });
}

interface ViewerOptions {
  /** A picture that does not answer to the pointer. */
  still?: boolean;
  onFailing?: (failing: boolean) => void;
}

export function makeViewer(element: HTMLElement, picture: Picture, { still = false, onFailing = () => {} }: ViewerOptions = {}): OpenSeadragon.Viewer {
  keepStyleOut();
  const viewer = new OpenSeadragon.Viewer({
    element,
    drawer: "canvas",
    showNavigationControl: false,
    showNavigator: false,
    mouseNavEnabled: !still,
    animationTime: window.matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 0.25,
    springStiffness: 9,
    visibilityRatio: 0.2,
    minZoomImageRatio: 0.5,
    maxZoomPixelRatio: 16,
    immediateRender: true,
    blendTime: 0,
    smoothTileEdgesMinZoom: Number.POSITIVE_INFINITY,
    gestureSettingsMouse: { clickToZoom: false, dblClickToZoom: false },
    gestureSettingsTouch: { clickToZoom: false, dblClickToZoom: false, flickEnabled: false },
    tileRetryMax: 0, // see retryTiles
  });
  retryTiles(viewer, onFailing);
  // The page has one set of keys for all panes.
  viewer.addHandler("canvas-key", (event) => {
    event.preventDefaultAction = true;
  });
  // Past 1:1 a pixel is shown as a square, not as a blur.
  let smooth = true;
  viewer.addHandler("viewport-change", () => {
    const scale = viewer.viewport.getZoom(true) * paneOf(viewer).width;
    const share = percent(picture, scale, window.devicePixelRatio);
    if (share < 100 !== smooth) {
      smooth = !smooth;
      viewer.drawer.setImageSmoothingEnabled(smooth);
    }
  });
  viewer.open({ tileSource: tileSource(picture), height: 1 });
  return viewer;
}

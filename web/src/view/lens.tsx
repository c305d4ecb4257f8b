// A magnifier under the pointer, shown in every pane at the same place of the picture.
import type OpenSeadragon from "openseadragon";
import { useEffect, useEffectEvent, useRef } from "react";
import type { Picture } from "../api/schema";
import { paneOf } from "./viewgroup";
import { makeViewer } from "./viewer";

/** A place as a share of the picture. */
export interface Spot {
  x: number;
  y: number;
}

const SIZE = 200;
const TIMES = 4;

interface Props {
  viewer: OpenSeadragon.Viewer;
  picture: Picture;
  spot: Spot;
}

export function Lens({ viewer, picture, spot }: Props) {
  const glass = useRef<HTMLDivElement>(null);
  const holder = useRef<HTMLDivElement>(null);
  const lens = useRef<OpenSeadragon.Viewer | null>(null);

  const make = useEffectEvent((element: HTMLElement) => makeViewer(element, picture, { still: true }));
  const opened = useEffectEvent((made: OpenSeadragon.Viewer) => aim(made, viewer, picture, spot));
  useEffect(() => {
    if (!holder.current) return undefined;
    const made = make(holder.current);
    made.addHandler("open", () => opened(made));
    lens.current = made;
    return () => {
      lens.current = null;
      made.destroy();
    };
  }, [picture.tiles_url]);

  useEffect(() => {
    const at = viewer.viewport.getCenter(true);
    at.x = (spot.x * picture.width) / picture.height;
    at.y = spot.y;
    const pixel = viewer.viewport.pixelFromPoint(at, true);
    if (glass.current) glass.current.style.transform = `translate(${pixel.x - SIZE / 2}px, ${pixel.y - SIZE / 2}px)`;
    if (lens.current?.isOpen()) aim(lens.current, viewer, picture, spot);
  }, [spot, viewer, picture]);

  return (
    <div ref={glass} className="lens" aria-hidden="true">
      <div ref={holder} className="lens-view" />
    </div>
  );
}

/** Four times what the pane shows. */
function aim(lens: OpenSeadragon.Viewer, pane: OpenSeadragon.Viewer, picture: Picture, spot: Spot): void {
  const scale = TIMES * pane.viewport.getZoom(true) * paneOf(pane).width;
  const at = lens.viewport.getCenter(true);
  at.x = (spot.x * picture.width) / picture.height;
  at.y = spot.y;
  lens.viewport.zoomTo(scale / SIZE, undefined, true);
  lens.viewport.panTo(at, true);
}

// One picture in a frame with its name, in step with the other panes of its group.
import type OpenSeadragon from "openseadragon";
import { useEffect, useEffectEvent, useRef, useState, type ReactNode, type RefObject } from "react";
import type { Picture } from "../api/schema";
import { strings } from "../strings";
import type { ViewGroup } from "./viewgroup";
import { Lens, type Spot } from "./lens";
import { makeViewer } from "./viewer";

interface Props {
  name: string;
  picture: Picture;
  group: ViewGroup;
  className?: string;
  lens?: boolean;
  spot?: Spot | null;
  onSpot?: (spot: Spot | null) => void;
  overlay?: (viewer: OpenSeadragon.Viewer) => ReactNode;
  children?: ReactNode;
}

export function Pane({ name, picture, group, className = "", lens = false, spot, onSpot, overlay, children }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const { viewer, broken, whole } = useViewer(frame, picture, group);

  function point(event: React.PointerEvent): void {
    if (!viewer || !lens || !frame.current) return;
    const edge = frame.current.getBoundingClientRect();
    const centre = viewer.viewport.getCenter(true);
    centre.x = event.clientX - edge.left;
    centre.y = event.clientY - edge.top;
    const place = viewer.viewport.pointFromPixel(centre, true);
    onSpot?.({ x: (place.x * picture.height) / picture.width, y: place.y });
  }

  return (
    <figure className={`pane ${className}`} data-pane={name} data-loaded={whole}>
      <div className="pane-canvas" onPointerMove={point} onPointerLeave={() => onSpot?.(null)}>
        <div ref={frame} className="pane-view" role="img" aria-label={name} />
        {viewer && overlay?.(viewer)}
        {viewer && lens && spot && <Lens viewer={viewer} picture={picture} spot={spot} />}
        {broken && <p className="pane-broken">{strings.view.broken}</p>}
      </div>
      <figcaption>
        <span>{name}</span>
        {children}
      </figcaption>
    </figure>
  );
}

/** A viewer in a frame, a member of the group as long as it is on the page. */
export function useViewer(frame: RefObject<HTMLDivElement | null>, picture: Picture, group: ViewGroup) {
  const [viewer, setViewer] = useState<OpenSeadragon.Viewer | null>(null);
  const [broken, setBroken] = useState(false);
  // Are all tiles of what is seen now there?
  const [whole, setWhole] = useState(false);
  const address = picture.tiles_url;
  const make = useEffectEvent((element: HTMLElement) => makeViewer(element, picture));
  const join = useEffectEvent((made: OpenSeadragon.Viewer) => group.add(made, picture));
  useEffect(() => {
    if (!frame.current) return undefined;
    const made = make(frame.current);
    let leave = () => {};
    made.addHandler("open", () => {
      leave = join(made);
      setViewer(made);
      const image = made.world.getItemAt(0);
      setWhole(image.getFullyLoaded());
      image.addHandler("fully-loaded-change", (event) => setWhole(event.fullyLoaded));
    });
    made.addHandler("tile-load-failed", () => setBroken(true));
    made.addHandler("tile-loaded", () => setBroken(false));
    return () => {
      leave();
      setViewer(null);
      setBroken(false);
      setWhole(false);
      made.destroy();
    };
    // The address is random for each assignment: a new one is a new picture.
  }, [frame, address, group]);
  return { viewer, broken, whole };
}

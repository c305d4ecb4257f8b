// One picture in a frame with its name, in step with the other panes of its group.
import type OpenSeadragon from "openseadragon";
import { useEffect, useEffectEvent, useRef, useState, type ReactNode, type RefObject } from "react";
import type { Picture } from "../api/schema";
import { fill, messages } from "../languages";
import type { PaneReport, ViewGroup } from "./viewgroup";
import { Lens, type Spot } from "./lens";
import { makeViewer } from "./viewer";

interface Props {
  name: string;
  picture: Picture;
  group: ViewGroup;
  className?: string;
  /** Another picture lies over this one. */
  hidden?: boolean;
  lens?: boolean;
  spot?: Spot | null;
  onSpot?: (spot: Spot | null) => void;
  /** A click on the picture, without a drag. */
  onChoose?: (() => void) | undefined;
  overlay?: ((viewer: OpenSeadragon.Viewer) => ReactNode) | undefined;
  children?: ReactNode;
}

export function Pane({ name, picture, group, className = "", hidden = false, lens = false, spot, onSpot, onChoose, overlay, children }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const { viewer, broken, whole } = useViewer(frame, picture, group, hidden);
  const clicked = useEffectEvent((event: OpenSeadragon.CanvasClickEvent) => {
    if (event.quick) onChoose?.();
  });
  useEffect(() => {
    const click = (event: OpenSeadragon.CanvasClickEvent) => clicked(event);
    viewer?.addHandler("canvas-click", click);
    return () => viewer?.removeHandler("canvas-click", click);
  }, [viewer]);

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
    <figure className={`pane ${className} ${onChoose ? "choosable" : ""}`} data-pane={name} data-loaded={whole && !broken}>
      <div className="pane-canvas" onPointerMove={point} onPointerLeave={() => onSpot?.(null)} title={onChoose ? fill(messages.view.choose, { name }) : undefined}>
        <div ref={frame} className="pane-view" role="img" aria-label={name} />
        {viewer && overlay?.(viewer)}
        {viewer && lens && spot && <Lens viewer={viewer} picture={picture} spot={spot} />}
        {broken && <p className="pane-broken">{messages.view.broken}</p>}
      </div>
      <figcaption>
        <span>{name}</span>
        {children}
      </figcaption>
    </figure>
  );
}

/** A viewer in a frame, a member of the group as long as it is on the page. */
export function useViewer(frame: RefObject<HTMLDivElement | null>, picture: Picture, group: ViewGroup, hidden = false) {
  const [viewer, setViewer] = useState<OpenSeadragon.Viewer | null>(null);
  const [broken, setBroken] = useState(false);
  // Are all tiles of what is seen now there?
  const [whole, setWhole] = useState(false);
  const report = useRef<PaneReport | null>(null);
  const address = picture.tiles_url;
  const make = useEffectEvent((element: HTMLElement, onFailing: (failing: boolean) => void) => makeViewer(element, picture, { onFailing }));
  const join = useEffectEvent((made: OpenSeadragon.Viewer) => group.add(made, picture));
  useEffect(() => {
    if (!frame.current) return undefined;
    const pane = group.watchPane(address);
    report.current = pane;
    let [full, failing] = [false, false];
    const tell = () => {
      setWhole(full);
      setBroken(failing);
      pane.setLoaded(full && !failing);
    };
    const made = make(frame.current, (now) => {
      failing = now;
      tell();
    });
    let leave = () => {};
    made.addHandler("open", () => {
      leave = join(made);
      setViewer(made);
      const image = made.world.getItemAt(0);
      full = image.getFullyLoaded();
      tell();
      image.addHandler("fully-loaded-change", (event) => {
        full = event.fullyLoaded;
        tell();
      });
    });
    return () => {
      leave();
      pane.leave();
      setViewer(null);
      setBroken(false);
      setWhole(false);
      made.destroy();
    };
    // The address is random for each assignment: a new one is a new picture.
  }, [frame, address, group]);
  useEffect(() => report.current?.setHidden(hidden), [hidden, address]);
  return { viewer, broken, whole };
}

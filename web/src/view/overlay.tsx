// Marks over a picture that move with it: numbered segments to click, boxes, and a box being drawn.
import type OpenSeadragon from "openseadragon";
import { useEffect, useEffectEvent, useReducer, useRef, useState } from "react";
import type { Picture, RegionBox, SegmentOut } from "../api/schema";
import { fill, messages } from "../languages";
import { boxBetween, type Box } from "./geometry";
import { segmentAt } from "./hittest";

const LABEL_PX = 13;

interface Props {
  viewer: OpenSeadragon.Viewer;
  picture: Picture;
  segments: readonly SegmentOut[];
  chosen: readonly number[];
  boxes: readonly Box[];
  drawing: boolean;
  onSegment: (number: number) => void;
  onBox: (box: Box) => void;
}

/** Redraws while the viewer moves. */
function useMoves(viewer: OpenSeadragon.Viewer): void {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    viewer.addHandler("viewport-change", redraw);
    viewer.addHandler("resize", redraw);
    return () => {
      viewer.removeHandler("viewport-change", redraw);
      viewer.removeHandler("resize", redraw);
    };
  }, [viewer]);
}

/** The outline of where the edit was to happen: boxes as shares of the picture, so that they fit every size. */
export function RegionOutline({ viewer, picture, region }: { viewer: OpenSeadragon.Viewer; picture: Picture; region: readonly RegionBox[] }) {
  useMoves(viewer);
  const { x, y, scale } = placeOf(viewer, picture);
  const [width, height] = [picture.width * scale, picture.height * scale];
  return (
    <svg className="overlay" aria-hidden="true">
      {region.map((box, index) => {
        const place = { x: x + box.left * width, y: y + box.top * height, width: (box.right - box.left) * width, height: (box.bottom - box.top) * height };
        return (
          <g key={index} className="region">
            <rect className="under" {...place} />
            <rect className="over" {...place} />
          </g>
        );
      })}
    </svg>
  );
}

export function Overlay({ viewer, picture, segments, chosen, boxes, drawing, onSegment, onBox }: Props) {
  useMoves(viewer);
  const [near, setNear] = useState<number | null>(null);
  const svg = useRef<SVGSVGElement>(null);
  const start = useRef<[number, number] | null>(null);
  const [draft, setDraft] = useState<Box | null>(null);

  const { x, y, scale } = placeOf(viewer, picture);
  // The viewer takes the pointer for panning, so that a click on a segment is a click of the viewer.
  const pick = (px: number, py: number) => segmentAt(segments, (px - x) / scale, (py - y) / scale, LABEL_PX / scale);
  const clicked = useEffectEvent((event: OpenSeadragon.CanvasClickEvent) => {
    const found = event.quick ? pick(event.position.x, event.position.y) : null;
    if (found !== null) onSegment(found);
  });
  const moved = useEffectEvent((event: PointerEvent, edge: DOMRect) => setNear(pick(event.clientX - edge.left, event.clientY - edge.top)));
  useEffect(() => {
    const canvas = viewer.canvas;
    const click = (event: OpenSeadragon.CanvasClickEvent) => clicked(event);
    const move = (event: PointerEvent) => moved(event, canvas.getBoundingClientRect());
    const leave = () => setNear(null);
    viewer.addHandler("canvas-click", click);
    canvas.addEventListener("pointermove", move);
    canvas.addEventListener("pointerleave", leave);
    return () => {
      viewer.removeHandler("canvas-click", click);
      canvas.removeEventListener("pointermove", move);
      canvas.removeEventListener("pointerleave", leave);
    };
  }, [viewer]);

  function point(event: React.PointerEvent): [number, number] {
    const edge = svg.current?.getBoundingClientRect();
    return [(event.clientX - (edge?.left ?? 0) - x) / scale, (event.clientY - (edge?.top ?? 0) - y) / scale];
  }
  function press(event: React.PointerEvent<SVGSVGElement>): void {
    if (!drawing || event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    start.current = point(event);
  }
  function drag(event: React.PointerEvent): void {
    if (start.current) setDraft(boxBetween(start.current, point(event), picture));
  }
  function release(event: React.PointerEvent): void {
    const box = start.current && boxBetween(start.current, point(event), picture);
    start.current = null;
    setDraft(null);
    // A click without a drag is not a box.
    if (box && (box[2] - box[0]) * scale > 4 && (box[3] - box[1]) * scale > 4) onBox(box);
  }

  const font = LABEL_PX / scale;
  return (
    <svg ref={svg} className={`overlay ${drawing ? "drawing" : ""}`} onPointerDown={press} onPointerMove={drag} onPointerUp={release}>
      <g transform={`translate(${x} ${y}) scale(${scale})`}>
        {segments.map((segment) => {
          const on = chosen.includes(segment.number);
          return (
            <g key={segment.number} className={`segment ${on ? "on" : ""} ${near === segment.number ? "near" : ""}`} data-segment={segment.number}>
              <path d={segment.outlines.map(outline).join("")} fillRule="evenodd" />
              <circle cx={segment.label_x} cy={segment.label_y} r={font * 0.85} />
              <text x={segment.label_x} y={segment.label_y} fontSize={font}>{segment.number}</text>
            </g>
          );
        })}
        {[...boxes, ...(draft ? [draft] : [])].map((box, index) => (
          <g key={`box-${index}`} className="box">
            <rect x={box[0]} y={box[1]} width={box[2] - box[0]} height={box[3] - box[1]} />
            {index < boxes.length && (
              <text x={box[0] + font * 0.4} y={box[1] + font} fontSize={font}>{boxName(index)}</text>
            )}
          </g>
        ))}
      </g>
    </svg>
  );
}

/** Boxes are called A, B, C and so on. */
export const boxName = (index: number): string => fill(messages.rating.boxName, { letter: String.fromCharCode(65 + (index % 26)) });

/** Where the picture's corner is in the pane, and CSS pixels for each pixel of the picture. */
function placeOf(viewer: OpenSeadragon.Viewer, picture: Picture): { x: number; y: number; scale: number } {
  const corner = viewer.viewport.getCenter(true);
  const bounds = viewer.viewport.getBounds(true);
  const width = viewer.viewport.getContainerSize().x;
  corner.x = 0;
  corner.y = 0;
  const pixel = viewer.viewport.pixelFromPoint(corner, true);
  return { x: pixel.x, y: pixel.y, scale: width / bounds.width / picture.height };
}

function outline(points: readonly (readonly number[])[]): string {
  return points.length ? `M${points.map((point) => `${point[0]} ${point[1]}`).join("L")}Z` : "";
}

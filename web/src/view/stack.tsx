// Two pictures on top of each other: swipe a divider, flicker between them, or see only what differs.
import { useEffect, useRef, useState, type ReactNode } from "react";
import type { Picture, RegionBox } from "../api/schema";
import { fill, messages } from "../languages";
import type { ViewGroup } from "./viewgroup";
import { RegionOutline } from "./overlay";
import { useViewer } from "./pane";

export type StackMode = "swipe" | "flicker" | "difference";

export interface Named {
  name: string;
  picture: Picture;
}

const FLICKER_MS = 700;

interface Props {
  mode: StackMode;
  under: Named;
  over: Named;
  group: ViewGroup;
  region?: readonly RegionBox[] | undefined;
  children?: ReactNode;
}

export function Stack({ mode, under, over, group, region, children }: Props) {
  const bothFrame = useRef<HTMLDivElement>(null);
  const belowFrame = useRef<HTMLDivElement>(null);
  const aboveFrame = useRef<HTMLDivElement>(null);
  const below = useViewer(belowFrame, under.picture, group);
  const above = useViewer(aboveFrame, over.picture, group);
  const [divide, setDivide] = useState(50);
  const [gain, setGain] = useState(4);
  const flicker = useFlicker(mode === "flicker");

  useEffect(() => {
    const top = aboveFrame.current;
    if (!top) return;
    top.style.clipPath = mode === "swipe" ? `inset(0 0 0 ${divide}%)` : "none";
    top.style.visibility = mode === "flicker" && !flicker.shown ? "hidden" : "visible";
  }, [mode, divide, flicker.shown]);

  useEffect(() => {
    if (bothFrame.current) bothFrame.current.style.filter = mode === "difference" ? `brightness(${gain})` : "none";
  }, [mode, gain]);

  const shown = flicker.shown ? over.name : under.name;
  return (
    <figure className="pane stack" data-mode={mode} data-pane="stack" data-loaded={below.whole && above.whole && !below.broken && !above.broken}>
      <div className="pane-canvas">
        <div ref={bothFrame} className="stack-frame">
          <div ref={belowFrame} className="pane-view" role="img" aria-label={under.name} />
          <div ref={aboveFrame} className="pane-view stack-over" role="img" aria-label={over.name} />
        </div>
        {below.viewer && !!region?.length && <RegionOutline viewer={below.viewer} picture={under.picture} region={region} />}
        {mode === "swipe" && <Divider value={divide} onChange={setDivide} />}
      </div>
      <figcaption>
        {mode === "swipe" && (
          <>
            <span>{under.name}</span>
            <input type="range" min={0} max={100} value={divide} aria-label={messages.view.divider}
              onChange={(event) => setDivide(Number(event.target.value))} />
            <span>{over.name}</span>
          </>
        )}
        {mode === "flicker" && (
          <>
            <span aria-live="off">{shown}</span>
            <button type="button" className="small" onClick={flicker.toggle}>{messages.view.switch}</button>
            <button type="button" className="small" aria-pressed={flicker.playing} onClick={flicker.play}>
              {flicker.playing ? messages.view.stop : messages.view.play}
            </button>
          </>
        )}
        {mode === "difference" && (
          <>
            <span>{fill(messages.view.differenceOf, { first: under.name, second: over.name })}</span>
            <label className="inline">
              {messages.view.gain}
              <input type="range" min={1} max={16} value={gain} onChange={(event) => setGain(Number(event.target.value))} />
            </label>
          </>
        )}
        {children}
      </figcaption>
    </figure>
  );
}

function Divider({ value, onChange }: { value: number; onChange: (value: number) => void }) {
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (line.current) line.current.style.left = `${value}%`;
  }, [value]);
  function move(event: React.PointerEvent<HTMLDivElement>): void {
    const frame = event.currentTarget.parentElement?.getBoundingClientRect();
    if (!frame || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    onChange(Math.min(100, Math.max(0, (100 * (event.clientX - frame.left)) / frame.width)));
  }
  return (
    <div ref={line} className="divider" aria-hidden="true" onPointerMove={move}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)} />
  );
}

function useFlicker(active: boolean) {
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const [shown, setShown] = useState(true);
  const [playing, setPlaying] = useState(!still);
  useEffect(() => {
    if (!active || !playing) return undefined;
    const timer = window.setInterval(() => setShown((was) => !was), FLICKER_MS);
    return () => window.clearInterval(timer);
  }, [active, playing]);
  return { shown, playing, toggle: () => setShown(!shown), play: () => setPlaying(!playing) };
}

// Two pictures on top of each other: swipe a divider, flicker between them, or see only what differs.
import { useEffect, useState, type ReactNode } from "react";
import type { Picture } from "../api/schema";
import { strings } from "../strings";
import type { ViewGroup } from "./viewgroup";
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
  children?: ReactNode;
}

export function Stack({ mode, under, over, group, children }: Props) {
  const below = useViewer(under.picture, group);
  const above = useViewer(over.picture, group);
  const [divide, setDivide] = useState(50);
  const [gain, setGain] = useState(4);
  const flicker = useFlicker(mode === "flicker");

  useEffect(() => {
    const top = above.frame.current;
    if (!top) return;
    top.style.clipPath = mode === "swipe" ? `inset(0 0 0 ${divide}%)` : "none";
    top.style.visibility = mode === "flicker" && !flicker.shown ? "hidden" : "visible";
  }, [mode, divide, flicker.shown, above.frame]);

  useEffect(() => {
    const frame = below.frame.current?.parentElement;
    if (frame) frame.style.filter = mode === "difference" ? `brightness(${gain})` : "none";
  }, [mode, gain, below.frame]);

  const shown = flicker.shown ? over.name : under.name;
  return (
    <figure className="pane stack" data-mode={mode} data-pane="stack" data-loaded={below.whole && above.whole}>
      <div className="pane-canvas">
        <div className="stack-frame">
          <div ref={below.frame} className="pane-view" role="img" aria-label={under.name} />
          <div ref={above.frame} className="pane-view stack-over" role="img" aria-label={over.name} />
        </div>
        {mode === "swipe" && <Divider value={divide} onChange={setDivide} />}
      </div>
      <figcaption>
        {mode === "swipe" && (
          <>
            <span>{under.name}</span>
            <input type="range" min={0} max={100} value={divide} aria-label={strings.view.divider}
              onChange={(event) => setDivide(Number(event.target.value))} />
            <span>{over.name}</span>
          </>
        )}
        {mode === "flicker" && (
          <>
            <span aria-live="off">{shown}</span>
            <button type="button" className="small" onClick={flicker.toggle}>{strings.view.otherOne}</button>
            <button type="button" className="small" aria-pressed={flicker.playing} onClick={flicker.play}>
              {flicker.playing ? strings.view.stop : strings.view.play}
            </button>
          </>
        )}
        {mode === "difference" && (
          <>
            <span>{strings.view.differenceOf(under.name, over.name)}</span>
            <label className="inline">
              {strings.view.gain}
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
  const [line, setLine] = useState<HTMLDivElement | null>(null);
  useEffect(() => {
    if (line) line.style.left = `${value}%`;
  }, [line, value]);
  function move(event: React.PointerEvent<HTMLDivElement>): void {
    const frame = event.currentTarget.parentElement?.getBoundingClientRect();
    if (!frame || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    onChange(Math.min(100, Math.max(0, (100 * (event.clientX - frame.left)) / frame.width)));
  }
  return (
    <div ref={setLine} className="divider" aria-hidden="true" onPointerMove={move}
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

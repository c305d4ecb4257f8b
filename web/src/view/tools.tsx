// The tools of the pictures: how to compare, how near, and the magnifier. Every tool has a key.
import { useEffect, useState, type ReactNode } from "react";
import { Choices, Key } from "../parts/fields";
import { messages } from "../languages";
import { percent } from "./geometry";
import type { ViewGroup } from "./viewgroup";
import type { StackMode } from "./stack";

export type Mode = "side" | StackMode;

interface Props {
  group: ViewGroup;
  lens: boolean;
  /** Do the judged pictures lie behind each other in the first view, as on a phone? */
  oneByOne?: boolean;
  onLens: () => void;
  mode?: Mode;
  onMode?: (mode: Mode) => void;
  children?: ReactNode;
}

export function Tools({ group, lens, oneByOne, onLens, mode, onMode, children }: Props) {
  const t = messages.view;
  return (
    <div className="tools" role="toolbar" aria-label={t.tools}>
      {children}
      {mode && onMode && (
        <Choices label={t.compare} value={mode} onChange={(value) => onMode(value as Mode)}
          options={[["side", oneByOne ? t.oneByOne : t.side, "V"], ["swipe", t.swipe, "W"], ["flicker", t.flicker, "F"], ["difference", t.difference, "X"]]} />
      )}
      <div className="choices" role="group" aria-label={t.zoom}>
        <button type="button" onClick={() => group.zoomBy(1 / 1.5)} aria-label={t.zoomOut}>−</button>
        <Percent group={group} />
        <button type="button" onClick={() => group.zoomBy(1.5)} aria-label={t.zoomIn}>+</button>
        <button type="button" onClick={() => group.home()}>{t.fit} <Key>0</Key></button>
        <button type="button" onClick={() => group.actualPixels()}>{t.actual} <Key>P</Key></button>
      </div>
      <button type="button" className="toggle" aria-pressed={lens} onClick={onLens}>{t.lens} <Key>M</Key></button>
    </div>
  );
}

function Percent({ group }: { group: ViewGroup }) {
  const [text, setText] = useState("");
  useEffect(() => {
    const tell = () => {
      const look = group.look();
      const tallest = group.tallest();
      if (!look || !tallest) return;
      const share = percent(tallest, look.scale, window.devicePixelRatio);
      setText(`${share < 10 ? share.toFixed(1) : Math.round(share)}%`);
    };
    tell();
    return group.onChange(tell);
  }, [group]);
  return <span className="percent">{text}</span>;
}

/** The keys of the tools. */
export function viewKeys(group: ViewGroup, onLens: () => void, onMode?: (mode: Mode) => void): Record<string, () => void> {
  const keys: Record<string, () => void> = {
    "+": () => group.zoomBy(1.5),
    "=": () => group.zoomBy(1.5),
    "-": () => group.zoomBy(1 / 1.5),
    "0": () => group.home(),
    p: () => group.actualPixels(),
    m: onLens,
    "Shift+ArrowLeft": () => group.panBy(-0.2, 0),
    "Shift+ArrowRight": () => group.panBy(0.2, 0),
    "Shift+ArrowUp": () => group.panBy(0, -0.2),
    "Shift+ArrowDown": () => group.panBy(0, 0.2),
  };
  if (onMode) {
    keys.v = () => onMode("side");
    keys.w = () => onMode("swipe");
    keys.f = () => onMode("flicker");
    keys.x = () => onMode("difference");
  }
  return keys;
}

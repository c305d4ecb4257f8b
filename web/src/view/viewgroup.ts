// One zoom and pan for all panes. The pane that is being touched leads; the others copy where it looks.
import type OpenSeadragon from "openseadragon";
import { fitScale, trueScale, type Look, type Size } from "./geometry";

interface Member {
  viewer: OpenSeadragon.Viewer;
  picture: Size;
}

export class ViewGroup {
  private members = new Map<OpenSeadragon.Viewer, Member>();
  private leader: OpenSeadragon.Viewer | null = null;
  private atHome = true;
  private listeners = new Set<() => void>();

  add(viewer: OpenSeadragon.Viewer, picture: Size): () => void {
    const first = this.members.values().next().value;
    const look = first && !this.atHome ? this.lookOf(first) : null;
    this.members.set(viewer, { viewer, picture });
    this.leader ??= viewer;
    for (const name of ["canvas-enter", "canvas-press", "canvas-scroll", "canvas-pinch", "canvas-key"] as const) {
      viewer.addHandler(name, () => {
        this.leader = viewer;
      });
    }
    for (const name of ["canvas-drag", "canvas-scroll", "canvas-pinch", "canvas-double-click"] as const) {
      viewer.addHandler(name, () => {
        this.atHome = false;
      });
    }
    viewer.addHandler("viewport-change", () => this.follow(viewer));
    viewer.addHandler("resize", () => {
      if (this.atHome) window.requestAnimationFrame(() => this.home());
    });
    if (look) this.place({ viewer, picture }, look);
    else this.home();
    return () => {
      this.members.delete(viewer);
      if (this.leader === viewer) this.leader = this.members.keys().next().value ?? null;
    };
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Where the group looks now, or null without members. */
  look(): Look | null {
    const member = this.lead();
    return member ? this.lookOf(member) : null;
  }

  /** Every picture whole, all at one height. */
  home(): void {
    const fits = [...this.members.values()].map(({ viewer, picture }) => fitScale(paneOf(viewer), picture));
    const scale = Math.min(...fits);
    if (!Number.isFinite(scale) || scale <= 0) return;
    this.atHome = true;
    for (const member of this.members.values()) this.place(member, { x: 0.5, y: 0.5, scale });
  }

  /** One pixel of the tallest picture on one pixel of the screen. */
  actualPixels(): void {
    const lead = this.lead();
    const tallest = this.tallest();
    if (!lead || !tallest) return;
    this.atHome = false;
    const look = { ...this.lookOf(lead), scale: trueScale(tallest, window.devicePixelRatio) };
    for (const member of this.members.values()) this.place(member, look);
  }

  tallest(): Size | null {
    const pictures = [...this.members.values()].map((member) => member.picture);
    return pictures.length ? pictures.reduce((a, b) => (b.height > a.height ? b : a)) : null;
  }

  zoomBy(factor: number): void {
    const lead = this.lead();
    if (!lead) return;
    this.atHome = false;
    lead.viewer.viewport.zoomBy(factor).applyConstraints();
  }

  /** Move by a share of the pane. */
  panBy(x: number, y: number): void {
    const lead = this.lead();
    if (!lead) return;
    this.atHome = false;
    const bounds = lead.viewer.viewport.getBounds(true);
    const centre = lead.viewer.viewport.getCenter(false);
    centre.x += x * bounds.width;
    centre.y += y * bounds.height;
    lead.viewer.viewport.panTo(centre).applyConstraints();
  }

  /** What the pane of this picture shows, in pixels of the picture; it may reach past its edges. */
  bounds(picture: Size): [number, number, number, number] | null {
    const member = [...this.members.values()].find((one) => one.picture === picture);
    if (!member) return null;
    const { x, y, width, height } = member.viewer.viewport.getBounds(true);
    const unit = picture.height;
    return [x * unit, y * unit, (x + width) * unit, (y + height) * unit];
  }

  private lead(): Member | null {
    return (this.leader && this.members.get(this.leader)) ?? null;
  }

  private lookOf({ viewer, picture }: Member): Look {
    const centre = viewer.viewport.getCenter(true);
    const scale = viewer.viewport.getZoom(true) * paneOf(viewer).width;
    return { x: (centre.x * picture.height) / picture.width, y: centre.y, scale };
  }

  private place({ viewer, picture }: Member, look: Look): void {
    const width = paneOf(viewer).width;
    if (width <= 0) return;
    const centre = viewer.viewport.getCenter(true);
    centre.x = (look.x * picture.width) / picture.height;
    centre.y = look.y;
    viewer.viewport.zoomTo(look.scale / width, undefined, true);
    viewer.viewport.panTo(centre, true);
  }

  private follow(viewer: OpenSeadragon.Viewer): void {
    const lead = this.lead();
    if (lead && viewer === lead.viewer) {
      const look = this.lookOf(lead);
      for (const member of this.members.values()) if (member !== lead) this.place(member, look);
    }
    for (const listener of this.listeners) listener();
  }
}

export function paneOf(viewer: OpenSeadragon.Viewer): Size {
  const size = viewer.viewport.getContainerSize();
  return { width: size.x, height: size.y };
}

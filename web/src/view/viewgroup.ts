// One zoom and pan for all panes. The pane that is being touched leads; the others copy where it looks.
import type OpenSeadragon from "openseadragon";
import { fitScale, trueScale, type Look, type Size } from "./geometry";

interface Member {
  viewer: OpenSeadragon.Viewer;
  picture: Size;
}

/** Where the rater looks, kept from one task to the next: the centre, and the scale as a multiple of the whole picture's. */
interface KeptLook {
  x: number;
  y: number;
  times: number;
}

export type LookState = "drawing" | "unseen" | "seen";

export interface PaneReport {
  setLoaded: (loaded: boolean) => void;
  setHidden: (hidden: boolean) => void;
  leave: () => void;
}

const SWIPE_PX = 40;

export class ViewGroup {
  private members = new Map<OpenSeadragon.Viewer, Member>();
  private leader: OpenSeadragon.Viewer | null = null;
  private atHome = true;
  private kept: KeptLook | null = null;
  private listeners = new Set<() => void>();
  private panes = new Set<{ address: string; loaded: boolean; hidden: boolean }>();
  /** Addresses of pictures that were drawn; an address belongs to one assignment. */
  private drawn = new Set<string>();
  private pressed = { x: 0, y: 0 };
  private swiped: ((step: 1 | -1) => void) | null = null;

  add(viewer: OpenSeadragon.Viewer, picture: Size): () => void {
    if (!this.kept && this.members.size && !this.atHome) this.keep();
    this.members.set(viewer, { viewer, picture });
    this.leader ??= viewer;
    for (const name of ["canvas-enter", "canvas-press", "canvas-scroll", "canvas-pinch", "canvas-key"] as const) {
      viewer.addHandler(name, () => {
        this.leader = viewer;
      });
    }
    for (const name of ["canvas-scroll", "canvas-pinch"] as const) viewer.addHandler(name, () => this.moved());
    viewer.addHandler("canvas-press", (event) => {
      this.pressed = { x: event.position.x, y: event.position.y };
    });
    viewer.addHandler("canvas-drag", (event) => {
      if (this.swiped && this.atHome) event.preventDefaultAction = true;
      else this.moved();
    });
    viewer.addHandler("canvas-drag-end", (event) => {
      const [x, y] = [event.position.x - this.pressed.x, event.position.y - this.pressed.y];
      if (this.atHome && Math.abs(x) > Math.max(SWIPE_PX, 2 * Math.abs(y))) this.swiped?.(x < 0 ? 1 : -1);
    });
    viewer.addHandler("viewport-change", () => this.follow(viewer));
    viewer.addHandler("resize", () => {
      if (this.atHome) window.requestAnimationFrame(() => this.home());
    });
    if (this.atHome) this.home();
    else this.goToKept();
    return () => {
      // The first picture of a task to go sees all others still there.
      if (!this.kept && !this.atHome) this.keep();
      this.members.delete(viewer);
      if (this.leader === viewer) this.leader = this.members.keys().next().value ?? null;
    };
  }

  /** Where pictures lie behind each other, a drag does not move a whole picture but shows the next or previous one. */
  onSwipe(listener: (step: 1 | -1) => void): () => void {
    this.swiped = listener;
    if (this.atHome) this.home();
    return () => {
      this.swiped = null;
      if (this.atHome) this.home();
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

  /** A picture on the page: it says when all that it shows is loaded, and whether something else hides it. */
  watchPane(address: string): PaneReport {
    const pane = { address, loaded: false, hidden: false };
    this.panes.add(pane);
    const changed = () => {
      if (pane.loaded && !pane.hidden) this.drawn.add(address);
      this.notify();
    };
    return {
      setLoaded: (loaded) => {
        pane.loaded = loaded;
        changed();
      },
      setHidden: (hidden) => {
        pane.hidden = hidden;
        changed();
      },
      leave: () => {
        this.panes.delete(pane);
        this.notify();
      },
    };
  }

  /** Were these pictures and all others on the page drawn before the rater's eyes? Unseen: one is ready and was not looked at. */
  lookState(addresses: readonly string[]): LookState {
    const panes = [...this.panes];
    const missing = addresses.filter((address) => !this.drawn.has(address));
    const loading = (address: string) => panes.some((pane) => pane.address === address && !pane.loaded);
    if (missing.some(loading) || (missing.length && !panes.length)) return "drawing";
    if (missing.length) return "unseen";
    return panes.every((pane) => this.drawn.has(pane.address)) ? "seen" : "drawing";
  }

  /** The scale at which all pictures are whole; 0 where there is none. */
  private homeScale(): number {
    const scale = Math.min(...[...this.members.values()].map(({ viewer, picture }) => fitScale(paneOf(viewer), picture)));
    return Number.isFinite(scale) && scale > 0 ? scale : 0;
  }

  /** The scale at which a picture is whole: one for all, but pictures behind each other have panes of different sizes. */
  private homeScaleOf({ viewer, picture }: Member): number {
    return this.swiped ? fitScale(paneOf(viewer), picture) : this.homeScale();
  }

  private keep(): void {
    const lead = this.lead();
    const home = lead ? this.homeScaleOf(lead) : 0;
    if (!lead || home <= 0) return;
    const look = this.lookOf(lead);
    this.kept = { x: look.x, y: look.y, times: look.scale / home };
  }

  private goToKept(): void {
    const { kept } = this;
    if (!kept || !this.homeScale()) return;
    for (const member of this.members.values()) this.place(member, { x: kept.x, y: kept.y, scale: kept.times * this.homeScaleOf(member) });
  }

  /** The rater moves: what was kept is past. */
  private moved(): void {
    this.atHome = false;
    this.kept = null;
  }

  /** Every picture whole, all at one height. */
  home(): void {
    if (!this.homeScale()) return;
    this.atHome = true;
    this.kept = null;
    for (const member of this.members.values()) this.place(member, { x: 0.5, y: 0.5, scale: this.homeScaleOf(member) });
  }

  /** One pixel of the tallest picture on one pixel of the screen. */
  actualPixels(): void {
    const lead = this.lead();
    const tallest = this.tallest();
    if (!lead || !tallest) return;
    this.moved();
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
    this.moved();
    lead.viewer.viewport.zoomBy(factor).applyConstraints();
  }

  /** Move by a share of the pane. */
  panBy(x: number, y: number): void {
    const lead = this.lead();
    if (!lead) return;
    this.moved();
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
      const times = look.scale / this.homeScaleOf(lead);
      for (const member of this.members.values()) if (member !== lead) this.place(member, { ...look, scale: times * this.homeScaleOf(member) });
    }
    this.notify();
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}

export function paneOf(viewer: OpenSeadragon.Viewer): Size {
  const size = viewer.viewport.getContainerSize();
  return { width: size.x, height: size.y };
}

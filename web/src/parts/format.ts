// How numbers and moments are written.
import { strings } from "../strings";

export function share(value: number | null | undefined): string {
  return value === null || value === undefined ? strings.none : `${(100 * value).toFixed(0)}%`;
}

export function figure(value: number | null | undefined, digits = 2): string {
  return value === null || value === undefined ? strings.none : value.toFixed(digits);
}

export function count(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString("en") : value.toLocaleString("en", { maximumFractionDigits: 1 });
}

export function dollars(value: number): string {
  return value === 0 ? strings.none : `$${value < 1 ? value.toFixed(4) : value.toFixed(2)}`;
}

export function moment(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : `${at.toISOString().slice(0, 10)} ${at.toISOString().slice(11, 16)}`;
}

/** Is a moment in the past? */
export function past(at: string): boolean {
  return Date.parse(at) < Date.now();
}

/** How long something took, or has been going. */
export function duration(from: string, to: string | null, now = Date.now()): string {
  const seconds = ((to ? Date.parse(to) : now) - Date.parse(from)) / 1000;
  if (!Number.isFinite(seconds) || seconds < 0) return strings.none;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

/** "2 outputs: api error; 1 judgment: refused" from counts by kind of record and status. */
export function missed(counts: Record<string, number>): string {
  const parts = Object.entries(counts).filter(([, n]) => n > 0).map(([name, n]) => {
    const [records = "", ...status] = name.replaceAll("_", " ").split(" ");
    return `${count(n)} ${n === 1 ? records.replace(/s$/, "") : records}: ${status.join(" ")}`;
  });
  return parts.join("; ") || strings.none;
}

/** A status is an adjective; a kind of record is a noun that is written like a name. */
function counted(name: string, n: number): string {
  return /^[A-Z]/.test(name) ? strings.runs.records(name.toLowerCase(), n) : name.replaceAll("_", " ");
}

/** "3 left, 2 tie" from counts by name. */
export function tally(counts: Record<string, number>): string {
  const parts = Object.entries(counts).filter(([, n]) => n > 0).map(([name, n]) => `${count(n)} ${counted(name, n)}`);
  return parts.join(", ") || strings.none;
}

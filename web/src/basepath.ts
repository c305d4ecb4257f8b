// Where the arena stands on its host: "" for a host of its own, "/arena" below a path. The server writes it into the page.

function found(): string {
  if (typeof document === "undefined") return ""; // tests run without a page
  return document.querySelector<HTMLMetaElement>('meta[name="imarena-root"]')?.content ?? "";
}

export const BASE_PATH = found();

/** The address that a browser has to ask for: all addresses of the API and of pages begin at the arena's own root. */
export const withBase = (path: string): string => BASE_PATH + path;

/** The same the other way round: a path of the window as the pages know it. */
export function withoutBase(path: string, root = BASE_PATH): string {
  return root && (path === root || path.startsWith(`${root}/`)) ? path.slice(root.length) || "/" : path;
}

import { balanced } from "./isolated";

type Text = string | number | null | undefined;

/** Text of people and files: its direction, and no control character in it, changes how the text around it is read. */
export function Bdi({ children }: { children: Text | readonly Text[] }) {
  return <bdi>{balanced([children].flat().join(""))}</bdi>;
}

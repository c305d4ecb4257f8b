// Where a tile of a picture is.
import type { Picture } from "../api/wire";
import { rooted } from "../root";

export const tileAddress = (picture: Pick<Picture, "tiles_url">, level: number, column: number, row: number): string =>
  rooted(`${picture.tiles_url}/${level}/${column}/${row}`);

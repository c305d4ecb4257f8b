// Where a tile of a picture is.
import type { Picture } from "../api/schema";
import { withBase } from "../basepath";

export const tileAddress = (picture: Pick<Picture, "tiles_url">, level: number, column: number, row: number): string =>
  withBase(`${picture.tiles_url}/${level}/${column}/${row}`);

import type { Pages } from "../api/usepages";
import { fill, messages } from "../languages";

interface Props {
  pages: Pick<Pages<unknown>, "value" | "more">;
  /** Rows on the page, and rows that there are: where the server counts them. */
  shown?: number;
  total?: number | undefined;
}

/** The end of a list that comes in pages: how much of it is shown, and a button for more. */
export function ShowMore({ pages: { value, more }, shown = 0, total }: Props) {
  const next = total !== undefined && shown >= total ? null : more;
  if (!next && (value?.length ?? 0) < 2) return null;
  return (
    <div className="row show-more">
      {total !== undefined && <span className="muted" role="status">{fill(messages.common.shown, { shown, total })}</span>}
      {next && <button type="button" onClick={next}>{messages.common.more}</button>}
    </div>
  );
}

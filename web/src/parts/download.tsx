import { withBase } from "../basepath";
import { withQuery } from "../router";
import { strings } from "../strings";

interface Props {
  /** The table's name under /api/exports. */
  table: string;
  /** The page's filters: what is saved is what is shown. */
  query?: Record<string, string>;
}

/** Links that save what the page shows as a table. */
export function DownloadLinks({ table, query = {} }: Props) {
  const link = (format: string) => withBase(withQuery(`/api/exports/${table}`, new URLSearchParams(query), { format }));
  return (
    <span className="save" role="group" aria-label={strings.save.label}>
      <span className="muted" aria-hidden="true">{strings.save.label}</span>
      {["csv", "json"].map((format) => (
        <a key={format} className="button small" href={link(format)} download aria-label={strings.save.as(format.toUpperCase())}>
          {format.toUpperCase()}
        </a>
      ))}
    </span>
  );
}

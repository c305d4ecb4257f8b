import type { TaskOut } from "../api/schema";
import { strings } from "../strings";

/** The keys that work on a task of this kind. */
export function KeyTable({ kind }: { kind: TaskOut["kind"] }) {
  const k = strings.keys;
  const own = { preference: [...k.vote, ...k.compare], yes_no: k.yesNo, rating: k.rating, check: k.rating.slice(0, 1) }[kind];
  return (
    <>
      <p className="touch-only">{k.touch}</p>
      <dl className="key-table with-keys">
        {[...own, ...k.task, ...k.view].map(([key, text]) => (
          <div key={key}>
            <dt><kbd>{key}</kbd></dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

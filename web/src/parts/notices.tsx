import { InlineCode } from "./inlinecode";
import { leadStrings } from "../strings_lead";

/** What to know about a page. One notice is shown as it is, several are folded into one line. */
export function Notices({ texts, about = leadStrings.board.name }: { texts: readonly string[]; about?: string }) {
  if (!texts.length) return null;
  if (texts.length === 1) return <p className="warning notices"><InlineCode text={texts[0]!} /></p>;
  return (
    <details className="warning notices">
      <summary>{leadStrings.board.notices(texts.length, about)}</summary>
      <ul>{texts.map((text) => <li key={text}><InlineCode text={text} /></li>)}</ul>
    </details>
  );
}

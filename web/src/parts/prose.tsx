// Texts of a lead in a part of Markdown: headings, lists, quotes, code, emphasis, links and pictures of the arena. Never HTML.
import { createContext, Fragment, useContext, type ReactNode } from "react";
import { withBase } from "../basepath";

/** An item's or an output's picture; nothing else can be shown, so that no text makes a browser ask another server. */
const PICTURE = /^(?:item|output)_[0-9a-f]{32}$/;
const LINK = /^https?:\/\/[^\s]+$/;
/** Code first: nothing inside of it means anything. */
const INLINE = /`([^`]+)`|!\[([^\][]*)\]\(([^()\s]+)\)|\[([^\][]+)\]\(([^()\s]+)\)|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*/;

type PictureOf = (identity: string) => string;
/** Raters get pictures through the campaign that shows them. */
const Pictures = createContext<PictureOf>((identity) => `/api/rating/examples/${identity}`);

function inline(text: string): ReactNode {
  const parts: ReactNode[] = [];
  let rest = text;
  for (let match = INLINE.exec(rest); match; match = INLINE.exec(rest)) {
    parts.push(rest.slice(0, match.index), marked(match));
    rest = rest.slice(match.index + match[0].length);
  }
  return [...parts, rest].map((part, index) => <Fragment key={index}>{part}</Fragment>);
}

function marked([whole, code, alt, picture = "", label, address = "", strong, soft]: RegExpExecArray): ReactNode {
  if (code !== undefined) return <code>{code}</code>;
  if (alt !== undefined) return PICTURE.test(picture) ? <Example identity={picture} text={alt} /> : whole;
  if (label !== undefined) return LINK.test(address) ? <a href={address} rel="noreferrer noopener" target="_blank">{label}</a> : whole;
  if (strong !== undefined) return <strong>{inline(strong)}</strong>;
  return <em>{inline(soft ?? "")}</em>;
}

function Example({ identity, text }: { identity: string; text: string }) {
  const pictureOf = useContext(Pictures);
  return (
    <span className="example">
      <img src={withBase(pictureOf(identity))} alt={text} loading="lazy" />
      {text && <span className="muted" aria-hidden="true">{text}</span>}
    </span>
  );
}

const BULLET = /^[-*] /;
const NUMBER = /^\d{1,3}[.)] /;

/** The lines of a list, each item with the lines that go on with it. */
function itemsOf(lines: readonly string[], sign: RegExp): string[] {
  const items: string[] = [];
  for (const line of lines) {
    if (sign.test(line)) items.push(line.replace(sign, ""));
    else items[items.length - 1] += ` ${line}`;
  }
  return items;
}

function block(lines: string[], key: number): ReactNode {
  const first = lines[0] ?? "";
  const heading = /^(#{1,3}) (.*)$/.exec(first);
  if (heading) {
    const Head = (["h2", "h3", "h4"] as const)[(heading[1] ?? "#").length - 1] ?? "h4";
    return <Fragment key={key}><Head>{inline(heading[2] ?? "")}</Head>{lines.length > 1 && block(lines.slice(1), 0)}</Fragment>;
  }
  if (BULLET.test(first)) return <ul key={key}>{itemsOf(lines, BULLET).map((text, at) => <li key={at}>{inline(text)}</li>)}</ul>;
  if (NUMBER.test(first)) return <ol key={key}>{itemsOf(lines, NUMBER).map((text, at) => <li key={at}>{inline(text)}</li>)}</ol>;
  if (first.startsWith("> ")) return <blockquote key={key}>{inline(lines.map((line) => line.replace(/^> ?/, "")).join(" "))}</blockquote>;
  const list = lines.findIndex((line) => BULLET.test(line) || NUMBER.test(line));
  if (list > 0) return <Fragment key={key}>{block(lines.slice(0, list), 0)}{block(lines.slice(list), 1)}</Fragment>;
  return <p key={key}>{inline(lines.join(" "))}</p>;
}

interface Block {
  /** What stands between two lines of three backticks; null for all else. */
  code: string | null;
  lines: string[];
}

function blocksOf(text: string): Block[] {
  return text.split(/^```[^\n]*$/m).flatMap((part, index): Block[] =>
    index % 2
      ? [{ code: part.replace(/^\n|\n$/g, ""), lines: [] }]
      : part.split(/\n\s*\n/).map((lines) => ({ code: null, lines: lines.split("\n").map((line) => line.trim()).filter(Boolean) })));
}

interface Props {
  text: string;
  /** Where a picture comes from, where not from a campaign that the reader takes part in. */
  pictureOf?: PictureOf;
}

export function Prose({ text, pictureOf }: Props) {
  const shown = blocksOf(text).filter(({ code, lines }) => code !== null || lines.length);
  const prose = <div className="prose">{shown.map(({ code, lines }, index) => (code === null ? block(lines, index) : <pre key={index}>{code}</pre>))}</div>;
  return pictureOf ? <Pictures value={pictureOf}>{prose}</Pictures> : prose;
}

import { Fragment } from "react";

/** A sentence of the server, with what it sets between backticks as code. */
export function InlineCode({ text }: { text: string }) {
  // Every second part of a split by a group is what the group matched.
  const parts = text.split(/`([^`]+)`/);
  return <>{parts.map((part, index) => (index % 2 ? <code key={index}>{part}</code> : <Fragment key={index}>{part}</Fragment>))}</>;
}

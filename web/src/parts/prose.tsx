/** Plain text in paragraphs; lines that start with "- " are a list, with "# " a heading. Never HTML. */
export function Prose({ text }: { text: string }) {
  return (
    <div className="prose">
      {text.split(/\n\s*\n/).map((block, index) => {
        const lines = block.split("\n").map((line) => line.trim()).filter(Boolean);
        if (lines.length && lines.every((line) => line.startsWith("- "))) {
          return <ul key={index}>{lines.map((line, at) => <li key={at}>{line.slice(2)}</li>)}</ul>;
        }
        if (lines.length === 1 && lines[0]?.startsWith("# ")) return <h2 key={index}>{lines[0].slice(2)}</h2>;
        return <p key={index}>{lines.join(" ")}</p>;
      })}
    </div>
  );
}

// An answer on its way: what was filled in, what is still missing, and the ballot that is posted.
import type { Ballot, Criterion, IssueIn, TaskOut } from "../api/schema";
import type { Box } from "../view/geometry";

export interface Draft {
  ratings: Record<string, number>;
  objects: string[];
  noObjects: boolean;
  segments: number[];
  boxes: Box[];
  noSegments: boolean;
  other: string;
  comment: string;
  newImage: boolean;
  returnedInput: boolean;
  answer: boolean | null;
  checks: Record<string, boolean>;
  decision: "accept" | "repair" | "discard" | null;
}

export const EMPTY: Draft = {
  ratings: {}, objects: [], noObjects: false, segments: [], boxes: [], noSegments: false, other: "", comment: "",
  newImage: false, returnedInput: false, answer: null, checks: {}, decision: null,
};

export type Missing =
  | { what: "rating"; criterion: Criterion }
  | { what: "check"; criterion: Criterion }
  | { what: "objects" | "segments" | "explanation" | "answer" | "decision" | "repair" };

/** Was anything said about what is wrong? */
export function explained(draft: Draft): boolean {
  const said = draft.comment.trim() !== "" || draft.other.trim() !== "";
  return said || draft.objects.length > 0 || draft.segments.length > 0 || draft.boxes.length > 0;
}

/** Is any criterion under its highest value? */
export function lowered(draft: Draft, criteria: readonly Criterion[]): boolean {
  return criteria.some((one) => (draft.ratings[one.name] ?? one.high) < one.high);
}

/** What stands between the draft and a ballot, in the order of the form. */
export function missing(draft: Draft, task: Pick<TaskOut, "kind" | "criteria" | "checks">): Missing[] {
  if (task.kind === "yes_no") return draft.answer === null ? [{ what: "answer" }] : [];
  if (task.kind === "check") {
    const found: Missing[] = task.checks
      .filter((one) => draft.checks[one.name] === undefined)
      .map((criterion) => ({ what: "check", criterion }));
    if (draft.decision === null) found.push({ what: "decision" });
    if (draft.decision === "repair" && !draft.comment.trim()) found.push({ what: "repair" });
    return found;
  }
  if (task.kind !== "rating") return [];
  const found: Missing[] = task.criteria
    .filter((one) => draft.ratings[one.name] === undefined)
    .map((criterion) => ({ what: "rating", criterion }));
  if (!draft.objects.length && !draft.noObjects) found.push({ what: "objects" });
  if (!draft.segments.length && !draft.boxes.length && !draft.noSegments) found.push({ what: "segments" });
  if (lowered(draft, task.criteria) && !explained(draft)) found.push({ what: "explanation" });
  return found;
}

export function issuesOf(draft: Draft): IssueIn[] {
  const issues: IssueIn[] = draft.objects.map((label) => ({ kind: "object", label }));
  for (const segment of [...draft.segments].sort((a, b) => a - b)) issues.push({ kind: "segment", segment });
  for (const box of draft.boxes) issues.push({ kind: "box", box });
  if (draft.other.trim()) issues.push({ kind: "other", note: draft.other.trim().slice(0, 500) });
  return issues;
}

/** The draft as it is posted. */
export function toBallot(draft: Draft, kind: TaskOut["kind"]): Omit<Ballot, "idempotency_key"> {
  const comment = draft.comment.trim();
  if (kind === "yes_no") return { answer: draft.answer, comment };
  if (kind === "check") return { checks: draft.checks, decision: draft.decision, comment };
  return {
    ratings: draft.ratings,
    issues: issuesOf(draft),
    no_object_issues: draft.noObjects,
    no_segment_issues: draft.noSegments,
    new_image: draft.newImage,
    returned_input: draft.returnedInput,
    comment,
  };
}

/** What was answered before an undo, as a draft again. */
export function fromBallot(ballot: Ballot): Draft {
  const issues = ballot.issues ?? [];
  return {
    ...EMPTY,
    ratings: ballot.ratings ?? {},
    objects: issues.flatMap((one) => (one.kind === "object" && one.label ? [one.label] : [])),
    segments: issues.flatMap((one) => (one.kind === "segment" && one.segment ? [one.segment] : [])),
    boxes: issues.flatMap((one) => (one.kind === "box" && one.box ? [one.box] : [])),
    other: issues.find((one) => one.kind === "other")?.note ?? "",
    noObjects: ballot.no_object_issues ?? false,
    noSegments: ballot.no_segment_issues ?? false,
    newImage: ballot.new_image ?? false,
    returnedInput: ballot.returned_input ?? false,
    comment: ballot.comment ?? "",
    answer: ballot.answer ?? null,
    checks: ballot.checks ?? {},
    decision: ballot.decision ?? null,
  };
}

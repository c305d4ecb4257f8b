// The texts of criteria and checks in the rater's language; those of a criterion that is not built in come from the server.
import type { Criterion } from "../api/schema";
import { messages } from "../languages";

export interface CriterionTexts {
  label: string;
  question: string;
  anchors: Record<string, string>;
}

export function criterionTexts(criterion: Criterion): CriterionTexts {
  const known: Record<string, Partial<CriterionTexts>> = { ...messages.forms.criteria, ...messages.forms.checks };
  const texts = known[criterion.name];
  return {
    label: texts?.label ?? criterion.label,
    question: texts?.question ?? criterion.question,
    anchors: texts?.anchors ?? Object.fromEntries(criterion.anchors.map(({ value, text }) => [String(value), text])),
  };
}

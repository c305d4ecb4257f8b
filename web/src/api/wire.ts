// The types of the wire, generated from docs/reference/openapi.json at every build: a drift is a build error.
export type * from "./schema";

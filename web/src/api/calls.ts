// Every request that the pages make, by name.
import { withBase } from "../basepath";
import { api, dataOf } from "./client";
import type * as s from "./schema";

/** What a rater does takes a moment, and may be sent again: it is not waited for longer than this. */
const step = () => ({ signal: AbortSignal.timeout(30_000) });

/** As many as a list gives at once. */
const MOST = 200;

/** What the address of a GET may ask for. */
export type Query<Path extends keyof s.paths> = s.paths[Path] extends { get: { parameters: { query?: infer Found } } } ? NonNullable<Found> : never;
/** Null: the first page. */
export type Cursor = string | null;

const ofCampaign = (campaign_id: string) => ({ path: { campaign_id } });
const ofTask = (address: string) => ({ path: { address } });

export const me = () => dataOf(api.GET("/api/me"));
export const signInByInvitation = (body: s.Invitation) => dataOf(api.POST("/api/session/invitation", { body }));
export const signInByPassword = (body: s.Password) => dataOf(api.POST("/api/session/password", { body }));
export const signInByLaunch = (body: s.Launch) => dataOf(api.POST("/api/session/launch", { body }));
export const signOut = () => dataOf(api.DELETE("/api/session"));
/** A lead who rates by a link too stays signed in as a lead. */
export const stopRating = () => dataOf(api.DELETE("/api/session", { params: { query: { role: "rater" } } }));

export const myCampaigns = (cursor: Cursor) => dataOf(api.GET("/api/rating/campaigns", { params: { query: { cursor, limit: MOST } } }));
export const giveConsent = (id: string) => dataOf(api.POST("/api/rating/campaigns/{campaign_id}/consent", { params: ofCampaign(id), body: { accepted: true } }));
export const takeNext = (id: string) => dataOf(api.POST("/api/rating/campaigns/{campaign_id}/next", { params: ofCampaign(id), ...step() }));
export const lookAhead = (id: string) => dataOf(api.POST("/api/rating/campaigns/{campaign_id}/ahead", { params: ofCampaign(id), ...step() }));
export const undoLast = (id: string) => dataOf(api.POST("/api/rating/campaigns/{campaign_id}/undo", { params: ofCampaign(id), ...step() }));
/** Outlives the page. */
export const giveBack = (task: string) => dataOf(api.POST("/api/tasks/{address}/give-back", { params: ofTask(task), keepalive: true }));
export const vote = (task: string, body: s.Ballot) => dataOf(api.POST("/api/tasks/{address}/vote", { params: ofTask(task), body, ...step() }));
export const skip = (task: string, body: s.SkipIn) => dataOf(api.POST("/api/tasks/{address}/skip", { params: ofTask(task), body, ...step() }));
export const unskip = (task: string) => dataOf(api.POST("/api/tasks/{address}/unskip", { params: ofTask(task), ...step() }));
export const segments = (task: string) => dataOf(api.GET("/api/tasks/{address}/segments", { params: ofTask(task) }));

export const campaigns = (cursor: Cursor) => dataOf(api.GET("/api/lead/campaigns", { params: { query: { cursor, limit: MOST } } }));
export const oneCampaign = (id: string) => dataOf(api.GET("/api/lead/campaigns/{campaign_id}", { params: ofCampaign(id) }));
export const makeCampaign = (body: s.CampaignIn) => dataOf(api.POST("/api/lead/campaigns", { body }));
export const changeCampaign = (id: string, body: s.CampaignChange) => dataOf(api.PATCH("/api/lead/campaigns/{campaign_id}", { params: ofCampaign(id), body }));
export const forecastCampaign = (body: s.CampaignIn) => dataOf(api.POST("/api/lead/campaigns/forecast", { body }));
export const knownTasks = (body: s.KnownIn) => dataOf(api.POST("/api/lead/known-tasks", { body }));
export const raters = (id: string, cursor: Cursor) =>
  dataOf(api.GET("/api/lead/campaigns/{campaign_id}/raters", { params: { ...ofCampaign(id), query: { cursor, limit: MOST } } }));
export const changeRater = (id: string, rater: string, active: boolean) =>
  dataOf(api.PATCH("/api/lead/campaigns/{campaign_id}/raters/{rater_id}", { params: { path: { campaign_id: id, rater_id: rater } }, body: { active } }));
export const oneRater = (id: string, rater: string) =>
  dataOf(api.GET("/api/lead/campaigns/{campaign_id}/raters/{rater_id}", { params: { path: { campaign_id: id, rater_id: rater } } }));
export const excludeRater = (rater: string, body: s.ExclusionIn) => dataOf(api.PUT("/api/lead/raters/{rater_id}/exclusion", { params: { path: { rater_id: rater } }, body }));
export const includeRater = (rater: string) => dataOf(api.DELETE("/api/lead/raters/{rater_id}/exclusion", { params: { path: { rater_id: rater } } }));
export const inviteAgain = (rater: string, campaign_id: string, days: number) =>
  dataOf(api.POST("/api/lead/raters/{rater_id}/invitations", { params: { path: { rater_id: rater } }, body: { campaign_id, days } }));
export const agreement = (id: string) => dataOf(api.GET("/api/lead/campaigns/{campaign_id}/agreement", { params: ofCampaign(id) }));
export const skips = (id: string) => dataOf(api.GET("/api/lead/campaigns/{campaign_id}/skips", { params: ofCampaign(id) }));
/** An address to download from. */
export const campaignExport = (id: string) => withBase(`/api/lead/campaigns/${encodeURIComponent(id)}/export.csv`);
export const paymentList = (id: string) => withBase(`/api/lead/campaigns/${encodeURIComponent(id)}/payments.csv`);

export const invitations = (query: Query<"/api/lead/invitations">) => dataOf(api.GET("/api/lead/invitations", { params: { query: { limit: MOST, ...query } } }));
export const invite = (body: s.InvitationIn) => dataOf(api.POST("/api/lead/invitations", { body }));
export const revokeInvitation = (id: string) => dataOf(api.DELETE("/api/lead/invitations/{invitation_id}", { params: { path: { invitation_id: id } } }));
export const restoreInvitation = (id: string) => dataOf(api.POST("/api/lead/invitations/{invitation_id}/restore", { params: { path: { invitation_id: id } } }));

export const facets = () => dataOf(api.GET("/api/facets"));
export const board = (query: Query<"/api/board">) => dataOf(api.GET("/api/board", { params: { query } }));
export const model = (query: Query<"/api/model">) => dataOf(api.GET("/api/model", { params: { query } }));
export const history = (query: Query<"/api/board/history">) => dataOf(api.GET("/api/board/history", { params: { query } }));
export const headToHead = (query: Query<"/api/head-to-head">) => dataOf(api.GET("/api/head-to-head", { params: { query } }));
export const heatMap = (query: Query<"/api/heat-map">) => dataOf(api.GET("/api/heat-map", { params: { query } }));
export const battles = (query: Query<"/api/battles">) => dataOf(api.GET("/api/battles", { params: { query } }));
export const battle = (id: string) => dataOf(api.GET("/api/battles/{battle_id}", { params: { path: { battle_id: id } } }));
export const items = (query: Query<"/api/items">) => dataOf(api.GET("/api/items", { params: { query } }));
export const item = (id: string) => dataOf(api.GET("/api/items/{item_id}", { params: { path: { item_id: id } } }));
export const runs = (cursor: Cursor) => dataOf(api.GET("/api/runs", { params: { query: { cursor } } }));
export const judges = (cursor: Cursor) => dataOf(api.GET("/api/judges", { params: { query: { cursor } } }));

export const tokens = (cursor: Cursor) => dataOf(api.GET("/api/tokens", { params: { query: { cursor } } }));
export const makeToken = (body: s.TokenIn) => dataOf(api.POST("/api/tokens", { body }));
export const revokeToken = (id: string) => dataOf(api.DELETE("/api/tokens/{token_id}", { params: { path: { token_id: id } } }));
export const sessions = (cursor: Cursor) => dataOf(api.GET("/api/sessions", { params: { query: { cursor } } }));
export const endSession = (id: string) => dataOf(api.DELETE("/api/sessions/{session_id}", { params: { path: { session_id: id } } }));

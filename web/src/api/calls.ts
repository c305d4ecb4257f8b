// Every request that the pages make, by name.
import { get, patch, post, postAndLeave, remove, step } from "./client";
import type * as w from "./schema";

const part = encodeURIComponent;
const campaign = (id: string) => `/api/lead/campaigns/${part(id)}`;

export type Filters = Record<string, string>;

export const me = () => get<w.Me>("/api/me");
export const signInByInvitation = (body: w.Invitation) => post<w.Me>("/api/session/invitation", body);
export const signInByPassword = (body: w.Password) => post<w.Me>("/api/session/password", body);
export const signInByLaunch = (body: w.Launch) => post<w.Me>("/api/session/launch", body);
export const signOut = () => remove<w.Done>("/api/session");

export const myCampaigns = async () => (await get<w.RaterCampaignPage>("/api/rating/campaigns", { limit: 200 })).campaigns;
export const giveConsent = (id: string) => post<w.Done>(`/api/rating/campaigns/${part(id)}/consent`, { accepted: true });
export const takeNext = (id: string) => step<w.Next>(`/api/rating/campaigns/${part(id)}/next`);
export const lookAhead = (id: string) => step<w.Ahead>(`/api/rating/campaigns/${part(id)}/ahead`);
export const giveBack = (task: string) => postAndLeave<w.Done>(`/api/tasks/${part(task)}/give-back`);
export const undoLast = (id: string) => step<w.Task>(`/api/rating/campaigns/${part(id)}/undo`);
export const vote = (task: string, body: w.Ballot) => step<w.Receipt>(`/api/tasks/${part(task)}/vote`, body);
export const skip = (task: string, body: w.Skip) => step<w.Done>(`/api/tasks/${part(task)}/skip`, body);
export const segments = (url: string) => get<w.Segments>(url);

export const campaigns = () => get<w.CampaignPage>("/api/lead/campaigns", { limit: 200 });
export const oneCampaign = (id: string) => get<w.CampaignOut>(campaign(id));
export const makeCampaign = (body: w.CampaignIn) => post<w.CampaignOut>("/api/lead/campaigns", body);
export const changeCampaign = (id: string, body: w.CampaignChange) => patch<w.CampaignOut>(campaign(id), body);
export const knownTasks = (body: w.KnownIn) => post<w.KnownPage>("/api/lead/known-tasks", body);
export const raters = (id: string) => get<w.RaterPage>(`${campaign(id)}/raters`, { limit: 200 });
export const changeRater = (id: string, rater: string, active: boolean) =>
  patch<w.RaterOut>(`${campaign(id)}/raters/${part(rater)}`, { active });
export const agreement = (id: string) => get<w.AgreementReport>(`${campaign(id)}/agreement`);
export const skips = (id: string) => get<w.SkipReport>(`${campaign(id)}/skips`);
export const campaignExport = (id: string) => `${campaign(id)}/export.csv`;

export const invitations = (id: string) => get<w.InvitationPage>("/api/lead/invitations", { campaign_id: id, limit: 200 });
export const invite = (body: w.InvitationIn) => post<w.InvitationMade>("/api/lead/invitations", body);
export const revokeInvitation = (id: string) => remove<w.Done>(`/api/lead/invitations/${part(id)}`);

export const facets = () => get<w.Facets>("/api/facets");
export const board = (query: Filters) => get<w.Board>("/api/board", query);
export const history = (query: Filters) => get<w.RatingHistory>("/api/board/history", query);
export const headToHead = (query: Filters) => get<w.HeadToHead>("/api/head-to-head", query);
export const battles = (query: Filters) => get<w.BattlePage>("/api/battles", query);
export const battle = (id: string) => get<w.BattleDetail>(`/api/battles/${part(id)}`);
export const items = (query: Filters) => get<w.ItemPage>("/api/items", query);
export const item = (id: string) => get<w.ItemDetail>(`/api/items/${part(id)}`);
export const heatMap = (query: Filters) => get<w.HeatMap>("/api/heat-map", query);
export const runs = (query: Filters) => get<w.RunPage>("/api/runs", query);
export const judges = (query: Filters) => get<w.JudgePage>("/api/judges", query);

export const tokens = (query: Filters) => get<w.TokenPage>("/api/tokens", query);
export const makeToken = (body: w.TokenIn) => post<w.TokenMade>("/api/tokens", body);
export const revokeToken = (id: string) => remove<w.Done>(`/api/tokens/${part(id)}`);
export const sessions = (query: Filters) => get<w.SessionPage>("/api/sessions", query);
export const endSession = (id: string) => remove<w.Done>(`/api/sessions/${part(id)}`);
export const allInvitations = (query: Filters) => get<w.InvitationPage>("/api/lead/invitations", query);

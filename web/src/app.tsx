// Which page stands at which address.
import { lazy, Suspense, useEffect, useState, type ReactNode } from "react";
import * as calls from "./api/calls";
import { asApiError, type ApiError } from "./api/client";
import { AccessPage } from "./pages/lead/access";
import { BattlesPage } from "./pages/explore/battles";
import { BoardPage } from "./pages/boards/board";
import { CampaignPage } from "./pages/lead/campaign";
import { HomePage } from "./pages/rating/home";
import { ItemsPage } from "./pages/explore/items";
import { JudgesPage } from "./pages/explore/judges";
import { CampaignsPage } from "./pages/lead/campaigns";
import { RunsPage } from "./pages/explore/runs";
import { JoinPage, LaunchPage, SignInPage } from "./pages/rating/signin";
import { ModelPage } from "./pages/boards/model";
import { RaterPage } from "./pages/lead/rater";
import { Bdi } from "./parts/bdi";
import { Allowed } from "./parts/allowed";
import { LanguageSelect } from "./parts/languageselect";
import { Link } from "./parts/link";
import { SignInLink } from "./parts/signinlink";
import { Empty, Problem, Waiting } from "./parts/status";
import { go, match, useLocation } from "./router";
import { useSession } from "./session";
import { messages, useLanguage } from "./languages";
import { strings } from "./strings";

// The pages with pictures bring the deep-zoom viewer; the others do without.
const RatePage = lazy(async () => ({ default: (await import("./pages/rating/rate")).RatePage }));
const BattlePage = lazy(async () => ({ default: (await import("./pages/explore/battle")).BattlePage }));
const ItemPage = lazy(async () => ({ default: (await import("./pages/explore/item")).ItemPage }));

type Page = (parts: Record<string, string>) => ReactNode;

/** Pages without the frame: a task takes the whole window. */
const BARE: [string, Page][] = [
  ["/rate/:campaign", ({ campaign = "" }) => <RatePage campaignId={campaign} />],
  ["/join", () => <JoinPage />],
  ["/launch", () => <LaunchPage />],
  ["/sign-in", () => <SignInPage />],
];

const FRAMED: [string, Page][] = [
  ["", () => <HomePage />],
  ["/board", () => <Allowed to="look"><BoardPage /></Allowed>],
  ["/model", () => <Allowed to="look"><ModelPage /></Allowed>],
  ["/battles", () => <Allowed to="look"><BattlesPage /></Allowed>],
  ["/battles/:id", ({ id = "" }) => <Allowed to="look"><BattlePage id={id} /></Allowed>],
  ["/items", () => <Allowed to="look"><ItemsPage /></Allowed>],
  ["/items/:id", ({ id = "" }) => <Allowed to="look"><ItemPage id={id} /></Allowed>],
  ["/runs", () => <Allowed to="inside"><RunsPage /></Allowed>],
  ["/judges", () => <Allowed to="look"><JudgesPage /></Allowed>],
  ["/access", () => <Allowed to="lead"><AccessPage /></Allowed>],
  ["/lead", () => <Allowed to="lead"><CampaignsPage /></Allowed>],
  ["/lead/:id", ({ id = "" }) => <Allowed to="lead"><CampaignPage id={id} /></Allowed>],
  ["/lead/:id/raters/:rater", ({ id = "", rater = "" }) => <Allowed to="lead"><RaterPage campaignId={id} raterId={rater} /></Allowed>],
];

function find(pages: [string, Page][], path: string): ReactNode | null {
  for (const [pattern, page] of pages) {
    const parts = match(pattern, path);
    if (parts) return page(parts);
  }
  return null;
}


/** The window's title: what a screen reader says first, and what tells tabs apart. */
function titleOf(path: string): string {
  const titles: Record<string, string> = { ...strings.pages, ...messages.pages, "": messages.pages.rate, "sign-in": messages.signIn.title };
  const page = titles[path.split("/")[1] ?? ""];
  return page ? `${page} · ${strings.name}` : strings.name;
}

export function App() {
  const { path } = useLocation();
  const language = useLanguage(); // every text of the page is read again when it changes
  const bare = find(BARE, path);
  useEffect(() => {
    document.title = titleOf(path);
  }, [path, language]);
  if (bare) return <Suspense fallback={<main><Waiting /></main>}>{bare}</Suspense>;
  const page = find(FRAMED, path) ?? <Empty>{messages.errors.page} <Link to="/">{messages.errors.home}</Link></Empty>;
  return <Frame path={path}><Suspense fallback={<Waiting />}>{page}</Suspense></Frame>;
}

function Frame({ path, children }: { path: string; children: ReactNode }) {
  const { me, enter } = useSession();
  const leads = me.role === "admin" || me.role === "lead";
  const inside = leads || me.role === "viewer";
  const page = (to: string, text: string) => (
    <Link to={to} current={path === to || path.startsWith(`${to}/`)}>{text}</Link>
  );
  const [failed, setFailed] = useState<ApiError | null>(null);
  async function leave(): Promise<void> {
    try {
      await calls.signOut();
      enter(await calls.me());
      setFailed(null);
      go("/sign-in");
    } catch (reason) {
      setFailed(asApiError(reason)); // who wants to be signed out has to know that they are not
    }
  }
  return (
    <>
      <a className="sr-only skip-link" href="#content">{messages.common.skipToContent}</a>
      <header className="bar">
        <Link to="/" className="brand">{strings.name}</Link>
        <span className="muted arena-name"><Bdi>{me.arena}</Bdi></span>
        <nav aria-label={messages.common.navigation}>
          {me.role && <Link to="/" current={path === "/"}>{messages.pages.rate}</Link>}
          {me.can_look && page("/board", messages.pages.board)}
          {me.can_look && page("/battles", messages.pages.battles)}
          {me.can_look && page("/items", messages.pages.items)}
          {me.can_look && page("/judges", messages.pages.judges)}
          {inside && page("/runs", strings.pages.runs)}
          {leads && page("/lead", strings.pages.lead)}
          {leads && page("/access", strings.pages.access)}
        </nav>
        <span className="spacer" />
        <LanguageSelect />
        <ThemeButton />
        {me.role ? (
          <button type="button" className="small quiet" onClick={() => void leave()}>{messages.common.signOut}</button>
        ) : (
          <SignInLink className="" />
        )}
      </header>
      <main id="content" {...(path === "/" ? {} : { lang: "en" })}>
        {failed && <Problem error={failed} retry={() => void leave()} />}
        {children}
      </main>
    </>
  );
}

const THEME = "imarena.theme";

export function applyTheme(): void {
  const kept = window.localStorage.getItem(THEME);
  if (kept) document.documentElement.dataset.theme = kept;
}

function ThemeButton() {
  const [, again] = useState(0);
  function change(): void {
    const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
    const next = now === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    window.localStorage.setItem(THEME, next);
    again((count) => count + 1);
  }
  return <button type="button" className="small quiet theme" aria-label={messages.common.theme} onClick={change}>◐</button>;
}

import { messages } from "../languages";
import { useLocation, withQuery } from "../router";
import { Link } from "./link";

/** To the sign-in page, and from there back to this one. */
export function SignInLink({ className = "button small", text = messages.common.signIn }: { className?: string; text?: string }) {
  const { path, query } = useLocation();
  const here = withQuery(path, query, {});
  const to = path === "/sign-in" || here === "/" ? "/sign-in" : `/sign-in?to=${encodeURIComponent(here)}`;
  return <Link to={to} className={className}>{text}</Link>;
}

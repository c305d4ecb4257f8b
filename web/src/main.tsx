import { createRoot } from "react-dom/client";
import { App, applyTheme } from "./app";
import { loadFirstLanguage } from "./languages";
import { ErrorBoundary } from "./parts/errorboundary";
import { SessionProvider } from "./session";
import "./styles/base.css";
import "./styles/task.css";
import "./styles/look.css";

applyTheme();
await loadFirstLanguage();
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <ErrorBoundary>
      <SessionProvider>
        <App />
      </SessionProvider>
    </ErrorBoundary>,
  );
}

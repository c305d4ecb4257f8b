// A page that breaks says so, instead of leaving an empty window.
import { Component, type ReactNode } from "react";
import { strings } from "../strings";

export class ErrorBoundary extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError(): { broken: boolean } {
    return { broken: true };
  }

  override render(): ReactNode {
    if (!this.state.broken) return this.props.children;
    return (
      <main className="narrow">
        <div className="problem" role="alert">
          <strong>{strings.errors.broken}</strong>
          <p>{strings.errors.brokenHint}</p>
          <button type="button" className="small" onClick={() => window.location.reload()}>{strings.errors.reload}</button>
        </div>
      </main>
    );
  }
}

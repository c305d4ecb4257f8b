// A page that breaks says so, instead of leaving an empty window.
import { Component, type ReactNode } from "react";
import { messages } from "../languages";

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
          <strong>{messages.errors.broken}</strong>
          <p>{messages.errors.brokenHint}</p>
          <button type="button" className="small" onClick={() => window.location.reload()}>{messages.errors.reload}</button>
        </div>
      </main>
    );
  }
}

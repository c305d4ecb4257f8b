"""Running editors and the agent over items."""

"""CV-Agent: understand, plan, closed loop."""

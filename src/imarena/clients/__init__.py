"""Chat and image endpoints: retry, rate limit, cost; the one safe fetcher."""

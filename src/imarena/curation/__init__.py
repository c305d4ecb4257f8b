"""CogRetriever: collecting items."""

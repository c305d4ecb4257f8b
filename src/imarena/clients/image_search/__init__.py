"""Web image sources: Google Programmable Search, Openverse, Wikimedia Commons, Hugging Face data sets."""

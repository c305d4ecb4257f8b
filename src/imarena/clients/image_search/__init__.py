"""Image sources of the web: Google Programmable Search, Openverse, Wikimedia Commons, Hugging Face data sets."""

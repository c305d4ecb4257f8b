"""`curate`: collect, check and trace benchmark images."""

"""What the web application shows, computes ahead and runs on."""

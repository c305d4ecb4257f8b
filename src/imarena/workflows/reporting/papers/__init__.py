"""Tables and figures of the five papers for a workspace, from one catalogue (``catalogue.yaml``)."""

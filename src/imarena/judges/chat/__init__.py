"""Judges that ask a vision-language model, each with its prompts and its reader."""

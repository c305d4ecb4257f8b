"""Fine-tuning a vision-language model on preference pairs."""

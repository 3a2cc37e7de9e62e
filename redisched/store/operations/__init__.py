"""What can be asked of a queue: one function for each script, and nothing that waits or retries."""

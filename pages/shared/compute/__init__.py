"""Something slow: in the background with its progress, cached for all sessions, and what this machine can do."""

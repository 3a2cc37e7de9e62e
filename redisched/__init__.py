"""A Redis-backed distributed scheduler."""

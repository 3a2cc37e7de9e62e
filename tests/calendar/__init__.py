"""The calendar, without a server."""

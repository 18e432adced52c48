"""Drills: scripts that damage, kill and overload things on purpose, and report what happened."""

"""Damaged files of every kind: each is to be accepted, or refused with a `BoirlError`."""

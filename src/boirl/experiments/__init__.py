"""The tables and figures of the paper, a file each, readable from top to bottom."""

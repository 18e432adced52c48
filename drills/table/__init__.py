"""One small drill for each thing that went wrong before, with what happened then."""

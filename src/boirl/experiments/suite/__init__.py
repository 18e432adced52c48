"""Problems that nobody tuned for, each with its exact answer, to measure searches on."""

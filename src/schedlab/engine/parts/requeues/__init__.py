"""Jobs that `retries` requeues, and that may not begin again at once: they are held back until their delay is over."""

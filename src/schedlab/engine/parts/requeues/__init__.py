"""The delay of requeued jobs: `retries` requeues them, and here they are held back until their delay is over."""

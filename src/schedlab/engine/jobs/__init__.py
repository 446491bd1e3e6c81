"""Jobs and time: their records, the clock, the event queue, and what every simulation keeps of them."""

"""Many simulations: one comparison, or a campaign that survives anything, and what its results say."""

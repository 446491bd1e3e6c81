"""What a campaign is: its file, and the plan of all simulations that follows from it."""

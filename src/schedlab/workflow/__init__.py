"""Scientific workflows: tasks with dependencies, and the files that describe them."""

"""Generated experiments: jobs of a model under a wanted pressure, workflows among them, a queue from the beginning."""

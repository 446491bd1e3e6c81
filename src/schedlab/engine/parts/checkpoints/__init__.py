"""Jobs that write checkpoints, from the last of which they go on."""

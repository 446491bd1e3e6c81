"""Jobs that wait for few leaf switches."""

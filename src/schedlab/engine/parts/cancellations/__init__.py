"""Jobs that are cancelled while they wait."""

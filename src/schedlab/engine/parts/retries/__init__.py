"""Jobs come back whose run was not enough: it failed at its request, was broken off with a node, or gave way."""

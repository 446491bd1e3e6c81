"""The waiting jobs: queues, their orders, scores and ties."""

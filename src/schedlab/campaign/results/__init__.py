"""What the results say: statistics, rankings and comparisons, SQL, and an index over campaigns."""

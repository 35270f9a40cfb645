"""Plans, rounds, and which engine serves which learner."""

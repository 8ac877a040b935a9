"""The right answer of an imported task, how far it can be trusted, and what an honest implementation may deviate."""

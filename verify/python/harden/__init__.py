"""Is a task's own check worth anything, and which shapes make it so: null outputs, planted faults, what each check says."""

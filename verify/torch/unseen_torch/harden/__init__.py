"""Measures how good a task's own check is and finds shapes that improve it: null outputs, planted faults, three
checks."""

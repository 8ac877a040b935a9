"""Computes the reference values of an imported task, their error bounds, and the allowed error of an honest
implementation."""

"""Decides claims, the conditions of a gate, and the requirements of an application."""

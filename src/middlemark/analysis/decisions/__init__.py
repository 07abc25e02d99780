"""What users ask of a run: claims, conditions of a gate, requirements of an application."""
